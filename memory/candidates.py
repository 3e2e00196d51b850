"""Candidates of a recall: memories that have words of the question, or vectors near it, and what was said beside them.

One statement, with the scope and the audience rule inside (I6, I7) and nothing in it that has lost its evidence (I8):

    words     any word may match, rare ones count most: BM25 over postings kept by space; words that stand in too many
              memories find nothing by themselves
    vectors   one by one where a space has few, by the index with iterative scans where it has many
    window    what was said in the span of time that the question names
    beside    of each of these, what was said just before and after it in the same place

Every arm (memory.arms) sees the same rows: said where it may show here, and of a member's own only the asker's, and
those of members whom the question is about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from asyncpg import Record

from memory.arms import BY_SCAN_SQL, BY_SHOWN_SQL, BY_WORDS_SQL, by_index_sql
from memory.around import EXACT_MOST, SHOWN_MOST, Around
from memory.database import Borrowed, Connection
from memory.ids import MessageId, PlaceId, UserId
from memory.kinds import Kind, MemoryScope
from memory.scope import Scope, fetch_scoped

WORD_POOL: Final = 40
VECTOR_POOL: Final = 50
WINDOW_POOL: Final = 30

MOST_SCANNED: Final = 40_000
"""How many vectors an iterative scan of the index looks at before it gives up."""

LOOKED_AT_ONCE: Final = 400
"""How many vectors the index keeps in view: with 100 of them it missed 3 in 100 of the nearest ten."""

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


# Look on in the index until enough rows pass the filters: a plain filtered search silently gives too few. Without the
# last of these, the planner would rather sort all vectors of the space than trust an index to be asked for so little.
ITERATE_SQL: Final = f"""
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', '{MOST_SCANNED}', true),
       set_config('hnsw.ef_search', '{LOOKED_AT_ONCE}', true),
       set_config('enable_sort', 'off', true)
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
    if around.shown <= SHOWN_MOST:
        return Pool(
            _read(await fetch_scoped(conn, BY_SHOWN_SQL, scope, *args)), "off", "every vector here was compared"
        )
    if not around.indexed:
        rows = await fetch_scoped(conn, BY_SCAN_SQL, scope, *args)
        return Pool(_read(rows), "unavailable", "the space has no index; every vector was compared")
    async with conn.transaction():
        await conn.execute(ITERATE_SQL)
        rows = await fetch_scoped(conn, by_index_sql(query.model_id, query.dimensions, scope.space_id), scope, *args)
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
    # The statements name Candidate's fields in their order.
    return tuple(Candidate(*row) for row in rows)
