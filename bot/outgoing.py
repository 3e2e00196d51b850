"""What is to go out to Discord, and what became of it: what the one door (bot.writes) is given and gives back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from bot.bodies import Attached, Body, Component
from bot.receipts import Settled
from bot.speech.forms import AnswerForm
from bot.standing import Sought
from memory.ids import MessageId, PlaceId, UserId

PUBLIC_THREAD: Final = 11
ANNOUNCEMENT_THREAD: Final = 10


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send. `since`: the message after which it can only have been sent (the trigger). `attached`: the
    text of a file that comes with it, or the file. `found_by`: the custom_id of a button that no other message has; its
    words may have changed since. `ping_by_reply`: who is replied to is pinged, once."""

    place_id: PlaceId
    content: str
    since: MessageId
    reply_to: MessageId | None = None
    ping: UserId | None = None
    components: Sequence[Component] = ()
    attached: str | Attached | None = None
    found_by: str | None = None
    form: AnswerForm = "plain"
    ping_by_reply: bool = False

    @property
    def sought(self) -> Sought:
        """As it would be found in its place."""
        return Sought(self.place_id, self.content, self.since, self.reply_to, self.found_by)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a write. `message`: Discord's own account of a message that was sent, where there is one.

    `external_id` is the message, or the thread that was made. `retry_after_s` is set where nothing stands against
    trying again, at the earliest after so many seconds. `certain`: it is known that nothing happened (as yet).
    """

    state: Settled
    attempts: int
    external_id: MessageId | None = None
    failure: str | None = None
    message: Mapping[str, Any] | None = None
    retry_after_s: float | None = None
    certain: bool = False


@dataclass(frozen=True, slots=True)
class ThreadStart:
    """A thread to make, at a message or by itself. `found` looks for one that an attempt before may have made.

    `kind` is Discord's type of a thread that stands by itself: 11 public, 10 in an announcement channel.
    """

    place_id: PlaceId
    name: str
    found: Callable[[], Awaitable[PlaceId | None]]
    message_id: MessageId | None = None
    kind: int = PUBLIC_THREAD
    reason: str | None = None

    @property
    def body(self) -> Body:
        """What it is made with. Without a type Discord would make a private thread."""
        return {"name": self.name} if self.message_id is not None else {"name": self.name, "type": self.kind}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a guild, its members or its channels, as a method and a path of Discord's API with the ids in it.
    `external_id`: what it is about.

    `again`: whether doing it twice is the same as once; what is not so is sent once, and then either known or unknown.
    `done`: Discord's refusals that mean that it is as wanted. `reason`: what the guild's audit log says.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    path: str
    ids: Mapping[str, int]
    external_id: int
    json: Body | None = None
    reason: str | None = None
    again: bool = True
    done: frozenset[int] = frozenset()
