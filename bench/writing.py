"""The writing half of memory: how fast values, batches and vectors are written, and what that costs who waits for an
answer meanwhile."""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from agent.openai_model import OpenAIModel
from bench.children import child
from bench.figures import at_most, median, percentile, progress, publish
from bench.ground import Ground, open_ground
from bench.stand import LANES, Side, connected, muninn_environment, open_model, open_side
from bench.talk import SPACE, Talk
from bot.pool import open_pool
from bot.remembering.answers import ChatAnswers
from bot.remembering.embedded import EmbeddedEmbeddings
from bot.remembering.embedding import Embedding
from bot.remembering.ingestion import Reader
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from bot.settings import Settings
from memory.ids import MessageId, PlaceId, UserId, snowflake_time
from memory.owners import Caps, Owner, lock_owners
from memory.values import Value, Witness, store

TARGETS: Final = {"reply_p95_ratio_under_load": at_most(1.5)}
GROUP: Final = 20
"""Values in one transaction: what a batch of talk may well hold."""

READERS: Final = 2
PACE: Final = Pace(quiet_s=86_400, longest_s=60, poll_s=0.05)
"""Only what is marked as waiting for long is read (bench.talk)."""

MANY: Final = Caps(live=1_000_000, writes=1_000_000)


# Whether what was read is being embedded; whether anything is under way, or waits.
BEGUN_SQL: Final = "SELECT EXISTS (SELECT FROM embedding_jobs WHERE lease_until > now())"
BUSY_SQL: Final = """
SELECT EXISTS (SELECT FROM ingestion_targets WHERE done_target < target AND waiting_at = to_timestamp(0))
    OR EXISTS (SELECT FROM embedding_jobs)
"""
# Take away what waits and nobody works on.
READ_SQL: Final = """
UPDATE ingestion_targets SET done_target = target WHERE (space_id, place_id) IN (
    SELECT space_id, place_id FROM ingestion_targets WHERE lease_until IS NULL AND waiting_at = to_timestamp(0)
    FOR UPDATE SKIP LOCKED)
"""
EMBEDDED_SQL: Final = """
DELETE FROM embedding_jobs WHERE memory_id IN (
    SELECT memory_id FROM embedding_jobs WHERE lease_until IS NULL OR lease_until < now() FOR UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured. Replies: in each round `replies` idle and as many under load of `places`."""

    rounds: int
    values: int
    places: int
    messages: int
    vectors: int
    reply_rounds: int
    replies: int


FULL: Final = Size(rounds=3, values=2_000, places=40, messages=40, vectors=256, reply_rounds=6, replies=40)


async def measure(ground: Ground, size: Size = FULL) -> dict[str, float]:
    """The figures, by name; rates a second, times in milliseconds."""
    upserts: list[float] = []
    jobs: list[float] = []
    rows: list[float] = []
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        model = await stack.enter_async_context(open_model(logs))
        pool = await stack.enter_async_context(open_pool(ground.database_url))
        talk = Talk(pool)
        for number in range(size.rounds):
            upserts.append(await _upserts(pool, number, size.values))
            jobs.append(await _jobs(pool, talk, model, size))
            rows.append(await _rows(ground, pool, logs, size))
            progress(
                f"writing: {number + 1} of {size.rounds}: {upserts[-1]:,.0f} upserts/s, {jobs[-1]:,.1f} jobs/s, "
                f"{rows[-1]:,.1f} vectors/s"
            )
        idle, loaded = await _replies(ground, pool, talk, model, logs, size)
    return {
        "reply_p95_ratio_under_load": percentile(loaded, 0.95) / percentile(idle, 0.95),
        "upserts_per_s": median(upserts),
        "ingestion_jobs_per_s": median(jobs),
        "embedding_rows_per_s": median(rows),
        "reply_median_ratio_under_load": median(loaded) / median(idle),
        "reply_p95_ms_idle": percentile(idle, 0.95) * 1e3,
        "reply_p95_ms_loaded": percentile(loaded, 0.95) * 1e3,
    }


