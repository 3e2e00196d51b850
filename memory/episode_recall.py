"""Episodes as recall finds them: by words, vectors and time, under the same scope, audience rule, order and ledger.

A space keeps some thousand of them, so both arms read all that may show: no vector is missed, and rarity is counted
among the very rows. An episode belongs to its place, so the audience rule alone says who may see it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from asyncpg import Record

from memory.candidates import Candidate, Looked, Query
from memory.choices import REMEMBERED
from memory.database import Borrowed, Connection
from memory.ids import MessageId, PlaceId, UserId
from memory.places import SHOWN_PLACES
from memory.ranking import Bearings, Floors, Ranked, Reason, rank
from memory.scope import Scope, fetch_scoped
from memory.selection import LeftOut, Limits, pool_of, select, tokens_of

ARM_POOL: Final = 40
LIMITS: Final = Limits(items=2, chars=4_500, tokens=1_500)
ASKED_CHARS: Final = 500
SAID_CHARS: Final = 1_500
"""What is shown of both sides; the whole is longer."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode that was recalled, both sides shortened. `score` and `cosine` are of this recall."""

    episode_id: int
    place_id: PlaceId
    asker_id: UserId
    asker_name: str
    question: str
    answer: str
    said_at: datetime
    said_id: MessageId
    reason: Reason
    score: float
    cosine: float | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Episodes:
    """Best first; how many were considered, and what was left out and why."""

    chosen: tuple[Episode, ...]
    considered: int
    left_out: Mapping[LeftOut, int]
    saved_tokens: int


NONE: Final = Episodes((), 0, {}, 0)

# Episodes that have words of the text $3, or vectors near $5 of the model $4, or are of the time $6 to $7; of the asker
# $8 and the time $9 to $10 alone where those are given. A word counts by its rarity among the episodes that may show.
FIND_EPISODES_SQL: Final = f"""
WITH {SHOWN_PLACES}, may AS MATERIALIZED (
    SELECT e.episode_id, e.said_id, e.place_id FROM memory_episodes e
    WHERE e.space_id = $1 AND e.place_id IN (SELECT place_id FROM shown_places)
      AND ($8::bigint IS NULL OR e.asker_id = $8)
      AND ($9::bigint IS NULL OR e.said_id >= $9) AND ($10::bigint IS NULL OR e.said_id < $10)
), asked AS MATERIALIZED (
    SELECT term FROM memory_terms_of($3) LIMIT 64
), matched AS MATERIALIZED (
    SELECT m.episode_id, a.term
    FROM asked a CROSS JOIN LATERAL (
        SELECT e.episode_id FROM memory_episodes e
        WHERE e.space_id = $1 AND e.terms @> ARRAY[hashtextextended(a.term, $1)] OFFSET 0
    ) AS m
    -- Each asks a table of hashes: as a join, the planner would go through all that may show for each.
    WHERE (m.episode_id IN (SELECT episode_id FROM may)) IS TRUE
), rarity AS MATERIALIZED (
    SELECT a.term, ln(1 + (c.episodes - count(m.term) + 0.5::float8) / (count(m.term) + 0.5::float8)) AS weight
    FROM asked a CROSS JOIN (SELECT count(*) AS episodes FROM may) AS c LEFT JOIN matched m USING (term)
    GROUP BY a.term, c.episodes
), hits AS MATERIALIZED (
    SELECT m.episode_id, sum(r.weight) AS words, sum(r.weight) / (SELECT sum(weight) FROM rarity) AS terms
    FROM matched m JOIN rarity r USING (term) GROUP BY m.episode_id
    ORDER BY words DESC, m.episode_id DESC LIMIT {ARM_POOL}
), near AS MATERIALIZED (
    SELECT e.episode_id, (1 - (e.embedding <=> $5::halfvec))::float8 AS cosine
    FROM memory_episodes e JOIN may USING (episode_id) WHERE e.model_id = $4::int
), nearest AS MATERIALIZED (
    SELECT episode_id FROM near ORDER BY cosine DESC, episode_id DESC LIMIT {ARM_POOL}
), in_window AS MATERIALIZED (
    SELECT episode_id FROM may WHERE said_id >= $6::bigint AND said_id < $7::bigint
    ORDER BY said_id DESC, episode_id DESC LIMIT {ARM_POOL}
), pool AS MATERIALIZED (
    SELECT episode_id, max(cosine) AS cosine, max(words) AS words, max(terms) AS terms
    FROM (
        SELECT episode_id, NULL::float8 AS cosine, words, terms, true AS wanted FROM hits
        UNION ALL SELECT episode_id, cosine, NULL, NULL, false FROM near
        UNION ALL SELECT episode_id, NULL, NULL, NULL, true FROM nearest
        UNION ALL SELECT episode_id, NULL, NULL, NULL, true FROM in_window
    ) AS m
    GROUP BY episode_id HAVING bool_or(wanted)
)
SELECT l.episode_id, l.place_id, l.asker_id, l.asker_name, l.content_hash, l.question, l.answer, l.said_at, l.said_id,
       p.cosine, coalesce(p.words, 0) AS words, coalesce(p.terms, 0) AS terms
FROM pool p JOIN live_episodes l USING (episode_id)
WHERE l.space_id = $1 AND {REMEMBERED.format(author="l.asker_id")}
"""


