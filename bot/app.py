"""The composition root: everything is made here, wired, run, and stopped in order."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias

import aiohttp
import asyncpg
import discord
import structlog
from redis.asyncio import Redis

from agent.fallback import Fallback
from agent.limits import Limits
from agent.openai_model import OpenAIModel
from agent.ports import SpeakingModel
from agent.prices import Prices
from bot.addressing import Identity
from bot.ageing import Ageing
from bot.agency import Agency, assemble
from bot.ai_events import AiEvents
from bot.answer import Answerer, Budgets
from bot.arrivals.ambience import Ambience, Reserve
from bot.arrivals.rules import Company, Rules
from bot.audiences import Audiences
from bot.backfill import Backfill
from bot.confirmation import ConfirmationRoute
from bot.drafts import Drafts
from bot.erasure.requests import Seal
from bot.gateway import Gateway, point_at
from bot.guild_settings import Ground, GuildSettingsDoor
from bot.guilds import Guilds
from bot.health import Health
from bot.identifying import IdentifyTurns
from bot.ingress import Ingress
from bot.limiter import Limiter, Rates
from bot.notices import NOTICE, NOTICE_OF_LITTLE
from bot.outlook import Outlook
from bot.pool import CONNECT_S, POOL_MOST, open_pool
from bot.readiness import Readiness
from bot.reconciliation import Reconciliation
from bot.remembering.workers import Remembering, open_remembering
from bot.research import open_research
from bot.rest import Reads, Rest
from bot.retention import Retention
from bot.router import Router
from bot.routes import Routes
from bot.seeing.eyes import Eyes
from bot.seeing.files import Files
from bot.seen import Ledger, Seen, ledger_name
from bot.services import open_services
from bot.settings import Settings, model_window
from bot.shard_lock import ShardLock
from bot.standing import Standing
from bot.startup import look_for_model, look_for_redis, prepare_database
from bot.supervisor import keep_running
from bot.wakeups import Wakeups
from bot.worker import Worker
from bot.writes import Writes
from memory.database import Connection, Pool

log = structlog.get_logger(__name__)

REDIS_S: Final = 0.5
SIGN_IN_EVERY_S: Final = 5.0


Role: TypeAlias = Literal["whole", "gateway", "worker"]
"""What a process does: everything; or it hears, keeps and routes; or it answers and remembers, without a gateway."""


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
        resources = await stack.enter_async_context(_open(settings, endpoints.database_url, endpoints.redis_url))
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


@dataclass(frozen=True, slots=True)
class _Resources:
    """What outlives a gateway."""

    pool: Pool
    redis: Redis
    models: Mapping[str, SpeakingModel]
    database_url: str
    ledger: Ledger
    backends: set[int]

    async def connect(self) -> Connection:
        """A connection outside of the pool: for the shard's lock, and for listening."""
        return await asyncpg.connect(self.database_url, timeout=CONNECT_S)


@contextlib.asynccontextmanager
async def _open(settings: Settings, database_url: str, redis_url: str) -> AsyncGenerator[_Resources]:
    backends: set[int] = set()
    ledger = Ledger()

    async def opened(conn: Connection) -> None:
        backends.add(conn.get_server_pid())
        ledger.name = await ledger_name(conn)

    async with contextlib.AsyncExitStack() as stack:
        pool: Pool = await stack.enter_async_context(
            open_pool(database_url, most=max(POOL_MOST, settings.workers + 4), opened=opened)
        )
        stack.callback(pool.terminate)
        redis: Redis = Redis.from_url(
            # Nobody asks Redis which library it is, and to look that up takes each connection milliseconds.
            redis_url,
            socket_timeout=REDIS_S,
            socket_connect_timeout=REDIS_S,
            driver_info=None,
        )
        stack.push_async_callback(redis.aclose)
        models = {
            name: await stack.enter_async_context(_open_model(settings, name))
            for name in dict.fromkeys((settings.model, *settings.offered_models, *_vision(settings)))
        }
        yield _Resources(pool, redis, models, database_url, ledger, backends)


def _vision(settings: Settings) -> tuple[str, ...]:
    return (settings.vision_model,) if settings.vision_model else ()


