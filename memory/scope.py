"""Who may see what: every memory statement runs through here, so that none can run without its scope (I6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from asyncpg import Record

from memory.database import Db
from memory.errors import ScopeMissing
from memory.ids import PlaceId, SpaceId

SCOPE_MARKS = ("space_id = $1", "place_id = $2")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a turn happens. Made from the event that triggered it, never from anything a model says (I6)."""

    space_id: SpaceId
    place_id: PlaceId


async def fetch_scoped(
    db: Db,
    statement: str,
    scope: Scope,
    *args: object,
    timeout: float | None = None,
) -> Sequence[Record]:
    """Run `statement` with the scope as $1 (space) and $2 (place) and `args` from $3 on.

    Raises ScopeMissing, before anything is sent, if the statement does not compare both.
    """
    missing = [mark for mark in SCOPE_MARKS if mark not in statement]
    if missing:
        raise ScopeMissing(statement, missing)
    return await db.fetch(statement, scope.space_id, scope.place_id, *args, timeout=timeout)
