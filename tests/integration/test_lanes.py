"""Several writers journal side by side: what that must not change (I1)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.errors import EventDropped
from bot.events import Dispatch
from bot.ingress import queue as queue_module
from bot.ingress import writer as writer_module
from memory.database import Pool
from memory.gaps import open_gap
from tests.harness.locks import until_blocked
from tests.integration.test_journal import GUILD, create, ingress, snowflake

# Guilds whose events go different ways.
HERE, THERE = GUILD, GUILD + 1


def elsewhere(n: int) -> Dispatch:
    """A message in the guild whose events go the other way."""
    return create(n, guild_id=str(THERE), channel_id=str(THERE))


def third(n: int) -> Dispatch:
    """A message in a guild where nobody spoke so far."""
    return create(n, guild_id=str(GUILD + 3), channel_id=str(GUILD + 3))


def ready(*guilds: int) -> Dispatch:
    """The beginning of a session that knows these guilds."""
    listed = [{"id": str(each), "unavailable": True} for each in guilds]
    return Dispatch(
        "READY", {"v": 10, "session_id": "secret", "resume_gateway_url": "wss://x", "guilds": listed}, "t", 1
    )


def guild_create(guild_id: int) -> Dispatch:
    """A guild that tells of itself."""
    data: dict[str, Any] = {"id": str(guild_id), "name": "there", "owner_id": "1", "roles": [], "channels": []}
    return Dispatch("GUILD_CREATE", data, "t", 2)


async def _both(*waited: asyncio.Future[Any]) -> None:
    await asyncio.wait(waited)


@pytest.mark.parametrize("before", [create(2), ready(THERE)], ids=["a message", "the session's own beginning"])
async def test_what_comes_after_a_gap_waits_for_all_that_came_before_it(pool: Pool, before: Dispatch) -> None:
    """I1: cursors are frozen between the two, in whatever lanes they stand."""
    order: list[str] = []

    def noted(what: str) -> Callable[[object], None]:
        return lambda _: order.append(what)

    async with pool.acquire() as other, ingress(pool) as (one, told):
        async with other.transaction():
            await other.execute("LOCK TABLE discord_events IN SHARE MODE")
            first = one.accept(before)
            if before.kind != "READY":
                one.accept(ready())
            after = one.accept(elsewhere(3) if before.kind != "READY" else guild_create(THERE))
            assert first is not None
            assert after is not None
            first.add_done_callback(noted("before"))
            after.add_done_callback(noted("after"))
            waiting = asyncio.create_task(_both(first, after))
            await until_blocked(pool, waiting)
            assert await pool.fetchval("SELECT count(*) FROM gateway_gaps") == int(before.kind == "READY")
        async with asyncio.timeout(20):
            await waiting
    assert order == ["before", "after"]
    assert told.gaps == 1
    frozen = await pool.fetchval("SELECT backfill_after FROM place_cursors WHERE newest_id = $1", snowflake(3))
    assert frozen is None, "what came after the gap is no part of it"


async def test_a_guild_that_told_of_itself_is_known_whatever_the_session_said_of_it(pool: Pool) -> None:
    """I7: a session's beginning says that nobody knows its guilds, and each guild then says otherwise."""
    async with ingress(pool) as (one, _):
        futures = [one.accept(each) for each in (ready(HERE, THERE), guild_create(HERE), guild_create(THERE))]
        async with asyncio.timeout(20):
            await asyncio.gather(*[each for each in futures if each is not None])
    rows = await pool.fetch("SELECT space_id FROM audience_guilds WHERE confirmed ORDER BY space_id")
    assert [row["space_id"] for row in rows] == [HERE, THERE]


