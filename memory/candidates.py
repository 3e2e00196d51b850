"""Candidates of a recall: memories that have words of the question, or vectors near it, and what was said beside them.

One statement, with the scope and the audience rule inside (I6, I7) and nothing in it that has lost its evidence (I8):

    words     any word may match, rare ones count most: BM25 over postings kept by space; words that stand in too many
              memories find nothing by themselves
    vectors   one by one where a space has few, by the index with iterative scans where it has many
    window    what was said in the span of time that the question names
    beside    of each of these, what was said just before and after it in the same place

Every arm sees the same rows: said where it may show here, and of a member's own only the asker's, and those of members
whom the question is about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from asyncpg import Record

from memory.database import Borrowed, Connection
from memory.embedding import BESIDE_MS
from memory.ids import MessageId, PlaceId, UserId
from memory.kinds import Kind, MemoryScope
from memory.places import SHOWN_PLACES
from memory.scope import Scope, fetch_scoped

WORD_POOL: Final = 40
VECTOR_POOL: Final = 50
WINDOW_POOL: Final = 30

MOST_TERMS: Final = 32
MOST_POSTINGS: Final = 4_000
"""Postings that a question reads, the rarest terms first: a term of which there are more in the space finds nothing."""

MOST_COUNTED: Final = 8_000
"""A space of more memories counts as one of so many: rarity hardly changes from here on."""

EXACT_MOST: Final = 20_000
"""Vectors that are compared one by one. Up to here that is quicker than the index, which looks at vectors of all spaces
until it has enough of this one, and it never misses any (make bench-recall)."""

MOST_SCANNED: Final = 40_000
"""How many vectors an iterative scan of the index looks at before it gives up."""

ScanMode = Literal["off", "applied", "unavailable"]


@dataclass(frozen=True, slots=True)
class Span:
    """From the snowflake `since` until before `until`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What may come at all; None: anything. `person` is whose, or who said it."""

    kinds: tuple[Kind, ...] | None = None
    person: UserId | None = None
    span: Span | None = None


ANYTHING: Final = Wanted()


@dataclass(frozen=True, slots=True)
class Looked:
    """What a recall looks for. `members`: those whom the question is about, beside the asker. `span` only steers."""

    asker: UserId
    text: str
    members: tuple[UserId, ...] = ()
    span: Span | None = None
    wanted: Wanted = ANYTHING


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be recalled. `cosine` is None without a vector, `words` its BM25 weight (0: no word matched),
    `terms` the share of the question's words, by rarity, that it has. `found`: by an arm, and not only beside one, and
    then `before_ids` and `after_ids` are what was said beside it, the nearest first."""

    memory_id: int
    version: int
    scope: MemoryScope
    owner_id: int
    place_id: PlaceId
    kind: Kind
    key: str | None
    content: str
    content_hash: bytes
    author_id: UserId
    author_name: str
    said_at: datetime
    said_id: MessageId
    importance: float
    confidence: float
    pinned: bool
    uses: int
    cosine: float | None
    words: float
    terms: float
    before_ids: Sequence[int]
    after_ids: Sequence[int]
    found: bool


# Whether a row of memory_items is for the asker $3, unasked or because the question is about its owner.
OURS = "({row}.scope <> 'user' OR {row}.owner_id = $3 OR {row}.owner_id = ANY($5::bigint[]))"

# Whether a row of live_memories is of the kind, person and time that was asked for.
WANTED = """(($6::text[] IS NULL OR l.kind = ANY($6::text[]))
         AND ($7::bigint IS NULL OR l.author_id = $7 OR (l.scope = 'user' AND l.owner_id = $7))
         AND ($8::bigint IS NULL OR l.said_id >= $8) AND ($9::bigint IS NULL OR l.said_id < $9))"""

