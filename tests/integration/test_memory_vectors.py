"""Embedding in trouble and in change: nothing wrong is stored, jobs back off and recover, and the doctor tells (I9)."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import asyncpg
import pytest

from bot.doctor import remembering
from bot.doctor.findings import Finding
from bot.settings import Settings
from memory.embedding import Model as EmbeddingModel
from memory.embedding import adopt, claim, fill, index_name, make_indexes
from memory.items import Draft, Target, forget, remember
from memory.taking_back import end_items
from sandbox.model import Model, failure, gateway_page, rate_limited, reset_connection, server_error, stall
from tests.harness.diagnosis import assert_plain, named
from tests.harness.locks import until_blocked
from tests.harness.remembering import Mind, open_mind

ADA = 701


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


async def told(mind: Mind, content: str, key: str | None = None) -> int:
    async with mind.pool.acquire() as conn, conn.transaction():
        return (await remember(conn, mind.talk.author(ADA), Draft(content, "fact", key))).memory_id


async def vectors(mind: Mind) -> list[tuple[int, int, str, int]]:
    """Memory, version, model and size of each vector."""
    rows = await mind.pool.fetch(
        """SELECT v.memory_id, v.version, m.name, vector_dims(v.embedding) AS size
           FROM memory_vectors v JOIN embedding_models m USING (model_id) ORDER BY 1, 3"""
    )
    return [(row["memory_id"], row["version"], row["name"], row["size"]) for row in rows]


async def doctor(mind: Mind, name: str = "records.memory", **settings: Any) -> Finding:
    fields: dict[str, Any] = {"embedding_url": "http://x", "embedding_key": "k", "embedding_model": "m"}
    async with mind.pool.acquire() as conn:
        found = await remembering.examine(conn, Settings(**{**fields, **settings}))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_plain(found)
    return named(found, name)


async def again(mind: Mind) -> None:
    """The pause after a failure is over."""
    await mind.pool.execute("UPDATE embedding_jobs SET available_at = now()")


TROUBLE = [
    ("busy", rate_limited()),
    ("busy", server_error()),
    ("connection", reset_connection()),
    ("timeout", stall(30)),
    ("bad_reply", failure(200, "what", kind="nothing")),
    ("busy", gateway_page()),
    ("bad_reply", gateway_page(200)),
    ("unauthorized", failure(401, "wrong key", kind="authentication_error")),
    ("bad_request", failure(400, "no such parameter", kind="invalid_request_error")),
]


@pytest.mark.parametrize(("code", "fault"), TROUBLE)
async def test_trouble_passes(mind: Mind, code: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job backs off durably, is not done, and is done when the trouble is over; the doctor names it meanwhile."""
    monkeypatch.setattr("bot.remembering.embedding.ANSWER_S", 0.5)
    memory_id = await told(mind, "Ada likes tea.")
    mind.model.fail_embeddings(fault)
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    row = await mind.pool.fetchrow("SELECT *, available_at > now() + interval '3 seconds' AS rests FROM embedding_jobs")
    assert row is not None
    assert (row["failure"], row["attempts"], row["rests"], row["lease_until"]) == (code, 1, True, None)
    assert await vectors(mind) == []
    finding = await doctor(mind)
    assert finding.level == "fault"
    assert code in finding.says
    await again(mind)
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    assert await vectors(mind) == [(memory_id, 1, "sandbox-embedding", 64)]
    assert (await doctor(mind)).level == "ok"


