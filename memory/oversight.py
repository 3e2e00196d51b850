"""What owners of the bot see and delete of any space's memories, each time with a row of audit in the same transaction.

That they are owners was decided by the caller (I5). A deleted memory loses its words and former versions for good; its
row stays as forgotten, so that its messages are not read into memory again.
"""

from typing import Final, Literal

from memory.database import Db
from memory.errors import MemoryRefused
from memory.ids import SpaceId, UserId
from memory.inventory import Entry, Stretch
from memory.owners import Owner, lock_owners
from memory.taking_back import end_items

AuditAction = Literal["list_memories", "delete_memory", "list_runs", "show_run"]

# Note what an operator did.
AUDIT_SQL: Final = "INSERT INTO operator_audit (operator_id, space_id, action, target_id) VALUES ($1, $2, $3, $4)"


async def note(
    conn: Db, operator_id: UserId, space_id: SpaceId, action: AuditAction, target_id: int | None = None
) -> None:
    """Put on record what an operator did, inside the caller's transaction, if there is one."""
    await conn.execute(AUDIT_SQL, operator_id, space_id, action, target_id)


# All active memories of a space, whoever's, the newest first; a list that has become shorter gives its last page.
ALL_MEMORIES_SQL: Final = """
WITH seen AS MATERIALIZED (
    SELECT memory_id, scope, kind, key, content, pinned, author_name, said_at FROM memory_items i
    WHERE space_id = $1 AND state = 'active' AND NOT EXISTS (
        SELECT FROM unnest($2::text[]) AS w (word)
        WHERE strpos(lower(i.content || ' ' || coalesce(i.key, '') || ' ' || i.owner_id), w.word) = 0)
), counted AS (
    SELECT count(*) AS total, least($4::bigint, greatest((count(*) - 1) / $3 * $3, 0)) AS start FROM seen
)
SELECT s.*, c.total, c.start FROM counted c LEFT JOIN LATERAL (
    SELECT * FROM seen ORDER BY memory_id DESC LIMIT $3::bigint OFFSET c.start
) AS s ON true
ORDER BY s.memory_id DESC
"""


async def list_all(conn: Db, space_id: SpaceId, *, words: str, size: int, start: int) -> Stretch:
    """A page of the space's memories; with `words`, of those that hold all of them, or the owner's id."""
    rows = await conn.fetch(ALL_MEMORIES_SQL, space_id, words.lower().split(), size, max(start, 0))
    names = ("memory_id", "scope", "kind", "key", "content", "pinned", "author_name", "said_at")
    entries = tuple(Entry(*(row[name] for name in names)) for row in rows if row["memory_id"] is not None)
    return Stretch(entries, rows[0]["start"], rows[0]["total"])


# Whose a memory is.
OWNER_OF_SQL: Final = "SELECT scope, owner_id, state FROM memory_items WHERE space_id = $1 AND memory_id = $2"

# Nothing is left of its words.
WIPE_SQL: Final = """
WITH former AS (DELETE FROM memory_item_revisions WHERE memory_id = $1)
UPDATE memory_items SET
    content = '(deleted by an operator)', content_hash = sha256(memory_id::text::bytea), key = NULL,
    state = 'forgotten', author_name = '', changed_at = now()
WHERE memory_id = $1
"""


async def delete_memory(conn: Db, operator_id: UserId, space_id: SpaceId, memory_id: int) -> None:
    """Delete a memory of that space, inside the caller's transaction, with its audit.

    Raises MemoryRefused: not_found.
    """
    row = await conn.fetchrow(OWNER_OF_SQL, space_id, memory_id)
    if row is None:
        raise MemoryRefused("not_found", "There is no such memory in that server; nothing was changed.")
    await lock_owners(conn, [Owner(space_id, row["scope"], row["owner_id"])])
    row = await conn.fetchrow(OWNER_OF_SQL, space_id, memory_id)
    if row is None:
        raise MemoryRefused("not_found", "There is no such memory in that server any more; nothing was changed.")
    if row["state"] == "active":
        await end_items(conn, [memory_id], state="forgotten", by_id=operator_id)
    await conn.execute(WIPE_SQL, memory_id)
    await note(conn, operator_id, space_id, "delete_memory", memory_id)
