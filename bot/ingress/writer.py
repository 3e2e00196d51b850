"""A writer: journals what waits in its lane in groups, one transaction a group, and acknowledges it after the commit
(I1).

It takes what is waiting, at most a group at a time; what arrives meanwhile goes next, without a timer. A group that
PostgreSQL refuses for what is in it is halved until the culprit stands alone, which is parked.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from bot.crash import crash_point
from bot.ingress.parking import parked_key
from bot.ingress.queue import Gap, Lane, Meeting, Queue, Queued, fail, resolve
from bot.ingress.seen import Seen
from bot.metrics import COMMIT_SECONDS, DATABASE_UP, GROUP_SIZE
from bot.payloads import clean
from memory.database import BORROW_S, Borrowed, Pool, is_passing
from memory.gaps import Behind, add_cursors, open_gap
from memory.ids import MessageId, TurnId
from memory.incoming import Incoming
from memory.journal import Group, Written, lay_out, park, write_group, write_plain

log = structlog.get_logger(__name__)

RETRY_FIRST_S: Final = 0.1
RETRY_MOST_S: Final = 5.0
COMMIT_DEADLINE_S: Final = 30.0

DOUBTS: Final = 4
"""So many events of a group must be likely repetitions before Redis is asked: PostgreSQL finds fewer sooner than Redis
answers."""

GIVE_BACK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Batch:
    """What goes into one transaction, and what is parked after it."""

    items: list[Queued]
    group: Group | None
    malformed: list[Queued]


class Writer:
    """Journals what stands in `lane`; `run` is for ever. The callbacks are those of Ingress."""

    def __init__(
        self,
        pool: Pool,
        seen: Seen,
        queue: Queue,
        lane: Lane,
        *,
        shard: tuple[int, int],
        most_grouped: int,
        on_inbox: Callable[[], None],
        on_gap: Callable[[], None],
        on_cancel: Callable[[Sequence[TurnId]], None],
    ) -> None:
        self._pool = pool
        self._seen = seen
        self._queue = queue
        self._lane = lane
        self._shard = shard
        self._most_grouped = most_grouped
        self._on_inbox = on_inbox
        self._on_gap = on_gap
        self._on_cancel = on_cancel
        self._conn: Borrowed | None = None
        # Committed, and not acknowledged yet.
        self._committed: list[tuple[list[Queued], Written, str]] = []

    async def run(self) -> None:
        """Journal what arrives, for ever. Cancel it to stop; what is then still queued was never acknowledged."""
        while True:
            # A fault may have ended an earlier run with events still queued.
            if not self._lane:
                self._lane.rest()
                await self._lane.arrived.wait()
            self._lane.arrived.clear()
            await self._empty_queue()

    async def _empty_queue(self) -> None:
        """Journal all that waits.

        What arrives during a commit goes next, together. Where that is a whole group already, it is looked up and laid
        out beside the commit, so that PostgreSQL and this process do not wait for each other; for the same reason those
        who wait for an acknowledgement get it when the next group is on its way.
        """
        ahead: asyncio.Task[_Batch | None] | None = None
        try:
            while self._lane or ahead is not None:
                batch = None if ahead is None else await ahead
                ahead = None
                if batch is None:
                    self._settle_committed()
                    if not self._lane:
                        continue
                    if (meeting := self._lane.meeting) is not None:
                        await self._meet(meeting)
                        continue
                    batch = await self._next_batch()
                asyncio.get_running_loop().call_soon(self._settle_committed)
                ahead = asyncio.create_task(self._batch_ahead(), name="lay-out")
                await self._write(batch)
        finally:
            if ahead is not None:
                ahead.cancel()
                await asyncio.wait([ahead])
            self._settle_committed()
            # Where a fault ended this, what was taken and not acknowledged goes first when it is started again.
            self._lane.put_back()
            await self._give_back()

    async def _batch_ahead(self) -> "_Batch | None":
        """The batch after the one that is being written, if there is a whole group for it by now."""
        if len(self._lane) < self._most_grouped or self._lane.meeting is not None:
            return None
        return await self._next_batch()

    async def _next_batch(self) -> "_Batch":
        """Take what goes into the next transaction, and make it ready."""
        return await self._unknown(self._lane.take(self._most_grouped))

    async def _meet(self, meeting: Meeting) -> None:
        """Meet the other writers; one of them records the gap, if it is one. Where a fault ended an earlier meeting,
        those who have not left it meet again."""
        if not meeting.over.is_set() and await meeting.all_here.wait() == 0:
            if isinstance(meeting, Gap):
                await self._record_gap(meeting)
            meeting.over.set()
        await meeting.over.wait()
        self._lane.leave()

    async def _record_gap(self, gap: Gap) -> None:
        """Record the gap and freeze the cursors, before anything that came after it is committed."""

        async def write(conn: Borrowed) -> None:
            gap.is_written = True
            # Before the transaction begins: its time is the one that this is taken from.
            waited = timedelta(seconds=time.monotonic() - gap.noticed_at)
            async with conn.transaction():
                await open_gap(
                    conn,
                    shard=self._shard,
                    reason=gap.reason,
                    since=gap.since,
                    dropped=gap.dropped,
                    waited=waited,
                )
                if gap.firsts:
                    await add_cursors(conn, [Behind(*where, MessageId(m - 1)) for where, m in gap.firsts.items()])

        await self._until_done(write)
        crash_point("after_gap")
        log.info("gateway.gap", reason=gap.reason, dropped=gap.dropped)
        self._on_gap()

    async def _unknown(self, taken: list[Queued]) -> "_Batch":
        """What of these Redis does not know as committed, laid out for its transaction."""
        waiting = [item for item in taken if item.malformed is None]
        doubtful = [item for item in waiting if item.doubtful]
        known = frozenset[str]()
        if len(doubtful) >= DOUBTS:
            known = await self._seen.known([_seen_key(item.event) for item in doubtful])
        if known:
            resolve([item for item in waiting if _seen_key(item.event) in known], "duplicate")
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
            await self._queue.keep_pace(self._lane, batch.items[-1].at)
            await self._commit(batch.items, batch.group)
        for item in batch.malformed:
            await self._park(item, item.malformed or "", told=item.malformed or "")

    async def _commit(self, items: list[Queued], group: Group | None = None) -> None:
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
        self._committed.append((items, written, self._seen.stretch()))

    def _settle_committed(self) -> None:
        """Acknowledge what is committed, and have it noted in Redis: until that knows, it only saves no work (I2)."""
        committed, self._committed = self._committed, []
        for items, written, stretch in committed:
            self._settle(items, written)
            crash_point("after_commit")
            self._seen.note([_seen_key(item.event) for item in items], stretch)

    def _settle(self, group: list[Queued], written: Written) -> None:
        if written.stale:
            resolve([i for i in group if (i.event.space_id, i.event.key) in written.stale], "duplicate")
        resolve([item for item in group if not item.future.done()], "committed")
        if written.inbox_grew:
            self._on_inbox()
        if written.cancelled:
            self._on_cancel(written.cancelled)

    async def _park(self, item: Queued, reason: str, *, told: str) -> None:
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
            fail(item.future)
            return
        log.error("ingress.parked", kind=item.event.kind[:100], key=item.event.key[:100], reason=told[:200])
        resolve([item], "parked")

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
                self._seen.doubt(self)
                DATABASE_UP.set(0)
                log.error(
                    "database.away",
                    error=f"{type(error).__name__}: {error}",
                    queued=len(self._lane),
                    retry_in_s=wait_s,
                )
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, RETRY_MOST_S)
            else:
                self._seen.trust(self)
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
