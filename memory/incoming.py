"""What the journal takes in: events, and what they change. Plain data, made from Discord's payloads by bot.events.

Events and messages are tuples, since each message that comes makes one of both: a frozen dataclass takes thrice as
long to make.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from memory.audience import Place, Role
from memory.ids import MessageId, PlaceId, SpaceId, UserId

Source = Literal["gateway", "backfill", "action"]
Ack = Literal["committed", "duplicate", "parked"]
"""What became of an event; each is an answer after a COMMIT."""

AuthorKind = Literal["member", "self", "bot", "webhook", "system"]
Reason = Literal["mention", "reply", "dm", "edit", "thread", "room", "bot", "proxy", "joined", "left"]
"""How a message concerns the bot; bot.addressing says what each means."""


class MessageSeen(NamedTuple):
    """A message as it stood at `version_at`: when it was made, or last edited. Times are Discord's."""

    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    author_id: UserId
    author_kind: AuthorKind
    author_name: str
    content: str
    reply_to_id: MessageId | None
    extras: str
    created_at: datetime
    version_at: datetime
    edited_at: datetime | None


@dataclass(frozen=True, slots=True)
class MessageGone:
    """A message was deleted."""

    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId


@dataclass(frozen=True, slots=True)
class ReactionAdded:
    """Somebody reacted."""

    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    user_id: UserId
    emoji: str


@dataclass(frozen=True, slots=True)
class ReactionsRemoved:
    """Reactions went: of one person or (None) of all, with one emoji or (None) with any."""

    space_id: SpaceId
    message_id: MessageId
    user_id: UserId | None
    emoji: str | None


@dataclass(frozen=True, slots=True)
class GuildTold:
    """A guild as a whole: all of its roles, channels, and the active threads that we see."""

    space_id: SpaceId
    roles: tuple[Role, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class GuildsUnconfirmed:
    """A session began, which will tell of these guilds again: what changed in them meanwhile nobody was told."""

    space_ids: tuple[SpaceId, ...]


@dataclass(frozen=True, slots=True)
class RoleTold:
    """A role as it is now."""

    space_id: SpaceId
    role: Role


@dataclass(frozen=True, slots=True)
class RoleGone:
    """A role was deleted."""

    space_id: SpaceId
    role_id: int


@dataclass(frozen=True, slots=True)
class PlaceTold:
    """A channel or thread as it is now."""

    space_id: SpaceId
    place: Place


@dataclass(frozen=True, slots=True)
class PlaceGone:
    """A channel or thread was deleted."""

    space_id: SpaceId
    place_id: PlaceId


@dataclass(frozen=True, slots=True)
class GuildLeft:
    """The bot is no longer in the guild; one that is merely unavailable was not left."""

    space_id: SpaceId


Structure = GuildTold | GuildsUnconfirmed | GuildLeft | RoleTold | RoleGone | PlaceTold | PlaceGone
Change = MessageSeen | MessageGone | ReactionAdded | ReactionsRemoved | Structure


class Incoming(NamedTuple):
    """One event on its way into the ledger. `payload` is JSON text that PostgreSQL can hold."""

    kind: str
    key: str
    space_id: SpaceId
    place_id: PlaceId | None
    message_id: MessageId | None
    subject_ids: tuple[int, ...]
    source: Source
    payload: str
    change: Change | None = None
    addressed: Reason | None = None
    nonce: str | None = None
