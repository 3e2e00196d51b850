"""Waiting for something to become true, without polling."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Wakes whoever waits each time the world, the request log or a session changes."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def happened(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    async def until(self, look: Callable[[], T | None], within: float) -> T | None:
        """The first value of ``look`` that is not None (it is asked at once and after each change).

        Returns None when ``within`` seconds of real time have passed without one.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while True:
            found = look()
            if found is not None:
                return found
            left = deadline - loop.time()
            if left <= 0:
                return None
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.add(waiter)
            try:
                await asyncio.wait((waiter,), timeout=left)
            finally:
                self._waiters.discard(waiter)
