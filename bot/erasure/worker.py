"""The worker that erases: claims a request, sweeps twice, and leaves a receipt (I14, I15)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from redis.asyncio import Redis

from bot.crash import crash_point
from bot.erasure import members, requests, spaces
from bot.erasure.requests import Erasure
from bot.metrics import REDIS_ERRORS
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import PlaceId, TurnId

log = structlog.get_logger(__name__)

LEASE_S: Final = 300.0
STATEMENT_S: Final = 240.0
"""Seconds for one statement: some read a whole table."""

EVENTS_AT_ONCE: Final = 20_000
PAUSE_S: Final = 0.02
BUSY_S: Final = 2.0
MOST_BUSY: Final = 60
"""How often the first sweep waits for what is under way, before it goes on without: what can go is to go soon."""

LAST_BUSY: Final = 1_000
"""How often the second one waits, which nothing comes after: longer than any answer may take to arrive."""

REDIS_S: Final = 10.0
_KEYS_AT_ONCE: Final = 1_000


class LeaseTaken(Exception):
    """Somebody else has the erasure in hand."""


@dataclass(frozen=True, slots=True)
class Eraser:
    """Erases. `cancel` stops turns that run in this process; `prefix` is that of the application's keys in Redis.

    `again_s`: seconds until the second sweep; `lease_s`: after which another takes over from one that fell silent.
    """

    pool: Pool
    redis: Redis | None
    prefix: str
    cancel: Callable[[Sequence[TurnId]], None]
    poll_s: float
    again_s: float
    lease_s: float = LEASE_S

    async def run(self) -> None:
        """Erase what is asked for, for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            if not await self.step():
                await asyncio.sleep(self.poll_s)

    async def step(self) -> bool:
        """Take one in hand; False where there is none."""
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            erasure = await requests.claim(conn, lease_s=self.lease_s)
        if erasure is None:
            return False
        crash_point("after_erasure_claim")
        try:
            await self._serve(erasure)
        except LeaseTaken:
            log.warning("erasure.lease_gone", erasure_id=erasure.erasure_id)
        return True

    async def _serve(self, erasure: Erasure) -> None:
        if erasure.kind == "member" and await self._busy(erasure):
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                await requests.put_off(conn, erasure, after_s=min(BUSY_S, self.again_s))
            return
        removed = await (self._member(erasure) if erasure.kind == "member" else self._space(erasure))
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            if erasure.state == "queued":
                crash_point("before_erasure_swept")
                ended = await requests.swept(conn, erasure, removed, again_s=self.again_s)
            else:
                ended = await requests.done(conn, erasure)
        crash_point("after_erasure_swept")
        log.info("erasure.swept", erasure_id=erasure.erasure_id, kind=erasure.kind, ended=ended, **removed)

    async def _busy(self, erasure: Erasure) -> bool:
        """Stop what runs for the person; whether something still has their words in hand."""
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            await self._collect(conn, erasure)
            rows = await conn.fetch(members.STOP_TURNS_SQL, erasure.erasure_id, timeout=STATEMENT_S)
            self.cancel([TurnId(row["turn_id"]) for row in rows if row["turn_id"] is not None])
            busy = await conn.fetchval(members.BUSY_SQL, erasure.erasure_id, timeout=STATEMENT_S)
        crash_point("after_erasure_collected")
        return bool(busy) and erasure.attempts < (MOST_BUSY if erasure.state == "queued" else LAST_BUSY)

    async def _collect(self, conn: Borrowed, erasure: Erasure) -> None:
        for step in members.COLLECTING:
            await conn.execute(step.statement, erasure.erasure_id, timeout=STATEMENT_S)

    async def _member(self, erasure: Erasure) -> Counter[str]:
        removed: Counter[str] = Counter(erasure.removed)
        for step in members.STEPS:
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                await self._hold(conn, erasure)
                status = await conn.execute(step.statement, erasure.erasure_id, timeout=STATEMENT_S)
            crash_point("after_erasure_step")
            if step.what is not None:
                removed[step.what] += int(status.rsplit(" ", 1)[1])
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            newest = int(await conn.fetchval(members.NEWEST_EVENT_SQL))
        for after in range(0, newest, EVENTS_AT_ONCE):
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                await self._hold(conn, erasure)
                status = await conn.execute(
                    members.BLANK_EVENTS_SQL, erasure.erasure_id, after, EVENTS_AT_ONCE, timeout=STATEMENT_S
                )
            removed["events"] += int(status.rsplit(" ", 1)[1])
            await asyncio.sleep(PAUSE_S)
        await self._forget_keys(str(erasure.subject_id))
        return removed

    async def _space(self, erasure: Erasure) -> Counter[str]:
        removed: Counter[str] = Counter(erasure.removed)
        assert erasure.space_id is not None  # noqa: S101 - the schema holds it
        place_id = PlaceId(erasure.subject_id or 0) if erasure.kind == "place" else None
        kept = spaces.KEPT_OF_SPACE if place_id is None else spaces.KEPT_OF_PLACE
        if place_id is not None:
            removed += await self._blank_place(erasure, place_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            found = await spaces.tables(conn)
        for table in found:
            if table.name in kept or (place_id is not None and not table.has_place):
                continue
            while True:
                async with self.pool.acquire(timeout=BORROW_S) as conn:
                    await self._hold(conn, erasure)
                    count = await spaces.drop_stretch(conn, table, erasure.space_id, place_id)
                removed["rows"] += count
                if count < spaces.STRETCH:
                    break
                await asyncio.sleep(PAUSE_S)
        if place_id is None:
            await self._forget_keys(str(erasure.space_id))
        return removed

    async def _blank_place(self, erasure: Erasure, place_id: PlaceId) -> Counter[str]:
        removed: Counter[str] = Counter()
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            removed["memories"] += int(
                await conn.fetchval(spaces.DROP_PLACE_MEMORIES_SQL, erasure.space_id, place_id, timeout=STATEMENT_S)
            )
            await conn.execute(spaces.RESET_PLACE_SUMMARY_SQL, erasure.space_id, place_id, timeout=STATEMENT_S)
        for what, statement in (("messages", spaces.BLANK_PLACE_SQL), ("events", spaces.BLANK_PLACE_EVENTS_SQL)):
            while True:
                async with self.pool.acquire(timeout=BORROW_S) as conn:
                    await self._hold(conn, erasure)
                    count = int(
                        await conn.fetchval(statement, erasure.space_id, place_id, spaces.STRETCH, timeout=STATEMENT_S)
                    )
                removed[what] += count
                if count < spaces.STRETCH:
                    break
        return removed

    async def _hold(self, conn: Borrowed, erasure: Erasure) -> None:
        if not await requests.keep(conn, erasure, lease_s=self.lease_s):
            raise LeaseTaken

    async def _forget_keys(self, subject: str) -> None:
        """Delete what Redis holds under, or as, this id. Where Redis is away, all of it ends by itself."""
        if self.redis is None:
            return
        try:
            async with asyncio.timeout(REDIS_S):
                keys: AsyncIterator[bytes] = cast("Any", self.redis).scan_iter(
                    match=f"{self.prefix}*", count=_KEYS_AT_ONCE
                )
                async for key in keys:
                    if b":seen:" in key:
                        await self._forget_events(self.redis, key, subject)
                    elif subject.encode() in key or (
                        b":card:" in key and await self.redis.get(key) == subject.encode()
                    ):
                        await self.redis.delete(key)
        except Exception as error:  # nothing in Redis decides anything, and all of it expires
            REDIS_ERRORS.inc()
            log.warning("redis.away", error=f"{type(error).__name__}: {error}")

    async def _forget_events(self, redis: Redis, key: bytes, space: str) -> None:
        """Take a space's events out of a set of what is committed. Their keys begin with it."""
        events: AsyncIterator[bytes] = cast("Any", redis).sscan_iter(key, f"{space}:*", _KEYS_AT_ONCE)
        gone = [event async for event in events]
        for at in range(0, len(gone), _KEYS_AT_ONCE):
            await redis.srem(key, *gone[at : at + _KEYS_AT_ONCE])
