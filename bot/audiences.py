"""Keeps the audiences of guilds computed, so that what was said in one place may show in another (I7)."""

import asyncio
import contextlib
import time

import structlog

from memory.database import Pool
from memory.places import compute_audiences

log = structlog.get_logger(__name__)


class Audiences:
    """Computes whenever it is woken, and at least every `poll_s` seconds. Any number of processes may do so at once."""

    def __init__(self, pool: Pool, woken: asyncio.Event, *, poll_s: float) -> None:
        self._pool = pool
        self._woken = woken
        self._poll_s = poll_s

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            started = time.monotonic()
            while (space_id := await compute_audiences(self._pool)) is not None:
                log.debug("audiences.computed", guild_id=space_id, seconds=round(time.monotonic() - started, 3))
                started = time.monotonic()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_s):
                    await self._woken.wait()
            self._woken.clear()
