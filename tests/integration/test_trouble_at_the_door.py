"""What Discord may do to the one door for writes, and what it must not lead to (I3, I4, I14)."""

import pytest
from structlog.testing import capture_logs

from sandbox.model import say
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
TYPING = ("POST", "/channels/*/typing")


async def test_a_global_limit_that_catches_typing_does_not_stop_the_answer(stage: Stage) -> None:
    """I3: typing is cancelled while the library waits out a global limit; the library's gate must open again."""
    stage.discord.faults.rest(*TYPING).rate_limit(1.0, scope="global")
    gate = stage.model.hold()
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_until(lambda: bool(stage.discord.requests_to(*TYPING)), what="typing")
        gate.release(say("still here"))
        await stage.discord.wait_for_message(reply_to=asked)


async def test_a_long_global_limit_is_waited_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I3: a limit that is longer than one request may take ends by itself, and the answer arrives."""
    monkeypatch.setattr("bot.rest.ATTEMPT_S", 1.0)
    stage.discord.faults.rest(*POST).rate_limit(2.0, scope="global")
    stage.model.script(say("at last"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
    assert len(stage.discord.bot_messages()) == 1


async def test_a_message_that_came_back_by_the_gateway_is_not_sent_again(stage: Stage) -> None:
    """I3, I4: the POST was accepted and every answer since fails; the gateway's echo has settled the receipt, so that
    after the nonce window nothing is missing."""
    stage.discord.faults.rest(*POST).accept_then_status(503)
    stage.discord.faults.rest(*POST, times=2).status(503)
    stage.model.script(say("once and no more"))
    async with stage.muninn(nonce_window_s=0.1):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(in_=stage.general)
        stage.discord.clock.advance(400)
        assert await stage.settled(1) == ["answered"]
    assert [m.content for m in stage.discord.bot_messages()] == ["once and no more"]


async def test_a_worker_that_lost_its_turn_sends_nothing_more(stage: Stage) -> None:
    """I14: another worker took the turn while a POST failed; the old one does not try again."""
    held = stage.discord.faults.rest(*POST).hold()
    stage.model.script(say("who says it?"))
    with capture_logs() as logs:
        async with stage.muninn(turn_lease_s=60, turn_heartbeat_s=20):
            await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
            await held.hit()
            await stage.pool.execute("UPDATE turns SET lease_no = lease_no + 1, lease_until = now() + interval '1 h'")
            stage.discord.faults.rest(*POST).status(503)
            held.action, held.code = "answer", 503
            held.release()
            await stage.discord.wait_until(
                lambda: any(entry["event"] == "turn.lost" for entry in logs), what="the turn to be given up"
            )
    assert stage.discord.bot_messages() == []


async def test_what_was_not_sent_any_more_is_on_record_as_such(stage: Stage) -> None:
    """I4: the first part is refused, so the others are never sent; their receipts say so."""
    stage.model.script(say("\n".join(f"line {n} " + "x" * 80 for n in range(60))))
    stage.discord.faults.rest(*POST).status(403, b'{"code": 50013, "message": "Missing Permissions"}', html=False)
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["cancelled"]
    rows = await stage.pool.fetch("SELECT state, failure FROM action_receipts ORDER BY receipt_id")
    assert [tuple(row) for row in rows] == [("refused", "discord_50013"), *[("refused", "not_sent")] * 2]


async def test_places_that_cannot_be_written_to_hold_up_no_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3: as many stuck answers as there are workers, and another place is still answered; theirs arrive later."""
    monkeypatch.setattr("bot.delivery.STINT_S", 0.3)
    stuck = [stage.guild.create_channel(f"stuck-{n}") for n in range(2)]
    faults = [stage.discord.faults.rest("POST", f"/channels/{c.id}/messages", times=None).status(503) for c in stuck]
    stage.model.default(say("ok"))
    async with stage.muninn(workers=2):
        waiting = [await stage.bob.says(place, f"{stage.discord.bot.mention} hello") for place in stuck]
        for fault in faults:
            await fault.hit()
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        stage.discord.faults.clear()
        for message in waiting:
            await stage.discord.wait_for_message(reply_to=message, within=15)
        assert await stage.settled(3) == ["answered"] * 3
    assert len(stage.discord.bot_messages()) == 3


async def test_typing_that_is_refused_is_not_asked_for_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discord counts refused requests, and bans who makes too many."""
    monkeypatch.setattr("bot.writes.TYPING_EVERY_S", 0.05)
    refused = b'{"code": 50013, "message": "Missing Permissions"}'
    stage.discord.faults.rest(*TYPING, times=None).status(403, refused, html=False)
    gate = stage.model.hold()
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_until(lambda: bool(stage.discord.requests_to(*TYPING)))
        await stage.discord.expect_silence(stage.general, for_=0.5)
        gate.release(say("here"))
        await stage.discord.wait_for_message(reply_to=asked)
    assert len(stage.discord.requests_to(*TYPING)) == 1


async def test_a_token_that_stops_working_ends_no_turn(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I3: a 401 is about us and not about the message: its turn waits for a token that works."""
    monkeypatch.setattr("bot.rest.UNAUTHORIZED_S", 0.2)
    stage.discord.faults.rest(*POST, times=2).status(401, b'{"code": 0, "message": "401: Unauthorized"}', html=False)
    stage.model.script(say("back again"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        assert await stage.settled(1) == ["answered"]


@pytest.mark.parametrize(
    ("body", "html"), [(b"<html>sign in</html>", True), (b"{", False), (b"{}", False), (b"[]", False)]
)
async def test_an_answer_without_sense_is_no_answer(stage: Stage, body: bytes, html: bool) -> None:
    """I3: a 200 that is not Discord's leaves it open whether the message was sent; it is sent again with its nonce."""
    stage.discord.faults.rest(*POST).status(200, body, html=html)
    stage.model.script(say("hello"))
    with capture_logs() as logs:
        async with stage.muninn():
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
            await stage.discord.wait_for_message(reply_to=asked)
            assert await stage.settled(1) == ["answered"]
    assert [entry for entry in logs if entry["event"] == "turn.broken"] == []


async def test_the_same_words_of_another_turn_are_not_taken_for_ours(stage: Stage) -> None:
    """I3, I4: an answer whose outcome is unknown and the next one read alike; each is looked for by its reply."""
    stage.model.default(say("Yes."))
    stage.discord.faults.rest(*POST).accept_then_status(503)
    async with stage.muninn(nonce_window_s=0.1):
        held = stage.discord.faults.rest(*POST).hold()
        one = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one?")
        two = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two?")
        await held.hit()
        # As if nobody knew what became of the first: given up, and its echo lost.
        await stage.pool.execute(
            "UPDATE action_receipts SET state = 'unknown', external_id = NULL WHERE trigger_id = $1", one.id
        )
        held.action, held.code = "answer", 503
        held.release()
        await stage.discord.wait_for_message(reply_to=two)
        assert await stage.settled(2) == ["answered"] * 2
    assert [len(stage.discord.replies_to(each)) for each in (one, two)] == [1, 1]
