"""Ending memories: forgotten on request, superseded where words were edited, revoked with their last evidence (I8).

A value that ends is kept in memory_item_revisions, and its links in memory_link_revisions; its vectors and embedding
job go. Summaries of the places that it was said in are hidden at once, and written again without its messages.
The caller holds the locks of the owners concerned.
"""

from collections.abc import Sequence
from typing import Final, Literal

from memory.database import Db
from memory.episodes import forget_episodes_with
from memory.ids import UserId
from memory.tombstones import hide_summaries
from memory.values import KEEP_REVISION_SQL

Ended = Literal["superseded", "forgotten", "revoked"]

# End active values. What embeds one of them at this moment holds the row, and is waited for.
END_ITEMS_SQL: Final = """
WITH held AS MATERIALIZED (
    SELECT memory_id FROM memory_items WHERE memory_id = ANY($1::bigint[]) AND state = 'active'
    ORDER BY memory_id FOR UPDATE
)
UPDATE memory_items SET state = $2, changed_at = now() WHERE memory_id IN (SELECT memory_id FROM held)
"""

# Nothing of an ended value is found by its vector, and nothing will embed it.
DROP_VECTORS_SQL: Final = "DELETE FROM memory_vectors WHERE memory_id = ANY($1::bigint[])"
DROP_JOBS_SQL: Final = """
WITH held AS MATERIALIZED (
    SELECT memory_id FROM embedding_jobs WHERE memory_id = ANY($1::bigint[]) ORDER BY memory_id FOR UPDATE
)
DELETE FROM embedding_jobs WHERE memory_id IN (SELECT memory_id FROM held)
"""

# The active links of these values, in one order.
LINKS_OF_SQL: Final = """
SELECT link_id FROM memory_links
WHERE state = 'active' AND (from_id = ANY($1::bigint[]) OR to_id = ANY($1::bigint[]))
ORDER BY link_id FOR UPDATE
"""

# Keep links as they were, with the reason why they end.
KEEP_LINKS_SQL: Final = """
INSERT INTO memory_link_revisions (link_id, version, space_id, from_version, to_version, confidence, reason)
SELECT link_id, version, space_id, from_version, to_version, confidence, $2
FROM memory_links WHERE link_id = ANY($1::bigint[])
"""

# End links.
END_LINKS_SQL: Final = """
UPDATE memory_links SET state = $2, changed_at = now() WHERE link_id = ANY($1::bigint[]) AND state = 'active'
"""


async def end_items(conn: Db, memory_ids: Sequence[int], *, state: Ended, by_id: UserId | None = None) -> None:
    """End these active values, and what hangs on them."""
    if not memory_ids:
        return
    ids = sorted(memory_ids)
    await conn.execute(KEEP_REVISION_SQL, ids, state, by_id)
    await conn.execute(END_ITEMS_SQL, ids, state)
    await conn.execute(DROP_VECTORS_SQL, ids)
    await conn.execute(DROP_JOBS_SQL, ids)
    links = [row["link_id"] for row in await conn.fetch(LINKS_OF_SQL, ids)]
    await end_links(conn, links, state=state)
    await hide_summaries(conn, ids)
    if state == "forgotten":
        await forget_episodes_with(conn, ids)


async def end_links(conn: Db, link_ids: Sequence[int], *, state: Ended) -> None:
    """End these active links."""
    if link_ids:
        await conn.execute(KEEP_LINKS_SQL, link_ids, state)
        await conn.execute(END_LINKS_SQL, link_ids, state)
