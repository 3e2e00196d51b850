"""Uses of memories: counted for really relevant hits alone, once an hour, and never in anybody's way."""

from collections.abc import AsyncGenerator

import asyncpg
import pytest

from memory.ids import UserId
from memory.ranking import Floors
from memory.recall import Asking, Recall
from memory.uses import MOST_IN_FLIGHT, Uses
from tests.harness.recalling import Shelf, open_shelf, scope

ADA = 701
EXACT = "The ferry to Naxos leaves from gate E2."


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        yield opened


async def uses(shelf: Shelf) -> dict[int, tuple[int, int]]:
    """How often each memory was used, and how often as of the day's beginning."""
    rows = await shelf.pool.fetch("SELECT memory_id, uses, settled FROM memory_uses")
    return {row["memory_id"]: (row["uses"], row["settled"]) for row in rows}


async def asks(shelf: Shelf, text: str, *, vectors: bool = True, used: float = 0.6) -> None:
    counting = Uses(shelf.pool)
    floors = Floors(alone=0.3, low=0.1, used=used)
    recall = Recall(shelf.pool, shelf.embedder if vectors else None, floors=floors, query_s=5.0, uses=counting)
    assert (await recall.answer(Asking(scope(), UserId(ADA), text))).items
    await counting.aclose()


async def test_a_really_relevant_hit_counts_at_most_once_an_hour(shelf: Shelf) -> None:
    """By its cosine, of which the floor is a setting; what ranking sees is as of the day's beginning."""
    memory_id = await shelf.keeps(ADA, EXACT)
    await shelf.embeds()
    await asks(shelf, EXACT, used=0.999)
    assert await uses(shelf) == {}
    for _ in range(2):
        await asks(shelf, EXACT)
    assert await uses(shelf) == {memory_id: (1, 0)}
    await shelf.pool.execute("UPDATE memory_uses SET used_at = now() - interval '1 day 1 hour'")
    await asks(shelf, EXACT)
    assert await uses(shelf) == {memory_id: (2, 1)}


async def test_without_vectors_nothing_is_counted(shelf: Shelf) -> None:
    """Words alone say too little of how relevant something is."""
    await shelf.keeps(ADA, EXACT)
    await shelf.embeds()
    await asks(shelf, EXACT, vectors=False)
    assert await uses(shelf) == {}


async def test_no_recall_waits_for_the_count_and_too_many_are_left_out(shelf: Shelf) -> None:
    """With the table locked recalls go on; a few counts wait, and the rest is dropped."""
    ids = [await shelf.keeps(ADA, f"The ferry number {n} leaves at noon.") for n in range(MOST_IN_FLIGHT + 2)]
    counting = Uses(shelf.pool)
    async with shelf.pool.acquire() as conn:
        async with conn.transaction():
            await conn.execute("LOCK TABLE memory_uses IN EXCLUSIVE MODE")
            for memory_id in ids:
                counting.note([memory_id])
        await counting.aclose()
    assert set(await uses(shelf)) == set(ids[:MOST_IN_FLIGHT])
