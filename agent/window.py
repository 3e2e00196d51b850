"""Making a transcript fit into the model's window: what is least missed is shortened first.

In this order, and only as far as needed: tool results of earlier steps, oldest first; the oldest blocks of the context;
the results of the newest step. Instructions, the request and what the model said are never touched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.contracts import ContextMessage, Message, PromptMessage, StoredStep
from agent.excerpt import shortened
from agent.tokens import estimate, of_message
from agent.transcript import SHORT_CHARS, build, repaired

_AIM: Final = 0.8
"""What does not fit is shortened a little further than it must be, so that the next step need not change it again: a
prefix that stays the same is what a provider's cache goes by."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The messages of a request, and what they are estimated to cost."""

    messages: list[Message]
    tokens: int


def fitted(prompt: Sequence[PromptMessage], steps: Sequence[StoredStep], room: int, *, last: bool = False) -> Fitted:
    """The next request in at most `room` estimated tokens, or as short as it can be made.

    A pure function of what is given. Where nothing has to be shortened, it is exactly transcript.build().
    """
    whole = build(prompt, steps, last=last)
    tokens = sum(map(of_message, whole))
    if tokens <= room:
        return Fitted(whole, tokens)
    excess = tokens - int(room * _AIM)
    short: set[tuple[int, int]] = set()
    earlier, newest = _results(steps[:-1]), _results(steps[-1:])
    excess = _shorten(earlier, excess, short)
    left_out = 0
    for block in (block for message in prompt if isinstance(message, ContextMessage) for block in message.blocks):
        if excess <= 0:
            break
        excess -= estimate(block)
        left_out += 1
    _shorten(newest, excess, short)
    messages = build(prompt, steps, last=last, left_out=left_out, short=short)
    return Fitted(messages, sum(map(of_message, messages)))


def _results(steps: Sequence[StoredStep]) -> list[tuple[tuple[int, int], str]]:
    """The results in order, each under its name (step, ordinal)."""
    return [
        ((step.step, each.planned.ordinal), "" if each.result is None else each.result.content)
        for step in steps
        for each in repaired(step).calls
    ]


def _shorten(results: Sequence[tuple[tuple[int, int], str]], excess: int, short: set[tuple[int, int]]) -> int:
    """Note in `short` which results to shorten; gives the excess that is left."""
    for name, content in results:
        if excess <= 0:
            break
        saved = estimate(content) - estimate(shortened(content, SHORT_CHARS))
        if saved > 0:
            short.add(name)
            excess -= saved
    return excess
