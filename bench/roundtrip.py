"""From the gateway's frame to the reply's POST: Muninn against a bare discord.py bot, turn by turn.

The model answers at once and in the same mode (one whole reply) on both sides. Where a guild remembers, a question is
made into a vector first, by a model that takes its time; so the ratios are of a guild without memory, whose context is
the conversation. What an answer takes where there is memory stands beside.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from bench.figures import at_least, at_most, median, percentile, progress, publish
from bench.ground import Ground, open_ground
from bench.stand import LANES, Side, open_stand

TARGETS: Final = {
    "median_ratio_1": at_most(3),
    "p95_ratio_1": at_most(4),
    "added_ms_1": at_most(10),
    "turns_per_s_ratio_50": at_least(0.4),
}


@dataclass(frozen=True, slots=True)
class Size:
    """`rounds` of `single` messages one after the other; `crowd_rounds` in which each lane has `crowd` one by one."""

    warm_up: int
    rounds: int
    single: int
    crowd_rounds: int
    crowd: int


FULL: Final = Size(warm_up=30, rounds=40, single=10, crowd_rounds=15, crowd=6)


async def measure(ground: Ground, size: Size = FULL) -> dict[str, float]:
    """The figures, by name; times in milliseconds, rates in turns a second."""
    async with open_stand(ground, {}) as stand:
        sides = (stand.muninn, stand.bare)
        await stand.remember(on=False)
        for side in sides:
            await _one_by_one(side, size.warm_up)
            await _crowd(side, 1)
        alone: dict[str, list[float]] = {side.name: [] for side in sides}
        for number in range(size.rounds):
            # Whoever goes first changes each round, so that what the machine does besides hits both.
            for side in sides[:: 1 if number % 2 else -1]:
                alone[side.name] += await _one_by_one(side, size.single)
        rates: dict[str, list[float]] = {side.name: [] for side in sides}
        for number in range(size.crowd_rounds):
            for side in sides[:: 1 if number % 2 else -1]:
                rates[side.name].append(await _crowd(side, size.crowd))
            progress(
                f"roundtrip: {LANES} in flight, round {number + 1} of {size.crowd_rounds}: "
                f"{rates['muninn'][-1]:.0f} against {rates['bare'][-1]:.0f} turns/s"
            )
        await stand.remember(on=True)
        await _one_by_one(stand.muninn, size.warm_up)
        remembering = [
            wait for _ in range(max(size.rounds // 3, 1)) for wait in await _one_by_one(stand.muninn, size.single)
        ]
    muninn, bare = alone["muninn"], alone["bare"]
    return {
        "median_ratio_1": median(muninn) / median(bare),
        "p95_ratio_1": percentile(muninn, 0.95) / percentile(bare, 0.95),
        "added_ms_1": (median(muninn) - median(bare)) * 1e3,
        "turns_per_s_ratio_50": median([a / b for a, b in zip(rates["muninn"], rates["bare"], strict=True)]),
        "median_ms_1": median(muninn) * 1e3,
        "bare_median_ms_1": median(bare) * 1e3,
        "p95_ms_1": percentile(muninn, 0.95) * 1e3,
        "bare_p95_ms_1": percentile(bare, 0.95) * 1e3,
        "with_memory_median_ms_1": median(remembering) * 1e3,
        "with_memory_p95_ms_1": percentile(remembering, 0.95) * 1e3,
        "turns_per_s_50": median(rates["muninn"]),
        "bare_turns_per_s_50": median(rates["bare"]),
    }


async def _one_by_one(side: Side, count: int) -> list[float]:
    waits = [await side.ask(number % LANES) for number in range(count)]
    side.forget()
    return waits


async def _crowd(side: Side, each: int) -> float:
    """Turns a second with somebody waiting in every lane all the time."""

    async def lane(number: int) -> None:
        for _ in range(each):
            await side.ask(number)

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(LANES):
            group.create_task(lane(number))
    took = time.perf_counter() - started
    side.forget()
    return LANES * each / took


async def main() -> None:
    """Measure, print and write."""
    async with open_ground() as ground:
        publish("roundtrip", await measure(ground), TARGETS, about="Muninn against a bare discord.py bot, fsync on")


if __name__ == "__main__":
    asyncio.run(main())
