"""What memories said before: values that newer ones replaced, for who asks how it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.database import Db
from memory.ids import UserId
from memory.places import SHOWN_PLACES
from memory.scope import Scope, fetch_scoped

MOST_FORMER: Final = 3


@dataclass(frozen=True, slots=True)
class FormerValue:
    """A value that held until `ended_at`."""

    content: str
    ended_at: datetime


# Replaced values of live memories, the newest first: said where it may show here, and with their evidence still there.
FORMER_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT r.memory_id, r.content, r.ended_at
FROM memory_item_revisions r
JOIN live_memories l ON l.memory_id = r.memory_id AND l.space_id = $1
WHERE r.memory_id = ANY($4::bigint[]) AND r.reason IN ('revised', 'corrected')
  AND (l.scope <> 'user' OR l.owner_id = $3)
  AND r.place_id IN (SELECT place_id FROM shown_places) AND l.place_id IN (SELECT place_id FROM shown_places)
  AND (EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = r.memory_id AND e.version = r.version)
       OR NOT EXISTS (SELECT FROM memory_evidence e WHERE e.memory_id = r.memory_id AND e.version = r.version))
ORDER BY r.memory_id, r.version DESC
"""


async def former_values(
    db: Db, scope: Scope, asker: UserId, memory_ids: Sequence[int]
) -> Mapping[int, Sequence[FormerValue]]:
    """Of each of these memories the last few values that it had before; of members' own, only the asker's."""
    found: dict[int, list[FormerValue]] = {}
    for row in await fetch_scoped(db, FORMER_SQL, scope, asker, list(memory_ids)):
        values = found.setdefault(row["memory_id"], [])
        if len(values) < MOST_FORMER:
            values.append(FormerValue(row["content"], row["ended_at"]))
    return found
