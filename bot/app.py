"""The life of a process: what it needs is opened, its parts are made, run, and stopped in order."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any, Final

import aiohttp
import discord
import structlog

from bot.addressing import Identity
from bot.ai_events import AiEvents
from bot.assembly import Parts, Role, assemble
from bot.gateway import Gateway, point_at
from bot.health import Health
from bot.identifying import IdentifyTurns
from bot.readiness import Readiness
from bot.refusals import Refusals
from bot.remembering.workers import open_remembering
from bot.resources import Resources, open_resources
from bot.rest import Reads, Rest
from bot.services import open_services
from bot.settings import Settings
from bot.shard_lock import ShardLock
from bot.startup import look_for_model, look_for_redis, prepare_database
from bot.supervisor import keep_running

log = structlog.get_logger(__name__)

SIGN_IN_EVERY_S: Final = 5.0


async def run(settings: Settings, *, role: Role = "whole", ready: asyncio.Event | None = None) -> None:
    """Run Muninn, or one part of it, until cancelled; then drain within `settings.drain_s` seconds.

    `ready` is set when the gateway's READY is journalled, or a worker looks for work. Raises StartupFault where it
    cannot run, alone or in a group.
    """
    readiness = Readiness()
    if role == "gateway":
        # Nobody answers here: vectors are the workers' to make.
        settings = settings.model_copy(update={"embeddings": "off"})
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(_health(settings, readiness))
        endpoints = await stack.enter_async_context(open_services(settings))
        await prepare_database(endpoints.database_url)
        resources = await stack.enter_async_context(
            open_resources(settings, endpoints.database_url, endpoints.redis_url)
        )
        readiness.pool = resources.pool
        point_at(settings.discord_api_url, settings.discord_gateway_url)
        look = asyncio.create_task(_look_around(settings, endpoints.redis_url))
        stack.callback(look.cancel)
        while True:
            # A gateway that lost its shard to another process is made anew, and stands by.
            await _serve(settings, role, resources, readiness, ready)


@contextlib.asynccontextmanager
async def _health(settings: Settings, readiness: Readiness) -> AsyncGenerator[None]:
    """The HTTP endpoints, while the block runs, where they are wanted."""
    if not settings.http_port:
        yield
        return
    health = Health(readiness, host=settings.http_host, port=settings.http_port)
    task = asyncio.create_task(keep_running("health", health.run), name="health")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _look_around(settings: Settings, redis_url: str) -> None:
    """Say what is missing but not needed, beside the start and not before it."""
    await look_for_redis(redis_url)
    await look_for_model(settings)


async def _serve(
    settings: Settings, role: Role, resources: Resources, readiness: Readiness, ready: asyncio.Event | None
) -> None:
    """Sign in, wait for the shard, and serve it until cancelled or until another process has it. A worker has none, and
    serves them all."""
    shard = (settings.shard_id, settings.shard_count)
    gateway = Gateway(shard=shard, message_content=settings.message_content)
    try:
        me = await _sign_in(gateway, settings.discord_token.get_secret_value())
        readiness.signed_in = True
        rest = Rest(gateway.http, Refusals(resources.redis))
        lock = ShardLock(resources.connect, me.application_id, settings.shard_id)
        gateway.turn_to_identify = IdentifyTurns(
            Reads(rest),
            resources.connect,
            me.application_id,
            settings.shard_id,
            alone=settings.shard_count == 1,
        ).wait
        try:
            if role != "worker":
                await lock.take()
            readiness.holds_shard = True
            ai_events = AiEvents(resources.pool)
            idle = asyncio.Event()
            async with open_remembering(
                settings, resources.pool, resources.connect, ai_events.note, idle=idle
            ) as remembering:
                parts = assemble(settings, role, resources, gateway, rest, me, shard, ai_events, remembering, idle)
                readiness.is_connected = lambda: role == "worker" or (gateway.connected and gateway.journalled.is_set())
                life = asyncio.create_task(_live(parts, role, lock, ready), name="life")
                try:
                    await asyncio.shield(life)
                except asyncio.CancelledError:
                    readiness.stopping = True
                    raise
                finally:
                    await _shut_down(parts, life, within_s=settings.drain_s)
        finally:
            lock.free()
    finally:
        readiness.leave()
        await gateway.stop()


async def _sign_in(gateway: Gateway, token: str) -> Identity:
    """Log in, as soon as Discord can be reached."""
    while True:
        try:
            return await gateway.sign_in(token)
        except (discord.DiscordServerError, aiohttp.ClientError, OSError) as error:
            log.warning("discord.unreachable", error=f"{type(error).__name__}: {error}", retry_in_s=SIGN_IN_EVERY_S)
            await asyncio.sleep(SIGN_IN_EVERY_S)


def _loops(parts: Parts, role: Role) -> dict[str, Any]:
    """What runs in a process of that role, by name. What is claimed, by a lease or a row's lock, may run in several."""
    hearing: dict[str, Any] = {
        "ingress": parts.ingress.run,
        "router": parts.router.run,
        "backfill": parts.backfill.run,
        "audiences": parts.audiences.run,
        "guilds": parts.guilds.run,
        "commands": parts.agency.commands.run,
        "erasure": parts.agency.eraser.run,
        "reactions": parts.agency.reactions.run,
        "timers": parts.agency.moderation.timers.run,
        "settlement": parts.agency.moderation.settlement.run,
        "gateway": lambda: parts.gateway.serve(
            parts.ingress.accept,
            parts.backfill.note_guild,
            parts.guilds.note,
            parts.agency.interactions.accept,
        ),
    }
    answering: dict[str, Any] = {
        "claims": parts.worker.claim_forever,
        "leases": parts.worker.keep_leases,
        "reconciliation": parts.reconciliation.run,
        "drafts": parts.drafts.run,
        **parts.remembering.loops,
        "ageing": parts.ageing.run,
        "retention": parts.retention.run,
    }
    both: dict[str, Any] = {
        "wakeups": parts.wakeups.run,
        "ai_events": parts.ai_events.run,
        "cards": parts.agency.asking.run,
    }
    match role:
        case "whole":
            return both | hearing | answering
        case "gateway":
            return both | hearing
        case "worker":
            return both | answering


