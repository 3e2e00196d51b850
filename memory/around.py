"""What a space is like for a recall, before anything is looked for: whom it knows, and how much there is to compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.choices import PLACE_REMEMBERS
from memory.database import Borrowed, Connection
from memory.embedding import INDEXED_FROM
from memory.ids import UserId
from memory.places import SHOWN_PLACES
from memory.scope import Scope, fetch_scoped

EXACT_MOST: Final = INDEXED_FROM
"""Vectors that are compared one by one: up to here that is about as quick as an index, and it never misses any."""

SHOWN_MOST: Final = 2_500
"""Where a place shows no more memories of a large space than these, theirs alone are compared: each costs about four
times what a vector costs that is read beside others, and an index would have to look at too many that do not show."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a space is like for a recall: whom its memories call by a word of the question, and its vectors of a model.

    `members` and `names`: authors of memories that may show here, and the words of the question that name them.
    `model_id` is None where no memory was ever embedded with it. `vectors` of the space, and where it has too many the
    memories `shown` here, are counted no further than where the index is the better way; `indexed`: the space has
    an index of its own. `embedded`: there is a vector of a memory or an episode. `remembers`: memory is on in the
    place. `episodes`: there are any to be looked at.
    """

    members: tuple[UserId, ...]
    names: tuple[str, ...]
    model_id: int | None
    vectors: int
    shown: int
    indexed: bool
    embedded: bool
    remembers: bool
    episodes: bool


# Members whom memories that may show here call by one of these words, and how many vectors of a model the space has,
# as far as it matters. Words that only hold a sentence together are nobody's name.
AROUND_SQL: Final = f"""
WITH {SHOWN_PLACES}, called AS (
    SELECT w.word, i.author_id
    FROM unnest($3::text[]) AS w (word)
    CROSS JOIN LATERAL (
        SELECT DISTINCT author_id FROM memory_items i
        WHERE i.space_id = $1 AND i.state = 'active' AND lower(split_part(i.author_name, ' ', 1)) = w.word
          AND i.place_id IN (SELECT place_id FROM shown_places)
        LIMIT 5
    ) AS i
    WHERE to_tsvector('public.muninn', w.word) <> ''
    UNION ALL
    -- A word of no memory that begins the name of one author, and of no other, is short for it.
    SELECT w.word, min(i.author_id)
    FROM unnest($3::text[]) AS w (word)
    CROSS JOIN LATERAL (
        SELECT DISTINCT author_id FROM memory_items i
        WHERE i.space_id = $1 AND i.state = 'active' AND lower(split_part(i.author_name, ' ', 1)) > w.word
          AND lower(split_part(i.author_name, ' ', 1)) < w.word || chr(1114111)
          AND starts_with(lower(split_part(i.author_name, ' ', 1)), w.word)
          AND i.place_id IN (SELECT place_id FROM shown_places)
        LIMIT 2
    ) AS i
    WHERE length(w.word) >= 3 AND to_tsvector('public.muninn', w.word) <> '' AND NOT EXISTS (
        SELECT FROM memory_postings p WHERE p.space_id = $1
          AND p.term = ANY(tsvector_to_array(to_tsvector('public.muninn', w.word)) COLLATE "C"))
    GROUP BY w.word HAVING count(*) = 1
)
SELECT EXISTS (SELECT FROM memory_vectors v WHERE v.space_id = $1 AND v.model_id = m.model_id)
       OR EXISTS (SELECT FROM memory_episodes e WHERE e.space_id = $1 AND e.model_id = m.model_id) AS embedded,
       {PLACE_REMEMBERS.format(space="$1", place="$2")} AS remembers,
       EXISTS (SELECT FROM memory_episodes e WHERE e.space_id = $1) AS episodes,
       ARRAY(SELECT DISTINCT author_id FROM called ORDER BY author_id) AS members,
       ARRAY(SELECT DISTINCT word FROM called ORDER BY word) AS names, m.model_id, n.vectors,
       CASE WHEN n.vectors < $6 THEN n.vectors ELSE (SELECT count(*) FROM (
            SELECT FROM memory_items i WHERE i.space_id = $1 AND i.state = 'active'
                AND i.place_id IN (SELECT place_id FROM shown_places) LIMIT $7) AS c) END AS shown,
       coalesce((SELECT i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
                 WHERE c.relname = 'memory_vectors_hnsw_' || m.model_id || '_' || $1::bigint
                   AND c.relnamespace = current_schema()::regnamespace), false) AS indexed
FROM (SELECT) AS one LEFT JOIN embedding_models m ON m.name = $4 AND m.dimensions = $5
CROSS JOIN LATERAL (SELECT count(*) AS vectors FROM (
    SELECT FROM memory_vectors v WHERE v.space_id = $1 AND v.model_id = m.model_id LIMIT $6) AS c) AS n
"""


async def look_around(
    conn: Borrowed | Connection, scope: Scope, words: Sequence[str], *, model: tuple[str, int] | None
) -> Around:
    """What there is for a question of these words, in lower case; `model` is the question's: its name and dimension."""
    name, dimensions = model or ("", 0)
    rows = await fetch_scoped(conn, AROUND_SQL, scope, list(words), name, dimensions, EXACT_MOST + 1, SHOWN_MOST + 1)
    found = dict(rows[0])
    members, names = tuple(map(UserId, found.pop("members"))), tuple(found.pop("names"))
    return Around(members=members, names=names, **found)
