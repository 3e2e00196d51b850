"""Runs in PostgreSQL: what a run said and did, so that another attempt can go on where this one was cut off (I3).

Every write names the turn's lease and shares a lock on the turn's row: a claim waits for a write under way and sees it,
and a write after the claim matches no row (I14). Each is one statement, so one round trip and one commit.
"""

import asyncio
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import asyncpg

from agent.contracts import (
    Audit,
    Effect,
    ModelReply,
    PlannedCall,
    PromptMessage,
    StoredCall,
    StoredStep,
    ToolCall,
    ToolResult,
    Usage,
)
from agent.errors import LeaseLost, StoredRunBroken
from agent.preview import preview
from agent.record import milliseconds, read_prompt, read_reply, write_prompt, write_reply


@dataclass(frozen=True, slots=True)
class Fence:
    """The lease under which a turn was claimed."""

    turn_id: int
    lease_no: int


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run to work on. `prompt` is what the model is to see: the stored one, also where a newer one was offered."""

    run_id: int
    prompt: tuple[PromptMessage, ...]
    resumed: bool


def as_stored(prompt: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The prompt as begin_run keeps it: what PostgreSQL cannot hold is replaced."""
    return read_prompt(write_prompt(prompt))


# Begin a turn's run, or find the one that was cut off, if the lease still holds (else one row without a number). The
# commit need not wait for the disk: lost with a crash of the server before a step was saved, the run has said and done
# nothing, and is begun again.
BEGIN_RUN_SQL = """
WITH held AS (
    SELECT turn_id, space_id, place_id, author_id, trigger_id, queued_at FROM turns
    WHERE turn_id = $1 AND lease_no = $2 AND state = 'running' FOR SHARE
), made AS (
    INSERT INTO agent_runs (run_id, space_id, turn_id, model, prompt, place_id, member_id, trigger_id, queued_at)
    OVERRIDING SYSTEM VALUE
    SELECT coalesce($5, nextval('agent_runs_run_id_seq')), space_id, turn_id, $3, $4::text::jsonb, place_id, author_id,
           trigger_id, queued_at
    FROM held
    ON CONFLICT (turn_id) WHERE state = 'running' DO NOTHING
    RETURNING run_id
)
SELECT run_id, NULL AS prompt, false AS resumed, set_config('synchronous_commit', 'off', true) FROM made
UNION ALL
SELECT run_id, prompt::text, true, NULL FROM agent_runs
WHERE turn_id = $1 AND state = 'running' AND EXISTS (SELECT FROM held) AND NOT EXISTS (SELECT FROM made)
UNION ALL
SELECT NULL, NULL, false, NULL WHERE NOT EXISTS (SELECT FROM held)
"""


async def begin_run(
    conn: Any, fence: Fence, *, model: str, prompt: Sequence[PromptMessage], run_id: int | None = None
) -> StoredRun:
    """The turn's running run if there is one, else a new one with `prompt`, and with the number `run_id` if one was set
    aside for it.

    `conn` is an asyncpg connection (or pool) whose turn was claimed before. Raises LeaseLost if the turn is no longer
    ours, and StoredRunBroken if a stored prompt cannot be read.
    """
    written = write_prompt(prompt)
    row = None
    while row is None:  # a conflict with a run that committed after this statement began shows it only to the next
        row = await conn.fetchrow(BEGIN_RUN_SQL, fence.turn_id, fence.lease_no, model, written, run_id)
    if row["run_id"] is None:
        raise LeaseLost(run_id or 0, fence.turn_id, fence.lease_no)
    stored = row["prompt"] if row["resumed"] else written
    return StoredRun(row["run_id"], read_prompt(stored), row["resumed"])


# The steps of a run with their calls, one row a call; a step without calls is one row.
LOAD_STEPS_SQL = """
SELECT s.step, s.reply::text AS reply, s.prompt_tokens, s.completion_tokens, s.fallback,
       c.ordinal, c.call_id, c.tool, c.arguments, c.effect, c.state, c.result::text AS result, c.error_code
FROM agent_steps s
LEFT JOIN agent_tool_calls c ON c.run_id = s.run_id AND c.step = s.step
WHERE s.run_id = $1
ORDER BY s.step, c.ordinal
"""

# Keep a reply and its planned calls, those turned down settled at once, if the lease still holds.
SAVE_STEP_SQL = """
WITH held AS (
    SELECT turn_id FROM turns WHERE turn_id = $1 AND lease_no = $2 AND state = 'running' FOR SHARE
), said AS (
    INSERT INTO agent_steps (run_id, step, reply, prompt_tokens, completion_tokens, fallback, first_ms, took_ms)
    SELECT $3, $4, $5::text::jsonb, $6, $7, $15, $16, $17 FROM held
    RETURNING run_id, step
), planned AS (
    INSERT INTO agent_tool_calls
        (run_id, step, ordinal, call_id, tool, arguments, effect, state, result, error_code, settled_at,
         arguments_preview)
    SELECT said.run_id, said.step, c.ordinal, c.call_id, c.tool, c.arguments, c.effect,
           CASE WHEN c.result IS NULL THEN 'planned' ELSE 'failed' END, c.result::json, c.error_code,
           CASE WHEN c.result IS NULL THEN NULL ELSE now() END, c.preview
    FROM said, unnest($8::int[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
                      $18::text[]) AS c (ordinal, call_id, tool, arguments, effect, result, error_code, preview)
)
SELECT count(*) FROM said
"""

