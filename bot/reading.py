"""Discord read for a turn: what its requester and the bot can both see now, and nothing of another space (I5, I6).

Whoever sees a place is decided anew for each call. A place that is not there, is hidden from the requester or from us,
or is of another space gets one and the same answer, so that a refusal tells nothing about what is hidden.
"""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import structlog
from discord.http import Route

from bot.addressing import Identity
from bot.errors import ReadFailed, ReadRefused
from bot.events import author_kind
from bot.facts import CATEGORY, FORUM_KINDS, TEXT, VOICE_KINDS, Facts, PlaceFacts, place_facts
from bot.payloads import listed, moment, snowflake
from bot.rest import Reads, parsed
from bot.speech.forms import form_of, undressed
from memory.database import is_passing
from memory.ids import MessageId, PlaceId, UserId, snowflake_time
from memory.scope import Scope
from tools.errors import Refused
from tools.ports import MessagePage, ReadChannel, ReadMember, ReadMessage, ReadThread

log = structlog.get_logger(__name__)

Json: TypeAlias = Mapping[str, Any]
Silent: TypeAlias = Callable[[Sequence[UserId]], Awaitable[frozenset[UserId]]]
"""Gives who of these chose that no model reads what they write."""

MOST_THREADS: Final = 100
MOST_PRIVATE: Final = 20
"""Private threads that are looked at for one list, the newest: each takes a request."""

FORWARD: Final = 1
"""Discord's type of a reference that is a forward; another one is a reply."""

KINDS: Final[Mapping[int, str]] = {
    0: "text",
    2: "voice",
    5: "announcements",
    13: "stage",
    14: "directory",
    15: "forum",
    16: "media",
}

_NO_ACCESS: Final = "There is no such channel here that both the member and you can see and read."
_NOT_FOUND: Final = "There is no such message there. It may have been deleted."
_FOR_ADULTS: Final = "That channel is age-restricted: what stands in it is not shown where anybody reads."
_NOT_HERE: Final = "This is a direct conversation: there are no channels, threads or members."
_UNAVAILABLE: Final = "Discord could not be asked just now, so nothing is known of it. Say so."


