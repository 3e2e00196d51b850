"""Counting what the loop does, from outside: the model's calls and the tools' calls. The loop knows nothing of it."""

import time
from collections.abc import Sequence

from agent.contracts import Message, ModelReply, PlannedCall, ToolCall, ToolResult, ToolSpec, ValidCall
from agent.ports import Model, Toolbox
from bot.metrics import MODEL_SECONDS, MODEL_TOKENS, STEPS, TOOL_CALLS, TOOL_SECONDS


class MeteredModel:
    """A model whose calls are timed and counted."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, within_s: float) -> ModelReply:
        """As the model's own."""
        started = time.perf_counter()
        end = "error"
        try:
            reply = await self._model.complete(messages, tools, within_s=within_s)
            end = "ok"
        finally:
            STEPS.labels(end).inc()
            MODEL_SECONDS.observe(time.perf_counter() - started)
        MODEL_TOKENS.labels("prompt").inc(reply.usage.prompt_tokens)
        MODEL_TOKENS.labels("completion").inc(reply.usage.completion_tokens)
        return reply


class MeteredToolbox:
    """A toolbox whose calls are counted by tool. Unknown names never reach a label: they are not invoked."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def specs(self) -> Sequence[ToolSpec]:
        """As the toolbox's own."""
        return self._toolbox.specs()

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        """As the toolbox's own."""
        return self._toolbox.validate(call)

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """As the toolbox's own."""
        end, started = "failed", time.perf_counter()
        try:
            result = await self._toolbox.invoke(valid, planned)
            end = "done" if result.ok else "failed"
        finally:
            TOOL_CALLS.labels(valid.spec.name, end).inc()
            TOOL_SECONDS.labels(valid.spec.name).observe(time.perf_counter() - started)
        return result