async def test_a_wrong_dimension_is_an_error_and_never_done(mind: Mind) -> None:
    """However often it is tried; each time later. With the right one it is embedded."""
    memory_id = await told(mind, "Ada likes tea.")
    async with Model.start(embedding_dimensions=32, embedding_shortens=False, check_at_exit=False) as other:
        for attempt in range(1, 4):
            await again(mind)
            async with mind.embedding(url=other.base_url, key=other.api_key, dimensions=33) as embedding:
                await embedding.step()
                await embedding.step()
            row = await mind.pool.fetchrow("SELECT attempts, failure, available_at - now() AS rest FROM embedding_jobs")
            assert row is not None
            assert (row["attempts"], row["failure"]) == (attempt, "wrong_dimension")
            assert row["rest"].total_seconds() > 5 * 2 ** (attempt - 1) - 2
    assert await vectors(mind) == []
    assert (await doctor(mind)).level == "fault"
    await again(mind)
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    assert await vectors(mind) == [(memory_id, 1, "sandbox-embedding", 64)]


async def test_one_text_that_is_refused_holds_up_no_other(mind: Mind) -> None:
    """A batch that is refused is halved; what stands alone is tried again later, with the failure on record."""
    ids = [await told(mind, f"Ada likes number {n}.") for n in range(4)]
    long = failure(400, "too long", kind="invalid_request_error")
    mind.model.fail_embeddings(long, long, long)
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    assert [row[0] for row in await vectors(mind)] == ids[1:]
    assert await mind.pool.fetchval("SELECT memory_id FROM embedding_jobs WHERE failure = 'bad_request'") == ids[0]


async def test_models_are_swapped_in_mid_traffic(mind: Mind) -> None:
    """Two processes, two models: the newer one takes over and embeds everything anew, in its true dimension; the
    former one stands down; both kinds of vectors stand until it is done, and then only the new."""
    ids = [await told(mind, f"Ada likes number {n}.", f"fact.n_{n}") for n in range(5)]
    async with Model.start(embedding_name="newer", embedding_dimensions=48) as newer, mind.embedding(batch=2) as old:
        while await old.step():
            pass
        assert len(await vectors(mind)) == 5
        async with mind.embedding(url=newer.base_url, key=newer.api_key, name="newer", dimensions=48, batch=2) as new:
            await new.step()
            await told(mind, "Ada likes number 0 no more.", "fact.n_0")
            assert not await old.step(), "another model is the current one"
            assert {row[2] for row in await vectors(mind)} == {"sandbox-embedding", "newer"}
            async with asyncio.timeout(20):
                while await new.step():
                    pass
                while len(await vectors(mind)) > 5:
                    await new.step()
            expected = [(each, 2 if each == ids[0] else 1, "newer", 48) for each in ids]
            assert await vectors(mind) == expected


async def test_a_large_space_has_an_index_of_its_own(mind: Mind) -> None:
    """Of the current model, as long as it is large; one that was cut off while it was made is made again."""
    space = int(mind.talk.scope.space_id)
    for n in range(4):
        await told(mind, f"Ada likes number {n}.", f"fact.n_{n}")
    async with mind.embedding() as worker:
        while await worker.step():
            pass
    model_id = await mind.pool.fetchval("SELECT model_id FROM embedding_models WHERE is_current")
    model = EmbeddingModel(model_id, "sandbox-embedding", 64, filled=True)
    name = index_name(model_id, space)
    indexes = "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'memory_vectors_hnsw%' ORDER BY 1"

    async def made(most: int) -> tuple[tuple[int, ...], list[str]]:
        conn = await asyncpg.connect(mind.database_url)
        try:
            spaces = await make_indexes(conn, model, most=most)
        finally:
            await conn.close()
        return spaces, [row["indexname"] for row in await mind.pool.fetch(indexes)]

    assert await made(4) == ((), [])
    assert await made(3) == ((space,), [name])
    assert await made(3) == ((), [name])
    await mind.pool.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = $1::text::regclass", name)
    assert await made(3) == ((space,), [name])
    assert await made(7) == ((), [name]), "half as many are enough to keep it"
    assert await made(8) == ((), [])


