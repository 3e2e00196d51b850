"""Messages and the shelf on which a place keeps them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .clock import created_at
from .components import texts

if TYPE_CHECKING:
    from .emoji import Emoji
    from .events import Payload
    from .people import Role, User
    from .places import Channel, Thread
    from .polls import Poll

DEFAULT = 0
REPLY = 19
SLASH_COMMAND = 20
CONTEXT_COMMAND = 23
CHAT_COMMANDS = frozenset({DEFAULT, REPLY, SLASH_COMMAND, CONTEXT_COMMAND})
RECIPIENT_ADDED, RECIPIENT_REMOVED = 1, 2
NAME_CHANGED = 4
PINNED = 6
THREAD_CREATED = 18
THREAD_STARTER = 21
POLL_RESULT = 46

SUPPRESS_EMBEDS = 1 << 2
HAS_THREAD = 1 << 5
EPHEMERAL = 1 << 6
LOADING = 1 << 7
SUPPRESS_NOTIFICATIONS = 1 << 12
IS_COMPONENTS_V2 = 1 << 15
IS_VOICE_MESSAGE = 1 << 13
SETTABLE_FLAGS = SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | IS_COMPONENTS_V2 | IS_VOICE_MESSAGE
HAS_SNAPSHOT = 1 << 14


@dataclass(frozen=True, slots=True)
class File:
    """A file to attach. Voice messages have their length in ``seconds`` and their shape in ``waveform`` (base64)."""

    filename: str
    content: bytes
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    waveform: str | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file on the sandbox's CDN."""

    id: int
    channel_id: int
    file: File


@dataclass(frozen=True, slots=True)
class Reference:
    """What a message points at: kind 0 a reply (or a thread starter), kind 1 a forward."""

    channel_id: int
    message_id: int | None
    guild_id: int | None
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Pings:
    """Who was really notified, after allowed_mentions and permissions."""

    users: tuple[User, ...] = ()
    roles: tuple[Role, ...] = ()
    everyone: bool = False
    replied_user: User | None = None

    def __bool__(self) -> bool:
        return bool(self.users or self.roles or self.everyone or self.replied_user)

    def __str__(self) -> str:
        names = [f"@{u.display_name}" for u in self.users] + [f"@{r.name}" for r in self.roles]
        names += ["@everyone"] if self.everyone else []
        names += [f"reply:{self.replied_user.display_name}"] if self.replied_user else []
        return " ".join(names) or "nobody"


@dataclass(frozen=True, slots=True)
class Ping:
    """One message (or edit) that notified somebody."""

    message: Message
    pings: Pings
    by_edit: bool = False


@dataclass(slots=True, eq=False)
class Reaction:
    emoji: Emoji
    users: dict[int, User] = field(default_factory=dict[int, "User"])


@dataclass(slots=True, eq=False)
class Message:
    """A message as the sandbox knows it, deleted or not. Identity is the object."""

    id: int
    channel: Channel = field(repr=False)
    author: User = field(repr=False)
    content: str
    kind: int = DEFAULT
    edited_at: float | None = None
    pings: Pings = Pings()
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    embeds: list[Payload] = field(default_factory=list["Payload"])
    components: list[Payload] = field(default_factory=list["Payload"])
    stickers: list[Payload] = field(default_factory=list["Payload"])
    snapshots: list[Payload] = field(default_factory=list["Payload"])
    reactions: dict[str, Reaction] = field(default_factory=dict[str, Reaction])
    reference: Reference | None = None
    referenced: Message | None = field(default=None, repr=False)
    thread: Thread | None = field(default=None, repr=False)
    position: int | None = None
    nonce: str | int | None = None
    flags: int = 0
    tts: bool = False
    pinned_at: float | None = None
    poll: Poll | None = None
    deleted: bool = False
    past: list[str] = field(default_factory=list[str], repr=False)
    old_edits: list[float] = field(default_factory=list[float], repr=False)
    interaction: Payload | None = field(default=None, repr=False)
    """What an answer to an interaction shows of it; None for every other message."""
    seen_by: User | None = field(default=None, repr=False)
    """The only one who sees an ephemeral message; None for all others. Ephemeral ones stand on no shelf."""

    @property
    def created_at(self) -> float:
        """Seconds since 1970 on the sandbox's clock."""
        return created_at(self.id)

    @property
    def pinned(self) -> bool:
        return self.pinned_at is not None

    @property
    def reply_to(self) -> Message | None:
        return self.referenced if self.kind == REPLY else None

    @property
    def ephemeral(self) -> bool:
        """Whether only the member who used the command or component sees it."""
        return self.seen_by is not None

    @property
    def displayed(self) -> str:
        """The text that people read: the content, or with Components V2 the text displays, and what embeds say."""
        embedded = [embed.get(part) for embed in self.embeds for part in ("title", "description")]
        said = [self.content or "\n".join(texts(self.components)), *(str(text) for text in embedded if text)]
        return "\n".join(text for text in said if text)

    @property
    def loading(self) -> bool:
        """Whether it says that the application is thinking, until the application edits it."""
        return bool(self.flags & LOADING)

    @property
    def mention_everyone(self) -> bool:
        return self.pings.everyone

    def __str__(self) -> str:
        return f"{self.author.display_name}: {self.content}"


class Shelf:
    """A place's messages in the order of their ids, the deleted ones too."""

    __slots__ = ("_by_id", "_ids")

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._by_id: dict[int, Message] = {}

    def put(self, message: Message) -> None:
        self._ids.append(message.id)
        self._by_id[message.id] = message

    def find(self, message_id: int) -> Message | None:
        """A message, deleted or not."""
        return self._by_id.get(message_id)

    def get(self, message_id: int) -> Message | None:
        """A message that is still there."""
        message = self._by_id.get(message_id)
        return None if message is None or message.deleted else message

    @property
    def last_id(self) -> int | None:
        return self._ids[-1] if self._ids else None

    def live(self) -> list[Message]:
        """Oldest first."""
        return [message for message in self._by_id.values() if not message.deleted]

    def live_after(self, message_id: int) -> Iterator[Message]:
        """Oldest first, from the one that follows."""
        return self._live_at(range(bisect_right(self._ids, message_id), len(self._ids)))

    def everything(self) -> list[Message]:
        return list(self._by_id.values())

    def before(self, message_id: int | None, limit: int) -> list[Message]:
        """Newest first; None is from the end."""
        end = len(self._ids) if message_id is None else bisect_left(self._ids, message_id)
        return _take(self._live_at(range(end - 1, -1, -1)), limit)

    def after(self, message_id: int, limit: int) -> list[Message]:
        """The ``limit`` messages that follow, newest first as Discord sends them."""
        start = bisect_right(self._ids, message_id)
        return _take(self._live_at(range(start, len(self._ids))), limit)[::-1]

    def around(self, message_id: int, limit: int) -> list[Message]:
        """The message in the middle, newest first."""
        half = limit // 2
        here = self.get(message_id)
        middle: Sequence[Message] = () if here is None else (here,)
        return [*self.after(message_id, half), *middle, *self.before(message_id, max(limit - half - len(middle), 0))]

    def _live_at(self, indexes: range) -> Iterator[Message]:
        for index in indexes:
            message = self._by_id[self._ids[index]]
            if not message.deleted:
                yield message


def _take(messages: Iterator[Message], limit: int) -> list[Message]:
    return [message for message, _ in zip(messages, range(limit), strict=False)]
