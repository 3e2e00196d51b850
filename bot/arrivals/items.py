"""What waits in the inbox, and what can become of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol, TypeAlias

from memory.choices import READ
from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, UserId, snowflake_time
from memory.incoming import Reason

TurnReason: TypeAlias = Literal["mention", "reply", "dm", "edit", "thread", "room", "bot", "proxy", "ambient"]
"""How it came to a turn. `ambient`: nobody asked, and silence is an answer."""

ASKED: Final = frozenset({"mention", "reply", "dm", "edit", "bot", "proxy"})
"""Those whose author waits for an answer."""


@dataclass(frozen=True, slots=True)
class Item:
    """A message in the inbox. `gone`: it was deleted before it was looked at. `unread`: its author chose that
    no model reads it. `chars`: the length of its words.

    `age_s` since it was said, `waited_s` since it came here, by the database's clock. `before_id` is the message that
    its author wrote just before it, where that was `cut`: then this may be its rest. `cut`: it may be the beginning of
    what was longer than a message can be, since it is nearly as long; what has a file of its own is whole.
    `words` are as many as a route looks at.
    """

    inbox_id: int
    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    author_id: UserId
    reason: Reason
    gone: bool
    unread: bool
    chars: int
    edited_at: datetime | None
    age_s: float
    waited_s: float
    before_id: MessageId | None
    words: str = ""
    reply_to_id: MessageId | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Journalled:
    """A message as a route sees it when it is to claim it: words and facts of the journal, nothing of Discord's."""

    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    author_id: UserId
    content: str
    reply_to_id: MessageId | None


class Claims(Protocol):
    def claim(self, message: Journalled) -> str | None:
        """The deterministic route that claims the message; None where none does."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an item: a turn that waits, or one that has ended (`cancelled`); `notice`: said instead of an
    answer. `author_id`: whom a proxy spoke for. `delay_s`: the turn begins no sooner. `route`: which
    deterministic route claimed it."""

    item: Item
    reason: TurnReason
    cancelled: str | None = None
    notice: str | None = None
    author_id: UserId | None = None
    delay_s: float = 0.0
    route: str | None = None

    @property
    def triggered_at(self) -> datetime:
        """When it was said, by Discord's clock: the answer window counts from there, or from the edit that asked."""
        if self.reason == "edit" and self.item.edited_at is not None:
            return self.item.edited_at
        return snowflake_time(self.item.message_id)


@dataclass(frozen=True, slots=True)
class Ignored:
    """No turn comes of it, and nothing is said."""

    item: Item


@dataclass(frozen=True, slots=True)
class PutOff:
    """It is looked at again, after some seconds."""

    item: Item
    after_s: float


@dataclass(frozen=True, slots=True)
class Joined:
    """It is the rest of the message `before_id`, and belongs to its turn."""

    item: Item
    before_id: MessageId


Fate: TypeAlias = Decision | Ignored | PutOff | Joined

LONG_CHARS: Final = 1_800
"""A message of so many characters may go on in the next one: what is longer than Discord's 2,000 is split at the last
space or line break before them."""

REST_S: Final = 3.0
"""Within so many seconds the next piece is sent."""

# What waits in the inbox, to be decided on. Pieces of a paste are known by their length and by how soon they follow:
# $2 milliseconds, $3 characters.
WAITING_INBOX_SQL: Final = f"""
SELECT i.inbox_id, i.space_id, i.place_id, i.message_id, i.author_id, i.reason, m.deleted_at IS NOT NULL AS gone,
       NOT {READ.format(author="i.author_id")} AS unread, coalesce(length(m.content), 0) AS chars, m.edited_at,
       extract(epoch FROM now() - coalesce(m.created_at, i.arrived_at))::float8 AS age_s,
       extract(epoch FROM now() - i.arrived_at)::float8 AS waited_s,
       CASE WHEN p.cut THEN p.message_id END AS before_id, left(coalesce(m.content, ''), 700) AS words,
       m.reply_to_id, coalesce(length(m.content) >= $3 AND NOT m.extras ? 'attachments', false) AS cut
FROM discord_inbox i
LEFT JOIN chat_messages m USING (space_id, message_id)
LEFT JOIN LATERAL (
    SELECT b.message_id, length(b.content) >= $3 AND NOT b.extras ? 'attachments' AS cut FROM chat_messages b
    WHERE b.space_id = i.space_id AND b.place_id = i.place_id AND b.message_id < i.message_id
      AND b.message_id > i.message_id - ($2::bigint << 22) AND b.author_id = i.author_id AND b.deleted_at IS NULL
    ORDER BY b.message_id DESC LIMIT 1
) AS p ON true
WHERE i.state = 'waiting' AND i.due_at <= now() ORDER BY i.inbox_id LIMIT $1
"""


async def waiting(conn: Db, most: int) -> list[Item]:
    """At most `most` items that are due, in the order in which they came."""
    rows = await conn.fetch(WAITING_INBOX_SQL, most, int(REST_S * 1000), LONG_CHARS)
    return [Item(**dict(row)) for row in rows]
