"""What tools need of Discord, and the trusted facts of a turn. None of it comes from a model (I5, I6)."""

from dataclasses import dataclass
from typing import Literal, Protocol

from memory.database import Db
from memory.ids import MessageId, UserId
from memory.scope import Scope


@dataclass(frozen=True, slots=True)
class ActionReport:
    """What became of an external effect, as its receipt says.

    `code` is stable and None when applied; `message` is one sentence that the model may see.
    """

    state: Literal["applied", "refused", "unknown"]
    code: str | None = None
    message: str = ""


class Reactor(Protocol):
    async def react(self, emoji: str) -> ActionReport:
        """Put a reaction on the message that triggered the turn, and on no other.

        `emoji` is a Unicode emoji, or `name:id` of a custom one. Doing it again finds the same receipt (I4).
        """
        ...


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Who asked, where, and what a tool may use. Made by the turn from its event; arguments cannot change it.

    `scope` is the place of the turn, `trigger_id` its (newest) trigger message, `db` a pool or connection for reads.
    """

    scope: Scope
    trigger_id: MessageId
    author_id: UserId
    author_name: str
    db: Db
    reactor: Reactor
