"""A wish: an action with nothing left open, in the one form by which it is recognised the next time (I4).

The canonical arguments name the message, the place and the words; their digest is the receipt's. Ids are strings, since
JSON's numbers do not hold them everywhere.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, assert_never, get_args

import orjson

from bot.payloads import clean
from memory.ids import MessageId, PlaceId
from tools.actions import (
    Action,
    CreateThread,
    DeleteOwnMessage,
    EditOwnMessage,
    EditThread,
    Forget,
    PinMessage,
    React,
    Remember,
    RemoveOwnReaction,
    ReplyToMessage,
    SendMessage,
    UnpinMessage,
)

WishName = Literal[
    "react",
    "remove_own_reaction",
    "send_message",
    "reply_to_message",
    "create_thread",
    "edit_thread",
    "edit_own_message",
    "delete_own_message",
    "pin_message",
    "unpin_message",
    "remember",
    "forget",
]
WISH_NAMES: Final[tuple[WishName, ...]] = get_args(WishName)

_NAMES: Final[Mapping[type[Action], WishName]] = {
    React: "react",
    RemoveOwnReaction: "remove_own_reaction",
    SendMessage: "send_message",
    ReplyToMessage: "reply_to_message",
    CreateThread: "create_thread",
    EditThread: "edit_thread",
    EditOwnMessage: "edit_own_message",
    DeleteOwnMessage: "delete_own_message",
    PinMessage: "pin_message",
    UnpinMessage: "unpin_message",
    Remember: "remember",
    Forget: "forget",
}
_ACTIONS: Final[Mapping[str, type[Any]]] = {each.__name__: each for each in get_args(Action)}


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted. `place_id` is where it acts, `message_id` the message that it acts on (or starts from).

    `args` is what makes it the same effect the next time; `kept` is what its receipt may show of that.
    """

    name: WishName
    action: Action
    place_id: PlaceId
    message_id: MessageId | None
    args: Mapping[str, object]
    kept: Mapping[str, object]

    @property
    def digest(self) -> bytes:
        """The canonical argument digest: sorted keys, no white space."""
        return digest_of(self.args)

    @property
    def is_memory(self) -> bool:
        """Whether it changes memory and nothing in Discord."""
        return isinstance(self.action, Remember | Forget)


def digest_of(args: Mapping[str, object]) -> bytes:
    """The digest of canonical arguments."""
    return blake2b(orjson.dumps(args, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def wish_of(action: Action, *, here: PlaceId, trigger_id: MessageId) -> Wish:
    """The wish that `action` is for a turn in `here` whose trigger is `trigger_id`."""
    place_id, message_id, args = _read(action, here, trigger_id)
    name = _NAMES[type(action)]
    if isinstance(action, Remember | Forget):
        # Words of a memory stay in memory, where they can be forgotten.
        return Wish(name, action, place_id, message_id, args, {"scope": action.scope})
    return Wish(name, action, place_id, message_id, args, args)


def dump_action(action: Action) -> dict[str, object]:
    """The action as JSON holds it."""
    return {"is": type(action).__name__, **asdict(action)}


def load_action(stored: Mapping[str, Any]) -> Action:
    """The action that `dump_action` wrote. Raises KeyError or TypeError for what this version does not know."""
    fields = dict(stored)
    return _ACTIONS[str(fields.pop("is"))](**fields)


def words_of(content: str) -> str:
    """The content of a message as Discord will have it: trimmed, and without what PostgreSQL cannot hold."""
    return clean(content).strip()


def _read(action: Action, here: PlaceId, trigger_id: MessageId) -> tuple[PlaceId, MessageId | None, dict[str, object]]:
    """Where it acts, on what, and its canonical arguments."""
    match action:
        case React() | RemoveOwnReaction():
            message_id = action.message_id or trigger_id
            return action.place_id or here, message_id, {"message_id": str(message_id), "emoji": action.emoji}
        case SendMessage():
            place_id = action.place_id or here
            return place_id, None, {"place_id": str(place_id), "content": words_of(action.content)}
        case ReplyToMessage() | EditOwnMessage():
            args = {"message_id": str(action.message_id), "content": words_of(action.content)}
            return action.place_id or here, action.message_id, {**args}
        case CreateThread():
            place_id = action.place_id or here
            start = None if action.message_id is None else str(action.message_id)
            named = {"place_id": str(place_id), "message_id": start, "name": words_of(action.name)}
            return place_id, action.message_id, {**named}
        case EditThread():
            place_id = action.thread_id or here
            return place_id, None, {"thread_id": str(place_id), **changes_of(action)}
        case DeleteOwnMessage() | PinMessage() | UnpinMessage():
            return action.place_id or here, action.message_id, {"message_id": str(action.message_id)}
        case Remember() | Forget():
            return here, None, asdict(action)
        case _:
            assert_never(action)


def changes_of(action: EditThread) -> dict[str, object]:
    """What an EditThread changes, in Discord's fields; slow mode in seconds."""
    fields: dict[str, object | None] = {
        "name": None if action.name is None else words_of(action.name),
        "archived": action.archived,
        "locked": action.locked,
        "rate_limit_per_user": action.slowmode_s,
    }
    return {name: value for name, value in fields.items() if value is not None}
