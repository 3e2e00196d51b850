"""The arms of a recall as SQL: what finds candidates, and what is read of them; memory.candidates puts them together.

Parameters, the same in every statement: $1 space, $2 place, $3 asker, $4 text, $5 members whom it is about, $6 kinds,
$7 person, $8 to $9 the time asked for, $10 to $11 the time that steers, $12 and $13 how many by words and of that time,
$14 model, $15 vector, $16 how many by vectors.
"""

from typing import Final

from memory.embedding import BESIDE_MS
from memory.places import SHOWN_PLACES

MOST_TERMS: Final = 32
MOST_POSTINGS: Final = 2_000
"""Postings that a question reads, the rarest terms first; commoner terms only count for what was found by others. Where
none is rarer, the newest of so many memories are found."""

MOST_COUNTED: Final = 4_000
"""A space of more memories counts as one of so many: rarity hardly changes from here on."""

MOST_ALIKE: Final = 1_000
"""Postings among which a word that nobody used looks for the one that it is most like."""

NEAREST_FIRST: Final = 300
"""The nearest vectors that are looked at first; the rest are sorted only where too few of them may show."""

# Whether a row of memory_items is for the asker $3, unasked or because the question is about its owner.
OURS: Final = "({row}.scope <> 'user' OR {row}.owner_id = $3 OR {row}.owner_id = ANY($5::bigint[]))"

# Whether a row of live_memories is of the kind, person and time that was asked for.
WANTED: Final = """(($6::text[] IS NULL OR l.kind = ANY($6::text[]))
         AND ($7::bigint IS NULL OR l.author_id = $7 OR (l.scope = 'user' AND l.owner_id = $7))
         AND ($8::bigint IS NULL OR l.said_id >= $8) AND ($9::bigint IS NULL OR l.said_id < $9))"""

# Whether a row was said where it may show here; kept from becoming a join, so that each row asks a table of hashes.
SHOWN: Final = "({row}.place_id IN (SELECT place_id FROM shown_places)) IS TRUE"

_SEEN_LIVE = f"l.space_id = $1 AND {SHOWN.format(row='l')} AND {OURS.format(row='l')} AND {WANTED}"

_WORDS = f"""
counted AS MATERIALIZED (
    SELECT count(*) AS memories
    FROM (SELECT FROM memory_items WHERE space_id = $1 AND state = 'active' LIMIT {MOST_COUNTED}) AS c
), said AS MATERIALIZED (
    SELECT t.term, d.df
    FROM memory_terms_of($4) AS t
    CROSS JOIN LATERAL (
        SELECT count(*) AS df
        FROM (SELECT FROM memory_postings p WHERE p.space_id = $1 AND p.term = t.term COLLATE "C"
              LIMIT {MOST_POSTINGS} + 1) AS c
    ) AS d
    ORDER BY d.df = 0, d.df, t.term LIMIT {MOST_TERMS}
), alike AS MATERIALIZED (
    -- A word that nobody used is read as the one that it is most like.
    SELECT s.term AS said, near.term, near.df, near.likeness
    FROM said s CROSS JOIN LATERAL (
        SELECT u.term, u.df, u.likeness
        FROM (SELECT c.term, c.df, public.similarity(c.term, s.term) AS likeness
              FROM (SELECT p.term, count(*) AS df
                    FROM (SELECT p.term FROM memory_postings p
                          WHERE p.space_id = $1 AND p.term >= left(s.term, 3) COLLATE "C"
                            AND p.term < (left(s.term, 3) || chr(1114111)) COLLATE "C" LIMIT {MOST_ALIKE}) AS p
                    GROUP BY p.term OFFSET 0) AS c) AS u
        WHERE u.likeness >= 0.5 ORDER BY u.likeness DESC, u.term LIMIT 1
    ) AS near
    WHERE s.df = 0 AND length(s.term) >= 5
), weighed AS MATERIALIZED (
    SELECT term, df, (sum(df) OVER (ORDER BY df, term))::bigint AS so_far, sum(weight) OVER () AS mass, weight
    FROM (
        SELECT term, df, ln(1 + (memories - df + 0.5::float8) / (df + 0.5::float8)) AS weight
        FROM said CROSS JOIN counted WHERE df > 0 AND df <= memories
        UNION ALL
        SELECT term, df, likeness * ln(1 + (memories - df + 0.5::float8) / (df + 0.5::float8))
        FROM alike CROSS JOIN counted WHERE df > 0 AND df <= memories
        UNION ALL
        -- What nobody said at all is part of what was asked.
        SELECT s.term, 0, ln(1 + (memories + 0.5::float8) / 0.5::float8) FROM said s CROSS JOIN counted
        WHERE s.df = 0 AND NOT EXISTS (SELECT FROM alike a WHERE a.said = s.term)
    ) AS w
), asked AS MATERIALIZED (
    SELECT term, mass, weight, so_far <= {MOST_POSTINGS} OR so_far = df AS finds FROM weighed WHERE df > 0
), posted AS MATERIALIZED (
    SELECT a.weight, a.mass, p.memory_id, p.times, p.size
    FROM asked a CROSS JOIN LATERAL (
        SELECT memory_id, place_id, member_id, times, size FROM memory_postings p
        WHERE p.space_id = $1 AND p.term = a.term COLLATE "C" ORDER BY p.memory_id DESC LIMIT {MOST_POSTINGS}
    ) AS p
    WHERE a.finds AND {SHOWN.format(row="p")}
      AND (p.member_id IS NULL OR p.member_id = $3 OR p.member_id = ANY($5::bigint[]))
), sizes AS MATERIALIZED (
    SELECT greatest(avg(size), 1)::float8 AS mean_size FROM posted
), hits AS MATERIALIZED (
    -- BM25 with its usual k1 = 1.2, b = 0.75
    SELECT memory_id,
           sum(weight * times * 2.2::float8
               / (times + 1.2::float8 * (0.25::float8 + 0.75::float8 * size / mean_size))) AS words,
           sum(weight) / max(mass) AS terms
    FROM posted CROSS JOIN sizes GROUP BY memory_id
), common AS MATERIALIZED (
    SELECT term, mass, weight, mean_size FROM asked CROSS JOIN sizes WHERE NOT finds
), by_words AS MATERIALIZED (
    SELECT h.memory_id FROM (SELECT memory_id, words FROM hits ORDER BY words DESC, memory_id OFFSET 0) AS h
    WHERE (SELECT true FROM live_memories l WHERE l.memory_id = h.memory_id AND {_SEEN_LIVE})
    LIMIT $12
)"""

