"""Waiting for something outside, and not a moment longer (I10).

asyncio.wait_for and asyncio.timeout wait until the cancelled work has cleaned up, however long that takes. Here it gets
a bounded grace, and is then left behind: whatever it still returns, nobody reads.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

import structlog

from agent.errors import DeadlinePassed

T = TypeVar("T")

_log = structlog.get_logger(__name__)
_abandoned: set[asyncio.Task[Any]] = set()  # asyncio itself holds tasks only weakly


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled() and (fault := task.exception()) is not None:
        _log.warning("abandoned_work_failed", task=task.get_name(), error=type(fault).__name__)


async def reap(tasks: Iterable[asyncio.Task[Any]], grace_s: float) -> bool:
    """Cancel `tasks` and give them `grace_s` seconds; True if all ended. The rest goes on, unheard.

    Cancelled from outside meanwhile, it gives up waiting at once.
    """
    running: set[asyncio.Task[Any]] = set()
    for task in tasks:
        if task.done():
            _forget(task)
            continue
        task.cancel()
        running.add(task)
        _abandoned.add(task)
        task.add_done_callback(_forget)
    if not running:
        return True
    _, left = await asyncio.wait(running, timeout=grace_s)
    for task in left:
        _log.warning("work_abandoned", task=task.get_name(), grace_s=grace_s)
    return not left


async def bounded(work: Coroutine[Any, Any, T], within_s: float, *, grace_s: float, name: str | None = None) -> T:
    """What `work` returns or raises, if it does so within `within_s` seconds.

    Raises DeadlinePassed otherwise, at the latest `grace_s` later, and also when `work` cancels itself: a
    CancelledError out of here always means that the caller was cancelled. Then the work is cancelled first, and gets
    the same grace.
    """
    task = asyncio.create_task(work, name=name)
    try:
        await asyncio.wait((task,), timeout=max(within_s, 0.0))
    except asyncio.CancelledError:
        await reap((task,), grace_s)
        raise
    if not task.done():
        raise DeadlinePassed(abandoned=not await reap((task,), grace_s))
    if task.cancelled():
        raise DeadlinePassed(abandoned=False)
    return task.result()