async def test_writers_that_fell_over_at_a_gap_meet_there_again(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """I1: the gap is recorded once, and what came after it follows."""
    calls = 0

    async def faulty(*arguments: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("a bug")
        await open_gap(*arguments, **named)

    monkeypatch.setattr(writer_module, "open_gap", faulty)
    async with ingress(pool, writing=False) as (one, told):
        futures = [one.accept(each) for each in (create(1), elsewhere(2), ready(), create(3), elsewhere(4))]
        with pytest.raises(RuntimeError):
            await one.run()
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            acks = await asyncio.gather(*[each for each in futures if each is not None])
        task.cancel()
    assert set(acks) == {"committed"}
    assert told.gaps == 1
    assert await pool.fetchval("SELECT count(*) FROM gateway_gaps") == 1
    cursors = await pool.fetch("SELECT backfill_after FROM place_cursors ORDER BY newest_id")
    assert [row["backfill_after"] for row in cursors] == [snowflake(1), snowflake(2)]


async def test_what_is_dropped_while_a_gap_is_recorded_is_in_the_next(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: nothing is lost uncounted, and each place that was silent so far is fetched from."""
    dropped: list[asyncio.Future[Any] | None] = []

    async with ingress(pool, most_queued=2, writing=False) as (one, told):

        async def slow(*arguments: Any, **named: Any) -> None:
            await open_gap(*arguments, **named)
            if len(dropped) == 1:
                # One lane fills the queue, while in the other this gap stands last.
                kept.extend(one.accept(elsewhere(n)) for n in (4, 5))
                dropped.extend(one.accept(each) for each in (create(6), elsewhere(7), third(8)))

        monkeypatch.setattr(writer_module, "open_gap", slow)
        kept = [one.accept(create(1)), one.accept(create(2))]
        dropped.append(one.accept(create(3)))
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            await asyncio.gather(*[each for each in kept if each is not None])
            assert await one.drain(within_s=10)
        task.cancel()
    assert [isinstance(each and each.exception(), EventDropped) for each in dropped] == [True] * 4
    assert {each.result() for each in kept if each is not None} == {"committed"}
    assert [row["dropped"] for row in await pool.fetch("SELECT dropped FROM gateway_gaps ORDER BY gap_id")] == [1, 3]
    assert told.gaps == 2
    silent = await pool.fetchval("SELECT backfill_after FROM place_cursors WHERE space_id = $1", GUILD + 3)
    assert silent == snowflake(8) - 1


async def test_a_session_that_begins_waits_for_what_the_one_before_told(pool: Pool) -> None:
    """I7: that its guilds are unconfirmed is written last, whatever waits in another lane."""
    async with pool.acquire() as other, ingress(pool) as (one, _):
        async with other.transaction():
            await other.execute("LOCK TABLE discord_events IN SHARE MODE")
            old, new = one.accept(guild_create(THERE)), one.accept(ready(THERE))
            assert old is not None
            assert new is not None
            await until_blocked(pool, asyncio.create_task(_both(old, new)))
        async with asyncio.timeout(20):
            await asyncio.gather(old, new)
    assert await pool.fetchval("SELECT confirmed FROM audience_guilds WHERE space_id = $1", THERE) is False


async def test_no_lane_runs_far_ahead_of_another(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """I1: after a crash, what came well before the newest message that is committed counts as committed."""
    order: list[str] = []
    monkeypatch.setattr(queue_module, "MOST_APART_S", 0.0)
    async with pool.acquire() as other, ingress(pool) as (one, _):
        taken = other.transaction()
        await taken.start()
        await other.execute(
            "INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, source, payload)"
            " VALUES ($1, $1, 'MESSAGE_CREATE', $2, $3, 'gateway', '{}')",
            HERE, f"create:{snowflake(1)}", snowflake(1),
        )  # fmt: skip
        slow = one.accept(create(1))
        assert slow is not None
        slow.add_done_callback(lambda _: order.append("here"))
        await until_blocked(pool, asyncio.create_task(_both(slow)))
        ahead = one.accept(elsewhere(2))
        assert ahead is not None
        ahead.add_done_callback(lambda _: order.append("there"))
        done, _ = await asyncio.wait([ahead], timeout=0.2)
        assert not done
        await taken.rollback()
        async with asyncio.timeout(20):
            await asyncio.gather(slow, ahead)
    assert order == ["here", "there"]


async def test_the_first_gap_of_all_begins_with_its_session(pool: Pool) -> None:
    """I1: what is said while the session's beginning is still being written is part of it; nothing older is. Where no
    message is left, a later gap begins no later than that and no earlier."""
    async with pool.acquire() as other, ingress(pool) as (one, _):
        before = await pool.fetchval("SELECT clock_timestamp()")
        async with other.transaction():
            await other.execute("LOCK TABLE discord_events IN SHARE MODE")
            begun = one.accept(ready())
            assert begun is not None
            await until_blocked(pool, asyncio.create_task(_both(begun)))
            meanwhile = await pool.fetchval("SELECT clock_timestamp()")
        assert await one.drain(within_s=20)
        one.accept(ready())
        assert await one.drain(within_s=20)
        newer = "gap_id > (SELECT min(gap_id) FROM gateway_gaps)"
        await pool.execute(f"UPDATE gateway_gaps SET since = since + interval '1 hour' WHERE {newer}")
        one.accept(ready())
        assert await one.drain(within_s=20)
    first, second, third = [row["since"] for row in await pool.fetch("SELECT since FROM gateway_gaps ORDER BY gap_id")]
    assert before - timedelta(seconds=10) <= first < meanwhile - timedelta(seconds=10)
    assert third == second == first + timedelta(hours=1)
