"""What is noted when messages are edited or deleted, in the very transaction that does it (I8).

The message's own row is the tombstone of evidence: the views live_evidence, live_memories and live_links look at it. A
summary has no single messages under it, so its row is marked here; and the memory worker gets its job.
"""

from collections.abc import Sequence
from typing import Final

from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId
from memory.kinds import Taken

# Mark the summaries of places whose messages are in `changed`: what is summarised is hidden, and what is being
# summarised at this moment will not be written. Where there is no summary yet its row is made all the same: the lock
# on it is what keeps a first summary from being begun, unseen, between this statement and its commit. Rows are taken
# in one order everywhere.
HIDING: Final = """
hidden AS (
    INSERT INTO conversation_summaries AS s (space_id, place_id, reading_id)
    SELECT space_id, place_id, min(message_id) FROM changed GROUP BY space_id, place_id ORDER BY space_id, place_id
    ON CONFLICT (space_id, place_id) DO UPDATE SET
        epoch = s.epoch + 1,
        stale_at = CASE WHEN EXCLUDED.reading_id <= s.through_id THEN coalesce(s.stale_at, now()) ELSE s.stale_at END
    WHERE EXCLUDED.reading_id <= greatest(s.through_id, s.reading_id)
)
SELECT count(*) FROM changed
"""

# Make the job for changed messages, and hide the summaries that may hold their words.
NOTE_CHANGES_SQL: Final = f"""
WITH changed AS MATERIALIZED (
    SELECT space_id, place_id, message_id, why
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS c (space_id, place_id, message_id, why)
), noted AS (
    INSERT INTO memory_revocations (space_id, place_id, message_id, why)
    SELECT space_id, place_id, message_id, why FROM changed
), {HIDING}
"""


async def note_changes(conn: Db, changes: Sequence[tuple[SpaceId, PlaceId, MessageId, Taken]]) -> None:
    """Note that messages were edited or deleted, inside the caller's transaction."""
    if changes:
        await conn.execute(
            NOTE_CHANGES_SQL,
            [space_id for space_id, _, _, _ in changes],
            [place_id for _, place_id, _, _ in changes],
            [message_id for _, _, message_id, _ in changes],
            [why for _, _, _, why in changes],
        )


# Hide the summaries that may hold words of the messages that these memories rest on.
HIDE_SUMMARIES_SQL: Final = f"""
WITH changed AS MATERIALIZED (
    SELECT space_id, place_id, message_id FROM memory_evidence WHERE memory_id = ANY($1::bigint[])
), {HIDING}
"""


async def hide_summaries(conn: Db, memory_ids: Sequence[int]) -> None:
    """Hide the summaries of what these memories rest on, inside the caller's transaction."""
    await conn.execute(HIDE_SUMMARIES_SQL, memory_ids)
