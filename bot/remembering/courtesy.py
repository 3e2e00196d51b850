"""Giving way: whoever waits for an answer goes before what is remembered in the background."""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import Final

PATIENCE_S: Final = 2.0
"""So long at most one job gives way in all: where people talk without end, it goes on all the same."""


@dataclass(frozen=True, slots=True)
class Courtesy:
    """`idle` is set while this process works on no turn; None where it never does."""

    idle: asyncio.Event | None = None
    patience_s: float = PATIENCE_S

    def job(self) -> "Patience":
        """What one job gives way with."""
        return Patience(self.idle, self.patience_s)


@dataclass(slots=True)
class Patience:
    """One job's: it is used up."""

    idle: asyncio.Event | None
    left_s: float

    async def give_way(self) -> None:
        """Wait until nobody waits for an answer, as long as there is patience left."""
        if self.idle is None or self.idle.is_set() or self.left_s <= 0:
            return
        started = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.left_s):
                await self.idle.wait()
        self.left_s -= time.monotonic() - started
