"""Many writers and workers at once: no deadlock, no lost update, no duplicate, and a checkpoint that is true (I14)."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import asyncpg
import pytest

from bot.allowance import is_used_up
from bot.doctor import remembering
from bot.guild_settings import GuildSettings
from bot.remembering.answers import ChatAnswers
from bot.remembering.ingestion import Reader
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from bot.remembering.summaries import Summaries
from bot.settings import Settings
from memory import ingestion
from memory.batches import read_batch
from memory.checks import check
from memory.embedding import adopt, claim, store_vectors
from memory.errors import LeaseGone
from memory.extraction import Extracted
from memory.ids import PlaceId, SpaceId
from memory.items import Draft, Target, forget, remember
from memory.owners import Caps
from memory.scope import Scope
from tests.harness.remembering import Entry, Mind, entry, open_mind
from tests.harness.told import Talk

ADA, BOB = 701, 702


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


def number(message: Mapping[str, Any]) -> Entry:
    """Whose number is which: the last word of the message, under a key of four."""
    value = message["text"].split()[-1]
    key = f"fact.number_{int(value) % 4}"
    return entry(message["id"], int(message["by"]), f"{message['name']} has the number {value}.", key, kind="fact")


async def test_sixteen_readers_and_writers_on_the_same_keys(mind: Mind) -> None:
    """Eight places in which the same two people say overlapping things, sixteen readers at once, and both writing and
    forgetting by hand meanwhile: the newest value of each key stands, with every message that says so, once."""
    places = [Talk(mind.pool, Scope(SpaceId(500), PlaceId(600 + n))) for n in range(8)]
    for n in range(10):
        for place in places:
            await place.says(ADA if n % 2 else BOB, f"I have the number {n}")
    await mind.pool.execute("UPDATE ingestion_targets SET batch_limit = 1")
    mind.finds({"number": number})
    readers = [mind.another_reader() for _ in range(16)]

    async def read(reader: Any) -> None:
        while await reader.step():
            pass

    async def write(user: int, n: int) -> None:
        async with mind.pool.acquire() as conn, conn.transaction():
            await remember(conn, mind.talk.author(user), Draft(f"By hand, {n}.", "fact", f"fact.hand_{n % 2}"))

    async def take(user: int) -> None:
        async with mind.pool.acquire() as conn, conn.transaction():
            await remember(conn, mind.talk.author(user), Draft("One to forget.", "fact", "fact.passing"))
            await forget(conn, mind.talk.author(user), Target(key="fact.passing"))

    async with asyncio.timeout(40):
        await asyncio.gather(
            *map(read, readers),
            *(write(user, n) for user in (ADA, BOB) for n in range(8)),
            *(take(user) for user in (ADA, BOB) for _ in range(4)),
        )
    await mind.reads()  # what a reader passed over because another one held it
    assert await mind.pool.fetchval("SELECT bool_and(done_target = target) FROM ingestion_targets")
    rows = await mind.pool.fetch(
        """SELECT i.key, i.owner_id, i.content, count(DISTINCT e.message_id) AS messages, count(*) AS marks
           FROM live_memories i JOIN live_evidence e USING (memory_id, version)
           WHERE i.key LIKE 'fact.number%' GROUP BY 1, 2, 3 ORDER BY 1"""
    )
    assert [tuple(row) for row in rows] == [
        ("fact.number_0", BOB, "user702 has the number 8.", 8, 8),
        ("fact.number_1", ADA, "user701 has the number 9.", 8, 8),
        ("fact.number_2", BOB, "user702 has the number 6.", 8, 8),
        ("fact.number_3", ADA, "user701 has the number 7.", 8, 8),
    ]
    wrong = """SELECT i.memory_id FROM memory_items i
               LEFT JOIN memory_item_revisions r ON r.memory_id = i.memory_id AND r.reason <> 'forgotten'
               GROUP BY i.memory_id HAVING count(r.version) <> i.version - 1"""
    assert await mind.pool.fetch(wrong) == [], "each version but the present one is kept"
    hands = "SELECT count(*), sum(version) FROM memory_items WHERE key LIKE 'fact.hand%'"
    assert tuple(await mind.pool.fetchrow(hands) or ()) == (4, 16)
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_items WHERE key = 'fact.passing'") == 8


async def test_two_workers_never_have_one_place_and_a_stale_one_changes_nothing(mind: Mind) -> None:
    """I14: the lease number only grows; when the lease is over somebody else goes on, and the first finds no row."""
    said = await mind.talk.says(ADA, "I have the number 1")

    async def claimed(lease_s: float) -> ingestion.Claim | None:
        return await ingestion.claim(mind.pool, lease_s=lease_s, quiet_s=0, longest_s=0)

    first = await claimed(300)
    assert first is not None
    assert await claimed(300) is None
    await mind.pool.execute("UPDATE ingestion_targets SET lease_until = now() - interval '1 second'")
    second = await claimed(300)
    assert second is not None
    assert second.lease_no == first.lease_no + 1
    batch = await read_batch(mind.pool, first.space_id, first.place_id, after=first.done, target=first.target, limit=9)
    verdict = check(batch, Extracted((), (), 0))
    with pytest.raises(LeaseGone):
        async with mind.pool.acquire() as conn, conn.transaction():
            await ingestion.write(conn, first, batch, verdict, Caps())
    await ingestion.postpone(mind.pool, first, code="late")
    assert await mind.pool.fetchval("SELECT failure IS NULL FROM ingestion_targets")
    async with mind.pool.acquire() as conn, conn.transaction():
        await ingestion.write(conn, second, batch, verdict, Caps())
    assert await mind.pool.fetchval("SELECT done_target FROM ingestion_targets") == said


async def test_a_worker_that_is_stopped_gives_its_place_back(mind: Mind) -> None:
    """Cancelled in the middle of a question, nothing is stored, and the next one goes on at once."""
    await mind.talk.says(ADA, "I have the number 1")
    mind.model.hold()
    task = asyncio.create_task(mind.reader.step())
    await mind.model.wait_for_request(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    mind.finds({"number": number})
    await mind.reads()
    assert await mind.live() == ["user701 has the number 1."]


async def test_a_vector_is_only_written_for_the_version_that_was_read(mind: Mind) -> None:
    """The version guard: revised or forgotten between the reading and the writing, and claimed by somebody else."""

    async def told(content: str) -> int:
        async with mind.pool.acquire() as conn, conn.transaction():
            return (await remember(conn, mind.talk.author(ADA), Draft(content, "fact", "fact.it"))).memory_id

    memory_id = await told("First words.")
    async with mind.pool.acquire() as conn, conn.transaction():
        model = await adopt(conn, "m", 2)
    stale = await claim(mind.pool, model, most=10, lease_s=60)
    await told("Second words.")
    assert await store_vectors(mind.pool, model, stale, [[1.0, 0.0]]) == 0
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_vectors") == 0
    fresh = await claim(mind.pool, model, most=10, lease_s=60)
    assert [job.version for job in fresh] == [2]
    assert fresh[0].text.endswith("user701 (fact, fact.it): Second words.")
    async with mind.pool.acquire() as conn, conn.transaction():
        await forget(conn, mind.talk.author(ADA), Target(memory_id=memory_id))
    assert await store_vectors(mind.pool, model, fresh, [[1.0, 0.0]]) == 0
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_vectors") == 0
    assert await mind.pool.fetchval("SELECT count(*) FROM embedding_jobs") == 0


async def test_a_space_that_has_used_up_its_day_is_read_when_the_next_one_comes(mind: Mind) -> None:
    """A budget is a limit for memory too: no model is asked, nothing is lost, the doctor tells, and it goes on."""

    async def used_up(space_id: SpaceId) -> bool:
        return await is_used_up(mind.pool, GuildSettings(daily_tokens=1_000), space_id)

    ledger, answers, pace = Ledger(mind.ai_events.note, used_up), ChatAnswers(mind.chat, "m"), Pace(0, 0, 0.05)
    reader = Reader(mind.pool, answers, "m", ledger, Caps(), pace)
    summaries = Summaries(mind.pool, answers, "m", ledger, every=1, pace=pace)
    mind.finds({"number": number})
    await mind.pool.execute("INSERT INTO token_spend VALUES (500, (now() AT TIME ZONE 'UTC')::date, 0, 1000)")
    await mind.talk.says(ADA, "I have the number 7")
    assert await reader.step()
    assert await summaries.step()
    assert not await reader.step()
    assert mind.model.requests == []
    waits = "SELECT failure, available_at > now() + interval '10 minutes' AS later FROM "
    for table in ("ingestion_targets", "conversation_summaries"):
        assert tuple(await mind.pool.fetchrow(waits + table) or ()) == ("budget_space", True)
    conn = await asyncpg.connect(mind.database_url)
    try:
        found = {each.name: each for each in await remembering.examine(conn, Settings())}
    finally:
        await conn.close()
    assert found["records.memory_budget"].level == "warn"
    assert "records.memory" not in found

    await mind.pool.execute("UPDATE token_spend SET day = day - 1")
    await mind.pool.execute("UPDATE ingestion_targets SET available_at = now()")
    assert await reader.step()
    assert await mind.live() == ["user701 has the number 7."]
