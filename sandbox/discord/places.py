"""Guilds, channels, threads and direct messages: where people speak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from . import permissions
from .errors import Misuse
from .messages import CHAT_COMMANDS, Shelf
from .people import Member, Role, User, Webhook
from .permissions import Overwrite, Permission

if TYPE_CHECKING:
    from .messages import Message
    from .world import World


class Kind(IntEnum):
    """https://discord.com/developers/docs/resources/channel#channel-object-channel-types"""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    NEWS = 5
    NEWS_THREAD = 10
    THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


@dataclass(slots=True, eq=False)
class Channel:
    """A guild's channel or a DM. ``parent`` is the category (of a thread: its channel)."""

    world: World = field(repr=False)
    id: int
    kind: Kind
    name: str = ""
    guild: Guild | None = field(default=None, repr=False)
    parent: Channel | None = field(default=None, repr=False)
    position: int = 0
    topic: str | None = None
    nsfw: bool = False
    slowmode: int = 0
    overwrites: dict[int, Overwrite] = field(default_factory=dict[int, Overwrite], repr=False)
    recipients: list[User] = field(default_factory=list[User])
    shelf: Shelf = field(default_factory=Shelf, repr=False)
    deleted: bool = False

    @property
    def is_thread(self) -> bool:
        return False

    @property
    def is_dm(self) -> bool:
        return self.kind is Kind.DM

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

    @property
    def last_message_id(self) -> int | None:
        return self.shelf.last_id

    def as_channel(self) -> Channel:
        return self

    def permissions_of(self, who: User | Member) -> Permission:
        """What somebody may do here; nothing for whoever is not a member, everything sensible in a DM."""
        if self.guild is None:
            return permissions.EVERYONE_DEFAULT if who.id in {u.id for u in self.recipients} else permissions.NOTHING
        member = self.guild.members.get(who.id)
        return permissions.NOTHING if member is None else permissions.in_channel(member, self, self.world.clock.now())

    def visible_to(self, who: User | Member) -> bool:
        return Permission.VIEW_CHANNEL in self.permissions_of(who)

    def create_webhook(self, name: str) -> Webhook:
        return self.world.rooms.create_webhook(self, name)

    def set_permissions(
        self,
        target: Role | Member,
        *,
        allow: Permission = permissions.NOTHING,
        deny: Permission = permissions.NOTHING,
    ) -> None:
        """Put an overwrite for a role or a member (replacing the one there was) and tell the sessions."""
        kind = 0 if isinstance(target, Role) else 1
        self.overwrites[target.id] = Overwrite(target.id, kind, allow, deny)
        self.world.rooms.channel_changed(self)

    def edit(self, *, name: str | None = None, topic: str | None = None) -> None:
        self.name = self.name if name is None else name
        self.topic = self.topic if topic is None else topic
        self.world.rooms.channel_changed(self)

    def delete(self) -> None:
        """Delete the channel or thread with all that is in it."""
        self.world.rooms.delete_channel(self)

    def __str__(self) -> str:
        return f"DM with {self.recipients[0]}" if self.is_dm else f"#{self.name}"


@dataclass(slots=True, eq=False, kw_only=True)
class Thread(Channel):
    """A thread of a text channel or a post of a forum."""

    owner: User
    starter: Message | None = field(default=None, repr=False)
    archived: bool = False
    locked: bool = False
    invitable: bool = True
    auto_archive_minutes: int = 1440
    archive_changed_at: float = 0.0
    created_at: float = 0.0
    joined: dict[int, float] = field(default_factory=dict[int, float], repr=False)
    sent: int = 0
    """What was ever said in it, the deleted too; Discord's notices do not count."""
    applied_tags: list[int] = field(default_factory=list[int], repr=False)

    @property
    def is_thread(self) -> bool:
        return True

    @property
    def home(self) -> Guild:
        """The guild; a thread always has one."""
        if self.guild is None:
            raise Misuse(f"the thread {self.name} has lost its guild")
        return self.guild

    @property
    def trunk(self) -> Channel:
        """The channel that it branches from; a thread always has one."""
        if self.parent is None:
            raise Misuse(f"the thread {self.name} has lost its channel")
        return self.parent

    @property
    def is_private(self) -> bool:
        return self.kind is Kind.PRIVATE_THREAD

    def visible_to(self, who: User | Member) -> bool:
        allowed = self.permissions_of(who)
        if Permission.VIEW_CHANNEL not in allowed:
            return False
        return not self.is_private or who.id in self.joined or Permission.MANAGE_THREADS in allowed

    @property
    def message_count(self) -> int:
        """What was said in it and is still there."""
        return self.sent - sum(m.deleted and m.kind in CHAT_COMMANDS for m in self.shelf.everything())

    def add(self, who: User | Member) -> None:
        """Make somebody a member of the thread."""
        self.world.rooms.join_thread(self, who.user if isinstance(who, Member) else who)

    def archive(self, *, locked: bool = False) -> None:
        self.world.rooms.set_archived(self, archived=True, locked=locked)

    def unarchive(self) -> None:
        self.world.rooms.set_archived(self, archived=False, locked=False)


