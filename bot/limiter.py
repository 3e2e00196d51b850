"""Rate limits on what people may ask: a member, a place and a space, in one fixed window.

Redis counts for all processes; while it is away, this process counts for itself. The limits hold back turns, never the
journal, and are told once a window.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Final, Literal

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.metrics import HELD_BACK, REDIS_ERRORS
from memory.ids import PlaceId, SpaceId, UserId

log = structlog.get_logger(__name__)

DEADLINE_S: Final = 0.25
PAUSE_S: Final = 5.0
MOST_LOCAL: Final = 50_000

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
        self._local: dict[str, int] = {}
        self._local_window = 0
        self._paused_until = 0.0

    async def admit(self, space_id: SpaceId, place_id: PlaceId, member_id: UserId) -> Verdict:
        """Count one more turn of this member, and say whether it may go on."""
        window = int(time.time() // self._rates.window_s)
        limits = {
            "member": (f"{window}:m:{space_id}:{member_id}", self._rates.member),
            "place": (f"{window}:p:{place_id}", self._rates.place),
            "space": (f"{window}:s:{space_id}", self._rates.space),
        }
        counts = await self._count(window, [key for key, _ in limits.values()])
        over = [name for (name, (_, most)), count in zip(limits.items(), counts, strict=True) if count > most]
        if not over:
            return "go"
        HELD_BACK.labels(over[0]).inc()
        told = await self._count(window, [f"{window}:told:{place_id}:{member_id if over[0] == 'member' else over[0]}"])
        return "tell" if told[0] == 1 else "hold"

    @property
    def window_s(self) -> float:
        """Seconds of the window."""
        return self._rates.window_s

    async def _count(self, window: int, keys: list[str]) -> list[int]:
        if self._redis is not None and time.monotonic() >= self._paused_until:
            try:
                async with asyncio.timeout(DEADLINE_S):
                    pipeline = self._redis.pipeline(transaction=False)
                    for key in keys:
                        pipeline.incr(self._prefix + key)
                        pipeline.expire(self._prefix + key, int(self._rates.window_s) + 1)
                    return [int(count) for count in (await pipeline.execute())[::2]]
            except (RedisError, OSError) as error:
                REDIS_ERRORS.inc()
                self._paused_until = time.monotonic() + PAUSE_S
                log.warning("redis.away", error=f"{type(error).__name__}: {error}", retry_in_s=PAUSE_S)
        if window != self._local_window or len(self._local) > MOST_LOCAL:
            self._local.clear()
            self._local_window = window
        for key in keys:
            self._local[key] = self._local.get(key, 0) + 1
        return [self._local[key] for key in keys]
