"""Users, members, roles and webhooks: the ones who speak. Their methods are what a test makes them do."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .errors import Misuse, NotPermitted, Refusal, missing_permissions
from .fields import RoleFields
from .invoking import Invoker
from .permissions import NOTHING, Permission, in_guild
from .powers import Powers

if TYPE_CHECKING:
    from .events import Payload
    from .messages import File, Message
    from .places import Channel, Guild, Place, Thread
    from .world import World


@dataclass(slots=True, eq=False)
class User(Invoker):
    """An account. ``name`` is the unique handle, ``display_name`` what people see."""

    world: World = field(repr=False)
    id: int
    name: str
    display_name: str
    bot: bool = False
    system: bool = False
    accepts_dms: bool = True
    webhook_id: int | None = field(default=None, repr=False)

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def dm(self) -> Channel:
        """The direct-message channel between this user and the bot, made when it does not exist yet."""
        return self.world.rooms.dm(self)

    def as_channel(self) -> Channel:
        return self.dm()

    def as_user(self) -> User:
        return self

    async def says(
        self,
        place: Place,
        text: str = "",
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        files: Sequence[File] = (),
        embeds: Sequence[Payload] = (),
        forward: Message | None = None,
        stickers: Sequence[str] = (),
    ) -> Message:
        """Post a message as this user; it is queued to every gateway session that may see it.

        ``text`` is posted exactly as given, up to the 4,000 characters of Nitro. ``ping`` is the switch of a reply.
        Raises NotPermitted where Discord would not let the member speak, Misuse for a text that is too long.
        """
        return await self.world.speech.spoken(
            self,
            place,
            text,
            reply_to=reply_to,
            ping=ping,
            files=files,
            embeds=embeds,
            forward=forward,
            stickers=stickers,
        )

    async def edits(self, message: Message, text: str) -> Message:
        """Replace the text of an own message; returns the same message. NotPermitted for somebody else's."""
        self._own(message)
        with self._as_discord_lets(f"edit a message in {message.channel}"):
            self.world.threads.must_be_open(message.channel, self)
        self.world.speech.edit(message, content=text)
        await self.world.breathe()
        return message

    async def deletes(self, message: Message) -> None:
        """Delete an own message, or with Manage Messages anybody's."""
        with self._as_discord_lets(f"delete a message of {message.author.display_name}"):
            self.world.moderation.delete(message, by=self)
        await self.world.breathe()

    async def bulk_deletes(self, messages: Sequence[Message]) -> None:
        """Delete several messages of one channel by one event, as a moderation bot does."""
        if not messages:
            raise Misuse("bulk_deletes needs at least one message")
        with self._as_discord_lets("delete many messages"):
            self.world.moderation.delete_many(messages[0].channel, [message.id for message in messages], by=self)
        await self.world.breathe()

    async def reacts(self, message: Message, emoji: str) -> None:
        """With an emoji that others reacted with already, Add Reactions is not needed."""
        with self._as_discord_lets(f"react in {message.channel}"):
            self.world.speech.must_react(self, message, emoji)
        self.world.speech.react(message, self, emoji)
        await self.world.breathe()

    async def unreacts(self, message: Message, emoji: str) -> None:
        self.world.speech.unreact(message, self, emoji)
        await self.world.breathe()

    async def clears_reactions(self, message: Message, emoji: str | None = None) -> None:
        self._must(message.channel, Permission.MANAGE_MESSAGES)
        self.world.speech.clear_reactions(message, emoji)
        await self.world.breathe()

    async def types(self, place: Place) -> None:
        """The typing indicator; Discord shows it for ten seconds or until the next message."""
        self._must(place.as_channel(), Permission.VIEW_CHANNEL)
        self.world.speech.typing(self, place.as_channel())
        await self.world.breathe()

    async def starts_thread(
        self, origin: Channel | Message, name: str, *, text: str | None = None, private: bool = False
    ) -> Thread:
        """Open a thread on a message or in a channel, and with ``text`` post the first message in it."""
        with self._as_discord_lets("start a thread"):
            thread = self.world.threads.start(origin, name, owner=self, private=private)
        if text is not None:
            await self.says(thread, text)
        await self.world.breathe()
        return thread

    def _own(self, message: Message) -> None:
        if message.author is not self:
            raise NotPermitted(f"{self.display_name} cannot edit a message of {message.author.display_name}")
        if message.deleted:
            raise Misuse("that message is deleted")

    @contextmanager
    def _as_discord_lets(self, deed: str) -> Generator[None]:
        try:
            yield
        except Refusal as refused:
            raise NotPermitted(f"{self.display_name} cannot {deed}: {refused.words}") from refused

    def _must(self, channel: Channel, need: Permission) -> None:
        if channel.guild is not None and need not in channel.permissions_of(self):
            raise NotPermitted(f"{self.display_name} lacks {need.name} in {channel}")

    def __str__(self) -> str:
        return self.display_name