Place = Channel | Thread | Member | User
"""Wherever something can be said. A member or user stands for the DM with the bot."""


@dataclass(slots=True, eq=False)
class Guild:
    world: World = field(repr=False)
    id: int
    name: str
    owner_id: int = 0
    channels: dict[int, Channel] = field(default_factory=dict[int, Channel], repr=False)
    threads: dict[int, Thread] = field(default_factory=dict[int, Thread], repr=False)
    members: dict[int, Member] = field(default_factory=dict[int, Member], repr=False)
    roles: dict[int, Role] = field(default_factory=dict[int, Role], repr=False)
    emojis: dict[int, str] = field(default_factory=dict[int, str], repr=False)
    unavailable: bool = False
    system_channel_id: int | None = None
    nsfw_level: int = 0

    @property
    def everyone(self) -> Role:
        return self.roles[self.id]

    @property
    def me(self) -> Member:
        """The bot's member. Raises KeyError after the bot was removed."""
        return self.members[self.world.bot.id]

    def create_channel(
        self,
        name: str,
        *,
        kind: Kind = Kind.TEXT,
        category: Channel | None = None,
        topic: str | None = None,
        nsfw: bool = False,
        private_to: Sequence[Role | Member] | None = None,
    ) -> Channel:
        """A new channel. ``private_to`` hides it from @everyone and lets only those (and the bot) see it."""
        overwrites: list[Overwrite] = []
        if private_to is not None:
            overwrites.append(Overwrite(self.id, 0, deny=Permission.VIEW_CHANNEL))
            for target in (*private_to, self.me):
                overwrites.append(
                    Overwrite(target.id, 0 if isinstance(target, Role) else 1, allow=Permission.VIEW_CHANNEL)
                )
        return self.world.rooms.create_channel(
            self, name, kind=kind, parent=category, topic=topic, nsfw=nsfw, overwrites=overwrites
        )

    def create_category(self, name: str) -> Channel:
        return self.world.rooms.create_channel(self, name, kind=Kind.CATEGORY)

    def create_role(
        self, name: str, *, permissions: Permission = permissions.NOTHING, mentionable: bool = False, color: int = 0
    ) -> Role:
        return self.world.rooms.create_role(self, name, permissions, mentionable=mentionable, color=color)

    def create_emoji(self, name: str) -> str:
        """Upload a custom emoji; returns ``name:id`` as a reaction takes it."""
        return self.world.rooms.create_emoji(self, name)

    def add_member(
        self, who: str | User, *, roles: Sequence[Role] = (), nick: str | None = None, bot: bool = False
    ) -> Member:
        """Somebody joins: a new account by name, or an existing user (to be in two guilds)."""
        return self.world.rooms.add_member(self, who, roles=roles, nick=nick, bot=bot)

    def add_bot(self, name: str, *, roles: Sequence[Role] = ()) -> Member:
        """Another bot account, which a well-behaved bot must not talk to."""
        return self.add_member(name, roles=roles, bot=True)

    def system_message(self, channel: Channel, *, about: Member, kind: int = 7) -> Message:
        """A message made by Discord itself; kind 7 says that a member joined, 8 that they boosted."""
        return self.world.speech.system(channel, about.user, kind)

    def remove_bot(self) -> None:
        """The bot is kicked: GUILD_DELETE without ``unavailable``."""
        self.world.rooms.remove_member(self.me)

    def goes_down(self) -> None:
        """An outage: GUILD_DELETE with ``unavailable: true``. Nothing is lost."""
        self.world.rooms.set_unavailable(self, unavailable=True)

    def comes_back(self) -> None:
        self.world.rooms.set_unavailable(self, unavailable=False)

    def places(self) -> Iterator[Channel]:
        yield from self.channels.values()
        yield from self.threads.values()

    def channel(self, name: str) -> Channel:
        """By name. Raises Misuse when there is none."""
        for place in self.places():
            if place.name == name:
                return place
        raise Misuse(f"{self.name} has no channel {name!r}; it has {', '.join(p.name for p in self.places())}")

    def member(self, name: str) -> Member:
        """By display name or handle. Raises Misuse when there is none."""
        for member in self.members.values():
            if name in (member.name, member.user.name, member.user.display_name):
                return member
        raise Misuse(f"{self.name} has no member {name!r}; it has {', '.join(m.name for m in self.members.values())}")
