"""Finding earlier messages by their words: of a place, and of wherever else what was said may show in it (I7).

Any word may match and rare ones count most (OR with IDF: full text alone ranks a common word like a rare one). The
weight is BM25's, over the very messages that are read, so it needs no statistics that would have to be kept. Words that
say nothing by themselves ("the", "und", "pour") find no message alone, unless the query has no other words.

How much is read is bounded however many places there are: the newest messages of each, the place's own before all, as
they stand by the index of their place; and of what is older only what has a word that is rare among those, by the index
of words.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import orjson

from memory.choices import READ
from memory.context import names_in
from memory.database import Db
from memory.ids import MessageId, PlaceId, UserId
from memory.places import SHOWN_PLACES, here_alone
from memory.scope import Scope, fetch_scoped

NEWEST_READ = 5_000
"""The newest messages of a place that a search reads, and the most older ones that it weighs besides."""

_READ_ELSEWHERE = 2_000
_LEAST_READ = 20
"""The newest messages that are read of all other places together, and of each however many there are."""

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
    place_id: PlaceId
    author_id: UserId
    author_name: str
    content: str
    created_at: datetime
    score: float
    names: Mapping[int, str]
    """What those whom it mentions were called."""


@dataclass(frozen=True, slots=True)
class FoundWords:
    """Best first.

    `how`: by whole words, by pieces of words (scripts without spaces), or not at all, since the query has no word.
    `matched` counts what was weighed; beyond the places' newest messages that is only what has a rare word.
    `why_empty` says why nothing was found (I9).
    """

    found: tuple[FoundMessage, ...]
    how: Literal["words", "pieces", "none"]
    matched: int
    why_empty: str | None


# The newest messages of the place $2 and of others that may show in it, older than $4 here and than $5 elsewhere, from
# $6 on, of the author $9 if one is given; at most $8 of the place itself, and a share for each other. COLUMNS are read
# of each beside its id. `edge` is where the reading stopped in each place that has more.
_NEWEST = f"""
{SHOWN_PLACES}, looked AS MATERIALIZED (
    SELECT place_id, CASE WHEN place_id = $2 THEN $4::bigint ELSE $5::bigint END AS before_id,
           CASE WHEN place_id = $2 THEN $8::int
                ELSE greatest({_READ_ELSEWHERE} / count(*) OVER (), {_LEAST_READ}) END AS most
    -- What was said here can be read here, also where memory is off.
    FROM (SELECT place_id FROM shown_places UNION SELECT $2::bigint) AS s
), newest AS MATERIALIZED (
    SELECT m.* FROM looked CROSS JOIN LATERAL (
        SELECT message_id, place_id, looked.most, COLUMNS
        FROM chat_messages
        WHERE space_id = $1 AND place_id = looked.place_id AND message_id < looked.before_id
          AND message_id >= $6::bigint AND deleted_at IS NULL AND author_id IS NOT NULL
          AND ($9::bigint IS NULL OR author_id = $9) AND {READ.format(author="author_id")}
        ORDER BY message_id DESC
        LIMIT looked.most
    ) AS m
), edge AS MATERIALIZED (
    SELECT place_id, min(message_id) AS message_id FROM newest GROUP BY place_id, most HAVING count(*) >= most
)"""

# Of what lies beyond the edges, what WHERE says. Found by the words first, whatever the places are: the index of places
# would lead through everything that was ever said in them.
_OLDER = f"""older AS MATERIALIZED (
    SELECT message_id, COLUMNS
    FROM (SELECT message_id, place_id, words, content FROM chat_messages
          WHERE space_id = $1 AND deleted_at IS NULL AND author_id IS NOT NULL AND message_id >= $6::bigint
            AND message_id < (SELECT max(message_id) FROM edge)
            AND ($9::bigint IS NULL OR author_id = $9) AND {READ.format(author="author_id")}
            AND {{where}} OFFSET 0) AS m
    WHERE EXISTS (SELECT FROM edge WHERE edge.place_id = m.place_id AND m.message_id < edge.message_id)
    ORDER BY message_id DESC
    LIMIT $8
)"""

_BEST = """)
SELECT m.message_id, m.place_id, m.author_id, m.author_name, m.content, m.created_at, best.score, hits,
       m.extras->>'mentions' AS mentions{terms}
