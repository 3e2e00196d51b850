"""The one way into durable memory: a value is created, confirmed or revised, with its evidence and its embedding job.

    no row with its key or words  -> created
    the same words                -> confirmed: each further message raises the confidence, the same message nothing
    other words under its key     -> revised: the old value goes into memory_item_revisions, the new one takes its place

The caller holds the owner's lock (memory.owners) inside a transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from asyncpg import Record

from memory.database import Db
from memory.errors import MemoryRefused
from memory.ids import MessageId, PlaceId, UserId, snowflake_time
from memory.keys import content_hash
from memory.kinds import Kind, Source
from memory.owners import Caps, Owner, admit, require_owner

DOUBT_LEFT: Final = 0.7
"""How much of the doubt about a value is left by each further message that says the same."""

StoredAs = Literal["created", "confirmed", "revised", "unchanged"]


@dataclass(frozen=True, slots=True)
class Witness:
    """A message that a value rests on, as it was read. `read_version`: its version_at at that time."""

    message_id: MessageId
    place_id: PlaceId
    author_id: UserId
    read_version: datetime


@dataclass(frozen=True, slots=True)
class Value:
    """What is to be remembered, checked by the caller.

    Without `evidence` it rests on its author alone. `said_id` orders it in time: the newest message that says so, or
    the snowflake of the moment where there is none.
    """

    owner: Owner
    place_id: PlaceId
    kind: Kind
    key: str | None
    content: str
    source: Source
    author_id: UserId
    author_name: str
    said_id: MessageId
    importance: float
    asserted: float
    evidence: tuple[Witness, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of it; `previous` are the words that a revision replaced."""

    memory_id: int
    version: int
    outcome: StoredAs
    previous: str | None = None


# The owner's active rows with this key or these words, that of the key first, and whether they still stand; always with
# the messages, as they were read, from which somebody had something of this owner forgotten.
FIND_VALUE_SQL: Final = """
SELECT i.memory_id, i.key, i.content, i.content_hash, i.version, i.source, i.said_id,
       EXISTS (SELECT FROM live_memories l WHERE l.memory_id = i.memory_id) AS live, f.forgotten
FROM (
    SELECT ARRAY(
        SELECT DISTINCT e.message_id FROM memory_evidence e JOIN memory_items o USING (memory_id)
        WHERE e.space_id = $1 AND e.message_id = ANY($6::bigint[])
          AND (e.message_id, e.read_version) IN (SELECT * FROM unnest($6::bigint[], $7::timestamptz[]))
          AND o.scope = $2 AND o.owner_id = $3 AND o.state = 'forgotten') AS forgotten
) AS f LEFT JOIN memory_items i
  ON i.space_id = $1 AND i.scope = $2 AND i.owner_id = $3 AND i.state = 'active' AND (i.key = $4 OR i.content_hash = $5)
ORDER BY i.key IS NOT DISTINCT FROM $4 DESC, i.memory_id
"""

_WITNESSES: Final = """
unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS w (message_id, place_id, author_id, read_version)
"""

# A new value with its evidence, waiting for its vector.
CREATE_VALUE_SQL: Final = f"""
WITH made AS (
    INSERT INTO memory_items (space_id, scope, owner_id, place_id, kind, key, content, content_hash, source, rests_on,
                              author_id, author_name, said_at, said_id, importance, asserted, confidence, expires_at)
    VALUES ($5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
    RETURNING memory_id, space_id, version
), queued AS (
    INSERT INTO embedding_jobs (memory_id, space_id, version) SELECT memory_id, space_id, version FROM made
), resting AS (
    INSERT INTO memory_evidence (memory_id, version, space_id, message_id, place_id, author_id, read_version)
    SELECT m.memory_id, m.version, m.space_id, w.message_id, w.place_id, w.author_id, w.read_version
    FROM made m CROSS JOIN {_WITNESSES}
)
SELECT memory_id FROM made
"""

# Keep a value as it was, with the reason why it ends.
KEEP_REVISION_SQL: Final = """
INSERT INTO memory_item_revisions (memory_id, version, space_id, place_id, kind, key, content, source, author_id,
                                   author_name, said_at, importance, confidence, reason, by_id)
SELECT memory_id, version, space_id, place_id, kind, key, content, source, author_id,
       author_name, said_at, importance, confidence, $2, $3
FROM memory_items WHERE memory_id = ANY($1::bigint[])
"""

