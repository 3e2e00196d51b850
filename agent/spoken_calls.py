"""Tool calls that arrive as text in the content, as small models on servers of one's own often write them.

Strict on purpose: a text is calls only if it is nothing else. Tags that no prose has stand for themselves; plain JSON,
fenced or bare, must name a tool that was offered. What is malformed is passed on as it is: it is never run, and the
model is told. Nothing here decides whether a call may run.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from agent.arguments import MalformedArguments, parse_arguments
from agent.contracts import AssistantMessage, ModelReply, ToolCall

_TAGGED = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]{1,64})>(.*?)</function>", re.DOTALL)
_LISTED = re.compile(r"\[TOOL_CALLS\]\s*(\[.*\])", re.DOTALL)
_FENCED = re.compile(r"```(?:json|tool_calls?|tool_code)?[ \t]*\n(.*?)\n?```", re.DOTALL)
OPENINGS = ("<tool_call>", "<function=", "[TOOL_CALLS]")
_NAME = re.compile(r'"name"\s*:\s*"([\w.-]{1,64})"')
_ARGUMENTS = ("arguments", "parameters")


def recognised(reply: ModelReply, offered: Collection[str]) -> ModelReply:
    """The same reply, its text read as calls if that is what it is. `offered`: the names of the request's tools."""
    text = reply.message.text
    if text is None or reply.message.calls:
        return reply
    calls = _calls(text.strip(), offered)
    if not calls and reply.finish == "length" and text.strip().startswith(OPENINGS):
        calls = [_malformed(text.strip())]
    if not calls:
        return reply
    finish = "tool_calls" if reply.finish == "stop" else reply.finish
    return replace(reply, message=AssistantMessage(None, tuple(calls)), finish=finish)


def _calls(text: str, offered: Collection[str]) -> Sequence[ToolCall]:
    if pieces := _nothing_but(_TAGGED, text):
        return [_from_object(piece[0]) or _malformed(piece[0]) for piece in pieces]
    if pieces := _nothing_but(_FUNCTION, text):
        return [ToolCall("", piece[0], piece[1].strip()) for piece in pieces]
    if listed := _LISTED.fullmatch(text):
        return _from_list(listed[1]) or [_malformed(listed[1])]
    fenced = _FENCED.fullmatch(text)
    plain = fenced[1].strip() if fenced else text
    single = _from_object(plain)
    found = [single] if single else _from_list(plain)
    return found if all(each.tool in offered for each in found) else ()


def _nothing_but(pattern: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    """The groups of each match, if the matches and white space make up the whole text."""
    matches = list(pattern.finditer(text))
    return [match.groups() for match in matches] if not pattern.sub("", text).strip() else []


def _from_object(text: str) -> ToolCall | None:
    try:
        return _call(parse_arguments(text.strip()))
    except MalformedArguments:
        return None


def _from_list(text: str) -> list[ToolCall]:
    """The calls of a JSON list of nothing but calls; none otherwise."""
    if not text.startswith("["):
        return []
    try:
        listed = parse_arguments(f'{{"calls":{text}}}')["calls"]
    except MalformedArguments:
        return []
    items = cast("list[object]", listed) if isinstance(listed, list) else []
    calls = [_call(cast("dict[str, object]", item)) for item in items if isinstance(item, dict)]
    found = [each for each in calls if each is not None]
    return found if len(found) == len(items) else []


def _call(said: dict[str, object]) -> ToolCall | None:
    """`{"name", "arguments"}`, also as `{"type": "function", "function": {...}}`, and nothing beside it but an id."""
    inner = said.get("function")
    if isinstance(inner, dict) and said.keys() <= {"type", "function", "id"}:
        return _call(cast("dict[str, object]", inner))
    name = said.get("name")
    key = next((each for each in _ARGUMENTS if each in said), None)
    if not isinstance(name, str) or key is None or not said.keys() <= {"name", key, "id", "type"}:
        return None
    arguments = said[key]
    if isinstance(arguments, str):
        return ToolCall("", name, arguments)
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False)) if isinstance(arguments, dict) else None


def _malformed(text: str) -> ToolCall:
    """A call of which no more is known than that one was meant. The mark keeps anybody from reading arguments in it."""
    named = _NAME.search(text)
    return ToolCall("", named[1] if named else "", f"\N{REPLACEMENT CHARACTER}{text}")
