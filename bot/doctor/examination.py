"""The whole examination: every part is looked at beside the others, each within its time, and none hides another."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

from bot.doctor import application, database, endpoint, guilds, records, remembering, trial, valkey
from bot.doctor.findings import Finding, Group, fault, looked_at, ok, skip, warn
from bot.doctor.visit import open_visit
from bot.errors import ServiceFault
from bot.gateway import point_at
from bot.services import EmbeddedPostgres, EmbeddedValkey
from bot.settings import Settings, unknown_variables
from memory.database import Connection

_Server = TypeVar("_Server", EmbeddedPostgres, EmbeddedValkey)

GROUP_S: Final = 60.0
"""Seconds for one part, so that one that hangs is a finding and not a wait for ever."""

SKEW_S: Final = 5.0
MUCH_SKEW_S: Final = 60.0


async def examine(settings: Settings, *, live: bool = False) -> list[Finding]:
    """Everything that can be told of this set-up, in no order. Without `live` nothing is written anywhere.

    Embedded servers that have data are started for as long as it takes; those that have none are left alone.
    """
    point_at(settings.discord_api_url, settings.discord_gateway_url)
    findings: list[Finding] = _settings()
    application_id: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def part(group: Group, look: Callable[[], Awaitable[list[Finding]]]) -> None:
        findings.extend(await _within(group, look))

    async with asyncio.TaskGroup() as parts:
        parts.create_task(part("discord", lambda: _discord(settings, application_id)))
        parts.create_task(part("database", lambda: _database(settings, application_id, live=live)))
        parts.create_task(part("redis", lambda: _redis(settings)))
        parts.create_task(part("model", lambda: endpoint.examine(settings)))
        if live:
            parts.create_task(part("live", lambda: _live(settings)))
    return findings


async def _within(group: Group, look: Callable[[], Awaitable[list[Finding]]]) -> list[Finding]:
    try:
        async with asyncio.timeout(GROUP_S):
            return await look()
    except TimeoutError:
        says = f"This could not be looked at within {GROUP_S:.0f} seconds."
        return [fault(f"{group}.timeout", says, "Look at what makes it so slow, and ask again.")]


def _settings() -> list[Finding]:
    unknown = unknown_variables()
    if not unknown:
        return [ok("settings.known", "Every variable that is set is a setting.")]
    names = ", ".join(unknown)
    return [
        warn(
            "settings.known",
            f"No setting is called {names}: what is set there changes nothing.",
            "Compare the names with docs/reference/settings.md.",
        )
    ]


async def _discord(settings: Settings, application_id: "asyncio.Future[int | None]") -> list[Finding]:
    try:
        async with open_visit() as visit:
            found, known = await application.examine(visit, settings)
            application_id.set_result(known)
            if known is not None:
                found += await guilds.examine(visit, known)
            if visit.offset_s is not None:
                found.append(_clock("clocks.discord", "Discord's", visit.offset_s))
            return found
    finally:
        if not application_id.done():
            application_id.set_result(None)


async def _database(settings: Settings, application_id: "asyncio.Future[int | None]", *, live: bool) -> list[Finding]:
    try:
        async with _database_url(settings) as url:
            if url is None:
                folder = settings.data_dir / "postgres"
                says = f"There is no database in {folder} yet; `muninn run` makes one."
                return [skip("database.reachable", says)]
            opened = await database.open_database(url)
            if isinstance(opened, Finding):
                return [opened]
            try:
                return await _examine_database(opened, url, settings, application_id, live=live)
            finally:
                opened.terminate()
    except ServiceFault as told:
        return [fault("database.embedded", str(told), "Follow what it says, or set MUNINN_DATABASE_URL.")]


async def _examine_database(
    conn: Connection,
    url: str,
    settings: Settings,
    application_id: "asyncio.Future[int | None]",
    *,
    live: bool,
) -> list[Finding]:
    found = await database.examine(conn, url)
    found += await looked_at("records.tables", lambda: records.examine(conn))
    found += await looked_at("embeddings.model", lambda: remembering.examine(conn, settings))
    found += await looked_at("clocks.database", lambda: _database_clock(conn))
    if live:
        found += await looked_at("live.search", lambda: trial.try_search(conn))
    known = await application_id
    if known is not None:
        found += await looked_at("records.served", lambda: _served(conn, known, settings.shard_id))
    return found


async def _live(settings: Settings) -> list[Finding]:
    return [*await trial.try_model(settings), *await trial.try_embedding(settings)]


async def _served(conn: Connection, application_id: int, shard_id: int) -> list[Finding]:
    return [await records.served(conn, application_id, shard_id)]


async def _database_clock(conn: Connection) -> list[Finding]:
    return [_clock("clocks.database", "PostgreSQL's", await database.offset_s(conn))]


def _clock(name: str, whose: str, offset_s: float) -> Finding:
    """The answer window, leases and gaps compare times of Discord, of PostgreSQL and of this machine."""
    if abs(offset_s) <= SKEW_S:
        return ok(name, f"{whose} clock and this machine's agree.")
    says = (
        f"{whose} clock is {records.duration(abs(offset_s))} {'ahead of' if offset_s > 0 else 'behind'} this machine's."
    )
    next_step = "Let a time service (chrony, systemd-timesyncd) set the clocks of this machine and of the database's."
    return (fault if abs(offset_s) > MUCH_SKEW_S else warn)(name, says, next_step)


async def _redis(settings: Settings) -> list[Finding]:
    try:
        async with _redis_url(settings) as url:
            if url is None:
                return [skip("redis.reachable", f"There is no Valkey in {settings.data_dir / 'valkey'} yet.")]
            return await valkey.examine(url)
    except ServiceFault as told:
        return [fault("redis.embedded", str(told), "Follow what it says, or set MUNINN_REDIS_URL.")]


@asynccontextmanager
async def _database_url(settings: Settings) -> AsyncGenerator[str | None]:
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
    elif not await _is_there(settings.data_dir / "postgres" / "data"):
        yield None
    else:
        async with _running(EmbeddedPostgres(settings.data_dir)) as server:
            yield server.url()


@asynccontextmanager
async def _redis_url(settings: Settings) -> AsyncGenerator[str | None]:
    if settings.redis_url is not None:
        yield settings.redis_url.get_secret_value()
    elif not await _is_there(settings.data_dir / "valkey"):
        yield None
    else:
        async with _running(EmbeddedValkey(settings.data_dir)) as server:
            yield server.url()


@asynccontextmanager
async def _running(server: _Server) -> AsyncGenerator[_Server]:
    """The embedded server, joined or started, while the block runs. Raises ServiceFault."""
    await asyncio.to_thread(server.start)
    try:
        yield server
    finally:
        await asyncio.to_thread(server.stop)


async def _is_there(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)