async def recall_episodes(
    conn: Borrowed | Connection,
    scope: Scope,
    looked: Looked,
    query: Query | None,
    bearings: Bearings,
    floors: Floors,
    *,
    shown_ids: Collection[int] = (),
    limits: Limits = LIMITS,
) -> Episodes:
    """The relevant episodes. `shown_ids`: messages that the model sees anyway; their episodes are left out.

    Kinds are of memories: where some are asked for, there is no episode. The floors are those of memories: questions in
    other words have cosines from 0.85 with the embedded model, other questions up to 0.835.
    """
    wanted = looked.wanted
    if wanted.kinds is not None:
        return NONE
    spans = [bound for span in (looked.span, wanted.span) for bound in (span and span.since, span and span.until)]
    rows = await fetch_scoped(
        conn,
        FIND_EPISODES_SQL,
        scope,
        looked.text,
        query and query.model_id,
        query and query.vector,
        *spans[:2],
        wanted.person,
        *spans[2:],
    )
    by_id = {row["episode_id"]: row for row in rows}
    # Each has to be reason enough by itself: a turn is long, and one word in it is no reason.
    answering = [each for each in map(_candidate, rows) if rank([each], bearings, floors)]
    ranked = rank(answering, bearings, floors)
    seen = {each.candidate.memory_id for each in ranked if each.candidate.said_id in shown_ids}
    # What is shown anyway does not come again: the model reads it where it stands.
    fresh = [each for each in ranked if each.candidate.memory_id not in seen]
    selected = select(fresh, (), {}, floors, limits)
    left_out = dict(selected.left_out)
    if seen:
        left_out["seen"] = len(seen)
    saved = sum(tokens_of(each) for each in pool_of(ranked, limits) if each.candidate.memory_id in seen)
    chosen = tuple(_episode(each, by_id[each.candidate.memory_id]) for each in selected.chosen)
    return Episodes(chosen, len(rows), left_out, selected.saved_tokens + saved)


def _candidate(row: Record) -> Candidate:
    return Candidate(
        memory_id=row["episode_id"],
        version=1,
        scope="channel",
        owner_id=row["place_id"],
        place_id=PlaceId(row["place_id"]),
        kind="event",
        key=None,
        content=f"{_short(row['question'], ASKED_CHARS)}\n{_short(row['answer'], SAID_CHARS)}",
        content_hash=row["content_hash"],
        author_id=UserId(row["asker_id"]),
        author_name=row["asker_name"],
        said_at=row["said_at"],
        said_id=MessageId(row["said_id"]),
        importance=0.5,
        confidence=0.8,
        pinned=False,
        uses=0,
        cosine=row["cosine"],
        words=row["words"],
        terms=row["terms"],
        before_ids=(),
        after_ids=(),
        found=True,
    )


def _episode(each: Ranked, row: Record) -> Episode:
    found = each.candidate
    return Episode(
        row["episode_id"],
        found.place_id,
        found.author_id,
        found.author_name,
        _short(row["question"], ASKED_CHARS),
        _short(row["answer"], SAID_CHARS),
        found.said_at,
        found.said_id,
        each.reason,
        each.score,
        found.cosine,
        tokens_of(each),
    )


def _short(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"


# Write down which episodes a recall surfaced, after its memories.
NOTE_EPISODES_SQL: Final = """
INSERT INTO recall_episodes (recall_id, rank, space_id, episode_id, reason, score, cosine, tokens)
SELECT $3, $4 + t.rank, $1, t.episode_id, t.reason, t.score, t.cosine, t.tokens
FROM unnest($5::bigint[], $6::text[], $7::float8[], $8::float8[], $9::int[])
    WITH ORDINALITY AS t (episode_id, reason, score, cosine, tokens, rank)
-- Somebody's may have been erased meanwhile.
JOIN memory_episodes e ON e.episode_id = t.episode_id AND e.space_id = $1
WHERE EXISTS (SELECT FROM recalls r WHERE r.recall_id = $3 AND r.space_id = $1 AND r.place_id = $2)
"""


async def note_episodes(
    conn: Borrowed | Connection, scope: Scope, recall_id: int, chosen: Sequence[Episode], *, after: int, scored: bool
) -> None:
    """Their ranks follow the `after` memories of the recall; without vectors their scores are null."""
    if chosen:
        await fetch_scoped(
            conn,
            NOTE_EPISODES_SQL,
            scope,
            recall_id,
            after,
            [each.episode_id for each in chosen],
            [each.reason for each in chosen],
            [each.score if scored else None for each in chosen],
            [each.cosine if scored else None for each in chosen],
            [each.tokens for each in chosen],
        )


# An answer cited episodes: only those that a recall of its run surfaced count.
EPISODES_REFERENCED_SQL: Final = """
UPDATE recall_episodes i SET referenced_at = now()
WHERE i.recall_id IN (SELECT recall_id FROM recalls WHERE space_id = $1 AND place_id = $2 AND run_id = $3)
  AND i.episode_id = ANY($4::bigint[]) AND i.referenced_at IS NULL
"""