# Keep what calls came to; what is settled stays. A commit of reads alone ($8) need not wait for the disk: lost with a
# crash of the server, they are read again. set_config here acts on the commit of this very statement.
SETTLE_CALLS_SQL = """
WITH held AS (
    SELECT turn_id, CASE WHEN $8 THEN set_config('synchronous_commit', 'off', true) END
    FROM turns WHERE turn_id = $1 AND lease_no = $2 AND state = 'running' FOR SHARE
), settled AS (
    UPDATE agent_tool_calls t
    SET state = CASE WHEN c.error_code IS NULL THEN 'done' ELSE 'failed' END,
        result = c.result::json, error_code = c.error_code, settled_at = now(), whole = c.whole::json,
        from_record = c.from_record, took_ms = c.took_ms, result_preview = c.preview
    FROM held, unnest($4::int[], $5::int[], $6::text[], $7::text[], $9::text[], $10::bool[], $11::int[], $12::text[])
        AS c (step, ordinal, result, error_code, whole, from_record, took_ms, preview)
    WHERE t.run_id = $3 AND t.step = c.step AND t.ordinal = c.ordinal AND t.state = 'planned'
)
SELECT count(*) FROM held
"""


class PgRunStore:
    """An agent.ports.RunStore over one run. `resumed` is StoredRun's: a run just begun has nothing to load. `begun`:
    where the run is being begun, when it stands; nothing is written before.

    `worded` are the tools of whose arguments and results the audit may keep words; of all others it keeps counts.
    """

    def __init__(
        self,
        pool: Any,
        run_id: int,
        fence: Fence,
        *,
        resumed: bool = True,
        worded: Collection[str] = (),
        begun: Awaitable[object] | None = None,
    ) -> None:
        self._pool = pool
        self._worded = frozenset(worded)
        self._run_id = run_id
        self._fence = fence
        self._resumed = resumed
        self._begun = begun

    async def load(self) -> Sequence[StoredStep]:
        """The stored steps in order. Raises StoredRunBroken if one cannot be read."""
        if not self._resumed:
            return ()
        rows = await self._pool.fetch(LOAD_STEPS_SQL, self._run_id)
        by_step: dict[int, list[asyncpg.Record]] = {}
        for row in rows:
            by_step.setdefault(row["step"], []).append(row)
        if list(by_step) != list(range(len(by_step))):
            raise StoredRunBroken(f"run {self._run_id} lacks a step before its last one")
        return [_read_step(each) for each in by_step.values()]

    async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
        """Raises LeaseLost, also if somebody else already saved this step."""
        if self._begun is not None:
            await asyncio.shield(self._begun)
        usage = reply.usage
        try:
            saved = await self._pool.fetchval(
                SAVE_STEP_SQL,
                self._fence.turn_id,
                self._fence.lease_no,
                self._run_id,
                step,
                write_reply(reply),
                usage.prompt_tokens,
                usage.completion_tokens,
                [each.ordinal for each in planned],
                [each.call.call_id for each in planned],
                [each.call.tool for each in planned],
                [each.call.arguments for each in planned],
                [each.effect for each in planned],
                [each.rejection.content if each.rejection else None for each in planned],
                [each.rejection.error_code if each.rejection else None for each in planned],
                reply.fallback,
                milliseconds(reply.first_s),
                milliseconds(reply.took_s),
                [preview(each.call.arguments, self._audit(each)) for each in planned],
            )
        except asyncpg.UniqueViolationError:
            saved = 0
        self._check(saved)

    async def settle_calls(self, settled: Sequence[tuple[PlannedCall, ToolResult]]) -> None:
        """Raises LeaseLost."""
        held = await self._pool.fetchval(
            SETTLE_CALLS_SQL,
            self._fence.turn_id,
            self._fence.lease_no,
            self._run_id,
            [planned.step for planned, _ in settled],
            [planned.ordinal for planned, _ in settled],
            [result.content for _, result in settled],
            [result.error_code for _, result in settled],
            all(planned.effect == "read" for planned, _ in settled),
            [result.whole for _, result in settled],
            [result.from_record for _, result in settled],
            [milliseconds(result.took_s) for _, result in settled],
            [preview(result.content, self._audit(planned)) for planned, result in settled],
        )
        self._check(held)

    def _audit(self, planned: PlannedCall) -> Audit:
        return "words" if planned.call.tool in self._worded else "counts"

    def _check(self, rows: int) -> None:
        if rows == 0:
            raise LeaseLost(self._run_id, self._fence.turn_id, self._fence.lease_no)


def _read_step(rows: Sequence[asyncpg.Record]) -> StoredStep:
    first = rows[0]
    calls = tuple(_read_call(row) for row in rows if row["ordinal"] is not None)
    usage = Usage(first["prompt_tokens"], first["completion_tokens"])
    reply = read_reply(first["reply"], [each.planned.call for each in calls], usage, fallback=first["fallback"])
    return StoredStep(first["step"], reply, calls)


def _read_call(row: asyncpg.Record) -> StoredCall:
    call = ToolCall(row["call_id"], row["tool"], row["arguments"])
    planned = PlannedCall(row["step"], row["ordinal"], call, cast("Effect", row["effect"]))
    if row["state"] == "planned":
        return StoredCall(planned, None)
    return StoredCall(planned, ToolResult(row["state"] == "done", row["result"], row["error_code"]))
