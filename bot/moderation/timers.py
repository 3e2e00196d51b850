"""What ends by itself: a ban for a week, a timeout, a lock for an hour. Undone on time, whoever was away meanwhile.

A timer is claimed under a lease (I14); what Discord cannot say now is tried again later, with longer pauses.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

import structlog

from bot.crash import crash_point
from bot.errors import ReadFault, TurnLost
from bot.moderation import cases
from bot.moderation.cases import Case, Opening
from bot.moderation.execution import Execution
from bot.moderation.outcomes import lapsed
from bot.moderation.requests import undoing
from bot.moderation.situation import Situations
from memory.database import BORROW_S, Pool
from memory.ids import SpaceId, UserId

log = structlog.get_logger(__name__)

BATCH: Final = 10
LEASE_S: Final = 60.0
LONGEST_PAUSE_S: Final = 900.0
MOST_ATTEMPTS: Final = 200
"""About two days of trying."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A case whose time is up, in hand under `lease_no`."""

    case_id: int
    space_id: SpaceId
    lease_no: int
    attempts: int


# Claim what is due, those whose holder fell silent included; the longest overdue first.
CLAIM_TIMERS_SQL: Final = """
WITH due AS (
    SELECT case_id FROM mod_timers
    WHERE closed_at IS NULL AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE mod_timers t SET
    lease_no = t.lease_no + 1, lease_until = now() + make_interval(secs => $2), attempts = t.attempts + 1
FROM due WHERE t.case_id = due.case_id
RETURNING t.case_id, t.space_id, t.lease_no, t.attempts
"""

# It is over, one way or the other.
CLOSE_TIMER_SQL: Final = """
UPDATE mod_timers SET closed_at = now(), outcome = $3
WHERE case_id = $1 AND lease_no = $2 AND closed_at IS NULL
"""

# Not now: after a pause.
PAUSE_TIMER_SQL: Final = """
UPDATE mod_timers SET lease_until = now() + make_interval(secs => $3)
WHERE case_id = $1 AND lease_no = $2 AND closed_at IS NULL
"""


class Timers:
    """Undoes what is due, looking every `poll_s` seconds. `own_id`: the bot's user, in whose name it is done."""

    def __init__(self, pool: Pool, execution: Execution, situations: Situations, own_id: int, *, poll_s: float) -> None:
        self._pool = pool
        self._execution = execution
        self._situations = situations
        self._own_id = own_id
        self._poll_s = poll_s

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                rows = await conn.fetch(CLAIM_TIMERS_SQL, BATCH, LEASE_S)
            for row in rows:
                await self._end(Timer(**dict(row)))
            if len(rows) < BATCH:
                await asyncio.sleep(self._poll_s)

    async def _end(self, timer: Timer) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            case = await cases.by_id(conn, timer.space_id, timer.case_id)
        opening = None if case is None else self._opening(case)
        if opening is None:
            await self._close(timer, "nothing")
            return
        crash_point("after_timer")
        patient = timer.attempts < MOST_ATTEMPTS
        try:
            if case is not None and await self._lapsed(case):
                log.info("moderation.timer_lapsed", case_id=timer.case_id)
                return
            done = await self._execution.carry_out(opening, lease_no=timer.lease_no, patient=patient)
        except TurnLost:
            return
        except ReadFault as fault:
            await self._pause(timer, str(fault))
            return
        if patient and (done.passing or done.code == "busy"):
            await self._pause(timer, done.code)
            return
        log.info("moderation.timer_ended", case_id=timer.case_id, code=done.code)
        await self._close(timer, done.code)

    async def _lapsed(self, case: Case) -> bool:
        """Whether somebody undid it by hand since: who did it anew has not asked us to end it. Raises ReadFault."""
        at = await self._situations.look(case.order, UserId(self._own_id), case.scope)
        if not lapsed(case, at):
            return False
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await cases.lapse(conn, case)
        return True

    async def _pause(self, timer: Timer, why: str) -> None:
        pause_s = min(5.0 * 2 ** min(timer.attempts, 10), LONGEST_PAUSE_S)
        log.warning("moderation.timer_waits", case_id=timer.case_id, code=why, retry_in_s=pause_s)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await conn.execute(PAUSE_TIMER_SQL, timer.case_id, timer.lease_no, pause_s)

    def _opening(self, case: Case) -> Opening | None:
        if case.state != "done":
            return None
        order = undoing(case.order, case.object_id, case.before, case.case_id)
        if order is None:
            return None
        order = replace(order, reason=f"The time of case {case.case_no} is up")
        return Opening(case.scope, case.trigger_id, UserId(self._own_id), order, case.object_id)

    async def _close(self, timer: Timer, outcome: str) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await conn.execute(CLOSE_TIMER_SQL, timer.case_id, timer.lease_no, outcome)