_WINDOW = f"""
in_window AS MATERIALIZED (
    SELECT l.memory_id FROM shown_places s JOIN live_memories l ON l.space_id = $1 AND l.place_id = s.place_id
    WHERE $10::bigint IS NOT NULL AND l.said_id >= $10 AND l.said_id < $11::bigint AND {_SEEN_LIVE}
    ORDER BY l.importance DESC, l.said_id DESC, l.memory_id LIMIT $13
)"""

# The nearest that may show, of distances that are computed before anything is sorted: the planner cannot take the index
# of vectors, which would stop too early.
_COMPARED = f"""
nearest AS MATERIALIZED (
    SELECT memory_id, version, distance FROM ({{distances}} OFFSET 0) AS s
    ORDER BY distance, memory_id LIMIT {NEAREST_FIRST}
), first_near AS MATERIALIZED (
    SELECT s.memory_id
    FROM (SELECT memory_id, version, distance FROM nearest ORDER BY distance, memory_id OFFSET 0) AS s
    WHERE (SELECT true FROM live_memories l WHERE l.memory_id = s.memory_id AND l.version = s.version AND {_SEEN_LIVE})
    LIMIT $16
), by_vector AS MATERIALIZED (
    SELECT memory_id FROM first_near
    UNION
    SELECT memory_id FROM (
        SELECT s.memory_id
        FROM (SELECT memory_id, version, distance
              FROM ({{distances}} AND (SELECT count(*) FROM first_near) < $16
                    AND (SELECT count(*) FROM nearest) = {NEAREST_FIRST} OFFSET 0) AS s
              ORDER BY distance, memory_id OFFSET 0) AS s
        WHERE (SELECT true FROM live_memories l
               WHERE l.memory_id = s.memory_id AND l.version = s.version AND {_SEEN_LIVE})
        LIMIT $16
    ) AS rest
)"""

# All vectors of the space.
_SCAN = _COMPARED.format(
    distances="""SELECT v.memory_id, v.version, v.embedding <=> $15::halfvec AS distance
          FROM memory_vectors v WHERE v.space_id = $1 AND v.model_id = $14"""
)

# The same for a place that shows little of a large space: only the vectors of what may show are compared.
_FEW = _COMPARED.format(
    distances=f"""SELECT v.memory_id, v.version, v.distance
          FROM memory_items i CROSS JOIN LATERAL (
              SELECT v.memory_id, v.version, v.embedding <=> $15::halfvec AS distance FROM memory_vectors v
              WHERE v.memory_id = i.memory_id AND v.model_id = $14 AND v.version = i.version OFFSET 0) AS v
          WHERE i.space_id = $1 AND i.place_id IN (SELECT place_id FROM shown_places) AND i.state = 'active'
            AND {OURS.format(row="i")}"""
)

_INDEXED = f"""
by_vector AS MATERIALIZED (
    SELECT v.memory_id FROM memory_vectors v
    WHERE v.model_id = MODEL AND v.model_id = $14 AND v.space_id = SPACE AND v.space_id = $1
      AND (SELECT true FROM live_memories l WHERE l.memory_id = v.memory_id AND l.version = v.version AND {_SEEN_LIVE})
    ORDER BY v.embedding::halfvec(SIZE) <=> $15::halfvec(SIZE) LIMIT $16
)"""

BESIDE: Final = 2
"""How far what was said before and after a memory belongs to it."""

