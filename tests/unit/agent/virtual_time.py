"""An event loop whose clock jumps to the next timer as soon as nothing is left to do: hours pass in no time."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.SelectSelector):
    """Instead of waiting it moves the clock on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise AssertionError("everything waits, and no timer is set: this would hang for ever")
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Use it through run_virtually."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def clock() -> float:
    """The running loop's time, for what takes a clock."""
    return asyncio.get_running_loop().time()


def run_virtually(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `main()` returns, run in a loop of its own whose time is virtual."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())
