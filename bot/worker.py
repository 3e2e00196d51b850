"""The worker: claims turns, keeps their leases, runs them side by side, and gives back what it cannot finish (I14)."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import asyncpg
import structlog

from agent.errors import LeaseLost
from bot import turns
from bot.crash import crash_point
from bot.errors import DeliveryDelayed, TurnLost
from bot.metrics import TURNS_RUNNING
from bot.turns import Turn
from memory.database import BORROW_S, Pool, is_passing
from memory.ids import TurnId

log = structlog.get_logger(__name__)

RETRY_FIRST_S: Final = 1.0
RETRY_MOST_S: Final = 60.0
STOP_GRACE_S: Final = 2.0


class Worker:
    """Runs at most `slots` turns at once. `serve` brings one claimed turn to its end.

    `idle` is set while no turn runs here, for those who give way to turns.
    """

    def __init__(
        self,
        pool: Pool,
        serve: Callable[[Turn], Awaitable[None]],
        cancelled: Callable[[Turn], Awaitable[None]],
        woken: asyncio.Event,
        *,
        slots: int,
        lease_s: float,
        heartbeat_s: float,
        window_s: float,
        poll_s: float,
        idle: asyncio.Event | None = None,
    ) -> None:
        self._pool = pool
        self._serve = serve
        self._cancelled = cancelled
        self._woken = woken
        self._slots = slots
        self.lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self.window_s = window_s
        self._poll_s = poll_s
        self._running: dict[TurnId, tuple[Turn, asyncio.Task[None]]] = {}
        self._unwanted: set[TurnId] = set()
        # Whether turns waited, when we looked last, that the end of another may let begin.
        self._others_wait = False
        self._beat_at = time.monotonic()
        self._stopping = False
        self._idle = idle or asyncio.Event()
        self._note_running()

    def cancel(self, turn_ids: Sequence[TurnId]) -> None:
        """These turns are unwanted (deleted, stopped) and on record as such: stop those that run here."""
        for turn_id in turn_ids:
            if turn_id in self._running and turn_id not in self._unwanted:
                self._unwanted.add(turn_id)
                self._running[turn_id][1].cancel()

    @property
    def free(self) -> int:
        """How many more turns this process takes now."""
        return 0 if self._stopping else max(self._slots - len(self._running), 0)

    def begin(self, begun: Sequence[Turn]) -> None:
        """Run turns that are ours: claimed, or begun by the router when it made them."""
        if begun:
            crash_point("after_claim")
        if not self._running:
            self._beat_at = time.monotonic()
        for turn in begun:
            task = asyncio.create_task(self._run(turn), name=f"turn-{turn.turn_id}")
            self._running[turn.turn_id] = (turn, task)
        self._note_running()

    async def claim_forever(self) -> None:
        """Claim whenever woken, when a turn ends and others wait, and at least every `poll_s` seconds.

        Whoever queues a turn wakes every process after its commit: one that then still finds the place busy knows of
        the turn when the place is free.
        """
        while True:
            if self.free > 0:
                await self._claim()
            else:
                self._others_wait = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_s):
                    await self._woken.wait()
            self._woken.clear()

    async def keep_leases(self) -> None:
        """Prolong the leases of what runs; stop what is lost or unwanted.

        While PostgreSQL is away the leases run out by themselves: then everything here stops before somebody else may
        have claimed it.
        """
        while True:
            await asyncio.sleep(self._heartbeat_s)
            running = [turn for turn, _ in self._running.values()]
            if not running:
                self._beat_at = time.monotonic()
                continue
            sent_at = time.monotonic()
            # An answer that comes later than this is none: what runs must have stopped when the lease ends.
            safe_until = self._beat_at + self.lease_s - self._heartbeat_s / 2
            try:
                async with (
                    asyncio.timeout(min(self._heartbeat_s, safe_until - sent_at)),
                    self._pool.acquire(timeout=BORROW_S) as conn,
                ):
                    ours = await turns.heartbeat(conn, running, lease_s=self.lease_s)
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("worker.heartbeat_failed", error=type(error).__name__, turns=len(running))
                if time.monotonic() + self._heartbeat_s >= safe_until:
                    self._stop([turn.turn_id for turn in running])
                continue
            self._beat_at = sent_at
            self._stop([turn.turn_id for turn in running if turn.turn_id not in ours])
            self._stop([turn_id for turn_id, beat in ours.items() if beat == "give_back"], why="switched_off")
            self.cancel([turn_id for turn_id, beat in ours.items() if beat == "cancel"])

    def begin_no_more(self) -> None:
        """Claim nothing from now on; what runs goes on."""
        self._stopping = True

    async def stop(self, *, within_s: float) -> None:
        """Begin nothing more, let what runs finish for `within_s` seconds, then cut it off and give it back at once."""
        self.begin_no_more()
        tasks = [task for _, task in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=within_s)
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=STOP_GRACE_S)

    def _stop(self, turn_ids: Sequence[TurnId], *, why: str = "lease_lost") -> None:
        for turn_id in turn_ids:
            if turn_id in self._running:
                log.warning("worker.stopped_turn", turn_id=turn_id, why=why)
                self._running[turn_id][1].cancel()

    async def _claim(self) -> None:
        # Until the answer is here: what ends meanwhile may still have looked busy.
        self._others_wait = True
        try:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                claimed, self._others_wait = await turns.claim(
                    conn, most=self.free, lease_s=self.lease_s, window_s=self.window_s
                )
        except asyncpg.UniqueViolationError:
            # Another process took the same lane in the same instant.
            self._woken.set()
            return
        self.begin(claimed)

    async def _run(self, turn: Turn) -> None:
        """Run one turn. Its failures stay its own: it is given back, and comes again after a pause."""
        structlog.contextvars.bind_contextvars(turn_id=turn.turn_id, guild_id=turn.space_id, channel_id=turn.place_id)
        has_ended = False
        try:
            await self._serve(turn)
            has_ended = True
        except (TurnLost, LeaseLost):
            # Somebody else has it, and this changes nothing; or it was cancelled, and ends with the next claim.
            log.warning("turn.lost")
            await self._release(turn, after_s=0)
        except asyncio.CancelledError:
            await self._cut_off(turn)
            raise
        except DeliveryDelayed as delay:
            log.warning("turn.delayed", cause=delay.cause, attempt=turn.attempts)
            await self._release(turn, after_s=max(delay.after_s, _pause_s(turn)))
        except Exception as error:
            if is_passing(error):
                log.warning("turn.interrupted", error=type(error).__name__, attempt=turn.attempts)
            else:
                log.exception("turn.broken", attempt=turn.attempts)
            await self._release(turn, after_s=_pause_s(turn))
        finally:
            self._running.pop(turn.turn_id, None)
            self._note_running()
            self._unwanted.discard(turn.turn_id)
            if self._others_wait or not has_ended:
                self._woken.set()

    def _note_running(self) -> None:
        TURNS_RUNNING.set(len(self._running))
        if self._running:
            self._idle.clear()
        else:
            self._idle.set()

    async def _cut_off(self, turn: Turn) -> None:
        if turn.turn_id in self._unwanted:
            try:
                async with asyncio.timeout(STOP_GRACE_S):
                    await self._cancelled(turn)
            except (TurnLost, LeaseLost):
                # Composed before the trigger was deleted: it is delivered, without the reference.
                await self._release(turn, after_s=0)
            except Exception as error:
                log.warning("turn.cancel_failed", error=type(error).__name__)
        else:
            await self._release(turn, after_s=0, counts=False)

    async def _release(self, turn: Turn, *, after_s: float, counts: bool = True) -> None:
        try:
            async with asyncio.timeout(STOP_GRACE_S), self._pool.acquire(timeout=BORROW_S) as conn:
                await turns.release(conn, turn, after_s=after_s, counts=counts)
        except Exception as error:
            # The lease runs out by itself.
            log.warning("turn.release_failed", error=type(error).__name__)


def _pause_s(turn: Turn) -> float:
    """Seconds until a turn that could not be finished is taken up again: longer each time."""
    return min(RETRY_FIRST_S * 2 ** min(turn.attempts - 1, 10), RETRY_MOST_S)
