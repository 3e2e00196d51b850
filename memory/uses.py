"""How often memories were really relevant, counted off the hot path: no recall waits for it; under load it is left."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from memory.database import BORROW_S, Pool, is_passing

log = structlog.get_logger(__name__)

MOST_IN_FLIGHT: Final = 4

# Count a use of each of these memories, at most once an hour; ranking sees a day's beginning.
COUNT_USES_SQL: Final = """
INSERT INTO memory_uses AS u (memory_id, space_id)
SELECT memory_id, space_id FROM memory_items WHERE memory_id = ANY($1::bigint[]) AND state = 'active' ORDER BY memory_id
ON CONFLICT (memory_id) DO UPDATE SET
    settled = CASE WHEN u.used_at < date_trunc('day', now(), 'UTC') THEN u.uses ELSE u.settled END,
    uses = u.uses + 1, used_at = now()
WHERE u.used_at <= now() - interval '1 hour'
"""


class Uses:
    """Counts for one process. Close it with aclose()."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._under_way = set[asyncio.Task[None]]()

    def note(self, memory_ids: Sequence[int]) -> None:
        """Count a use of each, soon; left out where too many counts are under way already."""
        if memory_ids and len(self._under_way) < MOST_IN_FLIGHT:
            task = asyncio.create_task(self._count(list(memory_ids)))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def aclose(self) -> None:
        """Wait for the counts that are under way."""
        await asyncio.gather(*self._under_way)

    async def _count(self, memory_ids: list[int]) -> None:
        try:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await conn.execute(COUNT_USES_SQL, memory_ids)
        except Exception as error:
            if not is_passing(error):
                raise
            # A use less: nothing else hangs on it.
            log.warning("memory.uses_not_counted", error=type(error).__name__)
