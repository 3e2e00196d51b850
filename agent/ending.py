"""How runs end in PostgreSQL: totals, cost, summary, and no call left open. Always within the transaction that ends or
composes the turn, which holds the lease (I3, I14).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from agent.contracts import (
    AssistantMessage,
    CallEnd,
    Effect,
    ModelReply,
    PlannedCall,
    RunOutcome,
    StoredCall,
    StoredStep,
    ToolCall,
    ToolResult,
    Usage,
)
from agent.prices import Prices
from agent.record import milliseconds, write_reply
from agent.summary import summarise
from agent.transcript import repaired

RunEnd: TypeAlias = Literal["answered", "failed", "cancelled"]


def finishing(*, after: int = 0, when: str = "true") -> tuple[str, str]:
    """The two parts of a statement that ends a run: what goes before it as common table expressions, and the update.

    It ends the run with what its last reply said, if it said anything; books its tokens; counts what it cost by the
    prices given. The steps before the last are seen as they were before the statement. Its arguments are those of
    `Ending.arguments`, numbered from `after` + 1; nothing ends unless `when` holds.
    """
    parts = (
        f"""
ended AS (
    SELECT run_id, space_id, coalesce(member_id, 0) AS member_id FROM agent_runs
    WHERE run_id = $1 AND state = 'running' AND {when}
), said AS (
    INSERT INTO agent_steps (run_id, step, reply, prompt_tokens, completion_tokens, fallback, first_ms, took_ms)
    SELECT run_id, $6, $7::text::jsonb, $8, $9, $12, $13, $14 FROM ended WHERE $7::text IS NOT NULL
), booked AS (
    INSERT INTO token_spend (space_id, day, member_id, tokens)
    SELECT space_id, (now() AT TIME ZONE 'UTC')::date, member_id, $10::bigint + $11::bigint
    FROM ended WHERE $10 + $11 > 0
    ON CONFLICT (space_id, day, member_id) DO UPDATE SET tokens = token_spend.tokens + excluded.tokens
), earlier AS (
    SELECT count(*) FILTER (WHERE fallback) AS fallbacks,
           coalesce(sum(prompt_tokens) FILTER (WHERE NOT fallback), 0) AS prompt,
           coalesce(sum(completion_tokens) FILTER (WHERE NOT fallback), 0) AS completion
    FROM agent_steps WHERE run_id = $1
)""",
        """
UPDATE agent_runs r
SET state = $2, end_reason = $3, ended_at = now(), steps = $4, calls = $5, prompt_tokens = $10, completion_tokens = $11,
    last_token_at = CASE WHEN $7::text IS NOT NULL THEN now() END,
    first_token_at = CASE WHEN $7::text IS NOT NULL THEN now() - make_interval(secs => ($14 - $13) / 1000.0) END,
    fallback_steps = e.fallbacks + $12::int,
    cost = ($18::numeric * (e.prompt + CASE WHEN $12 THEN 0 ELSE $8 END)
          + $19::numeric * (e.completion + CASE WHEN $12 THEN 0 ELSE $9 END)) / 1000000,
    summary = $15, keywords = $16::text[], error_code = $17
FROM earlier e, ended WHERE r.run_id = ended.run_id AND r.state = 'running'
""",
    )
    first, last = (re.sub(r"\$(\d+)", lambda found: f"${int(found[1]) + after}", part) for part in parts)
    return first, last


# End a run, with its last reply.
FINISH_RUN_SQL = "WITH {}{}".format(*finishing())


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends that came to an outcome: its final reply is saved as the last step, and its reason is kept, or
    else `reason`."""

    run_id: int
    state: RunEnd
    outcome: RunOutcome
    reason: str | None = None
    prices: Prices | None = None

    @property
    def arguments(self) -> tuple[object, ...]:
        """What `finishing` takes."""
        outcome, final, prices = self.outcome, self.outcome.final, self.prices
        steps = outcome.step + (0 if final is None else 1)
        summary = summarise(self.reason or outcome.reason, steps, outcome.ends)
        return (
            self.run_id,
            self.state,
            self.reason or outcome.reason,
            steps,
            outcome.calls,
            outcome.step,
            None if final is None else write_reply(final),
            0 if final is None else final.usage.prompt_tokens,
            0 if final is None else final.usage.completion_tokens,
            outcome.usage.prompt_tokens,
            outcome.usage.completion_tokens,
            final is not None and final.fallback,
            0 if final is None else milliseconds(final.first_s),
            0 if final is None else milliseconds(final.took_s),
            summary.text,
            list(summary.keywords),
            outcome.error_code,
            None if prices is None else prices.prompt,
            None if prices is None else prices.completion,
        )


async def finish_run(conn: Any, ending: Ending) -> None:
    """End the run within the caller's transaction, which also moves the turn on under its lease.

    A run that has ended is left as it is.
    """
    await conn.execute(FINISH_RUN_SQL, *ending.arguments)


# The run of a turn that was not ended yet.
RUNNING_RUN_SQL = """
SELECT run_id FROM agent_runs WHERE turn_id = $1 AND state = 'running'
"""


