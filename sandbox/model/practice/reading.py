"""What Muninn asks of the model beside answering: memories out of a conversation as strict JSON, and its summary."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.model.fields import Json
from sandbox.model.practice.matters import matter_of, states_something
from sandbox.model.practice.wording import short
from sandbox.model.request import ChatRequest
from sandbox.model.turn import Completion, say, say_json

EXTRACTION = "memory_extraction"
_LONGEST_MEMORY = 300
_LONGEST_SUMMARY = 2_000
_NOT_PEOPLE = frozenset({"assistant", "bot", "system"})


def extract(request: ChatRequest) -> Completion:
    """What people plainly say of themselves, each in their own words, resting on the message in which they say it."""
    asked = request.messages[-1].json
    memories: list[Json] = []
    for message in _rows(asked, "messages"):
        by, text, message_id = (str(message.get(name) or "") for name in ("by", "text", "id"))
        if by in _NOT_PEOPLE or not states_something(text):
            continue
        matter = matter_of(text)
        memories.append(
            {
                "ref": f"m{len(memories) + 1}",
                "scope": "user",
                "user": by,
                "kind": matter.kind,
                "key": matter.key,
                "content": short(f"{message.get('name')}: {text}", _LONGEST_MEMORY),
                "importance": 0.5,
                "confidence": 0.8,
                "evidence": [message_id],
                "expires": None,
            }
        )
    return say_json({"memories": memories, "relations": []})


def is_summary(request: ChatRequest) -> bool:
    """Whether a place's running summary is asked for, rather than an answer to somebody."""
    asked = request.messages[-1].json
    return isinstance(asked, dict) and set(asked) == {"summary", "messages"}


def sum_up(request: ChatRequest) -> Completion:
    """The summary so far and what was said since, shortened, the newest kept."""
    asked = request.messages[-1].json
    before = asked.get("summary") if isinstance(asked, dict) else ""
    said = [
        f"{message.get('name')}: {short(str(message.get('text') or ''), 120)}"
        for message in _rows(asked, "messages")
        if message.get("by") != "assistant"
    ]
    whole = "\n".join([*([before] if isinstance(before, str) and before else []), *said])
    return say(whole[-_LONGEST_SUMMARY:] or "Nothing of note was said.")


def _rows(value: Json, name: str) -> list[Mapping[str, Json]]:
    found = value.get(name) if isinstance(value, dict) else None
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
