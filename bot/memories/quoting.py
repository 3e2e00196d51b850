"""The message command "Remember this": asks for whom and as what, and keeps the message's words, resting on it (I8)."""

from typing import Final

from bot.bodies import Field
from bot.errors import CommandRefused
from bot.interactions import Command, Interactions, Reply, Submission
from bot.memories.changing import Changing
from bot.memories.declarations import REMEMBER_THIS, WHOSE_CHOICES
from bot.memories.eyes import Eyes, scope_named
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, UserId
from memory.items import CONTENT_CHARS, Draft, Speaker
from memory.kinds import KINDS

FORM: Final = "memthis"
_NO_WORDS: Final = "This message has no words that I could remember, so nothing was stored."
_UNREAD: Final = "I have no record of this message (it is older than I am here, or was deleted), so nothing was stored."
_LATE: Final = "That took too long; please use the command again."

# The message as it stands in the journal, in this very place.
MESSAGE_TO_KEEP_SQL: Final = """
SELECT author_id, author_name, content FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id = $3 AND deleted_at IS NULL AND author_id IS NOT NULL
"""


class Quoting:
    """Answers the command and its form."""

    def __init__(self, pool: Pool, eyes: Eyes, changing: Changing) -> None:
        self._pool = pool
        self._eyes = eyes
        self._changing = changing

    def register(self, interactions: Interactions) -> None:
        """Offer the command, and heed its form."""
        interactions.on_command(REMEMBER_THIS, self.asked)
        interactions.on_submit(FORM, self.sent)

    async def asked(self, command: Command, reply: Reply) -> None:
        """Ask for kind and scope."""
        if command.message is None or not command.message.content.strip():
            raise CommandRefused(_NO_WORDS)
        if len(command.message.content) > CONTENT_CHARS:
            raise CommandRefused(
                f"A memory holds at most {CONTENT_CHARS} characters; use /memory add with what matters of it."
            )
        choices = [choice for choice in WHOSE_CHOICES if not (command.is_direct and choice[1] == "guild")]
        fields = [
            Field("kind", "What kind of memory is it?", "fact", choices=[(kind, kind) for kind in KINDS]),
            Field("whose", "For whom?", "user", "The channel's and server's need an admin", choices=choices),
        ]
        if not await reply.ask(f"{FORM}:{command.message.message_id}", "Remember this message", fields):
            raise CommandRefused(_LATE)

    async def sent(self, submission: Submission, reply: Reply) -> None:
        """Keep the message's words, as its author's."""
        number = submission.custom_id.partition(":")[2]
        if not (number.isascii() and number.isdecimal() and len(number) < 20):
            raise CommandRefused("This form has expired, so nothing was stored; please use the command again.")
        message_id = MessageId(int(number))
        scope = scope_named(submission.written("whose"))
        if scope is None:
            raise CommandRefused("Please say for whom; nothing was stored.")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(
                MESSAGE_TO_KEEP_SQL, submission.scope.space_id, submission.scope.place_id, message_id
            )
        if row is None:
            raise CommandRefused(_UNREAD)
        await self._eyes.viewer(submission, "channel")
        speaker = Speaker(UserId(row["author_id"]), row["author_name"])
        author = await self._eyes.author(submission, scope, message_id=message_id, speaker=speaker)
        draft = Draft(row["content"], submission.written("kind"), scope=scope)
        await self._changing.keep(submission, reply, author, draft)
