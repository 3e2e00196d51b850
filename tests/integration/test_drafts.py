"""While an answer is made: progress, the answer growing, a button that stops it, one message in the end (I2-I4)."""

import re

import pytest

from sandbox.discord import Message
from sandbox.model import Completion, call, say, server_error, slow, stall_stream
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")
PATCH = ("PATCH", "/channels/*/messages/*")
SET_SQL = """
INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by) VALUES ($1, 0, $2, $3::text::jsonb, 1, 1)
"""
OVER_SQL = """
SELECT 1 FROM turns WHERE trigger_id = $1 AND state IN ('answered', 'failed_told', 'cancelled', 'expired')
"""
WORDS = "A story of **some length**, with `code`:\n```py\nprint('hello')\nprint('you')\n```\nand ||a secret|| too. "
LONG = WORDS + "It goes on for a while. " * 6


async def _set(stage: Stage, name: str, value: str = "true") -> None:
    await stage.pool.execute(SET_SQL, stage.guild.id, name, value)


def _growing(text: str = LONG, *, between: float = 0.05) -> Completion:
    return slow(text, between=between, piece=6)


async def _asked(stage: Stage) -> Message:
    return await stage.ada.says(stage.general, f"{stage.discord.bot.mention} tell me a story")


async def _draft(stage: Stage) -> Message:
    return await stage.discord.wait_for_message(in_=stage.general, by=stage.discord.bot)


async def _one_answer(stage: Stage, question: Message, text: str = LONG) -> None:
    """One message in the end, exact, without a button, journalled as it stands, and every record closed."""
    assert [m.content for m in stage.discord.bot_messages(stage.general)] == [text.strip()]
    (answer,) = stage.discord.bot_messages(stage.general)
    assert not answer.components
    assert answer.reply_to == question
    kept = await stage.pool.fetch("SELECT content, turn_id FROM chat_messages WHERE author_kind = 'self'")
    assert [(row["content"], row["turn_id"] is not None) for row in kept] == [(text.strip(), True)]
    assert await stage.pool.fetchval("SELECT count(*) FROM turn_drafts WHERE closed_at IS NULL") == 0
    states = await stage.pool.fetch("SELECT action, state, external_id FROM action_receipts ORDER BY action")
    assert {(row["state"], row["external_id"]) for row in states} == {("applied", answer.id)}
    kept = await stage.pool.fetch("SELECT DISTINCT content FROM chat_message_revisions")
    assert {row["content"] for row in kept} <= {text.strip()}


async def test_an_answer_grows_in_one_message_and_ends_exact(stage: Stage) -> None:
    """Streaming by edits: throttled, each state balanced and a beginning of the answer, the last one exact."""
    await _set(stage, "streaming")
    stage.model.script(_growing())
    async with stage.muninn():
        question = await _asked(stage)
        assert await stage.settled(1, within=20) == ["answered"]
    await _one_answer(stage, question)
    (answer,) = stage.discord.bot_messages(stage.general)
    states = list(answer.past)
    assert len(states) >= 1
    for state in states:
        assert state.count("```") % 2 == 0
        assert state.count("||") % 2 == 0
        assert LONG.startswith(re.sub(r"\n```\Z", "", state))
    assert len(stage.discord.requests_to(*PATCH)) <= 8


async def test_long_work_is_shown_and_becomes_the_answer(stage: Stage) -> None:
    """After some seconds it says what is done, and for how long, in the guild's language; nobody is pinged by it."""
    await _set(stage, "language", '"de"')
    stage.model.script(call("memory_search", query="way"), slow("Done.", between=1.0, piece=3))
    async with stage.muninn(progress_s=0.3):
        question = await _asked(stage)
        draft = await _draft(stage)
        assert draft.content.startswith("-# Ich arbeite daran")
        assert draft.reply_to == question
        assert await stage.settled(1, within=20) == ["answered"]
    await _one_answer(stage, question, "Done.")
    assert not any(ping.pings.users or ping.pings.replied_user for ping in stage.discord.pings[1:])


async def test_a_quick_answer_has_no_draft(stage: Stage) -> None:
    """The plain path makes no request and no row more."""
    await _set(stage, "streaming")
    stage.model.script(say("Quick."))
    async with stage.muninn():
        await _asked(stage)
        assert await stage.settled(1) == ["answered"]
    assert len(stage.discord.requests_to(*POST)) == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM turn_drafts") == 0


async def test_the_asker_stops_it_and_nobody_else_can(stage: Stage) -> None:
    """I5: the button is the asker's; then nothing more is said, and nothing is left standing."""
    stage.model.script(slow("never said", between=5.0))
    async with stage.muninn(progress_s=0.2):
        await _asked(stage)
        draft = await _draft(stage)
        other = await stage.bob.press(draft, "Stop")
        assert "Only" in (await other.message()).content
        mine = await stage.ada.press(draft, "Stop")
        assert (await mine.message()).content.startswith("Stopped.")
        assert await stage.settled(1) == ["cancelled"]
        await stage.until("SELECT 1 FROM turn_drafts WHERE closed_at IS NOT NULL")
    assert stage.discord.bot_messages(stage.general) == []
    assert (await stage.turns())[0]["end_reason"] == "stopped"


async def test_deleting_the_question_cancels_and_clears(stage: Stage) -> None:
    """Delete-to-cancel: what showed the work goes with it."""
    await _set(stage, "streaming")
    stage.model.script(_growing(between=0.3))
    async with stage.muninn(progress_s=0.2):
        question = await _asked(stage)
        await _draft(stage)
        await stage.ada.deletes(question)
        assert await stage.settled(1) == ["cancelled"]
        await stage.until("SELECT 1 FROM turn_drafts WHERE closed_at IS NOT NULL")
    assert stage.discord.bot_messages(stage.general) == []