async def test_turning_embeddings_on_later_fills_what_exists(mind: Mind) -> None:
    """Also what was written when its jobs were lost; nothing that is forgotten."""
    kept = await told(mind, "Ada likes tea.", "fact.tea")
    await told(mind, "Ada likes jam.", "fact.jam")
    async with mind.pool.acquire() as conn, conn.transaction():
        await forget(conn, mind.talk.author(ADA), Target(key="fact.jam"))
    await mind.pool.execute("DELETE FROM embedding_jobs")
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    assert [row[0] for row in await vectors(mind)] == [kept]
    asked = [text for request in mind.model.embedding_requests for text in request.texts]
    assert len(asked) == 1
    assert asked[0].endswith("2026 user701 (fact, fact.tea): Ada likes tea.")


async def test_what_waits_for_long_is_told(mind: Mind) -> None:
    """Not set up is not a failure; set up and never done is."""
    await told(mind, "Ada likes tea.")
    none = {"embedding_url": None, "embedding_key": None, "embedding_model": None, "embeddings": "off"}
    assert "words alone" in (await doctor(mind, "embeddings.model", **none)).says
    assert (await doctor(mind)).level == "ok"
    await mind.pool.execute("UPDATE embedding_jobs SET available_at = now() - interval '2 hours'")
    assert "by 2 hours" in (await doctor(mind, "records.memory_waiting")).says


async def test_a_model_of_which_nothing_is_believed_is_told(mind: Mind) -> None:
    """It works all day, fails never, and remembers nothing."""
    await mind.pool.execute(
        "INSERT INTO extraction_counts VALUES ((now() AT TIME ZONE 'UTC')::date, 'refused:unsupported', 25)"
    )
    finding = await doctor(mind, "records.memory_believed")
    assert "Of 25 things" in finding.says
    assert "unsupported 25" in finding.says
    await mind.pool.execute("INSERT INTO extraction_counts VALUES ((now() AT TIME ZONE 'UTC')::date, 'created', 1)")
    assert (await doctor(mind)).level == "ok"


async def test_who_embeds_anew_waits_for_a_vector_before_it_holds_a_job(mind: Mind) -> None:
    """Whoever writes vectors holds them before the jobs; the other way round the two would wait for each other."""
    memory_id = await told(mind, "Ada likes tea.")
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    model = await mind.pool.fetchrow("SELECT model_id, name, dimensions, true AS filled FROM embedding_models")
    assert model is not None
    await mind.pool.execute("INSERT INTO embedding_rechecks (space_id, memory_id) VALUES (500, $1)", memory_id)
    await mind.pool.execute(
        "INSERT INTO embedding_jobs (memory_id, space_id, version, available_at) VALUES ($1, 500, 1, now() + '1 h')",
        memory_id,
    )

    async def recheck() -> int:
        async with mind.pool.acquire() as conn:
            return len(await claim(conn, EmbeddingModel(**dict(model)), most=5, lease_s=60))

    async with mind.pool.acquire() as writer, writer.transaction():
        await writer.execute("SELECT FROM memory_vectors FOR UPDATE")
        rechecking = asyncio.create_task(recheck())
        await until_blocked(mind.pool, rechecking)
        await writer.execute("SELECT FROM embedding_jobs FOR UPDATE NOWAIT")
    assert await rechecking == 1
    assert await vectors(mind) == []


async def test_what_is_forgotten_while_a_new_model_queues_everything_is_not_queued(mind: Mind) -> None:
    """A job for a memory that ended would stay for ever: nothing that has ended is ever embedded."""
    memory_id = await told(mind, "Ada likes tea.")
    async with mind.pool.acquire() as conn, conn.transaction():
        model = await adopt(conn, "new", 8)

    async def queue() -> int | None:
        async with mind.pool.acquire() as conn:
            return await fill(conn, model, 0)

    async with mind.pool.acquire() as conn, conn.transaction():
        await end_items(conn, [memory_id], state="forgotten")
        queueing = asyncio.create_task(queue())
        await until_blocked(mind.pool, queueing)
    assert await queueing == memory_id
    assert await mind.pool.fetchval("SELECT count(*) FROM embedding_jobs") == 0
