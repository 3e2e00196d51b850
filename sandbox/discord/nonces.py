"""The window in which a nonce makes a post happen once.

Source: https://discord.com/developers/docs/resources/message#create-message, ``enforce_nonce``: "checked for
uniqueness in the past few minutes"; how many minutes is not promised, so it is a setting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .clock import Clock
    from .messages import Message


class Nonces:
    """Remembers who posted what where with which nonce, for ``window`` seconds on the sandbox's clock."""

    __slots__ = ("_clock", "_seen", "window")

    def __init__(self, clock: Clock, window: float) -> None:
        self._clock = clock
        self._seen: dict[tuple[int, int, str], tuple[float, Message]] = {}
        self.window = window

    def remember(self, message: Message) -> None:
        now = self._clock.now()
        if len(self._seen) > 10_000:
            self._seen = {key: entry for key, entry in self._seen.items() if entry[0] > now}
        key = (message.author.id, message.channel.id, str(message.nonce))
        self._seen[key] = (now + self.window, message)

    def find(self, author_id: int, channel_id: int, nonce: str | int) -> Message | None:
        """The message posted with it in the window, deleted or not."""
        entry = self._seen.get((author_id, channel_id, str(nonce)))
        return None if entry is None or entry[0] <= self._clock.now() else entry[1]
