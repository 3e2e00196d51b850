"""The messages of a request: read, and refused unless a strict hosted provider would accept them.

Stricter than OpenAI alone, since a transcript has to pass everywhere: arguments in the history must be a JSON object,
and `content` may be null only where an assistant calls tools.
"""

from __future__ import annotations

import base64

from sandbox.model.errors import InvalidRequest
from sandbox.model.fields import Fields, Json, kind, missing, parse, refuse_unknown, unsupported, wrong_type
from sandbox.model.request import Message, Role, ToolCall

_PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
NAME = r"[a-zA-Z0-9_-]+"
LONGEST_NAME = 64
LONGEST_CALL_ID = 40  # OpenAI refuses longer ids in a history, which other providers' ids may be
_ROLES: dict[str, Role] = {
    "system": "system",
    "assistant": "assistant",
    "user": "user",
    "tool": "tool",
    "developer": "developer",
}
_KNOWN: dict[Role, frozenset[str]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "refusal", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


def read_message(value: Json, path: str) -> Message:
    """One message by itself; `check_order` sees how they follow one another."""
    fields = Fields(value, path)
    spoken = fields.need_text("role")
    if spoken not in _ROLES:
        raise unsupported(fields.at("role"), spoken, tuple(_ROLES))
    role = _ROLES[spoken]
    refuse_unknown(fields.value, _KNOWN[role], path)
    calls = fields.items("tool_calls", _read_call, least=1) or ()
    refused = fields.text("refusal")
    if fields.absent("content") and (calls or refused is not None):
        text, images = "", ()
    else:
        text, images = _read_content(fields, role)
    return Message(
        role=role,
        text=text,
        name=fields.text("name", longest=LONGEST_NAME, pattern=r"[^\s<|\\/>]+"),
        tool_calls=calls,
        tool_call_id=fields.need_text("tool_call_id", longest=LONGEST_CALL_ID) if role == "tool" else None,
        images=images,
    )


def check_order(messages: tuple[Message, ...]) -> None:
    """Every tool call is answered by the tool messages right after it, each once, and nothing else is."""
    open_ids: dict[str, int] = {}
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        if message.role == "tool":
            if message.tool_call_id is None or message.tool_call_id not in open_ids:
                raise InvalidRequest(
                    f"Invalid parameter: {path} with role 'tool' must be a response to a preceding message with "
                    f"'tool_calls' that has not been answered yet (tool_call_id '{message.tool_call_id}').",
                    param=f"{path}.role",
                )
            del open_ids[message.tool_call_id]
            continue
        _refuse_open(open_ids, index)
        open_ids = {}
        for call in message.tool_calls:
            if call.id in open_ids:
                raise InvalidRequest(
                    f"Duplicate value for 'tool_call_id' of '{call.id}' in {path}.", param=f"{path}.tool_calls"
                )
            open_ids[call.id] = index
    _refuse_open(open_ids, len(messages))


def _refuse_open(open_ids: dict[str, int], index: int) -> None:
    if open_ids:
        raise InvalidRequest(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}",
            param=f"messages[{index}].role",
        )


def _read_call(value: Json, path: str) -> ToolCall:
    fields = Fields(value, path)
    refuse_unknown(fields.value, frozenset({"id", "type", "function", "index"}), path)
    name = fields.need_text("id", longest=LONGEST_CALL_ID)
    fields.need_text("type")
    fields.choice("type", ("function",))
    function = Fields(fields.need("function"), fields.at("function"))
    refuse_unknown(function.value, frozenset({"name", "arguments"}), function.path)
    function.need("arguments")
    written = function.text("arguments")
    if written is None:
        raise wrong_type(function.at("arguments"), "a string", None)
    try:
        arguments = parse(written.encode())
    except (InvalidRequest, UnicodeEncodeError) as error:
        raise InvalidRequest(
            f"Invalid '{function.at('arguments')}': expected a string that holds a JSON object.",
            param=function.at("arguments"),
            code="invalid_value",
        ) from error
    return ToolCall(name, function.need_text("name", longest=LONGEST_NAME, pattern=NAME), arguments)


def _read_content(fields: Fields, role: Role) -> tuple[str, tuple[str, ...]]:
    path = fields.at("content")
    if "content" not in fields.value:
        raise missing(path)
    content = fields.value["content"]
    if isinstance(content, str):
        return content, ()
    if content is None:
        raise InvalidRequest(
            "Invalid value for 'content': expected a string, got null.", param=path, code="invalid_type"
        )
    if not isinstance(content, list):
        raise wrong_type(path, "a string or an array of objects", content)
    if not content:
        raise InvalidRequest(
            f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param=path,
            code="empty_array",
        )
    texts: list[str] = []
    images: list[str] = []
    for index, part in enumerate(content):
        _read_part(part, f"{path}[{index}]", role, texts, images)
    return "\n".join(texts), tuple(images)


def _checked_image(url: str, path: str) -> str:
    """An address that a server could open, or the picture itself, of a kind that it says and that models take."""
    if url.startswith(("https://", "http://")):
        return url
    head, _, coded = url.partition(";base64,")
    try:
        body = base64.b64decode(coded, validate=True)
    except ValueError:
        body = b""
    kind = next((kind for kind, start in _PICTURES.items() if body.startswith(start)), None)
    if kind is None or head != f"data:{kind}" or (kind == "image/webp" and body[8:12] != b"WEBP"):
        raise InvalidRequest(
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
            "['png', 'jpeg', 'gif', 'webp'].",
            param=path,
            code="image_parse_error",
        )
    return url


def _read_part(part: Json, path: str, role: Role, texts: list[str], images: list[str]) -> None:
    fields = Fields(part, path)
    allowed = ("text", "image_url") if role == "user" else ("text", "refusal") if role == "assistant" else ("text",)
    chosen = fields.need_text("type")
    fields.choice("type", allowed)
    if chosen == "image_url":
        inner = Fields(fields.need("image_url"), fields.at("image_url"))
        refuse_unknown(inner.value, frozenset({"url", "detail"}), inner.path)
        inner.choice("detail", ("auto", "low", "high"))
        images.append(_checked_image(inner.need_text("url"), inner.at("url")))
        return
    value = fields.need(chosen)
    if not isinstance(value, str):
        raise InvalidRequest(
            f"Invalid type for '{fields.at(chosen)}': expected a string, but got {kind(value)} instead.",
            param=fields.at(chosen),
            code="invalid_type",
        )
    texts.append(value)
