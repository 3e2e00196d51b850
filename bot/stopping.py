"""The command /stop, and the button on a draft: a member ends what the bot works on for them, and nobody else does."""

from collections.abc import Callable, Sequence
from typing import Final

import structlog

from bot.commands.declaration import Slash
from bot.drafting import turn_of
from bot.interactions import Command, Press, Reply
from bot.stops import stop_turn
from memory.database import BORROW_S, Pool
from memory.ids import TurnId

log = structlog.get_logger(__name__)

STOP: Final = Slash("stop", "Stop what I am working on for you here; nothing more is said or done for it.")

MOST: Final = 20

# What is being worked on for somebody in a place, or waits there, the newest first.
OWN_TURNS_SQL: Final = """
SELECT turn_id FROM turns
WHERE space_id = $1 AND place_id = $2 AND author_id = $3 AND state IN ('queued', 'running')
ORDER BY turn_id DESC LIMIT $4
"""


# Whose a turn of a place is, and whether it can still be stopped.
ASKER_SQL: Final = """
SELECT author_id FROM turns WHERE space_id = $1 AND place_id = $2 AND turn_id = $3
"""

_TOO_LATE: Final = "That is done already, so there is nothing to stop."
_STOPPED: Final = "Stopped. What was done already stays done, and nothing more is said."


class Stopping:
    """Answers the command and the button. `cancel` tells this process's worker."""

    def __init__(self, pool: Pool, cancel: Callable[[Sequence[TurnId]], None]) -> None:
        self._pool = pool
        self._cancel = cancel

    async def asked(self, command: Command, reply: Reply) -> None:
        """Stop the member's own turns here, and say how many there were."""
        scope = command.scope
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            rows = await conn.fetch(OWN_TURNS_SQL, scope.space_id, scope.place_id, command.user_id, MOST)
            ends = [(TurnId(row["turn_id"]), await stop_turn(conn, scope.space_id, row["turn_id"])) for row in rows]
        stopped = [turn_id for turn_id, end in ends if end is not None]
        self._cancel([turn_id for turn_id, end in ends if end == "stopping"])
        log.info("turns.stopped", turns=len(stopped), user_id=command.user_id)
        if not stopped:
            await reply.say("I am not working on anything for you here.")
        elif len(stopped) == 1:
            await reply.say(_STOPPED)
        else:
            await reply.say(f"Stopped {len(stopped)} answers. What was done already stays done.")

    async def pressed(self, press: Press, reply: Reply) -> None:
        """Stop the turn whose button it is, for its asker."""
        scope, turn_id = press.scope, turn_of(press.custom_id)
        if turn_id is None:
            await reply.say(_TOO_LATE)
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            asker = await conn.fetchval(ASKER_SQL, scope.space_id, scope.place_id, turn_id)
            if asker is not None and asker != press.user_id:
                await reply.say(f"Only <@{asker}> can stop this, since it was their message.")
                return
            end = await stop_turn(conn, scope.space_id, turn_id)
        if end == "stopping":
            self._cancel([turn_id])
        log.info("turns.stopped", turns=int(end is not None), user_id=press.user_id)
        await reply.say(_TOO_LATE if end is None else _STOPPED)