async def abandon_run(
    conn: Any, turn_id: int, *, state: Literal["failed", "cancelled"], reason: str, prices: Prices | None = None
) -> None:
    """End the run that the turn may have, within the caller's transaction, which ends the turn without its answer.

    Its totals are those of the steps that are on record, and calls that are still open are closed. A run that has ended
    is left as it is.
    """
    run_id = await conn.fetchval(RUNNING_RUN_SQL, turn_id)
    if run_id is not None:
        await _abandon(conn, run_id, state, reason, prices)


# The calls of a run, in the model's order.
CALL_STATES_SQL = """
SELECT step, ordinal, call_id, tool, arguments, effect, state, error_code, from_record
FROM agent_tool_calls WHERE run_id = $1 ORDER BY step, ordinal
"""

# Close calls that nobody will settle any more, each with what can be said of it.
CLOSE_CALLS_SQL = """
UPDATE agent_tool_calls t
SET state = 'failed', result = c.result::json, error_code = c.error_code, settled_at = now()
FROM unnest($2::int[], $3::int[], $4::text[], $5::text[]) AS c (step, ordinal, result, error_code)
WHERE t.run_id = $1 AND t.step = c.step AND t.ordinal = c.ordinal AND t.state = 'planned'
"""

# End a run that has no outcome, with the totals that are stored.
ABANDON_RUN_SQL = """
WITH totals AS (
    SELECT count(*) AS steps, coalesce(sum(prompt_tokens), 0) AS prompt,
           coalesce(sum(completion_tokens), 0) AS completion,
           count(*) FILTER (WHERE fallback) AS fallbacks,
           coalesce(sum(prompt_tokens) FILTER (WHERE NOT fallback), 0) AS own_prompt,
           coalesce(sum(completion_tokens) FILTER (WHERE NOT fallback), 0) AS own_completion
    FROM agent_steps WHERE run_id = $1
), booked AS (
    INSERT INTO token_spend (space_id, day, member_id, tokens)
    SELECT r.space_id, (now() AT TIME ZONE 'UTC')::date, coalesce(r.member_id, 0), t.prompt + t.completion
    FROM agent_runs r, totals t WHERE r.run_id = $1 AND r.state = 'running' AND t.prompt + t.completion > 0
    ON CONFLICT (space_id, day, member_id) DO UPDATE SET tokens = token_spend.tokens + excluded.tokens
)
UPDATE agent_runs r
SET state = $2, end_reason = $3, ended_at = now(), steps = t.steps, fallback_steps = t.fallbacks, calls = $4,
    prompt_tokens = t.prompt, completion_tokens = t.completion, summary = $5, keywords = $6::text[],
    cost = ($7::numeric * t.own_prompt + $8::numeric * t.own_completion) / 1000000
FROM totals t WHERE r.run_id = $1 AND r.state = 'running'
"""

# How many steps a run has.
STEPS_SAID_SQL = """
SELECT count(*) FROM agent_steps WHERE run_id = $1
"""


async def _abandon(conn: Any, run_id: int, state: RunEnd, reason: str, prices: Prices | None) -> None:
    rows = await conn.fetch(CALL_STATES_SQL, run_id)
    closed = await _close_calls(conn, run_id, rows)
    ends = [
        CallEnd(row["tool"], closed.get((row["step"], row["ordinal"]), row["error_code"]), row["from_record"])
        for row in rows
    ]
    summary = summarise(reason, await conn.fetchval(STEPS_SAID_SQL, run_id), ends)
    await conn.execute(
        ABANDON_RUN_SQL,
        run_id,
        state,
        reason,
        sum(each.error_code != "limit_calls" for each in ends),
        summary.text,
        list(summary.keywords),
        None if prices is None else prices.prompt,
        None if prices is None else prices.completion,
    )


async def _close_calls(conn: Any, run_id: int, rows: Sequence[Any]) -> dict[tuple[int, int], str | None]:
    """Give each open call a result, so that what is stored stays a transcript that a provider takes. Gives their codes.

    Only the last step can have open calls.
    """
    if not any(row["state"] == "planned" for row in rows):
        return {}
    last = rows[-1]["step"]
    calls = [_stored(row) for row in rows if row["step"] == last]
    step = StoredStep(last, ModelReply(AssistantMessage(None), "tool_calls", Usage(), ""), tuple(calls))
    pairs = zip(calls, repaired(step).calls, strict=True)
    told = {
        (last, before.planned.ordinal): after.result
        for before, after in pairs
        if before.result is None and after.result is not None
    }
    await conn.execute(
        CLOSE_CALLS_SQL,
        run_id,
        [step for step, _ in told],
        [ordinal for _, ordinal in told],
        [result.content for result in told.values()],
        [result.error_code for result in told.values()],
    )
    return {name: result.error_code for name, result in told.items()}


def _stored(row: Any) -> StoredCall:
    call = ToolCall(row["call_id"], row["tool"], row["arguments"])
    planned = PlannedCall(row["step"], row["ordinal"], call, cast("Effect", row["effect"]))
    return StoredCall(planned, None if row["state"] == "planned" else ToolResult(ok=True, content="{}"))
