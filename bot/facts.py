"""Discord's own facts about people and places, read fresh over REST: what authority is decided from (I5).

No cache of the library's and nothing that anybody said is an input. What cannot be seen gives nobody any permission;
what Discord cannot say now raises ReadFailed, so that unknown never becomes yes.

Sources: https://discord.com/developers/docs/topics/permissions (overwrites, implicit denials, threads, time-outs),
https://discord.com/developers/docs/topics/threads (permissions come from the parent; private threads have members).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar, cast

import discord
from discord.http import Route

from bot.errors import ReadFault, ReadRefused
from bot.payloads import listed, moment, snowflake
from bot.rest import Reads, parsed
from memory.ids import MessageId, PlaceId, SpaceId, UserId

T = TypeVar("T")
Json: TypeAlias = Mapping[str, Any]

DIRECT_KINDS: Final = frozenset({1, 3})
VOICE_KINDS: Final = frozenset({2, 13})
THREAD_KINDS: Final = frozenset({10, 11, 12})
PRIVATE_THREAD: Final = 12
TEXT: Final = 0
CATEGORY: Final = 4
FORUM_KINDS: Final = frozenset({15, 16})

DIRECT: Final = discord.Permissions(
    view_channel=True,
    send_messages=True,
    read_message_history=True,
    add_reactions=True,
    embed_links=True,
    attach_files=True,
    use_external_emojis=True,
    use_external_stickers=True,
    pin_messages=True,
    send_polls=True,
)
"""What either side may do in a direct conversation."""

_TIMED_OUT: Final = discord.Permissions(view_channel=True, read_message_history=True)
_WITHOUT_SENDING: Final = discord.Permissions(
    send_tts_messages=True,
    embed_links=True,
    attach_files=True,
    mention_everyone=True,
    send_voice_messages=True,
    send_polls=True,
)
_WITHOUT_CONNECTING: Final = discord.Permissions.voice() | discord.Permissions(manage_channels=True, manage_roles=True)


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A channel's exception for the role or member `target_id`; bits as Discord counts them."""

    target_id: int
    allow: int
    deny: int


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """A channel, thread or direct conversation as the bot sees it. `kind` is Discord's channel type.

    `guild_id` is None for a direct conversation. `parent_id`: the thread's channel, or the channel's category.
    `owner_id` is who began the thread.
    """

    place_id: PlaceId
    kind: int
    guild_id: SpaceId | None
    name: str = ""
    topic: str | None = None
    position: int = 0
    parent_id: PlaceId | None = None
    owner_id: UserId | None = None
    archived: bool = False
    locked: bool = False
    messages: int | None = None
    last_message_id: MessageId | None = None
    overwrites: tuple[Overwrite, ...] = ()
    recipients: frozenset[UserId] = frozenset()
    slowmode_s: int = 0
    age_restricted: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether it is a conversation outside of any guild."""
        return self.kind in DIRECT_KINDS

    @property
    def is_thread(self) -> bool:
        """Whether it is a thread, or a post of a forum."""
        return self.kind in THREAD_KINDS

    @property
    def is_private(self) -> bool:
        """Whether it is a thread that only its members and who manages threads can see."""
        return self.kind == PRIVATE_THREAD


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """A role of the guild; `permissions` are its bits. `managed`: an integration gives and takes it."""

    role_id: int
    name: str
    position: int
    permissions: int
    managed: bool = False

    @property
    def rank(self) -> tuple[int, int]:
        """For comparing: of two roles at one position the older one stands above."""
        return self.position, -self.role_id


@dataclass(frozen=True, slots=True)
class UserFacts:
    """An account, whether or not it is in the guild."""

    user_id: UserId
    name: str
    is_bot: bool


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """A member of the space's guild. `roles` are highest first, without @everyone.

    `permissions` is what they may do before any channel's overwrites; everything for the owner and administrators.
    `timed_out_until` is None where that is over.
    """

    user_id: UserId
    name: str
    display_name: str
    nick: str | None
    is_bot: bool
    is_owner: bool
    roles: tuple[RoleFacts, ...]
    permissions: discord.Permissions
    joined_at: datetime | None
    timed_out_until: datetime | None

    @property
    def timed_out(self) -> bool:
        """Whether they are silenced now."""
        return self.timed_out_until is not None

    @property
    def top_position(self) -> int:
        """The position of the highest role; 0 is @everyone's. The owner stands above all of them."""
        return self.roles[0].position if self.roles else 0

    def stands_above(self, other: "MemberFacts") -> bool:
        """Whether their roles let them act on the other; nobody stands above the owner, or above themselves."""
        if other.is_owner or other.user_id == self.user_id:
            return False
        return self.is_owner or self.outranks(other.roles[0] if other.roles else None)

    def outranks(self, role: RoleFacts | None) -> bool:
        """Whether their highest role stands above this one (None: @everyone)."""
        if self.is_owner:
            return True
        return bool(self.roles) and (role is None or self.roles[0].rank > role.rank)

    @property
    def is_administrator(self) -> bool:
        """Whether no overwrite applies to them: the owner, or by a role."""
        return self.is_owner or self.permissions.administrator


