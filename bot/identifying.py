"""Taking turns at identifying: Discord lets a bucket of shards identify once in five seconds, in whatever process, and
a bot a thousand times a day; who goes on after that loses its token.

A bucket is `shard_id % max_concurrency`. Its turn is an advisory lock, held on a connection of its own until five
seconds after the IDENTIFY, so that a process that dies gives it back at once.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, cast

import structlog
from discord.http import Route

from bot.errors import ReadFault
from bot.rest import Reads
from bot.shard_lock import lock_key
from memory.database import Connection, is_passing

log = structlog.get_logger(__name__)

EVERY_S: Final = 5.0
TRY_EVERY_S: Final = 0.25
LONGEST_S: Final = 24 * 3600.0
ASK_WITHIN_S: Final = 5.0

# Take the bucket's turn, if nobody has it.
TAKE_TURN_SQL: Final = "SELECT pg_try_advisory_lock($1::int, $2::int)"


class IdentifyTurns:
    """The turns of one application's shards. `connect` opens a connection of its own (never one from a pool); an only
    shard (`alone`) shares its bucket with nobody, and has none."""

    def __init__(
        self, reads: Reads, connect: Callable[[], Any], application_id: int, shard_id: int, *, alone: bool = False
    ) -> None:
        self._alone = alone
        self._reads = reads
        self._connect = connect
        self._application_id = application_id
        self._shard_id = shard_id
        self._giving_back: set[asyncio.Task[None]] = set()

    async def wait(self) -> None:
        """Return when this shard may identify: there are sessions left today, and it is its bucket's turn.

        Where neither Discord nor PostgreSQL can say, it identifies as if it were alone.
        """
        concurrency, pause_s = await self._limits()
        if pause_s > 0:
            log.error("gateway.no_sessions_left", retry_in_s=round(pause_s), shard_id=self._shard_id)
            await asyncio.sleep(min(pause_s, LONGEST_S))
        if self._alone:
            return
        # Shards are numbered from 0 in the locks of the same application: buckets go below them.
        key = (lock_key(self._application_id, 0)[0], -1 - self._shard_id % concurrency)
        conn: Connection | None = None
        try:
            conn = await self._connect()
            assert conn is not None  # noqa: S101 - just connected
            began = time.monotonic()
            while not await conn.fetchval(TAKE_TURN_SQL, *key, timeout=ASK_WITHIN_S):  # noqa: ASYNC110 - in PostgreSQL
                await asyncio.sleep(TRY_EVERY_S)
            log.info("gateway.identifying", shard_id=self._shard_id, waited_s=round(time.monotonic() - began, 1))
        except BaseException as error:
            if conn is not None:
                conn.terminate()
            if not isinstance(error, Exception) or not is_passing(error):
                raise
            log.warning("gateway.turn_unknown", error=type(error).__name__)
            return
        task = asyncio.create_task(self._give_back(conn), name="identify-turn")
        self._giving_back.add(task)
        task.add_done_callback(self._giving_back.discard)

    async def _limits(self) -> tuple[int, float]:
        """How many shards may identify at once, and the seconds until any may."""
        try:
            answer = await self._reads.get(Route("GET", "/gateway/bot"))
            limit = cast("dict[str, int]", answer["session_start_limit"])
            left_s = 0.0 if limit["remaining"] > 0 else limit["reset_after"] / 1000
            return max(limit.get("max_concurrency", 1), 1), left_s
        except (ReadFault, KeyError, TypeError) as error:
            log.warning("gateway.limits_unknown", error=type(error).__name__)
            return 1, 0.0

    async def _give_back(self, conn: Connection) -> None:
        try:
            await asyncio.sleep(EVERY_S)
        finally:
            conn.terminate()
