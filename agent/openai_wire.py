"""The chat-completions format of OpenAI and of the many servers that speak it, each a little differently.

Pure: from our messages to a request body, and from a body or raw stream chunks to our reply. Chunks are put together
here because the library's own helper goes by `index`, which several servers leave out or set to 0 for every call.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from agent.contracts import (
    AssistantMessage,
    Finish,
    Message,
    ModelReply,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from agent.thoughts import without_thoughts

Json: TypeAlias = Mapping[str, Any]

_FINISHES: Mapping[str, Finish] = {
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "max_length": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "sensitive": "content_filter",
    "spii": "content_filter",
    "refusal": "content_filter",
}
"""Everything else that anybody says means that the model had no more to say, as `stop` does."""

_BROKEN = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Finish reasons of replies that the server could not bring to their end."""

_TEXT_PARTS = ("", "text", "output_text", "refusal")
"""The types of content parts that are said; others are thoughts, images or references."""


class BadReply(ValueError):
    """What came is no chat completion; the message says what is missing, without quoting it."""


class CutReply(BadReply):
    """The stream ended before the reply did."""


def write_message(message: Message) -> dict[str, Any]:
    """One message of a request."""
    match message:
        case SystemMessage(text):
            return {"role": "system", "content": text}
        case UserMessage(text, images):
            if not images:
                return {"role": "user", "content": text}
            shown = [{"type": "image_url", "image_url": {"url": each}} for each in images]
            return {"role": "user", "content": [{"type": "text", "text": text}, *shown]}
        case ToolMessage(call_id, content):
            return {"role": "tool", "tool_call_id": call_id, "content": content}
        case AssistantMessage(text, calls):
            spoken: dict[str, Any] = {"role": "assistant", "content": text}
            if calls:
                spoken["tool_calls"] = [
                    {
                        "id": each.call_id,
                        "type": "function",
                        "function": {"name": each.tool, "arguments": each.arguments},
                    }
                    for each in calls
                ]
            return spoken


def write_tool(spec: ToolSpec) -> dict[str, Any]:
    """One tool of a request."""
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def read_completion(body: object, model: str) -> ModelReply:
    """The reply in the body of a plain answer; `model` names it if the body does not. Raises BadReply."""
    completion = _object(body, "the body")
    choice = _first_choice(completion)
    if choice is None:
        raise BadReply("it has no choices")
    message = _object(choice.get("message"), "the message")
    calls = tuple(
        ToolCall(_text(each.get("id")), _text(_function(each).get("name")), _argument_text(_function(each)))
        for each in _call_pieces(message)
    )
    return ModelReply(
        AssistantMessage(_said(_content(message.get("content")) or _content(message.get("refusal"))), calls),
        _finish(choice.get("finish_reason"), has_calls=bool(calls)),
        _usage(completion.get("usage")),
        _text(completion.get("model")) or model,
    )