@dataclass(slots=True, eq=False)
class Role:
    guild: Guild = field(repr=False)
    id: int
    name: str
    permissions: Permission = NOTHING
    position: int = 0
    mentionable: bool = False
    hoist: bool = False
    color: int = 0
    managed: bool = False
    bot_id: int | None = None
    is_for_boosters: bool = False

    @property
    def overwrite_kind(self) -> int:
        """How a channel's overwrite names what it is for: 0 is a role."""
        return 0

    @property
    def mention(self) -> str:
        return "@everyone" if self.id == self.guild.id else f"<@&{self.id}>"

    def edit(
        self, *, name: str | None = None, permissions: Permission | None = None, mentionable: bool | None = None
    ) -> None:
        """Change the role and tell the sessions (GUILD_ROLE_UPDATE)."""
        self.guild.world.roles.edit(self, RoleFields(name, permissions, mentionable=mentionable))

    def move(self, position: int) -> None:
        """To another place in the hierarchy, counted from @everyone's 0; whoever is in the way makes room."""
        self.guild.world.roles.sort(self.guild, {self: position})

    def delete(self) -> None:
        self.guild.world.roles.delete(self)


@dataclass(slots=True, eq=False)
class Member(Invoker, Powers):
    """A user in a guild. Speaking, editing and so on are the user's; see User."""

    user: User
    guild: Guild = field(repr=False)
    joined_at: float
    nick: str | None = None
    roles: list[Role] = field(default_factory=list["Role"])
    timed_out_until: float | None = None
    pending: bool = False
    premium_since: float | None = None
    status: str = "online"

    @property
    def id(self) -> int:
        return self.user.id

    @property
    def name(self) -> str:
        return self.nick or self.user.display_name

    @property
    def mention(self) -> str:
        return self.user.mention

    @property
    def bot(self) -> bool:
        return self.user.bot

    @property
    def permissions(self) -> Permission:
        """What the member may do in the guild as a whole, now."""
        return in_guild(self, self.guild.world.clock.now())

    def must(self, need: Permission) -> None:
        """Raises the Refusal 50013 without a permission in the guild."""
        if need not in self.permissions:
            raise missing_permissions(need)

    def dm(self) -> Channel:
        """See User.dm."""
        return self.user.dm()

    def as_channel(self) -> Channel:
        return self.user.dm()

    def as_user(self) -> User:
        return self.user

    def as_member(self) -> Member:
        return self

    @property
    def overwrite_kind(self) -> int:
        """How a channel's overwrite names what it is for: 1 is a member."""
        return 1

    async def says(
        self,
        place: Place,
        text: str = "",
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        files: Sequence[File] = (),
        embeds: Sequence[Payload] = (),
        forward: Message | None = None,
        stickers: Sequence[str] = (),
    ) -> Message:
        """See User.says."""
        return await self.user.says(
            place, text, reply_to=reply_to, ping=ping, files=files, embeds=embeds, forward=forward, stickers=stickers
        )

    async def edits(self, message: Message, text: str) -> Message:
        """See User.edits."""
        return await self.user.edits(message, text)

    async def deletes(self, message: Message) -> None:
        """See User.deletes."""
        await self.user.deletes(message)

    async def bulk_deletes(self, messages: Sequence[Message]) -> None:
        """See User.bulk_deletes."""
        await self.user.bulk_deletes(messages)

    async def reacts(self, message: Message, emoji: str) -> None:
        """See User.reacts."""
        await self.user.reacts(message, emoji)

    async def unreacts(self, message: Message, emoji: str) -> None:
        """See User.unreacts."""
        await self.user.unreacts(message, emoji)

    async def clears_reactions(self, message: Message, emoji: str | None = None) -> None:
        """See User.clears_reactions."""
        await self.user.clears_reactions(message, emoji)

    async def types(self, place: Place) -> None:
        """See User.types."""
        await self.user.types(place)

    async def starts_thread(
        self, origin: Channel | Message, name: str, *, text: str | None = None, private: bool = False
    ) -> Thread:
        """See User.starts_thread."""
        return await self.user.starts_thread(origin, name, text=text, private=private)

    def give(self, *roles: Role) -> None:
        self.guild.world.roles.assign(self, add=roles)

    def take(self, *roles: Role) -> None:
        self.guild.world.roles.assign(self, remove=roles)

    def rename(self, nick: str | None) -> None:
        self.guild.world.moderation.rename(self, nick)

    def time_out(self, seconds: float) -> None:
        self.guild.world.moderation.time_out(self, self.guild.world.clock.now() + seconds)

    def goes_offline(self) -> None:
        """The green dot goes out (PRESENCE_UPDATE). Discord stops nobody who is offline from writing."""
        self.status = "offline"
        self.guild.world.memberships.presence_changed(self)

    def comes_online(self, status: str = "online") -> None:
        """``online``, ``idle`` or ``dnd``."""
        self.status = status
        self.guild.world.memberships.presence_changed(self)

    def leaves(self) -> None:
        """Leave the guild (GUILD_MEMBER_REMOVE)."""
        self.guild.world.memberships.remove(self)

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True, eq=False)
class Webhook:
    """An incoming webhook of a channel; it speaks under any name."""

    channel: Channel = field(repr=False)
    id: int
    name: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(51), repr=False)
    maker: User | None = field(default=None, repr=False)

    async def says(
        self, text: str = "", *, name: str | None = None, embeds: Sequence[Payload] = (), files: Sequence[File] = ()
    ) -> Message:
        world = self.channel.world
        author = User(world, self.id, name or self.name, name or self.name, bot=True, webhook_id=self.id)
        return await world.speech.spoken(author, self.channel, text, embeds=embeds, files=files)