async def _live(parts: Parts, role: Role, lock: ShardLock, ready: asyncio.Event | None) -> None:
    """Run every part, until the shard is lost or one part says that Muninn cannot run."""

    async def announce() -> None:
        if role != "worker":
            await parts.gateway.journalled.wait()
        log.info("muninn.ready", role=role, shard_id=None if role == "worker" else parts.gateway.shard_id)
        if ready is not None:
            ready.set()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(keep_running(name, loop), name=name) for name, loop in _loops(parts, role).items()]
        tasks.append(group.create_task(announce(), name="announce"))
        if role == "worker":
            await asyncio.Event().wait()
        await lock.keep()
        for task in tasks:
            task.cancel()


async def _shut_down(parts: Parts, life: "asyncio.Task[None]", *, within_s: float) -> None:
    """Stop taking events, journal what came, let turns finish for a while, then cut off what is left."""
    if not life.done():
        log.info("muninn.stopping", within_s=within_s)
        parts.worker.begin_no_more()
        loop = asyncio.get_running_loop()
        until = loop.time() + within_s
        try:
            async with asyncio.timeout(within_s):
                await parts.gateway.leave()
                if not await parts.ingress.drain(within_s=max(until - loop.time(), 0.1)):
                    log.error(
                        "ingress.not_drained", reason="What was not committed is fetched again at the next start."
                    )
                await parts.agency.interactions.stop(within_s=max(until - loop.time() - 1.0, 0.1))
                await parts.worker.stop(within_s=max(until - loop.time() - 1.0, 0.1))
        except TimeoutError:
            log.warning("muninn.stop_cut_short")
        life.cancel()
        await asyncio.wait([life], timeout=5)
    await parts.agency.interactions.stop(within_s=0)
    await parts.worker.stop(within_s=0)