_SEEN_LIVE = f"""l.space_id = $1 AND l.place_id IN (SELECT place_id FROM shown_places)
         AND {OURS.format(row="l")} AND {WANTED}"""

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
        SELECT c.term, count(*) AS df, max(c.likeness) AS likeness
        FROM (SELECT p.term, public.similarity(p.term, s.term) AS likeness FROM memory_postings p
              WHERE p.space_id = $1 AND p.term >= left(s.term, 3) COLLATE "C"
                AND p.term < (left(s.term, 3) || chr(1114111)) COLLATE "C" LIMIT 1000) AS c
        WHERE c.likeness >= 0.5 GROUP BY c.term ORDER BY max(c.likeness) DESC, c.term LIMIT 1
    ) AS near
    WHERE s.df = 0 AND length(s.term) >= 5
), asked AS MATERIALIZED (
    SELECT term, df, sum(df) OVER (ORDER BY df, term) - df AS before, sum(weight) OVER () AS mass, weight
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
    ) AS weighed
), posted AS MATERIALIZED (
    SELECT a.weight, a.mass, p.memory_id, p.times, p.size
    FROM asked a CROSS JOIN LATERAL (
        SELECT memory_id, times, size FROM memory_postings p
        WHERE p.space_id = $1 AND p.term = a.term COLLATE "C"
          AND p.place_id IN (SELECT place_id FROM shown_places)
          AND (p.member_id IS NULL OR p.member_id = $3 OR p.member_id = ANY($5::bigint[]))
    ) AS p
    WHERE a.df > 0 AND a.before < {MOST_POSTINGS}
), sizes AS MATERIALIZED (
    SELECT greatest(avg(size), 1)::float8 AS mean_size FROM posted
), hits AS MATERIALIZED (
    -- BM25 with its usual k1 = 1.2, b = 0.75
    SELECT memory_id,
           sum(weight * times * 2.2::float8
               / (times + 1.2::float8 * (0.25::float8 + 0.75::float8 * size / mean_size))) AS words,
           sum(weight) / max(mass) AS terms
    FROM posted CROSS JOIN sizes GROUP BY memory_id
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

# Distances first, of all vectors of the space, so that the planner cannot take the index, which would stop too early.
_EXACT = f"""
scanned AS MATERIALIZED (
    SELECT v.memory_id, v.version, v.embedding <=> $15::halfvec AS distance
    FROM memory_vectors v WHERE v.space_id = $1 AND v.model_id = $14
), by_vector AS MATERIALIZED (
    SELECT s.memory_id
    FROM (SELECT memory_id, version, distance FROM scanned ORDER BY distance, memory_id OFFSET 0) AS s
    WHERE (SELECT true FROM live_memories l WHERE l.memory_id = s.memory_id AND l.version = s.version AND {_SEEN_LIVE})
    LIMIT $16
)"""

# The same for a place that shows little of a large space: only the vectors of what may show are compared.
_FEW = f"""
scanned AS MATERIALIZED (
    SELECT v.memory_id, v.version, v.distance
    FROM memory_items i CROSS JOIN LATERAL (
        SELECT v.memory_id, v.version, v.embedding <=> $15::halfvec AS distance FROM memory_vectors v
        WHERE v.memory_id = i.memory_id AND v.model_id = $14 AND v.version = i.version OFFSET 0) AS v
    WHERE i.space_id = $1 AND i.place_id IN (SELECT place_id FROM shown_places) AND i.state = 'active'
), {_EXACT.split("), ", 1)[1]}"""

_INDEXED = f"""
by_vector AS MATERIALIZED (
    SELECT v.memory_id FROM memory_vectors v
    WHERE v.model_id = MODEL AND v.model_id = $14 AND v.space_id = $1
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

_ALL = f"""
edges AS MATERIALIZED (
    SELECT p.memory_id, {_BEFORE} AS before_ids, {_AFTER} AS after_ids
    FROM pool p JOIN memory_items i ON i.memory_id = p.memory_id
), together AS (
    SELECT memory_id FROM pool
    UNION SELECT unnest(before_ids || after_ids) FROM edges
)
SELECT l.memory_id, l.version, l.scope, l.owner_id, l.place_id, l.kind, l.key, l.content, l.content_hash, l.author_id,
       l.author_name, l.said_at, l.said_id, l.importance, l.confidence, l.pinned,
       coalesce(CASE WHEN u.used_at < date_trunc('day', now(), 'UTC') THEN u.uses ELSE u.settled END, 0) AS uses,
       COSINE AS cosine, coalesce(h.words, 0) AS words, coalesce(h.terms, 0) AS terms,
       coalesce(e.before_ids, '{{}}') AS before_ids, coalesce(e.after_ids, '{{}}') AS after_ids,
       e.memory_id IS NOT NULL AS found
FROM together t
-- From each candidate to its row: the other way leads through everything that was ever said in these places.
CROSS JOIN LATERAL (SELECT * FROM live_memories l WHERE l.memory_id = t.memory_id AND {_SEEN_LIVE} OFFSET 0) AS l
LEFT JOIN hits h ON h.memory_id = t.memory_id
LEFT JOIN edges e ON e.memory_id = t.memory_id
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
BY_SCAN_SQL: Final = f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {_EXACT}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"


# Candidates by words, and by all vectors of what may show.
BY_SHOWN_SQL: Final = f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {_FEW}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"


def by_index_sql(model_id: int, dimensions: int) -> str:
    """Candidates by words, and by the vectors that this model's index leads to."""
    vectors = _INDEXED.replace("MODEL", str(int(model_id))).replace("SIZE", str(int(dimensions)))
    return f"WITH {SHOWN_PLACES}, {_WORDS}, {_WINDOW}, {vectors}, {_POOL_WITH_VECTORS}, {_TAIL_WITH_VECTORS}"


@dataclass(frozen=True, slots=True)
class Around:
    """What a space is like for a recall: whom its memories call by a word of the question, and its vectors of a model.

    `members` and `names`: authors of memories that may show here, and the words of the question that name them.
    `model_id` is None where no memory was ever embedded with it. `vectors` of the space, and where it has too many the
    memories `shown` here, are counted no further than where the index is the better way; `indexed`: the index is
    whole. `embedded`: there is a vector of a memory or an episode.
    """

    members: tuple[UserId, ...]
    names: tuple[str, ...]
    model_id: int | None
    vectors: int
    shown: int
    indexed: bool
    embedded: bool


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
)
SELECT EXISTS (SELECT FROM memory_vectors v WHERE v.space_id = $1 AND v.model_id = m.model_id)
       OR EXISTS (SELECT FROM memory_episodes e WHERE e.space_id = $1 AND e.model_id = m.model_id) AS embedded,
       ARRAY(SELECT DISTINCT author_id FROM called ORDER BY author_id) AS members,
       ARRAY(SELECT DISTINCT word FROM called ORDER BY word) AS names, m.model_id, n.vectors,
       CASE WHEN n.vectors < $6 THEN n.vectors ELSE (SELECT count(*) FROM (
            SELECT FROM memory_items i WHERE i.space_id = $1 AND i.state = 'active'
                AND i.place_id IN (SELECT place_id FROM shown_places) LIMIT $6) AS c) END AS shown,
       coalesce((SELECT i.indisvalid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
                 WHERE c.relname = 'memory_vectors_hnsw_' || m.model_id
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
    rows = await fetch_scoped(conn, AROUND_SQL, scope, list(words), name, dimensions, EXACT_MOST + 1)
    row = rows[0]
    members = tuple(map(UserId, row["members"]))
    return Around(
        members, tuple(row["names"]), row["model_id"], row["vectors"], row["shown"], row["indexed"], row["embedded"]
    )


@dataclass(frozen=True, slots=True)
class Query:
    """A question's vector, as pgvector reads it from text, and the model that made it."""

    model_id: int
    dimensions: int
    vector: str


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates in no order, and how the index of vectors was used, from the options of the very read."""

    candidates: tuple[Candidate, ...]
    scan: ScanMode
    scan_why: str | None


# Look on in the index until enough rows pass the filters: a plain filtered search silently gives too few.
ITERATE_SQL: Final = f"""
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', '{MOST_SCANNED}', true)
"""


async def find(conn: Borrowed | Connection, scope: Scope, looked: Looked, query: Query | None, around: Around) -> Pool:
    """Everything that may be recalled for the question; without `query` by words and time alone."""
    span = looked.span
    args = [*looked_args(looked), span and span.since, span and span.until, WORD_POOL, WINDOW_POOL]
    if query is None:
        rows = await fetch_scoped(conn, BY_WORDS_SQL, scope, *args)
        return Pool(_read(rows), "off", "without vectors")
    args += [query.model_id, query.vector, VECTOR_POOL]
    if around.vectors <= EXACT_MOST:
        return Pool(_read(await fetch_scoped(conn, BY_SCAN_SQL, scope, *args)), "off", "every vector was compared")
    if around.shown <= EXACT_MOST:
        return Pool(
            _read(await fetch_scoped(conn, BY_SHOWN_SQL, scope, *args)), "off", "every vector here was compared"
        )
    if not around.indexed:
        rows = await fetch_scoped(conn, BY_SCAN_SQL, scope, *args)
        return Pool(_read(rows), "unavailable", "the model has no index; every vector was compared")
    async with conn.transaction():
        await conn.execute(ITERATE_SQL)
        rows = await fetch_scoped(conn, by_index_sql(query.model_id, query.dimensions), scope, *args)
    return Pool(_read(rows), "applied", None)


def looked_args(looked: Looked) -> list[object]:
    """What OURS and WANTED are compared with: the parameters from $3 to $9 of every statement that has them."""
    wanted = looked.wanted
    return [
        looked.asker,
        looked.text,
        list(looked.members),
        None if wanted.kinds is None else list(wanted.kinds),
        wanted.person,
        wanted.span and wanted.span.since,
        wanted.span and wanted.span.until,
    ]


def _read(rows: Sequence[Record]) -> tuple[Candidate, ...]:
    return tuple(Candidate(**dict(row)) for row in rows)
