"""Finding earlier messages of a place by their words.

Any word may match and rare ones count most (OR with IDF: full text alone ranks a common word like a rare one). The
weight is BM25's, over messages of the place itself, so it needs no statistics that would have to be kept. Words that
say nothing by themselves ("the", "und", "pour") find no message alone, unless the query has no other words.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.choices import READ
from memory.database import Db
from memory.ids import MessageId, UserId
from memory.scope import Scope, fetch_scoped

NEWEST_READ = 5_000
"""The newest messages of a place that a search reads, and the most older ones that it weighs besides."""

_MOST_TERMS = 32
_NEWEST_ID = MessageId(2**63 - 1)

# Scripts written without spaces between words, in which a text search configuration sees a whole sentence as one word:
# Thai, Lao, Myanmar, Khmer, the CJK ideographs with kana, and Hangul, whose words carry their particles.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"\w+")

# Whether `word` is a stop word in one of the languages whose stop words PostgreSQL knows: to_tsvector leaves nothing.
_IS_FILLER = """EXISTS (
        SELECT FROM unnest('{danish,dutch,english,finnish,french,german,hungarian,italian,norwegian,portuguese,russian,
                             spanish,swedish,turkish}'::regconfig[]) AS language
        WHERE to_tsvector(language, word) = ''
    )"""
_FILLER_WEIGHT = 0.1


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
    `matched` counts what was weighed; beyond the place's newest messages that is only what has a rare word.
    `why_empty` says why nothing was found (I9).
    """

    found: tuple[FoundMessage, ...]
    how: Literal["words", "pieces", "none"]
    matched: int
    why_empty: str | None


# The place's messages with any word of the query, rarest words first. Its newest messages are read as they stand; what
# is older is looked up in the index, by the words that are rare among the newest: common ones would lead it through the
# whole database, and a rare word in an old message must not be crowded out by them.
SEARCH_WORDS_SQL = f"""
WITH said AS MATERIALIZED (
    SELECT word, {_IS_FILLER} AS filler
    FROM unnest(to_tsvector('simple', $3)) AS said (word) ORDER BY filler, word LIMIT $6
), asked AS MATERIALIZED (
    SELECT word AS lexeme, '''' || replace(replace(word, '\\', '\\\\'), '''', '''''') || '''' AS operand,
           filler AND NOT bool_and(filler) OVER () AS filler
    FROM said
), newest AS MATERIALIZED (
    SELECT message_id,
           CASE WHEN words @@ (SELECT string_agg(operand, ' | ')::tsquery FROM asked WHERE NOT filler)
                THEN words END AS words
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < $4 AND deleted_at IS NULL AND author_id IS NOT NULL
      AND {READ.format(author="author_id")}
    ORDER BY message_id DESC
    LIMIT $7
), near AS MATERIALIZED (
    SELECT message_id, lexeme, cardinality(positions) AS times, length(words) AS size
    FROM newest CROSS JOIN LATERAL unnest(words) JOIN asked USING (lexeme)
), common AS MATERIALIZED (
    SELECT lexeme FROM near GROUP BY lexeme HAVING count(*) >= $7 / 20
), older AS MATERIALIZED (
    SELECT message_id, words
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < (SELECT min(message_id) FROM newest)
      AND deleted_at IS NULL AND author_id IS NOT NULL AND {READ.format(author="author_id")}
      AND words @@ (
          SELECT string_agg(operand, ' | ')::tsquery FROM asked
          WHERE NOT filler AND lexeme NOT IN (SELECT lexeme FROM common) AND (SELECT count(*) FROM newest) >= $7
      )
    ORDER BY message_id DESC
    LIMIT $7
), pair AS MATERIALIZED (
    SELECT message_id, lexeme, times, size FROM near
    UNION ALL
    SELECT message_id, lexeme, cardinality(positions), length(words)
    FROM older CROSS JOIN LATERAL unnest(words) JOIN asked USING (lexeme)
), total AS (
    SELECT count(DISTINCT message_id) AS hits, avg(size)::float8 AS mean_size,
           (SELECT count(*) FROM newest) + (SELECT count(*) FROM older) AS messages
    FROM pair
), rarity AS (
    SELECT lexeme, ln(1 + (messages - count(*) + 0.5) / (count(*) + 0.5))::float8
                   * CASE WHEN filler THEN {_FILLER_WEIGHT} ELSE 1 END AS weight
    FROM pair JOIN asked USING (lexeme) CROSS JOIN total GROUP BY lexeme, filler, messages
), best AS (
    -- BM25 with its usual k1 = 1.2, b = 0.75
    SELECT message_id, sum(weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * size / mean_size))) AS score
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

# The place's messages that contain any of the pieces, by the same two steps. No index knows pieces: for rare ones it
# reads the whole place.
SEARCH_PIECES_SQL = f"""
WITH said AS MATERIALIZED (
    SELECT word, {_IS_FILLER} AS filler FROM unnest($3::text[]) AS said (word)
), asked AS MATERIALIZED (
    SELECT word AS piece,
           '%' || replace(replace(replace(word, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%' AS pattern,
           filler AND NOT bool_and(filler) OVER () AS filler
    FROM said
), newest AS MATERIALIZED (
    SELECT message_id, lower(content) AS plain
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < $4 AND deleted_at IS NULL AND author_id IS NOT NULL
      AND {READ.format(author="author_id")}
    ORDER BY message_id DESC
    LIMIT $6
), near AS MATERIALIZED (
    SELECT message_id, piece, filler FROM newest JOIN asked ON strpos(plain, piece) > 0
), common AS MATERIALIZED (
    SELECT piece FROM near GROUP BY piece HAVING count(*) >= $6 / 20
), older AS MATERIALIZED (
    SELECT message_id, lower(content) AS plain
    FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id < (SELECT min(message_id) FROM newest)
      AND deleted_at IS NULL AND author_id IS NOT NULL AND {READ.format(author="author_id")}
      AND lower(content) LIKE ANY ((
          SELECT array_agg(pattern) FROM asked
          WHERE NOT filler AND piece NOT IN (SELECT piece FROM common) AND (SELECT count(*) FROM newest) >= $6
      )::text[])
    ORDER BY message_id DESC
    LIMIT $6
), pair AS MATERIALIZED (
    SELECT message_id, piece, filler FROM near
    UNION ALL
    SELECT message_id, piece, filler FROM older JOIN asked ON strpos(plain, piece) > 0
), total AS (
    SELECT count(DISTINCT message_id) FILTER (WHERE NOT filler) AS hits,
           (SELECT count(*) FROM newest) + (SELECT count(*) FROM older) AS messages
    FROM pair
), rarity AS (
    SELECT piece, ln(1 + (messages - count(*) + 0.5) / (count(*) + 0.5))::float8
                  * CASE WHEN filler THEN {_FILLER_WEIGHT} ELSE 1 END AS weight
    FROM pair CROSS JOIN total GROUP BY piece, filler, messages
), best AS (
    SELECT message_id, sum(weight) AS score
    FROM pair JOIN rarity USING (piece)
    GROUP BY message_id
    HAVING NOT bool_and(filler)
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
        rows = await fetch_scoped(db, SEARCH_PIECES_SQL, scope, pieces, before, limit, NEWEST_READ, timeout=within_s)
        how = "pieces"
    else:
        rows = await fetch_scoped(
            db, SEARCH_WORDS_SQL, scope, query, before, limit, _MOST_TERMS, NEWEST_READ, timeout=within_s
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
