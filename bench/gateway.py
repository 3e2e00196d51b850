"""What one gateway carries: 2,500 guilds, and a real chat replayed in them faster and faster, until it bends.

The chat is irc-disentanglement's (`DATA=` names the folder that holds it, or the folder itself): its lines, in their
order, by their speakers, in guilds of which few are busy. The gateway is a process as it comes, the loopback Discord
is in this one. Members who really speak there are checked against permissions, limits and nonces, which takes longer
than hearing them does; so one line is said, and the others are dispatched like it (`bench.replay`).

A pace is carried if everything is committed within a second of being said, and the loop is seldom late. It is raised
until one of the two is not so, and then narrowed down. Where the loopback Discord falls behind itself, that is said,
and where the gateway bends is not known.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
import orjson

from bench.children import child
from bench.figures import at_least, at_most, percentile, progress, publish
from bench.ground import Ground, open_ground
from bench.replay import Replay
from sandbox.discord import Channel, Discord, Member

TARGETS: Final = {"loop_lag_p99_ms": at_most(100), "carries_per_s": at_least(200)}
READY_WITHIN_S: Final = 900.0
DRAIN_S: Final = 1.0
STILL_S: Final = 3.0
"""What has not been committed when nothing was for so long never will be: the queue was full."""

LAG_MS: Final = 100.0
SLOW: Final = 1.15
BREATH: Final = 16
"""Lines that are dispatched at once, at most, where the pace is faster than the clock."""

LOOPBACK: Final = "the loopback Discord fell behind itself"
_LINE: Final = re.compile(r"^\[\d\d:\d\d\] <(?P<nick>[^>]{1,40})> (?P<text>.+)$")

# Everything that was committed of what people said.
COMMITTED: Final = "SELECT count(*) FROM discord_events WHERE kind = 'MESSAGE_CREATE'"


# Guilds of which audiences are computed, once what a start may have missed is fetched.
SETTLED: Final = """
SELECT CASE WHEN EXISTS (SELECT FROM gateway_gaps WHERE closed_at IS NULL) THEN 0
            ELSE (SELECT count(*) FROM audience_guilds WHERE computed = version) END
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: so many guilds with so many speakers each, and the paces, in events a second."""

    guilds: int = 2_500
    speakers: int = 2
    paces: Sequence[int] = (100, 200, 400, 800, 1_600, 3_200, 6_400)
    pace_s: float = 6.0
    narrowings: int = 3


@dataclass(slots=True)
class Watched:
    """What the gateway's process has said of itself."""

    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Take in its lines, for ever."""
        while line := await stream.readline():
            if line.startswith(b"{"):
                self.lines.append(orjson.loads(line))

    def lag_p99_ms(self, since: int) -> float:
        """Of all looks since the line of that number."""
        return percentile([lag for line in self.lines[since:] for lag in line["lags_ms"]] or [0.0], 0.99)

    @property
    def rss_mb(self) -> float:
        return float(self.lines[-1]["rss_mb"]) if self.lines else 0.0


def chat(folder: Path) -> list[tuple[str, str]]:
    """Who said what, in the order of the files. Raises SystemExit where there is no chat."""
    root = folder / "irc-disentanglement" if (folder / "irc-disentanglement").is_dir() else folder
    lines = [
        (found["nick"], found["text"][:1900])
        for path in sorted(root.rglob("*.raw.txt"))
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if (found := _LINE.match(line)) is not None
    ]
    if not lines:
        sys.exit("gateway: DATA= must name a folder that holds irc-disentanglement, with its *.raw.txt files.")
    return lines


async def measure(ground: Ground, lines: list[tuple[str, str]], size: Size) -> tuple[dict[str, float], str]:
    """The figures, by name, and what bent."""
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        pool = await stack.enter_async_context(asyncpg.create_pool(ground.database_url, min_size=1, max_size=2))
        discord = await stack.enter_async_context(Discord.start())
        rooms: list[tuple[Channel, list[Member]]] = []
        for number in range(size.guilds):
            guild = discord.create_guild(f"Guild {number}")
            members = [guild.add_member(f"Speaker{number}x{each}") for each in range(size.speakers)]
            rooms.append((guild.create_channel("general"), members))
        progress(f"gateway: {size.guilds} guilds are there")
        watched, began = Watched(), time.perf_counter()
        process = await stack.enter_async_context(
            child("bench.watched_gateway", environment=_environment(ground, discord), log=logs / "gateway.log")
        )
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        reading = asyncio.create_task(watched.read(process.stdout))
        stack.callback(reading.cancel)
        await _until(pool, "SELECT count(*) FROM discord_events WHERE kind = 'GUILD_CREATE'", size.guilds, logs)
        start_s = time.perf_counter() - began
        progress(f"gateway: all known after {start_s:.1f} s")
        await _until(pool, SETTLED, size.guilds, logs)
        settled_s = time.perf_counter() - began
        progress(f"gateway: audiences computed and gaps closed after {settled_s:.1f} s")
        await asyncio.sleep(2)
        idle_mb = watched.rss_mb
        kb_per_guild = 1024 * (idle_mb - float(watched.lines[0]["rss_mb"])) / size.guilds
        town = Replay(discord, rooms, lines)
        spoken_per_s = await _spoken(pool, town, size, logs)
        figures, about = await Ramp(pool, town, watched, size, logs).climb()
        rest = {
            "guilds": float(size.guilds),
            "start_s": start_s,
            "settled_s": settled_s,
            "loopback_speaks_per_s": spoken_per_s,
        }
        return {
            **figures,
            **rest,
            "rss_mb": watched.rss_mb,
            "rss_idle_mb": idle_mb,
            "kb_per_guild": kb_per_guild,
        }, about


async def _spoken(pool: "asyncpg.Pool[asyncpg.Record]", town: Replay, size: Size, logs: Path) -> float:
    """How many lines a second members of the loopback Discord really speak, where nothing else holds them up."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < size.pace_s / 4:
        await town.say()
        count += 1
    took_s = time.perf_counter() - began
    await _until(pool, COMMITTED, town.said, logs)
    progress(f"gateway: members of the loopback Discord speak {count / took_s:,.0f} lines a second at most")
    return count / took_s


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one pace. `cause`: why it was not carried, or nothing."""

    pace: int
    committed_per_s: float
    lag_ms: float
    cause: str


@dataclass(slots=True)
class Ramp:
    """Raises the pace until the gateway bends, then looks for where between the last two."""

    pool: "asyncpg.Pool[asyncpg.Record]"
    town: Replay
    watched: Watched
    size: Size
    logs: Path
    steps: list[Step] = field(default_factory=list[Step])

    async def climb(self) -> tuple[dict[str, float], str]:
        """The figures, and in words what bent."""
        for pace in self.size.paces:
            if (await self._step(pace)).cause:
                break
        for _ in range(self.size.narrowings):
            carried, bent = self._carried(), self._bent()
            if bent is None or bent.cause == LOOPBACK or bent.pace < carried.pace * 1.1:
                break
            await self._step((carried.pace + bent.pace) // 2)
        carried, bent = self._carried(), self._bent()
        about = "nothing bent" if bent is None else f"bent at {bent.pace} a second: {bent.cause}"
        known = bent is not None and bent.cause != LOOPBACK
        return {
            "events_per_s": max(step.committed_per_s for step in self.steps),
            "carries_per_s": float(carried.pace),
            "bends_at_events_per_s": float(bent.pace) if known and bent is not None else 0.0,
            "loop_lag_p99_ms": carried.lag_ms,
        }, about

    def _carried(self) -> Step:
        return max((s for s in self.steps if not s.cause), key=lambda s: s.pace, default=Step(0, 0, 0, "nothing yet"))

    def _bent(self) -> Step | None:
        return min((step for step in self.steps if step.cause), key=lambda step: step.pace, default=None)

    async def _step(self, pace: int) -> Step:
        since, wanted = len(self.watched.lines), int(pace * self.size.pace_s)
        before = await self.pool.fetchval(COMMITTED)
        began = time.perf_counter()
        for number in range(wanted):
            early_s = began + number / pace - time.perf_counter()
            if early_s > 0:
                await asyncio.sleep(early_s)
            elif number % BREATH == 0:
                await asyncio.sleep(0)
            self.town.tell()
        said_s = time.perf_counter() - began
        lost = before + wanted - await self._drained(before + wanted)
        took_s = time.perf_counter() - began
        await asyncio.sleep(1.1)  # for the line of the last second
        lag, behind_s = self.watched.lag_p99_ms(since), took_s - said_s
        cause = ""
        if said_s > self.size.pace_s * SLOW:
            cause = LOOPBACK
        elif lost:
            cause = f"the journal fell behind, and {lost:,} found no place in its queue"
        elif behind_s > DRAIN_S:
            cause = "the journal fell behind"
        elif lag > LAG_MS:
            cause = "the loop was late"
        said = f"{pace} a second (dispatched {wanted / said_s:,.0f}): lag p99 {lag:.1f} ms"
        progress(f"gateway: {said}, committed {behind_s:.2f} s after the last; {cause or 'carried'}")
        self.steps.append(Step(pace, (wanted - lost) / took_s, lag, cause))
        if lost:
            # What it lost it looks for in every place, which is not what the next pace is to be measured with.
            await _until(self.pool, SETTLED, self.size.guilds, self.logs)
        return self.steps[-1]

    async def _drained(self, wanted: int) -> int:
        """What was committed, when it is all of it or has not grown for some seconds."""
        committed, grew_at = 0, time.perf_counter()
        while committed < wanted and time.perf_counter() - grew_at < STILL_S:
            await asyncio.sleep(0.05)
            found = await self.pool.fetchval(COMMITTED)
            if found > committed:
                committed, grew_at = found, time.perf_counter()
        return committed


async def _until(pool: "asyncpg.Pool[asyncpg.Record]", statement: str, count: int, logs: Path) -> None:
    deadline = time.perf_counter() + READY_WITHIN_S
    while (await pool.fetchval(statement)) < count:
        if time.perf_counter() > deadline:
            raise RuntimeError(f"the gateway did not get there: {(logs / 'gateway.log').read_text()[-800:]}")
        await asyncio.sleep(0.05)


def _environment(ground: Ground, discord: Discord) -> dict[str, str]:
    return {
        "MUNINN_DISCORD_TOKEN": discord.token,
        "MUNINN_DISCORD_API_URL": discord.api_url,
        "MUNINN_DISCORD_GATEWAY_URL": discord.gateway_url,
        "MUNINN_DATABASE_URL": ground.database_url,
        "MUNINN_REDIS_URL": ground.redis_url,
        "MUNINN_OPENAI_API_KEY": "nobody answers here",
        "MUNINN_HTTP_PORT": "0",
        "MUNINN_GUILD_NOTICE": "false",
        "MUNINN_LOG_LEVEL": "warning",
    }


async def main() -> None:
    """Measure, print and write."""
    lines = chat(Path(os.environ.get("DATA") or "no data named"))
    guilds = int(os.environ.get("GUILDS") or Size().guilds)
    async with open_ground() as ground:
        figures, bent = await measure(ground, lines, Size(guilds=guilds))
    publish("gateway", figures, TARGETS, about=f"one gateway, many guilds, a real chat; fsync on; {bent}")


if __name__ == "__main__":
    asyncio.run(main())
