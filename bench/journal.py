"""How fast the journal takes events: through ingress in groups, against one event a transaction.

Both sides get the same dispatches, write the same rows into tables of the same schema in one database, and take turns.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

import asyncpg
from redis.asyncio import Redis

from bench.figures import at_least, median, percentile, progress, publish
from bench.ground import Ground, open_ground
from bench.plain import PlainJournal
from bench.traffic import ME, Traffic
from bot.events import Dispatch
from bot.ingress import Ingress
from bot.ingress.seen import Seen
from bot.pool import open_pool
from bot.settings import Settings
from memory.incoming import Ack

TARGETS: Final = {"ratio_single_transaction": at_least(8)}
PACE: Final = 500
"""Events a second at which the time to commit is measured."""

BURST: Final = 64
"""Frames that the socket reader finds at once, before the loop comes round."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: `rounds` of `events` through ingress and `plain_events` (the first of the same) without."""

    rounds: int
    events: int
    plain_events: int
    warm_up: int
    paced_s: float


FULL: Final = Size(rounds=15, events=4_000, plain_events=400, warm_up=2_000, paced_s=10)


async def measure(ground: Ground, size: Size = FULL) -> dict[str, float]:
    """The figures, by name; rates in events a second, times in milliseconds."""
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(PlainJournal.connect(ground.database_url))
        pool = await stack.enter_async_context(open_pool(ground.database_url))
        redis = await stack.enter_async_context(Redis.from_url(ground.redis_url))
        ingress = _ingress(pool, redis)
        writer = asyncio.create_task(ingress.run())
        stack.callback(writer.cancel)
        traffic = Traffic(seed=1)
        warm, paced = traffic.take(size.warm_up), traffic.take(int(PACE * size.paced_s))
        await _through_ingress(ingress, warm)
        await _one_by_one(plain, warm[: size.plain_events])
        # A database that has been used for a minute has statistics; without them plans are those for empty tables.
        await pool.execute("ANALYZE")
        rates: dict[str, list[tuple[float, float]]] = {"messages": [], "mixed": []}
        for number in range(size.rounds):
            for kind, events in (("messages", traffic.messages(size.events)), ("mixed", traffic.take(size.events))):
                grouped = len(events) / await _through_ingress(ingress, events)
                single = size.plain_events / await _one_by_one(plain, events[: size.plain_events])
                rates[kind].append((grouped, single))
                progress(
                    f"journal: {number + 1} of {size.rounds}, {kind}: {grouped:,.0f} against {single:,.0f} events/s"
                )
        waits = await _paced(ingress, paced)
    return {
        "ratio_single_transaction": median([grouped / single for grouped, single in rates["messages"]]),
        "events_per_s": median([grouped for grouped, _ in rates["messages"]]),
        "single_transaction_events_per_s": median([single for _, single in rates["messages"]]),
        "ratio_single_transaction_mixed": median([grouped / single for grouped, single in rates["mixed"]]),
        "events_per_s_mixed": median([grouped for grouped, _ in rates["mixed"]]),
        "commit_p50_ms": median(waits) * 1e3,
        "commit_p99_ms": percentile(waits, 0.99) * 1e3,
    }


def _ingress(pool: "asyncpg.Pool[asyncpg.Record]", redis: Redis) -> Ingress:
    settings = Settings.model_fields
    return Ingress(
        pool,
        Seen(redis, "bench:seen:"),
        ME,
        shard=(0, 1),
        most_queued=settings["ingress_queue"].default,
        most_grouped=settings["ingress_group"].default,
        on_inbox=lambda: None,
        on_gap=lambda: None,
        on_cancel=lambda _: None,
    )


async def _through_ingress(ingress: Ingress, events: Sequence[Dispatch]) -> float:
    """Seconds until all are acknowledged, put in as fast as a socket would."""
    acks: list[asyncio.Future[Ack]] = []
    started = time.perf_counter()
    for at in range(0, len(events), BURST):
        acks.extend(ack for event in events[at : at + BURST] if (ack := ingress.accept(event)) is not None)
        await asyncio.sleep(0)
    # Each lane acknowledges in order.
    while late := [ack for ack in reversed(acks) if not ack.done()]:
        await late[0]
    took = time.perf_counter() - started
    if any(ack.result() == "parked" for ack in acks):
        raise RuntimeError("the journal refused events of the benchmark")
    return took


async def _one_by_one(plain: PlainJournal, events: Sequence[Dispatch]) -> float:
    """Seconds until each is committed, one transaction after the other."""
    started = time.perf_counter()
    for event in events:
        await plain.write(event)
    return time.perf_counter() - started


async def _paced(ingress: Ingress, events: Sequence[Dispatch]) -> list[float]:
    """Seconds from accept to acknowledgement of each, at a steady pace."""
    loop = asyncio.get_running_loop()
    waits: list[float] = []
    acks: list[asyncio.Future[Ack]] = []
    started = loop.time()
    for number, event in enumerate(events):
        early_s = started + number / PACE - loop.time()
        if early_s > 0:
            await asyncio.sleep(early_s)
        accepted_at = time.perf_counter()
        ack = ingress.accept(event)
        if ack is not None:
            ack.add_done_callback(lambda _, since=accepted_at: waits.append(time.perf_counter() - since))
            acks.append(ack)
    await asyncio.gather(*acks)
    return waits


async def main() -> None:
    """Measure, print and write."""
    async with open_ground() as ground:
        publish("journal", await measure(ground), TARGETS, about="ingress against one event a transaction, fsync on")


if __name__ == "__main__":
    asyncio.run(main())
