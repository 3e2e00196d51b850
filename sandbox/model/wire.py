"""A completion as OpenAI's JSON: whole, or as the chunks of a stream."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import orjson

from sandbox.model.fields import Json
from sandbox.model.intake import estimate_tokens
from sandbox.model.request import ChatRequest
from sandbox.model.turn import Call, Completion, Pace, Usage

DONE = b"data: [DONE]\n\n"
_FINGERPRINT = "fp_sandbox"


@dataclass(frozen=True, slots=True)
class Identity:
    """What all parts of one answer share."""

    id: str
    created: int
    model: str


def identity(request: ChatRequest) -> Identity:
    return Identity(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), request.model)


def settled(turn: Completion) -> Completion:
    """The same turn with a fresh id for each call that has none."""
    made = tuple(
        call if call.id is not None else replace(call, id=f"call_{secrets.token_hex(12)}") for call in turn.calls
    )
    return replace(turn, calls=made)


def finish_reason(turn: Completion) -> str:
    return turn.reported or turn.finish_reason or ("tool_calls" if turn.calls else "stop")


def usage_of(turn: Completion, request: ChatRequest) -> Usage:
    """The usage that the turn states, or an estimate."""
    if turn.usage is not None:
        return turn.usage
    spoken = estimate_tokens(turn.text or turn.refusal or "")
    called = sum(8 + estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in turn.calls)
    return Usage(request.prompt_tokens, spoken + called)


def whole(turn: Completion, request: ChatRequest, who: Identity) -> bytes:
    """The body of an unstreamed answer."""
    message: dict[str, Json] = {
        "role": "assistant",
        "content": turn.text,
        "refusal": turn.refusal,
        "annotations": [],
    }
    if turn.reasoning is not None:
        message[turn.reasoning_field] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    choice: Json = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(turn)}
    return orjson.dumps(
        {
            "id": who.id,
            "object": "chat.completion",
            "created": who.created,
            "model": who.model,
            "choices": [choice],
            "usage": _usage(usage_of(turn, request)),
            "service_tier": "default",
            "system_fingerprint": _FINGERPRINT,
        }
    )


def chunks(turn: Completion, request: ChatRequest, who: Identity) -> Iterator[bytes]:
    """The events of a streamed answer, without the closing [DONE]."""
    for delta in _deltas(turn):
        yield _chunk(delta, None, request, who)
    yield _chunk({}, finish_reason(turn), request, who)
    if request.include_usage:
        yield _event(who, [], _usage(usage_of(turn, request)), include=True)


def _deltas(turn: Completion) -> Iterator[dict[str, Json]]:
    spoken = turn.text if turn.text is not None else turn.refusal
    field = "content" if turn.refusal is None or turn.text is not None else "refusal"
    yield {"role": "assistant", "content": "" if turn.text is not None else None, "refusal": None}
    for piece in _pieces(turn.reasoning or "", turn.pace.piece):
        yield {turn.reasoning_field: piece}
    for piece in _pieces(spoken or "", turn.pace.piece):
        yield {field: piece}
    for number, call in enumerate(turn.calls):
        index = 0 if turn.pace.one_index else number
        for delta in _call_deltas(call, turn.pace):
            yield {"tool_calls": [{"index": index, **delta} if turn.pace.indexed else delta]}


def _call_deltas(call: Call, pace: Pace) -> Iterator[dict[str, Json]]:
    if pace.whole_calls:
        yield {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    elif pace.arguments_first:
        for piece in _pieces(call.arguments, pace.piece):
            yield {"function": {"arguments": piece}}
        yield {"id": call.id, "type": "function", "function": {"name": call.name}}
    else:
        yield {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        for piece in _pieces(call.arguments, pace.piece):
            yield {"function": {"arguments": piece}}


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _chunk(delta: dict[str, Json], reason: str | None, request: ChatRequest, who: Identity) -> bytes:
    choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return _event(who, [choice], None, include=request.include_usage)


def _event(who: Identity, choices: list[Json], usage: Json, *, include: bool) -> bytes:
    body: dict[str, Json] = {
        "id": who.id,
        "object": "chat.completion.chunk",
        "created": who.created,
        "model": who.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
        "choices": choices,
    }
    if include:
        body["usage"] = usage
    return b"data: " + orjson.dumps(body) + b"\n\n"


def _usage(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
