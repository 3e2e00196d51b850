"""What a run said in detail goes after some days; that it was, and what it did, stays (I13)."""

import asyncpg
import pytest

from bot.activity import PlaceActivity
from bot.ageing import BATCH, Ageing
from bot.inspect import run_report
from memory.ids import PlaceId, RunId, SpaceId
from memory.scope import Scope
from sandbox.model import call, say
from tests.harness.stage import Stage


async def test_a_transcript_expires_and_its_audit_stays(stage: Stage) -> None:
    """No word of prompt, reply, arguments or result is left; the report and the bot's own recall still work."""
    stage.model.default(
        lambda request: say("the raven's reply") if request.tool_results else call("memory_search", query="raven")
    )
    async with stage.muninn():
        for words in ("old raven", "new raven"):
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {words}")
            await stage.discord.wait_for_message(reply_to=asked)
        await stage.settled(2)
    await stage.pool.execute("UPDATE agent_runs SET ended_at = ended_at - interval '15 days' WHERE run_id = 1")
    await Ageing(stage.pool, 14, 90).sweep()
    left = await stage.pool.fetch(
        """SELECT r.run_id, concat(r.prompt::text, string_agg(s.reply::text, ''), string_agg(c.arguments, ''),
             string_agg(c.result::text, ''), string_agg(c.whole::text, '')) LIKE '%raven%' AS told
           FROM agent_runs r JOIN agent_steps s USING (run_id) LEFT JOIN agent_tool_calls c USING (run_id, step)
           GROUP BY r.run_id ORDER BY r.run_id"""
    )
    assert [tuple(row) for row in left] == [(1, False), (2, True)]
    scope = Scope(SpaceId(stage.guild.id), PlaceId(stage.general.id))
    report = await run_report(stage.pool, scope.space_id, RunId(1))
    assert report is not None
    assert [(step.said, len(step.calls)) for step in report.steps] == [(None, 1), (None, 0)]
    assert (report.run.steps, report.run.calls, report.steps[1].model) == (2, 1, stage.model.name)
    log = await PlaceActivity(stage.pool, scope).get(RunId(1))
    assert (log.run.summary, log.calls[0].tool) == (
        "Answered after 2 model calls. Called memory_search.",
        "memory_search",
    )


@pytest.mark.parametrize(
    ("table", "old", "young"), [("ai_events", 91, 89), ("token_spend", 41, 39), ("web_documents", 31, 29)]
)
async def test_old_rows_go_batch_by_batch(pool: asyncpg.Pool, table: str, old: int, young: int) -> None:
    """More than one batch of them; the young ones stay."""
    made = {
        "ai_events": "INSERT INTO ai_events (space_id, purpose, model, status, asked_at, took_ms) "
        "SELECT 1, 'answer', 'm', 'ok', now() - make_interval(days => $1), 1 FROM generate_series(1, $2)",
        "token_spend": "INSERT INTO token_spend SELECT 1, (now() AT TIME ZONE 'UTC')::date - $1::int, n, 1 "
        "FROM generate_series(1, $2) n",
        "web_documents": "INSERT INTO web_documents (space_id, url, title, content, digest, fetched_at, expires_at) "
        "SELECT 1, $1::int || chr(47) || n, '', '', '', now(), now() + make_interval(days => 30 - $1) "
        "FROM generate_series(1, $2) n",
    }[table]
    await pool.execute(made, old, BATCH + 7)
    await pool.execute(made, young, 5)
    await Ageing(pool, 14, 90).sweep()
    assert await pool.fetchval(f"SELECT count(*) FROM {table}") == 5


async def test_a_run_under_way_never_expires(stage: Stage) -> None:
    """However old: it is resumed from its transcript."""
    gate = stage.model.hold()
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} think")
        await gate.reached()
        await stage.pool.execute("UPDATE agent_runs SET started_at = started_at - interval '1 year'")
        await Ageing(stage.pool, 1, 1).sweep()
        gate.release(say("done"))
        await stage.discord.wait_for_message(reply_to=asked)
    assert await stage.pool.fetchval("SELECT expired_at FROM agent_runs") is None
