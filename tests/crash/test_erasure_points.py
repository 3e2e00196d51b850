"""The eraser is killed at each named point, and whoever comes next finishes what it began."""

import asyncio
import signal
from typing import Final

import asyncpg
import pytest

from bot import crash
from bot.crash import ERASURE_POINTS
from bot.erasure import requests
from bot.erasure.requests import Seal
from bot.erasure.worker import Eraser
from bot.pool import open_pool
from memory.ids import UserId
from memory.items import Draft, remember
from tests.harness.erasing import found_in
from tests.harness.process import fork
from tests.harness.told import Talk

ADA, BOB = 70_133, 70_233
CANARY: Final = "zanzibar-cloves-4711"
SEAL: Final = Seal(b"a key of these tests")
LEASE_S: Final = 0.5
IN_THE_MIDDLE: Final = ("after_erasure_step:9", "after_erasure_step:24", "after_erasure_swept:2")


@pytest.mark.parametrize("point", [*ERASURE_POINTS, *IN_THE_MIDDLE])
async def test_killed_at(point: str, database_url: str, pool: asyncpg.Pool) -> None:
    """I14, I15: nothing of the person is left, whoever did which half; what others wrote is as it was."""
    talk = Talk(pool)
    said = await talk.says(ADA, f"I sell {CANARY}", name="Ada")
    await talk.edits(said, ADA, f"I sell more {CANARY}")
    await talk.says(BOB, f"<@{ADA}> is a merchant", name="Bob")
    async with pool.acquire() as conn, conn.transaction():
        await remember(conn, talk.author(ADA, said), Draft(f"Ada sells {CANARY}."))
        asked = await requests.ask(conn, SEAL, "member", ADA, space_id=None, by=UserId(ADA))
    dying = await fork(_work, database_url, point)
    await asyncio.to_thread(dying.join, 20)
    assert dying.exitcode == -signal.SIGKILL
    dying.close()
    await _finished(pool)
    async with pool.acquire() as conn:
        found = await requests.by_receipt(conn, asked.receipt)
    assert found is not None
    assert (found.state, found.subject_id) == ("done", None)
    assert found.removed["memories"] <= 1
    assert await found_in(pool, [CANARY, str(ADA)]) == {}
    assert (
        await pool.fetchval("SELECT content FROM chat_messages WHERE author_id = $1", BOB) == "@someone is a merchant"
    )


async def _finished(pool: asyncpg.Pool) -> None:
    worker = Eraser(pool, None, "", lambda _: None, poll_s=0.02, again_s=0.0, lease_s=LEASE_S)
    async with asyncio.timeout(20):
        while await pool.fetchval("SELECT count(*) FROM erasures WHERE state <> 'done'"):
            if not await worker.step():
                await asyncio.sleep(0.05)  # a lease of the dead one ends by PostgreSQL's clock alone


def _work(database_url: str, point: str) -> None:
    """In the child: the eraser of a process, until it dies."""
    crash.arm(point)
    asyncio.run(_erase(database_url))


async def _erase(database_url: str) -> None:
    async with open_pool(database_url) as pool:
        await Eraser(pool, None, "", lambda _: None, poll_s=0.02, again_s=0.0, lease_s=LEASE_S).run()
