"""Half an hour of an ordinary day, quickly: does Muninn's memory stay flat, is its loop ever late, is anything lost?

`muninn run` as it comes, in a process of its own; the loopback Discord and the practice model are in this one. People
talk in four guilds, change their words and take them back, react, use commands, and ask; every half a minute the
gateway breaks in one of five ways, every twenty seconds a message of Muninn's is refused, lost or held up. `SOAK_S=`
is how long it takes.
"""

import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg

from bench.children import child
from bench.figures import at_most, median, percentile, progress, publish
from bench.gateway import Watched
from bench.ground import Ground, open_ground
from bench.traffic import WORDS
from sandbox.discord import Channel, Discord, Member, Message
from sandbox.model import Model
from sandbox.model.practice import practice

TARGETS: Final = {
    "loop_lag_p99_ms": at_most(100),
    "rss_growth": at_most(1.05),
    "lost": at_most(0),
    "twice": at_most(0),
    "untold": at_most(0),
}
GUILDS: Final = 4
CHANNELS: Final = 3
MEMBERS: Final = 6
TOLD_EVERY: Final = 60
READY_WITHIN_S: Final = 60.0
SETTLED_WITHIN_S: Final = 120.0
QUESTIONS: Final = (
    "what did we say about {word}?",
    "remember that I prefer {word}",
    "react with 👍",
    "who am I?",
    "summarise this channel",
    "help",
)

# How many of what people asked have a turn that is over.
ENDED: Final = """
SELECT count(*) FROM turns WHERE trigger_id = ANY($1) AND state IN ('answered', 'failed_told', 'cancelled', 'expired')
"""
# How many of these messages are in the journal.
KEPT: Final = "SELECT count(*) FROM chat_messages WHERE message_id = ANY($1)"
# What the journal has of a message, and what became of its turn.
ABOUT: Final = """
SELECT c.created_at, e.received_at, e.source, i.reason, i.state AS inbox, t.state AS turn, t.end_reason
FROM chat_messages c
LEFT JOIN discord_events e ON e.space_id = c.space_id AND e.event_key = 'create:' || c.message_id
LEFT JOIN discord_inbox i ON i.space_id = c.space_id AND i.message_id = c.message_id
LEFT JOIN turns t ON t.space_id = c.space_id AND t.trigger_id = c.message_id
WHERE c.message_id = $1
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How long it takes, in seconds, and how busy it is, in events a second."""

    seconds: float = 1_800.0
    says_per_s: float = 8.0
    asks_per_s: float = 0.5
    breaks_every_s: float = 30.0
    faults_every_s: float = 20.0


@dataclass(slots=True)
class Town:
    """Who lives there, what they said, and what they asked."""

    discord: Discord
    rooms: list[tuple[Channel, list[Member]]]
    rng: random.Random
    talk: list[tuple[Member, Message]] = field(default_factory=list[tuple[Member, Message]])
    said: list[int] = field(default_factory=list[int])
    asked: list[Message] = field(default_factory=list[Message])
    breaks: Counter[str] = field(default_factory=Counter[str])

    async def introduce(self) -> None:
        """Everybody writes to Muninn privately once. A first private message that is sent to nobody, since no session
        is open, cannot be found afterwards: Discord lists a bot's private channels nowhere."""
        for who in {who.id: who for _, people in self.rooms for who in people}.values():
            self.asked.append(await who.says(who.dm(), "help"))

    async def live(self) -> None:
        """Somebody says something, or does something to what was said a while ago."""
        room, people = self.rng.choice(self.rooms)
        who, roll = self.rng.choice(people), self.rng.random()
        if roll < 0.8 or len(self.talk) < 50:
            words = " ".join(self.rng.choices(WORDS, k=self.rng.randrange(3, 25)))
            message = await who.says(room, words)
            self.said.append(message.id)
            self.talk.append((who, message))
            del self.talk[:-200]
            return
        author, message = self.talk.pop(self.rng.randrange(len(self.talk)))
        if roll < 0.87:
            await author.edits(message, " ".join(self.rng.choices(WORDS, k=8)))
        elif roll < 0.91:
            await author.deletes(message)
        elif roll < 0.99:
            await author.reacts(message, self.rng.choice(("👍", "🎉", "❓")))
        else:
            await author.slash(message.channel, "usage")

    async def ask(self) -> None:
        """Somebody asks, in a guild or in private."""
        room, people = self.rng.choice(self.rooms)
        who = self.rng.choice(people)
        words = self.rng.choice(QUESTIONS).format(word=self.rng.choice(WORDS[-18:]))
        private = self.rng.random() < 0.1
        place = who.dm() if private else room
        self.asked.append(await who.says(place, words if private else f"{self.discord.bot.mention} {words}"))

    async def interrupt(self) -> None:
        """The gateway breaks, in one of five ways."""
        kind = self.rng.choice(("reconnect", "abort", "close", "session", "offline"))
        self.breaks[kind] += 1
        match kind:
            case "reconnect":
                await self.discord.request_reconnect()
            case "abort":
                await self.discord.disconnect_bots(abort=True)
            case "close":
                await self.discord.disconnect_bots(4000)
            case "session":
                await self.discord.disconnect_bots(4000, resumable=False)
            case _:
                async with self.discord.gateway_offline(resumable=self.rng.random() < 0.5):
                    for _ in range(5):
                        await self.live()
                    await self.ask()

    def spoil(self) -> None:
        """The next message of Muninn's has an accident."""
        fault = self.discord.faults.rest("POST", "/channels/*/messages")
        match self.rng.randrange(5):
            case 0:
                fault.status(503)
            case 1:
                fault.accept_then_status(502)
            case 2:
                fault.accept_then_reset()
            case 3:
                fault.rate_limit(0.5)
            case _:
                fault.stall(3)


