"""Ingress: every dispatch is put here in frame order, and is acknowledged when it is committed (I1).

bot.ingress.queue holds what waits, the writers of bot.ingress.writer journal it side by side.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import structlog

from bot.addressing import Identity, own_role
from bot.errors import MalformedDispatch
from bot.events import Dispatch, read
from bot.ingress.echoes import Echoes
from bot.ingress.outages import Outages
from bot.ingress.parking import as_parked
from bot.ingress.queue import Gap, Meeting, Queue, Queued, resolve
from bot.ingress.seen import Seen
from bot.ingress.writer import Writer
from memory.database import Pool
from memory.ids import TurnId
from memory.incoming import Ack, Incoming

log = structlog.get_logger(__name__)

RESTLESS_S: Final = 10.0
"""Seconds after the beginning of a session in which what comes may well have come before."""


class Ingress:
    """Takes dispatches synchronously, and has them journalled in groups. One a process; `run` is its writer.

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
        self._me = me
        self._seen = seen
        self._queue = Queue(most_queued)
        self._writers = [
            Writer(
                pool,
                seen,
                self._queue,
                lane,
                shard=shard,
                most_grouped=most_grouped,
                on_inbox=on_inbox,
                on_gap=on_gap,
                on_cancel=on_cancel,
            )
            for lane in self._queue.lanes
        ]
        self._sessions = 0
        self._outages = Outages()
        self._echoes = Echoes()
        # How far the newest session has come.
        self._session, self._sequence = "", 0
        self._settled_at = 0.0

    def accept(self, dispatch: Dispatch) -> asyncio.Future[Ack] | None:
        """Take a dispatch. Never blocks and never raises.

        Gives a future that resolves after the COMMIT; nothing else is an acknowledgement. It fails with EventDropped
        when the queue is full. None: a kind that is not journalled. A bulk delete gives the future of its last row.
        """
        if dispatch.kind == "GUILD_CREATE":
            self._note_own_role(dispatch.data)
        since = self._outages.note(dispatch.kind, dispatch.data)
        if since is not None:
            # As after a new session: what the guild's members did meanwhile was sent to nobody.
            self._queue.meet_at(Gap("identify", since))
        if dispatch.kind != "READY":
            return self._take(dispatch)
        self._sessions += 1
        self._queue.meet_at(Gap("start" if self._sessions == 1 else "identify", None))
        future = self._take(dispatch)
        # What it says of the guilds is written before what they say themselves, in whatever lanes.
        self._queue.meet_at(Meeting())
        return future

    def _take(self, dispatch: Dispatch) -> asyncio.Future[Ack] | None:
        try:
            events = read(dispatch, self._me)
        except MalformedDispatch as error:
            log.warning("ingress.malformed", kind=dispatch.kind, error=str(error))
            return self._queue.add(as_parked(dispatch), malformed=str(error))
        future: asyncio.Future[Ack] | None = None
        doubtful = self._is_doubtful(dispatch)
        for event in events:
            if (original := self._echoes.original(event)) is not None:
                future = self._follow(event, original)
                continue
            future = self._queue.add(event, doubtful=doubtful)
            if event.source == "action":
                self._echoes.note(event, future)
        return future

    def _follow(self, event: Incoming, original: asyncio.Future[Ack]) -> asyncio.Future[Ack]:
        """An echo is a duplicate as soon as the original is committed; where that is lost, it goes the way of all."""
        item = Queued(event, asyncio.get_running_loop().create_future())

        def settle(ended: asyncio.Future[Ack]) -> None:
            if ended.cancelled() or ended.exception() is not None or ended.result() == "parked":
                self._queue.put(item)
            else:
                resolve([item], "duplicate")

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
        if dispatch.source != "gateway":
            return dispatch.source != "action"
        if dispatch.kind in ("READY", "RESUMED"):
            self._settled_at = time.monotonic() + RESTLESS_S
        again = dispatch.session == self._session and dispatch.sequence <= self._sequence
        if not again:
            self._session, self._sequence = dispatch.session, dispatch.sequence
        return again or time.monotonic() < self._settled_at

    async def offer(self, dispatch: Dispatch) -> "asyncio.Future[Ack] | None":
        """As `accept`, for those who can wait: a backfill fills half of the queue, the rest is the gateway's."""
        await self._queue.has_room.wait()
        return self.accept(dispatch)

    async def drain(self, *, within_s: float) -> bool:
        """Wait until everything accepted is committed; False if it took too long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._queue.idle.wait()
        return self._queue.idle.is_set()

    async def run(self) -> None:
        """Journal what arrives, for ever. Cancel it to stop; what is then still queued was never acknowledged.

        A fault of one writer stops all; it is raised as it is.
        """
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._seen.run(), name="seen")
                for writer in self._writers:
                    group.create_task(writer.run(), name="writer")
        except ExceptionGroup as faults:
            raise faults.exceptions[0] from faults
