"""Whether Muninn can do its work now, and if not, why: asked by whoever runs it, at most once a second.

Ready means that a message would be heard, kept and answered: the schema is made, the shard is ours, the gateway's READY
is committed, and PostgreSQL answers. Redis and the model are not needed for that, and are told beside it.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from bot.metrics import DATABASE_UP
from memory.database import Pool

Part = Literal["schema", "discord", "shard", "gateway", "database", "stopping"]

PROBE_S: Final = 2.0
"""Seconds that PostgreSQL has to answer; whoever asks for readiness waits no longer than a few."""

KEEP_S: Final = 1.0
"""Seconds for which an answer of PostgreSQL is given again, so that asking often costs it nothing."""

# Whether PostgreSQL answers.
PROBE_SQL: Final = "SELECT true"

_WHY: Final[dict[Part, str]] = {
    "schema": "The database is being looked at and its schema brought to this version.",
    "discord": "Discord's REST API has not accepted the bot yet.",
    "shard": "Another process serves this shard; this one stands by.",
    "gateway": "The gateway is not connected.",
    "database": "PostgreSQL does not answer.",
    "stopping": "Muninn is stopping.",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why Muninn is not ready: which part, and one sentence."""

    part: Part
    says: str


def _not_connected() -> bool:
    return False


class Readiness:
    """What the start has come to. `app` says what is reached; `reasons` asks PostgreSQL besides."""

    def __init__(self) -> None:
        self.pool: Pool | None = None
        """Set when the schema is made."""
        self.signed_in = False
        self.holds_shard = False
        self.is_connected: Callable[[], bool] = _not_connected
        """Whether the gateway's READY is committed and its session lives."""
        self.stopping = False
        self._looking = asyncio.Lock()
        self._looked_at = -KEEP_S
        self._answers = False

    def leave(self) -> None:
        """The gateway is gone: another will be made, or none."""
        self.signed_in = self.holds_shard = False
        self.is_connected = _not_connected

    async def reasons(self) -> tuple[Reason, ...]:
        """Why Muninn is not ready, the first thing that is missing first; empty if it is."""
        missing: list[Part] = []
        if self.stopping:
            missing.append("stopping")
        if self.pool is None:
            missing.append("schema")
        elif not await self._database_answers(self.pool):
            missing.append("database")
        if self.pool is not None and not self.signed_in:
            missing.append("discord")
        elif self.signed_in and not self.holds_shard:
            missing.append("shard")
        elif self.holds_shard and not self.is_connected():
            missing.append("gateway")
        return tuple(Reason(part, _WHY[part]) for part in missing)

    async def _database_answers(self, pool: Pool) -> bool:
        async with self._looking:
            if time.monotonic() - self._looked_at >= KEEP_S:
                self._answers = await _answers(pool)
                self._looked_at = time.monotonic()
                DATABASE_UP.set(1 if self._answers else 0)
        return self._answers


async def _answers(pool: Pool) -> bool:
    try:
        async with asyncio.timeout(PROBE_S), pool.acquire(timeout=PROBE_S) as conn:
            await conn.fetchval(PROBE_SQL)
    except Exception:
        # Whatever is wrong, and the parts that need PostgreSQL say it in the log: it does not answer.
        return False
    return True
