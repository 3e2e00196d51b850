"""The route of confirmations: who answers a card in words is told that a button is what counts."""

import re
from typing import Final

from bot.arrivals.items import Journalled
from bot.routes import RouteEnd, RouteName, Told
from bot.turns import Turn
from memory.database import BORROW_S, Pool

_WORDS: Final = re.compile(
    r"(?:<@!?\d+>|yes|yeah|yep|yup|sure|ok|okay|do it|go ahead|confirm(?:ed)?|no|nope|cancel|please|[\s.,!])+",
    re.IGNORECASE,
)

# Whether the message that this one replies to is a card that is open.
ANSWERED_CARD_SQL: Final = """
SELECT c.requester_id = m.author_id FROM chat_messages m
JOIN action_cards c ON c.space_id = m.space_id AND c.message_id = m.reply_to_id
WHERE m.space_id = $1 AND m.message_id = $2 AND c.state = 'open'
"""


class ConfirmationRoute:
    """Claims a bare yes or no in reply to something."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def name(self) -> RouteName:
        """Which it is."""
        return "confirmation"

    def claims(self, message: Journalled) -> bool:
        """A reply of nothing but yes or no."""
        return message.reply_to_id is not None and _WORDS.fullmatch(message.content) is not None

    async def serve(self, turn: Turn) -> RouteEnd:
        """Say what counts, if it was a card that is open."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            own = await conn.fetchval(ANSWERED_CARD_SQL, turn.space_id, turn.trigger_id)
        if own is None:
            return None
        said = "Please press a button of the card: words do not count there" if own else "That card is somebody else's"
        return Told(f"{said}; nothing was done.", "confirmation_by_words")
