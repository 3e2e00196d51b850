"""Finding earlier messages of a place by their words.

Any word may match and rare ones count most (OR with IDF: full text alone ranks a common word like a rare one). The
weight is BM25's, over the messages of the place that match at all, so it takes one pass and no statistics of its own.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.database import Db
from memory.ids import MessageId, UserId
from memory.scope import Scope, fetch_scoped

MOST_CONSIDERED = 5_000
"""Of the messages that match, the newest so many are weighed, and as many again of those with a rare word."""

_MOST_TERMS = 32
_NEWEST_ID = MessageId(2**63 - 1)

# Scripts written without spaces between words, in which a text search configuration sees a whole sentence as one word:
# Thai, Lao, Myanmar, Khmer, the CJK ideographs with kana, and Hangul, whose words carry their particles.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message as it reads now. `score` only orders the messages of one search."""

    message_id: MessageId
    author_id: UserId
    author_name: str
    content: str
    created_at: datetime
    score: float


@dataclass(frozen=True, slots=True)
class FoundWords:
    """Best first.

    `how`: by whole words, by pieces of words (scripts without spaces), or not at all, since the query has no word.
    `matched` counts what was weighed: all that match, while they are fewer than MOST_CONSIDERED.
    `why_empty` says why nothing was found (I9).
    """

    found: tuple[FoundMessage, ...]
    how: Literal["words", "pieces", "none"]
    matched: int
    why_empty: str | None


# The place's messages with any word of the query, rarest words first. Where common words fill the newest matches by
# themselves, the rest of the words is looked up alone: a rare word in an old message must not be crowded out.
SEARCH_WORDS_SQL = """
WITH asked AS MATERIALIZED (
    SELECT lexeme, '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''' AS operand
    FROM unnest(to_tsvector('simple', $3)) LIMIT $6
), newest AS MATERIALIZED (
    SELECT message_id, words
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < $4 AND deleted_at IS NULL AND author_id IS NOT NULL
      AND words @@ (SELECT string_agg(operand, ' | ')::tsquery FROM asked)
    ORDER BY message_id DESC
    LIMIT $7
), common AS MATERIALIZED (
    SELECT lexeme FROM newest CROSS JOIN LATERAL unnest(newest.words) JOIN asked USING (lexeme)
    GROUP BY lexeme HAVING count(*) >= $7 / 10
), older AS MATERIALIZED (
    SELECT message_id, words
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < (SELECT min(message_id) FROM newest)
      AND deleted_at IS NULL AND author_id IS NOT NULL
      AND words @@ (
          SELECT string_agg(operand, ' | ')::tsquery FROM asked
          WHERE lexeme NOT IN (SELECT lexeme FROM common) AND (SELECT count(*) FROM newest) >= $7
      )
    ORDER BY message_id DESC
    LIMIT $7
), hit AS MATERIALIZED (
    SELECT message_id, words, length(words) AS size FROM newest
    UNION ALL
    SELECT message_id, words, length(words) FROM older
), total AS (
    SELECT count(*) AS hits, avg(size) AS mean_size FROM hit
), pair AS MATERIALIZED (
    SELECT hit.message_id, lexeme, cardinality(positions) AS times, size
    FROM hit CROSS JOIN LATERAL unnest(hit.words) JOIN asked USING (lexeme)
), rarity AS (
    SELECT lexeme, ln(1 + (hits - count(*) + 0.5) / (count(*) + 0.5)) AS weight
    FROM pair CROSS JOIN total GROUP BY lexeme, hits
), best AS (
    -- BM25 with its usual k1 = 1.2, b = 0.75
    SELECT message_id, sum(weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * size / mean_size)))::float8 AS score
    FROM pair JOIN rarity USING (lexeme) CROSS JOIN total
    GROUP BY message_id
    ORDER BY score DESC, message_id DESC
    LIMIT $5
)
SELECT m.message_id, m.author_id, m.author_name, m.content, m.created_at, best.score, hits,
       (SELECT count(*) FROM asked) AS terms
FROM total LEFT JOIN (best JOIN chat_messages m ON m.space_id = $1 AND m.message_id = best.message_id) ON true
ORDER BY best.score DESC, m.message_id DESC
"""