@dataclass(slots=True)
class _Slot:
    """One call while its pieces come in."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""

    def takes(self, call_id: str, name: str) -> bool:
        """Whether a piece with this id and name can belong to this call."""
        if call_id and self.call_id:
            return self.call_id == call_id
        if name and self.name and self.arguments:
            return name == self.name and not _is_complete(self.arguments)
        return True

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.call_id = self.call_id or call_id
        if name and name != self.name:  # some repeat the whole name with each piece, some send it in pieces
            self.name += name
        self.arguments += arguments


@dataclass(slots=True)
class Assembly:
    """A streamed reply while it comes in: add() each chunk, then reply()."""

    text: list[str] = field(default_factory=list[str])
    slots: list[_Slot] = field(default_factory=list[_Slot])
    by_index: dict[int, _Slot] = field(default_factory=dict[int, _Slot])
    finish: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    begun: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether something was said or called yet: the first chunk often holds the role alone."""
        return bool(self.text or self.slots)

    def add(self, chunk: object) -> None:
        """Take in one chunk. Raises BadReply if it is none."""
        read = _object(chunk, "a chunk")
        self.begun = True
        self.model = self.model or _text(read.get("model"))
        if read.get("usage"):
            self.usage = _usage(read["usage"])
        choice = _first_choice(read)
        if choice is None:
            return
        if choice.get("finish_reason"):
            self.finish = _text(choice["finish_reason"])
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return
        pieces = cast("Json", delta)
        if said := _content(pieces.get("content")) or _content(pieces.get("refusal")):
            self.text.append(said)
        for piece in _call_pieces(pieces):
            self._add_piece(piece)

    def _add_piece(self, piece: Json) -> None:
        function = _function(piece)
        call_id, name = _text(piece.get("id")), _text(function.get("name"))
        self._slot(piece.get("index"), call_id, name).add(call_id, name, _argument_text(function))

    def _slot(self, index: object, call_id: str, name: str) -> _Slot:
        """The call that a piece belongs to: by index where it can be, else by id, else the one last begun."""
        if isinstance(index, int):
            slot = self.by_index.get(index)
            if slot is None:
                slot = self.by_index[index] = self._begin()
            elif not slot.takes(call_id, name):  # one index for all
                slot = self.by_index[index] = self._known(call_id) or self._begin()
            return slot
        known = self._known(call_id)
        if known is not None and known.takes(call_id, name):
            return known
        if self.slots and self.slots[-1].takes(call_id, name):
            return self.slots[-1]
        return self._begin()

    def _known(self, call_id: str) -> _Slot | None:
        return next((slot for slot in self.slots if call_id and slot.call_id == call_id), None)

    def _begin(self) -> _Slot:
        self.slots.append(_Slot())
        return self.slots[-1]

    def reply(self, model: str) -> ModelReply:
        """The whole reply.

        Raises CutReply if no chunk said that it was the last, since what came may be half of it; BadReply if none came.
        """
        if not self.begun:
            raise BadReply("the stream holds nothing")
        if self.finish is None:
            raise CutReply("the stream ended before the reply did")
        calls = tuple(ToolCall(slot.call_id, slot.name, slot.arguments) for slot in self.slots)
        finish = _finish(self.finish, has_calls=bool(calls))
        return ModelReply(AssistantMessage(_said("".join(self.text)), calls), finish, self.usage, self.model or model)


def _call_pieces(message: Json) -> Sequence[Json]:
    """The calls, or pieces of them, in a message or delta; also the one in the field that there was before there were
    several."""
    pieces = _objects(message.get("tool_calls"))
    return pieces or ([{"function": message["function_call"]}] if message.get("function_call") else ())


def _said(text: str | None) -> str | None:
    """The text without the thoughts in it. Reasoning that comes in a field of its own is not read at all."""
    return (without_thoughts(text) or None) if text else None


def _finish(reason: object, *, has_calls: bool) -> Finish:
    """Ours for theirs. A reply that has calls is one that calls, unless it was cut or filtered. Raises BadReply."""
    said = _text(reason).lower()
    if said in _BROKEN:
        raise BadReply("it ended by an error of the server")
    finish = _FINISHES.get(said, "stop")
    return "tool_calls" if has_calls and finish == "stop" else finish


def _usage(usage: object) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    counts = cast("Json", usage)
    return Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _content(content: object) -> str | None:
    """Text, also where it comes as a list of parts."""
    if isinstance(content, str):
        return content or None
    spoken = [part for part in _objects(content) if _text(part.get("type")) in _TEXT_PARTS]
    return "".join(_text(part.get("text")) for part in spoken) or None


def _argument_text(function: Json) -> str:
    """The arguments as text; some servers send the object itself."""
    arguments = function.get("arguments")
    if isinstance(arguments, dict | list):
        return json.dumps(arguments, ensure_ascii=False)
    return _text(arguments)


def _is_complete(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def _first_choice(body: Json) -> Json | None:
    return next(iter(_objects(body.get("choices"))), None)


def _function(call: Json) -> Json:
    function = call.get("function")
    return cast("Json", function) if isinstance(function, Mapping) else {}


def _objects(value: object) -> Sequence[Json]:
    if not isinstance(value, list):
        return ()
    return [cast("Json", each) for each in cast("list[object]", value) if isinstance(each, Mapping)]


def _object(value: object, what: str) -> Json:
    if not isinstance(value, Mapping):
        raise BadReply(f"{what} is no JSON object")
    return cast("Json", value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
