"""Vectors of episodes: a row waits for one from the transaction that keeps it; those of a former model wait again.

An episode's words never change, so two processes that embed one at once write the same; whoever claims one keeps others
off it for a while.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from asyncpg import Record

from memory.database import Db
from memory.embedding import Model, literal
from memory.ids import SpaceId

ASKED_CHARS: Final = 600
SAID_CHARS: Final = 1_400
"""What of both sides is embedded: models read no further than some hundred tokens."""


@dataclass(frozen=True, slots=True)
class EpisodeJob:
    """An episode to embed."""

    episode_id: int
    space_id: SpaceId
    attempts: int
    text: str


# At most $2 episodes without a vector of the model, those that wait longest first; nothing while another model is the
# current one, and nothing that lost a message.
CLAIM_EPISODES_SQL: Final = """
WITH picked AS MATERIALIZED (
    SELECT e.episode_id FROM memory_episodes e
    WHERE (coalesce(e.model_id, 0) < $1 OR coalesce(e.model_id, 0) > $1) AND e.available_at <= now()
      AND EXISTS (SELECT FROM embedding_models WHERE model_id = $1 AND is_current)
    ORDER BY e.available_at, e.episode_id LIMIT $2 FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE memory_episodes e SET available_at = now() + make_interval(secs => $3)
    FROM picked p WHERE e.episode_id = p.episode_id
    RETURNING e.episode_id, e.attempts
)
SELECT l.episode_id, l.space_id, c.attempts, l.asker_name, l.said_at, l.question, l.answer
FROM claimed c JOIN live_episodes l ON l.episode_id = c.episode_id
ORDER BY l.episode_id
"""


async def claim_episodes(conn: Db, model: Model, *, most: int, lease_s: float) -> tuple[EpisodeJob, ...]:
    """Claim at most `most` episodes for `lease_s` seconds."""
    rows = await conn.fetch(CLAIM_EPISODES_SQL, model.model_id, most, lease_s)
    return tuple(
        EpisodeJob(row["episode_id"], SpaceId(row["space_id"]), row["attempts"], embedded_text(row)) for row in rows
    )


def embedded_text(row: Record) -> str:
    """What is embedded: when and by whom it was asked, and the beginnings of both sides."""
    asked, said = row["question"][:ASKED_CHARS], row["answer"][:SAID_CHARS]
    return f"{row['said_at']:%d %B %Y} {row['asker_name']}: {asked}\n{said}"


# Write the vectors of episodes that are still there, while their model is the current one.
STORE_EPISODES_SQL: Final = """
UPDATE memory_episodes e SET model_id = $1, embedding = g.embedding::halfvec, attempts = 0, available_at = now()
FROM unnest($2::bigint[], $3::text[]) AS g (episode_id, embedding)
WHERE e.episode_id = g.episode_id AND EXISTS (SELECT FROM embedding_models WHERE model_id = $1 AND is_current)
"""


async def store_episode_vectors(
    conn: Db, model: Model, jobs: Sequence[EpisodeJob], vectors: Sequence[Sequence[float]]
) -> None:
    """Write the vectors of `jobs`, in order."""
    await conn.execute(
        STORE_EPISODES_SQL, model.model_id, [job.episode_id for job in jobs], [literal(vector) for vector in vectors]
    )


# Let episodes be claimed again after a pause.
GIVE_BACK_EPISODES_SQL: Final = """
UPDATE memory_episodes SET attempts = attempts + $3, available_at = now() + make_interval(secs => $2)
WHERE episode_id = ANY($1::bigint[])
"""


async def give_back_episodes(conn: Db, jobs: Sequence[EpisodeJob], *, after_s: float, failed: bool) -> None:
    """Let the jobs be claimed again after so many seconds; one more attempt is counted where it `failed`."""
    await conn.execute(GIVE_BACK_EPISODES_SQL, [job.episode_id for job in jobs], after_s, int(failed))
