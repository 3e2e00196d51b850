"""Where a message is said, and what it points at, as far as the journal does not know it: asked of Discord.

Nothing is decided by this: it is shown to the model, as data (I12). So it may be some minutes old, and where Discord
does not answer in time the answer goes on without it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar, cast

import orjson
import structlog
from discord.http import Route

from bot.addressing import Identity
from bot.errors import MalformedDispatch, ReadFault, ReadRefused
from bot.events import message_seen
from bot.facts import DIRECT_KINDS, FORUM_KINDS, THREAD_KINDS
from bot.payloads import listed, snowflake
from bot.rest import Reads
from bot.seeing.eyes import NOTHING, Looked
from bot.seeing.mentions import named_in
from memory.choices import choices_of
from memory.context import Line, WorkingSet
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, SpaceId
from memory.places import visible_places
from memory.scope import Scope

log = structlog.get_logger(__name__)

T = TypeVar("T")
Json = Mapping[str, Any]

LOOK_S: Final = 2.5
"""Seconds that an answer waits for this at most."""

FRESH_S: Final = 300.0
MOST_PLACES: Final = 512


@dataclass(frozen=True, slots=True)
class PlaceSeen:
    """A place as people see it named. `parent`: the channel of a thread, or the forum of a post."""

    kind: str
    name: str
    topic: str = ""
    parent: str = ""
    parent_id: PlaceId | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Around:
    """What is around a message. `answered`: what it replies to, where the journal does not have it; `gone`: where that
    was deleted. `starter`: what the thread was opened on. `looked`: what its files hold. `places`, `roles`: what those
    are called that the messages name, as far as everybody who reads here may know it (I7)."""

    place: PlaceSeen | None = None
    starter: Line | None = None
    answered: Line | None = None
    gone: bool = False
    looked: Looked = NOTHING
    places: Mapping[int, str] = field(default_factory=dict[int, str])
    roles: Mapping[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True, slots=True)
class _Kept:
    body: Json
    until: float


class Surroundings:
    """Looks around messages. One for the process; keeps what places are called for five minutes."""

    def __init__(self, pool: Pool, reads: Reads, me: Identity) -> None:
        self._pool = pool
        self._reads = reads
        self._me = me
        self._bodies: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
        self._bare: set[PlaceId] = set()

    async def look(self, scope: Scope, recent: WorkingSet) -> Around:
        """What is around the trigger of `recent`, within LOOK_S seconds; what could not be had in time is left out."""
        target = _unknown_target(recent)
        trigger = [recent.trigger.content] if recent.trigger is not None else []
        wanted, with_roles = named_in([*trigger, *(line.content for line in reversed(recent.lines))])
        answering = naming = None
        async with asyncio.TaskGroup() as group:
            if target is not None:
                answering = group.create_task(_in_time("reply", self._answered(scope, target)))
            if wanted or with_roles:
                naming = group.create_task(_in_time("mentions", self._named(scope, wanted, with_roles=with_roles)))
            place = await _in_time("place", self._place(scope))
        answered, gone = (answering.result() if answering is not None else None) or (None, False)
        starter = None
        if place is not None and place.parent_id is not None and not _knows_starter(scope, recent):
            where = place.parent_id if place.kind == "thread" else scope.place_id
            starter = await _in_time("starter", self._starter(where, scope.place_id))
        places, roles = (naming.result() if naming is not None else None) or ({}, {})
        return Around(place, starter, answered, gone, places=places, roles=roles)

    async def _named(
        self, scope: Scope, wanted: Sequence[PlaceId], *, with_roles: bool
    ) -> tuple[dict[int, str], dict[int, str]]:
        """What these channels are called, and, if wanted, the guild's roles."""
        if wanted:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                wanted = sorted(await visible_places(conn, scope, wanted))
        roles: dict[int, str] = {}
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(_in_time("mention", self._body(each))) for each in wanted]
            if with_roles and _is_of(await self._body(scope.place_id), scope.space_id):
                guild = await self._got("guilds", scope.space_id)
                roles = {int(each["id"]): str(each["name"]) for each in listed(guild.get("roles"))}
        bodies = {place_id: task.result() for place_id, task in zip(wanted, asked, strict=True)}
        return {each: str(body["name"]) for each, body in bodies.items() if body is not None}, roles

    async def _place(self, scope: Scope) -> PlaceSeen | None:
        body = await self._body(scope.place_id)
        kind = int(body["type"])
        if kind in DIRECT_KINDS or not _is_of(body, scope.space_id):
            return None
        name, topic = str(body.get("name") or ""), str(body.get("topic") or "")
        if kind not in THREAD_KINDS or body.get("parent_id") is None:
            return PlaceSeen("channel", name, topic)
        parent_id = PlaceId(snowflake(body["parent_id"]))
        parent = await self._body(parent_id)
        is_post = int(parent["type"]) in FORUM_KINDS
        called = {str(each["id"]): str(each["name"]) for each in listed(parent.get("available_tags"))}
        tags = tuple(called[str(each)] for each in listed(body.get("applied_tags")) if str(each) in called)
        kind_name = "post" if is_post else "thread"
        return PlaceSeen(
            kind_name, name, str(parent.get("topic") or ""), str(parent.get("name") or ""), parent_id, tags
        )

    async def _starter(self, where: PlaceId, thread_id: PlaceId) -> Line | None:
        """What the thread was opened on; many are opened on nothing, which Discord is asked once."""
        if thread_id in self._bare:
            return None
        try:
            return await self._message(where, MessageId(thread_id))
        except ReadRefused:
            if len(self._bare) >= MOST_PLACES:
                self._bare.clear()
            self._bare.add(thread_id)
            return None

    async def _answered(self, scope: Scope, target: MessageId) -> tuple[Line | None, bool]:
        try:
            return await self._message(scope.place_id, target), False
        except ReadRefused as refusal:
            return None, refusal.status == 404

    async def _message(self, place_id: PlaceId, message_id: MessageId) -> Line | None:
        """The message as Discord has it; None where its author chose that no model reads it."""
        path = "/channels/{channel_id}/messages/{message_id}"
        data = await self._reads.get(Route("GET", path, channel_id=place_id, message_id=message_id))
        seen = message_seen(cast("Json", data), self._me)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            if not (await choices_of(conn, seen.author_id)).read_by_model:
                return None
        return Line(
            seen.message_id,
            seen.author_id,
            seen.author_kind,
            seen.author_name,
            seen.content,
            seen.reply_to_id,
            seen.created_at,
            orjson.loads(seen.extras),
            edited=seen.edited_at is not None,
        )

    async def _body(self, place_id: PlaceId) -> Json:
        return await self._got("channels", place_id)

    async def _got(self, what: Literal["channels", "guilds"], about: int) -> Json:
        """The channel, or of the guild its roles, as it was within FRESH_S seconds."""
        kept = self._bodies.get((what, about))
        if kept is not None and kept.until > time.monotonic():
            self._bodies.move_to_end((what, about))
            return kept.body
        if what == "channels":
            body = cast("Json", await self._reads.get(Route("GET", "/channels/{channel_id}", channel_id=about)))
        else:
            guild = cast("Json", await self._reads.get(Route("GET", "/guilds/{guild_id}", guild_id=about)))
            body = {"roles": [{"id": each["id"], "name": each["name"]} for each in listed(guild.get("roles"))]}
        self._bodies[(what, about)] = _Kept(body, time.monotonic() + FRESH_S)
        if len(self._bodies) > MOST_PLACES:
            self._bodies.popitem(last=False)
        return body


def _unknown_target(recent: WorkingSet) -> MessageId | None:
    """What the trigger replies to, where that is none of the lines before it."""
    target = recent.trigger.reply_to_id if recent.trigger is not None else None
    return None if any(line.message_id == target for line in recent.lines) else target


def _knows_starter(scope: Scope, recent: WorkingSet) -> bool:
    shown = (*recent.lines, *([recent.trigger] if recent.trigger is not None else []))
    return recent.starter is not None or any(line.message_id == scope.place_id for line in shown)


def _is_of(body: Json, space_id: SpaceId) -> bool:
    return body.get("guild_id") is not None and snowflake(body["guild_id"]) == space_id


async def _in_time(what: str, looking: Awaitable[T]) -> T | None:
    """What was found; None where Discord does not say, or not in time."""
    try:
        async with asyncio.timeout(LOOK_S):
            return await looking
    except (ReadFault, MalformedDispatch, TimeoutError, KeyError, ValueError, TypeError, AttributeError) as error:
        log.info("surroundings.unseen", what=what, error=type(error).__name__)
        return None
