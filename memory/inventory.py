"""What is remembered, to be looked through by people: lists, one memory with its evidence, and how it came to be.

Somebody sees their own memories of this space wherever they were said; those of the channel and the guild as recall
would show them here (I7), or all of them where the caller knows from Discord that they read everything. What has no
live evidence is in none of it (I8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from asyncpg import Record

from memory.database import Db
from memory.ids import MessageId, PlaceId, UserId
from memory.kinds import EndReason, ItemState, Kind, MemoryScope, Source
from memory.owners import owner_of
from memory.places import SHOWN_PLACES
from memory.scope import Scope, fetch_scoped

MOST_WORDS: Final = 10


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, and where. `reads_all`: an administrator, who can read every channel of the guild anyway."""

    scope: Scope
    user_id: UserId
    reads_all: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory in a list."""

    memory_id: int
    scope: MemoryScope
    kind: Kind
    key: str | None
    content: str
    pinned: bool
    author_name: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of a list: those from `start` on (counted from 0), and how many there are in all."""

    entries: tuple[Entry, ...]
    start: int
    total: int


# One owner's memories that may be seen, the newest first, in an order that no change of one disturbs. Where the list
# has become shorter than where it was to begin, its last page is given.
LIST_SQL: Final = f"""
WITH {SHOWN_PLACES}, seen AS MATERIALIZED (
    SELECT l.memory_id, l.scope, l.kind, l.key, l.content, l.pinned, l.author_name, l.said_at FROM live_memories l
    WHERE l.space_id = $1 AND l.scope = $3 AND l.owner_id = $4
      AND (l.scope = 'user' OR $5 OR l.place_id IN (SELECT place_id FROM shown_places))
      AND NOT EXISTS (
          SELECT FROM unnest($6::text[]) AS w (word)
          WHERE strpos(lower(l.content || ' ' || coalesce(l.key, '') || ' ' || l.kind), w.word) = 0)
), counted AS (
    SELECT count(*) AS total, least($8::bigint, greatest((count(*) - 1) / $7 * $7, 0)) AS start FROM seen
)
SELECT s.*, c.total, c.start FROM counted c LEFT JOIN LATERAL (
    SELECT * FROM seen ORDER BY memory_id DESC LIMIT $7::bigint OFFSET c.start
) AS s ON true
ORDER BY s.memory_id DESC
"""


async def list_memories(
    db: Db, viewer: Viewer, whose: MemoryScope, *, words: str = "", size: int, start: int = 0
) -> Stretch:
    """A page of at most `size` from `start` on; with `words`, of those that hold all of them, key and kind included."""
    owner = owner_of(whose, viewer.scope.space_id, viewer.scope.place_id, viewer.user_id)
    wanted = [word.lower() for word in words.split()][:MOST_WORDS]
    rows = await fetch_scoped(
        db, LIST_SQL, viewer.scope, whose, owner.owner_id, viewer.reads_all, wanted, size, max(start, 0)
    )
    entries = tuple(_entry(row) for row in rows if row["memory_id"] is not None)
    return Stretch(entries, rows[0]["start"], rows[0]["total"])


def _entry(row: Record) -> Entry:
    return Entry(
        row["memory_id"],
        row["scope"],
        row["kind"],
        row["key"],
        row["content"],
        row["pinned"],
        row["author_name"],
        row["said_at"],
    )


@dataclass(frozen=True, slots=True)
class Item:
    """One memory as it stands. `stands`: it may be shown now; a forgotten one `stands` where it could be restored."""

    memory_id: int
    scope: MemoryScope
    owner_id: int
    state: ItemState
    kind: Kind
    key: str | None
    content: str
    version: int
    source: Source
    author_id: UserId
    author_name: str
    said_at: datetime
    importance: float
    confidence: float
    pinned: bool
    created_at: datetime
    changed_at: datetime
    stands: bool


_STANDING: Final = """
(EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = {row}.memory_id AND e.version = {row}.version)
 OR NOT EXISTS (SELECT FROM memory_evidence e WHERE e.memory_id = {row}.memory_id AND e.version = {row}.version))
"""

# The memory of that id, or the active one of that key, one's own before the channel's and the guild's; forgotten ones
# by their id alone.
ONE_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT i.memory_id, i.scope, i.owner_id, i.state, i.kind, i.key, i.content, i.version, i.source, i.author_id,
       i.author_name, i.said_at, i.importance, i.confidence, i.pinned, i.created_at, i.changed_at,
       CASE i.state WHEN 'active' THEN EXISTS (SELECT FROM live_memories l WHERE l.memory_id = i.memory_id)
                    WHEN 'forgotten' THEN {_STANDING.format(row="i")} ELSE false END AS stands
