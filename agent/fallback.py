"""Another model for when the first one cannot be had. Who replied is in the reply, and so in the run's step."""

import time
from collections.abc import Sequence
from dataclasses import replace

import structlog

from agent.contracts import Message, ModelReply, ToolSpec
from agent.errors import ModelFault, ModelRefused, ModelUnavailable
from agent.ports import Clock, Listener, SpeakingModel
from agent.tokens import of_message, of_tools

_OF_THE_ENDPOINT = frozenset({"unauthorized", "quota", "no_such_model"})
"""Refusals that say nothing about the request: another endpoint, or another model, may well take it."""

_log = structlog.get_logger(__name__)


class Fallback:
    """An agent.ports.Model over two. One instance serves any number of runs at once.

    share   the part of the time for a reply that the first may use up, so that some is left for the second
    rest_s  seconds for which a first that failed is not asked again, while the second replies
    room    tokens that a request to the second may have; None: as many as one to the first. Some servers cut off the
            beginning of a longer one without a word, so that it is refused here
    """

    def __init__(
        self,
        first: SpeakingModel,
        second: SpeakingModel,
        *,
        share: float = 0.6,
        rest_s: float = 30.0,
        room: int | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._first = first
        self._second = second
        self._share = share
        self._rest_s = rest_s
        self._room = room
        self._clock = clock
        self._rests_until = float("-inf")

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        within_s: float,
        listener: Listener | None = None,
    ) -> ModelReply:
        """The first one's reply or, where it cannot be had, the second one's. Raises the last one's fault."""
        ends = self._clock() + within_s
        rested = self._clock() < self._rests_until
        if not rested:
            try:
                return await self._first.complete(messages, tools, within_s=within_s * self._share, listener=listener)
            except ModelFault as fault:
                if not _is_outage(fault):
                    raise
                self._rests_until = self._clock() + self._rest_s
                _log.warning("model_fell_back", code=fault.code, error=fault.message)
        try:
            self._require_room(messages, tools)
            reply = await self._second.complete(
                messages, tools, within_s=max(ends - self._clock(), 0.001), listener=listener
            )
        except ModelFault as fault:
            if not rested or not _is_outage(fault):
                raise
            # The one that rests may be there again, and is all there is now.
            self._rests_until = float("-inf")
            return await self._first.complete(
                messages, tools, within_s=max(ends - self._clock(), 0.001), listener=listener
            )
        return replace(reply, fallback=True)

    def _require_room(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        if self._room is not None and sum(map(of_message, messages)) + of_tools(tools) > self._room:
            raise ModelRefused("too_long", "The request is too long for the fallback model.", room=self._room)


def _is_outage(fault: ModelFault) -> bool:
    return isinstance(fault, ModelUnavailable) or fault.code in _OF_THE_ENDPOINT