FROM total LEFT JOIN (best JOIN chat_messages m ON m.space_id = $1 AND m.message_id = best.message_id) ON true
ORDER BY best.score DESC, m.message_id DESC
"""

_MATCHED_WORDS = """CASE WHEN words @@ (SELECT string_agg(operand::text, ' | ')::tsquery FROM asked WHERE NOT filler)
                THEN words END AS words"""
_RARE_WORDS = """words @@ (
                SELECT string_agg(operand::text, ' | ')::tsquery FROM asked
                WHERE NOT filler AND lexeme NOT IN (SELECT lexeme FROM common))"""

# How often the one word of `operand` stands in `words`, up to ten times: ts_rank adds up 1/n² over its n occurrences,
# times the weight that every word has here (0.1), over the limit of that sum. To take each message apart into its words
# would be exact beyond that, and cost six times as much.
_TIMES: Final = "width_bucket(ts_rank(words, operand), '{{{steps}}}'::float4[])".format(
    steps=",".join(
        f"{0.1 * sum(1 / n**2 for n in range(1, times + 1)) / (math.pi**2 / 6) - 0.0001:.6f}" for times in range(1, 11)
    )
)

# Messages with any word of the query, rarest words first. Common words would lead the index through the whole database,
# and a rare word in an old message must not be crowded out by them.
SEARCH_WORDS_SQL: Final = f"""
WITH said AS MATERIALIZED (
    SELECT word, NOT $11::bool AND {_IS_FILLER} AS filler
    FROM unnest(to_tsvector('simple', $3)) AS said (word) ORDER BY filler, word LIMIT $10
), asked AS MATERIALIZED (
    SELECT word AS lexeme,
           ('''' || replace(replace(word, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS operand,
           filler AND NOT bool_and(filler) OVER () AS filler
    FROM said
), {_NEWEST.strip().replace("COLUMNS", _MATCHED_WORDS)}, near AS MATERIALIZED (
    SELECT message_id, lexeme, {_TIMES}::float8 AS times, length(words)::float8 AS size
    FROM newest JOIN asked ON words @@ operand
), common AS MATERIALIZED (
    SELECT lexeme FROM near GROUP BY lexeme HAVING count(*) >= $8 / 20
), {_OLDER.format(where=_RARE_WORDS).replace("COLUMNS", "words")}, pair AS MATERIALIZED (
    SELECT message_id, lexeme, times, size FROM near
    UNION ALL
    SELECT message_id, lexeme, {_TIMES}, length(words) FROM older JOIN asked ON words @@ operand
), looked_at AS (
    SELECT avg(size) AS mean_size,
           ((SELECT count(*) FROM newest) + (SELECT count(*) FROM older))::float8 AS messages
    FROM pair
), rarity AS (
    SELECT lexeme, ln(1 + (messages - count(*) + 0.5::float8) / (count(*) + 0.5::float8))
                   * CASE WHEN filler THEN {_FILLER_WEIGHT}::float8 ELSE 1 END AS weight
    FROM pair JOIN asked USING (lexeme) CROSS JOIN looked_at GROUP BY lexeme, filler, messages
), scored AS MATERIALIZED (
    -- BM25 with its usual k1 = 1.2, b = 0.75
    SELECT message_id,
           sum(weight * times * 2.2::float8 / (times + 0.3::float8 + 0.9::float8 * size / mean_size)) AS score
    FROM pair JOIN rarity USING (lexeme) CROSS JOIN looked_at GROUP BY message_id
), total AS (
    SELECT count(*) AS hits FROM scored
), best AS (
    SELECT message_id, score FROM scored ORDER BY score DESC, message_id DESC LIMIT $7
{_BEST.format(terms=", (SELECT count(*) FROM asked) AS terms").strip()}
"""

# The same, in the place $2 alone.
SEARCH_WORDS_HERE_SQL: Final = here_alone(SEARCH_WORDS_SQL)

_RARE_PIECES = """lower(content) LIKE ANY ((
                SELECT array_agg(pattern) FROM asked
                WHERE NOT filler AND piece NOT IN (SELECT piece FROM common))::text[])"""

# Messages that contain any of the pieces, by the same two steps. No index knows pieces: for rare ones it reads the
# place whole, and of others the newest messages alone.
SEARCH_PIECES_SQL: Final = f"""
WITH said AS MATERIALIZED (
    SELECT word, {_IS_FILLER} AS filler FROM unnest($3::text[]) AS said (word)
), asked AS MATERIALIZED (
    SELECT word AS piece,
           '%' || replace(replace(replace(word, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%' AS pattern,
           filler AND NOT bool_and(filler) OVER () AS filler
    FROM said
), {_NEWEST.strip().replace("COLUMNS", "lower(content) AS plain")}, near AS MATERIALIZED (
    SELECT message_id, piece, filler FROM newest JOIN asked ON strpos(plain, piece) > 0
), common AS MATERIALIZED (
    SELECT piece FROM near GROUP BY piece HAVING count(*) >= $8 / 20
), older AS MATERIALIZED (
    SELECT m.message_id, lower(m.content) AS plain
    FROM edge JOIN chat_messages m ON m.message_id < edge.message_id
    WHERE edge.place_id = $2 AND m.space_id = $1 AND m.place_id = $2 AND m.message_id >= $6::bigint
      AND m.deleted_at IS NULL AND m.author_id IS NOT NULL
      AND ($9::bigint IS NULL OR m.author_id = $9) AND {READ.format(author="m.author_id")}
      AND {_RARE_PIECES.replace("content", "m.content")}
    ORDER BY m.message_id DESC
    LIMIT $8
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
    LIMIT $7
{_BEST.format(terms="").strip()}
"""

# The same, in the place $2 alone.
SEARCH_PIECES_HERE_SQL: Final = here_alone(SEARCH_PIECES_SQL)


async def search_words(
    db: Db,
    scope: Scope,
    query: str,
    *,
    limit: int,
    before_id: MessageId | None,
    elsewhere_before_id: MessageId | None = None,
    since: int = 0,
    person: UserId | None = None,
    within_s: float | None = None,
    content_only: bool = False,
    elsewhere: bool = True,
) -> FoundWords:
    """The `limit` best messages with any word of `query`, older than `before_id`, from the snowflake `since` on: of the
    scope's place, and of others whose words may show there, which are older than `elsewhere_before_id` if it is given.
    `person`: only what they wrote.

    Deleted messages, and those that were only heard of, are left out. `within_s` bounds the statement, in seconds.
    `content_only`: the query has no word that says nothing by itself, so that none is looked for. Without `elsewhere`
    nothing of other places is found, whatever may show.
    """
    before = before_id if before_id is not None else _NEWEST_ID
    bounds = (before, before if elsewhere_before_id is None else elsewhere_before_id, since, limit, NEWEST_READ, person)
    pieces = _pieces(query)
    if pieces:
        statement = SEARCH_PIECES_SQL if elsewhere else SEARCH_PIECES_HERE_SQL
        rows = await fetch_scoped(db, statement, scope, pieces, *bounds, timeout=within_s)
        how = "pieces"
    else:
        statement = SEARCH_WORDS_SQL if elsewhere else SEARCH_WORDS_HERE_SQL
        rows = await fetch_scoped(db, statement, scope, query, *bounds, _MOST_TERMS, content_only, timeout=within_s)
        how = "words"
        if rows[0]["terms"] == 0:
            return FoundWords((), "none", 0, "the query has no word to search for")
    found = tuple(
        FoundMessage(
            MessageId(row["message_id"]),
            PlaceId(row["place_id"]),
            UserId(row["author_id"]),
            row["author_name"] or "",
            row["content"],
            row["created_at"],
            row["score"],
            names_in(orjson.loads(row["mentions"] or "{}")),
        )
        for row in rows
        if row["message_id"] is not None
    )
    why = None if found else "no earlier message that may show here has any of these words"
    return FoundWords(found, how, rows[0]["hits"], why)


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