FROM memory_items i
WHERE i.space_id = $1 AND (i.memory_id = $5 OR (i.key = $6 AND i.state = 'active'))
  AND ((i.scope = 'user' AND i.owner_id = $3) OR (i.scope = 'channel' AND i.owner_id = $2)
       OR (i.scope = 'guild' AND i.owner_id = $1))
  AND (i.scope = 'user' OR $4 OR i.place_id IN (SELECT place_id FROM shown_places))
ORDER BY i.memory_id = $5 DESC, array_position(ARRAY['user', 'channel', 'guild'], i.scope) LIMIT 1
"""


async def find_memory(db: Db, viewer: Viewer, *, memory_id: int | None = None, key: str | None = None) -> Item | None:
    """The memory of that id or key, if this viewer may see it; None also where its evidence is gone."""
    rows = await fetch_scoped(db, ONE_SQL, viewer.scope, viewer.user_id, viewer.reads_all, memory_id, key)
    found = Item(**dict(rows[0])) if rows else None
    return found if found is not None and found.stands else None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that a memory rests on. `shown`: the viewer's place may show it; `aged_out`: the journal lost it."""

    message_id: MessageId
    place_id: PlaceId
    author_id: UserId
    added_at: datetime
    aged_out: bool
    shown: bool


# The messages that a memory's present words rest on.
EVIDENCE_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT e.message_id, e.place_id, e.author_id, e.added_at, e.aged_out_at IS NOT NULL AS aged_out,
       $3 OR e.place_id IN (SELECT place_id FROM shown_places) AS shown
FROM live_evidence e WHERE e.space_id = $1 AND e.memory_id = $4 AND e.version = $5
ORDER BY e.message_id
"""


async def evidence_of(db: Db, viewer: Viewer, item: Item) -> tuple[Evidence, ...]:
    """What the memory rests on, oldest first; nothing where it rests on its author's word."""
    rows = await fetch_scoped(db, EVIDENCE_SQL, viewer.scope, viewer.reads_all, item.memory_id, item.version)
    return tuple(Evidence(**dict(row)) for row in rows)


@dataclass(frozen=True, slots=True)
class Former:
    """A value that the memory had before. `content` is None where what it rested on is gone (I8).

    `by_id`: who ended it, where somebody did.
    """

    version: int
    kind: Kind
    content: str | None
    author_name: str
    said_at: datetime
    reason: EndReason
    by_id: UserId | None
    ended_at: datetime


# The values that a memory had, the newest first; their words as far as they may be seen.
HISTORY_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT r.version, r.kind, r.author_name, r.said_at, r.reason, r.by_id, r.ended_at,
       CASE WHEN {_STANDING.format(row="r")} AND ($4 OR $5 OR r.place_id IN (SELECT place_id FROM shown_places))
            THEN r.content END AS content
FROM memory_item_revisions r WHERE r.space_id = $1 AND r.memory_id = $3
ORDER BY r.version DESC
"""


async def history_of(db: Db, viewer: Viewer, item: Item) -> tuple[Former, ...]:
    """All former values of a memory that the viewer was given by `find_memory`."""
    own = item.scope == "user"
    rows = await fetch_scoped(db, HISTORY_SQL, viewer.scope, item.memory_id, viewer.reads_all, own)
    return tuple(Former(**dict(row)) for row in rows)


# What somebody could restore, the newest first. What an owner of the bot deleted has no words that could come back.
FORGOTTEN_SQL: Final = f"""
WITH {SHOWN_PLACES}
SELECT i.memory_id, i.scope, i.kind, i.key, i.content, i.pinned, i.author_name, i.said_at
FROM memory_items i
WHERE i.space_id = $1 AND i.state = 'forgotten' AND {_STANDING.format(row="i")}
  AND EXISTS (SELECT FROM memory_item_revisions r WHERE r.memory_id = i.memory_id AND r.version = i.version)
  AND ((i.scope = 'user' AND i.owner_id = $3)
       OR ($4 AND ((i.scope = 'channel' AND i.owner_id = $2) OR (i.scope = 'guild' AND i.owner_id = $1)
                   AND i.place_id IN (SELECT place_id FROM shown_places))))
ORDER BY i.changed_at DESC, i.memory_id DESC LIMIT $5
"""


async def forgotten(db: Db, viewer: Viewer, *, governs: bool, most: int) -> Sequence[Entry]:
    """What was forgotten and could be restored by this viewer; the channel's and guild's where they govern."""
    rows = await fetch_scoped(db, FORGOTTEN_SQL, viewer.scope, viewer.user_id, governs, most)
    return [_entry(row) for row in rows]
