"""How long Muninn takes from the start of its process to a journalled READY, and how much memory it then holds.

The database is migrated and the services run already. The bare discord.py bot is started in turns with it, from the
start of its process to its READY, so that there is a ratio that does not depend on the machine.
"""

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg
import psutil

from bench.children import child
from bench.figures import at_most, median, progress, publish
from bench.ground import Ground, open_ground
from bench.stand import READY_WITHIN_S, Side, addresses, connected, muninn_environment, open_model, open_side

TARGETS: Final = {"ready_s": at_most(3), "rss_mb": at_most(150)}
LOOK_EVERY_S: Final = 0.01
MEBIBYTE: Final = 1024 * 1024

# How many READYs are in the journal: one a session.
READIES_SQL: Final = "SELECT count(*) FROM discord_events WHERE kind = 'READY'"


@dataclass(frozen=True, slots=True)
class Size:
    """How many starts of each are measured, after one of each that is not."""

    starts: int


FULL: Final = Size(starts=7)


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds to READY, and the process's resident memory after its first answer, in MiB."""

    ready_s: float
    rss_mb: float


async def measure(ground: Ground, size: Size = FULL) -> dict[str, float]:
    """The figures, by name; seconds and mebibytes."""
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        model = await stack.enter_async_context(open_model(logs))
        muninn = await stack.enter_async_context(open_side("muninn"))
        bare = await stack.enter_async_context(open_side("bare"))
        conn = await asyncpg.connect(ground.database_url)
        stack.push_async_callback(conn.close)
        ours: list[Start] = []
        theirs: list[Start] = []
        for number in range(size.starts + 1):
            ours.append(await _start_muninn(ground, muninn, model, conn, logs))
            theirs.append(await _start_bare(bare, model, logs))
            progress(f"start: {number} of {size.starts}: {ours[-1].ready_s:.2f} s against {theirs[-1].ready_s:.2f} s")
    # The first start reads the program from the disk.
    ours, theirs = ours[1:], theirs[1:]
    ready, bare_ready = median([s.ready_s for s in ours]), median([s.ready_s for s in theirs])
    rss, bare_rss = median([s.rss_mb for s in ours]), median([s.rss_mb for s in theirs])
    return {
        "ready_s": ready,
        "rss_mb": rss,
        "ready_ratio": ready / bare_ready,
        "rss_ratio": rss / bare_rss,
        "bare_ready_s": bare_ready,
        "bare_rss_mb": bare_rss,
    }


async def _start_muninn(
    ground: Ground, side: Side, model: dict[str, str], conn: "asyncpg.Connection[asyncpg.Record]", logs: Path
) -> Start:
    log = logs / "muninn.log"
    before = await conn.fetchval(READIES_SQL)
    started = time.perf_counter()
    async with child(
        "bot", "run", "--while-stdin-open", environment=muninn_environment(ground, side, model), log=log
    ) as process:
        await connected(side, log)
        async with asyncio.timeout(READY_WITHIN_S):
            while await conn.fetchval(READIES_SQL) == before:  # noqa: ASYNC110 - only the journal says that it is there
                await asyncio.sleep(LOOK_EVERY_S)
        ready_s = time.perf_counter() - started
        return Start(ready_s, await _memory_after_an_answer(side, process.pid))


async def _start_bare(side: Side, model: dict[str, str], logs: Path) -> Start:
    log = logs / "bare.log"
    started = time.perf_counter()
    async with child("bench.bare_bot", environment={**addresses(side), **model}, log=log) as process:
        await connected(side, log)
        ready_s = time.perf_counter() - started
        return Start(ready_s, await _memory_after_an_answer(side, process.pid))


async def _memory_after_an_answer(side: Side, pid: int) -> float:
    """What is imported at the first use is then in it. Children (PostgreSQL, Valkey) are other processes."""
    await side.ask(0)
    return psutil.Process(pid).memory_info().rss / MEBIBYTE


async def main() -> None:
    """Measure, print and write."""
    async with open_ground() as ground:
        publish("start", await measure(ground), TARGETS, about="from process start to a journalled READY")


if __name__ == "__main__":
    asyncio.run(main())
