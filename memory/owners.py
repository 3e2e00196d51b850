"""Owners of memories: whose a memory is, the lock under which their memories change, and what they may write.

Everything that changes an owner's memories holds one advisory lock until its transaction ends, taken in one order
everywhere: so counts are true, the same fact told twice at once is one row, and writers cannot deadlock.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from memory.database import Db
from memory.errors import MemoryRefused
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


# Count a write, unless the window is full: then no row comes back.
COUNT_WRITE_SQL: Final = """
INSERT INTO memory_owners AS o (space_id, scope, owner_id, writes) VALUES ($1, $2, $3, 1)
ON CONFLICT (space_id, scope, owner_id) DO UPDATE SET
    window_at = CASE WHEN o.window_at <= now() - make_interval(secs => $5) THEN now() ELSE o.window_at END,
    writes = CASE WHEN o.window_at <= now() - make_interval(secs => $5) THEN 1 ELSE o.writes + 1 END
WHERE o.writes < $4 OR o.window_at <= now() - make_interval(secs => $5)
RETURNING writes
"""


async def count_write(conn: Db, owner: Owner, caps: Caps) -> None:
    """Count one write of the owner, whose lock is held. Raises MemoryRefused (rate_limited)."""
    writes = await conn.fetchval(
        COUNT_WRITE_SQL, owner.space_id, owner.scope, owner.owner_id, caps.writes, caps.window_s
    )
    if writes is None:
        raise MemoryRefused(
            "rate_limited",
            f"No more than {caps.writes} memories can be written in {_span(caps.window_s)} here; nothing was changed. "
            "Try again later.",
        )


# How many active memories the owner has, up to one more than are allowed.
COUNT_LIVE_SQL: Final = """
SELECT count(*) FROM (
    SELECT FROM memory_items WHERE space_id = $1 AND scope = $2 AND owner_id = $3 AND state = 'active' LIMIT $4
) AS live
"""


async def require_room(conn: Db, owner: Owner, caps: Caps) -> None:
    """Raises MemoryRefused (cap_reached) where the owner, whose lock is held, has all the memories it may have."""
    live = await conn.fetchval(COUNT_LIVE_SQL, owner.space_id, owner.scope, owner.owner_id, caps.live)
    if live >= caps.live:
        raise MemoryRefused(
            "cap_reached",
            f"There are {caps.live} memories here already, which is the most; nothing was stored. "
            "Forget some that are no longer needed.",
        )


def _span(seconds: float) -> str:
    if seconds >= 120:
        return f"{round(seconds / 60)} minutes"
    return f"{round(seconds)} seconds"