# A new value takes the place of the old one, which is kept, and waits for its vector: a job in flight is no longer the
# newest.
REVISE_VALUE_SQL: Final = f"""
WITH kept AS (
    INSERT INTO memory_item_revisions (memory_id, version, space_id, place_id, kind, key, content, source, author_id,
                                       author_name, said_at, importance, confidence, reason, by_id)
    SELECT memory_id, version, space_id, place_id, kind, key, content, source, author_id,
           author_name, said_at, importance, confidence, $6, $13
    FROM memory_items WHERE memory_id = $5
), revised AS (
    UPDATE memory_items SET
        place_id = $7, kind = $8, content = $9, content_hash = $10, version = version + 1, source = $11, rests_on = $12,
        author_id = $13, author_name = $14, said_at = $15, said_id = $16, importance = $17, asserted = $18,
        confidence = $19, expires_at = $20, changed_at = now()
    WHERE memory_id = $5
    RETURNING memory_id, space_id, version
), queued AS (
    INSERT INTO embedding_jobs AS j (memory_id, space_id, version) SELECT memory_id, space_id, version FROM revised
    ON CONFLICT (memory_id) DO UPDATE SET
        version = EXCLUDED.version, lease_no = j.lease_no + 1, lease_until = NULL, attempts = 0,
        available_at = now(), failure = NULL, queued_at = now()
), resting AS (
    INSERT INTO memory_evidence (memory_id, version, space_id, message_id, place_id, author_id, read_version)
    SELECT r.memory_id, r.version, r.space_id, w.message_id, w.place_id, w.author_id, w.read_version
    FROM revised r CROSS JOIN {_WITNESSES}
)
SELECT version FROM revised
"""

# Let a value rest on these messages too; gives those that are new to it.
ADD_EVIDENCE_SQL: Final = f"""
INSERT INTO memory_evidence (memory_id, version, space_id, message_id, place_id, author_id, read_version)
SELECT $5, $6, $7, message_id, place_id, author_id, read_version FROM {_WITNESSES}
ON CONFLICT (memory_id, version, message_id) DO UPDATE SET
    read_version = EXCLUDED.read_version, revoked_at = NULL, revoked_why = NULL
WHERE memory_evidence.read_version <> EXCLUDED.read_version
RETURNING message_id
"""

# A value that is said again: surer with each message that it rests on, and as fresh as the newest of them.
CONFIRM_VALUE_SQL: Final = """
UPDATE memory_items i SET
    confidence = greatest(i.asserted, 1 - (1 - i.asserted) * power($2::float8, greatest(said.messages - 1, 0))),
    key = coalesce(i.key, $3),
    said_id = greatest(i.said_id, $4),
    said_at = greatest(i.said_at, $5),
    expires_at = CASE WHEN $4 > i.said_id THEN coalesce($6, i.expires_at) ELSE i.expires_at END,
    source = CASE WHEN $7 = 'told' THEN $7 ELSE i.source END,
    rests_on = CASE WHEN $8 THEN 'author' ELSE i.rests_on END,
    changed_at = now()
FROM (
    SELECT count(*) + (SELECT count(*) FROM memory_items t WHERE t.memory_id = $1 AND t.rests_on = 'author') AS messages
    FROM live_evidence e JOIN memory_items o USING (memory_id, version) WHERE e.memory_id = $1
) AS said
WHERE i.memory_id = $1
"""


async def store(conn: Db, value: Value, caps: Caps) -> Stored:
    """Bring in one value. The owner's lock is held, and the words and the key were checked.

    Raises MemoryRefused: cap_reached, rate_limited; of what was extracted also forgotten, outdated and told_by_hand.
    Raises ScopeUnknown where the owner does not follow from the place.
    """
    require_owner(value.owner, value.place_id)
    digest = content_hash(value.content)
    found = await conn.fetch(
        FIND_VALUE_SQL,
        value.owner.space_id,
        value.owner.scope,
        value.owner.owner_id,
        value.key,
        digest,
        [witness.message_id for witness in value.evidence],
        [witness.read_version for witness in value.evidence],
    )
    if value.source == "extracted":
        value = _without(value, frozenset(found[0]["forgotten"]))
    rows = [row for row in found if row["memory_id"] is not None]
    same = next((row for row in rows if row["content_hash"] == digest), None)
    if same is not None and (value.key is None or rows[0] is same or rows[0]["key"] != value.key):
        return await _confirm(conn, value, same)
    if rows and value.key is not None and rows[0]["key"] == value.key:
        return await _revise(conn, value, rows[0], digest, caps)
    return await _create(conn, value, digest, caps)


