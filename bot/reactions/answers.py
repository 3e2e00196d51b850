"""Reactions on the bot's own answers: a wastebasket removes one, a question mark explains it, a cross corrects it.

Discord shows something to one person alone only in answer to an interaction, and a reaction is none. So a question mark
and a cross bring a short reply with a button, and who presses it sees the rest alone.
"""

from typing import Final

from bot.bodies import Component, Field, button, row
from bot.effects import Effects, Errand, nonce_of
from bot.errors import CommandRefused, WriteInDoubt
from bot.interactions import EXPIRED_BUTTON, Interactions, Press, Reply, Submission
from bot.memories.changing import Changing
from bot.memories.eyes import Eyes
from bot.outgoing import Outcome, Outgoing
from bot.reactions.tasks import WITHIN_S, Task, do
from bot.receipts import Intent, intend
from bot.why import Why
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, UserId
from memory.items import Draft

WHY_BUTTON: Final = "answhy"
FIX: Final = "ansfix"
_WASTE: Final = frozenset({"🗑", "🗑️"})
_QUESTION: Final = frozenset({"❓", "❔"})

# Whose question a message of ours answers, and the messages of that answer.
ANSWER_SQL: Final = """
SELECT t.turn_id, t.author_id, ARRAY(
    SELECT r.external_id FROM action_receipts r
    WHERE r.turn_id = t.turn_id AND r.action = 'send_part' AND r.state = 'applied' AND r.external_id IS NOT NULL
    ORDER BY r.receipt_id) AS parts
FROM chat_messages m JOIN turns t ON t.turn_id = m.turn_id
WHERE m.space_id = $1 AND m.message_id = $2 AND m.author_kind = 'self' AND t.space_id = $1
"""

# An answer that its asker calls wrong is not recalled as an exchange any more.
DROP_EXCHANGE_SQL: Final = """
DELETE FROM memory_episodes e USING episode_messages s
WHERE s.episode_id = e.episode_id AND s.space_id = $1 AND s.message_id = ANY($2::bigint[])
"""


class Answers:
    """Carries out marks on answers, and heeds their buttons."""

    def __init__(self, pool: Pool, writes: Writes, effects: Effects, why: Why, eyes: Eyes, changing: Changing) -> None:
        self._pool = pool
        self._writes = writes
        self._effects = effects
        self._why = why
        self._eyes = eyes
        self._changing = changing

    def register(self, interactions: Interactions) -> None:
        """Heed the buttons and the form."""
        interactions.on_press(WHY_BUTTON, self.explain)
        interactions.on_press(FIX, self.asked)
        interactions.on_submit(FIX, self.corrected)

    async def carry_out(self, task: Task) -> None:
        """Do what the mark means, if it stands and is for who made it. Raises WriteInDoubt."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            answer = await conn.fetchrow(ANSWER_SQL, task.space_id, task.message_id)
        if answer is None or not task.stands:
            return
        if task.emoji in _QUESTION:
            shown = [row(button("Why this answer?", f"{WHY_BUTTON}:{task.message_id}"))]
            await self._offer(task, "offer_why", "Whoever wants to know can see here why I answered so.", shown)
        elif task.user_id != answer["author_id"]:
            return
        elif task.emoji in _WASTE:
            for part in answer["parts"]:
                await self._delete(task, MessageId(part))
        else:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await conn.execute(DROP_EXCHANGE_SQL, task.space_id, [task.message_id, *answer["parts"]])
            shown = [row(button("Say what is right", f"{FIX}:{task.message_id}:{task.user_id}"))]
            said = "You marked this as wrong, so I will not build on it. If you tell me what is right, I learn it."
            await self._offer(task, "offer_fix", said, shown)

    async def _delete(self, task: Task, part: MessageId) -> None:
        async def write() -> Outcome:
            return await self._writes.delete(task.place_id, part, within_s=WITHIN_S)

        await do(self._pool, task, "remove_answer", {"message": str(part)}, write)

    async def _offer(self, task: Task, action: str, said: str, components: list[Component]) -> None:
        """Reply with a button, once for each answer."""
        errand = Errand(task.scope, task.message_id, task.user_id, "", task.lease_no)
        intent = Intent(
            space_id=task.space_id,
            place_id=task.place_id,
            trigger_id=task.message_id,
            action=action,
            args={},
            nonce=nonce_of(task.space_id, task.message_id, action, b""),
            requester_id=task.user_id,
            lease_no=task.lease_no,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await intend(conn, intent)
        if receipt.state in ("applied", "refused"):
            return
        outgoing = Outgoing(task.place_id, said, task.message_id, task.message_id, components=components)
        outcome = await self._effects.send(outgoing, errand, receipt)
        await self._effects.record(receipt, outcome, errand)
        if outcome.state == "unknown":
            raise WriteInDoubt(outcome.failure or "unknown", outcome.retry_after_s)

    async def explain(self, press: Press, reply: Reply) -> None:
        """Show the explanation to who pressed."""
        [message_id] = _numbers(press.custom_id, 1)
        await self._why.explain(press, reply, MessageId(message_id))

    async def asked(self, press: Press, reply: Reply) -> None:
        """Ask what is right."""
        _, asker_id = _numbers(press.custom_id, 2)
        if press.user_id != asker_id:
            raise CommandRefused("Only who asked can correct this answer.")
        field = Field("right", "What is right?", about="One sentence, as I shall remember it", long=True, most=2000)
        if not await reply.ask(press.custom_id, "Correct this answer", [field]):
            raise CommandRefused("That took too long; please press again.")

    async def corrected(self, submission: Submission, reply: Reply) -> None:
        """Keep the correction as the asker's own memory."""
        _, asker_id = _numbers(submission.custom_id, 2)
        if submission.user_id != UserId(asker_id):
            raise CommandRefused("Only who asked can correct this answer.")
        author = await self._eyes.author(submission, "user")
        await self._changing.keep(submission, reply, author, Draft(submission.written("right"), "correction"))


def _numbers(custom_id: str, many: int) -> list[int]:
    parts = custom_id.split(":")[1:]
    if len(parts) != many or not all(part.isascii() and part.isdecimal() and len(part) < 20 for part in parts):
        raise CommandRefused(EXPIRED_BUTTON)
    return [int(part) for part in parts]
