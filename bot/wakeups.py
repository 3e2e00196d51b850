"""Wake-ups: events in this process, and NOTIFY for what other processes did (I14).

A slow poll stands behind each of them, so that a lost notification costs seconds and nothing else.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import structlog

from bot.shard_lock import ALIVE_SQL
from memory.database import Connection, is_passing

log = structlog.get_logger(__name__)

CHANNELS: Final = ("muninn_inbox", "muninn_turns", "muninn_audiences")
RECONNECT_S: Final = 2.0
ALIVE_EVERY_S: Final = 15.0
ANSWER_S: Final = 5.0


class Wakeups:
    """One event a channel: set by this process directly, and by the notifications of others."""

    def __init__(self, connect: Callable[[], Any], own_backends: Callable[[], frozenset[int]]) -> None:
        self.inbox = asyncio.Event()
        self.turns = asyncio.Event()
        self.audiences = asyncio.Event()
        self._connect = connect
        self._own_backends = own_backends

    async def run(self) -> None:
        """Listen for ever, on a connection of its own that is made again whenever it breaks."""
        while True:
            try:
                await self._listen()
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("wakeups.away", error=type(error).__name__, retry_in_s=RECONNECT_S)
            await asyncio.sleep(RECONNECT_S)

    async def _listen(self) -> None:
        conn: Connection = await self._connect()
        closed = asyncio.Event()
        try:
            conn.add_termination_listener(lambda _: closed.set())
            async with asyncio.timeout(ANSWER_S):
                for channel in CHANNELS:
                    await conn.add_listener(channel, self._notified)
            # What was notified while nobody listened.
            self.inbox.set()
            self.turns.set()
            self.audiences.set()
            while not closed.is_set():
                try:
                    async with asyncio.timeout(ALIVE_EVERY_S):
                        await closed.wait()
                except TimeoutError:
                    # A line that is dead at one end only closes nothing; raises if nobody answers.
                    await conn.fetchval(ALIVE_SQL, timeout=ANSWER_S)
        finally:
            conn.terminate()

    def _notified(self, _conn: object, backend: int, channel: str, _payload: object) -> None:
        if channel == "muninn_audiences":
            # Set by nobody directly: whoever journals what Discord told does not know whether it changed anything.
            self.audiences.set()
        elif backend not in self._own_backends():
            (self.inbox if channel == "muninn_inbox" else self.turns).set()
