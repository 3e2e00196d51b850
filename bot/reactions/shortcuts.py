"""Reaction roles and shortcuts that an administrator defined, carried out from Discord's facts of then (I5)."""

from typing import Final

import structlog

from bot.governing import Governing
from bot.memories.eyes import MAY_KEEP_SQL
from bot.outgoing import Change, Outcome
from bot.reactions.tasks import WITHIN_S, Task, do
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.errors import MemoryRefused
from memory.ids import MessageId, UserId
from memory.items import Author, Draft, Speaker, Target, forget, remember
from memory.owners import Caps

log = structlog.get_logger(__name__)

# The role of a reaction, and the deed of an emoji.
ROLE_OF_SQL: Final = "SELECT role_id FROM reaction_roles WHERE space_id = $1 AND message_id = $2 AND emoji = $3"
DEED_OF_SQL: Final = "SELECT deed FROM reaction_shortcuts WHERE space_id = $1 AND emoji = $2"

# The message under a shortcut, as it stands in the journal.
REACTED_MESSAGE_SQL: Final = """
SELECT author_id, author_name, content FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id = $3 AND deleted_at IS NULL AND author_id IS NOT NULL
"""


# The memory that somebody's reaction to a message made, the newest.
REMEMBERED_SQL: Final = """
SELECT external_id FROM action_receipts
WHERE space_id = $1 AND trigger_id = $2 AND action = 'memory_add' AND requester_id = $3 AND state = 'applied'
  AND external_id IS NOT NULL AND args ->> 'by' = 'reaction'
ORDER BY receipt_id DESC LIMIT 1
"""


class Shortcuts:
    """Carries them out. What is refused is refused in silence: a reaction has no answer that one person sees."""

    def __init__(self, pool: Pool, writes: Writes, governing: Governing, caps: Caps) -> None:
        self._pool = pool
        self._writes = writes
        self._governing = governing
        self._caps = caps

    async def role(self, task: Task) -> None:
        """Give the role where the reaction stands, take it where it does not. Raises WriteInDoubt."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            role_id = await conn.fetchval(ROLE_OF_SQL, task.space_id, task.message_id, task.emoji)
        if role_id is None:
            return
        ids = {"guild_id": task.space_id, "user_id": task.user_id, "role_id": role_id}
        path = "/guilds/{guild_id}/members/{user_id}/roles/{role_id}"
        reason = f"Reaction of {task.user_id} to message {task.message_id}"
        change = Change("PUT" if task.stands else "DELETE", path, ids, task.user_id, reason=reason)
        args = {"role": str(role_id), "user": str(task.user_id), "given": task.stands, "task": task.task_id}

        async def write() -> Outcome:
            return await self._writes.change(change, within_s=WITHIN_S)

        outcome = await do(self._pool, task, "reaction_role", args, write)
        if outcome is not None:
            log.info("reaction.role", space_id=task.space_id, state=outcome.state, given=task.stands)

    async def shortcut(self, task: Task) -> None:
        """Do what the emoji stands for, for who reacted. Raises WriteInDoubt and ReadFault."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            deed = await conn.fetchval(DEED_OF_SQL, task.space_id, task.emoji)
        if deed == "remember" and not task.stands:
            await self._take_back(task)
        if deed is None or not task.stands:
            return
        facts = self._governing.facts(task.space_id)
        granted = await facts.permissions(task.user_id, task.place_id)
        if not (granted.view_channel and granted.read_message_history):
            return
        if deed == "remember":
            await self._remember(task)
        elif granted.pin_messages:

            async def write() -> Outcome:
                return await self._writes.pin(task.place_id, task.message_id, pinned=True, within_s=WITHIN_S)

            await do(self._pool, task, "reaction_pin", {"by": "reaction", "task": task.task_id}, write)

    async def _remember(self, task: Task) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(REACTED_MESSAGE_SQL, task.space_id, task.place_id, task.message_id)
            if row is None:
                return
            people = [task.user_id, row["author_id"]]
            may = await conn.fetchrow(MAY_KEEP_SQL, task.space_id, task.place_id, people)
        if may is None or may["is_off"] or may["declined"]:
            return
        speaker = Speaker(UserId(row["author_id"]), row["author_name"] or "")
        author = Author(task.scope, task.user_id, "", task.message_id, speaker=speaker)

        async def write() -> Outcome:
            async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                try:
                    kept = await remember(conn, author, Draft(row["content"]), caps=self._caps)
                except MemoryRefused as refusal:
                    return Outcome("refused", 1, None, refusal.code)
            if kept.outcome != "created":
                return Outcome("applied", 1, None, kept.outcome)
            return Outcome("applied", 1, MessageId(kept.memory_id))

        args = {"by": "reaction", "user": str(task.user_id), "task": task.task_id}
        await do(self._pool, task, "memory_add", args, write)

    async def _take_back(self, task: Task) -> None:
        """Forget what this person's reaction made be remembered, unless it was changed since."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            memory_id = await conn.fetchval(REMEMBERED_SQL, task.space_id, task.message_id, task.user_id)
        if memory_id is None:
            return
        author = Author(task.scope, task.user_id, "", task.message_id)

        async def write() -> Outcome:
            try:
                async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                    gone = await forget(conn, author, Target(memory_id), caps=self._caps)
                    if gone.version != 1:
                        raise MemoryRefused("changed", "It was changed since.")
            except MemoryRefused as refusal:
                return Outcome("refused", 1, None, refusal.code)
            return Outcome("applied", 1, MessageId(memory_id))

        args = {"by": "reaction", "user": str(task.user_id), "task": task.task_id}
        await do(self._pool, task, "memory_forget", args, write)
