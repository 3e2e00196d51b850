"""What the loop costs beside a bare one: limits, plans, receipts and everything that it stores, step by step.

Both sides ask the same model process over the same client in the same run, and call the same tools. The bare side keeps
nothing; ours runs over PostgreSQL with fsync on, from the look at the budget to the end of the run.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent.contracts import (
    Message,
    ModelReply,
    PlannedCall,
    StoredStep,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    ToolSpec,
    UserMessage,
    ValidCall,
)
from agent.ending import Ending, finish_run
from agent.limits import Limits
from agent.loop import run
from agent.openai_model import OpenAIModel
from agent.results import success
from agent.store import Fence, PgRunStore, begin_run
from bench.figures import at_most, median, progress, publish
from bench.ground import Ground, open_ground
from bench.stand import open_model
from bot.allowance import Budget, forbidden
from bot.pool import open_pool
from bot.receipts import Intent, intend, settle
from bot.turns import Turn
from memory.database import Connection, Pool
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId

TARGETS: Final = {
    "overhead_ms_0": at_most(5),
    "overhead_ms_1": at_most(8),
    "overhead_ms_8": at_most(15),
    "parallel_ratio": at_most(1.3),
}
SLOW_S: Final = 0.2
WIDTH: Final = 8
WITHIN_S: Final = 60.0

_OBJECT: Final = {"type": "object", "properties": {"n": {"type": "integer"}}}
SPECS: Final = {
    "look": ToolSpec("look", "Looks, at once.", _OBJECT, "read", parallel_safe=True),
    "wait": ToolSpec("wait", "Looks for a while.", _OBJECT, "read", parallel_safe=True),
    "mark": ToolSpec("mark", "Marks something, under a receipt.", _OBJECT, "write"),
}
LIMITS: Final = Limits(max_steps=20, max_calls=200, max_writes=200, parallel_reads=WIDTH, identical_calls=1)

# A turn that is being worked on, in a lane of its own.
TURN_SQL: Final = """
INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, lease_no, triggered_at)
VALUES (1, $1, 3, $1, 'running', 1, now()) RETURNING turn_id
"""
# The bytes of a run's rows.
BYTES_SQL: Final = """
SELECT (SELECT sum(pg_column_size(r)) FROM agent_runs r WHERE run_id = $1)
     + (SELECT sum(pg_column_size(s)) FROM agent_steps s WHERE run_id = $1)
     + (SELECT coalesce(sum(pg_column_size(c)), 0) FROM agent_tool_calls c WHERE run_id = $1)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How often each kind of run is measured, and how many steps with calls it has."""

    warm_up: int
    rounds: int
    steps: int
    slow_rounds: int


FULL: Final = Size(warm_up=10, rounds=60, steps=4, slow_rounds=10)


@dataclass(frozen=True, slots=True)
class Job:
    """What the model is asked to do: so many steps with so many calls of one tool each, and then an answer."""

    steps: int
    calls: int
    tool: str = "look"

    @property
    def prompt(self) -> tuple[Message, ...]:
        """The messages that begin it; the loopback model reads the second one."""
        return SystemMessage("You are measured."), UserMessage(
            f"steps={self.steps} calls={self.calls} tool={self.tool}"
        )


@dataclass(slots=True)
class Tools:
    """An agent.ports.Toolbox over the three tools, for the turn `trigger_id`."""

    pool: Pool
    trigger_id: int
    began: float = 0.0

    def specs(self) -> Sequence[ToolSpec]:
        """All of them."""
        return tuple(SPECS.values())

    def validate(self, call: ToolCall) -> ValidCall:
        """The call with its number."""
        return ValidCall(SPECS[call.tool], json.loads(call.arguments)["n"])

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """Do it; a write has its receipt before and after, as in bot.actions, and an effect that takes no time."""
        self.began = self.began or time.perf_counter()
        return await self.do(valid.spec.name, int(str(valid.arguments)))

    async def do(self, name: str, number: int) -> ToolResult:
        """The tool itself, which both sides call."""
        if name == "wait":
            await asyncio.sleep(SLOW_S)
        elif name == "mark":
            asked = Intent(SpaceId(1), PlaceId(2), MessageId(self.trigger_id), "react", {"n": number}, None)
            async with self.pool.acquire() as conn:
                receipt = await intend(conn, asked)
            async with self.pool.acquire() as conn:
                await settle(conn, receipt.receipt_id, "applied", external_id=MessageId(1), failure=None, attempts=1)
        return success({"n": number})


@dataclass(slots=True)
class TimedStore:
    """The run's store, which notes when calls were last settled."""

    store: PgRunStore
    settled_at: float = 0.0

    async def load(self) -> Sequence[StoredStep]:
        """As the store's own."""
        return await self.store.load()

    async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
        """As the store's own."""
        await self.store.save_step(step, reply, planned)

    async def settle_calls(self, settled: Sequence[tuple[PlannedCall, ToolResult]]) -> None:
        """As the store's own."""
        await self.store.settle_calls(settled)
        self.settled_at = time.perf_counter()


