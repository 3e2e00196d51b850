"""Ageing: what runs said in detail goes after some days; that they were, and what they did, stays. Pages of the web go,
and episodes.

A transcript is there to resume a run and to look into what went wrong. Afterwards prompt, replies, arguments and
results are emptied, and the audit remains: counts, codes, times, previews, the summary.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

import structlog

from memory.database import BORROW_S, Db, Pool
from memory.episodes import CROWD_OUT_SQL, EXPIRE_EPISODES_SQL, KEPT_DAYS, MOST_OF_SPACE
from memory.web_documents import EXPIRE_DOCUMENTS_SQL

log = structlog.get_logger(__name__)

EVERY_S: Final = 3_600.0
FIRST_S: Final = 60.0
"""Starting is busy enough without it."""

BATCH: Final = 200
MOST_BATCHES: Final = 50
"""In one go: what is left waits for the next hour, so that a long absence is not made up for at once."""

PAUSE_S: Final = 0.1
SPEND_DAYS: Final = 40

# Empty the transcripts of the runs that ended longest ago. The rows stay.
EXPIRE_RUNS_SQL: Final = """
WITH old AS (
    SELECT run_id FROM agent_runs
    WHERE expired_at IS NULL AND ended_at IS NOT NULL AND ended_at < now() - make_interval(days => $1)
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED
), steps AS (
    UPDATE agent_steps s SET reply = s.reply - 'text' FROM old WHERE s.run_id = old.run_id
), calls AS (
    UPDATE agent_tool_calls c SET arguments = '', result = NULL, whole = NULL FROM old WHERE c.run_id = old.run_id
), runs AS (
    UPDATE agent_runs r SET prompt = '[]', expired_at = now() FROM old WHERE r.run_id = old.run_id RETURNING r.run_id
)
SELECT count(*) FROM runs
"""

# Drop the oldest events of requests.
EXPIRE_EVENTS_SQL: Final = """
WITH dropped AS (
    DELETE FROM ai_events WHERE ai_event_id IN (
        SELECT ai_event_id FROM ai_events WHERE asked_at < now() - make_interval(days => $1) ORDER BY asked_at LIMIT $2)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# Drop what was spent on days that no budget asks about any more.
EXPIRE_SPEND_SQL: Final = """
WITH dropped AS (
    DELETE FROM token_spend WHERE (space_id, day, member_id) IN (
        SELECT space_id, day, member_id FROM token_spend
        WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int ORDER BY day LIMIT $2)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""


@dataclass(frozen=True, slots=True)
class Ageing:
    """Empties and drops what is old. Days, and how many `episodes` a guild or direct conversation keeps, are settings.
    Any number of processes may do this at once."""

    pool: Pool
    transcript_days: int
    ai_event_days: int
    episode_days: int = KEPT_DAYS
    episodes: int = MOST_OF_SPACE

    async def run(self) -> None:
        """Go on for ever, once an hour. Raises what PostgreSQL raises; whoever runs it starts it again."""
        await asyncio.sleep(FIRST_S)
        while True:
            await self.sweep()
            await asyncio.sleep(EVERY_S)

    async def sweep(self) -> None:
        """Expire what is due, at most MOST_BATCHES batches of each kind."""
        due = (
            ("transcripts", EXPIRE_RUNS_SQL, self.transcript_days),
            ("ai_events", EXPIRE_EVENTS_SQL, self.ai_event_days),
            ("token_spend", EXPIRE_SPEND_SQL, SPEND_DAYS),
            ("web_documents", EXPIRE_DOCUMENTS_SQL, 0),  # each says when it expires
            ("episodes", EXPIRE_EPISODES_SQL, self.episode_days),
            ("episodes beyond", CROWD_OUT_SQL, self.episodes),
        )
        for what, statement, days in due:
            expired = 0
            for _ in range(MOST_BATCHES):
                async with self.pool.acquire(timeout=BORROW_S) as conn:
                    count = await _expire(conn, statement, days)
                expired += count
                if count < BATCH:
                    break
                await asyncio.sleep(PAUSE_S)
            if expired:
                log.info("ageing.done", what=what, expired=expired)


async def _expire(conn: Db, statement: str, bound: int) -> int:
    return int(await conn.fetchval(statement, bound, BATCH))
