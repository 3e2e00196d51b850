"""What waits to be journalled, what happens in one space in frame order (I1), and bounded.

What no longer fits is counted, and a gap marker takes its place, so that the span is fetched again once the journal can
take it.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
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

LANES: Final = 4
"""Writers side by side: PostgreSQL needs about twice as long for an event as this process does, and the more groups are
on their way, the less often either waits for the other."""

MOST_APART_S: Final = 20.0
"""Seconds by which one lane may be ahead of another: after a crash, what came a minute before the newest message that
was committed is taken for committed (memory.gaps)."""

PACE_S: Final = 0.05
"""A lane that is ahead looks at least this often whether the others have followed, in seconds."""

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
    # When it came, by this process's clock, in seconds.
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class Meeting:
    """Stands in all lanes where the writers wait for each other: what came before is committed, in all of them, before
    anything that comes after is taken. One of them does what there is to do, and then it is `over`."""

    all_here: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(LANES), kw_only=True)
    over: asyncio.Event = field(default_factory=asyncio.Event, kw_only=True)


@dataclass(slots=True, eq=False)
class Gap(Meeting):
    """A meeting where events were lost, or where a session begins that may have missed some: it is recorded there."""

    reason: GapReason
    since: datetime | None
    dropped: int = 0
    # The first message that was dropped in each place: one that was silent so far has no cursor to be fetched from.
    firsts: dict[tuple[SpaceId, PlaceId], MessageId] = field(default_factory=dict[Any, Any])
    noticed_at: float = field(default_factory=time.monotonic)
    # What is dropped from now on needs a marker of its own: this one is being written down.
    is_written: bool = False

    def drop(self, event: Incoming) -> None:
        """Count an event that is lost for now."""
        self.dropped += 1
        if event.kind != "MESSAGE_CREATE" or event.place_id is None or event.message_id is None:
            return
        where = (event.space_id, event.place_id)
        if where in self.firsts or len(self.firsts) < MOST_PLACES:
            self.firsts[where] = min(event.message_id, self.firsts.get(where, event.message_id))


class Lane:
    """What waits for one of the writers. `arrived` is set when something came; `is_idle`: nothing waits here or is
    being written. `on_change` is told how many events came (or, below zero, went)."""

    def __init__(self, on_change: Callable[[int], None]) -> None:
        self._on_change = on_change
        self._items: deque[Queued | Meeting] = deque()
        self._taken: deque[Queued] = deque()
        self.is_idle = True
        self.arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def meeting(self) -> Meeting | None:
        """The meeting that stands at the head, if one does. It stays there until `leave`."""
        head = self._items[0] if self._items else None
        return head if isinstance(head, Meeting) else None

    @property
    def last(self) -> Queued | Meeting | None:
        """What came last and still waits."""
        return self._items[-1] if self._items else None

    @property
    def behind(self) -> float | None:
        """When the oldest event came that is not acknowledged; None where there is none before the next meeting."""
        self._forget_acknowledged()
        oldest = self._taken[0] if self._taken else self._items[0] if self._items else None
        return oldest.at if isinstance(oldest, Queued) else None

    def put(self, item: Queued | Meeting) -> None:
        """Put something last."""
        self._items.append(item)
        self.is_idle = False
        self.arrived.set()

    def leave(self) -> None:
        """The meeting at the head is over."""
        self._items.popleft()

    def put_back(self) -> None:
        """What was taken and not acknowledged goes first again."""
        items = [item for item in self._taken if not item.future.done()]
        self._items.extendleft(reversed(items))
        self._taken.clear()
        self._on_change(len(items))

    def take(self, most: int) -> list[Queued]:
        """What goes into the next transaction: at most so many, up to the next meeting."""
        group: list[Queued] = []
        while self._items and len(group) < most:
            item = self._items[0]
            if isinstance(item, Meeting):
                break
            group.append(item)
            self._items.popleft()
        self._forget_acknowledged()
        self._taken += group
        self._on_change(-len(group))
        return group

    def rest(self) -> None:
        """Nothing waits, and all that was taken is acknowledged."""
        self._taken.clear()
        self.is_idle = True
        self._on_change(0)

    def _forget_acknowledged(self) -> None:
        while self._taken and self._taken[0].future.done():
            self._taken.popleft()


class Queue:
    """At most `most` events, and meetings, in lanes.

    What happens in one space keeps its order, in one lane; a meeting stands in all of them. `idle` is set while nothing
    waits or is being written, `has_room` while it is at most half full.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = 0
        self.lanes: Final = tuple(Lane(self._changed) for _ in range(LANES))
        self._changes = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self.has_room = asyncio.Event()
        self.has_room.set()

    def add(self, event: Incoming, *, malformed: str | None = None, doubtful: bool = True) -> asyncio.Future[Ack]:
        """Put an event last. Its future fails with EventDropped where there is no room."""
        future: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        if self._waiting >= self._most:
            last = self._lane_of(event.space_id).last
            if not (isinstance(last, Gap) and last.reason == "overflow" and not last.is_written):
                log.error("ingress.overflow", queued=self._waiting)
                last = Gap("overflow", datetime.now(UTC))
                self.meet_at(last)
            last.drop(event)
            fail(future)
            return future
        self.put(Queued(event, future, malformed, doubtful))
        return future

    def put(self, item: Queued) -> None:
        """Put an event last, whether there is room or not."""
        self._lane_of(item.event.space_id).put(item)
        self.idle.clear()
        self._waiting += 1
        if self._waiting > self._most // 2:
            self.has_room.clear()

    def meet_at(self, meeting: Meeting) -> None:
        """Put a meeting after all that came so far, and before all that comes."""
        for lane in self.lanes:
            lane.put(meeting)
        self.idle.clear()

    async def keep_pace(self, lane: Lane, at: float) -> None:
        """Wait while another lane is so far behind what came `at` that time that it would be taken for committed."""
        while any(
            other.behind is not None and other.behind < at - MOST_APART_S for other in self.lanes if other is not lane
        ):
            self._changes.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PACE_S):
                    await self._changes.wait()

    def _changed(self, by: int) -> None:
        """Tell the metrics how much waits, and those who wait for room, or for the end."""
        self._waiting += by
        self._changes.set()
        QUEUE_DEPTH.set(self._waiting)
        if self._waiting <= self._most // 2:
            self.has_room.set()
        if all(lane.is_idle for lane in self.lanes):
            self.idle.set()

    def _lane_of(self, space_id: SpaceId) -> Lane:
        # A snowflake's lowest bits seldom differ, and its time, in milliseconds, does.
        return self.lanes[(space_id ^ space_id >> 22) % LANES]


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
