"""Episodes to be looked through and deleted by people; their words never change."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.database import Db
from memory.ids import UserId
from memory.scope import Scope


@dataclass(frozen=True, slots=True)
class KeptEpisode:
    """An exchange in a list."""

    episode_id: int
    question: str
    answer: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeStretch:
    """Some of a list: those from `start` on, and how many there are in all."""

    episodes: tuple[KeptEpisode, ...]
    start: int
    total: int


# What somebody asked in this space, the newest first; a list that has become shorter gives its last page.
OWN_EPISODES_SQL: Final = """
WITH seen AS MATERIALIZED (
    SELECT episode_id, question, answer, said_at FROM live_episodes WHERE space_id = $1 AND asker_id = $2
), counted AS (
    SELECT count(*) AS total, least($4::bigint, greatest((count(*) - 1) / $3 * $3, 0)) AS start FROM seen
)
SELECT s.*, c.total, c.start FROM counted c LEFT JOIN LATERAL (
    SELECT * FROM seen ORDER BY episode_id DESC LIMIT $3::bigint OFFSET c.start
) AS s ON true
ORDER BY s.episode_id DESC
"""


async def list_episodes(db: Db, scope: Scope, asker_id: UserId, *, size: int, start: int = 0) -> EpisodeStretch:
    """A page of what `asker_id` asked in the scope's space."""
    rows = await db.fetch(OWN_EPISODES_SQL, scope.space_id, asker_id, size, max(start, 0))
    found = tuple(
        KeptEpisode(row["episode_id"], row["question"], row["answer"], row["said_at"])
        for row in rows
        if row["episode_id"] is not None
    )
    return EpisodeStretch(found, rows[0]["start"], rows[0]["total"])


# Delete an episode for good: its asker's, or of this place for who governs it.
DELETE_EPISODE_SQL: Final = """
DELETE FROM memory_episodes
WHERE space_id = $1 AND episode_id = $2 AND (asker_id = $3 OR ($4 AND place_id = $5))
RETURNING true
"""


async def delete_episode(conn: Db, scope: Scope, episode_id: int, by: UserId, *, governs: bool) -> bool:
    """Delete one; False where there is none that they may delete."""
    return bool(await conn.fetchval(DELETE_EPISODE_SQL, scope.space_id, episode_id, by, governs, scope.place_id))
