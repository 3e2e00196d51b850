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
# summarised at this moment will not be written. Rows are taken in one order everywhere.
HIDING: Final = """
held AS MATERIALIZED (
    SELECT s.space_id, s.place_id, s.through_id, s.reading_id FROM conversation_summaries s
    WHERE (s.space_id, s.place_id) IN (SELECT space_id, place_id FROM changed)
    ORDER BY s.space_id, s.place_id FOR UPDATE
), hit AS (
    SELECT held.space_id, held.place_id, bool_or(changed.message_id <= held.through_id) AS summarised
    FROM held JOIN changed USING (space_id, place_id)
    GROUP BY held.space_id, held.place_id
    HAVING bool_or(changed.message_id <= greatest(held.through_id, held.reading_id))
)
UPDATE conversation_summaries s SET
    epoch = s.epoch + 1, stale_at = CASE WHEN hit.summarised THEN coalesce(s.stale_at, now()) ELSE s.stale_at END
FROM hit WHERE s.space_id = hit.space_id AND s.place_id = hit.place_id
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
