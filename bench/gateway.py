"""What one gateway carries: 2,500 guilds, and a real chat replayed in them faster and faster, until it bends.

The chat is irc-disentanglement's (`DATA=` names the folder that holds it, or the folder itself): its lines, in their
order, by their speakers, in guilds of which few are busy. The gateway is a process as it comes, the loopback Discord
is in this one. A pace is carried if everything is committed within a second of being said, and the loop is seldom late.
Where the loopback Discord cannot speak as fast as that, nothing is known of the gateway, and the measure ends.
"""

import asyncio
import os
import random
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
from sandbox.discord import Channel, Discord, Member

TARGETS: Final = {"loop_lag_p99_ms": at_most(100), "carries_per_s": at_least(200)}
READY_WITHIN_S: Final = 900.0
DRAIN_S: Final = 1.0
LAG_MS: Final = 100.0
SLOW: Final = 1.15
_LINE: Final = re.compile(r"^\[\d\d:\d\d\] <(?P<nick>[^>]{1,40})> (?P<text>.+)$")

# Everything that was committed of what people said.
COMMITTED: Final = "SELECT count(*) FROM discord_events WHERE kind = 'MESSAGE_CREATE'"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: so many guilds with so many speakers each, and the paces, in events a second."""

    guilds: int = 2_500
    speakers: int = 2
    paces: Sequence[int] = (50, 100, 200, 400, 800)
    pace_s: float = 8.0


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


@dataclass(slots=True)
class Town:
    """The guilds and who speaks in them: a few are busy, most are quiet."""

    discord: Discord
    rooms: list[tuple[Channel, list[Member]]]
    lines: list[tuple[str, str]]
    rng: random.Random
    said: int = 0

    async def say(self) -> None:
        """The next line of the chat, by its speaker, in a guild drawn for a whole conversation of fifty lines."""
        if self.said % 50 == 0 or self.said < 2:
            self.rng.seed(self.said // 50)
        room, speakers = self.rooms[int(len(self.rooms) * self.rng.random() ** 3)]
        nick, text = self.lines[self.said % len(self.lines)]
        self.said += 1
        await speakers[hash(nick) % len(speakers)].says(room, text)


async def measure(ground: Ground, lines: list[tuple[str, str]], size: Size) -> dict[str, float]:
    """The figures, by name."""
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
        await asyncio.sleep(5)
        idle_mb = watched.rss_mb
        town = Town(discord, rooms, lines, random.Random(1))  # noqa: S311 - repeatable, guards nothing
        figures = await _paces(pool, town, watched, size, logs)
        return {
            **figures,
            "guilds": float(size.guilds),
            "start_s": start_s,
            "rss_mb": watched.rss_mb,
            "rss_idle_mb": idle_mb,
        }


async def _paces(
    pool: "asyncpg.Pool[asyncpg.Record]", town: Town, watched: Watched, size: Size, logs: Path
) -> dict[str, float]:
    carried, bends, lag_ms, fastest = 0, 0, 0.0, 0.0
    for pace in size.paces:
        since, wanted = len(watched.lines), int(pace * size.pace_s)
        began = time.perf_counter()
        for number in range(wanted):
            early_s = began + number / pace - time.perf_counter()
            if early_s > 0:
                await asyncio.sleep(early_s)
            await town.say()
        said_s = time.perf_counter() - began
        await _until(pool, COMMITTED, town.said, logs)
        took_s = time.perf_counter() - began
        await asyncio.sleep(1.1)  # for the line of the last second
        lag, fastest = watched.lag_p99_ms(since), max(fastest, wanted / took_s)
        said = f"{pace} a second (said {wanted / said_s:,.0f})"
        progress(f"gateway: {said}: lag p99 {lag:.1f} ms, committed {took_s - said_s:.2f} s after the last")
        if took_s - said_s > DRAIN_S or lag > LAG_MS:
            bends, lag_ms = pace, lag_ms or lag
            break
        if said_s > size.pace_s * SLOW:
            break
        carried, lag_ms = pace, lag
    return {
        "events_per_s": fastest,
        "carries_per_s": float(carried),
        "bends_at_per_s": float(bends),
        "loop_lag_p99_ms": lag_ms,
    }


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
        figures = await measure(ground, lines, Size(guilds=guilds))
    publish("gateway", figures, TARGETS, about="one gateway, many guilds, a real chat; fsync on")


if __name__ == "__main__":
    asyncio.run(main())
