"""Who is in a guild: joining, leaving, being changed, and the events that tell of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import payloads
from .errors import Misuse, NotPermitted
from .events import NO_INTENT
from .people import Member, Role, User

if TYPE_CHECKING:
    from .events import Payload
    from .places import Guild
    from .world import World


class Memberships:
    def __init__(self, world: World) -> None:
        self._world = world

    def add(self, guild: Guild, who: str | User, *, roles: Sequence[Role], nick: str | None, bot: bool) -> Member:
        """Raises Misuse for who is in it already, NotPermitted for who is banned."""
        user = who if isinstance(who, User) else self._world.create_user(who, bot=bot)
        if user.id in guild.members:
            raise Misuse(f"{user} is already in {guild.name}")
        if user.id in guild.bans:
            raise NotPermitted(f"{user} is banned from {guild.name}")
        member = Member(user, guild, self._world.clock.now(), nick=nick, roles=list(roles))
        guild.members[user.id] = member
        if user is self._world.bot:
            self._world.rooms.announce(guild, joined=True)
        else:
            body: Payload = {**payloads.member(member), "guild_id": str(guild.id)}
            self._world.publish("GUILD_MEMBER_ADD", body, guild=guild)
        return member

    def changed(self, member: Member) -> None:
        """GUILD_MEMBER_UPDATE. Of the bot itself a session hears whatever its intents."""
        body: Payload = {**payloads.member(member), "guild_id": str(member.guild.id)}
        intents = NO_INTENT if member.user is self._world.bot else None
        self._world.publish("GUILD_MEMBER_UPDATE", body, guild=member.guild, intents=intents)

    def presence_changed(self, member: Member) -> None:
        body: Payload = {**payloads.presence(member), "guild_id": str(member.guild.id)}
        self._world.publish("PRESENCE_UPDATE", body, guild=member.guild)

    def remove(self, member: Member) -> None:
        """Out of the guild and its threads. The bot hears GUILD_DELETE of its own removal, and nothing more."""
        guild = member.guild
        if guild.members.get(member.id) is not member:
            raise Misuse(f"{member} is not in {guild.name} any more")
        if member.user is self._world.bot:
            self._world.publish("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)
            del guild.members[member.id]
            return
        del guild.members[member.id]
        for thread in guild.threads.values():
            thread.joined.pop(member.id, None)
        body: Payload = {"guild_id": str(guild.id), "user": payloads.user(member.user)}
        self._world.publish("GUILD_MEMBER_REMOVE", body, guild=guild)
