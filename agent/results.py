"""Tool results: compact JSON in one shape, so that the model always sees why something did not happen (I16)."""

import json
from collections.abc import Mapping
from dataclasses import replace

from agent.contracts import Effect, ToolResult
from agent.excerpt import shortened
from agent.limits import MAX_WHOLE_CHARS
from agent.storable import storable


def compact(payload: Mapping[str, object]) -> str:
    """`payload` as JSON text without spaces, not escaped beyond what JSON asks."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def success(payload: Mapping[str, object]) -> ToolResult:
    """`{"ok": true, ...payload}`. Raises ValueError or TypeError if `payload` is no JSON.

    A payload that says `"from_record": true` marks the result as one that a receipt gave, and not a new effect (I4).
    """
    return ToolResult(True, compact({"ok": True, **payload}), from_record=payload.get("from_record") is True)


def failure(code: str, message: str) -> ToolResult:
    """`{"ok": false, "error": {"code", "message"}}`. `code` is stable, the message says what the model may do."""
    return ToolResult(False, compact({"ok": False, "error": {"code": code, "message": storable(message)}}), code)


def not_started(why: str, *, code: str = "not_started") -> ToolResult:
    """For a call that certainly had no effect."""
    return failure(code, f"{why} It was not started and had no effect.")


def unsettled(effect: Effect, why: str, *, read_code: str = "tool_failed") -> ToolResult:
    """For a call of which nobody knows how it ended: a write may have happened, a read can do no harm."""
    if effect == "write":
        return failure(
            "unknown",
            f"{why} It may still have completed: check before repeating it, and say that it is not certain.",
        )
    return failure(read_code, why)


def acceptable(result: ToolResult, effect: Effect, *, most: int) -> ToolResult:
    """`result` as the model may see it, shortened to `most` characters; or what it is told instead, where the content
    is no JSON object or beyond all bounds.

    What a write did is not undone by a bad report of it, so its outcome then counts as unknown.
    """
    if len(result.content) > MAX_WHOLE_CHARS:
        return unsettled(effect, "The tool's result was too long to keep.", read_code="result_too_long")
    try:
        read: object = json.loads(result.content)
        result.content.encode()
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        return unsettled(effect, "The tool gave a result that cannot be read.")
    seen = shortened(result.content, most)
    whole = result.whole if seen is result.content else result.whole or result.content
    return replace(result, content=seen, whole=whole if whole is None or len(whole) <= MAX_WHOLE_CHARS else None)
