"""Keeps the long-lived tasks running: one that fails is logged and started again, with growing pauses."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from bot.errors import StartupFault
from memory.database import is_passing

log = structlog.get_logger(__name__)

PAUSE_FIRST_S: Final = 0.5
PAUSE_MOST_S: Final = 15.0
HEALTHY_S: Final = 60.0


async def keep_running(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` for ever. Raises StartupFault, which starting again would not mend; ends when `work` returns."""
    pause_s = PAUSE_FIRST_S
    while True:
        started = time.monotonic()
        try:
            await work()
        except StartupFault:
            raise
        except Exception as error:
            if time.monotonic() - started > HEALTHY_S:
                pause_s = PAUSE_FIRST_S
            if is_passing(error):
                log.warning("task.interrupted", task=name, error=type(error).__name__, retry_in_s=pause_s)
            else:
                log.exception("task.broken", task=name, retry_in_s=pause_s)
        else:
            return
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_MOST_S)
