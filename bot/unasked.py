"""Speaking unasked: what the model is asked, and what of its answer is said.

Silence is the usual answer. It is told by a field of a JSON object and never by a word, so that nothing that a model
writes instead of an answer is ever shown.
"""

from typing import Final, cast

import orjson

MOST_CHARS: Final = 600
"""Nobody asked, so it is short."""

REQUEST: Final = """\
Nobody has asked you anything. You may listen to this place and, seldom, say something unasked. The last message is \
quoted below. Say something only if you know, from what you see here or remember, what it asks for, and are sure \
of it; never to comment, to agree, to greet, or to ask back. In doubt stay silent.
Reply with one JSON object and nothing else: {"speak": false} to stay silent, or {"speak": true, "text": "..."} with \
one or two sentences in the language of that message."""


def spoken(text: str | None) -> str | None:
    """What is to be said; None for silence, which anything is that is not the object asked for."""
    if not text:
        return None
    try:
        found: object = orjson.loads(_unfenced(text))
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    said = cast("dict[str, object]", found)
    words = said.get("text")
    if said.get("speak") is not True or not isinstance(words, str) or not words.strip():
        return None
    return words.strip() if len(words) <= MOST_CHARS else None


def _unfenced(text: str) -> str:
    """Without the fence that small models put around JSON."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        return text[3:-3].removeprefix("json").strip()
    return text
