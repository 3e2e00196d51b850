"""How long a recall takes among many memories, and whether its vectors find what a look at every vector would.

The whole recall is measured, without the making of the question's vector, against one warm question to the index of
vectors that asks for nothing else: the nearest fifty of all. Nobody has episodes here, and nothing is linked. `SCALE=`
adds a number of memories to 10,000 and 100,000.
"""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench.figures import Target, at_least, at_most, percentile, progress, publish
from bench.ground import Ground, open_ground
from bench.remembered import ASIDE, DIMENSIONS, MODEL, SMALL, SMALL_SPACE, Asked, Words, fill, questions
from bot.pool import open_pool
from memory.around import look_around
from memory.candidates import Looked, Query, find
from memory.database import Borrowed, Connection, Pool
from memory.ids import PlaceId, SpaceId
from memory.places import SHOWN_PLACES
from memory.ports import Vectors
from memory.ranking import HOSTED_FLOORS
from memory.recall import Asking, Recall
from memory.scope import Scope, fetch_scoped

TOP: Final = 10
LARGEST: Final = Scope(SpaceId(1), PlaceId(100))
"""An eighth of all memories: with 100,000 of them it has an index of its own."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured; `warm` questions are asked before, and not counted."""

    memories: tuple[int, ...] = (10_000, 100_000)
    asked: int = 400
    warm: int = 60
    compared: int = 100
    complete: int = 20


class GivenVectors:
    """Vectors of questions that were made before: what is measured is not how they are made."""

    name = MODEL
    dimensions = DIMENSIONS

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._vectors = {each.text: [float(n) for n in each.vector[1:-1].split(",")] for each in asked}

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """As the port says."""
        return Vectors([self._vectors[text] for text in texts])

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """As the port says."""
        return self._vectors[text]


# The nearest fifty of all vectors, whoever may see them.
NEAREST: Final = """
SELECT memory_id FROM memory_vectors WHERE model_id = MODEL
ORDER BY embedding::halfvec(SIZE) <=> $1::halfvec(SIZE) LIMIT 50
"""

# The nearest of all vectors that may show here to the asker $3, each compared.
EXACT: Final = f"""
WITH {SHOWN_PLACES}, compared AS MATERIALIZED (
    SELECT l.memory_id, v.embedding <=> $4::halfvec AS distance
    FROM live_memories l JOIN memory_vectors v ON v.memory_id = l.memory_id AND v.version = l.version
    WHERE l.space_id = $1 AND l.place_id IN (SELECT place_id FROM shown_places) AND v.model_id = $5
      AND (l.scope <> 'user' OR l.owner_id = $3)
)
SELECT memory_id FROM compared ORDER BY distance, memory_id LIMIT $6
"""


async def measure(ground: Ground, memories: int, size: Size) -> dict[str, float]:
    """The figures of so many memories, by name without their number; times in milliseconds."""
    words = Words(memories)
    async with open_pool(ground.database_url) as pool:
        model_id = await fill(ground.database_url, words, memories)
        asked = await questions(pool, words, size.warm + size.asked, memories=memories)
        recalls, nearest, applied = await _times(pool, asked, model_id, size.warm)
        largest = await questions(pool, words, size.compared, memories=memories, scope=LARGEST)
        progress(f"recall: {memories:,}: {percentile(recalls, 0.5):.1f} ms, index {percentile(nearest, 0.5):.1f} ms")
        return {
            "p95_ratio_hnsw": percentile(recalls, 0.95) / percentile(nearest, 0.95),
            "exact_agreement": await _agreement(pool, asked[: size.compared], model_id),
            "small_scope_complete": await _completeness(pool, words, model_id, memories, size.complete),
            "exact_agreement_largest": await _agreement(pool, largest, model_id),
            "by_index": applied,
            "p50_ms": percentile(recalls, 0.5),
            "p95_ms": percentile(recalls, 0.95),
            "p50_ratio_hnsw": percentile(recalls, 0.5) / percentile(nearest, 0.5),
            "hnsw_p50_ms": percentile(nearest, 0.5),
            "hnsw_p95_ms": percentile(nearest, 0.95),
        }


