"""Rate limits on what people may ask: a member, a place and a space, in one fixed window.

Redis counts for all processes; while it is away, this process counts for itself. The limits hold back turns, never the
journal, and are told once a window. Messages are counted, by their ids, in the order in which they were first seen: to
look at one again, after a failure or in another process, changes nothing and gives the same verdict.
"""

import asyncio
import time
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

# Put a message (its id and the time) under each key, where it keeps its place, and tell the places.
_PLACES: Final = """
local places = {}
for n, key in ipairs(KEYS) do
    redis.call('ZADD', key, 'NX', ARGV[2], ARGV[1])
    places[n] = redis.call('ZRANK', key, ARGV[1])
    redis.call('EXPIRE', key, ARGV[3])
end
return places
"""

Verdict = Literal["go", "tell", "hold"]
"""Go on; hold it back and say so; hold it back in silence, for it was said in this window."""


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

    async def admit(self, space_id: SpaceId, place_id: PlaceId, member_id: UserId, message_id: MessageId) -> Verdict:
        """Count the message as a turn of this member, and say whether it may go on."""
        window = int(time.time() // self._rates.window_s)
        limits = {
            "member": (f"{window}:m:{space_id}:{member_id}", self._rates.member),
            "place": (f"{window}:p:{place_id}", self._rates.place),
            "space": (f"{window}:s:{space_id}", self._rates.space),
        }
        places = await self._places(window, [key for key, _ in limits.values()], message_id)
        over = [name for (name, (_, most)), before in zip(limits.items(), places, strict=True) if before >= most]
        if not over:
            return "go"
        HELD_BACK.labels(over[0]).inc()
        told = f"{window}:told:{place_id}:{member_id if over[0] == 'member' else over[0]}"
        return "tell" if await self._places(window, [told], message_id) == [0] else "hold"

    @property
    def window_s(self) -> float:
        """Seconds of the window."""
        return self._rates.window_s

    async def _places(self, window: int, keys: list[str], message_id: MessageId) -> list[int]:
        """How many messages came before this one under each key. It is put there if it is new."""
        if self._redis is not None and time.monotonic() >= self._paused_until:
            try:
                async with asyncio.timeout(DEADLINE_S):
                    named = [self._prefix + key for key in keys]
                    keep_s = int(self._rates.window_s) + 1
                    answer = await self._redis.eval(_PLACES, len(named), *named, message_id, time.time(), keep_s)
                    return [int(place) for place in cast("list[int]", answer)]
            except (RedisError, OSError) as error:
                REDIS_ERRORS.inc()
                self._paused_until = time.monotonic() + PAUSE_S
                log.warning("redis.away", error=f"{type(error).__name__}: {error}", retry_in_s=PAUSE_S)
        if window != self._local_window or self._local_size > MOST_LOCAL:
            self._local.clear()
            self._local_window, self._local_size = window, 0
        places: list[int] = []
        for key in keys:
            known = self._local.setdefault(key, {})
            self._local_size += message_id not in known
            places.append(known.setdefault(message_id, len(known)))
        return places
