"""Echoes: what we said ourselves is journalled from Discord's response, and the gateway then tells it once more.

To the journal the echo is a repetition like any other (I2). It is met so often that it is known here for one, so that
it costs no transaction of its own.
"""

import asyncio
from collections import OrderedDict
from typing import Final

from memory.incoming import Ack, Incoming

MOST: Final = 1_000
"""Messages of ours that are remembered: an echo comes within seconds."""


class Echoes:
    """The newest messages of ours, by their keys, and when they are committed."""

    def __init__(self) -> None:
        self._own: OrderedDict[tuple[int, str], asyncio.Future[Ack]] = OrderedDict()

    def note(self, event: Incoming, committed: "asyncio.Future[Ack]") -> None:
        """Remember an event that we made ourselves."""
        self._own[event.space_id, event.key] = committed
        while len(self._own) > MOST:
            self._own.popitem(last=False)

    def original(self, event: Incoming) -> "asyncio.Future[Ack] | None":
        """When what `event` repeats is committed; None where it repeats nothing of ours that is remembered."""
        return self._own.get((event.space_id, event.key)) if event.source == "gateway" else None
