"""The route of moderation: plain words that ask for a deed bring its card, or one sentence that says why not."""

from typing import Final

import structlog
from discord.http import Route as Address

from bot.addressing import Identity
from bot.arrivals.items import Journalled
from bot.errors import CommandRefused, ReadFault
from bot.facts import Facts
from bot.links import message_link
from bot.moderation.office import Office, Petition
from bot.moderation.orders import Order
from bot.moderation.speech import Said, hear
from bot.payloads import snowflake
from bot.rest import Reads, parsed
from bot.routes import RouteEnd, RouteName, Shown, Told
from bot.turns import Turn
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, UserId

log = structlog.get_logger(__name__)

_SOMEBODY: Final = 1
"""Stands for whoever wrote the message that is replied to, where only the words are looked at."""

# The words as they stand now, and who wrote the message that they reply to.
ASKED_WORDS_SQL: Final = """
SELECT m.content, m.reply_to_id, r.author_id AS reply_author_id
FROM chat_messages m LEFT JOIN chat_messages r ON r.space_id = m.space_id AND r.message_id = m.reply_to_id
WHERE m.space_id = $1 AND m.message_id = $2 AND m.author_id = $3 AND m.deleted_at IS NULL
"""


class ModerationRoute:
    """Claims what asks for a deed. Raises TurnLost under an older lease."""

    def __init__(self, pool: Pool, reads: Reads, office: Office, me: Identity) -> None:
        self._pool = pool
        self._reads = reads
        self._office = office
        self._me = me

    @property
    def name(self) -> RouteName:
        """Which it is."""
        return "moderation"

    def claims(self, message: Journalled) -> bool:
        """Whether the words ask for a deed, whoever says them; who may is decided by Discord's facts (I5)."""
        if message.space_id == message.place_id:
            return False
        replies = message.reply_to_id is not None
        said = Said(
            message.content,
            self._me.user_id,
            message.place_id,
            _SOMEBODY if replies else None,
            message.reply_to_id,
        )
        return _asks(said)

    async def serve(self, turn: Turn) -> RouteEnd:
        """Put the card, or say what stands against it. Passes where the words were changed meanwhile."""
        said = await self._said(turn)
        if said is None:
            return None
        try:
            heard = hear(said)
        except CommandRefused as refusal:
            return Told(refusal.text, "moderation_refused")
        if heard is None or await self._is_for_tools(turn, heard.order):
            return None
        petition = Petition(turn.scope, turn.trigger_id, turn.author_id, turn.trigger_id, turn.turn_id, turn.lease_no)
        answer = await self._office.ask(heard.order, petition, listing=heard.listing)
        log.info("moderation.heard", deed=heard.order.deed, asked=answer.asked, trigger_id=turn.trigger_id)
        return Shown("card") if answer.asked else Told(answer.text, "moderation_refused")

    async def _is_for_tools(self, turn: Turn, order: Order) -> bool:
        """Whether it changes a thread, which whoever opened it may do without being a moderator: tools know whose it
        is. Where Discord cannot say, the office finds so, too, and says it."""
        if order.deed != "channel_edit" or order.place_id is None:
            return False
        try:
            place = await Facts(self._reads, turn.space_id, self._me.user_id).place(PlaceId(order.place_id))
        except ReadFault as fault:
            log.info("moderation.place_unknown", place_id=order.place_id, cause=str(fault))
            return False
        return place is not None and place.is_thread

    async def _said(self, turn: Turn) -> Said | None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(ASKED_WORDS_SQL, turn.space_id, turn.trigger_id, turn.author_id)
        if row is None:
            return None
        reply_to, author = row["reply_to_id"], row["reply_author_id"]
        if reply_to is not None and author is None:
            author = await self._author_of(turn, MessageId(reply_to))
        link = None
        if reply_to is not None and author is not None:
            link = message_link(turn.space_id, turn.place_id, MessageId(reply_to))
        return Said(row["content"], self._me.user_id, turn.place_id, author, reply_to, link)

    async def _author_of(self, turn: Turn, message_id: MessageId) -> UserId | None:
        """Who wrote a message that the journal does not have; None where Discord does not say."""
        path = "/channels/{channel_id}/messages/{message_id}"
        try:
            body = await self._reads.get(Address("GET", path, channel_id=turn.place_id, message_id=message_id))
            return parsed(lambda data: UserId(snowflake(data["author"]["id"])), body)
        except ReadFault as fault:
            log.info("moderation.no_author", message_id=message_id, cause=str(fault))
            return None


def _asks(said: Said) -> bool:
    try:
        return hear(said) is not None
    except CommandRefused:
        return True
