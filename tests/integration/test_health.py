"""/healthz, /readyz and /metrics of a whole bot, and what they say while something is away."""

import asyncio
import math
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from bot import health
from bot.app import run
from bot.backlog import Backlog
from bot.pulse import feel
from migrations.runner import LOCK_KEY
from sandbox.model import call, say
from sandbox.patience import WITHIN_S
from tests.harness.relay import open_relay
from tests.harness.stage import Stage


class Asked:
    """Asks one Muninn's endpoints."""

    def __init__(self, client: aiohttp.ClientSession, port: int) -> None:
        self._client = client
        self.port = port

    async def get(self, path: str) -> tuple[int, str]:
        async with self._client.get(f"http://127.0.0.1:{self.port}{path}") as answer:
            return answer.status, await answer.text()

    async def reasons(self) -> list[str]:
        """The parts that are not ready; empty where it is."""
        async with self._client.get(f"http://127.0.0.1:{self.port}/readyz") as answer:
            told: dict[str, Any] = await answer.json()
        assert told["ready"] == (answer.status == 200) == (told["reasons"] == [])
        assert all(reason["says"].endswith(".") for reason in told["reasons"])
        return [reason["part"] for reason in told["reasons"]]

    async def until(self, *parts: str, within: float = WITHIN_S) -> None:
        """Wait until exactly these are the reasons."""
        seen: object = None
        async with asyncio.timeout(within):
            while True:
                try:
                    seen = await self.reasons()
                except aiohttp.ClientError as error:
                    seen = error
                if seen == list(parts):
                    return
                await asyncio.sleep(0.05)  # whoever asks for readiness has to ask again
        raise AssertionError(seen)


@pytest.fixture
async def asked(unused_tcp_port: int) -> AsyncGenerator[Asked]:
    async with aiohttp.ClientSession() as client:
        yield Asked(client, unused_tcp_port)


async def test_a_muninn_that_is_well(stage: Stage, asked: Asked) -> None:
    """Alive, ready, and its metrics can be read; neither a secret nor anybody's words are in them (I13)."""
    stage.model.script(call("discord_react", emoji="👍"), say("a very unusual answer"))
    async with stage.muninn(http_port=asked.port):
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} something very unusual")
        await stage.discord.wait_for_message(reply_to=question)
        await stage.settled(1)
        assert await asked.get("/healthz") == (200, "ok\n")
        assert await asked.get("/readyz") == (200, '{"ready":true,"reasons":[]}\n')
        status, text = await asked.get("/metrics")
        assert (status, (await asked.get("/nothing"))[0]) == (200, 404)
        assert await asyncio.to_thread(feel, "127.0.0.1", asked.port, "/healthz") == (True, "ok")
    names = {family.name for family in text_string_to_metric_families(text)}
    wanted = "turns turn_seconds model_steps model_seconds model_tokens tool_calls tool_seconds action_receipts gaps"
    wanted += " gaps_open queue_oldest_seconds turns_queued lease_overdue_seconds parked_events receipts_open"
    wanted += " database_up redis_up gateway_up loop_lag_seconds build_info inbox_waiting"
    assert {f"muninn_{name}" for name in wanted.split()} <= names
    for hidden in ("unusual", "Ada", stage.discord.token, stage.model.api_key, str(stage.ada.id), str(stage.guild.id)):
        assert hidden not in text
    assert (await asyncio.to_thread(feel, "127.0.0.1", asked.port, "/healthz"))[0] is False


async def test_the_gateway_is_away(stage: Stage, asked: Asked) -> None:
    """Not ready while nothing can be heard, and ready again by itself; alive all the time."""
    async with stage.muninn(http_port=asked.port):
        await asked.until()
        async with stage.discord.gateway_offline():
            await asked.until("gateway")
            assert (await asked.get("/healthz"))[0] == 200
            assert REGISTRY.get_sample_value("muninn_gateway_up") == 0
        await asked.until(within=20)


