"""Rate limits on what people may ask: a member, a place and a space, in one fixed window.

Redis counts for all processes; while it is away, this process counts for itself. The limits hold back turns, never the
journal, and are told once a window. Messages are counted, by their ids, in the order in which they were first seen: to
look at one again, after a failure or in another process, changes nothing and gives the same verdict.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.metrics import HELD_BACK, REDIS_ERRORS
from memory.ids import MessageId, PlaceId, SpaceId, UserId

log = structlog.get_logger(__name__)

DEADLINE_S: Final = 0.25
PAUSE_S: Final = 5.0
MOST_LOCAL: Final = 50_000

# Put a message (its id and the time, a microsecond later than the one before it) under each key, where it keeps its
# place, and tell the places.
_PLACES: Final = """
local places = {}
for n, key in ipairs(KEYS) do
    redis.call('ZADD', key, 'NX', ARGV[1] + n * 1e-6, ARGV[n + 2])
    places[n] = redis.call('ZRANK', key, ARGV[n + 2])
    redis.call('EXPIRE', key, ARGV[2])
end
return places
"""

Verdict = Literal["go", "tell", "hold"]
"""Go on; hold it back and say so; hold it back in silence, for it was said in this window."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A message that asks for a turn of its author's in its place."""

    space_id: SpaceId
    place_id: PlaceId
    member_id: UserId
    message_id: MessageId


@dataclass(frozen=True, slots=True)
class Rates:
    """How many turns a window of `window_s` seconds takes."""

    member: int
    place: int
    space: int
    window_s: float


class Limiter:
    """Counts turns. `prefix` keeps one application's counters apart from another's."""

    def __init__(self, redis: Redis | None, prefix: str, rates: Rates) -> None:
        self._redis = redis
        self._prefix = prefix
        self._rates = rates
        self._local: dict[str, dict[int, int]] = {}
        self._local_size = 0
        self._local_window = 0
        self._paused_until = 0.0

    async def admit(self, wishes: Sequence[Wish]) -> list[Verdict]:
        """Count each message, in this order, as a turn of its author's, and say whether it may go on."""
        window = int(time.time() // self._rates.window_s)
        limits = [self._limits(window, wish) for wish in wishes]
        given = [(key, wish.message_id) for wish, own in zip(wishes, limits, strict=True) for _, key, _ in own]
        before = iter(await self._places(window, given))
        over = [[name for name, _, most in own if next(before) >= most] for own in limits]
        telling = [
            (f"{window}:told:{wish.place_id}:{wish.member_id if names[0] == 'member' else names[0]}", wish.message_id)
            for wish, names in zip(wishes, over, strict=True)
            if names
        ]
        for names in filter(None, over):
            HELD_BACK.labels(names[0]).inc()
        told = iter(await self._places(window, telling))
        return ["go" if not names else "tell" if next(told) == 0 else "hold" for names in over]

    def _limits(self, window: int, wish: Wish) -> tuple[tuple[str, str, int], ...]:
        """What bounds a wish: by what, its counter, and how many it takes."""
        return (
            ("member", f"{window}:m:{wish.space_id}:{wish.member_id}", self._rates.member),
            ("place", f"{window}:p:{wish.place_id}", self._rates.place),
            ("space", f"{window}:s:{wish.space_id}", self._rates.space),
        )

    @property
    def window_s(self) -> float:
        """Seconds of the window."""
        return self._rates.window_s

    async def _places(self, window: int, given: Sequence[tuple[str, MessageId]]) -> list[int]:
        """How many messages came before this one under its key, for each. It is put there if it is new."""
        if not given:
            return []
        if self._redis is not None and time.monotonic() >= self._paused_until:
            try:
                async with asyncio.timeout(DEADLINE_S):
                    keys = [self._prefix + key for key, _ in given]
                    keep_s = int(self._rates.window_s) + 1
                    messages = [message_id for _, message_id in given]
                    answer = await self._redis.eval(_PLACES, len(keys), *keys, time.time(), keep_s, *messages)
                    return [int(place) for place in cast("list[int]", answer)]
            except (RedisError, OSError) as error:
                REDIS_ERRORS.inc()
                self._paused_until = time.monotonic() + PAUSE_S
                log.warning("redis.away", error=f"{type(error).__name__}: {error}", retry_in_s=PAUSE_S)
        if window != self._local_window or self._local_size > MOST_LOCAL:
            self._local.clear()
            self._local_window, self._local_size = window, 0
        places: list[int] = []
        for key, message_id in given:
            known = self._local.setdefault(key, {})
            self._local_size += message_id not in known
            places.append(known.setdefault(message_id, len(known)))
        return places
