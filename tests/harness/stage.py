"""A stage for whole-bot tests: a loopback Discord with one guild, a loopback model, a database, and Muninn on demand.

Muninn runs in this process (`stage.muninn()`), or as its own (tests.harness.process), unmodified: it is told where
Discord and the model are by its settings, as an operator would.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import asyncpg
from pydantic import SecretStr

from bot.app import run
from bot.assembly import Role
from bot.settings import Settings
from sandbox.discord import Channel, Clock, Discord, Guild, Member
from sandbox.model import Model
from sandbox.patience import WITHIN_S

START_S = 30.0
STOP_S = 15.0


@dataclass(slots=True)
class Stage:
    """Where a test plays: who and what is there, and the database to look into."""

    discord: Discord
    model: Model
    guild: Guild
    general: Channel
    ada: Member
    bob: Member
    database_url: str
    redis_url: str
    pool: asyncpg.Pool

    def settings(self, **overrides: Any) -> Settings:
        """Settings for this stage: quick polls, short leases, everything else as an operator gets it."""
        fields: dict[str, Any] = {
            "discord_token": SecretStr(self.discord.token),
            "discord_api_url": self.discord.api_url,
            "discord_cdn_urls": self.discord.cdn_url,
            "discord_gateway_url": self.discord.gateway_url,
            "database_url": SecretStr(self.database_url),
            "redis_url": SecretStr(self.redis_url),
            "openai_base_url": self.model.base_url,
            "openai_api_key": SecretStr(self.model.api_key),
            "model": self.model.name,
            "model_context": 128_000,
            "poll_s": 0.5,
            "turn_lease_s": 6.0,
            "turn_heartbeat_s": 0.5,
            "drain_s": 3.0,
            "http_port": 0,
            "guild_notice": False,
            # A model for vectors is started where a test is about them.
            "embeddings": "off",
        }
        return Settings(**{**fields, **overrides})

    @contextlib.asynccontextmanager
    async def muninn(self, **overrides: Any) -> AsyncGenerator["Running"]:
        """Muninn, connected and journalling; stopped as by SIGTERM when the block ends."""
        async with self.part("whole", **overrides) as running:
            yield running

    @contextlib.asynccontextmanager
    async def part(self, role: Role, **overrides: Any) -> AsyncGenerator["Running"]:
        """Muninn, or a part of it, as `muninn`."""
        ready = asyncio.Event()
        task = asyncio.create_task(run(self.settings(**overrides), role=role, ready=ready), name="muninn")
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait([task, waiting], timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            assert ready.is_set(), "Muninn did not become ready"
            yield Running(task)
        finally:
            waiting.cancel()
            task.cancel()
            await asyncio.wait([task], timeout=STOP_S)
            assert task.done(), "Muninn did not stop within its bound"
            if not task.cancelled() and task.exception() is not None:
                task.result()

    async def turns(self) -> list[asyncpg.Record]:
        """All turns, oldest trigger first."""
        return await self.pool.fetch("SELECT * FROM turns ORDER BY trigger_id")

    async def ends(self) -> list[str]:
        """How the turns ended or stand, oldest trigger first."""
        return [row["state"] for row in await self.turns()]

    async def until(self, statement: str, *args: object, within: float = WITHIN_S) -> asyncpg.Record:
        """The first row of a statement, as soon as there is one."""
        deadline = asyncio.get_running_loop().time() + within
        while True:
            row = await self.pool.fetchrow(statement, *args)
            if row is not None:
                return row
            assert asyncio.get_running_loop().time() < deadline, f"no row within {within} s: {statement}"
            await asyncio.sleep(0.02)  # PostgreSQL has no other way to tell a stranger that a row came

    async def settled(self, count: int, *, within: float = WITHIN_S) -> list[str]:
        """Wait until `count` turns exist and all have ended; gives their ends."""
        await self.until(
            """SELECT 1 FROM turns HAVING count(*) >= $1
               AND count(*) = count(*) FILTER (WHERE state IN ('answered', 'failed_told', 'cancelled', 'expired'))""",
            count,
            within=within,
        )
        return await self.ends()


@dataclass(frozen=True, slots=True)
class Running:
    """A Muninn that runs in this process."""

    task: "asyncio.Task[None]"


@contextlib.asynccontextmanager
async def open_stage(
    database_url: str, redis_url: str, pool: asyncpg.Pool, *, clock: Clock | None = None
) -> AsyncGenerator[Stage]:
    """A guild with one channel and two members, nobody connected yet. `clock`: Discord's own, if not the wall's."""
    async with Discord.start(clock=clock) as discord, Model.start() as model:
        guild = discord.create_guild("Workshop")
        general = guild.create_channel("general")
        yield Stage(
            discord,
            model,
            guild,
            general,
            guild.add_member("Ada"),
            guild.add_member("Bob"),
            database_url,
            redis_url,
            pool,
        )
