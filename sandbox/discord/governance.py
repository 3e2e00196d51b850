"""The guild itself: its settings, and the boosts that raise its limits.

Source: https://discord.com/developers/docs/resources/guild#modify-guild
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

from . import payloads
from .audit import Action, changes_between
from .fields import GuildFields
from .people import Role
from .permissions import NOTHING, Permission

if TYPE_CHECKING:
    from .events import Payload
    from .people import Member
    from .places import Guild
    from .world import World

BOOSTED: Final = 8
SUPPRESS_BOOSTS: Final = 1 << 1
"""A system channel's flag that keeps it free of boost notices."""
_LOGGED: Final = (
    "name", "description", "verification_level", "default_message_notifications", "explicit_content_filter",
    "afk_timeout", "afk_channel_id", "system_channel_id", "system_channel_flags", "preferred_locale",
)  # fmt: skip


class Governance:
    def __init__(self, world: World) -> None:
        self._world = world

    def edit(self, guild: Guild, values: GuildFields, *, by: Member | None = None, reason: str | None = None) -> None:
        """Change settings (GUILD_UPDATE). By a member who may manage the guild, or by fiat."""
        if by is not None:
            by.must(Permission.MANAGE_GUILD)
        before = payloads.guild(guild)
        for one in fields(values):
            value: object = getattr(values, one.name)
            if value is not None:
                is_channel = one.name.endswith("_channel_id")
                setattr(guild, one.name, None if is_channel and value == 0 else value)
        after = payloads.guild(guild)
        self._world.publish("GUILD_UPDATE", after, guild=guild)
        changes = changes_between({key: before[key] for key in _LOGGED}, {key: after[key] for key in _LOGGED})
        if by is not None and changes:
            self._world.audit.record(guild, Action.GUILD_UPDATE, by.user, guild.id, changes=changes, reason=reason)

    def boost(self, member: Member, times: int) -> None:
        """A member boosts: the booster role, the guild's level, and a notice for each boost in the system channel."""
        guild = member.guild
        member.premium_since = self._world.clock.now() if member.premium_since is None else member.premium_since
        self._world.roles.assign(member, add=(self._booster_role(guild),))
        for _ in range(times):
            before = guild.premium_tier
            guild.boosts += 1
            risen = guild.premium_tier if guild.premium_tier > before else 0
            self._notice(member, BOOSTED + risen)
        self._world.publish("GUILD_UPDATE", payloads.guild(guild), guild=guild)

    def end_boosts(self, member: Member, times: int) -> None:
        """Boosts of a member run out."""
        guild = member.guild
        guild.boosts = max(0, guild.boosts - times)
        member.premium_since = None
        self._world.roles.assign(member, remove=(self._booster_role(guild),))
        self._world.publish("GUILD_UPDATE", payloads.guild(guild), guild=guild)

    def _booster_role(self, guild: Guild) -> Role:
        found = next((role for role in guild.roles.values() if role.is_for_boosters), None)
        if found is not None:
            return found
        made = Role(guild, self._world.ids.next(), "Server Booster", NOTHING, 1, managed=True, is_for_boosters=True)
        guild.roles[made.id] = made
        body: Payload = {"guild_id": str(guild.id), "role": payloads.role(made)}
        self._world.publish("GUILD_ROLE_CREATE", body, guild=guild)
        return made

    def _notice(self, member: Member, kind: int) -> None:
        guild = member.guild
        channel = None if guild.system_channel_id is None else guild.channels.get(guild.system_channel_id)
        if channel is not None and not guild.system_channel_flags & SUPPRESS_BOOSTS:
            self._world.speech.system(channel, member.user, kind)
