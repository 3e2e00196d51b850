"""What is on record, as plain data: texts in excerpts of bounded size, times as the database has them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from agent.contracts import Effect
from bot.addressing import Reason
from bot.cards import CardState
from bot.receipts import State as ReceiptState
from bot.turns import Outcome, TurnState
from memory.ids import MessageId, PlaceId, RunId, SpaceId, TurnId, UserId
from memory.incoming import AuthorKind, Source

MOST_CHARACTERS: Final = 4000
"""Of a text: an argument list, a result, a payload."""

MOST_ROWS: Final = 100
"""Of events, receipts and revisions, the newest; of calls, the first."""

RunState = Literal["running", "answered", "failed", "cancelled"]
CallState = Literal["planned", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text that has `characters` in all."""

    text: str
    characters: int

    @property
    def is_whole(self) -> bool:
        return len(self.text) == self.characters


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One row of the ledger. `payload` is JSON text; None where retention has removed it."""

    event_id: int
    kind: str
    event_key: str
    source: Source
    received_at: datetime
    payload: Excerpt | None


@dataclass(frozen=True, slots=True)
class Revision:
    """Words that a newer edit replaced."""

    version_at: datetime
    content: str


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message as the journal holds it. `author_id` is None where only its deletion was heard of.

    `revisions` are its former words, oldest first; `reactions` are (emoji, how many).
    """

    message_id: MessageId
    place_id: PlaceId
    author_id: UserId | None
    author_kind: AuthorKind | None
    author_name: str | None
    content: str
    reply_to_id: MessageId | None
    created_at: datetime
    version_at: datetime
    edited_at: datetime | None
    deleted_at: datetime | None
    revisions: tuple[Revision, ...] = ()
    reactions: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class InboxRecord:
    """That the message addressed us, and what the router made of it."""

    reason: Reason
    state: Literal["waiting", "routed", "ignored"]
    arrived_at: datetime


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn. `parts` counts the messages of its composed answer."""

    turn_id: TurnId
    place_id: PlaceId
    author_id: UserId
    trigger_id: MessageId
    state: TurnState
    outcome: Outcome | None
    end_reason: str | None
    attempts: int
    parts: int
    triggered_at: datetime
    queued_at: datetime
    started_at: datetime | None
    composed_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReceiptRecord:
    """One external effect. `arguments` is JSON text; `external_id` is what Discord called the result."""

    receipt_id: int
    action: str
    arguments: Excerpt
    state: ReceiptState
    external_id: int | None
    failure: str | None
    attempts: int
    intended_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class CardRecord:
    """A question by which an action waited for its requester. `told` is what was said of it in the end."""

    card_id: int
    action: str
    question: str
    requester_id: UserId
    state: CardState
    message_id: MessageId | None
    code: str | None
    told: str | None
    asked_at: datetime
    expires_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run without what happened in it. `place_id` and `trigger_id` are its turn's.

    `fallback_steps` were said by the fallback model; `cost` is in the currency of the prices that are set. Where
    `expired_at` is set, only the `summary` and the shape of the calls are left.
    """

    run_id: RunId
    turn_id: TurnId
    place_id: PlaceId
    trigger_id: MessageId
    author_id: UserId
    state: RunState
    model: str
    end_reason: str | None
    steps: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    started_at: datetime
    ended_at: datetime | None
    error_code: str | None = None
    fallback_steps: int = 0
    cost: Decimal | None = None
    summary: str | None = None
    expired_at: datetime | None = None

    @property
    def how(self) -> str:
        """What became of it, in how much: for people, on a line."""
        return run_in_words(self.state, self.end_reason, self.steps, self.calls)


def run_in_words(state: str, end_reason: str | None, steps: int, calls: int) -> str:
    """The state of a run, the reason where it says more, and what it took."""
    why = f" ({end_reason})" if end_reason and end_reason != state else ""
    return f"{state}{why}, {steps} step{'s' * (steps != 1)}, {calls} call{'s' * (calls != 1)}"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call, by its ordinal in the step. `arguments` is as the model wrote them, `result` is JSON text.

    `from_record`: it was not done again, but answered by what was on record.
    """

    ordinal: int
    tool: str
    effect: Effect
    state: CallState
    error_code: str | None
    arguments: Excerpt
    result: Excerpt | None
    planned_at: datetime
    settled_at: datetime | None
    took_ms: int | None = None
    from_record: bool = False


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One model call: what it said (None if it said nothing), and the tool calls it asked for.

    `first_ms` and `took_ms`: until its first and its last token.
    """

    step: int
    said: Excerpt | None
    finish: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    said_at: datetime
    calls: tuple[CallRecord, ...] = ()
    first_ms: int | None = None
    took_ms: int | None = None
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class MessageReport:
    """All that is on record for a message. `turn` is the one that it triggered, or whose answer it is."""

    space_id: SpaceId
    message_id: MessageId
    events: tuple[EventRecord, ...]
    message: MessageRecord | None
    inbox: InboxRecord | None
    turn: TurnRecord | None
    runs: tuple[RunSummary, ...]
    receipts: tuple[ReceiptRecord, ...]
    cards: tuple[CardRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class RunReport:
    """All that is on record for a run; the receipts are its turn's."""

    space_id: SpaceId
    run: RunSummary
    steps: tuple[StepRecord, ...]
    receipts: tuple[ReceiptRecord, ...]


def excerpt(text: str) -> Excerpt:
    """The beginning of a text, and how long it is."""
    return Excerpt(text[:MOST_CHARACTERS], len(text))
