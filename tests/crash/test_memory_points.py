"""A memory worker is killed at each named point, others go on, and nothing is forgotten, doubled or invented."""

import asyncio
import contextlib
import re
import signal
from collections.abc import AsyncGenerator
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any, Final

import asyncpg
import pytest

from bot import crash
from bot.crash import MEMORY_POINTS
from bot.pool import open_pool
from bot.remembering.pace import Pace
from bot.supervisor import keep_running
from memory.ids import MessageId
from sandbox.model import ChatRequest, Completion, say, say_json
from tests.harness.process import fork
from tests.harness.remembering import Mind, entry, heard, is_extraction, open_mind, workers

ADA, BOB = 701, 702
LEASE_S: Final = 2.0
QUICKLY_SAID: Final = 30
MOST_SAID: Final = 50
"""Said after the quick ones one by one: a slow machine takes all those at once, and passes each point once."""
SETTLE_S: Final = 45.0
_FACT: Final = re.compile(r"fact (\d+)")


def _cases() -> list[Any]:
    """One seed a point always, twenty in the long run."""
    return [
        pytest.param(point, seed, id=f"{point}-{seed}", marks=[pytest.mark.long] if seed >= 1 else [])
        for point in MEMORY_POINTS
        for seed in range(20)
    ]


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool, lease_s=LEASE_S) as opened:
        yield opened


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("point", "seed"), _cases())
async def test_killed_at(point: str, seed: int, mind: Mind) -> None:
    """I8, I14: each message that stands made one memory with one vector, each that was deleted left none, and every
    checkpoint is true."""
    rng = Random(f"{point}:{seed}")  # noqa: S311 - chosen by a seed, on purpose
    mind.model.default(_turn)
    dying = await fork(
        _work, mind.database_url, mind.model.base_url, mind.model.api_key, f"{point}:{rng.randint(1, 2)}"
    )
    try:
        said, gone = await _talk_until_dead(mind, dying, rng)
        assert dying.exitcode == -signal.SIGKILL
    finally:
        dying.kill()
        dying.join()
        dying.close()
    deadline = asyncio.get_running_loop().time() + SETTLE_S
    async with mind.embedding() as embedding:
        while problems := await _problems(mind, said, gone):
            assert asyncio.get_running_loop().time() < deadline, "\n".join(problems)
            await mind.reader.step()
            await embedding.step()
            if not await mind.summaries.step():
                await asyncio.sleep(0.02)  # a lease of the dead one ends by PostgreSQL's clock alone


def _work(database_url: str, model_url: str, api_key: str, crash_at: str) -> None:
    """In the child: the memory workers of a process, until it dies."""
    crash.arm(crash_at)
    asyncio.run(_run_workers(database_url, model_url, api_key))


async def _run_workers(database_url: str, model_url: str, api_key: str) -> None:
    async with open_pool(database_url) as pool, workers(pool, database_url, model_url, api_key, _pace()) as loops:
        await asyncio.gather(*(keep_running(name, loop) for name, loop in loops.items()))


def _pace() -> Pace:
    return Pace(0, 0, 0.02, LEASE_S)


async def _talk_until_dead(mind: Mind, dying: BaseProcess, rng: Random) -> tuple[dict[int, MessageId], set[int]]:
    """People state facts, each its own, and take some back, until it dies."""
    said: dict[int, MessageId] = {}
    gone: set[int] = set()
    dead = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(dying.sentinel, dead.set)
    try:
        for n in range(MOST_SAID):
            said[n] = await mind.talk.says(ADA if n % 3 else BOB, f"I can state fact {n}")
            if n % 4 == 3:
                taken = rng.choice([at for at in said if at not in gone])
                await mind.talk.deletes(said[taken])
                gone.add(taken)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_pause_s(rng, n)):
                    await dead.wait()
            if dead.is_set():
                break
        assert dead.is_set(), "the point was not passed"
    finally:
        loop.remove_reader(dying.sentinel)
    dying.join()
    return said, gone


def _pause_s(rng: Random, n: int) -> float:
    """Seconds after the n-th fact."""
    return rng.choice((0.0, 0.2, 0.4)) if n < QUICKLY_SAID else 1.0 if n < MOST_SAID - 1 else 15.0


def _turn(request: ChatRequest) -> Completion:
    data = heard(request)
    if not is_extraction(request):
        words = " ".join([data["summary"], *(message["text"] for message in data["messages"])])
        return say(" ".join(f"fact {n}" for n in dict.fromkeys(_FACT.findall(words))) or "nothing")
    made: Any = {
        "memories": [
            entry(message["id"], int(message["by"]), f"{message['name']} can {found[0]}.", f"skill.number_{found[1]}")
            for message in data["messages"]
            if (found := _FACT.search(message["text"]))
        ],
        "relations": [],
    }
    return say_json(made)


async def _problems(mind: Mind, said: dict[int, MessageId], gone: set[int]) -> list[str]:
    """What does not hold, or not yet."""
    problems: list[str] = []
    rows = await mind.pool.fetch(
        """SELECT i.key, i.state, count(DISTINCT e.message_id) AS messages, min(e.message_id) AS message_id,
                  count(DISTINCT v.model_id) AS vectors
           FROM memory_items i LEFT JOIN live_evidence e USING (memory_id, version)
           LEFT JOIN memory_vectors v ON v.memory_id = i.memory_id AND v.version = i.version
           GROUP BY i.memory_id"""
    )
    for n, message_id in said.items():
        active = [row for row in rows if row["key"] == f"skill.number_{n}" and row["state"] == "active"]
        if n in gone and active:
            problems.append(f"fact {n} is remembered, and was deleted")
        if n not in gone and [(r["messages"], r["message_id"], r["vectors"]) for r in active] != [(1, message_id, 1)]:
            problems.append(f"fact {n} stands as {[dict(row) for row in active]}")
    for table, wrong in (
        # A lease that ran out holds nobody up: who died after taking back, where nothing was to be read, leaves one.
        ("ingestion_targets", "done_target <> target OR lease_until > now()"),
        ("memory_revocations", "true"),
        ("ingestion_rereads", "true"),
        ("embedding_jobs", "true"),
        ("parked_ingestions", "true"),
        ("conversation_summaries", "stale_at IS NOT NULL OR lease_until IS NOT NULL"),
    ):
        if await mind.pool.fetchval(f"SELECT count(*) FROM {table} WHERE {wrong}"):
            problems.append(f"{table} is not settled")
    content = str(await mind.pool.fetchval("SELECT content FROM conversation_summaries"))
    problems += [f"the summary has fact {n}, which was deleted" for n in gone if str(n) in _FACT.findall(content)]
    return problems


def test_each_memory_point_is_passed_by_some_code_and_each_is_named() -> None:
    """As for the other points."""
    folder = Path(__file__).parents[2] / "bot" / "remembering"
    passed = [name for path in folder.glob("*.py") for name in re.findall(r'crash_point\("(\w+)"\)', path.read_text())]
    assert sorted(set(passed)) == sorted(MEMORY_POINTS)
