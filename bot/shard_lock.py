"""One gateway a shard: an advisory lock per (application, shard), held on a connection of its own (I17).

The lock lives as long as its connection. A second process says so and stands by; it is told within a moment when the
first one dies, for PostgreSQL frees the lock with the connection.
"""

import asyncio
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Final

import structlog

from memory.database import Connection, is_passing

log = structlog.get_logger(__name__)

TRY_EVERY_S: Final = 1.0
ALIVE_EVERY_S: Final = 5.0

# Take the lock of this application's shard, if nobody has it.
TAKE_LOCK_SQL: Final = "SELECT pg_try_advisory_lock($1::int, $2::int)"

# Whether the connection that holds the lock still answers.
ALIVE_SQL: Final = "SELECT true"


def lock_key(application_id: int, shard_id: int) -> tuple[int, int]:
    """The two numbers under which PostgreSQL knows the lock."""
    digest = blake2b(str(application_id).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big", signed=True), shard_id


class ShardLock:
    """The lock of one shard. `connect` opens a connection of its own (never one from a pool)."""

    def __init__(self, connect: Callable[[], Any], application_id: int, shard_id: int) -> None:
        self._connect = connect
        self._key = lock_key(application_id, shard_id)
        self._conn: Connection | None = None

    async def take(self) -> None:
        """Wait until the lock is ours, also while PostgreSQL is away."""
        said = False
        while not (held := await self._try_once()):
            if held is False and not said:
                log.warning("shard.standing_by", shard_id=self._key[1], reason="Another process serves this shard.")
                said = True
            await asyncio.sleep(TRY_EVERY_S)
        log.info("shard.held", shard_id=self._key[1])

    async def keep(self) -> None:
        """Return when somebody else has taken the lock, after the connection that held it broke.

        While PostgreSQL is away nobody can take it, and the gateway stays: what it brings waits for the journal.
        """
        while True:
            await self._until_broken()
            while True:
                await asyncio.sleep(TRY_EVERY_S)
                held = await self._try_once()
                if held is None:
                    continue
                if held:
                    log.info("shard.held_again", shard_id=self._key[1])
                    break
                log.error("shard.lost", shard_id=self._key[1], reason="Another process serves this shard now.")
                return

    def free(self) -> None:
        """Give the lock up."""
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None

    async def _try_once(self) -> bool | None:
        """Whether the lock is ours now; None while nobody can tell."""
        try:
            return await self._try()
        except Exception as error:
            if not is_passing(error):
                raise
            log.warning("shard.unknown", shard_id=self._key[1], error=type(error).__name__, retry_in_s=TRY_EVERY_S)
            return None

    async def _try(self) -> bool:
        if self._conn is None or self._conn.is_closed():
            self._conn = await self._connect()
        assert self._conn is not None  # noqa: S101 - just connected
        return bool(await self._conn.fetchval(TAKE_LOCK_SQL, *self._key, timeout=ALIVE_EVERY_S))

    async def _until_broken(self) -> None:
        while self._conn is not None and not self._conn.is_closed():
            await asyncio.sleep(ALIVE_EVERY_S)
            try:
                await self._conn.fetchval(ALIVE_SQL, timeout=ALIVE_EVERY_S)
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("shard.connection_broken", error=type(error).__name__)
                self.free()
