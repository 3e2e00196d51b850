"""Guilds, channels, threads, roles and memberships: making them, changing them, and the events that tell of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from . import payloads
from .errors import Misuse, NotPermitted, Refusal
from .events import Intent
from .messages import HAS_THREAD, THREAD_CREATED, THREAD_STARTER, Message, Reference
from .people import Member, Role, User, Webhook
from .permissions import EVERYONE_DEFAULT, NOTHING, Overwrite, Permission
from .places import Channel, Guild, Kind, Thread

if TYPE_CHECKING:
    from .events import Payload
    from .world import World

_THREAD_PARENTS: Final = frozenset({Kind.TEXT, Kind.NEWS, Kind.FORUM})


class Rooms:
    def __init__(self, world: World) -> None:
        self._world = world

    # guilds, roles, members

    def create_guild(self, name: str, *, owner: str | User = "Olive", bot_permissions: Permission = NOTHING) -> Guild:
        """A guild with @everyone, an owner and the bot with a managed role of its own."""
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
        self._announce(guild, joined=True)
        return guild

    def _announce(self, guild: Guild, *, joined: bool) -> None:
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
            self._announce(guild, joined=False)

    def create_role(self, guild: Guild, name: str, granted: Permission, *, mentionable: bool, color: int) -> Role:
        position = max(role.position for role in guild.roles.values()) + 1
        role = Role(guild, self._world.ids.next(), name, granted, position, mentionable, color=color)
        guild.roles[role.id] = role
        self._world.publish("GUILD_ROLE_CREATE", _role_body(role), guild=guild)
        return role

    def role_changed(self, role: Role) -> None:
        self._world.publish("GUILD_ROLE_UPDATE", _role_body(role), guild=role.guild)

    def delete_role(self, role: Role) -> None:
        guild = role.guild
        del guild.roles[role.id]
        for member in guild.members.values():
            member.roles = [held for held in member.roles if held is not role]
        body: Payload = {"guild_id": str(guild.id), "role_id": str(role.id)}
        self._world.publish("GUILD_ROLE_DELETE", body, guild=guild)

    def create_emoji(self, guild: Guild, name: str) -> str:
        emoji_id = self._world.ids.next()
        guild.emojis[emoji_id] = name
        body: Payload = {"guild_id": str(guild.id), "emojis": payloads.guild(guild)["emojis"]}
        self._world.publish("GUILD_EMOJIS_UPDATE", body, guild=guild)
        return f"{name}:{emoji_id}"

    def add_member(
        self, guild: Guild, who: str | User, *, roles: Sequence[Role], nick: str | None, bot: bool
    ) -> Member:
        user = who if isinstance(who, User) else self._world.create_user(who, bot=bot)
        if user.id in guild.members:
            raise Misuse(f"{user} is already in {guild.name}")
        member = Member(user, guild, self._world.clock.now(), nick=nick, roles=list(roles))
        guild.members[user.id] = member
        if user is self._world.bot:
            self._announce(guild, joined=True)
        else:
            body: Payload = {**payloads.member(member), "guild_id": str(guild.id)}
            self._world.publish("GUILD_MEMBER_ADD", body, guild=guild)
        return member

    def member_changed(self, member: Member) -> None:
        body: Payload = {**payloads.member(member), "guild_id": str(member.guild.id)}
        self._world.publish("GUILD_MEMBER_UPDATE", body, guild=member.guild)

    def presence_changed(self, member: Member) -> None:
        body: Payload = {**payloads.presence(member), "guild_id": str(member.guild.id)}
        self._world.publish("PRESENCE_UPDATE", body, guild=member.guild)

    def remove_member(self, member: Member) -> None:
        guild = member.guild
        if member.user is self._world.bot:
            self._world.publish("GUILD_DELETE", {"id": str(guild.id)}, guild=guild)
            del guild.members[member.id]
            return
        del guild.members[member.id]
        body: Payload = {"guild_id": str(guild.id), "user": payloads.user(member.user)}
        self._world.publish("GUILD_MEMBER_REMOVE", body, guild=guild)

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
        name: str,
        *,
        kind: Kind = Kind.TEXT,
        parent: Channel | None = None,
        topic: str | None = None,
        nsfw: bool = False,
        overwrites: Sequence[Overwrite] = (),
    ) -> Channel:
        channel = Channel(
            self._world, self._world.ids.next(), kind, name, guild, parent, len(guild.channels), topic, nsfw
        )
        channel.overwrites = {overwrite.target_id: overwrite for overwrite in overwrites}
        guild.channels[channel.id] = channel
        self._world.channels[channel.id] = channel
        if guild.system_channel_id is None and kind is Kind.TEXT:
            guild.system_channel_id = channel.id
        self._world.publish("CHANNEL_CREATE", payloads.channel(channel), guild=guild)
        return channel

    def channel_changed(self, channel: Channel) -> None:
        if isinstance(channel, Thread):
            self.thread_changed(channel)
        else:
            self._world.publish("CHANNEL_UPDATE", payloads.channel(channel), guild=channel.guild)

    def create_webhook(self, channel: Channel, name: str) -> Webhook:
        hook = Webhook(channel, self._world.ids.next(), name)
        self._world.webhooks[hook.id] = hook
        if channel.guild is not None:
            body: Payload = {"guild_id": str(channel.guild.id), "channel_id": str(channel.id)}
            self._world.publish("WEBHOOKS_UPDATE", body, guild=channel.guild)
        return hook

    def delete_channel(self, channel: Channel) -> None:
        """Threads of a deleted channel go with it and get no event of their own, as on Discord."""
        guild = channel.guild
        if guild is None:
            raise Misuse("a direct message cannot be deleted")
        if isinstance(channel, Thread):
            body: Payload = {
                "id": str(channel.id),
                "guild_id": str(guild.id),
                "parent_id": str(channel.trunk.id),
                "type": int(channel.kind),
            }
            self._world.publish("THREAD_DELETE", body, guild=guild, channel=channel)
            self._forget(channel)
            return
        for thread in [t for t in guild.threads.values() if t.parent is channel]:
            self._forget(thread)
        self._world.publish("CHANNEL_DELETE", payloads.channel(channel), guild=guild)
        self._forget(channel)

    def _forget(self, channel: Channel) -> None:
        channel.deleted = True
        self._world.channels.pop(channel.id, None)
        if channel.guild is not None:
            channel.guild.channels.pop(channel.id, None)
            channel.guild.threads.pop(channel.id, None)

    # threads

    def start_thread(
        self,
        origin: Channel | Message,
        name: str,
        *,
        owner: User,
        private: bool = False,
        auto_archive_minutes: int = 1440,
        invitable: bool = True,
        announce: bool = True,
    ) -> Thread:
        """A thread on a message (it takes the message's id) or in a channel.

        Raises NotPermitted without the permission, Misuse where a thread cannot be, Refusal 160004 for a message
        that has one.
        """
        starter = origin if isinstance(origin, Message) else None
        parent = origin.channel if isinstance(origin, Message) else origin
        guild = _check_thread(parent, starter, owner, private=private)
        now = self._world.clock.now()
        kind = Kind.NEWS_THREAD if parent.kind is Kind.NEWS else Kind.THREAD
        thread = Thread(
            self._world,
            self._world.ids.next() if starter is None else starter.id,
            Kind.PRIVATE_THREAD if private else kind,
            name,
            guild,
            parent,
            owner=owner,
            starter=starter,
            invitable=invitable,
            auto_archive_minutes=auto_archive_minutes,
            archive_changed_at=now,
            created_at=now,
        )
        thread.joined[owner.id] = now
        self._world.channels[thread.id] = guild.threads[thread.id] = thread
        body = payloads.thread(thread, newly_created=True)
        self._world.publish("THREAD_CREATE", body, guild=guild, channel=thread)
        if announce:
            self._announce_thread(thread, parent, starter)
        return thread

    def _announce_thread(self, thread: Thread, parent: Channel, starter: Message | None) -> None:
        """On a message: the thread opens with a copy of it, and the message shows the thread. Else a notice."""
        from .speech import Draft  # speech needs the places, so it cannot be at the top

        guild_id = thread.home.id
        if starter is not None:
            starter.thread = thread
            starter.flags |= HAS_THREAD
            reference = Reference(parent.id, starter.id, guild_id)
            opener = Draft(thread.owner, kind=THREAD_STARTER, reference=reference, referenced=starter)
            self._world.speech.post(thread, opener)
            self._world.speech.changed(starter)
        elif not thread.is_private and parent.kind is not Kind.FORUM:
            notice = Draft(thread.owner, thread.name, THREAD_CREATED, reference=Reference(thread.id, None, guild_id))
            self._world.speech.post(parent, notice)

    def before_post(self, thread: Thread, author: User) -> None:
        """A post unarchives, and its author joins."""
        if thread.archived:
            self.set_archived(thread, archived=False, locked=thread.locked)
        if author.webhook_id is None:
            self.join_thread(thread, author)

    def set_archived(self, thread: Thread, *, archived: bool, locked: bool) -> None:
        if thread.archived != archived:
            thread.archive_changed_at = self._world.clock.now()
        thread.archived, thread.locked = archived, locked
        self.thread_changed(thread)

    def thread_changed(self, thread: Thread) -> None:
        self._world.publish("THREAD_UPDATE", payloads.thread(thread), guild=thread.guild, channel=thread)

    def join_thread(self, thread: Thread, who: User) -> None:
        if who.id in thread.joined:
            return
        thread.joined[who.id] = self._world.clock.now()
        if who is self._world.bot and thread.is_private:
            # A private thread first becomes visible to the bot by being added to it.
            self._world.publish("THREAD_CREATE", payloads.thread(thread), guild=thread.guild, channel=thread)
        self._members_changed(thread, added=[who.id])

    def leave_thread(self, thread: Thread, who: User) -> None:
        if thread.joined.pop(who.id, None) is not None:
            self._members_changed(thread, removed=[who.id])

    def _members_changed(self, thread: Thread, *, added: Sequence[int] = (), removed: Sequence[int] = ()) -> None:
        body: Payload = {
            "id": str(thread.id),
            "guild_id": str(thread.home.id),
            "member_count": min(len(thread.joined), 50),
        }
        if added:
            body["added_members"] = [payloads.thread_member(thread, user_id) for user_id in added]
        if removed:
            body["removed_member_ids"] = [str(user_id) for user_id in removed]
        # Without the members intent a session hears of itself alone.
        concerns_bot = self._world.bot.id in (*added, *removed)
        name = "THREAD_MEMBERS_UPDATE"
        self._world.publish(
            name, body, guild=thread.guild, channel=thread, intents=Intent.GUILDS if concerns_bot else None
        )


def _role_body(role: Role) -> Payload:
    return {"guild_id": str(role.guild.id), "role": payloads.role(role)}


def _check_thread(parent: Channel, starter: Message | None, owner: User, *, private: bool) -> Guild:
    """The guild in which the thread can be; raises as ``start_thread`` says."""
    if parent.guild is None or parent.kind not in _THREAD_PARENTS:
        raise Misuse(f"there can be no thread in {parent}")
    need = Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS
    if need not in parent.permissions_of(owner):
        raise NotPermitted(f"{owner} lacks {need.name} in {parent}")
    if starter is not None and starter.thread is not None:
        raise Refusal(400, 160004, "A thread has already been created for this message")
    return parent.guild
