"""Gateways and workers as processes apart: the same code with parts switched off, and PostgreSQL between them."""

import asyncio
import contextlib

import orjson
import pytest

from bot.errors import SettingsFault
from bot.identifying import TAKE_TURN_SQL
from bot.settings import require_shared_database
from bot.shard_lock import lock_key
from sandbox.model import say, slow
from tests.harness.stage import Stage


async def test_a_worker_answers_what_a_gateway_heard(stage: Stage) -> None:
    """I3: the gateway hears, keeps and routes; a worker without a gateway answers, once, whoever is quicker."""
    stage.model.default(say("Here."))
    async with stage.part("gateway"), stage.part("worker"), stage.part("worker"):
        asked = [await stage.ada.says(stage.general, f"{stage.discord.bot.mention} {n}?") for n in range(3)]
        assert await stage.settled(3, within=20) == ["answered"] * 3
        for question in asked:
            assert len(stage.discord.replies_to(question)) == 1
    assert stage.discord.identifies == 1


async def test_a_gateway_alone_answers_nothing_and_loses_nothing(stage: Stage) -> None:
    """What was asked while no worker ran waits, and is answered when one comes."""
    stage.model.default(say("Late, but here."))
    async with stage.part("gateway"):
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} anybody?")
        await stage.until("SELECT 1 FROM turns WHERE state = 'queued'")
        async with stage.part("worker"):
            await stage.discord.wait_for_message(reply_to=question, within=15)


async def test_a_stop_reaches_the_worker_of_another_process(stage: Stage) -> None:
    """I10: the button is pressed where the gateway is; the worker learns of it by its next heartbeat."""
    stage.model.script(slow("never said", between=8.0))
    async with stage.part("gateway"), stage.part("worker", progress_s=0.2):
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} well?")
        draft = await stage.discord.wait_for_message(reply_to=question, within=15)
        await stage.ada.press(draft, "Stop")
        assert await stage.settled(1, within=15) == ["cancelled"]


async def test_parts_need_a_database_that_they_share(stage: Stage) -> None:
    """An embedded PostgreSQL is one process's own."""
    with pytest.raises(SettingsFault, match="MUNINN_DATABASE_URL"):
        require_shared_database(stage.settings(database_url=None))


async def test_who_has_identified_too_often_today_waits(stage: Stage) -> None:
    """Also a bot of one shard: Discord takes the token from who goes on."""
    starts = {"total": 1000, "remaining": 0, "reset_after": 1_500, "max_concurrency": 1}
    told = {"url": stage.discord.gateway_url, "shards": 1, "session_start_limit": starts}
    asked = stage.discord.faults.rest("GET", "/gateway/bot").status(200, orjson.dumps(told), html=False)
    async with contextlib.AsyncExitStack() as stack:
        starting = asyncio.create_task(stack.enter_async_context(stage.muninn()))
        await asked.hit()
        began = asyncio.get_running_loop().time()
        await starting
        waited_s = asyncio.get_running_loop().time() - began
    assert waited_s >= 1.5
    assert stage.discord.identifies == 1


async def test_a_shard_waits_for_its_turn_to_identify(stage: Stage) -> None:
    """I17: a bucket of shards identifies once in five seconds, in whatever process each of them is."""
    bucket = (lock_key(stage.discord.bot.id, 0)[0], -1)
    async with contextlib.AsyncExitStack() as stack, stage.pool.acquire() as other:
        assert await other.fetchval(TAKE_TURN_SQL, *bucket)
        starting = asyncio.create_task(stack.enter_async_context(stage.part("gateway", shard_count=2)))
        await stage.discord.wait_for_request("GET", "/gateway/bot", within=20)
        await stage.until("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' HAVING count(*) >= 2")
        assert stage.discord.identifies == 0
        await other.execute("SELECT pg_advisory_unlock_all()")
        await starting
        assert stage.discord.identifies == 1