@dataclass(frozen=True, slots=True)
class _Guild:
    owner_id: UserId
    roles: Mapping[int, RoleFacts]
    name: str = ""


class Facts:
    """The facts of one decision in the space `space_id`: each is asked for once, and never kept for the next decision.

    Every method raises ReadFailed where Discord cannot say now.
    """

    def __init__(self, reads: Reads, space_id: SpaceId, own_id: int) -> None:
        self._reads = reads
        self._space_id = space_id
        self._own_id = own_id
        self._known: dict[object, Any] = {}
        self._locks: dict[object, asyncio.Lock] = {}

    async def place(self, place_id: PlaceId) -> PlaceFacts | None:
        """The place; None if there is none, the bot cannot see it, or it is not of this space (I6)."""
        found = await self._once(("place", place_id), lambda: self._fetch_place(place_id))
        return found if found is not None and self._is_here(found) else None

    async def channels(self) -> tuple[PlaceFacts, ...]:
        """All channels of the guild, without threads; empty in a direct conversation."""
        return await self._once("channels", self._fetch_channels)

    def note(self, place: PlaceFacts) -> None:
        """Take a place as known: it came with another answer of the same decision."""
        self._known[("place", place.place_id)] = place

    async def member(self, user_id: UserId) -> MemberFacts | None:
        """The member; None if they are not in the guild, or the space is none."""
        return await self._once(("member", user_id), lambda: self._fetch_member(user_id))

    async def user(self, user_id: UserId) -> UserFacts | None:
        """The account; None if there is none."""
        return await self._once(("user", user_id), lambda: self._fetch_user(user_id))

    async def ban_of(self, user_id: UserId) -> str | None:
        """The reason of their ban; None where they are not banned, as far as the bot may know."""
        return await self._once(("ban", user_id), lambda: self._fetch_ban(user_id))

    async def role(self, role_id: int) -> RoleFacts | None:
        """The guild's role of that id."""
        guild = await self._once("guild", self._fetch_guild)
        return None if guild is None else guild.roles.get(role_id)

    async def guild_name(self) -> str:
        """The guild's name; empty where there is none."""
        guild = await self._once("guild", self._fetch_guild)
        return "" if guild is None else guild.name

    async def permissions(self, user_id: UserId, place_id: PlaceId) -> discord.Permissions:
        """What somebody may do in a place now; none where either is absent or unseen.

        A thread has its parent's permissions, so that to write in it is `send_messages_in_threads`; a private one is
        seen by its members and by who may manage threads.
        """
        place = await self.place(place_id)
        if place is None:
            return discord.Permissions.none()
        if place.is_direct:
            return DIRECT if user_id in place.recipients or user_id == self._own_id else discord.Permissions.none()
        trunk = place if not place.is_thread else await self.place(place.parent_id or PlaceId(0))
        member = await self.member(user_id)
        if trunk is None or member is None:
            return discord.Permissions.none()
        granted = granted_in(trunk, member, self._space_id, in_thread=place.is_thread)
        if place.is_private and granted.view_channel and not granted.manage_threads:
            return granted if await self.joined(user_id, place_id) else discord.Permissions.none()
        return granted

    async def joined(self, user_id: UserId, thread_id: PlaceId) -> bool:
        """Whether somebody is a member of a thread."""
        return await self._once(("joined", thread_id, user_id), lambda: self._fetch_joined(user_id, thread_id))

    async def can_read(self, user_id: UserId, place_id: PlaceId) -> bool:
        """Whether somebody sees a place and its history; for a voice channel's chat they must be let in, too."""
        place = await self.place(place_id)
        if place is None:
            return False
        granted = await self.permissions(user_id, place_id)
        heard = granted.connect or place.kind not in VOICE_KINDS
        return granted.view_channel and granted.read_message_history and heard

    def _is_here(self, place: PlaceFacts) -> bool:
        if place.is_direct:
            return place.place_id == self._space_id
        return place.guild_id == self._space_id

    async def _once(self, key: object, fetch: Callable[[], Awaitable[T]]) -> T:
        """What `fetch` gives, asked for once, also by those who ask at the same time."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._known:
                self._known[key] = await fetch()
            return self._known[key]

    async def _fetch_place(self, place_id: PlaceId) -> PlaceFacts | None:
        body = await self._get(Route("GET", "/channels/{channel_id}", channel_id=place_id))
        return None if body is None else parsed(place_facts, body)

    async def _fetch_channels(self) -> tuple[PlaceFacts, ...]:
        body = await self._get(Route("GET", "/guilds/{guild_id}/channels", guild_id=self._space_id))
        found = () if body is None else tuple(parsed(place_facts, each) for each in parsed(listed, body))
        for each in found:
            self.note(each)
        return found

    async def _fetch_guild(self) -> _Guild | None:
        body = await self._get(Route("GET", "/guilds/{guild_id}", guild_id=self._space_id))
        return None if body is None else parsed(_guild, body)

    async def _fetch_member(self, user_id: UserId) -> MemberFacts | None:
        route = Route("GET", "/guilds/{guild_id}/members/{user_id}", guild_id=self._space_id, user_id=user_id)
        body, guild = await _both(self._get(route), self._once("guild", self._fetch_guild))
        if body is None or guild is None:
            return None
        return parsed(lambda data: _member(data, guild, self._space_id), body)

    async def _fetch_user(self, user_id: UserId) -> UserFacts | None:
        body = await self._get(Route("GET", "/users/{user_id}", user_id=user_id))
        return None if body is None else parsed(_user, body)

    async def _fetch_ban(self, user_id: UserId) -> str | None:
        route = Route("GET", "/guilds/{guild_id}/bans/{user_id}", guild_id=self._space_id, user_id=user_id)
        body = await self._get(route)
        return None if body is None else parsed(lambda data: str(data.get("reason") or ""), body)

    async def _fetch_joined(self, user_id: UserId, thread_id: PlaceId) -> bool:
        path = "/channels/{channel_id}/thread-members/{user_id}"
        return await self._get(Route("GET", path, channel_id=thread_id, user_id=user_id)) is not None

    async def _get(self, route: Route) -> Any:
        """The body, or None where Discord says that there is nothing, or nothing for us."""
        try:
            return await self._reads.get(route)
        except ReadRefused:
            return None


def granted_in(
    channel: PlaceFacts, member: MemberFacts, guild_id: SpaceId, *, in_thread: bool = False
) -> discord.Permissions:
    """What a member may do in a channel, or in a thread of it: Discord's arithmetic over facts alone."""
    if member.is_administrator:
        return discord.Permissions.all()
    granted = _overwritten(channel, member, guild_id)
    if not granted.view_channel:
        return discord.Permissions.none()
    if member.timed_out:
        return granted & _TIMED_OUT
    if not (granted.send_messages_in_threads if in_thread else granted.send_messages):
        granted &= ~_WITHOUT_SENDING
    if channel.kind in VOICE_KINDS and not granted.connect:
        granted &= ~_WITHOUT_CONNECTING
    return granted


