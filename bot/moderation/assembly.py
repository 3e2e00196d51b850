"""The parts of moderation, put together. bot.agency makes them, bot.app runs the timers."""

from dataclasses import dataclass

from bot.addressing import Identity
from bot.asking import Asking
from bot.effects import Effects
from bot.guild_settings import GuildSettingsDoor
from bot.interactions.dispatch import Interactions
from bot.moderation.desk import Desk
from bot.moderation.execution import Execution
from bot.moderation.messages import CaseMessages
from bot.moderation.office import Office
from bot.moderation.route import ModerationRoute
from bot.moderation.settlement import Settlement
from bot.moderation.situation import Situations
from bot.moderation.timers import Timers
from bot.rest import Reads
from bot.writes import Writes
from memory.database import Pool
from memory.ids import PlaceId, SpaceId


@dataclass(frozen=True, slots=True)
class Moderation:
    """What moderates."""

    office: Office
    timers: Timers
    settlement: Settlement
    route: ModerationRoute


class SettingsLog:
    """The mod-log that a guild set."""

    def __init__(self, settings: GuildSettingsDoor) -> None:
        self._settings = settings

    async def mod_log(self, space_id: SpaceId) -> PlaceId | None:
        """Its channel; None where none was set."""
        return (await self._settings.of(space_id)).mod_log_id


def assemble_moderation(
    pool: Pool,
    reads: Reads,
    writes: Writes,
    effects: Effects,
    asking: Asking,
    interactions: Interactions,
    settings: GuildSettingsDoor,
    me: Identity,
    *,
    poll_s: float,
    reconcile_s: float,
) -> Moderation:
    """Make and wire the parts, and offer their commands."""
    situations = Situations(reads, me.user_id)
    messages = CaseMessages(pool, writes, effects, reads, SettingsLog(settings), me.user_id)
    execution = Execution(pool, writes, reads, situations, messages)
    office = Office(pool, reads, situations, execution, asking)
    Desk(pool, office, situations).open(interactions)
    timers = Timers(pool, execution, situations, me.user_id, poll_s=poll_s)
    settlement = Settlement(pool, reads, situations, messages, me.user_id, every_s=reconcile_s)
    return Moderation(office, timers, settlement, ModerationRoute(pool, reads, office, me))
