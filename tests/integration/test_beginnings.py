"""A run is begun while the model is asked: what that must not change (I3, I14)."""

from typing import Any

import orjson
from structlog.testing import capture_logs

from sandbox.discord import Message
from sandbox.model import ChatRequest, say
from tests.harness.stage import Stage

LOCK = "LOCK TABLE agent_runs IN SHARE MODE"
WAITS = """SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%agent_runs%'"""


async def test_the_model_is_asked_while_the_run_is_begun_and_nothing_is_said_before_it_stands(stage: Stage) -> None:
    """I3: a run that PostgreSQL cannot take yet holds up the answer, and not the question."""
    stage.model.default(say("At dawn."))
    async with stage.muninn():
        async with stage.pool.acquire() as conn, conn.transaction():
            asked, request = await _asked_and_not_begun(stage, conn)
            assert await conn.fetchval("SELECT count(*) FROM agent_runs") == 0
            assert stage.discord.replies_to(asked) == []
        answer = await stage.discord.wait_for_message(reply_to=asked)
        assert answer.content == "At dawn."
        assert await stage.settled(1) == ["answered"]
    run = await stage.pool.fetchrow("SELECT state, prompt::text AS prompt FROM agent_runs")
    assert run is not None
    assert run["state"] == "answered"
    system: Any = orjson.loads(run["prompt"])[0]
    assert system["text"] == request.messages[0].text


async def test_who_claimed_the_turn_meanwhile_answers_it_alone(stage: Stage) -> None:
    """I14: the run is another worker's by the time that ours can be begun: nothing of ours is said."""
    stage.model.default(say("At dawn."))
    async with stage.muninn():
        async with stage.pool.acquire() as conn, conn.transaction():
            asked, _ = await _asked_and_not_begun(stage, conn)
            await _taken_over(conn)
        answer = await stage.discord.wait_for_message(reply_to=asked)
        assert await stage.settled(1) == ["answered"]
    assert stage.discord.bot_messages() == [answer]
    runs = await stage.pool.fetch("SELECT model, state FROM agent_runs")
    assert [tuple(run) for run in runs] == [("another", "answered")]


async def test_a_run_that_cannot_be_begun_cuts_its_request_off(stage: Stage) -> None:
    """I9: PostgreSQL refuses for a while, as with a full disk; the turn comes again, and is answered once."""
    gate = stage.model.hold()
    await stage.pool.execute(
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN PERFORM pg_sleep(0.3); RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$"""
    )
    await stage.pool.execute("CREATE TRIGGER full_disk BEFORE INSERT ON agent_runs EXECUTE FUNCTION full_disk()")
    with capture_logs() as logs:
        async with stage.muninn():
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} when did it leave?")
            await gate.reached()
            await stage.until(
                "SELECT 1 FROM turns WHERE state = 'running' AND lease_until < now() + interval '2 seconds'"
            )
            await stage.pool.execute("DROP TRIGGER full_disk ON agent_runs")
            stage.model.default(say("At dawn."))
            answer = await stage.discord.wait_for_message(reply_to=asked)
            assert await stage.settled(1) == ["answered"]
    assert stage.discord.bot_messages() == [answer]
    assert [entry["error"] for entry in logs if entry["event"] == "turn.interrupted"] == ["DiskFullError"]
    assert not any(entry["event"] == "turn.broken" for entry in logs)


async def _asked_and_not_begun(stage: Stage, conn: Any) -> tuple[Message, ChatRequest]:
    """Ada asks, and so is the model, while the run waits for the transaction of `conn`."""
    await conn.execute(LOCK)
    asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} when did it leave?")
    request = await stage.model.wait_for_request()
    await stage.until(WAITS)
    return asked, request


async def _taken_over(conn: Any) -> None:
    """Another worker has claimed the turn, begun its run, and died."""
    await conn.execute(
        """UPDATE turns SET lease_no = lease_no + 1, lease_until = now() + interval '1 second';
           INSERT INTO agent_runs (space_id, turn_id, model, prompt, place_id, member_id, trigger_id, queued_at)
           SELECT space_id, turn_id, 'another', '[{"role": "user", "text": "?"}]', place_id, author_id, trigger_id,
                  queued_at
           FROM turns"""
    )
