"""What the bot did in a place before: its finished runs, for the bot itself to look up (I7: the place's own alone).

A run keeps no member's words; those of its trigger are read as they stand now, and a run whose trigger was deleted is
not told of any more (I8).
"""

from collections.abc import Sequence
from typing import Final

import structlog
from asyncpg import Record

from memory.choices import READ
from memory.database import Db, is_passing
from memory.ids import MessageId, RunId, UserId
from memory.scope import Scope, fetch_scoped
from tools.errors import Refused
from tools.ports import ActivityKind, PastCall, PastRun, RunLog

log = structlog.get_logger(__name__)

NEWEST_READ: Final = 1_000
"""The newest runs of a place that a search reads."""

MOST_CALLS: Final = 50
MOST_TERMS: Final = 32
WITHIN_S: Final = 8.0

_UNAVAILABLE: Final = "Your record could not be read, so it is not known whether there are such runs. Say so."

_FINISHED: Final = f"""
FROM agent_runs r JOIN chat_messages m ON m.space_id = r.space_id AND m.message_id = r.trigger_id
CROSS JOIN LATERAL (
    SELECT bool_or(effect = 'write') AS acted, bool_or(tool = 'web_search') AS researched
    FROM agent_tool_calls c WHERE c.run_id = r.run_id AND c.state = 'done'
) AS did
WHERE r.space_id = $1 AND r.place_id = $2 AND r.state <> 'running' AND m.deleted_at IS NULL
  AND {READ.format(author="m.author_id")}
  AND CASE $3::text
      WHEN 'answered' THEN r.state = 'answered'
      WHEN 'failed' THEN r.state <> 'answered'
      WHEN 'acted' THEN did.acted
      WHEN 'researched' THEN did.researched
      ELSE true END
"""
_COLUMNS: Final = """
r.run_id, r.trigger_id, r.member_id, r.state, r.end_reason, coalesce(r.summary, '') AS summary, r.keywords,
m.content AS request, r.started_at, r.ended_at
"""

# A place's newest finished runs of a kind.
LIST_RUNS_SQL: Final = f"SELECT {_COLUMNS} {_FINISHED} ORDER BY r.run_id DESC LIMIT $4"

# The finished runs of a place and kind with words of the query in trigger, summary or keywords: rare words count most.
SEARCH_RUNS_SQL: Final = f"""
WITH asked AS MATERIALIZED (
    SELECT lexeme FROM unnest(to_tsvector('simple', $5)) LIMIT $6
), recent AS MATERIALIZED (
    SELECT {_COLUMNS},
           to_tsvector('simple', concat_ws(' ', m.content, r.summary, array_to_string(r.keywords, ' '))) AS words,
           strpos(lower(concat_ws(' ', m.content, r.summary)), lower($5)) > 0 AS whole
    {_FINISHED}
    ORDER BY r.run_id DESC LIMIT $7
), pair AS MATERIALIZED (
    SELECT run_id, lexeme FROM recent CROSS JOIN LATERAL unnest(words) JOIN asked USING (lexeme)
), rarity AS (
    SELECT lexeme, ln(1 + (SELECT count(*) FROM recent) / count(*)::float8) AS weight FROM pair GROUP BY lexeme
), scored AS (
    SELECT run_id, sum(weight) AS score FROM pair JOIN rarity USING (lexeme) GROUP BY run_id
)
SELECT recent.*
FROM recent LEFT JOIN scored USING (run_id)
WHERE whole OR score IS NOT NULL
ORDER BY whole DESC, score DESC NULLS LAST, run_id DESC
LIMIT $4
"""

# One finished run of a place.
GET_RUN_SQL: Final = f"SELECT {_COLUMNS} {_FINISHED} AND r.run_id = $4"

# The calls of a run of a place, in the model's order.
RUN_CALLS_SQL: Final = """
SELECT c.step, c.ordinal, c.tool, c.state, c.error_code, c.result_preview
FROM agent_tool_calls c JOIN agent_runs r USING (run_id)
WHERE r.space_id = $1 AND r.place_id = $2 AND run_id = $3
ORDER BY c.step, c.ordinal LIMIT $4
"""


class PlaceActivity:
    """A tools.ports.Activity for the place of `scope`. Raises Refused: activity_unavailable (I9)."""

    def __init__(self, db: Db, scope: Scope) -> None:
        self._db = db
        self._scope = scope

    async def list(self, *, kind: ActivityKind, limit: int) -> Sequence[PastRun]:
        """The newest runs."""
        return [_run(row) for row in await self._fetch(LIST_RUNS_SQL, kind, limit)]

    async def search(self, query: str, *, kind: ActivityKind, limit: int) -> Sequence[PastRun]:
        """The runs with words of the query, best first."""
        rows = await self._fetch(SEARCH_RUNS_SQL, kind, limit, query, MOST_TERMS, NEWEST_READ)
        return [_run(row) for row in rows]

    async def get(self, run_id: RunId) -> RunLog:
        """One run with its calls. Raises Refused: not_found."""
        rows = await self._fetch(GET_RUN_SQL, "any", run_id)
        if not rows:
            raise Refused("not_found", "You have no finished run of that id in this place.")
        calls = await self._fetch(RUN_CALLS_SQL, run_id, MOST_CALLS)
        return RunLog(_run(rows[0]), tuple(PastCall(*call) for call in calls))

    async def _fetch(self, statement: str, *args: object) -> Sequence[Record]:
        try:
            return await fetch_scoped(self._db, statement, self._scope, *args, timeout=WITHIN_S)
        except Exception as fault:
            if not is_passing(fault):
                raise
            log.warning("activity.unavailable", error=type(fault).__name__)
            raise Refused("activity_unavailable", _UNAVAILABLE) from fault


def _run(row: Record) -> PastRun:
    return PastRun(
        RunId(row["run_id"]),
        MessageId(row["trigger_id"]),
        UserId(row["member_id"]),
        row["state"],
        row["end_reason"],
        row["summary"],
        tuple(row["keywords"]),
        row["request"],
        row["started_at"],
        row["ended_at"],
    )
