"""Owners of memories: whose a memory is, the lock under which their memories change, and what they may write.

Everything that changes an owner's memories holds one advisory lock until its transaction ends, taken in one order
everywhere: so counts are true, the same fact told twice at once is one row, and writers cannot deadlock.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from memory.database import Db
from memory.errors import MemoryRefused, ScopeUnknown
from memory.ids import PlaceId, SpaceId, UserId
from memory.kinds import MemoryScope


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """`owner_id` is a member's (user), a place's (channel) or the space's own id (guild)."""

    space_id: SpaceId
    scope: MemoryScope
    owner_id: int

    @property
    def lock(self) -> int:
        """The key of its advisory lock."""
        name = f"memory:{self.space_id}:{self.scope}:{self.owner_id}"
        return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def owner_of(scope: MemoryScope, space_id: SpaceId, place_id: PlaceId, user_id: UserId) -> Owner:
    """The owner of what is remembered in `scope` by or about `user_id` at `place_id` (I6)."""
    match scope:
        case "user":
            return Owner(space_id, scope, user_id)
        case "channel":
            return Owner(space_id, scope, place_id)
        case "guild":
            return Owner(space_id, scope, space_id)


def require_owner(owner: Owner, place_id: PlaceId) -> None:
    """Raises ScopeUnknown unless the owner is one that words said in `place_id` of its space can have (I6)."""
    derived = {"user": owner.owner_id, "channel": place_id, "guild": owner.space_id}.get(owner.scope)
    if derived != owner.owner_id or min(owner.space_id, place_id, owner.owner_id) <= 0:
        raise ScopeUnknown(f"a memory of {owner.scope} {owner.owner_id} cannot come from place {place_id}")


@dataclass(frozen=True, slots=True)
class Caps:
    """What an owner may have and do: `live` active memories, and `writes` new or changed ones in `window_s` seconds."""

    live: int = 10_000
    writes: int = 120
    window_s: float = 3_600


DEFAULT_CAPS: Final = Caps()

# Wait for the owners' locks, in one order.
LOCK_OWNERS_SQL: Final = "SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key"


async def lock_owners(conn: Db, owners: Iterable[Owner]) -> None:
    """Hold the locks of these owners until the caller's transaction ends."""
    keys = sorted({owner.lock for owner in owners})
    if keys:
        await conn.execute(LOCK_OWNERS_SQL, keys)


# Count a write, unless the window is full, or there is no room for a new memory ($6): then no write is counted. How
# many there are is counted up to what is allowed.
ADMIT_SQL: Final = """
WITH live AS MATERIALIZED (
    SELECT CASE WHEN $6 THEN (
        SELECT count(*) FROM (
            SELECT FROM memory_items WHERE space_id = $1 AND scope = $2 AND owner_id = $3 AND state = 'active' LIMIT $7
        ) AS l) ELSE 0 END AS memories
), counted AS (
    INSERT INTO memory_owners AS o (space_id, scope, owner_id, writes)
    SELECT $1, $2, $3, 1 FROM live WHERE memories < $7
    ON CONFLICT (space_id, scope, owner_id) DO UPDATE SET
        window_at = CASE WHEN o.window_at <= now() - make_interval(secs => $5) THEN now() ELSE o.window_at END,
        writes = CASE WHEN o.window_at <= now() - make_interval(secs => $5) THEN 1 ELSE o.writes + 1 END
    WHERE o.writes < $4 OR o.window_at <= now() - make_interval(secs => $5)
    RETURNING writes
)
SELECT (SELECT memories FROM live) AS memories, (SELECT writes FROM counted) AS writes
"""


async def admit(conn: Db, owner: Owner, caps: Caps, *, new: bool) -> None:
    """Let the owner, whose lock is held, write once more; `new`: one memory more than before.

    Raises MemoryRefused: cap_reached, rate_limited.
    """
    row = await conn.fetchrow(
        ADMIT_SQL, owner.space_id, owner.scope, owner.owner_id, caps.writes, caps.window_s, new, caps.live
    )
    assert row is not None  # noqa: S101 (a SELECT without FROM has one row)
    if row["memories"] >= caps.live:
        raise MemoryRefused(
            "cap_reached",
            f"There are {caps.live} memories here already, which is the most; nothing was stored. "
            "Forget some that are no longer needed.",
        )
    if row["writes"] is None:
        raise MemoryRefused(
            "rate_limited",
            f"No more than {caps.writes} memories can be written in {_span(caps.window_s)} here; nothing was changed. "
            "Try again later.",
        )


def _span(seconds: float) -> str:
    if seconds >= 120:
        return f"{round(seconds / 60)} minutes"
    return f"{round(seconds)} seconds"
