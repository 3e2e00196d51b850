"""Ingress: every dispatch is put here in frame order, and is acknowledged when it is committed (I1).

One writer takes what is waiting, at most a group at a time, and journals it in one transaction; what arrives meanwhile
goes next, without a timer. While PostgreSQL is away the queue is bounded: what no longer fits is counted, and a gap
marker takes its place, so that the span is fetched again once the journal can take it.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, cast

import structlog

from bot.addressing import Identity, own_role
from bot.crash import crash_point
from bot.echoes import Echoes
from bot.errors import EventDropped, MalformedDispatch
from bot.events import Dispatch, read
from bot.metrics import (
    COMMIT_SECONDS,
    DATABASE_UP,
    EVENTS,
    GROUP_SIZE,
    QUEUE_DEPTH,
)
from bot.outages import Outages
from bot.parking import as_parked, parked_key
from bot.payloads import clean
from bot.seen import Seen
from memory.database import BORROW_S, Borrowed, Pool, is_passing
from memory.gaps import Behind, GapReason, add_cursors, open_gap
from memory.ids import MessageId, PlaceId, SpaceId, TurnId
from memory.incoming import Ack, Incoming
from memory.journal import Group, Written, lay_out, park, write_group, write_plain

log = structlog.get_logger(__name__)

RETRY_FIRST_S: Final = 0.1
RETRY_MOST_S: Final = 5.0
COMMIT_DEADLINE_S: Final = 30.0
GIVE_BACK_S: Final = 5.0
RESTLESS_S: Final = 10.0
"""Seconds after the beginning of a session in which what comes may well have come before."""

MOST_PLACES: Final = 10_000
"""Places of which a gap remembers what was dropped."""


@dataclass(slots=True, eq=False)
class _Queued:
    event: Incoming
    future: asyncio.Future[Ack]
    # Why it is to be parked instead of journalled.
    malformed: str | None = None
    # Whether it may well have been committed before, so that asking Redis is worth its while.
    doubtful: bool = True


@dataclass(frozen=True, slots=True)
class _Batch:
    """What goes into one transaction, and what is parked after it."""

    items: list[_Queued]
    group: Group | None
    malformed: list[_Queued]


@dataclass(slots=True, eq=False)
class _Gap:
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


class Ingress:
    """Takes dispatches synchronously and journals them in groups. One a process; `run` is its writer.

    The callbacks run on the loop right after a commit: `on_inbox` when the inbox grew, `on_gap` when a gap row was
    opened, `on_cancel` with the running turns whose trigger went.
    """

    def __init__(
        self,
        pool: Pool,
        seen: Seen,
        me: Identity,
        *,
        shard: tuple[int, int],
        most_queued: int,
        most_grouped: int,
        on_inbox: Callable[[], None],
        on_gap: Callable[[], None],
        on_cancel: Callable[[Sequence[TurnId]], None],
    ) -> None:
        self._pool = pool
        self._seen = seen
        self._me = me
        self._shard = shard
        self._most_queued = most_queued
        self._most_grouped = most_grouped
        self._on_inbox = on_inbox
        self._on_gap = on_gap
        self._on_cancel = on_cancel
        self._queue: deque[_Queued | _Gap] = deque()
        self._arrived = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._sessions = 0
        self._outages = Outages()
        self._conn: Borrowed | None = None
        # Committed, and not acknowledged yet.
        self._committed: list[tuple[list[_Queued], Written]] = []
        self._noting: asyncio.Task[None] | None = None
        self._echoes = Echoes()
        self._sequences: dict[str, int] = {}
        self._settled_at = 0.0

    def accept(self, dispatch: Dispatch) -> asyncio.Future[Ack] | None:
        """Take a dispatch. Never blocks and never raises.

        Gives a future that resolves after the COMMIT; nothing else is an acknowledgement. It fails with EventDropped
        when the queue is full. None: a kind that is not journalled. A bulk delete gives the future of its last row.
        """
        if dispatch.kind == "READY":
            self._sessions += 1
            self._put(_Gap("start" if self._sessions == 1 else "identify", None))
        elif dispatch.kind == "GUILD_CREATE":
            self._note_own_role(dispatch.data)
        since = self._outages.note(dispatch.kind, dispatch.data)
        if since is not None:
            # As after a new session: what the guild's members did meanwhile was sent to nobody.
            self._put(_Gap("identify", since))
        try:
            events = read(dispatch, self._me)
        except MalformedDispatch as error:
            log.warning("ingress.malformed", kind=dispatch.kind, error=str(error))
            return self._enqueue(as_parked(dispatch), malformed=str(error))
        future: asyncio.Future[Ack] | None = None
        doubtful = self._is_doubtful(dispatch)
        for event in events:
            if (original := self._echoes.original(event)) is not None:
                future = self._follow(event, original)
                continue
            future = self._enqueue(event, doubtful=doubtful)
            if event.source == "action":
                self._echoes.note(event, future)
        return future

    def _follow(self, event: Incoming, original: asyncio.Future[Ack]) -> asyncio.Future[Ack]:
        """An echo is a duplicate as soon as the original is committed; where that is lost, it goes the way of all."""
        item = _Queued(event, asyncio.get_running_loop().create_future())

        def settle(ended: asyncio.Future[Ack]) -> None:
            if ended.cancelled() or ended.exception() is not None or ended.result() == "parked":
                self._put(item)
            else:
                _resolve([item], "duplicate")

        if original.done():
            settle(original)
        else:
            original.add_done_callback(settle)
        return item.future

    def _note_own_role(self, data: object) -> None:
        """Who mentions the role that Discord made for the bot mentions the bot."""
        try:
            guild = cast("Mapping[str, Any]", data)
            role_id = own_role(guild, self._me.user_id)
            if role_id is not None:
                self._me.own_roles[int(guild["id"])] = role_id
        except (KeyError, TypeError, ValueError, AttributeError):
            # What is malformed is parked as the event that it is.
            return

    def _is_doubtful(self, dispatch: Dispatch) -> bool:
        """Whether this may be a repetition: fetched, sent anew, or soon after a session began. Not what we just said.

        In the middle of a session nearly nothing is, and to ask costs every event more than a repetition would; what is
        repeated all the same, PostgreSQL's keys find (I2).
        """
        if dispatch.kind in ("READY", "RESUMED"):
            self._settled_at = time.monotonic() + RESTLESS_S
        again = dispatch.sequence <= self._sequences.get(dispatch.session, 0)
        if not again:
            self._sequences = {dispatch.session: dispatch.sequence}
        if dispatch.source == "action":
            return False
        return again or dispatch.source != "gateway" or time.monotonic() < self._settled_at

    async def offer(self, dispatch: Dispatch) -> "asyncio.Future[Ack] | None":
        """As `accept`, for those who can wait: a backfill fills half of the queue, the rest is the gateway's."""
        await self._has_room.wait()
        return self.accept(dispatch)

    async def drain(self, *, within_s: float) -> bool:
        """Wait until everything accepted is committed; False if it took too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        return self._idle.is_set()

    async def run(self) -> None:
        """Journal what arrives, for ever. Cancel it to stop; what is then still queued was never acknowledged."""
        try:
            while True:
                # A fault may have ended an earlier run with events still queued.
                if not self._queue:
                    self._idle.set()
                    await self._arrived.wait()
                self._arrived.clear()
                await self._empty_queue()
        finally:
            if self._noting is not None:
                self._noting.cancel()

    async def _empty_queue(self) -> None:
        """Journal all that waits.

        What arrives during a commit goes next, together. Where that is a whole group already, it is looked up and laid
        out beside the commit, so that PostgreSQL and this process do not wait for each other; for the same reason those
        who wait for an acknowledgement get it when the next group is on its way.
        """
        ahead: asyncio.Task[_Batch | None] | None = None
        in_hand: list[_Queued] = []
        try:
            while self._queue or ahead is not None:
                batch = None if ahead is None else await ahead
                ahead = None
                if batch is None:
                    self._settle_committed()
                    if not self._queue:
                        continue
                    if isinstance(self._queue[0], _Gap):
                        await self._open_gap(self._queue[0])
                        continue
                    batch = await self._next_batch(in_hand)
                self._report_depth()
                asyncio.get_running_loop().call_soon(self._settle_committed)
                ahead = asyncio.create_task(self._batch_ahead(in_hand), name="lay-out")
                await self._write(batch)
                in_hand[:] = [item for item in in_hand if not item.future.done()]
        finally:
            if ahead is not None:
                ahead.cancel()
                await asyncio.wait([ahead])
            self._settle_committed()
            # Where a fault ended this, what was taken and not acknowledged goes first when it is started again.
            self._queue.extendleft(reversed([item for item in in_hand if not item.future.done()]))
            await self._give_back()

    async def _batch_ahead(self, in_hand: list[_Queued]) -> "_Batch | None":
        """The batch after the one that is being written, if there is a whole group for it by now."""
        if len(self._queue) < self._most_grouped or isinstance(self._queue[0], _Gap):
            return None
        return await self._next_batch(in_hand)

    async def _next_batch(self, in_hand: list[_Queued]) -> "_Batch":
        """Take what goes into the next transaction, and make it ready. What is taken is noted in `in_hand`."""
        taken = self._take()
        in_hand += taken
        return await self._unknown(taken)

    def _report_depth(self) -> None:
        QUEUE_DEPTH.set(len(self._queue))
        if len(self._queue) <= self._most_queued // 2:
            self._has_room.set()

    def _enqueue(self, event: Incoming, *, malformed: str | None = None, doubtful: bool = True) -> asyncio.Future[Ack]:
        future: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        last = self._queue[-1] if self._queue else None
        if len(self._queue) >= self._most_queued:
            if not (isinstance(last, _Gap) and last.reason == "overflow"):
                log.error("ingress.overflow", queued=len(self._queue))
                last = _Gap("overflow", datetime.now(UTC))
                self._put(last)
            last.drop(event)
            _fail(future)
            return future
        self._put(_Queued(event, future, malformed, doubtful))
        return future

    def _put(self, item: _Queued | _Gap) -> None:
        self._queue.append(item)
        if len(self._queue) > self._most_queued // 2:
            self._has_room.clear()
        self._idle.clear()
        self._arrived.set()

    def _take(self) -> list[_Queued]:
        """What goes into the next transaction: a group up to the next gap marker."""
        group: list[_Queued] = []
        while self._queue and len(group) < self._most_grouped:
            item = self._queue[0]
            if isinstance(item, _Gap):
                break
            group.append(item)
            self._queue.popleft()
        return group

    async def _open_gap(self, gap: _Gap) -> None:
        """Record the gap and freeze the cursors, before anything that came after it is committed."""

        async def write(conn: Borrowed) -> None:
            async with conn.transaction():
                await open_gap(conn, shard=self._shard, reason=gap.reason, since=gap.since, dropped=gap.dropped)
                if gap.firsts:
                    await add_cursors(conn, [Behind(*where, MessageId(m - 1)) for where, m in gap.firsts.items()])

        # It stays at the head meanwhile, so that events that do not fit are counted in it.
        await self._until_done(write)
        crash_point("after_gap")
        self._queue.popleft()
        log.info("gateway.gap", reason=gap.reason, dropped=gap.dropped)
        self._on_gap()

    async def _unknown(self, taken: list[_Queued]) -> "_Batch":
        """What of these Redis does not know as committed, laid out for its transaction."""
        waiting = [item for item in taken if item.malformed is None]
        doubtful = [item for item in waiting if item.doubtful]
        known = await self._seen.known([_seen_key(item.event) for item in doubtful]) if doubtful else frozenset[str]()
        if known:
            _resolve([item for item in waiting if _seen_key(item.event) in known], "duplicate")
            waiting = [item for item in waiting if _seen_key(item.event) not in known]
        malformed = [item for item in taken if item.malformed is not None]
        try:
            group = lay_out([item.event for item in waiting])
        except Exception:
            # A fault of ours over some event: it comes again with the commit, which finds out which one.
            group = None
        return _Batch(waiting, group, malformed)

    async def _write(self, batch: "_Batch") -> None:
        if batch.items:
            await self._commit(batch.items, batch.group)
        for item in batch.malformed:
            await self._park(item, item.malformed or "", told=item.malformed or "")

    async def _commit(self, items: list[_Queued], group: Group | None = None) -> None:
        """Commit a group; one that is refused for what is in it is halved until the culprit stands alone."""
        written: Written | None = None

        async def write(conn: Borrowed) -> None:
            nonlocal written
            if group is not None and group.is_plain:
                crash_point("before_commit")
                written = await write_plain(conn, group)
                if written is not None:
                    return
            async with conn.transaction():
                written = await write_group(conn, group or [item.event for item in items])
                crash_point("before_commit")

        started = time.perf_counter()
        try:
            await self._until_done(write)
        except Exception as error:  # PostgreSQL's refusal, or a fault of our own that some event brings out
            if len(items) == 1:
                await self._park(items[0], f"{type(error).__name__}: {error}", told=type(error).__name__)
                return
            log.warning("ingress.group_refused", events=len(items), error=type(error).__name__)
            middle = len(items) // 2
            await self._commit(items[:middle])
            await self._commit(items[middle:])
            return
        assert written is not None  # noqa: S101 - _until_done returns only after write did
        COMMIT_SECONDS.observe(time.perf_counter() - started)
        GROUP_SIZE.observe(len(items))
        self._committed.append((items, written))

    def _settle_committed(self) -> None:
        """Acknowledge what is committed, and tell Redis beside what comes next: until it knows, it only saves no work
        (I2)."""
        committed, self._committed = self._committed, []
        for items, written in committed:
            self._settle(items, written)
            crash_point("after_commit")
        if committed:
            keys = [_seen_key(item.event) for items, _ in committed for item in items]
            self._noting = asyncio.create_task(self._note(keys, self._noting), name="note-seen")

    async def _note(self, keys: Sequence[str], before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        await self._seen.note(keys)

    def _settle(self, group: list[_Queued], written: Written) -> None:
        if written.stale:
            _resolve([i for i in group if (i.event.space_id, i.event.key) in written.stale], "duplicate")
        _resolve([item for item in group if not item.future.done()], "committed")
        if written.inbox_grew:
            self._on_inbox()
        if written.cancelled:
            self._on_cancel(written.cancelled)

    async def _park(self, item: _Queued, reason: str, *, told: str) -> None:
        """Keep an event where an operator can see it. `told`: the reason without any words of the event."""

        async def write(conn: Borrowed) -> None:
            await park(
                conn,
                kind=clean(item.event.kind),
                key=parked_key(item.event.key),
                payload=clean(item.event.payload),
                reason=clean(reason),
            )

        try:
            await self._until_done(write)
        except Exception:
            # The last resort: the others of its group must not go with it.
            log.exception("ingress.lost", kind=item.event.kind[:100], key=item.event.key[:100])
            _fail(item.future)
            return
        log.error("ingress.parked", kind=item.event.kind[:100], key=item.event.key[:100], reason=told[:200])
        _resolve([item], "parked")

    async def _until_done(self, write: Callable[[Borrowed], Awaitable[None]]) -> None:
        """Repeat `write` while PostgreSQL is in trouble. Raises what is wrong with the statement itself."""
        wait_s = RETRY_FIRST_S
        while True:
            try:
                async with asyncio.timeout(COMMIT_DEADLINE_S):
                    await write(await self._connection())
            except Exception as error:
                if not is_passing(error):
                    raise
                await self._give_back()
                self._seen.doubt()
                DATABASE_UP.set(0)
                log.error(
                    "database.away",
                    error=f"{type(error).__name__}: {error}",
                    queued=len(self._queue),
                    retry_in_s=wait_s,
                )
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, RETRY_MOST_S)
            else:
                self._seen.trust()
                DATABASE_UP.set(1)
                return

    async def _connection(self) -> Borrowed:
        """The writer's connection, kept while there is something to write: to borrow one a group costs turns of the
        loop in which PostgreSQL has nothing to do."""
        if self._conn is None:
            self._conn = await self._pool.acquire(timeout=BORROW_S)
        return self._conn

    async def _give_back(self) -> None:
        conn, self._conn = self._conn, None
        if conn is not None:
            try:
                await self._pool.release(conn, timeout=GIVE_BACK_S)
            except Exception as error:  # the pool drops what it cannot take back
                log.warning("ingress.connection_dropped", error=type(error).__name__)


def _seen_key(event: Incoming) -> str:
    return f"{event.space_id}:{event.key}"


def _resolve(items: Sequence[_Queued], ack: Ack) -> None:
    for item in items:
        if not item.future.done():
            item.future.set_result(ack)
    EVENTS.labels(ack).inc(len(items))


def _fail(future: asyncio.Future[Ack]) -> None:
    EVENTS.labels("dropped").inc()
    if not future.done():
        future.set_exception(EventDropped())
        # Most callers need no answer; a failure that nobody looks at is no error of the program.
        future.exception()
