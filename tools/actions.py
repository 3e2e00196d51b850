"""What a tool may ask to have done: each action as plain data, before anybody has decided whether it may happen.

An action says what is wanted, and nothing of who wants it: requester, place and trigger are the turn's (I5, I6). A
`place_id` or `message_id` of None is the place of the turn, or the message that is being answered.
"""

from dataclasses import dataclass
from typing import TypeAlias

from memory.ids import MessageId, PlaceId
from memory.kinds import MemoryScope


@dataclass(frozen=True, slots=True)
class React:
    """`emoji` is a Unicode emoji, or `name:id` of a custom one."""

    emoji: str
    message_id: MessageId | None = None
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class RemoveOwnReaction:
    emoji: str
    message_id: MessageId | None = None
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class SendMessage:
    content: str
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class ReplyToMessage:
    content: str
    message_id: MessageId
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class CreateThread:
    """With a `message_id` the thread starts from that message, else it stands by itself."""

    name: str
    message_id: MessageId | None = None
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class EditThread:
    """What is None stays as it is. `slowmode_s` in seconds."""

    thread_id: PlaceId | None = None
    name: str | None = None
    archived: bool | None = None
    locked: bool | None = None
    slowmode_s: int | None = None


@dataclass(frozen=True, slots=True)
class EditOwnMessage:
    message_id: MessageId
    content: str
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class DeleteOwnMessage:
    message_id: MessageId
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class PinMessage:
    message_id: MessageId
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class UnpinMessage:
    message_id: MessageId
    place_id: PlaceId | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """`key` is a stable key such as `preference.editor`; None lets the words themselves be the key."""

    content: str
    kind: str
    key: str | None = None
    scope: MemoryScope = "user"
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """The memory of that id, or the active one of that key in `scope`; exactly one of them is given."""

    memory_id: int | None = None
    key: str | None = None
    scope: MemoryScope = "user"


Action: TypeAlias = (
    React
    | RemoveOwnReaction
    | SendMessage
    | ReplyToMessage
    | CreateThread
    | EditThread
    | EditOwnMessage
    | DeleteOwnMessage
    | PinMessage
    | UnpinMessage
    | Remember
    | Forget
)