class TurnReads:
    """A tools.ports.DiscordReads for the turn of `requester_id` in `scope`."""

    def __init__(self, reads: Reads, silent: Silent, scope: Scope, requester_id: UserId, me: Identity) -> None:
        self._silent = silent
        self._reads = reads
        self._scope = scope
        self._requester_id = requester_id
        self._me = me

    async def read_messages(
        self,
        *,
        place_id: PlaceId | None,
        limit: int,
        before: MessageId | None = None,
        after: MessageId | None = None,
    ) -> MessagePage:
        """As the port says. Raises Refused: no_access, age_restricted, no_messages, discord_unavailable."""
        async with _told():
            place = await self._quotable(self._facts(), place_id)
            if place.kind in FORUM_KINDS or place.kind == CATEGORY:
                raise Refused("no_messages", "That channel holds no messages of its own. List its threads instead.")
            params = {"limit": str(min(limit + 1, 100))}
            params |= {"before": str(before)} if before is not None else {}
            params |= {"after": str(after)} if after is not None else {}
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=place.place_id)
            answer = await self._reads.get(route, params=params)
            found = parsed(lambda page: [self._message(each, place) for each in _array(page)], answer)
            found.sort(key=lambda message: message.message_id)
            shown = await self._readers_only(found[:limit] if after is not None else found[-limit:])
            return MessagePage(place.place_id, tuple(shown), len(found) > limit)

    async def get_message(self, message_id: MessageId, *, place_id: PlaceId | None) -> ReadMessage:
        """As the port says. Raises Refused: no_access, age_restricted, not_found, discord_unavailable."""
        async with _told():
            place = await self._quotable(self._facts(), place_id)
            path = "/channels/{channel_id}/messages/{message_id}"
            answer = await self._reads.get(Route("GET", path, channel_id=place.place_id, message_id=message_id))
            found = await self._readers_only([parsed(lambda data: self._message(data, place), answer)])
            if not found:
                raise Refused("not_found", _NOT_FOUND)
            return found[0]

    async def _readers_only(self, messages: Sequence[ReadMessage]) -> Sequence[ReadMessage]:
        """Those whose authors did not choose that no model reads them. Raises ReadFailed where that is not known."""
        try:
            silent = await self._silent([message.author_id for message in messages])
        except Exception as fault:
            if not is_passing(fault):
                raise
            raise ReadFailed("choices") from fault
        return [message for message in messages if message.author_id not in silent]

    async def list_channels(self) -> Sequence[ReadChannel]:
        """As the port says. Raises Refused: not_here, no_access, discord_unavailable."""
        async with _told():
            facts = self._facts()
            await self._in_guild(facts)
            everything = await facts.channels()
            of = {place.place_id: place for place in everything}
            shown: list[ReadChannel] = []
            for place in sorted(everything, key=lambda place: _standing(place, of)):
                if place.kind != CATEGORY and await self._both_see(facts, place.place_id):
                    category = of.get(place.parent_id) if place.parent_id is not None else None
                    kind = KINDS.get(place.kind, "other")
                    shown.append(
                        ReadChannel(place.place_id, place.name, kind, category.name if category else None, place.topic)
                    )
            return shown

    async def list_threads(self, *, place_id: PlaceId | None, archived: bool) -> Sequence[ReadThread]:
        """As the port says.

        Raises Refused: not_here, no_access, discord_unavailable.
        """
        async with _told():
            facts = self._facts()
            here = await self._in_guild(facts)
            place = here if place_id is None else await self._readable(facts, place_id)
            channel = await self._readable(facts, place.parent_id) if place.is_thread else place
            found = await (self._archived(facts, channel) if archived else self._active())
            threads = [each for each in found if each.is_thread and each.parent_id == channel.place_id]
            threads.sort(key=lambda each: each.place_id, reverse=True)
            private = [each for each in threads if each.is_private][:MOST_PRIVATE]
            shown: list[ReadThread] = []
            for thread in threads[:MOST_THREADS]:
                facts.note(thread)
                # Discord lists what the bot sees. Of a private one it has to be asked whether the requester is in it.
                asked = not thread.is_private or thread in private
                if asked and (await facts.permissions(self._requester_id, thread.place_id)).view_channel:
                    shown.append(_thread(thread, channel.place_id))
            return shown

    async def get_member(self, user_id: UserId | None) -> ReadMember:
        """As the port says. Raises Refused: not_here, no_access, not_found, discord_unavailable."""
        async with _told():
            facts = self._facts()
            await self._in_guild(facts)
            found = await facts.member(user_id or self._requester_id)
            if found is None:
                raise Refused("not_found", "There is no such member of this server.")
            return ReadMember(
                found.user_id,
                found.name,
                found.display_name,
                found.nick,
                tuple(role.name for role in found.roles),
                found.joined_at,
                found.is_bot,
                found.is_owner,
            )

    def _facts(self) -> Facts:
        """Facts of their own for each call: what was so a step ago need not be so now."""
        return Facts(self._reads, self._scope.space_id, self._me.user_id)

    async def _readable(self, facts: Facts, place_id: PlaceId | None) -> PlaceFacts:
        """The place, if requester and bot both see it and its history. Raises Refused: no_access."""
        asked = self._scope.place_id if place_id is None else place_id
        place = await facts.place(asked)
        for who in (self._requester_id, UserId(self._me.user_id)):
            if place is None or not await facts.can_read(who, asked):
                raise Refused("no_access", _NO_ACCESS)
        assert place is not None  # noqa: S101 - the loop has two rounds
        return place

    async def _quotable(self, facts: Facts, place_id: PlaceId | None) -> PlaceFacts:
        """A readable place whose messages may stand where the turn is. Raises Refused: no_access, age_restricted."""
        place = await self._readable(facts, place_id)
        here = self._scope.place_id
        if place.place_id != here and await self._for_adults(facts, place):
            around = await facts.place(here)
            if around is None or not await self._for_adults(facts, around):
                raise Refused("age_restricted", _FOR_ADULTS)
        return place

    async def _for_adults(self, facts: Facts, place: PlaceFacts) -> bool:
        """Whether the place, or the channel of the thread, is age-restricted."""
        if place.is_thread and place.parent_id is not None:
            place = await facts.place(place.parent_id) or place
        return place.age_restricted

    async def _in_guild(self, facts: Facts) -> PlaceFacts:
        """The turn's place, of which the guild is. Raises Refused: not_here, no_access."""
        place = await self._readable(facts, None)
        if place.is_direct:
            raise Refused("not_here", _NOT_HERE)
        return place

    async def _both_see(self, facts: Facts, place_id: PlaceId) -> bool:
        for who in (self._requester_id, UserId(self._me.user_id)):
            if not (await facts.permissions(who, place_id)).view_channel:
                return False
        return True

    async def _active(self) -> Sequence[PlaceFacts]:
        route = Route("GET", "/guilds/{guild_id}/threads/active", guild_id=self._scope.space_id)
        return parsed(_threads, await self._reads.get(route))

    async def _archived(self, facts: Facts, channel: PlaceFacts) -> Sequence[PlaceFacts]:
        """The newest of the public ones, and of the private ones that the bot sees: all of them only if it manages."""
        paths = ["/channels/{channel_id}/threads/archived/public"]
        if channel.kind == TEXT:
            manages = (await facts.permissions(UserId(self._me.user_id), channel.place_id)).manage_threads
            whose = "" if manages else "/users/@me"
            paths.append(f"/channels/{{channel_id}}{whose}/threads/archived/private")
        found: list[PlaceFacts] = []
        for path in paths:
            route = Route("GET", path, channel_id=channel.place_id)
            found += parsed(_threads, await self._reads.get(route, params={"limit": str(MOST_THREADS)}))
        return found

    def _message(self, data: Json, place: PlaceFacts) -> ReadMessage:
        kind = author_kind(data, self._me)
        if kind == "self" or form_of(data) == "panel":
            data = undressed(data)
        author_id, author_name = _person(cast("Json", data["author"]))
        message_id = MessageId(snowflake(data["id"]))
        reference = cast("Json", data.get("message_reference") or {})
        answers = reference.get("message_id") if int(reference.get("type") or 0) != FORWARD else None
        edited = data.get("edited_timestamp")
        return ReadMessage(
            message_id,
            place.place_id,
            UserId(author_id),
            author_name,
            kind,
            str(data["content"]),
            snowflake_time(message_id),
            moment(edited) if edited is not None else None,
            MessageId(snowflake(answers)) if answers is not None else None,
            bool(data.get("pinned", False)),
            (*map(_attachment, listed(data.get("attachments"))), *map(_sticker, listed(data.get("sticker_items")))),
            tuple(filter(None, map(_embed, listed(data.get("embeds"))))),
            tuple(map(_forwarded, listed(data.get("message_snapshots")))),
            _poll(cast("Json", data["poll"])) if data.get("poll") else None,
            tuple(map(_reaction, listed(data.get("reactions")))),
            dict(map(_person, listed(data.get("mentions")))),
        )


