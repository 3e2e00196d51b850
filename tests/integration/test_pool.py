"""Connections of the pool: nobody finds on one what another left there."""

import asyncio
from typing import Any

import asyncpg
import pytest

from bot.pool import open_pool


async def test_a_statement_that_was_cut_off_before_it_ran_leaves_no_transaction(database_url: str) -> None:
    """Cancelled when the server has prepared it and before it is executed: whoever has the connection next begins a
    transaction of his own, at the time that it is then."""
    other = await asyncpg.connect(database_url)
    async with open_pool(database_url, most=2) as pool:

        async def ask() -> None:
            async with pool.acquire() as conn:
                await conn.fetch("SELECT 'asked for the first time'")

        asking: asyncio.Task[None] = asyncio.create_task(ask())
        while not _is_answered(asking):  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        then = await other.fetchval("SELECT clock_timestamp()")
        async with pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
            assert await conn.fetchval("SELECT now()") > then
    await other.close()


def _is_answered(task: asyncio.Task[None]) -> bool:
    """Whether what the task waits for is there, and the task has not gone on yet."""
    waiter: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
    return waiter is not None and waiter.done()