@dataclass(slots=True)
class Bench:
    """Both sides over one client. `statements` counts what went to PostgreSQL."""

    pool: Pool
    model: OpenAIModel
    statements: int = 0
    trigger_id: int = 1
    newest_run: int = 0
    tool_waits: list[float] = field(default_factory=list[float])

    async def ours(self, job: Job) -> float:
        """Seconds of a run, from the look at the budget to its end; the time from its first call to the last result is
        appended to `tool_waits`."""
        self.trigger_id += 1
        turn_id = await self.pool.fetchval(TURN_SQL, self.trigger_id)
        turn = _turn(turn_id, self.trigger_id)
        tools = Tools(self.pool, self.trigger_id)
        fence = Fence(turn_id, 1)
        self.statements = 0
        started = time.perf_counter()
        async with self.pool.acquire() as conn:
            if await forbidden(conn, turn, Budget(10**12, 10**12)) is not None:
                raise RuntimeError("the benchmark has no budget")
            stored = await begin_run(conn, fence, model="bench", prompt=job.prompt)
        store = TimedStore(PgRunStore(self.pool, stored.run_id, fence, resumed=False))
        outcome = await run(stored.prompt, model=self.model, toolbox=tools, store=store, limits=LIMITS)
        async with self.pool.acquire() as conn, conn.transaction():
            await finish_run(conn, Ending(stored.run_id, "answered", outcome))
        took = time.perf_counter() - started
        if (outcome.kind, outcome.calls) != ("answered", job.steps * job.calls):
            raise RuntimeError(f"a run went wrong: {outcome.reason} after {outcome.calls} calls")
        self.newest_run = stored.run_id
        self.tool_waits.append(store.settled_at - tools.began)
        return took

    async def bare(self, job: Job) -> float:
        """Seconds of the same by a loop that keeps nothing, plans nothing and knows no limits."""
        tools = Tools(self.pool, 0)
        messages: list[Message] = list(job.prompt)
        started = time.perf_counter()
        while (reply := await self.model.complete(messages, tools.specs(), within_s=WITHIN_S)).message.calls:
            calls = reply.message.calls
            messages.append(reply.message)
            results = await asyncio.gather(*(tools.do(each.tool, json.loads(each.arguments)["n"]) for each in calls))
            messages += [ToolMessage(c.call_id, r.content) for c, r in zip(calls, results, strict=True)]
        return time.perf_counter() - started


def _turn(turn_id: int, trigger_id: int) -> Turn:
    where = (TurnId(turn_id), SpaceId(1), PlaceId(trigger_id), UserId(3), MessageId(trigger_id))
    return Turn(*where, "running", None, None, lease_no=1, attempts=1, overdue=False)


async def measure(ground: Ground, size: Size = FULL) -> dict[str, float]:
    """The figures, by name; times in milliseconds."""
    async with open_bench(ground) as bench:
        figures: dict[str, float] = {}
        for calls in (0, 1, 8):
            job = Job(steps=size.steps if calls else 0, calls=calls)
            ours, bare = await _in_turns(size, lambda job=job: bench.ours(job), lambda job=job: bench.bare(job))
            said = job.steps + 1
            figures[f"overhead_ms_{calls}"] = (median(ours) - median(bare)) / said * 1e3
            figures[f"step_ms_{calls}"] = median(ours) / said * 1e3
            figures[f"bare_step_ms_{calls}"] = median(bare) / said * 1e3
            progress(f"loop: {calls} calls a step: {figures[f'overhead_ms_{calls}']:.2f} ms more than the bare loop")
        figures["write_ms"] = median(await _tool_waits(bench, Job(1, 1, "mark"), size.rounds)) * 1e3
        waits = [await _tool_waits(bench, Job(1, width, "wait"), size.slow_rounds) for width in (1, WIDTH)]
        figures["parallel_ratio"] = median(waits[1]) / median(waits[0])
        # Three steps, the last one the answer, and four calls.
        await bench.ours(Job(2, 2))
        figures["statements_per_run"] = bench.statements
        figures["bytes_per_run"] = float(await bench.pool.fetchval(BYTES_SQL, bench.newest_run))
        return figures


async def _in_turns(size: Size, *sides: Callable[[], Coroutine[Any, Any, float]]) -> tuple[list[float], ...]:
    """The seconds of each side. Whoever goes first changes each round."""
    taken: tuple[list[float], ...] = tuple([] for _ in sides)
    for number in range(size.warm_up + size.rounds):
        order = list(enumerate(sides))
        for at, side in order if number % 2 else reversed(order):
            seconds = await side()
            if number >= size.warm_up:
                taken[at].append(seconds)
    return taken


async def _tool_waits(bench: Bench, job: Job, rounds: int) -> list[float]:
    """Seconds from the dispatch of a run's first call to the moment when the last result was stored."""
    bench.tool_waits.clear()
    for _ in range(rounds):
        await bench.ours(job)
    return list(bench.tool_waits)


@asynccontextmanager
async def open_bench(ground: Ground) -> AsyncGenerator[Bench]:
    """The model's process, the client, and a pool as Muninn has it."""
    async with AsyncExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muninn-bench-logs-")))
        where = await stack.enter_async_context(open_model(logs))
        model = OpenAIModel(
            base_url=where["MUNINN_OPENAI_BASE_URL"],
            api_key=where["MUNINN_OPENAI_API_KEY"],
            model=where["MUNINN_MODEL"],
        )
        stack.push_async_callback(model.aclose)
        made: list[Bench] = []

        async def opened(conn: Connection) -> None:
            def count(_: object) -> None:
                for bench in made:
                    bench.statements += 1

            conn.add_query_logger(count)

        pool: Pool = await stack.enter_async_context(open_pool(ground.database_url, opened=opened))
        made.append(Bench(pool, model))
        yield made[0]


async def main() -> None:
    """Measure, print and write."""
    async with open_ground() as ground:
        publish("loop", await measure(ground), TARGETS, about="the loop against a bare one, fsync on")


if __name__ == "__main__":
    asyncio.run(main())
