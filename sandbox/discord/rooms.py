"""Guilds and their channels: making them, changing them, and the events that tell of it. Rights are ``layout``'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import payloads
from .errors import Misuse
from .fields import ChannelFields, apply
from .people import Member, Role, User
from .permissions import EVERYONE_DEFAULT, NOTHING, Overwrite, Permission
from .places import Channel, Guild, Kind, Thread

if TYPE_CHECKING:
    from .world import World


class Rooms:
    def __init__(self, world: World) -> None:
        self._world = world

    # guilds, roles, members

    def create_guild(
        self, name: str, *, owner: str | User = "Olive", bot_permissions: Permission = NOTHING, aged: bool = False
    ) -> Guild:
        """A guild with @everyone, an owner and the bot with a managed role of its own.

        One that is ``aged`` has #general, whose id is the guild's own: so it was with every guild made before August
        2017, and their first channels keep their ids.
        """
        world = self._world
        guild = Guild(world, world.ids.next_millisecond(), name)
        guild.roles[guild.id] = Role(guild, guild.id, "@everyone", EVERYONE_DEFAULT)
        keeper = owner if isinstance(owner, User) else world.create_user(owner)
        guild.owner_id = keeper.id
        guild.members[keeper.id] = Member(keeper, guild, world.clock.now())
        bot_role = Role(guild, world.ids.next(), world.bot.name, bot_permissions, position=1, managed=True)
        bot_role.bot_id = world.bot.id
        guild.roles[bot_role.id] = bot_role
        guild.members[world.bot.id] = Member(world.bot, guild, world.clock.now(), roles=[bot_role])
        world.guilds[guild.id] = guild
        if aged:
            general = Channel(world, guild.id, Kind.TEXT, guild=guild, name="general")
            guild.channels[general.id] = world.channels[general.id] = general
            guild.system_channel_id = general.id
        self.announce(guild, joined=True)
        return guild

    def announce(self, guild: Guild, *, joined: bool) -> None:
        """GUILD_CREATE, whole; each session's copy is cut to its intents where it is sent.

        A guild that the bot has just joined comes without ``unavailable``; that is how a client tells it from one
        that came back.
        """
        body = payloads.guild_create(guild)
        if joined:
            del body["unavailable"]
        self._world.publish("GUILD_CREATE", body, guild=guild)

    def set_unavailable(self, guild: Guild, *, unavailable: bool) -> None:
        if unavailable:
            self._world.publish("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, guild=guild)
            guild.unavailable = True
        elif guild.unavailable:
            guild.unavailable = False
            self.announce(guild, joined=False)

    # channels

    def dm(self, user: User) -> Channel:
        """The channel between a user and the bot; opening it tells nobody (bots get no CHANNEL_CREATE for a DM)."""
        bot = self._world.bot
        if user is bot or user.webhook_id is not None:
            raise Misuse(f"there is no direct message between {user} and the bot")
        for channel in self._world.channels.values():
            if channel.kind is Kind.DM and user in channel.recipients:
                return channel
        channel = Channel(self._world, self._world.ids.next(), Kind.DM, recipients=[bot, user])
        self._world.channels[channel.id] = channel
        return channel

    def create_channel(
        self,
        guild: Guild,
        kind: Kind,
        settings: ChannelFields,
        *,
        parent: Channel | None = None,
        overwrites: Sequence[Overwrite] | None = None,
    ) -> Channel:
        channel = Channel(
            self._world, self._world.ids.next(), kind, guild=guild, parent=parent, position=len(guild.channels)
        )
        apply(channel, settings)
        # In a category a channel begins in step with it, unless it is given overwrites of its own.
        begins_with = parent.overwrites.values() if parent is not None and not overwrites else overwrites or ()
        channel.overwrites = {overwrite.target_id: overwrite for overwrite in begins_with}
        guild.channels[channel.id] = channel
        self._world.channels[channel.id] = channel
        if guild.system_channel_id is None and kind is Kind.TEXT:
            guild.system_channel_id = channel.id
        self._world.publish("CHANNEL_CREATE", payloads.channel(channel), guild=guild)
        return channel

    def edit_channel(self, channel: Channel, settings: ChannelFields) -> None:
        apply(channel, settings)
        self.channel_changed(channel)

    def channel_changed(self, channel: Channel) -> None:
        if isinstance(channel, Thread):
            self._world.threads.changed(channel)
        else:
            self._world.publish("CHANNEL_UPDATE", payloads.channel(channel), guild=channel.guild)

    def delete_channel(self, channel: Channel) -> None:
        """Threads of a deleted channel go with it and get no event of their own, as on Discord."""
        guild = channel.guild
        if guild is None:
            raise Misuse("a direct message cannot be deleted")
        if isinstance(channel, Thread):
            self._world.threads.delete(channel)
            return
        for thread in [t for t in guild.threads.values() if t.parent is channel]:
            self.forget(thread)
        for child in [c for c in guild.channels.values() if c.parent is channel]:
            child.parent = None
            self.channel_changed(child)
        for hook in self._world.hooks.of(channel):
            del self._world.webhooks[hook.id]
        if guild.system_channel_id == channel.id:
            guild.system_channel_id = None
        self._world.publish("CHANNEL_DELETE", payloads.channel(channel), guild=guild)
        self.forget(channel)

    def forget(self, channel: Channel) -> None:
        channel.deleted = True
        self._world.channels.pop(channel.id, None)
        if channel.guild is not None:
            channel.guild.channels.pop(channel.id, None)
            channel.guild.threads.pop(channel.id, None)
