"""The loop's ports in memory: a model that says what it is told, tools that behave as told, a store that remembers.

They are strict: each raises AssertionError when the loop does what it must not.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.contracts import (
    AssistantMessage,
    Finish,
    Message,
    ModelReply,
    PlannedCall,
    StoredCall,
    StoredStep,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    ValidCall,
)
from agent.ports import Listener
from agent.results import failure, success
from tests.unit.agent.virtual_time import clock
from tests.unit.agent.wire_rules import check_transcript

OBJECT: Mapping[str, object] = {"type": "object", "properties": {}}
READ = ToolSpec("read", "A parallel-safe read.", OBJECT, "read", parallel_safe=True)
PEEK = ToolSpec("peek", "A read that is not parallel-safe.", OBJECT, "read")
WRITE = ToolSpec("write", "A write.", OBJECT, "write")


def say(text: str | None, *, finish: Finish = "stop") -> ModelReply:
    return ModelReply(AssistantMessage(text), finish, Usage(10, 2), "scripted")


def calls(
    *made: tuple[str, str] | tuple[str, str, str], text: str | None = None, finish: Finish = "tool_calls"
) -> ModelReply:
    """A reply with calls, each (tool, arguments) or (tool, arguments, id)."""
    tool_calls = tuple(
        ToolCall(each[2] if len(each) == 3 else f"id_{each[0]}_{at}_{each[1]}", each[0], each[1])
        for at, each in enumerate(made)
    )
    return ModelReply(AssistantMessage(text, tool_calls), finish, Usage(10, 2), "scripted")


@dataclass(slots=True)
class Asked:
    messages: list[Message]
    tools: list[str]
    within_s: float
    at: float


@dataclass(slots=True)
class ScriptedModel:
    """Says `script` in order; a float in it is a pause in seconds before what follows, an exception is raised."""

    script: list[ModelReply | Exception | float]
    asked: list[Asked] = field(default_factory=list["Asked"])
    replied: int = 0

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        within_s: float,
        listener: Listener | None = None,
    ) -> ModelReply:
        check_transcript(messages)
        assert within_s > 0
        self.asked.append(Asked(list(messages), [each.name for each in tools], within_s, clock()))
        assert self.script, "the model is asked once more than scripted"
        step = self.script.pop(0)
        while isinstance(step, float | int):
            await asyncio.sleep(step)
            step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        self.replied += 1
        return step


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a tool does with one call: after `delay_s`, it returns, raises, or returns something unacceptable.

    Cancelled, it cleans up for `cleanup_s`; with `stubborn` it swallows the cancel and goes on as if nothing were.
    """

    delay_s: float = 0.0
    ending: str = "ok"  # ok | refused | raises | not_json | no_object | long | too_long | cancels_itself
    cleanup_s: float = 0.0
    stubborn: bool = False


@dataclass(slots=True)
class MemoryStore:
    """An agent.ports.RunStore. `steps` is what survives a crash."""

    steps: list[StoredStep] = field(default_factory=list[StoredStep])
    fail_after: int | None = None
    writes: int = 0

    async def load(self) -> Sequence[StoredStep]:
        return list(self.steps)

    async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
        self._write()
        assert step == len(self.steps), "a step was skipped or saved twice"
        assert [each.ordinal for each in planned] == list(range(len(reply.message.calls)))
        self.steps.append(StoredStep(step, reply, tuple(StoredCall(each, each.rejection) for each in planned)))

    async def settle_calls(self, settled: Sequence[tuple[PlannedCall, ToolResult]]) -> None:
        self._write()
        for planned, result in settled:
            step = self.steps[planned.step]
            stored = step.calls[planned.ordinal]
            assert stored.planned == planned
            assert stored.result is None, "a call was settled twice"
            made = list(step.calls)
            made[planned.ordinal] = StoredCall(planned, result)
            self.steps[planned.step] = StoredStep(step.step, step.reply, tuple(made))

    def _write(self) -> None:
        self.writes += 1
        if self.fail_after is not None and self.writes > self.fail_after:
            raise ConnectionError("the database is away")

    def result(self, step: int, ordinal: int) -> ToolResult | None:
        return self.steps[step].calls[ordinal].result

    def codes(self, step: int) -> list[str | None]:
        """The error codes of a step's calls; None for what went well. Every call must have a result."""
        results = [each.result for each in self.steps[step].calls]
        assert all(each is not None for each in results)
        return [each.error_code for each in results if each is not None]


@dataclass(slots=True)
class Toolbox:
    """An agent.ports.Toolbox over read, peek and write, which looks hard at how it is used."""

    store: MemoryStore
    behaviours: Mapping[tuple[int, int], Behaviour] = field(default_factory=dict[tuple[int, int], Behaviour])
    tools: Sequence[ToolSpec] = (READ, PEEK, WRITE)
    started: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    effects: list[str] = field(default_factory=list[str])
    active: dict[tuple[int, int], ToolSpec] = field(default_factory=dict[tuple[int, int], ToolSpec])
    widest: int = 0

    def specs(self) -> Sequence[ToolSpec]:
        return self.tools

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        spec = next((each for each in self.tools if each.name == call.tool), None)
        return failure("unknown_tool", "No such tool.") if spec is None else ValidCall(spec, call.arguments)

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        key = (planned.step, planned.ordinal)
        assert self.store.result(*key) is None, "a settled call is run again"
        assert self.store.steps[planned.step].calls[planned.ordinal].planned == planned, (
            "dispatched before it was saved"
        )
        if valid.spec.is_barrier:
            assert not self.active, "something runs beside a barrier"
        else:
            assert not any(each.is_barrier for each in self.active.values()), "something runs beside a barrier"
        self.started.append(key)
        self.active[key] = valid.spec
        self.widest = max(self.widest, len(self.active))
        try:
            return await self._behave(key, self.behaviours.get(key, Behaviour()))
        finally:
            self.active.pop(key, None)

    async def _behave(self, key: tuple[int, int], how: Behaviour) -> ToolResult:
        try:
            await asyncio.sleep(how.delay_s)
        except asyncio.CancelledError:
            self.active.pop(key, None)  # it may be left behind while it cleans up, and then no longer counts
            if how.stubborn:
                await asyncio.shield(asyncio.sleep(3600))
                return success({"late": True})
            await asyncio.sleep(how.cleanup_s)
            raise
        match how.ending:
            case "raises":
                raise RuntimeError("secret-token in an exception")
            case "refused":
                return failure("refused", "No.")
            case "not_json":
                return ToolResult(True, "{not json")
            case "no_object":
                return ToolResult(True, "[1]")
            case "long":
                return success({"from": list(key), "text": "x" * 100_000})
            case "too_long":
                return success({"text": "x" * 300_000})
            case "cancels_itself":
                raise asyncio.CancelledError
            case _:
                self.effects.append(f"{key}")
                return success({"from": list(key)})
