"""How a run stands in PostgreSQL's jsonb: the prompt, and what the model said at each step.

The calls of a reply are not part of its record: they are rows of their own, and there is one truth about them.
"""

from collections.abc import Sequence
from typing import Any, cast

import orjson

from agent.contracts import (
    AssistantMessage,
    ContextMessage,
    Finish,
    ModelReply,
    PromptMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from agent.errors import StoredRunBroken
from agent.storable import storable

_FINISHES: tuple[Finish, ...] = ("stop", "tool_calls", "length", "content_filter")


def write_prompt(prompt: Sequence[PromptMessage]) -> str:
    """The messages as JSON text. What PostgreSQL cannot hold is replaced, so read it back before using it."""
    return orjson.dumps([_write_message(each) for each in prompt]).decode()


def read_prompt(stored: str) -> tuple[PromptMessage, ...]:
    """The messages again. Raises StoredRunBroken if `stored` is not what write_prompt writes."""
    try:
        return tuple(_read_message(each) for each in orjson.loads(stored))
    except (ValueError, KeyError, TypeError) as fault:
        raise StoredRunBroken(f"a stored prompt cannot be read: {type(fault).__name__}") from fault


def write_reply(reply: ModelReply) -> str:
    """What was said, why it ended and who said it. The usage has columns of its own."""
    said = {"text": reply.message.text, "finish": reply.finish, "model": storable(reply.model)}
    return orjson.dumps(said).decode()


def read_reply(stored: str, calls: Sequence[ToolCall], usage: Usage, *, fallback: bool = False) -> ModelReply:
    """The reply again, with its calls and usage from where they are kept. Raises StoredRunBroken."""
    try:
        said = cast("dict[str, Any]", orjson.loads(stored))
        finish = said["finish"]
        if finish not in _FINISHES:
            raise ValueError(finish)
        return ModelReply(AssistantMessage(said["text"], tuple(calls)), finish, usage, said["model"], fallback)
    except (ValueError, KeyError, TypeError) as fault:
        raise StoredRunBroken(f"a stored reply cannot be read: {type(fault).__name__}") from fault


def milliseconds(seconds: float) -> int:
    """As the columns that end in `_ms` hold it."""
    return round(seconds * 1000)


def _write_message(message: PromptMessage) -> dict[str, object]:
    match message:
        case ContextMessage(before, blocks, after):
            kept = [storable(block) for block in blocks]
            return {"role": "context", "before": storable(before), "blocks": kept, "after": storable(after)}
        case SystemMessage(text):
            return {"role": "system", "text": storable(text)}
        case UserMessage(text):
            return {"role": "user", "text": storable(text)}
        case AssistantMessage(text, calls):
            spoken: dict[str, object] = {"role": "assistant", "text": None if text is None else storable(text)}
            if calls:
                spoken["calls"] = [[each.call_id, each.tool, each.arguments] for each in calls]
            return spoken
        case ToolMessage(call_id, content):
            return {"role": "tool", "call_id": call_id, "content": content}


def _read_message(stored: dict[str, Any]) -> PromptMessage:
    match stored["role"]:
        case "context":
            return ContextMessage(stored["before"], tuple(stored["blocks"]), stored["after"])
        case "system":
            return SystemMessage(stored["text"])
        case "user":
            return UserMessage(stored["text"])
        case "assistant":
            calls = tuple(ToolCall(*each) for each in stored.get("calls", ()))
            return AssistantMessage(stored["text"], calls)
        case "tool":
            return ToolMessage(stored["call_id"], stored["content"])
        case role:
            raise ValueError(role)
