"""What tools need of Discord and of the web, and the trusted facts of a turn. None of it comes from a model (I5, I6).

Each port is bound to one turn: requester, space, place and trigger are its own, so that no method takes them. What is
refused raises tools.errors.Refused, with a stable code and a sentence for the model (I16).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from memory.database import Db
from memory.ids import MessageId, PlaceId, RunId, UserId
from memory.recall import Recall
from memory.scope import Scope
from tools.actions import Action


@dataclass(frozen=True, slots=True)
class ActionReport:
    """What became of an action, as its receipt says; `asked`: the requester was shown a card, and nothing happened yet.

    `code` is stable and None when applied (`confirmation_needed` when asked); `message` is one sentence that the model
    may see. `external_id` is what was made or changed: a message, a thread, a memory; `place_id` is where.
    `from_record`: nothing was done now, the same had come to this end before.
    """

    state: Literal["applied", "refused", "unknown", "asked"]
    code: str | None = None
    message: str = ""
    external_id: int | None = None
    place_id: int | None = None
    from_record: bool = False


class Actions(Protocol):
    async def perform(self, action: Action) -> ActionReport:
        """Decide whether the action may run now, and run it under its receipt (I4, I5).

        The same action again finds the same receipt and is answered from it.
        """
        ...


AuthorKind: TypeAlias = Literal["member", "self", "bot", "webhook", "system"]


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message as Discord shows it now. Names and texts are other people's words, as they stand: quote them (I12)."""

    message_id: MessageId
    place_id: PlaceId
    author_id: UserId
    author_name: str
    author_kind: AuthorKind
    content: str
    created_at: datetime
    edited_at: datetime | None = None
    reply_to_id: MessageId | None = None
    pinned: bool = False
    attachments: tuple[str, ...] = ()
    embeds: tuple[str, ...] = ()
    forwarded: tuple[str, ...] = ()
    poll: str | None = None
    reactions: tuple[tuple[str, int], ...] = ()
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    """What those whom it mentions are called."""


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Neighbouring messages of one place, oldest first; `more` says whether there are others beyond them."""

    place_id: PlaceId
    messages: tuple[ReadMessage, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class ReadChannel:
    """A channel that the requester can see. `kind` is Discord's word for it: text, voice, forum, ..."""

    place_id: PlaceId
    name: str
    kind: str
    category: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ReadThread:
    """A thread that the requester can see. `messages` is Discord's count, which it gives up at large numbers."""

    place_id: PlaceId
    parent_id: PlaceId
    name: str
    is_private: bool
    archived: bool
    locked: bool
    messages: int | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReadMember:
    """A member as everybody in the guild sees them. `roles` are names, highest first."""

    user_id: UserId
    name: str
    display_name: str
    nick: str | None
    roles: tuple[str, ...]
    joined_at: datetime | None
    is_bot: bool
    is_owner: bool


class DiscordReads(Protocol):
    """Discord as the requester and the bot can both see it, read fresh. Raises Refused.

    A `place_id` of None is the place of the turn. Codes: `not_found`, `no_access` (for the requester or the bot),
    `discord_unavailable` (nobody can say), `not_here` (a DM has no channels, threads or members).
    """

    async def read_messages(
        self,
        *,
        place_id: PlaceId | None,
        limit: int,
        before: MessageId | None = None,
        after: MessageId | None = None,
    ) -> MessagePage:
        """At most `limit` (1 to 100) messages: the newest, the last ones before `before`, or the first after `after`.

        At most one of `before` and `after` is given.
        """
        ...

    async def get_message(self, message_id: MessageId, *, place_id: PlaceId | None) -> ReadMessage:
        """One message of a place."""
        ...

    async def list_channels(self) -> Sequence[ReadChannel]:
        """In the order in which Discord shows them."""
        ...

    async def list_threads(self, *, place_id: PlaceId | None, archived: bool) -> Sequence[ReadThread]:
        """The active threads of a channel, or its archived ones; newest first."""
        ...

    async def get_member(self, user_id: UserId | None) -> ReadMember:
        """That member of this guild; None is the requester."""
        ...


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page as it was fetched at `fetched_at`. `text` is its main content, somebody else's words (I12).

    A page that could not be read has `is_read` off, and what the search says of it as its text.
    """

    url: str
    title: str
    text: str
    fetched_at: datetime
    is_read: bool = True


class WebResearch(Protocol):
    async def search(self, query: str, *, limit: int) -> Sequence[WebPage]:
        """The best pages of the web for the words of `query`, best first.

        Raises Refused: `web_unavailable`, `web_timeout`, `web_rate_limited`, `web_refused`; each says that live
        research failed.
        """
        ...


ActivityKind: TypeAlias = Literal["any", "answered", "failed", "acted", "researched"]
"""Which runs: all, those with an answer, those without, those that wrote something, those that asked the web."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A finished run of the bot in this place. `summary` is one to three sentences; `keywords`: tools, error codes.

    `request` is what its trigger says now, somebody else's words (I12).
    """

    run_id: RunId
    trigger_id: MessageId
    author_id: UserId
    state: str
    end_reason: str | None
    summary: str
    keywords: tuple[str, ...]
    request: str
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class PastCall:
    """A tool call of a past run, in the model's order."""

    step: int
    ordinal: int
    tool: str
    state: str
    error_code: str | None
    preview: str


@dataclass(frozen=True, slots=True)
class RunLog:
    """A past run with its calls in the model's order."""

    run: PastRun
    calls: tuple[PastCall, ...]


class Activity(Protocol):
    """What the bot itself did in the turn's place, newest first; the running run is left out (I7)."""

    async def list(self, *, kind: ActivityKind, limit: int) -> Sequence[PastRun]:
        """The newest `limit` runs."""
        ...

    async def search(self, query: str, *, kind: ActivityKind, limit: int) -> Sequence[PastRun]:
        """The `limit` runs whose request, summary or keywords have words of `query`, best first."""
        ...

    async def get(self, run_id: RunId) -> RunLog:
        """Raises Refused (`not_found`) for a run that is not this place's."""
        ...


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Who asked, where, and what a tool may use. Made by the turn from its event; arguments cannot change it.

    `scope` is the place of the turn, `trigger_id` its (newest) trigger message, `db` a pool or connection for reads.
    `is_direct`: the turn is in a direct conversation, which is a space of its own. A port that is None is not there,
    and the tools that need it are not offered.
    """

    scope: Scope
    trigger_id: MessageId
    author_id: UserId
    author_name: str
    db: Db
    actions: Actions
    is_direct: bool = False
    discord: DiscordReads | None = None
    web: WebResearch | None = None
    activity: Activity | None = None
    recall: Recall | None = None
