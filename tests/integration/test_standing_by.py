"""Who waits for the shard goes on waiting, whatever happens to PostgreSQL meanwhile (I17)."""

import asyncio

import asyncpg

from bot.shard_lock import ShardLock
from memory.database import Pool

# End the connections of those who only ask for the lock.
END_WAITING_SQL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'standby'"


async def test_who_stands_by_survives_a_restart_of_postgresql(pool: Pool, database_url: str) -> None:
    """I17: its connection breaks, and no new one is to be had at first; it takes the shard when that is free."""
    opened: list[asyncpg.Connection] = []
    refused: list[None] = []
    asks, is_refused = asyncio.Event(), asyncio.Event()

    async def connect() -> asyncpg.Connection:
        if opened and len(refused) < 2:
            refused.append(None)
            if len(refused) == 2:
                is_refused.set()
            raise ConnectionRefusedError("PostgreSQL is starting")
        opened.append(await asyncpg.connect(database_url, server_settings={"application_name": "standby"}))
        asks.set()
        return opened[-1]

    first = ShardLock(lambda: asyncpg.connect(database_url), 10, 0)
    await first.take()
    second = ShardLock(connect, 10, 0)
    waiting = asyncio.create_task(second.take())
    async with asyncio.timeout(10):
        await asks.wait()
        await pool.execute(END_WAITING_SQL)
        await asyncio.wait([waiting, asyncio.create_task(is_refused.wait())], return_when=asyncio.FIRST_COMPLETED)
        first.free()
        await waiting
    assert len(opened) == 2
    second.free()
