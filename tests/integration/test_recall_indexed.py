"""Recall in a space that is large enough for an index of its own: the index is used, and nothing is lost by it."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from memory import around, candidates, embedding
from memory.arms import BY_SCAN_SQL, BY_SHOWN_SQL, BY_WORDS_SQL, by_index_sql
from memory.candidates import ITERATE_SQL, Looked, Query, find, looked_args
from memory.episode_recall import FIND_EPISODES_SQL
from memory.ids import PlaceId, SpaceId, UserId
from memory.ports import Vectors
from memory.ranking import Floors
from memory.recall import Asking, Recall
from memory.scope import Scope

SIZE, MANY = 24, 700
LARGE, OTHER = SpaceId(700), SpaceId(800)
HERE, ASIDE = PlaceId(7001), PlaceId(7002)
ASKER = UserId(501)
# Every sixth is of a place apart, every third a member's own, of one of two.
FILL = """
WITH item AS (
    INSERT INTO memory_items (space_id, scope, owner_id, place_id, kind, content, content_hash, source, rests_on,
                              author_id, author_name, said_at, said_id, importance, asserted, confidence)
    SELECT $1, CASE n % 3 WHEN 0 THEN 'user' ELSE 'channel' END, CASE n % 3 WHEN 0 THEN 501 + n % 2 ELSE $2 END,
           CASE n % 6 WHEN 5 THEN $3 ELSE $2 END, 'fact', 'w' || n || ' heron', sha256(n::text::bytea), 'told',
           'author', 501, 'Member', now(), n, 0.5, 0.8, 0.8
    FROM generate_series(1, $4::int) AS n
    RETURNING memory_id, said_id
)
INSERT INTO memory_vectors (memory_id, model_id, version, space_id, embedding)
SELECT i.memory_id, $6, 1, $1, v.vector::halfvec
FROM item i JOIN unnest($5::text[]) WITH ORDINALITY AS v (vector, n) ON v.n = i.said_id
"""
EXACT = """
SELECT i.memory_id FROM memory_items i JOIN memory_vectors v USING (memory_id)
WHERE i.space_id = $1 AND i.place_id = $2 AND (i.scope <> 'user' OR i.owner_id = $3)
ORDER BY v.embedding <=> $4::text::halfvec, i.memory_id LIMIT $5
"""


@dataclass(frozen=True)
class OneVector:
    """An embedder of one answer."""

    vector: Sequence[float]
    name: str = "any"
    dimensions: int = SIZE

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        return Vectors([self.vector for _ in texts])

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        return self.vector


@pytest.fixture
async def model(database_url: str, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> embedding.Model:
    """Two spaces of 700 memories, each with its index; from 100 on one is large, and 100 are few."""
    for module in (around, candidates):
        monkeypatch.setattr(module, "EXACT_MOST", 100)
        monkeypatch.setattr(module, "SHOWN_MOST", 120)
    dice = random.Random(5)  # noqa: S311 (nothing secret)
    async with pool.acquire() as conn, conn.transaction():
        model = await embedding.adopt(conn, "any", SIZE)
        for space in (LARGE, OTHER):
            vectors = [embedding.literal([dice.gauss(0, 1) for _ in range(SIZE)]) for _ in range(MANY)]
            await conn.execute(FILL, space, HERE, ASIDE, MANY, vectors, model.model_id)
    conn = await asyncpg.connect(database_url)
    assert await embedding.make_indexes(conn, model, most=100) == (LARGE, OTHER)
    await conn.execute("ANALYZE")
    await conn.close()
    return model


async def test_the_index_of_a_space_finds_what_a_look_at_every_vector_finds(
    pool: asyncpg.Pool, model: embedding.Model
) -> None:
    """Looked through until enough may show, and told so; at least 98 of 100 of the nearest ten are found (I9)."""
    dice, right = random.Random(6), 0  # noqa: S311 (nothing secret)
    scope = Scope(LARGE, HERE)
    async with pool.acquire() as conn:
        space = await around.look_around(conn, scope, (), model=("any", SIZE))
        assert space.indexed
        for _ in range(20):
            vector = embedding.literal([dice.gauss(0, 1) for _ in range(SIZE)])
            exact = [row[0] for row in await conn.fetch(EXACT, LARGE, HERE, ASKER, vector, 10)]
            found = await find(conn, scope, Looked(ASKER, ""), Query(model.model_id, SIZE, vector), space)
            assert (found.scan, found.scan_why) == ("applied", None)
            near = sorted((each for each in found.candidates if each.found), key=lambda each: -(each.cosine or 0.0))
            assert len(near) >= 50
            assert all(each.place_id == HERE for each in near)
            assert all(each.scope != "user" or each.owner_id == ASKER for each in near)
            right += len(set(exact) & {each.memory_id for each in near[:10]})
        one = embedding.literal([1.0] * SIZE)
        args = [*looked_args(Looked(ASKER, "")), None, None, 40, 30, model.model_id, one, 50]
        async with conn.transaction():
            await conn.execute(ITERATE_SQL)
            statement = by_index_sql(model.model_id, SIZE, LARGE)
            plan = "\n".join(row[0] for row in await conn.fetch(f"EXPLAIN {statement}", LARGE, HERE, *args))
    assert right >= 0.98 * 200
    assert f"Index Scan using {embedding.index_name(model.model_id, LARGE)}" in plan


async def test_a_place_that_shows_little_of_a_large_space_is_found_whole(
    pool: asyncpg.Pool, model: embedding.Model
) -> None:
    """Its own vectors are compared one by one, and the recall says so."""
    scope, query = Scope(LARGE, ASIDE), Query(model.model_id, SIZE, embedding.literal([1.0] * SIZE))
    async with pool.acquire() as conn:
        wanted = await conn.fetch(EXACT, LARGE, ASIDE, ASKER, query.vector, 50)
        space = await around.look_around(conn, scope, (), model=("any", SIZE))
        found = await find(conn, scope, Looked(ASKER, ""), query, space)
    assert (found.scan, found.scan_why) == ("off", "every vector here was compared")
    assert {row[0] for row in wanted} <= {each.memory_id for each in found.candidates}


EPISODES = """
INSERT INTO memory_episodes (space_id, place_id, asker_id, asker_name, question, answer, content_hash, terms, said_at,
                             said_id, model_id, embedding)
