"""How many tokens a text is: estimated by its bytes and scripts, and corrected by what providers count.

A tokenizer would have to be fetched for each model, and those of many models are not public. The estimate errs on the
high side, and one factor a model, learned from the usage that comes with each reply, brings it near.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agent.contracts import AssistantMessage, Message, ToolMessage, ToolSpec

MESSAGE_TOKENS: Final = 5
"""What the frame of a message costs."""

CALL_TOKENS: Final = 10
"""What the frame of a call costs."""

_ASCII_CHARS: Final = 3.4  # in a token: English prose has over 4, JSON, ids and code under 3
_TWO_BYTE_CHARS: Final = 2.0  # Cyrillic, Greek, Arabic, Hebrew, accented Latin
_THREE_BYTE_TOKENS: Final = 1.1  # a character of Chinese, Japanese, Korean or of Indic scripts
_FOUR_BYTE_TOKENS: Final = 2.5  # an emoji

_LEAST_FACTOR: Final = 0.5
_MOST_FACTOR: Final = 4.0
_FALL: Final = 0.2
_LEAST_LEARNED: Final = 200  # shorter prompts say more about frames than about words
_MOST_MODELS: Final = 32
_MOST_TOOLS: Final = 512
_tools: dict[tuple[str, str, int], int] = {}


def estimate(text: str) -> int:
    """Tokens of `text`, at least 1."""
    ascii_chars = len(text.encode("ascii", "ignore"))
    if ascii_chars == len(text):
        return int(ascii_chars / _ASCII_CHARS) + 1
    whole = len(text.encode("utf-8", "replace"))
    four_byte = len(text.encode("utf-16-le", "replace")) // 2 - len(text)
    wide = len(text) - ascii_chars - four_byte
    three_byte = max(whole - ascii_chars - 4 * four_byte - 2 * wide, 0)
    two_byte = wide - three_byte
    return 1 + int(
        ascii_chars / _ASCII_CHARS
        + two_byte / _TWO_BYTE_CHARS
        + three_byte * _THREE_BYTE_TOKENS
        + four_byte * _FOUR_BYTE_TOKENS
    )


def of_message(message: Message) -> int:
    """Tokens of one message of a request."""
    if isinstance(message, ToolMessage):
        return MESSAGE_TOKENS + estimate(message.content) + estimate(message.call_id)
    if isinstance(message, AssistantMessage):
        spoken = 0 if message.text is None else estimate(message.text)
        return MESSAGE_TOKENS + spoken + sum(CALL_TOKENS + estimate(f"{e.tool}{e.arguments}") for e in message.calls)
    return MESSAGE_TOKENS + estimate(message.text)


def of_tools(specs: Sequence[ToolSpec]) -> int:
    """Tokens of the tools that a request offers."""
    return sum(map(_of_tool, specs))


def _of_tool(spec: ToolSpec) -> int:
    """Kept by the identity of the schema, since every request offers the same few tools. A schema that was dropped,
    and whose place another took, is estimated a little wrong."""
    key = (spec.name, spec.description, id(spec.parameters))
    known = _tools.get(key)
    if known is None:
        if len(_tools) >= _MOST_TOOLS:
            _tools.clear()
        written = f"{spec.name}{spec.description}{json.dumps(dict(spec.parameters))}"
        known = _tools[key] = CALL_TOKENS + estimate(written)
    return known


@dataclass(slots=True)
class Gauge:
    """What one of our estimated tokens is in the provider's, by model. One for the process: every run teaches it.

    A factor rises at once, since too high an estimate costs little, and falls slowly.
    """

    factors: dict[str, float] = field(default_factory=dict[str, float])
    newest: str = ""

    @property
    def factor(self) -> float:
        """That of the model that replied last; 1 before any has."""
        return self.factors.get(self.newest, 1.0)

    def learn(self, model: str, *, estimated: int, counted: int) -> None:
        """Take in that `model` counted so many prompt tokens where `estimated` were expected; 0 says nothing."""
        if counted <= 0 or estimated < _LEAST_LEARNED:
            return
        seen = min(max(counted / estimated, _LEAST_FACTOR), _MOST_FACTOR)
        known = self.factors.get(model)
        if known is None and len(self.factors) >= _MOST_MODELS:
            self.factors.clear()
        self.factors[model] = seen if known is None or seen > known else known + _FALL * (seen - known)
        self.newest = model
