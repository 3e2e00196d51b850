"""`muninn gateway` as it comes, in a process that says each second how late its loop was and how much memory it has.

An argument names another role: `whole` is `muninn run`.
"""

import asyncio
import os
import resource
import sys
import time
from pathlib import Path
from typing import Final, cast

import orjson

from bench.children import until_stdin_closes
from bench.figures import percentile
from bot import logs
from bot.app import run
from bot.assembly import Role
from bot.settings import load

LOOK_EVERY_S: Final = 0.01
SAY_EVERY_S: Final = 1.0


def rss_mb() -> float:
    """Resident memory of this process now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


async def watch() -> None:
    """One line of JSON a second: how late the loop was at each look, the memory, and what else must not grow."""
    lags: list[float] = []
    said_at = time.perf_counter()
    while True:
        due = time.perf_counter() + LOOK_EVERY_S
        await asyncio.sleep(LOOK_EVERY_S)
        lags.append(max(time.perf_counter() - due, 0.0))
        if time.perf_counter() - said_at >= SAY_EVERY_S:
            told = {
                "lags_ms": [round(lag * 1e3, 2) for lag in lags],
                "rss_mb": rss_mb(),
                "cpu_s": time.process_time(),
                "tasks": len(asyncio.all_tasks()),
                "files": len(os.listdir("/proc/self/fd")),
            }
            sys.stdout.write(orjson.dumps({**told, "p99_ms": percentile(lags, 0.99) * 1e3}).decode() + "\n")
            sys.stdout.flush()
            lags, said_at = [], time.perf_counter()


async def main() -> None:
    """Serve until standard input closes."""
    role = cast("Role", sys.argv[1] if len(sys.argv) > 1 else "gateway")
    settings = load()
    logs.configure(level=settings.log_level, style=settings.log_format)
    tasks = [asyncio.create_task(work) for work in (run(settings, role=role), watch(), until_stdin_closes())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


if __name__ == "__main__":
    asyncio.run(main())
