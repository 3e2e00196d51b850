"""Inspection shows what is on record, all of it, and nothing of another space."""

import asyncpg
import pytest

from bot import inspect
from bot.ageing import Ageing
from bot.inspect import MOST_CHARACTERS, message_report, messages, recent_runs, run_report, runs
from memory.ids import MessageId, PlaceId, RunId, SpaceId
from memory.scope import Scope
from sandbox.model import call, say, server_error
from tests.harness.stage import Stage

ANOTHER = SpaceId(1)


async def test_an_answered_message_from_its_event_to_its_receipts(stage: Stage) -> None:
    """The ledger's row, the words, why it was taken up, the turn with its times, the run with steps and calls."""
    space = SpaceId(stage.guild.id)
    stage.model.script(call("discord_react", emoji="👍"), say("Done!"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} thumbs up, please")
        answer = await stage.discord.wait_for_message(reply_to=asked)
        assert await stage.settled(1) == ["answered"]
        await stage.until("SELECT 1 FROM message_reactions WHERE message_id = $1", asked.id)
    report = await message_report(stage.pool, space, MessageId(asked.id))
    kinds = sorted(event.kind for event in report.events)
    assert kinds == ["ACTION_REACT", "MESSAGE_CREATE", "MESSAGE_REACTION_ADD"]
    assert report.message is not None
    assert (report.message.author_name, report.message.content) == ("Ada", asked.content)
    assert report.message.reactions == (("👍", 1),)
    assert report.inbox is not None
    assert (report.inbox.reason, report.inbox.state) == ("mention", "routed")
    turn = report.turn
    assert turn is not None
    assert (turn.state, turn.outcome, turn.parts, turn.attempts) == ("answered", "answer", 1, 1)
    times = [turn.queued_at, turn.started_at, turn.composed_at, turn.ended_at]
    assert None not in times
    assert times == sorted(time for time in times if time is not None)
    receipts = [(each.action, each.state, each.external_id) for each in report.receipts]
    assert receipts == [("react", "applied", asked.id), ("send_part", "applied", answer.id)]
    assert (await message_report(stage.pool, space, MessageId(answer.id))).turn == turn

    assert recent_runs_of(await recent_runs(stage.pool, Scope(space, PlaceId(stage.general.id)), most=5)) == [
        turn.turn_id
    ]
    run = await run_report(stage.pool, space, report.runs[0].run_id)
    assert run is not None
    assert (run.run, run.receipts) == (report.runs[0], report.receipts)
    assert (run.run.state, run.run.steps, run.run.calls) == ("answered", 2, 1)
    assert [(step.step, step.said and step.said.text, step.finish) for step in run.steps] == [
        (0, None, "tool_calls"),
        (1, "Done!", "stop"),
    ]
    assert sum(step.prompt_tokens for step in run.steps) == run.run.prompt_tokens > 0
    [done] = run.steps[0].calls
    assert (done.ordinal, done.tool, done.effect, done.state, done.error_code) == (
        0,
        "discord_react",
        "write",
        "done",
        None,
    )
    assert "👍" in done.arguments.text
    assert done.result is not None
    assert done.result.is_whole
    assert done.settled_at is not None


def recent_runs_of(runs: tuple[inspect.RunSummary, ...]) -> list[int]:
    return [run.turn_id for run in runs]


async def test_an_edited_and_deleted_message_keeps_its_words(stage: Stage) -> None:
    """I1: former words in order, the deletion, and the event of each change."""
    async with stage.muninn():
        said = await stage.ada.says(stage.general, "one")
        await stage.ada.edits(said, "two")
        await stage.ada.edits(said, "three")
        await stage.ada.deletes(said)
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL", said.id)
    report = await message_report(stage.pool, SpaceId(stage.guild.id), MessageId(said.id))
    assert report.message is not None
    assert [revision.content for revision in report.message.revisions] == ["one", "two"]
    assert (report.message.content, report.message.deleted_at is not None) == ("three", True)
    kinds = [event.kind for event in report.events]
    assert kinds == ["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"]
    assert (report.inbox, report.turn, report.runs, report.receipts) == (None, None, (), ())


async def test_a_failed_run_says_why(stage: Stage) -> None:
    """I9: a run without an answer is on record with its reason, and the turn with what was told."""
    stage.model.default(server_error())
    async with stage.muninn(model_attempts=1):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["failed_told"]
    report = await message_report(stage.pool, SpaceId(stage.guild.id), MessageId(asked.id))
    assert [(run.state, run.end_reason) for run in report.runs] == [("failed", "model_unavailable")]
    assert report.turn is not None
    assert (report.turn.outcome, report.turn.end_reason) == ("error", "model_unavailable")


async def test_another_space_sees_nothing(stage: Stage) -> None:
    """I6: with the ids of another space's message and run, every part of a report is empty."""
    stage.model.script(call("discord_react", emoji="👍"), say("Done!"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} thumbs up")
        assert await stage.settled(1) == ["answered"]
    run_id = RunId(await stage.pool.fetchval("SELECT run_id FROM agent_runs"))
    report = await message_report(stage.pool, ANOTHER, MessageId(asked.id))
    nothing = (report.events, report.message, report.inbox, report.turn, report.runs, report.receipts)
    assert nothing == ((), None, None, None, (), ())
    assert await run_report(stage.pool, ANOTHER, run_id) is None
    assert await recent_runs(stage.pool, Scope(ANOTHER, PlaceId(stage.general.id)), most=5) == ()
    assert await recent_runs(stage.pool, Scope(SpaceId(stage.guild.id), PlaceId(1)), most=5) == ()


STATEMENTS = {
    name: statement for module in (messages, runs) for name, statement in vars(module).items() if name.endswith("_SQL")
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_carries_the_space(name: str) -> None:
    """I6: no statement of inspection can be run without naming the space."""
    assert "space_id = $1" in STATEMENTS[name]


async def test_what_was_asked_back_is_on_record(stage: Stage) -> None:
    """The card of an action that was not asked for in plain words, before and after its press."""
    space = SpaceId(stage.guild.id)
    stage.model.script(call("discord_send_message", content="Tea is ready"), say("Please confirm."))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} I think it is about time")
        assert await stage.settled(1) == ["answered"]
        card = await stage.discord.wait_for_message(containing="Tea is ready")
        [waiting] = (await message_report(stage.pool, space, MessageId(asked.id))).cards
        await stage.ada.press(card, "Do it")
        await stage.until("SELECT 1 FROM action_cards WHERE shown = 'used'")
    [used] = (await message_report(stage.pool, space, MessageId(asked.id))).cards
    assert (waiting.state, waiting.message_id, waiting.requester_id) == ("open", card.id, stage.ada.id)
    assert (used.state, used.card_id, used.action) == ("used", waiting.card_id, "send_message")
    assert used.closed_at is not None
    assert (await message_report(stage.pool, ANOTHER, MessageId(asked.id))).cards == ()


async def test_of_an_expired_run_the_shape_is_left(stage: Stage) -> None:
    """What ageing has emptied is shown by what it left: what was called with what kind of thing, and no words."""
    space = SpaceId(stage.guild.id)
    stage.model.script(call("memory_search", query="atlas"), say("Nothing."))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what about atlas?")
        assert await stage.settled(1) == ["answered"]
    run_id = RunId(await stage.pool.fetchval("SELECT run_id FROM agent_runs"))
    await stage.pool.execute("UPDATE agent_runs SET ended_at = now() - interval '10 days'")
    await Ageing(stage.pool, transcript_days=1, ai_event_days=1).sweep()
    report = await run_report(stage.pool, space, run_id)
    assert report is not None
    assert report.run.expired_at is not None
    [done] = report.steps[0].calls
    assert "query" in done.arguments.text
    assert "atlas" not in done.arguments.text
    assert report.steps[1].said is None


async def test_what_is_long_is_cut_and_what_is_secret_left_out(pool: asyncpg.Pool) -> None:
    """I13: bounded excerpts say how much there was; a token in an older row is not shown."""
    await pool.execute(
        """INSERT INTO discord_events (space_id, message_id, kind, event_key, source, payload) VALUES
           (5, 6, 'MESSAGE_UPDATE', 'update:6:x', 'gateway',
            json_build_object('token', 'hush', 'n', repeat('y', 9000))),
           (5, 6, 'MESSAGE_CREATE', 'create:6', 'gateway', NULL)"""
    )
    report = await message_report(pool, SpaceId(5), MessageId(6))
    update, create = report.events
    assert update.payload is not None
    assert (len(update.payload.text), update.payload.characters) == (MOST_CHARACTERS, len('{"n":""}') + 9000)
    assert not update.payload.is_whole
    assert "hush" not in update.payload.text
    assert create.payload is None


async def test_an_interaction_is_found_by_its_id(pool: asyncpg.Pool) -> None:
    """What a slash command did has its receipt under the interaction's id, with no message and no turn."""
    await pool.execute(
        """INSERT INTO discord_events (space_id, kind, event_key, source, payload)
           VALUES (5, 'INTERACTION_CREATE', 'interaction:7', 'gateway', '{}');
           INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args)
           VALUES (5, 6, 7, 'forget', '\\x00', '{"key": "fact.x"}')"""
    )
    report = await message_report(pool, SpaceId(5), MessageId(7))
    assert [event.kind for event in report.events] == ["INTERACTION_CREATE"]
    assert [(receipt.action, receipt.arguments.text) for receipt in report.receipts] == [
        ("forget", '{"key": "fact.x"}')
    ]
