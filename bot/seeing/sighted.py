"""A model that is shown pictures with the request: for one turn of one reply, without tools.

A picture that the model refuses costs no answer: each is left out in turn, then all of them, and the answer says so.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import structlog

from agent.contracts import AssistantMessage, Message, ModelReply, ToolSpec, UserMessage
from agent.errors import ModelRefused
from agent.ports import Model
from bot.seeing.pictures import Picture
from bot.seeing.quotation import label

log = structlog.get_logger(__name__)

REFUSED: Final = "\n\n(My model did not take {}, so I answered without.)"
_OF_THE_REQUEST: Final = frozenset({"bad_request", "too_long"})


class Sighted:
    """An agent.ports.Model that adds `pictures` to the last of what it is asked."""

    def __init__(self, model: Model, pictures: Sequence[Picture]) -> None:
        self._model = model
        self._pictures = tuple(pictures)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, within_s: float) -> ModelReply:
        """As the model's own. Raises what it raises where it refuses the words alone, too."""
        refusal: ModelRefused | None = None
        for shown in _attempts(self._pictures):
            try:
                reply = await self._model.complete(_with(messages, shown), tools, within_s=within_s)
            except ModelRefused as refused:
                if refused.code not in _OF_THE_REQUEST:
                    raise
                log.info("vision.refused", pictures=len(shown), code=refused.code)
                refusal = refused
                continue
            left_out = [each for each in self._pictures if each not in shown]
            return _owned(reply, left_out) if left_out else reply
        assert refusal is not None  # noqa: S101 - there is always an attempt, and it returned or was refused
        raise refusal


def _attempts(pictures: tuple[Picture, ...]) -> list[tuple[Picture, ...]]:
    """All, then each left out in turn, then none."""
    fewer = [tuple(e for e in pictures if e is not out) for out in pictures] if len(pictures) > 1 else []
    return [pictures, *fewer, ()]


def _with(messages: Sequence[Message], shown: Sequence[Picture]) -> list[Message]:
    asked = list(messages)
    for at in range(len(asked) - 1, -1, -1):
        message = asked[at]
        if isinstance(message, UserMessage):
            asked[at] = replace(message, images=tuple(each.url for each in shown))
            break
    return asked


def _owned(reply: ModelReply, left_out: Sequence[Picture]) -> ModelReply:
    """The answer, with what it was made without."""
    names = ", ".join(f'"{label(each.name)}"' for each in left_out)
    text = reply.message.text
    if not text:
        return reply
    return replace(reply, message=AssistantMessage(text + REFUSED.format(names), reply.message.calls))
