"""Statements that wait for each other: how a test knows that one has come to the lock that another holds."""

import asyncio
from typing import TypeAlias

import asyncpg

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

# Whether any statement in this database waits for a lock.
BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def until_blocked(pool: Pool, task: asyncio.Task[object], *, within_s: float = 10) -> None:
    """Wait until a statement waits for a lock, as one of `task` is to; raises TimeoutError where none does."""
    async with asyncio.timeout(within_s):
        while await pool.fetchval(BLOCKED) is None:
            await asyncio.wait([task], timeout=0.01)
