"""Changing memories by hand after they were made: their words and marks, pins, and bringing back what was before.

All take the caller's transaction, the author of memory.items, and the owner's lock; whether the author may do it at all
was decided by the caller (I5). Every change of a value keeps the one before it. What is refused raises MemoryRefused
and has changed nothing (I16).
"""

import math
from dataclasses import dataclass
from typing import Final

from asyncpg import Record

from memory.database import Db
from memory.errors import MemoryRefused
from memory.ids import MessageId, time_snowflake
from memory.items import (
    TOLD_CONFIDENCE,
    Author,
    clean,
    known_kind,
    owned,
    require_content,
    require_importance,
    require_key,
)
from memory.keys import content_hash
from memory.owners import DEFAULT_CAPS, Caps, admit, lock_owners
from memory.values import KEEP_REVISION_SQL

_GONE: Final = MemoryRefused("not_found", "There is no such memory (any more); nothing was changed.")


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be different; None leaves it."""

    content: str | None = None
    kind: str | None = None
    key: str | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory after a change. `before` is the version that holds what was before it; `was_active`: it stood then."""

    memory_id: int
    version: int
    content: str
    before: int
    was_active: bool = True


# One of the space's memories, whoever's.
HELD_ITEM_SQL: Final = """
SELECT memory_id, scope, owner_id, state, kind, key, content, version, importance, pinned, rests_on, now() AS moment
FROM memory_items WHERE space_id = $1 AND memory_id = $2
"""

# Another active memory of the owner that stands where this one would.
CLASH_SQL: Final = """
SELECT memory_id FROM memory_items
WHERE space_id = $1 AND scope = $2 AND owner_id = $3 AND state = 'active' AND memory_id <> $4
  AND (key = $5 OR ($5::text IS NULL AND key IS NULL AND content_hash = $6))
LIMIT 1
"""

_QUEUED: Final = """queued AS (
INSERT INTO embedding_jobs AS j (memory_id, space_id, version) SELECT memory_id, space_id, version FROM changed
ON CONFLICT (memory_id) DO UPDATE SET
    version = EXCLUDED.version, lease_no = j.lease_no + 1, lease_until = NULL, attempts = 0,
    available_at = now(), failure = NULL, queued_at = now()
)"""

# Other words: they rest on who wrote them, and come from where they were written.
REWRITE_SQL: Final = f"""
WITH changed AS (
    UPDATE memory_items SET
        place_id = $2, kind = $3, key = $4, content = $5, content_hash = $6, version = version + 1, source = 'told',
        rests_on = 'author', author_id = $7, author_name = $8, said_at = now(), said_id = $9, importance = $10,
        asserted = $11, confidence = $11, changed_at = now()
    WHERE memory_id = $1
    RETURNING memory_id, space_id, version
), {_QUEUED}
SELECT version FROM changed
"""

_RESTING: Final = """resting AS (
INSERT INTO memory_evidence (memory_id, version, space_id, message_id, place_id, author_id, read_version, added_at,
                             aged_out_at)
SELECT c.memory_id, c.version, e.space_id, e.message_id, e.place_id, e.author_id, e.read_version, e.added_at,
       e.aged_out_at
FROM live_evidence e JOIN changed c ON c.memory_id = e.memory_id WHERE e.version = {version}
)"""

# The same words under other marks: evidence and links go on to the new version.
REMARK_SQL: Final = f"""
WITH changed AS (
    UPDATE memory_items SET kind = $2, key = $3, importance = $4, version = version + 1, changed_at = now()
    WHERE memory_id = $1
    RETURNING memory_id, space_id, version
), {_QUEUED}, {_RESTING.format(version="c.version - 1")}, starting AS (
    UPDATE memory_links l SET from_version = c.version FROM changed c
    WHERE l.from_id = c.memory_id AND l.from_version = c.version - 1 AND l.state = 'active'
), ending AS (
    UPDATE memory_links l SET to_version = c.version FROM changed c
    WHERE l.to_id = c.memory_id AND l.to_version = c.version - 1 AND l.state = 'active'
)
SELECT version FROM changed
"""


async def edit(conn: Db, author: Author, memory_id: int, change: Edit, *, caps: Caps = DEFAULT_CAPS) -> Changed:
    """Change an active memory, inside the caller's transaction.

    Raises MemoryRefused: not_found, not_yours, unchanged, clash, rate_limited, and what memory.items.remember does of
    content, kind, key and importance.
    """
    row = await _held(conn, author, memory_id, caps)
    if row["state"] != "active":
        raise _GONE
    kind = row["kind"] if change.kind is None else known_kind(change.kind)
    content = row["content"] if change.content is None else require_content(change.content)
    key = row["key"] if change.key is None else require_key(change.key)
    importance = row["importance"] if change.importance is None else require_importance(change.importance)
    marks_stand = (kind, key) == (row["kind"], row["key"]) and math.isclose(importance, row["importance"], abs_tol=1e-6)
    if content == row["content"] and marks_stand:
        raise MemoryRefused("unchanged", "It says just that already; nothing was changed.")
    digest = content_hash(content)
    await _no_clash(conn, author, row, key, digest)
    await conn.execute(KEEP_REVISION_SQL, [memory_id], "corrected", author.user_id)
    if content == row["content"]:
        version = await conn.fetchval(REMARK_SQL, memory_id, kind, key, importance)
    else:
        version = await conn.fetchval(
            REWRITE_SQL,
            memory_id,
            author.scope.place_id,
            kind,
            key,
            content,
            digest,
            author.user_id,
            clean(author.name)[:100],
            MessageId(time_snowflake(row["moment"])),
            importance,
            TOLD_CONFIDENCE,
        )
    return Changed(memory_id, version, content, row["version"])


