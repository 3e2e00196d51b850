"""Redis remembers what is committed, and no more than that (I2)."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest
from redis.asyncio import Redis

from bot.events import Dispatch
from bot.ingress.seen import Seen, ledger_name
from sandbox.model import say
from tests.harness.services import RunServices
from tests.harness.stage import Stage
from tests.integration.test_journal import create, ingress, put, snowflake


async def test_a_committed_event_is_known_and_another_is_not(redis_url: str) -> None:
    """Read before, written after."""
    async with Redis.from_url(redis_url) as redis:
        seen = Seen(redis, "p:")
        seen.note(["a", "b"], seen.stretch())
        await seen.flush()
        assert await seen.known(["a", "b", "c"]) == {"a", "b"}
        assert await Seen(redis, "q:").known(["a"]) == frozenset()


async def test_what_was_noted_is_known_for_an_hour_and_not_for_ever(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those sets count that hold something of the last hour."""
    async with Redis.from_url(redis_url) as redis:
        seen = Seen(redis, "p:")
        monkeypatch.setattr("bot.ingress.seen.time.time", lambda: 7_199.0)
        seen.note(["a"], seen.stretch())
        monkeypatch.setattr("bot.ingress.seen.time.time", lambda: 10_799.0)
        await seen.flush()
        assert await seen.known(["a", "b"]) == {"a"}
        monkeypatch.setattr("bot.ingress.seen.time.time", lambda: 10_801.0)
        assert await seen.known(["a"]) == frozenset()


async def test_a_redis_that_does_not_answer_knows_nothing_and_is_left_alone() -> None:
    """A miss or an error proves nothing and costs a quarter of a second, once in five."""
    async with Redis.from_url("redis://127.0.0.1:9/0") as redis:
        seen = Seen(redis, "p:")
        async with asyncio.timeout(5):
            for _ in range(200):
                seen.note(["a"], seen.stretch())
                await seen.flush()
                assert await seen.known(["a"]) == frozenset()


@pytest.mark.parametrize("answer", [RuntimeError("a bug"), None, [7], "nonsense"])
async def test_a_redis_that_answers_nonsense_knows_nothing(answer: object) -> None:
    """I2: whatever comes back, the journal goes on without it."""

    class Strange:
        async def eval(self, *_: object) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

    seen = Seen(Strange(), "p:")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert await seen.known(["a"]) == frozenset()
    strange = Seen(Strange(), "p:")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    strange.note(["a"], strange.stretch())
    await strange.flush()


async def test_no_database_is_vouched_for_by_what_another_committed(
    pool: asyncpg.Pool, services: RunServices, template: str
) -> None:
    """A new or restored database behind the same Redis has a name of its own."""
    async with services.fresh_database(template) as url:
        other = await asyncpg.connect(url)
        try:
            assert await ledger_name(pool) == await ledger_name(pool)
            assert await ledger_name(other) != await ledger_name(pool)
        finally:
            await other.close()


async def test_each_noted_key_is_in_the_ledger(stage: Stage) -> None:
    """I2: notes are written after the commit, so each of them names an event that is there."""
    stage.model.default(say("yes"))
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        await stage.settled(1)
    name = await ledger_name(stage.pool)
    async with Redis.from_url(stage.redis_url) as redis:
        sets = await redis.keys(f"*:seen:{name}:*")
        members = [key for each in sets for key in await redis.smembers(each)]
        noted = [key.decode() if isinstance(key, bytes) else key for key in members]
        assert 3000 < await redis.ttl(sets[0]) <= 3600
    assert noted
    for key in noted:
        space, event = key.split(":", 1)
        row = await stage.pool.fetchval(
            "SELECT 1 FROM discord_events WHERE space_id = $1 AND event_key = $2", int(space), event
        )
        assert row == 1, key


async def test_redis_is_asked_only_where_a_repetition_is_likely(pool: asyncpg.Pool) -> None:
    """I2: for several that come anew, were fetched, or come as a session begins; PostgreSQL finds the others."""
    asked: list[str] = []

    class Listening(Seen):
        async def known(self, keys: Sequence[str]) -> frozenset[str]:
            asked.extend(key.split(":", 1)[1] for key in keys)
            return frozenset()

    async with ingress(pool, seen=Listening(None, "")) as (one, _):
        assert await put(one, *(create(n, sequence=n) for n in range(1, 5))) == ["committed"] * 4
        assert asked == []
        assert await put(one, *(create(n, sequence=n + 10) for n in range(1, 5))) == ["duplicate"] * 4
        assert asked == []
        assert await put(one, *(create(n, sequence=n) for n in range(1, 4))) == ["duplicate"] * 3
        assert asked == []  # PostgreSQL finds a few sooner
        fetched = Dispatch("MESSAGE_CREATE", create(5).data, "rest", 0, "backfill")
        again = [create(n, sequence=n) for n in range(1, 4)]
        assert await put(one, *again, fetched, create(6, sequence=20)) == ["duplicate"] * 3 + ["committed"] * 2
        assert asked == [f"create:{snowflake(n)}" for n in (1, 2, 3, 5)]
        await put(one, Dispatch("RESUMED", {}, "s", 30), *(create(n, sequence=30 + n) for n in range(7, 11)))
        assert asked[-1] == f"create:{snowflake(10)}"
