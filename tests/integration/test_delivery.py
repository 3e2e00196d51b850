"""Answers arrive in order and once, whatever happens to the requests that carry them (I3, I4, I11)."""

from collections.abc import Callable

import pytest

from sandbox.discord import Discord, Permission, RestFault
from sandbox.model import say
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
LONG = "\n".join(f"line {n} " + "x" * 80 for n in range(60))


def _faults(discord: Discord) -> dict[str, Callable[[], RestFault]]:
    return {
        "429 with Via": lambda: discord.faults.rest(*POST).rate_limit(0.05),
        "429 from the edge": lambda: discord.faults.rest(*POST).status(429),
        "503 before": lambda: discord.faults.rest(*POST).status(503),
        "503 after": lambda: discord.faults.rest(*POST).accept_then_status(503),
        "502 after": lambda: discord.faults.rest(*POST).accept_then_status(502),
        "reset before": lambda: discord.faults.rest(*POST).reset(),
        "reset after": lambda: discord.faults.rest(*POST).accept_then_reset(),
        "stall before": lambda: discord.faults.rest(*POST).stall(30),
        "stall after": lambda: discord.faults.rest(*POST).accept_then_stall(30),
    }


def _lose_echoes(discord: Discord) -> None:
    """What the bot says does not come back to it by the gateway."""
    discord.faults.gateway("MESSAGE_CREATE", times=None, where=lambda d: str(discord.bot.id) in str(d["author"])).drop()


@pytest.mark.parametrize(
    "fault",
    [
        "429 with Via",
        "429 from the edge",
        "503 before",
        "503 after",
        "502 after",
        "reset before",
        "reset after",
        "stall before",
        "stall after",
    ],
)
@pytest.mark.parametrize("echo", ["heard", "lost"])
async def test_all_parts_arrive_in_order_and_once(
    stage: Stage, fault: str, echo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3, I4: the first part's request fails as named; unless the gateway brought the message back, it is sent again
    with the same nonce."""
    monkeypatch.setattr("bot.rest.ATTEMPT_S", 1.5)
    if echo == "lost":
        _lose_echoes(stage.discord)
    _faults(stage.discord)[fault]()
    stage.model.script(say(LONG))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} tell me a long story")
        parts = await stage.discord.wait_for_messages(3, in_=stage.general, within=20)
        assert await stage.settled(1, within=20) == ["answered"]
    assert "\n".join(part.content for part in parts) == LONG
    assert [part.reply_to for part in parts] == [asked, None, None]
    assert all(len(part.content) <= 2000 for part in parts)
    assert len(stage.discord.bot_messages()) == 3
    states = await stage.pool.fetch("SELECT state, external_id FROM action_receipts ORDER BY receipt_id")
    assert [(row["state"], row["external_id"]) for row in states] == [("applied", part.id) for part in parts]


async def test_a_refused_part_ends_the_turn_with_the_reason(stage: Stage) -> None:
    """I16: where Discord refuses, the receipt and the turn say so, and nothing is tried again."""
    stage.model.script(say("hello"))
    stage.discord.faults.rest(*POST).status(403, b'{"code": 50013, "message": "Missing Permissions"}', html=False)
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["cancelled"]
    assert (await stage.turns())[0]["end_reason"] == "undeliverable:discord_50013"
    assert await stage.pool.fetchval("SELECT state FROM action_receipts") == "refused"
    assert len(stage.discord.requests_to(*POST)) == 1


async def test_a_message_deleted_while_it_was_sent_again_counts_as_sent(stage: Stage) -> None:
    """I4: 10008 on a nonce means that the message was posted, and deleted since."""
    _lose_echoes(stage.discord)
    stage.discord.faults.rest(*POST).accept_then_reset()
    held = stage.discord.faults.rest(*POST).hold()
    stage.model.script(say("now you see me"))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        posted = await stage.discord.wait_for_message(in_=stage.general)
        await held.hit()
        stage.discord.world.speech.delete(posted)
        held.release()
        assert await stage.settled(1) == ["answered"]
    assert stage.discord.bot_messages() == []
    assert len(stage.discord.requests_to(*POST)) == 2


@pytest.mark.parametrize("said", ["@everyone @here", "<@&{role}> <@{bob}>", "<@!{bob}> everyone, look: <@{ada}>"])
async def test_nobody_is_pinged_but_the_one_answered(stage: Stage, said: str) -> None:
    """I11: whatever the model says, only the member who asked can be notified."""
    role = stage.guild.create_role("crew")
    stage.guild.me.give(stage.guild.create_role("loud", permissions=Permission.MENTION_EVERYONE))
    stage.model.script(say(said.format(role=role.id, bob=stage.bob.id, ada=stage.ada.id)))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} call everybody")
        await stage.discord.wait_for_message(reply_to=asked)
    for ping in stage.discord.pings:
        assert {user.id for user in ping.pings.users} <= {stage.ada.id}
        assert (ping.pings.roles, ping.pings.everyone, ping.pings.replied_user) == ((), False, None)
