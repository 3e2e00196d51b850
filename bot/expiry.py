"""What is kept for a time goes when the time is over, whether or not anybody asks for it any more."""

import asyncio
from typing import Final

import structlog

from memory.database import BORROW_S, Pool
from memory.web_documents import EXPIRED_AT_ONCE, expire

log = structlog.get_logger(__name__)

EVERY_S: Final = 3_600.0


class Expiry:
    """Removes pages of the web that have expired."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            await self.sweep()
            await asyncio.sleep(EVERY_S)

    async def sweep(self) -> int:
        """Remove everything that has expired, a bounded number at a time; how much it was."""
        gone = 0
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                removed = await expire(conn)
            gone += removed
            if removed < EXPIRED_AT_ONCE:
                break
        if gone:
            log.info("web.expired", pages=gone)
        return gone
