"""How durable memory stands: what waits, what fails and why, and what became of what was read. For an operator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from memory.database import Db


@dataclass(frozen=True, slots=True)
class Backlog:
    """Seconds are since something could have been done, None where nothing waits.

    `failing` counts jobs by the code of their failure; `today` what became of extracted entries, by outcome (UTC day).
    """

    places_waiting: int
    oldest_place_s: float | None
    places_failing: Mapping[str, int]
    parked: int
    changes_waiting: int
    embeddings_waiting: int
    oldest_embedding_s: float | None
    embeddings_failing: Mapping[str, int]
    summaries_hidden: int
    summaries_failing: Mapping[str, int]
    today: Mapping[str, int]


# Everything that an operator may want to know, in one look.
LOOK_SQL: Final = """
SELECT
    (SELECT count(*) FROM ingestion_targets WHERE done_target < target) AS places_waiting,
    (SELECT extract(epoch FROM now() - min(raised_at))::float8 FROM ingestion_targets
     WHERE done_target < target) AS oldest_place_s,
    (SELECT coalesce(jsonb_object_agg(failure, n), '{}') FROM (
        SELECT failure, count(*) AS n FROM ingestion_targets WHERE failure IS NOT NULL GROUP BY failure) AS f
    )::text AS places_failing,
    (SELECT count(*) FROM parked_ingestions) AS parked,
    (SELECT count(*) FROM memory_revocations) AS changes_waiting,
    (SELECT count(*) FROM embedding_jobs) AS embeddings_waiting,
    (SELECT extract(epoch FROM now() - min(available_at))::float8 FROM embedding_jobs) AS oldest_embedding_s,
    (SELECT coalesce(jsonb_object_agg(failure, n), '{}') FROM (
        SELECT failure, count(*) AS n FROM embedding_jobs WHERE failure IS NOT NULL GROUP BY failure) AS f
    )::text AS embeddings_failing,
    (SELECT count(*) FROM conversation_summaries WHERE stale_at IS NOT NULL) AS summaries_hidden,
    (SELECT coalesce(jsonb_object_agg(failure, n), '{}') FROM (
        SELECT failure, count(*) AS n FROM conversation_summaries WHERE failure IS NOT NULL GROUP BY failure) AS f
    )::text AS summaries_failing,
    (SELECT coalesce(jsonb_object_agg(outcome, how_many), '{}') FROM extraction_counts
     WHERE day = (now() AT TIME ZONE 'UTC')::date)::text AS today
"""


async def look(db: Db) -> Backlog:
    """How it stands now."""
    row = await db.fetchrow(LOOK_SQL)
    assert row is not None  # noqa: S101 (a SELECT without FROM has one row)
    fields: dict[str, Any] = dict(row)
    for name in ("places_failing", "embeddings_failing", "summaries_failing", "today"):
        fields[name] = orjson.loads(fields[name])
    return Backlog(**fields)
