"""Stopping from outside: one turn, by whoever may, or everything, by the operator. Both win over whatever runs (I10).

A stop is a row before it is anything else, so that it holds in every process and through a restart: a worker that is
not told learns of it by its next heartbeat, and no answer is committed after it.
"""

from typing import Final, Literal, TypeAlias

from memory.database import Db
from memory.ids import SpaceId, TurnId

Stopped: TypeAlias = Literal["cancelled", "stopping"]

# Ask a turn to end without an answer: at once if it waits, else through its worker. The first reason stands.
STOP_TURN_SQL: Final = """
UPDATE turns SET
    cancel_requested_at = coalesce(cancel_requested_at, now()),
    cancel_reason = CASE WHEN cancel_requested_at IS NULL THEN $3 ELSE cancel_reason END,
    state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END,
    end_reason = CASE state WHEN 'queued' THEN $3 ELSE end_reason END,
    ended_at = CASE state WHEN 'queued' THEN now() ELSE ended_at END
WHERE space_id = $1 AND turn_id = $2 AND state IN ('queued', 'running')
RETURNING CASE state WHEN 'running' THEN 'stopping' ELSE state END
"""


async def stop_turn(conn: Db, space_id: SpaceId, turn_id: TurnId, *, reason: str = "stopped") -> Stopped | None:
    """Stop that turn, if nothing was composed yet; None where it is too late, or the space has no such turn.

    Whether the one who asks may do so is decided before. Where the turn is `stopping`, tell the worker of this process
    too (Worker.cancel), after the commit: one elsewhere learns of it by its next heartbeat.
    """
    return await conn.fetchval(STOP_TURN_SQL, space_id, turn_id, reason)


# Switch everything off or on.
SWITCH_SQL: Final = """
INSERT INTO operator_switches (name, is_on, reason) VALUES ('stop', $1, $2)
ON CONFLICT (name) DO UPDATE SET is_on = excluded.is_on, reason = excluded.reason, changed_at = now()
"""


async def switch_stop(conn: Db, *, is_on: bool, reason: str | None = None) -> None:
    """Stop answering everywhere, or go on. What runs is cut off within a heartbeat, and its members are told.

    Events are journalled all the same.
    """
    await conn.execute(SWITCH_SQL, is_on, reason)


# Whether everything is switched off, since when, and why.
STOP_SWITCH_SQL: Final = """
SELECT is_on, reason, changed_at FROM operator_switches WHERE name = 'stop'
"""


async def is_stopped(conn: Db) -> bool:
    """Whether the operator has switched answering off."""
    row = await conn.fetchrow(STOP_SWITCH_SQL)
    return row is not None and bool(row["is_on"])