async def _upserts(pool: asyncpg.Pool, number: int, values: int) -> float:
    """Values a second by one connection: of five three are new, one is said again, one is changed."""
    groups = [
        [_value(number, at, member=at // GROUP) for at in range(start, min(start + GROUP, values))]
        for start in range(0, values, GROUP)
    ]
    started = time.perf_counter()
    async with pool.acquire() as conn:
        for group in groups:
            async with conn.transaction():
                await lock_owners(conn, {value.owner for value in group})
                for value in group:
                    await store(conn, value, MANY)
    return values / (time.perf_counter() - started)


def _value(number: int, at: int, *, member: int) -> Value:
    what, base = at % 5, at - at % 5
    subject = base if what in (0, 3, 4) else at  # 1 and 2 are new too; 3 says 0 again, 4 changes it
    words = f"Thing {subject} of round {number}" + (" is other now." if what == 4 else " is so.")
    owner = Owner(SPACE, "user", 1_000_000 * (number + 1) + member)
    message_id = MessageId(((number + 1) << 40) + (at << 22) + 1)
    place_id, user_id = PlaceId(499_999), UserId(owner.owner_id)
    witness = Witness(message_id, place_id, user_id, snowflake_time(message_id))
    return Value(
        owner, place_id, "fact", f"fact.thing_{subject}", words, "extracted", user_id, "Member", message_id, 0.5, 0.8,
        (witness,),
    )  # fmt: skip


async def _jobs(pool: asyncpg.Pool, talk: Talk, model: Mapping[str, str], size: Size) -> float:
    """Places a second, read, asked about, checked and stored by two readers, against a model that answers at once."""
    await talk.places(size.places, size.messages)
    chat = OpenAIModel(
        base_url=model["MUNINN_OPENAI_BASE_URL"], api_key=model["MUNINN_OPENAI_API_KEY"], model=model["MUNINN_MODEL"]
    )
    ledger = Ledger(lambda _: None)
    readers = [Reader(pool, ChatAnswers(chat, "bench"), "bench", ledger, MANY, PACE) for _ in range(READERS)]

    async def read(reader: Reader) -> int:
        done = 0
        while await reader.step():
            done += 1
        return done

    try:
        started = time.perf_counter()
        done = sum(await asyncio.gather(*map(read, readers)))
        took = time.perf_counter() - started
    finally:
        await chat.aclose()
    if done < size.places:
        raise RuntimeError(f"{done} of {size.places} places were read")
    return done / took


async def _rows(ground: Ground, pool: asyncpg.Pool, folder: Path, size: Size) -> float:
    """Memories a second that get their vector, by the embedded model."""
    embedder = EmbeddedEmbeddings(folder)
    batch = Settings.model_fields["embedding_batch"].default
    worker = Embedding(
        pool, embedder, Ledger(lambda _: None), lambda: asyncpg.connect(ground.database_url), batch=batch, pace=PACE
    )
    try:
        # The model starts, and its index is made, outside of what is measured.
        before = -1
        while before < await _vectors(pool) <= 0 or before < 0:
            before = await _vectors(pool)
            await worker.step()
        first, started = await _vectors(pool), time.perf_counter()
        while await _vectors(pool) - first < size.vectors and await worker.step():
            pass
        return (await _vectors(pool) - first) / (time.perf_counter() - started)
    finally:
        await embedder.aclose()


async def _vectors(pool: asyncpg.Pool) -> int:
    return int(await pool.fetchval("SELECT count(*) FROM memory_vectors"))


async def _replies(
    ground: Ground, pool: asyncpg.Pool, talk: Talk, model: Mapping[str, str], logs: Path, size: Size
) -> tuple[list[float], list[float]]:
    """Seconds that each reply took, idle and while memory reads and embeds as fast as it can; in turns."""
    await _rest(pool)
    idle: list[float] = []
    loaded: list[float] = []
    async with _muninn(ground, model, logs) as side:
        await _ask(side, size.replies // 2)
        for number in range(size.reply_rounds):
            idle += await _ask(side, size.replies)
            await talk.places(size.places * 4, size.messages)
            await _begun(pool)
            loaded += await _ask(side, size.replies)
            await _rest(pool)
            progress(
                f"writing: replies, {number + 1} of {size.reply_rounds}: {median(idle) * 1e3:.0f} ms idle, "
                f"{median(loaded) * 1e3:.0f} ms under load"
            )
    return idle, loaded


@asynccontextmanager
async def _muninn(ground: Ground, model: Mapping[str, str], logs: Path) -> AsyncGenerator[Side]:
    """Muninn with its embedded model; it reads nothing of its own accord but what is marked."""
    async with open_side("muninn") as side:
        environment = {
            **muninn_environment(ground, side, model),
            "MUNINN_DATA_DIR": str(logs),
            "MUNINN_MEMORY_QUIET_S": "86400",
            "MUNINN_MEMORY_LONGEST_S": "86400",
            "MUNINN_MEMORY_WRITES": "1000000",
            "MUNINN_POLL_S": "0.2",
        }
        async with child("bot", "run", "--while-stdin-open", environment=environment, log=logs / "muninn.log"):
            await connected(side, logs / "muninn.log")
            yield side


async def _ask(side: Side, count: int) -> list[float]:
    waits = [await side.ask(number % LANES) for number in range(count)]
    side.forget()
    return waits


async def _begun(pool: asyncpg.Pool) -> None:
    """Wait until what was read for memory is being embedded; where there is much, more is read meanwhile."""
    async with asyncio.timeout(60):
        while not await pool.fetchval(BEGUN_SQL):  # noqa: ASYNC110 - nobody tells a stranger that work has begun
            await asyncio.sleep(0.02)


async def _rest(pool: asyncpg.Pool) -> None:
    """Let memory have nothing to do, and wait until what it is at is done."""
    async with asyncio.timeout(60):
        while await pool.fetchval(BUSY_SQL):
            await pool.execute(READ_SQL)
            await pool.execute(EMBEDDED_SQL)
            await asyncio.sleep(0.02)  # PostgreSQL has no other way to tell a stranger that work is done


async def main() -> None:
    """Measure, print and write."""
    async with open_ground() as ground:
        publish("writing", await measure(ground), TARGETS, about="durable memory, embedded defaults, fsync on")


if __name__ == "__main__":
    asyncio.run(main())
