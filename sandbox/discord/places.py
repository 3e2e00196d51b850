"""Guilds, channels, threads and direct messages: where people speak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from . import permissions
from .errors import Misuse
from .fields import ChannelFields, GuildFields, RoleFields
from .forums import REQUIRE_TAG, Tag
from .messages import CHAT_COMMANDS, Shelf
from .people import Member, Role, User, Webhook
from .permissions import Overwrite, Permission

if TYPE_CHECKING:
    from .expressions import Sticker
    from .messages import Message
    from .moderation import Ban
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
    STAGE = 13
    FORUM = 15
    MEDIA = 16


VOCAL: Final = frozenset({Kind.VOICE, Kind.STAGE})
BOOSTS_FOR_TIER: Final = (0, 2, 7, 14)
"""Discord's help centre alone tells it."""
ONLY_THREADS: Final = frozenset({Kind.FORUM, Kind.MEDIA})
"""Channels in which nothing is said but in their posts, which are threads."""


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
    last_pin_at: float | None = None
    flags: int = 0
    default_auto_archive_minutes: int | None = None
    default_thread_slowmode: int = 0
    tags: list[Tag] = field(default_factory=list[Tag], repr=False)
    default_reaction: str | None = None
    default_sort_order: int | None = None
    default_layout: int = 0
    bitrate: int = 64_000
    user_limit: int = 0

    @property
    def is_thread(self) -> bool:
        return False

    @property
    def is_dm(self) -> bool:
        return self.kind is Kind.DM

    @property
    def is_forum(self) -> bool:
        """Whether nothing is said here but in posts."""
        return self.kind in ONLY_THREADS

    @property
    def is_vocal(self) -> bool:
        return self.kind in VOCAL

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

    def admits(self, user_id: int) -> bool:
        """False for a private thread that somebody is not in."""
        return True

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
        return self.world.hooks.create(self, name)

    def set_permissions(
        self,
        target: Role | Member,
        *,
        allow: Permission = permissions.NOTHING,
        deny: Permission = permissions.NOTHING,
    ) -> None:
        """Put an overwrite for a role or a member (replacing the one there was) and tell the sessions."""
        self.world.layout.put_overwrite(self, Overwrite(target.id, 0 if isinstance(target, Role) else 1, allow, deny))

    def clear_permissions(self, target: Role | Member) -> None:
        """Take away the overwrite of a role or member."""
        self.world.layout.delete_overwrite(self, target.id)

    def edit(
        self,
        *,
        name: str | None = None,
        topic: str | None = None,
        nsfw: bool | None = None,
        slowmode: int | None = None,
    ) -> None:
        """Change the channel and tell the sessions. ``slowmode`` in seconds."""
        self.world.rooms.edit_channel(self, ChannelFields(name=name, topic=topic, nsfw=nsfw, slowmode=slowmode))

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
    pinned_post: bool = False
    """Whether it stands on top of its forum."""

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

    def admits(self, user_id: int) -> bool:
        return not self.is_private or user_id in self.joined

    @property
    def message_count(self) -> int:
        """What was said in it and is still there."""
        return self.sent - sum(m.deleted and m.kind in CHAT_COMMANDS for m in self.shelf.everything())

    def add(self, who: User | Member) -> None:
        """Make somebody a member of the thread."""
        self.world.threads.join(self, who.user if isinstance(who, Member) else who)

    def archive(self, *, locked: bool = False) -> None:
        self.world.threads.set_archived(self, archived=True, locked=locked)

    def lock(self) -> None:
        """Shut it for whoever may not manage threads, while it stays in sight."""
        self.world.threads.set_archived(self, archived=self.archived, locked=True)

    def unarchive(self) -> None:
        self.world.threads.set_archived(self, archived=False, locked=False)


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
    bans: dict[int, Ban] = field(default_factory=dict[int, "Ban"], repr=False)
    max_active_threads: int = 1000
    emoji_makers: dict[int, int] = field(default_factory=dict[int, int], repr=False)
    stickers: dict[int, Sticker] = field(default_factory=dict[int, "Sticker"], repr=False)
    boosts: int = 0
    description: str | None = None
    verification_level: int = 0
    default_notifications: int = 1
    explicit_content_filter: int = 0
    afk_timeout: int = 300
    afk_channel_id: int | None = None
    system_channel_flags: int = 0
    preferred_locale: str = "en-US"

    @property
    def everyone(self) -> Role:
        return self.roles[self.id]

    @property
    def premium_tier(self) -> int:
        """The level that the boosts have reached, 0 to 3."""
        return max(tier for tier, least in enumerate(BOOSTS_FOR_TIER) if self.boosts >= least)

    def edit(
        self,
        *,
        name: str | None = None,
        system_channel: Channel | None = None,
        verification_level: int | None = None,
    ) -> None:
        """Change settings and tell the sessions (GUILD_UPDATE)."""
        system_id = None if system_channel is None else system_channel.id
        values = GuildFields(name=name, system_channel_id=system_id, verification_level=verification_level)
        self.world.governance.edit(self, values)

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
        slowmode: int = 0,
        private_to: Sequence[Role | Member] | None = None,
    ) -> Channel:
        """A new channel. ``private_to`` hides it from @everyone and lets only those (and the bot) see it.

        ``slowmode`` is in seconds. In a category it begins with the category's overwrites.
        """
        overwrites: list[Overwrite] | None = None
        if private_to is not None:
            overwrites = [Overwrite(self.id, 0, deny=Permission.VIEW_CHANNEL)]
            for target in (*private_to, self.me):
                overwrites.append(
                    Overwrite(target.id, 0 if isinstance(target, Role) else 1, allow=Permission.VIEW_CHANNEL)
                )
        settings = ChannelFields(name=name, topic=topic, nsfw=nsfw, slowmode=slowmode)
        return self.world.rooms.create_channel(self, kind, settings, parent=category, overwrites=overwrites)

    def create_category(self, name: str) -> Channel:
        return self.create_channel(name, kind=Kind.CATEGORY)

    def create_forum(
        self,
        name: str,
        *,
        tags: Sequence[str] = (),
        moderated_tags: Sequence[str] = (),
        require_tag: bool = False,
        kind: Kind = Kind.FORUM,
    ) -> Channel:
        """A forum (or media channel) whose posts carry these tags, the moderated ones only by those who manage."""
        made = [Tag(self.world.ids.next(), tag, tag in moderated_tags) for tag in (*tags, *moderated_tags)]
        settings = ChannelFields(name=name, tags=made, flags=REQUIRE_TAG if require_tag else 0)
        return self.world.rooms.create_channel(self, kind, settings)

    def create_role(
        self, name: str, *, permissions: Permission = permissions.NOTHING, mentionable: bool = False, color: int = 0
    ) -> Role:
        """A role above all others, unless it is moved with ``Role.move``."""
        position = max(role.position for role in self.roles.values()) + 1
        fields = RoleFields(name, permissions, color, mentionable=mentionable)
        return self.world.roles.create(self, fields, position=position)

    def create_emoji(self, name: str) -> str:
        """Upload a custom emoji; returns ``name:id`` as a reaction takes it."""
        return f"{name}:{self.world.expressions.create_emoji(self, name)}"

    def create_sticker(self, name: str) -> Sticker:
        """Upload a sticker."""
        return self.world.expressions.create_sticker(self, name)

    def add_member(
        self, who: str | User, *, roles: Sequence[Role] = (), nick: str | None = None, bot: bool = False
    ) -> Member:
        """Somebody joins: a new account by name, or an existing user (to be in two guilds)."""
        return self.world.memberships.add(self, who, roles=roles, nick=nick, bot=bot)

    def add_bot(self, name: str, *, roles: Sequence[Role] = ()) -> Member:
        """Another bot account, which a well-behaved bot must not talk to."""
        return self.add_member(name, roles=roles, bot=True)

    def system_message(self, channel: Channel, *, about: Member, kind: int = 7) -> Message:
        """A message made by Discord itself; kind 7 says that a member joined, 8 that they boosted."""
        return self.world.speech.system(channel, about.user, kind)

    def remove_bot(self) -> None:
        """The bot is kicked: GUILD_DELETE without ``unavailable``."""
        self.world.memberships.remove(self.me)

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
