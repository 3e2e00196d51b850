"""Claimed reactions: who takes one in hand holds it by a lease, and what it does is done under a receipt (I4, I14)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bot import receipts
from bot.errors import WriteInDoubt
from bot.outgoing import Outcome
from bot.receipts import Intent, settle_as
from memory.database import BORROW_S, Db, Pool
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope

LEASE_S: Final = 60.0
BATCH: Final = 10
MOST_ATTEMPTS: Final = 6
PAUSE_S: Final = 5.0
WITHIN_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Task:
    """A reaction that a route claimed. Whether it still stands is looked up when it is carried out."""

    task_id: int
    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    user_id: UserId
    emoji: str
    claim: Literal["own", "role", "shortcut"]
    lease_no: int
    attempts: int
    stands: bool

    @property
    def scope(self) -> Scope:
        """Where it is."""
        return Scope(self.space_id, self.place_id)


# Take the oldest tasks that are due in hand, with whether the reaction stands now.
CLAIM_TASKS_SQL: Final = """
WITH due AS (
    SELECT task_id FROM reaction_tasks WHERE available_at <= now()
    ORDER BY available_at, task_id LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE reaction_tasks t SET
    lease_no = t.lease_no + 1, attempts = t.attempts + 1, available_at = now() + make_interval(secs => $2)
FROM due WHERE t.task_id = due.task_id
RETURNING t.task_id, t.space_id, t.place_id, t.message_id, t.user_id, t.emoji, t.claim, t.lease_no, t.attempts,
    EXISTS (SELECT FROM message_reactions r WHERE r.space_id = t.space_id AND r.message_id = t.message_id
                                              AND r.user_id = t.user_id AND r.emoji = t.emoji) AS stands
"""


async def claim(conn: Db) -> list[Task]:
    """Tasks that are ours for LEASE_S seconds."""
    rows = await conn.fetch(CLAIM_TASKS_SQL, BATCH, LEASE_S)
    return sorted((Task(**dict(row)) for row in rows), key=lambda task: task.task_id)


# Through with a task.
FINISH_TASK_SQL: Final = "DELETE FROM reaction_tasks WHERE task_id = $1 AND lease_no = $2"

# To be tried again later.
LATER_TASK_SQL: Final = """
UPDATE reaction_tasks SET available_at = now() + make_interval(secs => $3) WHERE task_id = $1 AND lease_no = $2
"""


async def finish(conn: Db, task: Task) -> None:
    """Nothing is left to do."""
    await conn.execute(FINISH_TASK_SQL, task.task_id, task.lease_no)


async def later(conn: Db, task: Task) -> None:
    """Try it again after a growing pause."""
    await conn.execute(LATER_TASK_SQL, task.task_id, task.lease_no, PAUSE_S * task.attempts)


async def do(
    pool: Pool, task: Task, action: str, args: Mapping[str, object], write: Callable[[], Awaitable[Outcome]]
) -> Outcome | None:
    """Do what changes nothing when it is done twice, under its receipt; None where it was done before.

    Raises WriteInDoubt where nobody knows whether it was done: the task is tried again.
    """
    intent = Intent(
        space_id=task.space_id,
        place_id=task.place_id,
        trigger_id=task.message_id,
        action=action,
        args=args,
        requester_id=task.user_id,
        lease_no=task.lease_no,
    )
    async with pool.acquire(timeout=BORROW_S) as conn:
        receipt = await receipts.intend(conn, intent)
        if receipt.state in ("applied", "refused"):
            return None
    outcome = await write()
    async with pool.acquire(timeout=BORROW_S) as conn:
        await settle_as(conn, receipt.receipt_id, outcome)
    if outcome.state == "unknown":
        raise WriteInDoubt(outcome.failure or "unknown", outcome.retry_after_s)
    return outcome