async def measure(ground: Ground, size: Size) -> dict[str, float]:
    """The figures, by name."""
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        pool = await stack.enter_async_context(asyncpg.create_pool(ground.database_url, min_size=1, max_size=2))
        discord = await stack.enter_async_context(Discord.start())
        model = await stack.enter_async_context(Model.start(name="practice", keep_requests=16, check_at_exit=False))
        model.default(practice)
        town = _town(discord)
        watched = Watched()
        process = await stack.enter_async_context(
            child("bench.watched_gateway", "whole", environment=_environment(ground, discord, model), log=logs / "log")
        )
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        reading = asyncio.create_task(watched.read(process.stdout))
        stack.callback(reading.cancel)
        await discord.wait_for_session(within=READY_WITHIN_S)
        await town.introduce()
        await _settle(pool, town, logs / "log")
        await _pass_the_time(town, watched, size)
        await _settle(pool, town, logs / "log")
        return {**_figures(watched, size), **await _accounts(pool, town)}


async def _pass_the_time(town: Town, watched: Watched, size: Size) -> None:
    """So many seconds, each kind of event at its own pace."""
    began = time.monotonic()

    async def every(pause_s: float, what: str) -> None:
        while began + size.seconds - time.monotonic() > (wait_s := pause_s * town.rng.uniform(0.5, 1.5)):
            await asyncio.sleep(wait_s)
            match what:
                case "live":
                    await town.live()
                case "ask":
                    await town.ask()
                case "interrupt":
                    await town.interrupt()
                    await town.discord.wait_for_session(within=READY_WITHIN_S)
                case _:
                    town.spoil()

    async def tell() -> None:
        while True:
            await asyncio.sleep(TOLD_EVERY)
            last = watched.lines[-TOLD_EVERY:]
            lag_ms = percentile([lag for line in last for lag in line["lags_ms"]] or [0.0], 0.99)
            progress(
                f"soak: {time.monotonic() - began:5.0f} s: {watched.rss_mb:.1f} MiB, lag p99 {lag_ms:.1f} ms, "
                f"{last[-1]['tasks']} tasks, {last[-1]['files']} files, {len(town.said)} said, "
                f"{len(town.asked)} asked, load {os.getloadavg()[0]:.1f}"
            )

    async with asyncio.TaskGroup() as group:
        telling = group.create_task(tell())
        paces = {"live": 1 / size.says_per_s, "ask": 1 / size.asks_per_s}
        paces |= {"interrupt": size.breaks_every_s, "spoil": size.faults_every_s}
        await asyncio.gather(*[group.create_task(every(pause_s, what)) for what, pause_s in paces.items()])
        telling.cancel()


