"""What waits to be journalled, in frame order (I1), and bounded.

What no longer fits is counted, and a gap marker takes its place, so that the span is fetched again once the journal can
take it.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from bot.errors import EventDropped
from bot.metrics import EVENTS, QUEUE_DEPTH
from memory.gaps import GapReason
from memory.ids import MessageId, PlaceId, SpaceId
from memory.incoming import Ack, Incoming

log = structlog.get_logger(__name__)

MOST_PLACES: Final = 10_000
"""Places of which a gap remembers what was dropped."""


@dataclass(slots=True, eq=False)
class Queued:
    """An event, and who waits for its acknowledgement."""

    event: Incoming
    future: asyncio.Future[Ack]
    # Why it is to be parked instead of journalled.
    malformed: str | None = None
    # Whether it may well have been committed before, so that asking Redis is worth its while.
    doubtful: bool = True


@dataclass(slots=True, eq=False)
class Gap:
    """Stands in the queue where events were lost, or where a session began that may have missed some."""

    reason: GapReason
    since: datetime | None
    dropped: int = 0
    # The first message that was dropped in each place: one that was silent so far has no cursor to be fetched from.
    firsts: dict[tuple[SpaceId, PlaceId], MessageId] = field(default_factory=dict[Any, Any])

    def drop(self, event: Incoming) -> None:
        """Count an event that is lost for now."""
        self.dropped += 1
        if event.kind != "MESSAGE_CREATE" or event.place_id is None or event.message_id is None:
            return
        where = (event.space_id, event.place_id)
        if where in self.firsts or len(self.firsts) < MOST_PLACES:
            self.firsts[where] = min(event.message_id, self.firsts.get(where, event.message_id))


class Queue:
    """Events and gap markers in their order, at most `most` of them.

    `arrived` is set when something came, `idle` while nothing waits or is being written, `has_room` while it is at most
    half full.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: deque[Queued | Gap] = deque()
        self.arrived = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self.has_room = asyncio.Event()
        self.has_room.set()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def gap(self) -> Gap | None:
        """The gap marker that stands at the head, if one does. It stays there until `close_gap`."""
        head = self._items[0] if self._items else None
        return head if isinstance(head, Gap) else None

    def close_gap(self) -> None:
        """The marker at the head is on record."""
        self._items.popleft()

    def add(self, event: Incoming, *, malformed: str | None = None, doubtful: bool = True) -> asyncio.Future[Ack]:
        """Put an event last. Its future fails with EventDropped where there is no room."""
        future: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        last = self._items[-1] if self._items else None
        if len(self._items) >= self._most:
            if not (isinstance(last, Gap) and last.reason == "overflow"):
                log.error("ingress.overflow", queued=len(self._items))
                last = Gap("overflow", datetime.now(UTC))
                self.put(last)
            last.drop(event)
            fail(future)
            return future
        self.put(Queued(event, future, malformed, doubtful))
        return future

    def put(self, item: Queued | Gap) -> None:
        """Put something last, whether there is room or not."""
        self._items.append(item)
        if len(self._items) > self._most // 2:
            self.has_room.clear()
        self.idle.clear()
        self.arrived.set()

    def put_back(self, items: Sequence[Queued]) -> None:
        """What was taken and not acknowledged goes first again."""
        self._items.extendleft(reversed(items))

    def take(self, most: int) -> list[Queued]:
        """What goes into the next transaction: at most so many, up to the next gap marker."""
        group: list[Queued] = []
        while self._items and len(group) < most:
            item = self._items[0]
            if isinstance(item, Gap):
                break
            group.append(item)
            self._items.popleft()
        return group

    def report_depth(self) -> None:
        """Tell the metrics how much waits, and those who wait for room."""
        QUEUE_DEPTH.set(len(self._items))
        if len(self._items) <= self._most // 2:
            self.has_room.set()


def resolve(items: Sequence[Queued], ack: Ack) -> None:
    """Acknowledge these."""
    for item in items:
        if not item.future.done():
            item.future.set_result(ack)
    EVENTS.labels(ack).inc(len(items))


def fail(future: asyncio.Future[Ack]) -> None:
    """The event is lost for now."""
    EVENTS.labels("dropped").inc()
    if not future.done():
        future.set_exception(EventDropped())
        # Most callers need no answer; a failure that nobody looks at is no error of the program.
        future.exception()