# The place's messages that contain any of the pieces, rarest first, by the same two steps. No index knows pieces: it
# reads the place, from its newest message on.
SEARCH_PIECES_SQL = """
WITH asked AS MATERIALIZED (
    SELECT piece, '%' || replace(replace(replace(piece, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%' AS pattern
    FROM unnest($3::text[]) AS piece
), newest AS MATERIALIZED (
    SELECT message_id, lower(content) AS plain
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < $4 AND deleted_at IS NULL AND author_id IS NOT NULL
      AND lower(content) LIKE ANY ((SELECT array_agg(pattern) FROM asked)::text[])
    ORDER BY message_id DESC
    LIMIT $6
), common AS MATERIALIZED (
    SELECT piece FROM newest JOIN asked ON strpos(plain, piece) > 0 GROUP BY piece HAVING count(*) >= $6 / 10
), older AS MATERIALIZED (
    SELECT message_id, lower(content) AS plain
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < (SELECT min(message_id) FROM newest)
      AND deleted_at IS NULL AND author_id IS NOT NULL
      AND lower(content) LIKE ANY ((
          SELECT array_agg(pattern) FROM asked
          WHERE piece NOT IN (SELECT piece FROM common) AND (SELECT count(*) FROM newest) >= $6
      )::text[])
    ORDER BY message_id DESC
    LIMIT $6
), hit AS MATERIALIZED (
    SELECT message_id, plain FROM newest UNION ALL SELECT message_id, plain FROM older
), total AS (
    SELECT count(*) AS hits FROM hit
), pair AS MATERIALIZED (
    SELECT message_id, piece FROM hit JOIN asked ON strpos(plain, piece) > 0
), rarity AS (
    SELECT piece, ln(1 + (hits - count(*) + 0.5) / (count(*) + 0.5)) AS weight
    FROM pair CROSS JOIN total GROUP BY piece, hits
), best AS (
    SELECT message_id, sum(weight)::float8 AS score
    FROM pair JOIN rarity USING (piece)
    GROUP BY message_id
    ORDER BY score DESC, message_id DESC
    LIMIT $5
)
SELECT m.message_id, m.author_id, m.author_name, m.content, m.created_at, best.score, hits
FROM total LEFT JOIN (best JOIN chat_messages m ON m.space_id = $1 AND m.message_id = best.message_id) ON true
ORDER BY best.score DESC, m.message_id DESC
"""


async def search_words(
    db: Db,
    scope: Scope,
    query: str,
    *,
    limit: int,
    before_id: MessageId | None,
    within_s: float | None = None,
) -> FoundWords:
    """The `limit` best messages of the scope's place with any word of `query`, older than `before_id`.

    Deleted messages, and those that were only heard of, are left out. `within_s` bounds the statement, in seconds.
    """
    before = before_id if before_id is not None else _NEWEST_ID
    pieces = _pieces(query)
    if pieces:
        rows = await fetch_scoped(
            db, SEARCH_PIECES_SQL, scope, pieces, before, limit, MOST_CONSIDERED, timeout=within_s
        )
        how = "pieces"
    else:
        rows = await fetch_scoped(
            db, SEARCH_WORDS_SQL, scope, query, before, limit, _MOST_TERMS, MOST_CONSIDERED, timeout=within_s
        )
        how = "words"
        if rows[0]["terms"] == 0:
            return FoundWords((), "none", 0, "the query has no word to search for")
    found = tuple(
        FoundMessage(
            MessageId(row["message_id"]),
            UserId(row["author_id"]),
            row["author_name"] or "",
            row["content"],
            row["created_at"],
            row["score"],
        )
        for row in rows
        if row["message_id"] is not None
    )
    return FoundWords(found, how, rows[0]["hits"], None if found else "no earlier message here has any of these words")


def _pieces(query: str) -> list[str]:
    """What to look for where words have no spaces: each two neighbouring characters, and the query's other words.

    Empty if the query is in scripts with spaces only.
    """
    folded = query.lower()
    if not _UNSPACED.search(folded):
        return []
    pieces: dict[str, None] = {}
    for run in _UNSPACED.findall(folded):
        pieces.update(dict.fromkeys([run] if len(run) < 2 else [run[at : at + 2] for at in range(len(run) - 1)]))
    pieces.update(dict.fromkeys(_WORD.findall(_UNSPACED.sub(" ", folded))))
    return list(pieces)[:_MOST_TERMS]
