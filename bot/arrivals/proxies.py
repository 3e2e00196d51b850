"""Webhooks that speak for members, as PluralKit does: the member writes, the program says the same by a webhook, under
another name, and deletes the member's message.

Deterministic: a webhook's message counts as the member's if, within thirty seconds before it and in the same place,
exactly one member wrote something that holds its words, and that message is deleted. So a proxy that changes the
words, or comes later, is not recognised, and who may use a webhook and delete messages could repeat what a member has
just deleted. It counts as that member's request, but never as their words where an action asks for these: then a card
asks back.
"""

from dataclasses import dataclass
from typing import Final

from bot.arrivals.items import Item
from memory.choices import READ
from memory.database import Db
from memory.ids import UserId

PROXY_WITHIN_S: Final = 30


@dataclass(frozen=True, slots=True)
class Speaker:
    """For whom a webhook spoke. `answered`: the member's own message was, or is being, answered already."""

    author_id: UserId
    answered: bool


# The members' deleted messages that hold the words of the webhook's, with the turn that their own message may have had.
# $4 is the number of milliseconds before it.
PROXIED_SQL: Final = f"""
SELECT o.author_id,
       coalesce(bool_or(t.state IN ('composed', 'delivering', 'answered', 'failed_told')), false) AS answered
FROM chat_messages w
JOIN chat_messages o ON o.space_id = w.space_id AND o.place_id = w.place_id AND o.message_id < w.message_id
    AND o.message_id > w.message_id - ($4::bigint << 22) AND o.author_kind = 'member' AND o.deleted_at IS NOT NULL
    AND position(btrim(w.content) IN o.content) > 0 AND {READ.format(author="o.author_id")}
LEFT JOIN turn_triggers g ON g.space_id = o.space_id AND g.message_id = o.message_id
LEFT JOIN turns t ON t.turn_id = g.turn_id
WHERE w.space_id = $1 AND w.place_id = $2 AND w.message_id = $3 AND btrim(w.content) <> ''
GROUP BY o.author_id
"""


async def speaker_of(conn: Db, item: Item) -> Speaker | None:
    """The member for whom the webhook spoke; None where there is none, or more than one."""
    rows = await conn.fetch(PROXIED_SQL, item.space_id, item.place_id, item.message_id, PROXY_WITHIN_S * 1000)
    return Speaker(UserId(rows[0]["author_id"]), rows[0]["answered"]) if len(rows) == 1 else None