async def test_postgresql_is_away(
    stage: Stage, asked: Asked, service_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not ready while nothing can be kept; what cannot be counted is unknown and not nothing (I9)."""
    monkeypatch.setattr("bot.backlog.KEEP_S", 0.0)
    async with (
        open_relay(stage.database_url, service_folder) as relay,
        stage.muninn(http_port=asked.port, database_url=SecretStr(relay.url)),
    ):
        await asked.until()
        await relay.cut()
        await asked.until("database")
        assert (await asked.get("/healthz"))[0] == 200
        assert "muninn_turns_queued NaN" in (await asked.get("/metrics"))[1]
        assert REGISTRY.get_sample_value("muninn_database_up") == 0
        await relay.mend()
        await asked.until(within=20)
        assert "muninn_turns_queued 0.0" in (await asked.get("/metrics"))[1]


async def test_while_it_starts_and_stands_by(stage: Stage, asked: Asked, unused_tcp_port_factory: Any) -> None:
    """Alive before the schema is there, so that a long migration is not killed; then held up by the other process that
    serves the shard; then ready."""
    migrating = await asyncpg.connect(stage.database_url)
    await migrating.execute("SELECT pg_advisory_lock($1)", LOCK_KEY)
    other = Asked(asked._client, unused_tcp_port_factory())  # pyright: ignore[reportPrivateUsage]
    first = asyncio.create_task(run(stage.settings(http_port=asked.port)))
    try:
        await asked.until("schema")
        assert (await asked.get("/healthz"))[0] == 200
        await migrating.close()
        await asked.until()
        second = asyncio.create_task(run(stage.settings(http_port=other.port)))
        try:
            await other.until("shard")
            first.cancel()
            await other.until(within=15)
        finally:
            second.cancel()
            await asyncio.wait([second])
    finally:
        first.cancel()
        await asyncio.wait([first])
        await migrating.close()


async def test_redis_is_not_needed_to_be_ready(stage: Stage, asked: Asked) -> None:
    """I2: without Redis everything is done, and the metric says that it is away."""
    async with stage.muninn(http_port=asked.port, redis_url="redis://127.0.0.1:1/0"):
        await asked.until()
        await stage.discord.wait_until(lambda: REGISTRY.get_sample_value("muninn_redis_up") == 0, what="Redis missed")


async def test_a_port_that_is_taken(stage: Stage, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Muninn serves without its endpoints, says so, and takes the port once it is free."""
    monkeypatch.setattr(health, "RETRY_S", 0.05)
    taken = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", asked.port)
    stage.model.script(say("All the same."))
    async with stage.muninn(http_port=asked.port):
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} well?")
        await stage.discord.wait_for_message(reply_to=question)
        taken.close()
        await taken.wait_closed()
        await asked.until()


async def test_port_0_serves_nowhere(stage: Stage) -> None:
    """It can be switched off, and the command that asks says so."""
    async with stage.muninn(http_port=0):
        well, told = feel("127.0.0.1", 0, "/healthz")
    assert (well, "MUNINN_HTTP_PORT is 0" in told) == (False, True)


async def test_the_backlog_is_counted(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gauge from the tables, once in a while only; a long queue counts as long, and costs no more."""

    def value(name: str) -> float:
        return REGISTRY.get_sample_value(f"muninn_{name}") or 0.0

    backlog = Backlog()
    assert math.isnan(value("turns_queued"))
    await backlog.refresh(None)
    assert math.isnan(value("turns_queued"))
    await backlog.refresh(pool)
    assert {value(name) for name in ("turns_queued", "queue_oldest_seconds", "gaps_open", "parked_events")} == {0.0}
    await pool.execute(
        """INSERT INTO turns (space_id, place_id, author_id, trigger_id, triggered_at, available_at, state, lease_until)
           SELECT 1, n, 1, n, now(), now() - interval '1 minute', CASE n WHEN 1 THEN 'running' ELSE 'queued' END,
                  now() - interval '2 minutes' FROM generate_series(1, 12000) AS n"""
    )
    await pool.execute("INSERT INTO gateway_gaps (shard_id, reason, since) VALUES (0, 'start', now())")
    await pool.execute("INSERT INTO parked_events (kind, event_key, payload, reason) VALUES ('X', 'k', '', '')")
    await pool.execute(
        """INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, intended_at)
           VALUES (1, 1, 1, 'react', '', '{}', now() - interval '1 hour')"""
    )
    await backlog.refresh(pool)
    assert value("turns_queued") == 0.0  # counted a moment ago
    monkeypatch.setattr("bot.backlog.KEEP_S", 0.0)
    await backlog.refresh(pool)
    assert value("turns_queued") == 10_000
    assert (value("turns_begun"), value("gaps_open"), value("parked_events"), value("receipts_open")) == (1, 1, 1, 1)
    assert 60 <= value("queue_oldest_seconds") < 120 <= value("lease_overdue_seconds") < 180
    assert 3_600 <= value("receipt_oldest_seconds") < 3_700