@contextlib.asynccontextmanager
async def _told() -> AsyncGenerator[None]:
    """What Discord says or cannot say, as the model is told it."""
    try:
        yield
    except ReadRefused as refusal:
        if refusal.status == 404:
            raise Refused("not_found", _NOT_FOUND) from refusal
        raise Refused("no_access", _NO_ACCESS) from refusal
    except ReadFailed as failure:
        log.warning("discord.read_failed", cause=failure.cause)
        raise Refused("discord_unavailable", _UNAVAILABLE) from failure


def _array(answer: object) -> Sequence[Any]:
    """A page, which Discord never leaves out. Raises TypeError for anything else."""
    if not isinstance(answer, list):
        raise TypeError("a page that is no array")
    return cast("Sequence[Any]", answer)


def _standing(place: PlaceFacts, of: Mapping[PlaceId, PlaceFacts]) -> tuple[int, int, bool, int, int]:
    """Where Discord shows a channel: those without a category first, in a category those for voice last."""
    parent = of.get(place.parent_id) if place.parent_id is not None else None
    above, of_category = (-1, 0) if parent is None else (parent.position, int(parent.place_id))
    return above, of_category, place.kind in VOICE_KINDS, place.position, place.place_id


def _threads(answer: Any) -> Sequence[PlaceFacts]:
    return [place_facts(each) for each in listed(cast("Json", answer)["threads"])]


def _thread(thread: PlaceFacts, parent_id: PlaceId) -> ReadThread:
    return ReadThread(
        thread.place_id,
        parent_id,
        thread.name,
        thread.is_private,
        thread.archived,
        thread.locked,
        thread.messages,
        snowflake_time(thread.place_id),
    )


def _person(user: Json) -> tuple[int, str]:
    return snowflake(user["id"]), str(user.get("global_name") or user["username"])


def _attachment(data: Json) -> str:
    return f"{data.get('filename')} ({data.get('size')} bytes)"


def _sticker(data: Json) -> str:
    return f"sticker: {data.get('name')}"


def _embed(data: Json) -> str:
    """What an embed says: title, text and fields, without its addresses and pictures."""
    fields = [f"{each.get('name')}: {each.get('value')}" for each in listed(data.get("fields"))]
    return "\n".join(str(part) for part in (data.get("title"), data.get("description"), *fields) if part)


def _forwarded(data: Json) -> str:
    """What was forwarded: its words, else what it had instead of words. Discord does not say whose they are."""
    message = cast("Json", data.get("message") or {})
    if form_of(message) == "panel":
        message = undressed(message)
    files = [_attachment(each) for each in listed(message.get("attachments"))]
    embeds = [_embed(each) for each in listed(message.get("embeds"))]
    return "\n".join(part for part in (str(message.get("content") or ""), *embeds, *files) if part)


def _poll(data: Json) -> str:
    question = str(cast("Json", data["question"]).get("text") or "")
    answers = [str(cast("Json", each["poll_media"]).get("text") or "") for each in listed(data.get("answers"))]
    return f"{question} ({' | '.join(answers)})"


def _reaction(data: Json) -> tuple[str, int]:
    emoji = cast("Json", data["emoji"])
    name = str(emoji.get("name"))
    return (f"<:{name}:{emoji['id']}>" if emoji.get("id") else name), int(data.get("count") or 0)