SELECT $1, $2, 501, 'Member', 'heron?', 'w' || n, sha256(n::text::bytea),
       ARRAY(SELECT hashtextextended(term, $1) FROM memory_terms_of('heron w' || n)), now(), n, $4, v.vector::halfvec
FROM unnest($3::text[]) WITH ORDINALITY AS v (vector, n)
"""


def _literal(value: object) -> str:
    """A parameter as SQL text."""
    match value:
        case None:
            return "NULL"
        case int() | float():
            return str(value)
        case []:
            return "'{}'"
        case _:
            return "'" + str(value).replace("'", "''") + "'"


def _gone_through(plan: dict[str, Any]) -> float:
    """The rows that the busiest reading of a part of the statement went through, over all of its rounds."""
    here = 0.0
    if plan["Node Type"] in ("CTE Scan", "Materialize", "Subquery Scan"):
        here = plan["Actual Loops"] * (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0))
    return max([here, *(_gone_through(child) for child in plan.get("Plans", ()))])


@pytest.mark.parametrize("arm", ["scan", "shown", "index", "words", "episodes"])
async def test_no_part_of_a_recall_is_gone_through_for_each_row_of_another(
    pool: asyncpg.Pool, model: embedding.Model, arm: str
) -> None:
    """Seven hundred memories and episodes have a word of the question: what a recall does rises with their number, not
    with its square, though the planner expects a single row of each part."""
    dice = random.Random(7)  # noqa: S311 (nothing secret)
    vectors = [embedding.literal([dice.gauss(0, 1) for _ in range(SIZE)]) for _ in range(MANY)]
    await pool.execute(EPISODES, LARGE, HERE, vectors, model.model_id)
    looked = [LARGE, HERE, *looked_args(Looked(ASKER, "heron w7 w8 w9")), None, None, 40, 30]
    near = [model.model_id, vectors[0], 50]
    statement, arguments = {
        "scan": (BY_SCAN_SQL, [*looked, *near]),
        "shown": (BY_SHOWN_SQL, [*looked, *near]),
        "index": (by_index_sql(model.model_id, SIZE, LARGE), [*looked, *near]),
        "words": (BY_WORDS_SQL, looked),
        "episodes": (FIND_EPISODES_SQL, [LARGE, HERE, "heron w7 w8 w9", *near[:2], None, None, None, None, None]),
    }[arm]
    async with pool.acquire() as conn:
        await conn.execute("ANALYZE; SET plan_cache_mode = force_generic_plan")
        await conn.execute(f"PREPARE asked AS {statement}")
        plan = await conn.fetchval(
            f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ({', '.join(map(_literal, arguments))})"
        )
        await conn.execute("DEALLOCATE asked; RESET plan_cache_mode")
    assert _gone_through(json.loads(plan)[0]["Plan"]) <= 4 * MANY


async def test_a_large_space_without_its_index_is_compared_one_by_one(
    pool: asyncpg.Pool, model: embedding.Model
) -> None:
    """I9: through the door; the ledger says that the index was not there."""
    await pool.execute(f"DROP INDEX {embedding.index_name(model.model_id, LARGE)}")
    recall = Recall(pool, OneVector([1.0] * SIZE), floors=Floors(alone=-1.0, low=-1.0, copy=2.0, used=2.0))
    recalled = await recall.answer(Asking(Scope(LARGE, HERE), ASKER, "nothing of the kind"))
    assert len(recalled.items) == 8
    row = await pool.fetchrow("SELECT mode, iterative_scan, scan_why FROM recalls")
    assert row is not None
    assert tuple(row) == ("hybrid", "unavailable", "the space has no index; every vector was compared")
