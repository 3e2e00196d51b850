"""When a worker looks for turns: whenever one may begin, and not otherwise (I14). Nothing here waits for a poll."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest

from bot import turns
from bot.turns import Turn
from bot.worker import Worker

Claimed = tuple[Sequence[Turn], bool]
Claim = Callable[..., Awaitable[Claimed]]


class Wake(asyncio.Event):
    """`taken`: whoever waited went on, and waits again."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = asyncio.Event()

    def set(self) -> None:
        self.taken.clear()
        super().set()

    def clear(self) -> None:
        super().clear()
        self.taken.set()


@dataclass
class Hands:
    """A worker that serves each turn until it is told to end it, and what it claimed."""

    pool: asyncpg.Pool
    woken: Wake = field(default_factory=Wake)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    ends: dict[int, asyncio.Event] = field(default_factory=dict[int, asyncio.Event])
    begun: "asyncio.Queue[int]" = field(default_factory=lambda: asyncio.Queue[int]())
    looks: "asyncio.Queue[Claimed]" = field(default_factory=lambda: asyncio.Queue[Claimed]())

    async def serve(self, turn: Turn) -> None:
        self.begun.put_nowait(turn.trigger_id)
        await self.ends.setdefault(turn.trigger_id, asyncio.Event()).wait()
        async with self.pool.acquire() as conn:
            await turns.end(conn, turn, "cancelled", reason="test")

    async def queue(self, trigger_id: int, place_id: int = 1) -> None:
        await self.pool.execute(
            "INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at) "
            "VALUES (1, $1, 7, $2, 'queued', now())",
            place_id,
            trigger_id,
        )
        self.woken.set()

    def looked(self) -> list[Claimed]:
        """What was found so far that nobody has taken note of."""
        return [self.looks.get_nowait() for _ in range(self.looks.qsize())]

    def end(self, trigger_id: int) -> None:
        self.ends.setdefault(trigger_id, asyncio.Event()).set()


@pytest.fixture
async def hands(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Hands]:
    async with working(pool, monkeypatch, slots=4) as opened:
        yield opened


@asynccontextmanager
async def working(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch, *, slots: int) -> AsyncGenerator[Hands]:
    """A worker of so many slots that polls once an hour, after its first look."""
    hands = Hands(pool)
    claim: Claim = turns.claim

    async def watched(*args: Any, **options: Any) -> Claimed:
        found = await claim(*args, **options)
        hands.looks.put_nowait(found)
        return found

    monkeypatch.setattr(turns, "claim", watched)

    async def cancelled(turn: Turn) -> None:
        raise AssertionError(f"nobody cancelled {turn}")

    worker = Worker(
        pool,
        hands.serve,
        cancelled,
        hands.woken,
        slots=slots,
        lease_s=60.0,
        heartbeat_s=20.0,
        window_s=600.0,
        poll_s=3600.0,
        idle=hands.idle,
    )
    claims = asyncio.create_task(worker.claim_forever())
    try:
        async with asyncio.timeout(20):
            assert await hands.looks.get() == ((), False)
            yield hands
    finally:
        claims.cancel()
        await worker.stop(within_s=0)


async def test_what_waits_behind_a_turn_begins_when_that_ends(hands: Hands) -> None:
    """I3: one runs at a time in a place, and the next one at once."""
    await hands.queue(1)
    assert await hands.begun.get() == 1
    await hands.looks.get()
    await hands.queue(2)
    assert await hands.looks.get() == ((), True)
    hands.end(1)
    assert await hands.begun.get() == 2


async def test_the_end_of_a_turn_is_no_reason_to_look_where_nobody_waits(hands: Hands) -> None:
    """A look costs a statement, which each turn of a quiet place would pay for nothing."""
    await hands.queue(1)
    assert await hands.begun.get() == 1
    hands.end(1)
    await hands.idle.wait()
    assert not hands.woken.is_set()
    assert [len(found) for found, _ in hands.looked()] == [1]


async def test_a_turn_that_ends_during_a_look_is_looked_at_again(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look may have found its place still busy."""
    await hands.queue(1)
    assert await hands.begun.get() == 1
    await hands.looks.get()
    seen: Claim = turns.claim

    async def slow(*args: Any, **options: Any) -> Claimed:
        found = await seen(*args, **options)
        hands.end(1)
        await hands.idle.wait()
        monkeypatch.setattr(turns, "claim", seen)
        return found

    monkeypatch.setattr(turns, "claim", slow)
    await hands.queue(2)
    assert await hands.begun.get() == 2


async def test_a_turn_that_found_no_free_hands_begins_when_there_are(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wake-up that finds every slot taken is remembered."""
    async with working(pool, monkeypatch, slots=1) as hands:
        await hands.queue(1)
        assert await hands.begun.get() == 1
        await hands.queue(2, place_id=2)
        await hands.woken.taken.wait()
        hands.end(1)
        assert await hands.begun.get() == 2


async def test_turns_that_a_dead_worker_left_begin_one_after_the_other(
    pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I14: as many as there are hands, then the next, however many there are."""
    async with working(pool, monkeypatch, slots=1) as hands:
        await pool.execute(
            "INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, triggered_at, lease_no, lease_until) "
            "SELECT 1, n, 7, n, 'running', now(), 1, now() - n * interval '1 second' FROM generate_series(1, 3) AS n"
        )
        hands.woken.set()
        for trigger_id in (3, 2, 1):
            assert await hands.begun.get() == trigger_id
            hands.end(trigger_id)