def _overwritten(channel: PlaceFacts, member: MemberFacts, guild_id: SpaceId) -> discord.Permissions:
    """The overwrites in Discord's order: @everyone's, all roles' at once (what is allowed wins), the member's own."""
    held = {role.role_id for role in member.roles}
    value, allow, deny = member.permissions.value, 0, 0
    own: Overwrite | None = None
    for each in channel.overwrites:
        if each.target_id == guild_id:
            value = value & ~each.deny | each.allow
        elif each.target_id in held:
            allow, deny = allow | each.allow, deny | each.deny
        elif each.target_id == member.user_id:
            own = each
    value = value & ~deny | allow
    if own is not None:
        value = value & ~own.deny | own.allow
    return discord.Permissions(value)


async def _both(first: Awaitable[Any], second: Awaitable[T]) -> tuple[Any, T]:
    """Both at once. Raises what one of them raises, as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = group.create_task(_awaited(first)), group.create_task(_awaited(second))
    except* ReadFault as faults:
        fault = faults.exceptions[0]
    else:
        return tasks[0].result(), tasks[1].result()
    raise fault


async def _awaited(work: Awaitable[T]) -> T:
    return await work


def place_facts(data: Json) -> PlaceFacts:
    """A channel object. Raises as the readers of bot.payloads do, and KeyError."""
    about = cast("Json", data.get("thread_metadata") or {})
    return PlaceFacts(
        PlaceId(snowflake(data["id"])),
        int(data["type"]),
        SpaceId(snowflake(data["guild_id"])) if data.get("guild_id") is not None else None,
        str(data.get("name") or ""),
        str(data["topic"]) if data.get("topic") else None,
        int(data.get("position") or 0),
        PlaceId(snowflake(data["parent_id"])) if data.get("parent_id") is not None else None,
        UserId(snowflake(data["owner_id"])) if data.get("owner_id") is not None else None,
        bool(about.get("archived", False)),
        bool(about.get("locked", False)),
        int(data["message_count"]) if data.get("message_count") is not None else None,
        MessageId(snowflake(data["last_message_id"])) if data.get("last_message_id") is not None else None,
        tuple(
            Overwrite(snowflake(each["id"]), int(each["allow"]), int(each["deny"]))
            for each in listed(data.get("permission_overwrites"))
        ),
        frozenset(UserId(snowflake(each["id"])) for each in listed(data.get("recipients"))),
        int(data.get("rate_limit_per_user") or 0),
        bool(data.get("nsfw", False)),
    )


def _user(data: Json) -> UserFacts:
    name = str(data.get("global_name") or data["username"])
    return UserFacts(UserId(snowflake(data["id"])), name, bool(data.get("bot", False)))


def _guild(data: Json) -> _Guild:
    roles = [
        RoleFacts(
            snowflake(each["id"]),
            str(each["name"]),
            int(each["position"]),
            int(each["permissions"]),
            bool(each.get("managed", False)),
        )
        for each in listed(data["roles"])
    ]
    name = str(data.get("name") or "")
    return _Guild(UserId(snowflake(data["owner_id"])), {role.role_id: role for role in roles}, name)


def _member(data: Json, guild: _Guild, guild_id: SpaceId) -> MemberFacts:
    user = cast("Json", data["user"])
    user_id = UserId(snowflake(user["id"]))
    held = [role for each in listed(data["roles"]) if (role := guild.roles.get(snowflake(each))) is not None]
    # A role that ranks equal with another stands above it if it is older, and so has the smaller id.
    held.sort(key=lambda role: (-role.position, role.role_id))
    value = guild.roles[guild_id].permissions
    for role in held:
        value |= role.permissions
    is_owner = user_id == guild.owner_id
    granted = discord.Permissions(value)
    silenced = data.get("communication_disabled_until")
    until = moment(silenced) if silenced is not None else None
    return MemberFacts(
        user_id,
        str(user["username"]),
        str(data.get("nick") or user.get("global_name") or user["username"]),
        str(data["nick"]) if data.get("nick") else None,
        bool(user.get("bot", False)),
        is_owner,
        tuple(held),
        discord.Permissions.all() if is_owner or granted.administrator else granted,
        moment(data["joined_at"]) if data.get("joined_at") else None,
        until if until is not None and until > datetime.now(UTC) else None,
    )
