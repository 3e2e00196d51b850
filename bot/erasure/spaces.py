"""What is kept of a channel or of a guild, and how it goes: table by table, by what the catalogue says of each.

A table that names its space (and place) is emptied of them without anybody having to remember it here; what must not
go, or not so, is named. Rows go in stretches, so that nothing is held for long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.database import Db
from memory.ids import PlaceId, SpaceId

STRETCH: Final = 2_000

KEPT_OF_SPACE: Final = frozenset({"erasures", "erasure_messages"})
"""The record of erasures itself."""

KEPT_OF_PLACE: Final = KEPT_OF_SPACE | {
    "discord_events", "chat_messages", "place_cursors", "places", "guild_settings", "guild_setting_changes",
    "guild_rules", "conversation_summaries", "mod_cases", "ai_events",
}  # fmt: skip
"""What a channel's purge leaves or blanks: the journal's keys (I2), how the channel stands, what was set for it, cases
of moderation, and what was spent."""

# The tables that say which space, and those that say which place, their rows are of; children before their parents.
TABLES_SQL: Final = """
SELECT c.relname AS name,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'place_id' AND NOT a.attisdropped)
           AS has_place
FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'space_id' AND NOT a.attisdropped)
ORDER BY (SELECT count(*) FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid = c.oid), c.relname
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the schema that knows its space."""

    name: str
    has_place: bool


async def tables(db: Db) -> Sequence[Table]:
    """All of them."""
    return [Table(row["name"], row["has_place"]) for row in await db.fetch(TABLES_SQL)]


async def drop_stretch(db: Db, table: Table, space_id: SpaceId, place_id: PlaceId | None) -> int:
    """Delete some rows of a space, or of a place in it; gives how many."""
    where = "space_id = $1 AND place_id = $2" if place_id is not None else "space_id = $1"
    limit = "$3" if place_id is not None else "$2"
    # The name comes from the catalogue, quoted.
    name = '"' + table.name.replace('"', '""') + '"'
    statement = f"DELETE FROM {name} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {name} WHERE {where} LIMIT {limit}))"
    args = (space_id, place_id, STRETCH) if place_id is not None else (space_id, STRETCH)
    return int((await db.execute(statement, *args)).rsplit(" ", 1)[1])


# Take the words out of some messages of a place; their keys stay, as of messages that were deleted.
BLANK_PLACE_SQL: Final = """
WITH blanked AS (
    UPDATE chat_messages SET
        author_id = NULL, author_kind = NULL, author_name = NULL, content = '', reply_to_id = NULL, extras = '{}',
        version_at = 'infinity', deleted_at = coalesce(deleted_at, now()), turn_id = NULL
    WHERE (space_id, message_id) IN (
        SELECT space_id, message_id FROM chat_messages
        WHERE space_id = $1 AND place_id = $2 AND version_at <> 'infinity' LIMIT $3)
    RETURNING space_id, message_id
), edits AS (
    DELETE FROM chat_message_revisions r USING blanked b WHERE r.space_id = b.space_id AND r.message_id = b.message_id
)
SELECT count(*) FROM blanked
"""

# Take the payloads out of some events of a place.
BLANK_PLACE_EVENTS_SQL: Final = """
WITH blanked AS (
    UPDATE discord_events SET payload = NULL, subject_ids = '{}'
    WHERE event_id IN (
        SELECT event_id FROM discord_events
        WHERE space_id = $1 AND place_id = $2 AND (payload IS NOT NULL OR subject_ids <> '{}') LIMIT $3)
    RETURNING 1
)
SELECT count(*) FROM blanked
"""

# The summary of a place starts anew; one that is being written is written in vain.
RESET_PLACE_SUMMARY_SQL: Final = """
UPDATE conversation_summaries SET
    content = '', since_id = 0, through_id = 0, epoch = epoch + 1, stale_at = coalesce(stale_at, now())
WHERE space_id = $1 AND place_id = $2
"""

# Memories of a place, and what rests on what was said in it.
DROP_PLACE_MEMORIES_SQL: Final = """
WITH dropped AS (
    DELETE FROM memory_items t
    WHERE t.space_id = $1 AND (t.place_id = $2 OR (t.scope = 'channel' AND t.owner_id = $2) OR EXISTS (
        SELECT FROM memory_evidence v WHERE v.memory_id = t.memory_id AND v.place_id = $2))
    RETURNING 1
)
SELECT count(*) FROM dropped
"""
