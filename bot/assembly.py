"""The composition root: the moving parts of one served shard, made and wired as the settings say. bot.app runs them."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from agent.limits import Limits
from agent.prices import Prices
from bot.addressing import Identity
from bot.ageing import Ageing
from bot.agency import Agency
from bot.agency import assemble as assemble_agency
from bot.ai_events import AiEvents
from bot.answer import Answerer
from bot.arrivals.ambience import Ambience, Reserve
from bot.arrivals.rules import Company, Rules
from bot.audiences import Audiences
from bot.backfill import Backfill
from bot.confirmation import ConfirmationRoute
from bot.drafts import Drafts
from bot.erasure.requests import Seal
from bot.gateway import Gateway
from bot.guild_rules import RulesDoor
from bot.guild_settings import Ground, GuildSettingsDoor
from bot.guilds import Guilds
from bot.ingress import Ingress
from bot.ingress.seen import Seen
from bot.limiter import Limiter, Rates
from bot.notices import NOTICE, NOTICE_OF_LITTLE
from bot.outlook import Outlook
from bot.reconciliation import Reconciliation
from bot.remembering.workers import Remembering
from bot.research import open_research
from bot.resources import Resources
from bot.rest import Reads, Rest
from bot.retention import Retention
from bot.router import Router
from bot.routes import Routes
from bot.seeing.eyes import Eyes
from bot.seeing.files import Files
from bot.settings import Settings, model_window
from bot.standing import Standing
from bot.thinking import Budgets, Thinker
from bot.wakeups import Wakeups
from bot.worker import Worker
from bot.writes import Writes

Role: TypeAlias = Literal["whole", "gateway", "worker"]
"""What a process does: everything; or it hears, keeps and routes; or it answers and remembers, without a gateway."""


@dataclass(frozen=True, slots=True)
class Parts:
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


def assemble(
    settings: Settings,
    role: Role,
    resources: Resources,
    gateway: Gateway,
    rest: Rest,
    me: Identity,
    shard: tuple[int, int],
    ai_events: AiEvents,
    remembering: Remembering,
    idle: asyncio.Event,
) -> Parts:
    """The parts, wired to each other and not yet running."""
    pool, prefix = resources.pool, f"muninn:{me.application_id}"
    guild_settings = GuildSettingsDoor(pool, Ground.of(settings))
    guild_rules = RulesDoor(pool)
    wakeups = Wakeups(resources.connect, lambda: frozenset(resources.backends))
    writes = Writes(rest, me.user_id, nonce_window_s=settings.nonce_window_s)
    agency = assemble_agency(
        settings,
        pool,
        resources.redis,
        rest,
        writes,
        me,
        guild_settings,
        guild_rules,
        cancel=lambda turn_ids: worker.cancel(turn_ids),
    )
    drafts = Drafts(pool, writes, every_s=settings.poll_s)
    outlook = Outlook(pool, Reads(rest), me, agency, open_research(settings, pool))
    routes = Routes((ConfirmationRoute(pool), agency.moderation.route))
    budgets = _budgets(settings)
    thinker = Thinker(
        pool,
        resources.models,
        guild_settings,
        me,
        budgets,
        outlook,
        ai_events,
        remembering.recall,
        Eyes(Files(settings.discord_cdn_urls.split(","), writes.renewed), sees=bool(settings.vision_model)),
    )
    answerer = Answerer(
        pool,
        thinker,
        guild_settings,
        guild_rules,
        writes,
        me,
        budgets,
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
    router = Router(
        pool,
        rules,
        wakeups.inbox,
        wakeups.turns.set,
        poll_s=settings.poll_s,
        worker=worker if role == "whole" else None,
    )
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
    return Parts(
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
        pause_s=settings.ambient_pause_s,
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
