"""What is done around the loop, of which it knows nothing: its calls of the model and of tools are counted, and its
writes are marked for tests that kill the process.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agent.contracts import (
    Message,
    ModelReply,
    PlannedCall,
    StoredStep,
    ToolCall,
    ToolResult,
    ToolSpec,
    ValidCall,
)
from agent.errors import ModelFault
from agent.ports import Listener, RunStore, SpeakingModel, Toolbox
from agent.prices import Prices
from bot.ai_events import AiEvent
from bot.crash import crash_point
from bot.metrics import MODEL_SECONDS, MODEL_TOKENS, STEPS, TOOL_CALLS, TOOL_SECONDS


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A model whose calls are timed, counted and noted.

    `blank` says for whom and what for; how a call went is filled in. `prices` are those of the first model, not of a
    fallback.
    """

    model: SpeakingModel
    note: Callable[[AiEvent], None]
    blank: AiEvent
    prices: Prices | None = None
    listener: Listener | None = None

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, within_s: float) -> ModelReply:
        """As the model's own."""
        began = time.monotonic()
        ended = replace(self.blank, messages=len(messages))
        try:
            reply = await self.model.complete(messages, tools, within_s=within_s, listener=self.listener)
        except ModelFault as fault:
            self._count(replace(ended, status="failed", error_code=fault.code), began)
            raise
        except asyncio.CancelledError:
            self._count(replace(ended, status="cancelled"), began)
            raise
        priced = None if reply.fallback else self.prices
        ended = replace(
            ended,
            status="ok",
            model=reply.model,
            fallback=reply.fallback,
            usage=reply.usage,
            cost=None if priced is None else priced.cost(reply.usage),
            first_s=reply.first_s,
        )
        self._count(ended, began)
        MODEL_TOKENS.labels("prompt").inc(reply.usage.prompt_tokens)
        MODEL_TOKENS.labels("completion").inc(reply.usage.completion_tokens)
        return reply

    def _count(self, event: AiEvent, began: float) -> None:
        took_s = time.monotonic() - began
        STEPS.labels("ok" if event.status == "ok" else "error").inc()
        MODEL_SECONDS.observe(took_s)
        self.note(replace(event, took_s=took_s, ended_at=began + took_s))


@dataclass(frozen=True, slots=True)
class MarkedStore:
    """A store between whose writes a test may kill the process."""

    store: RunStore

    async def load(self) -> Sequence[StoredStep]:
        """As the store's own."""
        return await self.store.load()

    async def save_step(self, step: int, reply: ModelReply, planned: Sequence[PlannedCall]) -> None:
        """As the store's own."""
        await self.store.save_step(step, reply, planned)
        crash_point("after_step_saved")

    async def settle_calls(self, settled: Sequence[tuple[PlannedCall, ToolResult]]) -> None:
        """As the store's own."""
        if any(planned.effect == "write" for planned, _ in settled):
            crash_point("before_write_settled")
        else:
            crash_point("before_reads_settled")
        await self.store.settle_calls(settled)
        crash_point("after_calls_settled")


class Watch(Protocol):
    """Sees which tools are at work."""

    def works(self, tool: str) -> None: ...

    def rests(self, tool: str) -> None: ...


class MeteredToolbox:
    """A toolbox whose calls are counted by tool, and watched while they run. Unknown names never reach a label: they
    are not invoked."""

    def __init__(self, toolbox: Toolbox, watch: Watch) -> None:
        self._toolbox = toolbox
        self._watch = watch

    def specs(self) -> Sequence[ToolSpec]:
        """As the toolbox's own."""
        return self._toolbox.specs()

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        """As the toolbox's own."""
        return self._toolbox.validate(call)

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """As the toolbox's own."""
        end, started = "failed", time.perf_counter()
        self._watch.works(valid.spec.name)
        try:
            result = await self._toolbox.invoke(valid, planned)
            end = "done" if result.ok else "failed"
        finally:
            self._watch.rests(valid.spec.name)
            TOOL_CALLS.labels(valid.spec.name, end).inc()
            TOOL_SECONDS.labels(valid.spec.name).observe(time.perf_counter() - started)
        return result