# Let a memory stand out, or no longer.
PIN_SQL: Final = "UPDATE memory_items SET pinned = $2, changed_at = now() WHERE memory_id = $1"


async def pin(conn: Db, author: Author, memory_id: int, *, pinned: bool, caps: Caps = DEFAULT_CAPS) -> Changed:
    """Pin an active memory or take the pin away, inside the caller's transaction.

    Raises MemoryRefused: not_found, not_yours, unchanged, rate_limited.
    """
    row = await _held(conn, author, memory_id, caps)
    if row["state"] != "active":
        raise _GONE
    if row["pinned"] == pinned:
        raise MemoryRefused("unchanged", f"It is {'pinned already' if pinned else 'not pinned'}; nothing was changed.")
    await conn.execute(PIN_SQL, memory_id, pinned)
    return Changed(memory_id, row["version"], row["content"], row["version"])


# A value that the memory had, if what it rested on still stands.
KEPT_VALUE_SQL: Final = """
SELECT r.version, r.key, r.content,
       EXISTS (SELECT FROM memory_evidence e WHERE e.memory_id = r.memory_id AND e.version = r.version) AS witnessed
FROM memory_item_revisions r
WHERE r.memory_id = $1 AND r.version = $2
  AND (EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = r.memory_id AND e.version = r.version)
       OR NOT EXISTS (SELECT FROM memory_evidence e WHERE e.memory_id = r.memory_id AND e.version = r.version))
"""

# Bring it back as the newest version, with its evidence as far as that stands.
RESTORE_SQL: Final = f"""
WITH changed AS (
    UPDATE memory_items i SET
        state = 'active', version = i.version + 1, place_id = r.place_id, kind = r.kind, key = r.key,
        content = r.content, content_hash = $3, source = r.source,
        rests_on = CASE WHEN r.version = i.version THEN i.rests_on WHEN $4 THEN 'messages' ELSE 'author' END,
        author_id = r.author_id, author_name = r.author_name, said_at = r.said_at, said_id = $5,
        importance = r.importance, asserted = r.confidence, confidence = r.confidence, expires_at = NULL,
        changed_at = now()
    FROM memory_item_revisions r
    WHERE i.memory_id = $1 AND r.memory_id = i.memory_id AND r.version = $2
    RETURNING i.memory_id, i.space_id, i.version
), {_QUEUED}, {_RESTING.format(version="$2")}
SELECT version FROM changed
"""


async def restore(
    conn: Db, author: Author, memory_id: int, *, version: int | None = None, caps: Caps = DEFAULT_CAPS
) -> Changed:
    """Bring back a forgotten memory, or a former value (`version`) of one, inside the caller's transaction.

    What was taken away with its message does not come back. Raises MemoryRefused: not_found, not_yours, unchanged,
    clash, cap_reached, rate_limited.
    """
    row = await _held(conn, author, memory_id, caps, may_return=True)
    active = row["state"] == "active"
    if row["state"] not in ("active", "forgotten"):
        raise MemoryRefused("evidence_gone", "What it rested on was deleted or edited, so it cannot be brought back.")
    if active and version is None:
        raise MemoryRefused("unchanged", "It is not forgotten; name the version that is to come back.")
    if active and version == row["version"]:
        raise MemoryRefused("unchanged", "That is how it stands already; nothing was changed.")
    value = await conn.fetchrow(KEPT_VALUE_SQL, memory_id, row["version"] if version is None else version)
    if value is None:
        raise MemoryRefused("not_found", "There is no such version that could be brought back; nothing was changed.")
    digest = content_hash(value["content"])
    await _no_clash(conn, author, row, value["key"], digest)
    if active:
        await conn.execute(KEEP_REVISION_SQL, [memory_id], "corrected", author.user_id)
    moment = time_snowflake(row["moment"])
    made = await conn.fetchval(RESTORE_SQL, memory_id, value["version"], digest, value["witnessed"], moment)
    return Changed(memory_id, made, value["content"], row["version"], was_active=active)


async def _held(conn: Db, author: Author, memory_id: int, caps: Caps, *, may_return: bool = False) -> Record:
    """The memory, its owner's lock held and a write counted. `may_return`: a forgotten one takes room again."""
    row = await conn.fetchrow(HELD_ITEM_SQL, author.scope.space_id, memory_id)
    if row is None:
        raise _GONE
    owner = owned(author, row)
    await lock_owners(conn, [owner])
    row = await conn.fetchrow(HELD_ITEM_SQL, author.scope.space_id, memory_id)
    if row is None or owned(author, row) != owner:
        raise _GONE
    await admit(conn, owner, caps, new=may_return and row["state"] != "active")
    return row


async def _no_clash(conn: Db, author: Author, row: Record, key: str | None, digest: bytes) -> None:
    other = await conn.fetchval(
        CLASH_SQL, author.scope.space_id, row["scope"], row["owner_id"], row["memory_id"], key, digest
    )
    if other is not None:
        raise MemoryRefused("clash", f"Memory #{other} already stands there; change or forget that one first.")
