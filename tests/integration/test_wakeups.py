"""Notifications of other processes arrive, also after the line to PostgreSQL has gone dead (I14)."""

import asyncio
import os
import signal

import asyncpg
import pytest

from bot.wakeups import Wakeups
from memory.database import Pool


async def test_a_line_that_is_dead_at_one_end_is_made_again(
    pool: Pool, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I14: the server's end answers nothing more and closes nothing; a new connection listens within a moment."""
    monkeypatch.setattr("bot.wakeups.ALIVE_EVERY_S", 0.2)
    monkeypatch.setattr("bot.wakeups.ANSWER_S", 0.5)
    monkeypatch.setattr("bot.wakeups.RECONNECT_S", 0.1)
    lines: asyncio.Queue[asyncpg.Connection] = asyncio.Queue()

    async def connect() -> asyncpg.Connection:
        conn = await asyncpg.connect(database_url)
        lines.put_nowait(conn)
        return conn

    wakeups = Wakeups(connect, frozenset)
    task = asyncio.create_task(wakeups.run())
    async with asyncio.timeout(15):
        dead = (await lines.get()).get_server_pid()
        await wakeups.turns.wait()
        os.kill(dead, signal.SIGSTOP)
        try:
            wakeups.turns.clear()
            await lines.get()
            await wakeups.turns.wait()
            wakeups.turns.clear()
            await pool.execute("SELECT pg_notify('muninn_turns', '')")
            await wakeups.turns.wait()
        finally:
            os.kill(dead, signal.SIGCONT)
            task.cancel()
