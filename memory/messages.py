"""The state of messages: the newest edit wins, a delete is sticky, and replaced words are kept (I2).

All of it runs in the journal's transaction. Rows are touched in one order everywhere, so that writers cannot deadlock.
"""

from collections.abc import Sequence
from typing import Final

from memory.database import Db
from memory.ids import TurnId, snowflake_time
from memory.incoming import Incoming, MessageGone, MessageSeen
from memory.tombstones import note_changes

MESSAGE_COLUMNS: Final = """
unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[],
       $9::text[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[])
  AS m (space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
        extras, created_at, version_at, edited_at)
"""

# Keep the words that lose: the stored ones where the new version is newer, else the new ones that came late.
SAVE_REVISIONS_SQL: Final = f"""
INSERT INTO chat_message_revisions (space_id, message_id, version_at, content)
SELECT c.space_id, c.message_id, least(c.version_at, m.version_at),
       CASE WHEN m.version_at > c.version_at THEN c.content ELSE m.content END
FROM {MESSAGE_COLUMNS} CROSS JOIN LATERAL (
    -- The limit keeps it a look at the key for each, also in a plan that was made while the table was small.
    SELECT * FROM chat_messages c WHERE c.space_id = m.space_id AND c.message_id = m.message_id LIMIT 1
) AS c
WHERE c.author_id IS NOT NULL AND c.version_at <> m.version_at
ON CONFLICT DO NOTHING
"""

# The newest version wins; a delete, and who wrote it, stay. What was erased is newer than anything.
MERGE_MESSAGES_SQL: Final = f"""
INSERT INTO chat_messages AS c (space_id, message_id, place_id, author_id, author_kind, author_name, content,
                                reply_to_id, extras, created_at, version_at, edited_at)
SELECT space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
       extras::jsonb, created_at, version_at, edited_at
FROM {MESSAGE_COLUMNS}
ON CONFLICT (space_id, message_id) DO UPDATE SET
    author_id = EXCLUDED.author_id, author_kind = EXCLUDED.author_kind, author_name = EXCLUDED.author_name,
    content = EXCLUDED.content, reply_to_id = coalesce(EXCLUDED.reply_to_id, c.reply_to_id), extras = EXCLUDED.extras,
    version_at = EXCLUDED.version_at, edited_at = EXCLUDED.edited_at
WHERE (c.author_id IS NULL AND c.version_at <> 'infinity') OR EXCLUDED.version_at > c.version_at
RETURNING c.space_id, c.place_id, c.message_id, c.edited_at IS NOT NULL AND c.deleted_at IS NULL AS edited
"""

# What came later of the same words: a link that unfurled, the votes of a poll. It is added to what is there, so that it
# does not matter which came first.
UNFURL_MESSAGES_SQL: Final = f"""
UPDATE chat_messages c SET extras = c.extras || m.extras::jsonb
FROM {MESSAGE_COLUMNS}
WHERE c.space_id = m.space_id AND c.message_id = m.message_id AND c.author_id IS NOT NULL
  AND c.version_at = m.version_at AND NOT c.extras @> m.extras::jsonb
"""


def _columns(messages: Sequence[MessageSeen]) -> tuple[list[object], ...]:
    return (
        [m.space_id for m in messages],
        [m.message_id for m in messages],
        [m.place_id for m in messages],
        [m.author_id for m in messages],
        [m.author_kind for m in messages],
        [m.author_name for m in messages],
        [m.content for m in messages],
        [m.reply_to_id for m in messages],
        [m.extras for m in messages],
        [m.created_at for m in messages],
        [m.version_at for m in messages],
        [m.edited_at for m in messages],
    )


async def merge_messages(conn: Db, waiting: Sequence[MessageSeen]) -> None:
    """Bring in versions of messages that are known already."""
    # Each statement may touch a message once, and in one order everywhere, so that two writers cannot deadlock.
    left: list[MessageSeen] = sorted(waiting, key=lambda m: (m.space_id, m.message_id, m.version_at))
    while left:
        batch = {(m.space_id, m.message_id): m for m in reversed(left)}
        left = [m for m in left if batch[m.space_id, m.message_id] is not m]
        columns = _columns([batch[key] for key in sorted(batch)])
        await conn.execute(UNFURL_MESSAGES_SQL, *columns)
        await conn.execute(SAVE_REVISIONS_SQL, *columns)
        merged = await conn.fetch(MERGE_MESSAGES_SQL, *columns)
        await note_changes(
            conn, [(row["space_id"], row["place_id"], row["message_id"], "edited") for row in merged if row["edited"]]
        )


# Mark messages deleted, also those that were never seen.
DELETE_MESSAGES_SQL: Final = """
INSERT INTO chat_messages AS c (space_id, message_id, place_id, created_at, version_at, deleted_at)
SELECT space_id, message_id, place_id, created_at, created_at, now()
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
  AS g (space_id, message_id, place_id, created_at)
ON CONFLICT (space_id, message_id) DO UPDATE SET deleted_at = now() WHERE c.deleted_at IS NULL
"""

# A trigger deleted before its answer was composed cancels the turn: at once if it waits, else through its worker (I3).
CANCEL_TURNS_SQL: Final = """
UPDATE turns t SET
    cancel_requested_at = coalesce(t.cancel_requested_at, now()),
    state = CASE t.state WHEN 'queued' THEN 'cancelled' ELSE t.state END,
    end_reason = CASE t.state WHEN 'queued' THEN 'trigger_deleted' ELSE t.end_reason END,
    ended_at = CASE t.state WHEN 'queued' THEN now() ELSE t.ended_at END
FROM unnest($1::bigint[], $2::bigint[]) AS g (space_id, message_id)
WHERE t.space_id = g.space_id AND t.trigger_id = g.message_id AND t.state IN ('queued', 'running')
RETURNING t.turn_id, t.state
"""


async def apply_deletes(conn: Db, events: Sequence[Incoming]) -> tuple[TurnId, ...]:
    gone = {(e.change.space_id, e.change.message_id): e.change for e in events if isinstance(e.change, MessageGone)}
    if not gone:
        return ()
    rows = [gone[key] for key in sorted(gone)]
    spaces, messages = [g.space_id for g in rows], [g.message_id for g in rows]
    await conn.execute(
        DELETE_MESSAGES_SQL, spaces, messages, [g.place_id for g in rows], [snowflake_time(g.message_id) for g in rows]
    )
    await note_changes(conn, [(g.space_id, g.place_id, g.message_id, "deleted") for g in rows])
    turns = await conn.fetch(CANCEL_TURNS_SQL, spaces, messages)
    return tuple(TurnId(row["turn_id"]) for row in turns if row["state"] == "running")
