"""A row for each request to a provider: who asked for it, which model, how it went, what it took and cost.

It is no part of what it tells of: rows are collected and written behind, many at once, and what cannot be written is
logged and lost. Nothing waits for it and nothing fails by it. What a request cost that belongs to no run counts towards
its space's budget of the day; a run books its own with its end, and embedding is free.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

import structlog

from agent.contracts import Usage
from memory.database import BORROW_S, Pool, is_passing
from memory.ids import PlaceId, RunId, SpaceId, UserId

log = structlog.get_logger(__name__)

FLUSH_EVERY_S: Final = 1.0
FLUSH_WITHIN_S: Final = 5.0
MOST_WAITING: Final = 10_000
_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class AiEvent:
    """One request. `purpose` is what it was for: `answer`, `extraction`, `embedding`.

    Times are in seconds; `ended_at` is on time.monotonic().
    """

    space_id: SpaceId
    purpose: str
    model: str
    status: Literal["ok", "failed", "cancelled"]
    took_s: float
    place_id: PlaceId | None = None
    member_id: UserId | None = None
    run_id: RunId | None = None
    fallback: bool = False
    error_code: str | None = None
    messages: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None
    first_s: float | None = None
    ended_at: float = field(default_factory=time.monotonic)


# Write a batch. How long ago each request ended is known; when that was is for the database to say. What no run books
# is booked here against the day's budgets; in the order of their keys, so that two writers cannot deadlock.
WRITE_AI_EVENTS_SQL: Final = """
WITH written AS (
INSERT INTO ai_events (space_id, place_id, member_id, run_id, purpose, model, fallback, status, error_code, messages,
    prompt_tokens, completion_tokens, cost, asked_at, first_ms, took_ms)
SELECT space_id, place_id, member_id, run_id, purpose, model, fallback, status, error_code, messages, prompt_tokens,
    completion_tokens, cost, now() - make_interval(secs => asked_ago_s), first_ms, took_ms
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bool[], $8::text[],
    $9::text[], $10::int[], $11::int[], $12::int[], $13::numeric[], $14::float8[], $15::int[], $16::int[])
    AS e (space_id, place_id, member_id, run_id, purpose, model, fallback, status, error_code, messages, prompt_tokens,
          completion_tokens, cost, asked_ago_s, first_ms, took_ms)
RETURNING space_id, coalesce(member_id, 0) AS member_id, purpose, prompt_tokens + completion_tokens AS tokens
)
INSERT INTO token_spend (space_id, day, member_id, tokens)
SELECT space_id, (now() AT TIME ZONE 'UTC')::date, member_id, sum(tokens) FROM written
WHERE purpose NOT IN ('answer', 'ambient', 'embedding') AND tokens > 0
GROUP BY space_id, member_id ORDER BY space_id, member_id
ON CONFLICT (space_id, day, member_id) DO UPDATE SET tokens = token_spend.tokens + excluded.tokens
"""


class AiEvents:
    """Collects events and writes them behind. One for the process."""

    def __init__(self, pool: Pool, *, every_s: float = FLUSH_EVERY_S) -> None:
        self._pool = pool
        self._every_s = every_s
        self._waiting: deque[AiEvent] = deque(maxlen=MOST_WAITING)

    def note(self, event: AiEvent) -> None:
        """Take it in; never raises and never waits. Where too many wait, the oldest is lost."""
        if len(self._waiting) == MOST_WAITING:
            log.warning("ai_events.overflow", lost=1)
        self._waiting.append(event)

    async def run(self) -> None:
        """Write what waits, for ever; cancelled, let the writing end and write the rest, within a bound."""
        writing: asyncio.Task[None] | None = None
        try:
            while True:
                await asyncio.sleep(self._every_s)
                writing = asyncio.create_task(self.flush(), name="ai_events.flush")
                # Cut off, nobody could say whether its rows were committed: they would be lost, or counted twice.
                await asyncio.shield(writing)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_WITHIN_S):
                    if writing is not None:
                        await writing
                    await self.flush()

    async def flush(self) -> None:
        """Write what waits now. A failure is logged: while PostgreSQL is away the events wait, else they are lost."""
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH))]
            try:
                async with self._pool.acquire(timeout=BORROW_S) as conn:
                    await conn.execute(WRITE_AI_EVENTS_SQL, *_columns(batch))
            except Exception as error:
                kept = is_passing(error)
                log.warning("ai_events.not_written", error=type(error).__name__, events=len(batch), kept=kept)
                if not kept:
                    continue
                self._waiting.extendleft(reversed(batch[: MOST_WAITING - len(self._waiting)]))
                return


def _columns(batch: Sequence[AiEvent]) -> list[list[object]]:
    now = time.monotonic()
    rows = [
        (
            e.space_id, e.place_id, e.member_id, e.run_id, e.purpose, e.model, e.fallback, e.status, e.error_code,
            e.messages, e.usage.prompt_tokens, e.usage.completion_tokens, e.cost, now - e.ended_at + e.took_s,
            None if e.first_s is None else round(e.first_s * 1000), round(e.took_s * 1000),
        )
        for e in batch
    ]  # fmt: skip
    return [list(column) for column in zip(*rows, strict=True)]
