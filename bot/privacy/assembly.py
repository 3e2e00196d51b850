"""The parts of privacy, put together. bot.agency makes them, bot.app runs the eraser."""

from collections.abc import Callable, Sequence

from redis.asyncio import Redis

from bot.addressing import Identity
from bot.erasure.requests import Seal
from bot.erasure.worker import Eraser
from bot.governing import Governing
from bot.guild_settings import GuildSettingsDoor
from bot.interactions import Interactions
from bot.privacy.desk import Desk
from bot.privacy.purging import Purging
from bot.privacy.recipients import Recipients
from bot.settings import Settings
from memory.database import Pool
from memory.ids import TurnId


def assemble_privacy(
    settings: Settings,
    pool: Pool,
    redis: Redis | None,
    interactions: Interactions,
    guild_settings: GuildSettingsDoor,
    governing: Governing,
    me: Identity,
    *,
    cancel: Callable[[Sequence[TurnId]], None],
) -> Eraser:
    """Offer the commands, and make what does the work. `cancel` stops turns that run in this process."""
    seal = Seal.of(settings)
    Desk(pool, seal, Recipients.of(settings), guild_settings).open(interactions)
    Purging(pool, seal, governing).open(interactions)
    return Eraser(
        pool,
        redis,
        f"muninn:{me.application_id}:",
        cancel,
        poll_s=settings.poll_s,
        again_s=settings.erasure_again_s,
    )