def _without(value: Value, forgotten: frozenset[int]) -> Value:
    """Without messages from which somebody had something forgotten. Raises MemoryRefused where none is left."""
    if not forgotten:
        return value
    left = tuple(witness for witness in value.evidence if witness.message_id not in forgotten)
    if not left:
        raise MemoryRefused("forgotten", "What these messages say was forgotten on request.")
    return replace(value, evidence=left, said_id=max(witness.message_id for witness in left))


def _sureness(value: Value) -> float:
    """How sure a new value is: surer with each further message that says it."""
    return 1 - (1 - value.asserted) * DOUBT_LEFT ** max(len(value.evidence) - 1, 0)


def _witnesses(value: Value) -> tuple[list[object], ...]:
    return (
        [witness.message_id for witness in value.evidence],
        [witness.place_id for witness in value.evidence],
        [witness.author_id for witness in value.evidence],
        [witness.read_version for witness in value.evidence],
    )


async def _create(conn: Db, value: Value, digest: bytes, caps: Caps) -> Stored:
    await admit(conn, value.owner, caps, new=True)
    memory_id = await conn.fetchval(
        CREATE_VALUE_SQL,
        *_witnesses(value),
        value.owner.space_id,
        value.owner.scope,
        value.owner.owner_id,
        value.place_id,
        value.kind,
        value.key,
        value.content,
        digest,
        value.source,
        "messages" if value.evidence else "author",
        value.author_id,
        value.author_name,
        snowflake_time(value.said_id),
        value.said_id,
        value.importance,
        value.asserted,
        _sureness(value),
        value.expires_at,
    )
    return Stored(memory_id, 1, "created")


async def _revise(conn: Db, value: Value, row: Record, digest: bytes, caps: Caps) -> Stored:
    if value.source == "extracted" and row["live"]:
        if row["source"] == "told" and value.owner.scope != "user":
            # Only who may govern the place or guild sets this; what anybody says there does not.
            raise MemoryRefused("told_by_hand", "This was set by hand, and talk does not change it.")
        if value.said_id <= row["said_id"]:
            raise MemoryRefused("outdated", "A newer message says otherwise.")
    await admit(conn, value.owner, caps, new=False)
    version = await conn.fetchval(
        REVISE_VALUE_SQL,
        *_witnesses(value),
        row["memory_id"],
        "corrected" if value.source == "told" else "revised",
        value.place_id,
        value.kind,
        value.content,
        digest,
        value.source,
        "messages" if value.evidence else "author",
        value.author_id,
        value.author_name,
        snowflake_time(value.said_id),
        value.said_id,
        value.importance,
        value.asserted,
        _sureness(value),
        value.expires_at,
    )
    return Stored(row["memory_id"], version, "revised", previous=row["content"])


async def _confirm(conn: Db, value: Value, row: Record) -> Stored:
    memory_id, version = row["memory_id"], row["version"]
    new = await _add_evidence(conn, value, memory_id, version)
    if not new and value.source == "extracted" and (value.key is None or row["key"] is not None):
        return Stored(memory_id, version, "unchanged")
    await _raise_confidence(conn, value, memory_id)
    return Stored(memory_id, version, "confirmed" if new else "unchanged")


async def _add_evidence(conn: Db, value: Value, memory_id: int, version: int) -> Sequence[Record]:
    """Gives a row for each message that is new to the value."""
    if not value.evidence:
        return ()
    return await conn.fetch(ADD_EVIDENCE_SQL, *_witnesses(value), memory_id, version, value.owner.space_id)


async def _raise_confidence(conn: Db, value: Value, memory_id: int) -> None:
    await conn.execute(
        CONFIRM_VALUE_SQL,
        memory_id,
        DOUBT_LEFT,
        value.key,
        value.said_id,
        snowflake_time(value.said_id),
        value.expires_at,
        value.source,
        not value.evidence,
    )
