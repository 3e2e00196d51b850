"""Deleting many messages: those that were listed on the card, together where Discord allows it, and counted truly.

Discord deletes 2 to 100 at once, none older than 14 days: https://discord.com/developers/docs/resources/message
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from discord.http import Route

from bot.moderation.deeds import BULK_S, OLD_MOST
from bot.outgoing import Change
from bot.payloads import listed, snowflake
from bot.rest import Reads, parsed
from bot.standing import UNKNOWN_MESSAGE
from memory.ids import MessageId, PlaceId, time_snowflake

PAGE: Final = 100
PAGES_MOST: Final = 10
UNDELETABLE: Final = frozenset({1, 2, 3, 4, 5, 21})
"""Discord's types of notices that nobody can delete."""


@dataclass(frozen=True, slots=True)
class Found:
    """Messages that can be deleted, the newest first. `old`: how many of them go one by one."""

    ids: tuple[int, ...]
    old: int


async def find(
    reads: Reads, place_id: PlaceId, *, before: MessageId, count: int, now: datetime, author_id: int | None = None
) -> Found:
    """The last `count` messages of the place (of that author) before one, without what is pinned.

    Looks at most at PAGES_MOST pages. Raises ReadFault.
    """
    found: list[int] = []
    for _ in range(PAGES_MOST):
        page = await _page(reads, place_id, before)
        for each in page:
            author = each["author"]
            wanted = author_id is None or snowflake(author["id"]) == author_id
            if wanted and not each.get("pinned") and int(each.get("type") or 0) not in UNDELETABLE:
                found.append(snowflake(each["id"]))
        if len(found) >= count or len(page) < PAGE:
            break
        before = MessageId(snowflake(page[-1]["id"]))
    kept = found[:count]
    young, old = split(kept, now)
    return Found((*young, *old[:OLD_MOST]), min(len(old), OLD_MOST))


async def standing(reads: Reads, place_id: PlaceId, ids: Iterable[int]) -> frozenset[int]:
    """Which of these messages are there now. Raises ReadFault."""
    wanted, seen = set(ids), set[int]()
    if not wanted:
        return frozenset()
    before = MessageId(max(wanted) + 1)
    for _ in range(PAGES_MOST):
        page = [snowflake(each["id"]) for each in await _page(reads, place_id, before)]
        seen |= wanted & set(page)
        if len(page) < PAGE or page[-1] <= min(wanted):
            break
        before = MessageId(page[-1])
    return frozenset(seen)


async def _page(reads: Reads, place_id: PlaceId, before: MessageId) -> list[Any]:
    route = Route("GET", "/channels/{channel_id}/messages", channel_id=place_id)
    body = await reads.get(route, params={"limit": str(PAGE), "before": str(before)})
    return parsed(lambda data: sorted(listed(data), key=lambda each: -snowflake(each["id"])), body)


def split(ids: Sequence[int], now: datetime) -> tuple[list[int], list[int]]:
    """Those that Discord deletes together, and those that are too old for it. `now` is best taken from Discord."""
    edge = time_snowflake(now - timedelta(seconds=BULK_S))
    return [each for each in ids if each > edge], [each for each in ids if each <= edge]


def changes(
    place_id: PlaceId, ids: Sequence[int], now: datetime, *, reason: str
) -> list[tuple[Change, tuple[int, ...]]]:
    """The requests that delete them, each with what it deletes."""
    young, old = split(ids, now)
    batches = [young[start : start + PAGE] for start in range(0, len(young), PAGE)]
    singles = [batch for batch in batches if len(batch) == 1] + [[each] for each in old]
    made: list[tuple[Change, tuple[int, ...]]] = []
    for batch in batches:
        if len(batch) > 1:
            body = {"messages": [str(each) for each in batch]}
            path = "/channels/{channel_id}/messages/bulk-delete"
            made.append((Change("POST", path, {"channel_id": place_id}, place_id, body, reason), tuple(batch)))
    for single in singles:
        path = "/channels/{channel_id}/messages/{message_id}"
        at = {"channel_id": place_id, "message_id": single[0]}
        change = Change("DELETE", path, at, place_id, reason=reason, done=frozenset({UNKNOWN_MESSAGE}))
        made.append((change, tuple(single)))
    return made
