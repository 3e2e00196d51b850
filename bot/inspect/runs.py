"""Runs: their steps, calls and receipts."""

from collections.abc import Sequence
from typing import Any, Final, cast

import orjson

from bot.inspect.records import (
    MOST_CHARACTERS,
    MOST_ROWS,
    CallRecord,
    Excerpt,
    ReceiptRecord,
    RunReport,
    RunSummary,
    StepRecord,
    excerpt,
)
from memory.database import Db
from memory.ids import MessageId, RunId, SpaceId, TurnId
from memory.scope import Scope, fetch_scoped


async def run_report(db: Db, space_id: SpaceId, run_id: RunId) -> RunReport | None:
    """What is on record for a run; None where the space has none of that number."""
    row = await db.fetchrow(RUN_SQL, space_id, run_id)
    if row is None:
        return None
    run = RunSummary(**dict(row))
    receipts = await receipts_of(db, space_id, run.turn_id, run.trigger_id)
    return RunReport(space_id, run, await _steps(db, space_id, run_id), receipts)


_RUN_COLUMNS: Final = """
r.run_id, r.turn_id, t.place_id, t.trigger_id, t.author_id, r.state, r.model, r.end_reason, r.steps, r.calls,
r.prompt_tokens, r.completion_tokens, r.started_at, r.ended_at, r.error_code, r.fallback_steps, r.cost, r.summary,
r.expired_at
"""
# The newest runs of a place.
RECENT_RUNS_SQL: Final = f"""
SELECT {_RUN_COLUMNS}
FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id
WHERE r.space_id = $1 AND r.place_id = $2 ORDER BY r.run_id DESC LIMIT $3
"""


async def recent_runs(db: Db, scope: Scope, *, most: int) -> tuple[RunSummary, ...]:
    """At most `most` runs of the place, the newest first."""
    return tuple(RunSummary(**dict(row)) for row in await fetch_scoped(db, RECENT_RUNS_SQL, scope, most))


# The runs of a turn, the first attempt first.
RUNS_OF_TURN_SQL: Final = f"""
SELECT {_RUN_COLUMNS} FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id
WHERE t.space_id = $1 AND r.turn_id = $2 ORDER BY r.run_id
"""
# One run.
RUN_SQL: Final = f"""
SELECT {_RUN_COLUMNS} FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id WHERE t.space_id = $1 AND r.run_id = $2
"""


async def runs_of(db: Db, space_id: SpaceId, turn_id: TurnId) -> tuple[RunSummary, ...]:
    """The runs of a turn, the first attempt first."""
    return tuple(RunSummary(**dict(row)) for row in await db.fetch(RUNS_OF_TURN_SQL, space_id, turn_id))


# The steps of a run.
STEPS_SQL: Final = """
SELECT s.step, s.reply::text AS reply, s.prompt_tokens, s.completion_tokens, s.said_at, s.first_ms, s.took_ms,
       s.fallback
FROM agent_runs r JOIN agent_steps s ON s.run_id = r.run_id
WHERE r.space_id = $1 AND r.run_id = $2 ORDER BY s.step
"""
# The calls of a run, in the model's order; of an expired run, what is left of them.
CALLS_SQL: Final = """
SELECT c.step, c.ordinal, c.tool, c.effect, c.state, c.error_code, c.planned_at, c.settled_at, c.took_ms, c.from_record,
       left(t.arguments, $3) AS arguments, length(t.arguments) AS arguments_characters,
       left(t.result, $3) AS result, length(t.result) AS result_characters
FROM agent_runs r JOIN agent_tool_calls c ON c.run_id = r.run_id
CROSS JOIN LATERAL (SELECT
    CASE WHEN r.expired_at IS NULL THEN c.arguments ELSE c.arguments_preview END AS arguments,
    CASE WHEN r.expired_at IS NULL THEN c.result::text ELSE nullif(c.result_preview, '') END AS result) AS t
WHERE r.space_id = $1 AND r.run_id = $2 ORDER BY c.step, c.ordinal LIMIT $4
"""


async def _steps(db: Db, space_id: SpaceId, run_id: RunId) -> tuple[StepRecord, ...]:
    calls: dict[int, list[CallRecord]] = {}
    for row in await db.fetch(CALLS_SQL, space_id, run_id, MOST_CHARACTERS, MOST_ROWS):
        calls.setdefault(row["step"], []).append(_call(row))
    rows = await db.fetch(STEPS_SQL, space_id, run_id)
    return tuple(_step(row, calls.get(row["step"], ())) for row in rows)


def _step(row: Any, calls: Sequence[CallRecord]) -> StepRecord:
    reply = cast("dict[str, Any]", orjson.loads(row["reply"]))
    said = reply.get("text")
    return StepRecord(
        row["step"],
        excerpt(said) if said else None,
        reply.get("finish", ""),
        reply.get("model", ""),
        row["prompt_tokens"],
        row["completion_tokens"],
        row["said_at"],
        tuple(calls),
        row["first_ms"],
        row["took_ms"],
        row["fallback"],
    )


def _call(row: Any) -> CallRecord:
    fields: dict[str, Any] = dict(row)
    del fields["step"]
    written, came = fields.pop("arguments_characters"), fields.pop("result_characters")
    fields["arguments"] = Excerpt(fields["arguments"], written)
    fields["result"] = None if came is None else Excerpt(fields["result"], came)
    return CallRecord(**fields)


# The receipts of a turn, and all that name its trigger (or a trigger that has no turn), the newest.
RECEIPTS_SQL: Final = """
SELECT receipt_id, action, left(args::text, $4) AS arguments, length(args::text) AS characters, state, external_id,
       failure, attempts, intended_at, settled_at
FROM (SELECT * FROM action_receipts WHERE space_id = $1 AND trigger_id = $3
      UNION SELECT * FROM action_receipts WHERE space_id = $1 AND turn_id = $2
      ORDER BY receipt_id DESC LIMIT $5) AS newest
ORDER BY receipt_id
"""


async def receipts_of(
    db: Db, space_id: SpaceId, turn_id: TurnId | None, trigger_id: MessageId
) -> tuple[ReceiptRecord, ...]:
    """The newest receipts of a turn and of its trigger, in the order in which they were intended."""
    rows = await db.fetch(RECEIPTS_SQL, space_id, turn_id, trigger_id, MOST_CHARACTERS, MOST_ROWS)
    return tuple(_receipt(row) for row in rows)


def _receipt(row: Any) -> ReceiptRecord:
    fields: dict[str, Any] = dict(row)
    fields["arguments"] = Excerpt(fields["arguments"], fields.pop("characters"))
    return ReceiptRecord(**fields)
