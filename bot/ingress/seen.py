"""What Redis knows to be committed: read before the journal, written after it (I2).

A hit saves work. A miss, an error or a slow answer proves nothing and costs only that work.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import structlog
from redis.asyncio import Redis

from bot.metrics import REDIS_ERRORS, REDIS_UP
from memory.database import Db

log = structlog.get_logger(__name__)

KEEP_S: Final = 3600
"""At least so long is known what was committed, in seconds."""

STRETCH_S: Final = 600
"""What is committed within so many seconds is noted in one set, which goes as a whole."""

# One command with one argument for a group: packing many costs more than journalling the group does. No event key holds
# U+0000, for PostgreSQL could not hold it. The sets are not declared to Redis, which only a cluster would ask for.
_KNOWN: Final = """
local known = {}
for key in string.gmatch(ARGV[1], '[^%z]+') do
    for n = 2, #ARGV do
        if redis.call('SISMEMBER', ARGV[n], key) == 1 then
            known[#known + 1] = key
            break
        end
    end
end
return known
"""
_NOTE: Final = """
local keys = {}
for key in string.gmatch(ARGV[2], '[^%z]+') do keys[#keys + 1] = key end
redis.call('SADD', ARGV[1], unpack(keys))
redis.call('EXPIRE', ARGV[1], ARGV[3])
"""
_BETWEEN: Final = "\0"
_AT_ONCE: Final = 512

NOTE_AFTER_S: Final = 0.05
"""So long after a commit Redis is told of it, in seconds, with all that was committed by then."""

DEADLINE_S: Final = 0.25
PAUSE_S: Final = 5.0


# Which database this is, in which life of its server: a Redis that outlives it, or serves several, must not vouch for
# another one's commits, nor for those of a database that was put back to an earlier state. Only a server that is down
# can be put back, and only a standby that is promoted may lack what the primary had; both begin a new life.
LEDGER_NAME_SQL: Final = """
SELECT concat_ws('.', system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()),
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint)
FROM pg_control_system()
"""


async def ledger_name(db: Db) -> str:
    """A name that no other database has, also not a copy of it that is restored elsewhere or in its place."""
    return str(await db.fetchval(LEDGER_NAME_SQL))


@dataclass(slots=True)
class Ledger:
    """The name of the database to which this process is connected. Each new connection tells it anew."""

    name: str = ""


class Seen:
    """Remembers event keys for an hour. After an error Redis is left alone for five seconds."""

    def __init__(self, redis: Redis | None, prefix: str, ledger: Ledger | None = None) -> None:
        self._redis = redis
        self._before = prefix
        self._ledger = ledger or Ledger()
        self._doubters: set[object] = set()
        self._paused_until = 0.0
        # Committed, and not told to Redis yet, by the set that it belongs to: that of the ledger that holds it.
        self._unnoted: dict[str, list[str]] = {}
        self._noted = asyncio.Event()

    def stretch(self, ago: int = 0) -> str:
        """The name of the set of what is committed now, into the database that this process is connected to; or of the
        one before it, or before that."""
        return f"{self._before}{self._ledger.name}:{int(time.time() // STRETCH_S) - ago}"

    def doubt(self, who: object) -> None:
        """PostgreSQL is away from `who`: what was committed may be gone when it comes back, so nothing is vouched
        for."""
        self._doubters.add(who)

    def trust(self, who: object) -> None:
        """PostgreSQL takes commits of `who`, by a connection that has told which ledger it writes into."""
        self._doubters.discard(who)

    async def known(self, keys: Sequence[str]) -> frozenset[str]:
        """Which of `keys` are known to be committed."""
        if self._redis is None or self._doubters or time.monotonic() < self._paused_until:
            return frozenset()
        sets = [self.stretch(ago) for ago in range(KEEP_S // STRETCH_S + 1)]
        try:
            async with asyncio.timeout(DEADLINE_S):
                answer = await self._redis.eval(_KNOWN, 0, _BETWEEN.join(keys), *sets)
            known = {key.decode() for key in cast("list[bytes]", answer)}
        except Exception as error:  # whatever is wrong with Redis, the journal goes on
            self._pause(error)
            return frozenset()
        REDIS_UP.set(1)
        return frozenset(key for key in keys if key in known) if known else frozenset()

    def note(self, keys: Sequence[str], stretch: str) -> None:
        """Remember that `keys` are committed, in the set that was `stretch` at that moment: `run` tells Redis soon."""
        if self._redis is not None and time.monotonic() >= self._paused_until:
            self._unnoted.setdefault(stretch, []).extend(keys)
            self._noted.set()

    async def run(self) -> None:
        """Tell Redis what is noted, for ever."""
        while True:
            await self._noted.wait()
            await asyncio.sleep(NOTE_AFTER_S)
            self._noted.clear()
            await self.flush()

    async def flush(self) -> None:
        """Tell Redis what is noted, now."""
        unnoted, self._unnoted = self._unnoted, {}
        if self._redis is None:
            return
        try:
            for stretch, keys in unnoted.items():
                for at in range(0, len(keys), _AT_ONCE):
                    async with asyncio.timeout(DEADLINE_S):
                        told = _BETWEEN.join(keys[at : at + _AT_ONCE])
                        await self._redis.eval(_NOTE, 0, stretch, told, str(KEEP_S))
        except Exception as error:
            self._pause(error)
        else:
            REDIS_UP.set(1)

    def _pause(self, error: Exception) -> None:
        REDIS_ERRORS.inc()
        REDIS_UP.set(0)
        log.warning("redis.away", error=f"{type(error).__name__}: {error}", retry_in_s=PAUSE_S)
        self._paused_until = time.monotonic() + PAUSE_S
