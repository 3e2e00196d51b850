"""What stands in Discord now: how it is found out whether a write of ours was done, when nobody could record it (I4).

Reads only, each once. All raise WriteRefused where Discord says no and WriteInDoubt where nobody can say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from discord.http import Route

from bot.drafting import custom_ids
from bot.errors import WriteInDoubt, WriteRefused
from bot.rest import Rest
from bot.speech.forms import said_in
from memory.ids import MessageId, PlaceId, SpaceId

HISTORY_PAGE: Final = 100
"""Discord's limit for one page of history."""

HISTORY_PAGES: Final = 50
UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_MEMBER: Final = 10007
UNKNOWN_MESSAGE: Final = 10008


class Claimed(Protocol):
    async def __call__(self, messages: list[int], /) -> frozenset[int]:
        """Which of these messages (or threads) of ours other receipts account for."""
        ...


@dataclass(frozen=True, slots=True)
class Sought:
    """A message of ours to look for. `since`: what it can only have been sent after. `button`: the custom_id of a
    button that it has, by which it is known whatever it says."""

    place_id: PlaceId
    content: str
    since: MessageId
    reply_to: MessageId | None = None
    button: str | None = None


class Standing:
    """Looks. `own_id`: the bot's user."""

    def __init__(self, rest: Rest, own_id: int) -> None:
        self._rest = rest
        self._own_id = own_id

    async def message(self, place_id: PlaceId, message_id: MessageId) -> Mapping[str, Any] | None:
        """The message as Discord has it; None where there is none (any more)."""
        route = Route("GET", "/channels/{channel_id}/messages/{message_id}", channel_id=place_id, message_id=message_id)
        try:
            return as_message(await self._rest.request(route))
        except WriteRefused as refusal:
            if refusal.code == UNKNOWN_MESSAGE:
                return None
            raise

    async def reacted(self, place_id: PlaceId, message_id: MessageId, emoji: str) -> bool | None:
        """Whether our reaction is on the message; None where there is no such message."""
        message = await self.message(place_id, message_id)
        if message is None:
            return None
        for each in cast("list[Mapping[str, Any]]", message.get("reactions") or []):
            shown = cast("Mapping[str, Any]", each["emoji"])
            if each.get("me") and emoji in (shown.get("name"), f"{shown.get('name')}:{shown.get('id')}"):
                return True
        return False

    async def find(self, sought: Sought, claimed: Claimed) -> Mapping[str, Any] | None:
        """Our own message with these words in this place since then, that no other receipt accounts for."""
        after = sought.since
        for _ in range(HISTORY_PAGES):
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=sought.place_id)
            answer = await self._rest.request(route, params={"limit": str(HISTORY_PAGE), "after": str(after)})
            page = sorted(as_messages(answer), key=lambda message: int(message["id"]))
            ours = [m for m in page if int(m["author"]["id"]) == self._own_id and _reads(m, sought)]
            taken = await claimed([int(m["id"]) for m in ours]) if ours else frozenset[int]()
            for message in ours:
                if int(message["id"]) not in taken:
                    return message
            if len(page) < HISTORY_PAGE:
                return None
            after = MessageId(int(page[-1]["id"]))
        raise WriteInDoubt("long_history")

    async def place(self, place_id: PlaceId) -> Mapping[str, Any] | None:
        """The channel or thread as Discord has it; None where there is none."""
        try:
            return as_object(await self._rest.request(Route("GET", "/channels/{channel_id}", channel_id=place_id)))
        except WriteRefused as refusal:
            if refusal.code == UNKNOWN_CHANNEL:
                return None
            raise

    async def has_role(self, space_id: SpaceId, user_id: int, role_id: int) -> bool | None:
        """Whether the member has the role; None where they are no member."""
        route = Route("GET", "/guilds/{guild_id}/members/{user_id}", guild_id=space_id, user_id=user_id)
        try:
            member = as_object(await self._rest.request(route))
        except WriteRefused as refusal:
            if refusal.code == UNKNOWN_MEMBER:
                return None
            raise
        return str(role_id) in cast("list[object]", member.get("roles") or [])

    async def thread_from(self, message_id: MessageId) -> PlaceId | None:
        """The thread of ours that starts from this message: Discord gives it the message's own id."""
        thread = await self.place(PlaceId(message_id))
        return PlaceId(message_id) if thread is not None and self._is_ours(thread) else None

    async def thread_named(
        self, space_id: SpaceId, parent_id: PlaceId, name: str, since: MessageId, claimed: Claimed
    ) -> PlaceId | None:
        """A thread of ours in this channel with this name, made since then, that no other receipt accounts for."""
        answer = as_object(
            await self._rest.request(Route("GET", "/guilds/{guild_id}/threads/active", guild_id=space_id))
        )
        threads = sorted(cast("list[Mapping[str, Any]]", answer.get("threads") or []), key=lambda t: int(t["id"]))
        found = [
            int(thread["id"])
            for thread in threads
            if self._is_ours(thread)
            and int(thread["parent_id"]) == parent_id
            and thread.get("name") == name
            and int(thread["id"]) > since
        ]
        taken = await claimed(found) if found else frozenset[int]()
        return next((PlaceId(each) for each in found if each not in taken), None)

    def _is_ours(self, thread: Mapping[str, Any]) -> bool:
        return str(thread.get("owner_id")) == str(self._own_id)


def as_object(answer: object) -> Mapping[str, Any]:
    """The object that Discord answered, with its id. Raises WriteInDoubt for anything else."""
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer)
    raise WriteInDoubt("bad_answer")


def as_message(answer: object) -> Mapping[str, Any]:
    """The message that Discord answered. Raises WriteInDoubt for anything else."""
    message = as_object(answer)
    if str(message.get("id", "")).isdecimal() and isinstance(message.get("author"), Mapping):
        return message
    raise WriteInDoubt("bad_answer")


def as_messages(answer: object) -> list[Mapping[str, Any]]:
    """The messages that Discord answered. Raises WriteInDoubt for anything else."""
    if not isinstance(answer, list):
        raise WriteInDoubt("bad_answer")
    return [as_message(each) for each in cast("list[object]", answer)]


def _reads(message: Mapping[str, Any], sought: Sought) -> bool:
    """Whether the message can be the one: its words, and in reply to no other message than that one."""
    if sought.button is not None:
        return sought.button in custom_ids(message)
    reference = cast("Mapping[str, Any]", message.get("message_reference") or {})
    return said_in(message) == sought.content and reference.get("message_id") in (
        None,
        str(sought.reply_to) if sought.reply_to is not None else None,
    )