async def _settle(pool: "asyncpg.Pool[asyncpg.Record]", town: Town, log: Path) -> None:
    """Wait until each question has its end and each word is in the journal, or it is clear that it will not be."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    asked = [message.id for message in town.asked]
    while await pool.fetchval(ENDED, asked) < len(asked) or await pool.fetchval(KEPT, town.said) < len(town.said):
        if time.monotonic() > deadline:
            said = await asyncio.to_thread(log.read_text, errors="replace")
            progress(f"soak: not everything came to an end; the log ends so: {said[-2_000:]}")
            return
        await asyncio.sleep(0.2)


async def _accounts(pool: "asyncpg.Pool[asyncpg.Record]", town: Town) -> dict[str, float]:
    """What became of what people said: lost from the journal, answered twice, and not answered at all."""
    answers = [len(town.discord.replies_to(message)) for message in town.asked]
    ends = await pool.fetch("SELECT state, count(*) FROM turns GROUP BY state")
    progress(f"soak: turns {dict(map(tuple, ends))}, breaks {dict(town.breaks)}")
    for message in (message for message, count in zip(town.asked, answers, strict=True) if count != 1):
        kept = await pool.fetchrow(ABOUT, message.id)
        progress(f"soak: {message.channel}, {message.content!r} at {message.created_at}: {kept and dict(kept)}")
    return {
        "said": float(len(town.said)),
        "asked": float(len(town.asked)),
        "lost": float(len(town.said) - await pool.fetchval(KEPT, town.said)),
        "twice": float(sum(count > 1 for count in answers)),
        "untold": float(sum(count == 0 for count in answers)),
        "breaks": float(town.breaks.total()),
    }


def _figures(watched: Watched, size: Size) -> dict[str, float]:
    """How memory went: the second fifth of the time, when everything was used once, against the last."""
    seconds = int(size.seconds)
    lines = watched.lines[-seconds:] if len(watched.lines) > seconds else watched.lines
    early, late = lines[len(lines) // 5 : 2 * len(lines) // 5], lines[-max(len(lines) // 5, 1) :]
    lags = [lag for line in watched.lines for lag in line["lags_ms"]]
    return {
        "loop_lag_p50_ms": percentile(lags, 0.5),
        "loop_lag_p99_ms": percentile(lags, 0.99),
        "loop_lag_worst_ms": max(lags),
        "rss_growth": _middle(late, "rss_mb") / _middle(early, "rss_mb"),
        "rss_early_mb": _middle(early, "rss_mb"),
        "rss_late_mb": _middle(late, "rss_mb"),
        "tasks_early": _middle(early, "tasks"),
        "tasks_late": _middle(late, "tasks"),
        "files_early": _middle(early, "files"),
        "files_late": _middle(late, "files"),
        "cpu_share": float(watched.lines[-1]["cpu_s"]) / max(len(watched.lines), 1),
    }


def _middle(lines: Sequence[dict[str, float]], name: str) -> float:
    return median([float(line[name]) for line in lines])


def _town(discord: Discord) -> Town:
    rooms: list[tuple[Channel, list[Member]]] = []
    for number in range(GUILDS):
        guild = discord.create_guild(f"Guild {number}")
        people = [guild.add_member(f"Speaker{number}x{each}") for each in range(MEMBERS)]
        rooms += [(guild.create_channel(f"room-{each}"), people) for each in range(CHANNELS)]
    return Town(discord, rooms, random.Random(1))  # noqa: S311 - repeatable, guards nothing


def _environment(ground: Ground, discord: Discord, model: Model) -> dict[str, str]:
    return {
        **model.environment,
        "MUNINN_DISCORD_TOKEN": discord.token,
        "MUNINN_DISCORD_API_URL": discord.api_url,
        "MUNINN_DISCORD_CDN_URLS": discord.cdn_url,
        "MUNINN_DISCORD_GATEWAY_URL": discord.gateway_url,
        "MUNINN_DATABASE_URL": ground.database_url,
        "MUNINN_REDIS_URL": ground.redis_url,
        "MUNINN_EMBEDDINGS": "off",
        "MUNINN_MEMBER_TURNS": "1000",
        "MUNINN_PLACE_TURNS": "1000",
        "MUNINN_SPACE_TURNS": "1000",
        "MUNINN_MEMBER_DAILY_TOKENS": "0",
        "MUNINN_SPACE_DAILY_TOKENS": "0",
        "MUNINN_MEMORY_QUIET_S": "5",
        "MUNINN_MEMORY_LONGEST_S": "30",
        "MUNINN_HTTP_PORT": "0",
        "MUNINN_GUILD_NOTICE": "false",
        "MUNINN_LOG_LEVEL": "warning",
    }


async def main() -> None:
    """Measure, print and write."""
    seconds = float(os.environ.get("SOAK_S") or Size().seconds)
    load = os.getloadavg()
    async with open_ground() as ground:
        figures = await measure(ground, Size(seconds=seconds))
    about = f"{seconds:.0f} s; fsync on; load {load[0]:.1f} before and {os.getloadavg()[0]:.1f} after"
    publish("soak", figures, TARGETS, about=about)


if __name__ == "__main__":
    asyncio.run(main())
