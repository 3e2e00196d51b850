"""The sandbox's own time and the ids made from it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

DISCORD_EPOCH_MS: Final = 1_420_070_400_000


class Clock:
    """Wall time that a test can push forward.

    Nonce windows, rate-limit windows, snowflakes, timestamps and signed addresses read it; stalls and
    heartbeats do not, because the client on the other end of the socket lives in real time.
    """

    __slots__ = ("_listeners", "_now", "_offset")

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._offset = 0.0
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return self._now() + self._offset

    def advance(self, seconds: float) -> None:
        """Jump forward. Raises ValueError for a jump back: ids would no longer rise."""
        if seconds < 0:
            raise ValueError("the sandbox clock only goes forward")
        self._offset += seconds
        for listener in self._listeners:
            listener()

    def on_advance(self, listener: Callable[[], None]) -> None:
        """Call something after each jump, because what was due in between is due now."""
        self._listeners.append(listener)


def iso(seconds: float) -> str:
    """A timestamp as Discord writes it: microseconds and an explicit UTC offset."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


class Snowflakes:
    """Strictly rising ids whose upper 42 bits are the sandbox's milliseconds since 2015."""

    __slots__ = ("_clock", "_last")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> int:
        floor = (int(self._clock.now() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last = max(floor, self._last + 1)
        return self._last

    def next_millisecond(self) -> int:
        """An id in a millisecond of its own. Guild ids need it: the shard is ``id >> 22 % shards``."""
        floor = (int(self._clock.now() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last = max(floor, ((self._last >> 22) + 1) << 22)
        return self._last


def created_at(snowflake: int) -> float:
    """Seconds since 1970 at which an id was made."""
    return ((snowflake >> 22) + DISCORD_EPOCH_MS) / 1000


def looks_like_snowflake(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= len(text) <= 20 and int(text) < 1 << 63
