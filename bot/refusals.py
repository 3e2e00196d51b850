"""How many requests Discord has refused lately, counted by all processes that share a Redis.

Discord bans an address for a while that makes more than 10,000 requests in ten minutes which it refuses by 401, 403 or
429. Long before that nothing is asked any more, whoever asks, until the oldest of them are forgotten. While Redis is
away a process holds to a share of its own, since others may sit at the same address.

Source: https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
"""

import asyncio
import time
from collections import deque
from typing import Final, cast
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.metrics import REDIS_ERRORS

log = structlog.get_logger(__name__)

MOST_OF_ALL: Final = 8_000
"""What is left of Discord's limit is for what is under way, and for programs that are not ours."""

MOST_ALONE: Final = 2_500
"""A quarter of Discord's limit, where a gateway and some workers may sit together and know nothing of each other."""

WITHIN_S: Final = 600.0
DEADLINE_S: Final = 0.25
PAUSE_S: Final = 5.0

KEY: Final = "muninn:refusals"
"""No application's own: Discord counts by address."""

# Note one more, by Redis's own clock; tells how many there were in the last ARGV[2] seconds, and in how many seconds
# the oldest of them is forgotten.
_NOTE: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[2]))
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {redis.call('ZCARD', KEYS[1]), tostring(oldest[2] + ARGV[2] - now)}
"""


class Refusals:
    """Counts them, and says for how long nothing may be asked. Without `redis`: those of this process alone.

    A process learns what the others had with each that it has itself; one that has none makes none too many.
    """

    def __init__(self, redis: Redis | None = None, *, key: str = KEY, most: int = MOST_OF_ALL) -> None:
        self._redis = redis
        self._key = key
        self._most = most
        self._times: deque[float] = deque()
        self._held_until = 0.0
        self._shared = False
        self._paused_until = 0.0

    async def note(self, *, hold_s: float = 0.0) -> None:
        """One more was refused, and for `hold_s` seconds nobody may ask anything. Raises nothing."""
        now = time.monotonic()
        self._times.append(now)
        self._held_until = max(self._held_until, now + hold_s)
        told = await self._told()
        self._shared = told is not None
        if told is not None and told[0] >= self._most:
            self._held_until = max(self._held_until, now + told[1])

    def held_s(self) -> float:
        """Seconds for which nothing may be asked; 0 where there is room."""
        now = time.monotonic()
        if self._held_until > now:
            return self._held_until - now
        while self._times and self._times[0] < now - WITHIN_S:
            self._times.popleft()
        most = self._most if self._shared else MOST_ALONE
        return self._times[0] + WITHIN_S - now if len(self._times) >= most else 0.0

    async def _told(self) -> tuple[int, float] | None:
        """How many all processes had, and when the oldest is forgotten; None where Redis does not say."""
        if self._redis is None or time.monotonic() < self._paused_until:
            return None
        try:
            async with asyncio.timeout(DEADLINE_S):
                answer = await self._redis.eval(_NOTE, 1, self._key, uuid4().hex, str(WITHIN_S))
        except (RedisError, OSError) as error:
            REDIS_ERRORS.inc()
            self._paused_until = time.monotonic() + PAUSE_S
            log.warning("redis.away", error=f"{type(error).__name__}: {error}", retry_in_s=PAUSE_S)
            return None
        many, left = cast("tuple[int, bytes]", answer)
        return int(many), float(left)
