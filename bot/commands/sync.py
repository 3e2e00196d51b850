"""Telling Discord the commands when they change, and only then.

A change of the whole set is one request (Discord replaces all of them), so that none can be lost between two. What was
told last is kept as a digest in PostgreSQL: a start tells Discord nothing new unless there is something new.
"""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import orjson
import structlog

from bot.bodies import Body
from bot.errors import WriteInDoubt, WriteRefused
from bot.writes import Writes
from memory.database import BORROW_S, Db, Pool

log = structlog.get_logger(__name__)

RETRY_S: Final = 30.0


def digest(commands: Sequence[Body]) -> bytes:
    """The same for the same commands."""
    return blake2b(orjson.dumps(list(commands), option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


# What Discord was told last.
TOLD_COMMANDS_SQL: Final = "SELECT digest FROM application_commands WHERE application_id = $1"

# Discord has been told.
TELL_COMMANDS_SQL: Final = """
INSERT INTO application_commands (application_id, digest) VALUES ($1, $2)
ON CONFLICT (application_id) DO UPDATE SET digest = EXCLUDED.digest, synced_at = now()
"""


async def told(conn: Db, application_id: int) -> bytes | None:
    """The digest of the commands that Discord has."""
    return await conn.fetchval(TOLD_COMMANDS_SQL, application_id)


class CommandSync:
    """Tells Discord the commands, once for each change of them."""

    def __init__(self, pool: Pool, writes: Writes, application_id: int, commands: Sequence[Body]) -> None:
        self._pool = pool
        self._writes = writes
        self._application_id = application_id
        self._commands = commands

    async def run(self) -> None:
        """Return when Discord has them, or will not have them. Raises what PostgreSQL raises."""
        wanted = digest(self._commands)
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                if await told(conn, self._application_id) == wanted:
                    return
            try:
                await self._writes.put_commands(self._application_id, self._commands)
            except WriteRefused as refusal:
                log.error("commands.refused", code=refusal.code, reason=refusal.text[:300])
                return
            except WriteInDoubt as doubt:
                wait_s = max(RETRY_S, doubt.retry_after_s or 0.0)
                log.warning("commands.not_told", cause=doubt.cause, retry_in_s=wait_s)
                await asyncio.sleep(wait_s)
            else:
                async with self._pool.acquire(timeout=BORROW_S) as conn:
                    await conn.execute(TELL_COMMANDS_SQL, self._application_id, wanted)
                log.info("commands.told", commands=len(self._commands))
                return