_BESIDE = """ARRAY(
        SELECT n.memory_id FROM memory_items n
        WHERE n.space_id = $1 AND n.place_id = i.place_id AND n.state = 'active' AND {bounds} AND {ours}
        ORDER BY n.said_id {way}, n.memory_id {way} LIMIT {beside})"""
_BEFORE = _BESIDE.format(
    bounds=f"""(n.said_id, n.memory_id) < (i.said_id, i.memory_id)
          AND n.said_id >= i.said_id - ({BESIDE_MS}::bigint << 22)""",
    ours=OURS.format(row="n"),
    way="DESC",
    beside=BESIDE,
)
_AFTER = _BESIDE.format(
    bounds=f"""(n.said_id, n.memory_id) > (i.said_id, i.memory_id)
          AND n.said_id <= i.said_id + ({BESIDE_MS}::bigint << 22)""",
    ours=OURS.format(row="n"),
    way="ASC",
    beside=BESIDE,
)

# The columns stand in the order of Candidate's fields.
_ALL = f"""
edges AS MATERIALIZED (
    SELECT p.memory_id, {_BEFORE} AS before_ids, {_AFTER} AS after_ids
    FROM pool p JOIN memory_items i ON i.memory_id = p.memory_id
), together AS MATERIALIZED (
    -- Grouped, for the planner would go through all hits and edges for each of these: it expects one.
    SELECT memory_id, max(words) AS words, max(terms) AS terms,
           max(before_ids) AS before_ids, max(after_ids) AS after_ids
    FROM (
        SELECT memory_id, NULL::float8 AS words, NULL::float8 AS terms, before_ids, after_ids, true AS wanted FROM edges
        UNION ALL SELECT unnest(before_ids || after_ids), NULL, NULL, NULL, NULL, true FROM edges
        UNION ALL SELECT memory_id, words, terms, NULL, NULL, false FROM hits
    ) AS m
    GROUP BY memory_id HAVING bool_or(wanted)
)
SELECT l.memory_id, l.version, l.scope, l.owner_id, l.place_id, l.kind, l.key, l.content, l.content_hash, l.author_id,
       l.author_name, l.said_at, l.said_id, l.importance, l.confidence, l.pinned,
       coalesce(CASE WHEN u.used_at < date_trunc('day', now(), 'UTC') THEN u.uses ELSE u.settled END, 0) AS uses,
       COSINE AS cosine,
       coalesce(t.words, 0) + coalesce(c.words, 0) AS words, coalesce(t.terms, 0) + coalesce(c.terms, 0) AS terms,
       coalesce(t.before_ids, '{{}}') AS before_ids, coalesce(t.after_ids, '{{}}') AS after_ids,
       t.before_ids IS NOT NULL AS found
FROM together t
-- From each candidate to its row: the other way leads through everything that was ever said in these places.
CROSS JOIN LATERAL (SELECT * FROM live_memories l WHERE l.memory_id = t.memory_id AND {_SEEN_LIVE} OFFSET 0) AS l
LEFT JOIN LATERAL (
    SELECT sum(w.weight * p.times * 2.2::float8
               / (p.times + 1.2::float8 * (0.25::float8 + 0.75::float8 * p.size / w.mean_size))) AS words,
           sum(w.weight) / max(w.mass) AS terms
    FROM common w
    JOIN memory_postings p ON p.space_id = $1 AND p.term = w.term COLLATE "C" AND p.memory_id = t.memory_id
) AS c ON true
LEFT JOIN memory_uses u ON u.memory_id = t.memory_id
VECTOR
"""
_COSINE = (
    "(1 - (v.embedding <=> $15::halfvec))::float8",
    """LEFT JOIN memory_vectors v
    ON v.memory_id = t.memory_id AND v.model_id = $14 AND v.version = l.version""",
)
_TAIL_WITH_VECTORS = _ALL.replace("COSINE", _COSINE[0]).replace("VECTOR", _COSINE[1])
_TAIL_WITHOUT = _ALL.replace("COSINE", "NULL::float8").replace("VECTOR", "")
_POOL = "pool AS MATERIALIZED (SELECT memory_id FROM by_words UNION SELECT memory_id FROM in_window{vectors})"
_POOL_WITH_VECTORS = _POOL.format(vectors=" UNION SELECT memory_id FROM by_vector")

# Candidates by words alone.
BY_WORDS_SQL: Final = f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {_POOL.format(vectors='')}, {_TAIL_WITHOUT}"

# Candidates by words, and by all vectors of the space.
BY_SCAN_SQL: Final = f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {_SCAN}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"

# Candidates by words, and by all vectors of what may show.
BY_SHOWN_SQL: Final = f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {_FEW}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"


def by_index_sql(model_id: int, dimensions: int, space_id: int) -> str:
    """Candidates by words, and by the vectors that the space's own index leads to, which is known by these numbers."""
    vectors = _INDEXED
    for name, number in (("MODEL", model_id), ("SIZE", dimensions), ("SPACE", space_id)):
        vectors = vectors.replace(name, str(int(number)))
    return f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {vectors}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"
