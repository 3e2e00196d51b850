"""The command /new: from here on nothing of the conversation before is in what the model is shown; memory stays."""

from typing import Final

import structlog

from bot.commands.declaration import Slash
from bot.interactions import Command, Reply
from memory.beginnings import begin_anew
from memory.database import BORROW_S, Pool
from memory.ids import MessageId

log = structlog.get_logger(__name__)

NEW: Final = Slash("new", "Begin a fresh conversation here; what I remember stays as it is.")


class Fresh:
    """Answers the command."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def asked(self, command: Command, reply: Reply) -> None:
        """Begin anew at this moment, and say so to everybody, whose conversation it is too."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await begin_anew(conn, command.scope, MessageId(command.interaction_id))
        log.info("conversation.begun_anew", place_id=command.scope.place_id, user_id=command.user_id)
        said = f"A fresh conversation begins here, as <@{command.user_id}> wished. What I remember stays as it is."
        await reply.say(said, ephemeral=False)
