"""Carries out claimed reactions, one after the other, from a look every second on."""

import asyncio
from typing import Final

import structlog

from bot.errors import ReadFault, TurnLost, WriteInDoubt
from bot.reactions import tasks
from bot.reactions.answers import Answers
from bot.reactions.shortcuts import Shortcuts
from bot.reactions.tasks import MOST_ATTEMPTS, Task
from memory.database import BORROW_S, Pool
from memory.ids import UserId

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 1.0
LONGEST_S: Final = 45.0


class ReactionWorker:
    """The worker of one process. `own_id`: the bot's user, whose own reactions do nothing."""

    def __init__(self, pool: Pool, answers: Answers, shortcuts: Shortcuts, own_id: UserId, *, poll_s: float) -> None:
        self._pool = pool
        self._answers = answers
        self._shortcuts = shortcuts
        self._own_id = own_id
        self._every_s = min(poll_s, LOOK_EVERY_S)

    async def run(self) -> None:
        """Work for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                due = await tasks.claim(conn)
            for task in due:
                await self._work(task)
            if not due:
                await asyncio.sleep(self._every_s)

    async def _work(self, task: Task) -> None:
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._carry_out(task)
        except (ReadFault, WriteInDoubt, TurnLost, TimeoutError) as fault:
            log.warning("reaction.later", claim=task.claim, attempts=task.attempts, error=type(fault).__name__)
            if task.attempts < MOST_ATTEMPTS:
                async with self._pool.acquire(timeout=BORROW_S) as conn:
                    await tasks.later(conn, task)
                return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await tasks.finish(conn, task)

    async def _carry_out(self, task: Task) -> None:
        if task.user_id == self._own_id:
            return
        match task.claim:
            case "own":
                await self._answers.carry_out(task)
            case "role":
                await self._shortcuts.role(task)
            case "shortcut":
                await self._shortcuts.shortcut(task)
