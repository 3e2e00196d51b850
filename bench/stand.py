"""The parts of a benchmark of whole bots: a loopback Discord for each, one loopback model, and the bots as processes.

The Discords run in the benchmark's own process, the model and each bot in theirs, so that the CPU of the one is not in
the loop of the other. They share the machine's cores all the same, and so do PostgreSQL and Valkey.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import asyncpg

from bench.children import child
from bench.ground import Ground
from bot.guild_settings import WHOLE_SPACE, change
from bot.kept import KEPT_S
from memory.ids import SpaceId, UserId
from sandbox.discord import Discord, Member, Place
from sandbox.discord.events import Dispatch

READY_WITHIN_S: Final = 60.0
ANSWER_WITHIN_S: Final = 60.0
LANES: Final = 50
"""Places in which somebody can wait for an answer at the same time."""

# Limits are for people; a benchmark is none.
UNLIMITED: Final = {
    "MUNINN_MEMBER_TURNS": "1000000",
    "MUNINN_PLACE_TURNS": "1000000",
    "MUNINN_SPACE_TURNS": "1000000",
    "MUNINN_MEMBER_DAILY_TOKENS": "0",
    "MUNINN_SPACE_DAILY_TOKENS": "0",
}


@dataclass(slots=True)
class Side:
    """One bot's Discord, with its lanes: (who asks, where)."""

    name: str
    discord: Discord
    lanes: list[tuple[Member, Place]]
    _waiting: dict[str, "asyncio.Future[float]"] = field(default_factory=dict[str, "asyncio.Future[float]"])

    def __post_init__(self) -> None:
        told = self.discord.world.on_event

        def on_event(event: Dispatch) -> None:
            if event.name == "MESSAGE_CREATE":
                self._note(event)
            told(event)

        # The event that a POST makes is made while the POST is handled: that is when it has come in.
        self.discord.world.on_event = on_event

    async def ask(self, lane: int) -> float:
        """Say something to the bot; seconds from the gateway's frame to the reply's POST. TimeoutError: no answer."""
        member, place = self.lanes[lane]
        text = f"{self.discord.bot.mention} what do ravens remember?"
        answered: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        started = time.perf_counter()
        message = await member.says(place, text)
        self._waiting[str(message.id)] = answered
        async with asyncio.timeout(ANSWER_WITHIN_S):
            return await answered - started

    def forget(self) -> None:
        """Drop the log of requests, which grows with each answer."""
        self.discord.requests.clear()

    def _note(self, event: Dispatch) -> None:
        at = time.perf_counter()
        body = cast("Mapping[str, Any]", event.payload)
        if int(body["author"]["id"]) != self.discord.bot.id:
            return
        reference = cast("Mapping[str, Any]", body.get("message_reference") or {})
        waiting = self._waiting.pop(str(reference.get("message_id")), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(at)


@dataclass(frozen=True, slots=True)
class Stand:
    """Muninn and the bare bot, both connected."""

    muninn: Side
    bare: Side
    database_url: str

    async def remember(self, *, on: bool) -> None:
        """Let Muninn's guild have memory or not, and wait until that holds in the process of the bot."""
        space_id = SpaceId(self.muninn.discord.guilds[0].id)
        conn = await asyncpg.connect(self.database_url)
        try:
            await change(conn, space_id, WHOLE_SPACE, "memory", on, by=UserId(self.muninn.lanes[0][0].id))
        finally:
            await conn.close()
        await asyncio.sleep(KEPT_S)


@asynccontextmanager
async def open_stand(ground: Ground, settings: Mapping[str, str]) -> AsyncGenerator[Stand]:
    """Both bots, connected to their Discords; `settings` are Muninn's beyond addresses. Raises TimeoutError."""
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        model = await stack.enter_async_context(open_model(logs))
        muninn = await stack.enter_async_context(open_side("muninn"))
        bare = await stack.enter_async_context(open_side("bare"))
        environment = {**muninn_environment(ground, muninn, model), **settings}
        await stack.enter_async_context(
            child("bot", "run", "--while-stdin-open", environment=environment, log=logs / "muninn.log")
        )
        await stack.enter_async_context(
            child("bench.bare_bot", environment={**addresses(bare), **model}, log=logs / "bare.log")
        )
        await connected(muninn, logs / "muninn.log")
        await connected(bare, logs / "bare.log")
        yield Stand(muninn, bare, ground.database_url)


@asynccontextmanager
async def open_side(name: str) -> AsyncGenerator[Side]:
    """A loopback Discord with a guild of fifty channels and as many members."""
    async with Discord.start() as discord:
        guild = discord.create_guild("Bench")
        lanes = [(guild.add_member(f"Member{n}"), guild.create_channel(f"lane-{n}")) for n in range(LANES)]
        yield Side(name, discord, list(lanes))


@asynccontextmanager
async def open_model(logs: Path) -> AsyncGenerator[dict[str, str]]:
    """The loopback model as a process; gives the settings by which it is reached."""
    async with child("bench.loopback_model", environment={}, log=logs / "model.log") as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        async with asyncio.timeout(READY_WITHIN_S):
            line = (await process.stdout.readline()).decode().split()
        if len(line) != 2:
            raise RuntimeError(f"the model did not start: {_end_of(logs / 'model.log')}")
        yield {
            "MUNINN_OPENAI_BASE_URL": line[0],
            "MUNINN_OPENAI_API_KEY": line[1],
            "MUNINN_MODEL": "bench",
            "MUNINN_MODEL_CONTEXT": "128000",
        }


def addresses(side: Side) -> dict[str, str]:
    """The settings by which a bot finds its Discord."""
    return {
        "MUNINN_DISCORD_TOKEN": side.discord.token,
        "MUNINN_DISCORD_API_URL": side.discord.api_url,
        "MUNINN_DISCORD_GATEWAY_URL": side.discord.gateway_url,
    }


def muninn_environment(ground: Ground, side: Side, model: Mapping[str, str]) -> dict[str, str]:
    """Everything that Muninn is told: as an operator would, but without rate limits."""
    services = {"MUNINN_DATABASE_URL": ground.database_url, "MUNINN_REDIS_URL": ground.redis_url}
    return {**addresses(side), **model, **services, **UNLIMITED}


async def connected(side: Side, log: Path) -> None:
    """Wait until the bot of a side has its session. Raises RuntimeError with the end of its log."""
    try:
        await side.discord.wait_for_session(within=READY_WITHIN_S)
    except AssertionError as error:
        raise RuntimeError(f"{side.name} did not connect: {_end_of(log)}") from error


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-800:] or "it logged nothing"