async def _times(
    pool: Pool, asked: Sequence[Asked], model_id: int, warm: int
) -> tuple[Sequence[float], Sequence[float], float]:
    """Milliseconds of each recall, and of each question to the index, in turns; the share of recalls by an index."""
    recall = Recall(pool, GivenVectors(asked), floors=HOSTED_FLOORS)
    statement = NEAREST.replace("MODEL", str(model_id)).replace("SIZE", str(DIMENSIONS))
    recalls: list[float] = []
    nearest: list[float] = []
    applied = 0
    async with pool.acquire() as conn:
        await conn.execute("SET hnsw.ef_search = 50")
        for each in asked:
            started = time.perf_counter()
            recalled = await recall.answer(Asking(each.scope, each.asker, each.text))
            ended = time.perf_counter()
            await conn.fetch(statement, each.vector)
            nearest.append((time.perf_counter() - ended) * 1e3)
            recalls.append((ended - started) * 1e3)
            applied += recalled.scan == "applied"
        await conn.execute("RESET hnsw.ef_search")
    return recalls[warm:], nearest[warm:], applied / max(len(asked), 1)


async def _found(conn: Borrowed | Connection, each: Asked, model_id: int) -> list[int]:
    """What the arm of vectors finds, the nearest first: nothing has a word of a question without words."""
    around = await look_around(conn, each.scope, (), model=(MODEL, DIMENSIONS))
    looked = Looked(each.asker, "")
    found = await find(conn, each.scope, looked, Query(model_id, DIMENSIONS, each.vector), around)
    near = [one for one in found.candidates if one.found and one.cosine is not None]
    return [one.memory_id for one in sorted(near, key=lambda one: (-(one.cosine or 0.0), one.memory_id))]


async def _exact(conn: Borrowed | Connection, each: Asked, model_id: int, most: int) -> list[int]:
    rows = await fetch_scoped(conn, EXACT, each.scope, each.asker, each.vector, model_id, most)
    return [row["memory_id"] for row in rows]


async def _agreement(pool: Pool, asked: Sequence[Asked], model_id: int) -> float:
    """The share of the nearest ten that the arm of vectors finds among its first ten."""
    right = wanted = 0
    async with pool.acquire() as conn:
        for each in asked:
            exact = set(await _exact(conn, each, model_id, TOP))
            right += len(exact & set((await _found(conn, each, model_id))[:TOP]))
            wanted += len(exact)
    return right / max(wanted, 1)


async def _completeness(pool: Pool, words: Words, model_id: int, memories: int, many: int) -> float:
    """The share of what a small scope has that the arm of vectors finds: a space, and a channel of the largest."""
    right = wanted = 0
    scopes = (Scope(SMALL_SPACE, PlaceId(SMALL_SPACE * 100)), Scope(SpaceId(1), ASIDE))
    async with pool.acquire() as conn:
        for scope in scopes:
            for each in await questions(pool, words, many, memories=memories, scope=scope):
                exact = await _exact(conn, each, model_id, SMALL)
                right += len(set(exact) & set(await _found(conn, each, model_id)))
                wanted += len(exact)
    return right / max(wanted, 1)


def targets(sizes: Sequence[int]) -> dict[str, Target]:
    """What the figures of so many memories should be."""
    wanted = {
        "p95_ratio_hnsw": at_most(3),
        "exact_agreement": at_least(0.98),
        "small_scope_complete": at_least(1),
    }
    return {f"{name}_{memories}": target for memories in sizes for name, target in wanted.items()}


async def main() -> None:
    """Measure, print and write."""
    size = Size()
    scale = os.environ.get("SCALE", "")
    if scale and not scale.isdecimal():
        sys.exit("recall: SCALE= is a number of memories; nothing was measured.")
    if scale:
        size = replace(size, memories=tuple(sorted({*size.memories, int(scale)})))
    figures: dict[str, float] = {}
    for memories in size.memories:
        async with open_ground() as ground:
            found = await measure(ground, memories, size)
        figures |= {f"{name}_{memories}": value for name, value in found.items()}
    publish("recall", figures, targets(size.memories), about="times in ms; a recall without its question's vector")


if __name__ == "__main__":
    asyncio.run(main())