@contextlib.asynccontextmanager
async def _open_model(settings: Settings, name: str) -> AsyncGenerator[SpeakingModel]:
    """The model of that name, with the one behind it that replies where it cannot be had."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None

    def opened(name: str, base_url: str | None, api_key: str | None) -> OpenAIModel:
        return OpenAIModel(
            base_url=base_url,
            api_key=api_key,
            model=name,
            stream=settings.model_stream,
            silence_s=settings.model_timeout_s,
        )

    first = opened(name, settings.openai_base_url, key)
    async with contextlib.aclosing(first):
        if not settings.fallback_model:
            yield first
            return
        own = settings.fallback_api_key.get_secret_value() if settings.fallback_api_key else None
        elsewhere = settings.fallback_base_url not in (None, settings.openai_base_url)
        second = opened(
            settings.fallback_model,
            settings.fallback_base_url or settings.openai_base_url,
            own if own or elsewhere else key,  # a key is shown to nobody but its own endpoint (I13)
        )
        async with contextlib.aclosing(second):
            yield Fallback(first, second, room=_fallback_room(settings))


def _fallback_room(settings: Settings) -> int | None:
    return None if settings.fallback_context is None else settings.fallback_context - settings.reply_tokens


async def _look_around(settings: Settings, redis_url: str) -> None:
    """Say what is missing but not needed, beside the start and not before it."""
    await look_for_redis(redis_url)
    await look_for_model(settings)


async def _serve(
    settings: Settings, role: Role, resources: _Resources, readiness: Readiness, ready: asyncio.Event | None
) -> None:
    """Sign in, wait for the shard, and serve it until cancelled or until another process has it. A worker has none, and
    serves them all."""
    shard = (settings.shard_id, settings.shard_count)
    gateway = Gateway(shard=shard, message_content=settings.message_content)
    try:
        me = await _sign_in(gateway, settings.discord_token.get_secret_value())
        readiness.signed_in = True
        lock = ShardLock(resources.connect, me.application_id, settings.shard_id)
        if settings.shard_count > 1:
            turns = IdentifyTurns(Reads(Rest(gateway.http)), resources.connect, me.application_id, settings.shard_id)
            gateway.turn_to_identify = turns.wait
        try:
            if role != "worker":
                await lock.take()
            readiness.holds_shard = True
            ai_events = AiEvents(resources.pool)
            idle = asyncio.Event()
            async with open_remembering(
                settings, resources.pool, resources.connect, ai_events.note, idle=idle
            ) as remembering:
                parts = _assemble(settings, role, resources, gateway, me, shard, ai_events, remembering, idle)
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


@dataclass(frozen=True, slots=True)
class _Parts:
    """The moving parts of one served shard."""

    gateway: Gateway
    ingress: Ingress
    router: Router
    worker: Worker
    wakeups: Wakeups
    backfill: Backfill
    reconciliation: Reconciliation
    drafts: Drafts
    audiences: Audiences
    ai_events: AiEvents
    guilds: Guilds
    remembering: Remembering
    ageing: Ageing
    retention: Retention
    agency: Agency


def _assemble(
    settings: Settings,
    role: Role,
    resources: _Resources,
    gateway: Gateway,
    me: Identity,
    shard: tuple[int, int],
    ai_events: AiEvents,
    remembering: Remembering,
    idle: asyncio.Event,
) -> _Parts:
    pool, prefix = resources.pool, f"muninn:{me.application_id}"
    guild_settings = GuildSettingsDoor(pool, Ground.of(settings))
    wakeups = Wakeups(resources.connect, lambda: frozenset(resources.backends))
    rest = Rest(gateway.http)
    writes = Writes(rest, me.user_id, nonce_window_s=settings.nonce_window_s)
    agency = assemble(
        settings,
        pool,
        resources.redis,
        rest,
        writes,
        me,
        guild_settings,
        cancel=lambda turn_ids: worker.cancel(turn_ids),
    )
    drafts = Drafts(pool, writes, every_s=settings.poll_s)
    outlook = Outlook(pool, Reads(rest), me, agency, open_research(settings, pool))
    routes = Routes((ConfirmationRoute(pool), agency.moderation.route))
    answerer = Answerer(
        pool,
        resources.models,
        guild_settings,
        writes,
        me,
        _budgets(settings),
        outlook,
        ai_events,
        remembering.recall,
        Eyes(Files(settings.discord_cdn_urls.split(","), writes.renewed), sees=bool(settings.vision_model)),
        drafts,
        routes,
        None if role == "worker" else lambda dispatch: ingress.accept(dispatch),
    )
    worker = Worker(
        pool,
        answerer.serve,
        answerer.cancelled,
        wakeups.turns,
        slots=settings.workers,
        lease_s=settings.turn_lease_s,
        heartbeat_s=settings.turn_heartbeat_s,
        window_s=settings.answer_window_s,
        poll_s=settings.poll_s,
        idle=idle,
    )
    rates = Rates(settings.member_turns, settings.place_turns, settings.space_turns, settings.rate_window_s)
    limiter = Limiter(resources.redis, f"{prefix}:rate:", rates)
    rules = Rules(limiter, guild_settings, _company(settings), Ambience(_reserve(settings)), routes)
    router = Router(pool, rules, wakeups.inbox, wakeups.turns.set, poll_s=settings.poll_s)
    ingress = Ingress(
        pool,
        Seen(resources.redis, f"{prefix}:seen:", resources.ledger),
        me,
        shard=shard,
        most_queued=settings.ingress_queue,
        most_grouped=settings.ingress_group,
        on_inbox=wakeups.inbox.set,
        on_gap=lambda: backfill.wake(),
        on_cancel=worker.cancel,
    )
    backfill = Backfill(
        pool,
        gateway.http,
        ingress.offer,
        is_guild=lambda space_id: gateway.get_guild(space_id) is not None,
        shard_id=settings.shard_id,
        most_messages=settings.backfill_messages,
        most_places=settings.backfill_places,
    )
    reconciliation = Reconciliation(pool, Standing(rest, me.user_id), every_s=settings.reconcile_s)
    audiences = Audiences(pool, wakeups.audiences, poll_s=settings.poll_s)
    notice = NOTICE if settings.message_content else NOTICE_OF_LITTLE
    guilds = Guilds(
        pool,
        writes,
        Reads(rest),
        me,
        shard=shard,
        tells=settings.guild_notice,
        notice=notice,
        seal=Seal.of(settings),
        grace=timedelta(days=settings.guild_grace_days),
    )
    return _Parts(
        gateway,
        ingress,
        router,
        worker,
        wakeups,
        backfill,
        reconciliation,
        drafts,
        audiences,
        ai_events,
        guilds,
        remembering,
        Ageing(pool, settings.transcript_days, settings.ai_event_days, settings.episode_days, settings.episodes),
        Retention(pool, guild_settings, settings.raw_event_days),
        agency,
    )


def _company(settings: Settings) -> Company:
    return Company(settings.ids("answered_bots"), settings.bot_turns)


def _reserve(settings: Settings) -> Reserve:
    return Reserve(
        hourly=settings.ambient_hourly,
        pause_s=settings.ambient_pause_s,
        quiet=settings.hours("ambient_quiet_hours"),
        daily_tokens=settings.ambient_daily_tokens,
        lull_s=settings.ambient_lull_s,
    )


def _budgets(settings: Settings) -> Budgets:
    limits = Limits(
        max_steps=settings.max_steps,
        max_calls=settings.max_calls,
        max_writes=settings.max_writes,
        run_s=settings.run_s,
        tool_s=settings.tool_s,
        parallel_reads=settings.parallel_reads,
        identical_calls=settings.identical_calls,
        final_reserve_s=settings.final_reserve_s or min(20.0, settings.run_s / 4),
        result_chars=settings.tool_result_chars,
        request_tokens=model_window(settings) - settings.reply_tokens,
    )
    return Budgets(
        limits,
        settings.context_tokens,
        settings.working_set_messages,
        progress_s=settings.progress_s,
        stopped=settings.stopped,
        prices=_prices(settings),
        vision_model=settings.vision_model,
    )


def _prices(settings: Settings) -> Prices | None:
    if settings.price_prompt is None or settings.price_completion is None:
        return None
    return Prices(settings.price_prompt, settings.price_completion)


def _loops(parts: _Parts, role: Role) -> dict[str, Any]:
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


async def _live(parts: _Parts, role: Role, lock: ShardLock, ready: asyncio.Event | None) -> None:
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


async def _shut_down(parts: _Parts, life: "asyncio.Task[None]", *, within_s: float) -> None:
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
