"""Where a place's conversation begins anew: its working set and summary hold nothing of before, and memory stays."""

from typing import Final

from memory.database import Db
from memory.ids import MessageId
from memory.scope import Scope

SINCE_START: Final = """{message} > coalesce((
    SELECT c.after_id FROM conversation_starts c WHERE c.space_id = {space} AND c.place_id = {place}), 0)"""
"""Whether a message belongs to the conversation as it stands."""

# Begin anew after this message; the summary of before is hidden at once, and written again from what follows.
BEGIN_ANEW_SQL: Final = """
WITH begun AS (
    INSERT INTO conversation_starts AS c (space_id, place_id, after_id) VALUES ($1, $2, $3)
    ON CONFLICT (space_id, place_id) DO UPDATE SET
        after_id = greatest(c.after_id, EXCLUDED.after_id), begun_at = now()
)
UPDATE conversation_summaries SET epoch = epoch + 1, stale_at = coalesce(stale_at, now())
WHERE space_id = $1 AND place_id = $2
"""


async def begin_anew(conn: Db, scope: Scope, after_id: MessageId) -> None:
    """Let the conversation of the scope's place begin after `after_id` (which may be an interaction's id)."""
    await conn.execute(BEGIN_ANEW_SQL, scope.space_id, scope.place_id, after_id)
