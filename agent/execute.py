"""Running the calls of one reply. Only the loop may, so that no second path leads to a tool."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import structlog

from agent.contracts import PlannedCall, ToolResult, ValidCall
from agent.deadline import bounded, reap
from agent.errors import DeadlinePassed, LeaseLost
from agent.limits import Limits
from agent.ports import Clock, Toolbox
from agent.results import acceptable, not_started, unsettled
from agent.schedule import segments

Settled: TypeAlias = tuple[PlannedCall, ToolResult]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A planned call that nothing stands against."""

    planned: PlannedCall
    valid: ValidCall


@dataclass(frozen=True, slots=True)
class Batch:
    """How the calls of one reply are run. `deadline` is on `clock`; nothing starts after it."""

    toolbox: Toolbox
    settle: Callable[[Sequence[Settled]], Awaitable[None]]
    limits: Limits
    deadline: float
    clock: Clock

    async def run(self, ready: Sequence[ReadyCall]) -> list[Settled]:
        """Each call with its result, in the given order; each segment is settled before the next one starts.

        Ends at the latest grace_s after the deadline, plus what settling takes. A call that outlives its deadline gives
        a result that says so; what it returns later reaches nobody here (its receipt knows). One that is left behind
        no longer counts for the width. Raises what `settle` raises, and LeaseLost from a tool.
        """
        settled: list[Settled] = []
        for segment in segments(ready, lambda each: each.valid.spec.is_barrier):
            results = await self._run_segment(segment)
            ended = [(each.planned, result) for each, result in zip(segment, results, strict=True)]
            await self.settle(ended)
            settled.extend(ended)
        return settled

    async def _run_segment(self, segment: Sequence[ReadyCall]) -> list[ToolResult]:
        if len(segment) == 1:
            return [await self._run_one(segment[0])]
        slots = asyncio.Semaphore(self.limits.parallel_reads)

        async def in_slot(ready: ReadyCall) -> ToolResult:
            async with slots:
                return await self._run_one(ready)

        tasks = [asyncio.create_task(in_slot(each)) for each in segment]
        try:
            # No deadline here: each of them ends by its own.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            # A sibling's fault or a cancellation from outside; the tasks pass the cancel on, with a grace of their own.
            if not all(task.done() for task in tasks):
                await reap(tasks, 2 * self.limits.grace_s)
        for task in tasks:
            if task.done() and not task.cancelled() and (fault := task.exception()) is not None:
                raise fault
        return [task.result() for task in tasks]

    async def _run_one(self, ready: ReadyCall) -> ToolResult:
        spec = ready.valid.spec
        left = self.deadline - self.clock()
        if left <= 0:
            return not_started("The time for tools in this run was up.", code="limit_time")
        allowed = min(left, self.limits.tool_s, spec.timeout_s or self.limits.tool_s)
        began = self.clock()
        result = await self._invoke(ready, allowed)
        return replace(result, took_s=self.clock() - began)

    async def _invoke(self, ready: ReadyCall, allowed: float) -> ToolResult:
        spec = ready.valid.spec
        try:
            work = self.toolbox.invoke(ready.valid, ready.planned)
            result = await bounded(work, allowed, grace_s=self.limits.grace_s, name=f"tool {spec.name}")
        except DeadlinePassed as passed:
            _log.warning("tool_timed_out", tool=spec.name, within_s=round(allowed, 3), abandoned=passed.abandoned)
            return unsettled(spec.effect, "The tool did not finish in time.", read_code="timeout")
        except LeaseLost:
            raise
        except Exception as fault:
            # What it says may hold anything, so it is for the log's reader and not for the model (I13).
            _log.exception("tool_failed", tool=spec.name, error=type(fault).__name__)
            return unsettled(spec.effect, "The tool failed.")
        return acceptable(result, spec.effect, most=min(self.limits.result_chars, spec.result_chars or sys.maxsize))
