"""PostgreSQL, Redis or the disk fails in the middle of traffic: nothing is lost, and it is said (I1, I2, I9)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import asyncpg
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr
from structlog.testing import capture_logs

from bot.services import EmbeddedPostgres, EmbeddedValkey, ensure_database
from migrations.runner import migrate
from sandbox.model import say
from sandbox.patience import WITHIN_S
from tests.harness.services import FAST, open_pool
from tests.harness.stage import Stage, open_stage


def _metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.fixture
async def postgres(service_folder: Path) -> AsyncGenerator[EmbeddedPostgres]:
    """A server of the test's own, which it may stop and start."""
    server = EmbeddedPostgres(service_folder, FAST)
    await asyncio.to_thread(server.start)
    await ensure_database(server, "muninn")
    conn = await asyncpg.connect(server.url())
    await migrate(conn)
    await conn.close()
    try:
        yield server
    finally:
        await asyncio.to_thread(server.stop)


@pytest.fixture
async def own_stage(postgres: EmbeddedPostgres, redis_url: str) -> AsyncGenerator[Stage]:
    async with open_pool(postgres.url()) as pool, open_stage(postgres.url(), redis_url, pool) as stage:
        stage.model.default(say("yes"))
        yield stage


async def test_a_restart_of_postgresql_in_the_middle_of_traffic_loses_nothing(
    own_stage: Stage, postgres: EmbeddedPostgres
) -> None:
    """I1, I3: what comes while it is away waits for the journal, and is answered afterwards, once."""
    stage = own_stage
    mention = stage.discord.bot.mention
    with capture_logs() as logs:
        async with stage.muninn():
            first = await stage.ada.says(stage.general, f"{mention} one")
            await stage.discord.wait_for_message(reply_to=first)
            await asyncio.to_thread(postgres.stop)
            asked = [await stage.ada.says(stage.general, f"{mention} while away {n}") for n in range(3)]
            plain = await stage.bob.says(stage.general, "hello?")
            await _until(lambda: _metric("muninn_database_up") == 0)
            await asyncio.to_thread(postgres.start)
            for message in asked:
                await stage.discord.wait_for_message(reply_to=message, within=30)
            assert await stage.settled(4, within=20) == ["answered"] * 4
    assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE message_id = $1", plain.id) == 1
    assert len(stage.discord.bot_messages()) == 4
    assert any(entry["event"] == "database.away" for entry in logs)
    assert _metric("muninn_database_up") == 1


async def test_a_queue_that_overflows_meanwhile_is_filled_from_discord(
    own_stage: Stage, postgres: EmbeddedPostgres
) -> None:
    """I1: what did not fit is counted, a gap row stands for it, and the backfill brings it."""
    stage = own_stage
    dropped_before = _metric("muninn_events_total", ack="dropped")
    async with stage.muninn(ingress_queue=5):
        first = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await stage.discord.wait_for_message(reply_to=first)
        await asyncio.to_thread(postgres.stop)
        said = [await stage.bob.says(stage.general, f"number {n}") for n in range(20)]
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} still there?")
        await _until(lambda: _metric("muninn_events_total", ack="dropped") > dropped_before)
        await asyncio.to_thread(postgres.start)
        await stage.discord.wait_for_message(reply_to=asked, within=30)
        gap = await stage.until("SELECT dropped FROM gateway_gaps WHERE reason = 'overflow' AND closed_at IS NOT NULL")
    stored = {row["message_id"] for row in await stage.pool.fetch("SELECT message_id FROM chat_messages")}
    assert {message.id for message in said} <= stored
    assert gap["dropped"] > 0


async def test_without_redis_everything_still_happens_once(stage: Stage, service_folder: Path) -> None:
    """I2: Redis saves work and proves nothing; rate limits are counted in the process meanwhile."""
    stage.model.default(say("yes"))
    valkey = EmbeddedValkey(service_folder)
    await asyncio.to_thread(valkey.start)
    mention = stage.discord.bot.mention
    errors_before = _metric("muninn_redis_errors_total")
    try:
        async with stage.muninn(redis_url=SecretStr(valkey.url()), member_turns=3, rate_window_s=3600):
            first = await stage.ada.says(stage.general, f"{mention} one")
            await stage.discord.wait_for_message(reply_to=first)
            await asyncio.to_thread(valkey.stop)
            stage.discord.faults.gateway("MESSAGE_CREATE").duplicate(2)
            second = await stage.ada.says(stage.general, f"{mention} two")
            await stage.discord.wait_for_message(reply_to=second)
            for n in range(4):
                await stage.ada.says(stage.general, f"{mention} and {n}")
            ends = await stage.settled(6)
    finally:
        await asyncio.to_thread(valkey.stop)
    assert ends == ["answered"] * 4 + ["failed_told", "cancelled"]
    assert _metric("muninn_redis_errors_total") > errors_before


async def test_a_full_disk_is_waited_out_and_said(stage: Stage) -> None:
    """I1: PostgreSQL refuses every insert for want of space; once there is room again, everything is journalled."""
    stage.model.default(say("yes"))
    await stage.pool.execute(
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"""
    )
    with capture_logs() as logs:
        async with stage.muninn():
            first = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
            await stage.discord.wait_for_message(reply_to=first)
            await stage.settled(1)
            await stage.pool.execute(
                "CREATE TRIGGER full_disk BEFORE INSERT ON discord_events EXECUTE FUNCTION full_disk()"
            )
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two")
            await _until(lambda: _metric("muninn_database_up") == 0)
            await stage.pool.execute("DROP TRIGGER full_disk ON discord_events")
            await stage.discord.wait_for_message(reply_to=asked, within=20)
            assert await stage.settled(2, within=20) == ["answered"] * 2
    assert any("DiskFull" in str(entry.get("error")) for entry in logs if entry["event"] == "database.away")


async def test_a_full_disk_while_an_answer_is_recorded_repeats_nothing(stage: Stage) -> None:
    """I4: the POST went out and its record could not be written; the next attempt finds the message by its nonce."""
    stage.model.default(say("only once"))
    await stage.pool.execute(
        """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"""
    )
    await stage.pool.execute("CREATE TRIGGER full_disk BEFORE UPDATE ON action_receipts EXECUTE FUNCTION full_disk()")
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.until("SELECT 1 FROM turns WHERE attempts > 1", within=20)
        await stage.pool.execute("DROP TRIGGER full_disk ON action_receipts")
        assert await stage.settled(1, within=20) == ["answered"]
    assert len(stage.discord.bot_messages()) == 1


async def _until(true: Callable[[], bool], within: float = WITHIN_S) -> None:
    deadline = asyncio.get_running_loop().time() + within
    while not true():
        assert asyncio.get_running_loop().time() < deadline, "it did not come about"
        await asyncio.sleep(0.02)  # metrics have no other way to tell that they changed