async def test_a_failed_answer_says_so_in_the_same_message(stage: Stage) -> None:
    """What began to grow and broke becomes one plain sentence."""
    await _set(stage, "streaming")
    stage.model.script(stall_stream(_growing(), after_chunks=20, seconds=30), *[server_error(503)] * 9)
    async with stage.muninn(model_timeout_s=3.0):
        await _asked(stage)
        assert await stage.settled(1, within=25) == ["failed_told"]
    (told,) = stage.discord.bot_messages(stage.general)
    assert "cannot reach my language model" in told.content
    assert not told.components


async def test_a_draft_that_somebody_deleted_leaves_the_answer_to_be_sent(stage: Stage) -> None:
    """A moderator takes the draft away: the answer arrives as a message of its own."""
    stage.model.script(slow("Here it is.", between=0.8, piece=6))
    async with stage.muninn(progress_s=0.2):
        question = await _asked(stage)
        draft = await _draft(stage)
        stage.discord.world.speech.delete(draft)
        assert await stage.settled(1, within=15) == ["answered"]
    assert [(m.content, m.reply_to) for m in stage.discord.bot_messages()] == [("Here it is.", question)]


@pytest.mark.parametrize("fault", ["accept_then_reset", "reset", "status"])
async def test_the_final_change_is_made_once_whatever_the_line_does(stage: Stage, fault: str) -> None:
    """I4: the change that makes the draft the answer is done again until Discord says that it stands."""
    stage.model.script(slow("Here it is.", between=1.2, piece=6))
    async with stage.muninn(progress_s=0.2):
        question = await _asked(stage)
        await _draft(stage)
        if fault == "status":
            stage.discord.faults.rest(*PATCH, times=3).status(503)
        else:
            getattr(stage.discord.faults.rest(*PATCH), fault)()
        assert await stage.settled(1, within=20) == ["answered"]
    await _one_answer(stage, question, "Here it is.")


async def test_a_change_in_doubt_never_overwrites_the_answer(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of the draft that is still on its way when the answer is there must find nothing: the draft is deleted,
    and the answer is a message of its own."""
    monkeypatch.setattr("bot.progress.FINISH_S", 1.0)
    await _set(stage, "streaming")
    held = stage.discord.faults.rest(*PATCH).hold()
    stage.model.script(_growing(between=0.09))  # the draft is changed while it grows, and not first by the answer
    async with stage.muninn():
        await _asked(stage)
        await held.hit()
        assert await stage.settled(1, within=30) == ["answered"]
        held.release()
        await stage.discord.wait_until(lambda: len(stage.discord.bot_messages()) == 1)
    assert [m.content for m in stage.discord.bot_messages()] == [LONG.strip()]


async def test_words_before_a_tool_are_not_left_as_a_message(stage: Stage) -> None:
    """What the model says before it uses a tool is shown at most for the moment."""
    await _set(stage, "streaming")
    first = slow(call("memory_search", query="x"), between=0.01)
    stage.model.script(first, _growing())
    async with stage.muninn():
        question = await _asked(stage)
        assert await stage.settled(1, within=20) == ["answered"]
    await _one_answer(stage, question)


async def test_a_long_answer_that_grew_ends_as_a_file(stage: Stage) -> None:
    """The draft becomes the message with the file; nothing else is sent."""
    await _set(stage, "streaming")
    text = "# Tale\n\n" + "\n\n".join(f"Paragraph {n}. " + "More words. " * 30 for n in range(40))
    stage.model.script(slow(text, between=0.02, piece=150))
    async with stage.muninn():
        await _asked(stage)
        assert await stage.settled(1, within=25) == ["answered"]
    (answer,) = stage.discord.bot_messages()
    assert answer.past
    assert answer.attachments[0].file.content.decode() == text
    assert not answer.components


async def test_it_is_acknowledged_by_a_reaction_where_the_guild_wants_one(stage: Stage) -> None:
    """An optional reaction says that the message was heard."""
    await _set(stage, "ack_reaction", '"👀"')
    stage.model.script(slow("Here.", between=0.5))
    async with stage.muninn():
        question = await _asked(stage)
        await stage.discord.wait_for_reaction(question)
        assert await stage.settled(1) == ["answered"]


async def test_typing_is_over_on_every_way_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answered, stopped, taken back, failed, and its place gone: nothing is typed afterwards."""
    monkeypatch.setattr("bot.writes.TYPING_EVERY_S", 0.05)
    room = stage.guild.create_channel("room")
    mention = stage.discord.bot.mention
    stage.model.default(server_error(503))
    async with stage.muninn(progress_s=0.2, run_s=4.0, tool_s=2.0, model_timeout_s=1.0):
        for way in ("answered", "stopped", "taken back", "failed", "place gone"):
            gate = stage.model.hold()
            asked = await stage.ada.says(room, f"{mention} {way}?")
            await gate.reached()
            await stage.discord.wait_until(lambda: stage.discord.is_typing(room), what="typing")
            match way:
                case "answered":
                    gate.release(say("Here."))
                case "stopped":
                    await stage.ada.press(await stage.discord.wait_for_message(reply_to=asked), "Stop")
                case "taken back":
                    await stage.ada.deletes(asked)
                case "failed":
                    gate.release(server_error(503))
                case _:
                    room.delete()
            await stage.until(OVER_SQL, asked.id)
            typed = len(stage.discord.requests_to("POST", "/channels/*/typing"))
            await stage.discord.expect_silence(stage.general, for_=0.2)
            # One may have been on its way.
            assert len(stage.discord.requests_to("POST", "/channels/*/typing")) <= typed + 1, way
    assert await stage.ends() == ["answered", "cancelled", "cancelled", "failed_told", "cancelled"]
