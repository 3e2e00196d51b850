"""Inspection: what is on record for a message or a run, to be shown to whoever may see it.

Read-only, and without an opinion on who may see what: the caller decides that first, and renders afterwards. Every
statement carries the space (I6). Texts come in excerpts of bounded size, payloads without secrets (I13).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, cast

import orjson

from agent.contracts import Effect
from bot.addressing import Reason
from bot.payloads import without_secrets
from bot.receipts import State as ReceiptState
from bot.turns import Outcome, TurnState
from memory.database import Db
from memory.ids import MessageId, PlaceId, RunId, SpaceId, TurnId, UserId
from memory.incoming import AuthorKind, Source
from memory.scope import Scope, fetch_scoped

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
class RunSummary:
    """A run without what happened in it. `place_id` and `trigger_id` are its turn's."""

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


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call, by its ordinal in the step. `arguments` is as the model wrote them, `result` is JSON text."""

    ordinal: int
    tool: str
    effect: Effect
    state: CallState
    error_code: str | None
    arguments: Excerpt
    result: Excerpt | None
    planned_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One model call: what it said (None if it said nothing), and the tool calls it asked for."""

    step: int
    said: Excerpt | None
    finish: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    said_at: datetime
    calls: tuple[CallRecord, ...] = ()


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


@dataclass(frozen=True, slots=True)
class RunReport:
    """All that is on record for a run; the receipts are its turn's."""

    space_id: SpaceId
    run: RunSummary
    steps: tuple[StepRecord, ...]
    receipts: tuple[ReceiptRecord, ...]


async def message_report(db: Db, space_id: SpaceId, message_id: MessageId) -> MessageReport:
    """What is on record for a message of that space (or, by its id, an interaction); empty where nothing is.

    Several statements: inside a REPEATABLE READ transaction they see one moment, else each its own.
    """
    turn = await _turn(db, space_id, message_id)
    inbox = await db.fetchrow(INBOX_OF_MESSAGE_SQL, space_id, message_id)
    return MessageReport(
        space_id,
        message_id,
        await _events(db, space_id, message_id),
        await _message(db, space_id, message_id),
        InboxRecord(**dict(inbox)) if inbox is not None else None,
        turn,
        await _runs(db, space_id, turn.turn_id) if turn is not None else (),
        await _receipts(db, space_id, turn, message_id),
    )


async def run_report(db: Db, space_id: SpaceId, run_id: RunId) -> RunReport | None:
    """What is on record for a run; None where the space has none of that number."""
    row = await db.fetchrow(RUN_SQL, space_id, run_id)
    if row is None:
        return None
    run = RunSummary(**dict(row))
    receipts = await db.fetch(RECEIPTS_SQL, space_id, run.turn_id, run.trigger_id, MOST_CHARACTERS, MOST_ROWS)
    return RunReport(space_id, run, await _steps(db, space_id, run_id), tuple(_receipt(each) for each in receipts))


_RUN_COLUMNS: Final = """
r.run_id, r.turn_id, t.place_id, t.trigger_id, t.author_id, r.state, r.model, r.end_reason, r.steps, r.calls,
r.prompt_tokens, r.completion_tokens, r.started_at, r.ended_at
"""
# The newest runs of a place.
RECENT_RUNS_SQL: Final = f"""
SELECT {_RUN_COLUMNS}
FROM turns t JOIN agent_runs r ON r.turn_id = t.turn_id
WHERE t.space_id = $1 AND t.place_id = $2 ORDER BY t.turn_id DESC, r.run_id DESC LIMIT $3
"""


async def recent_runs(db: Db, scope: Scope, *, most: int) -> tuple[RunSummary, ...]:
    """At most `most` runs of the place, the newest turn's first."""
    return tuple(RunSummary(**dict(row)) for row in await fetch_scoped(db, RECENT_RUNS_SQL, scope, most))


# The newest events about a message, or the interaction of that id.
EVENTS_OF_MESSAGE_SQL: Final = """
SELECT event_id, kind, event_key, source, received_at, payload::text AS payload FROM discord_events
WHERE space_id = $1 AND event_key IN ('create:' || $2::bigint, 'interaction:' || $2::bigint)
UNION ALL
(SELECT event_id, kind, event_key, source, received_at, payload::text FROM discord_events
 WHERE space_id = $1 AND message_id = $2 AND kind <> 'MESSAGE_CREATE'
 ORDER BY event_id DESC LIMIT $3)
ORDER BY event_id
"""


async def _events(db: Db, space_id: SpaceId, message_id: MessageId) -> tuple[EventRecord, ...]:
    rows = await db.fetch(EVENTS_OF_MESSAGE_SQL, space_id, message_id, MOST_ROWS)
    return tuple(_event(row) for row in rows)


def _event(row: Any) -> EventRecord:
    fields: dict[str, Any] = dict(row)
    fields["payload"] = _payload(fields["payload"])
    return EventRecord(**fields)


def _payload(stored: str | None) -> Excerpt | None:
    """The journal stores none of the secrets that it knows of; one that it learns of later may stand in older rows."""
    return None if stored is None else _cut(orjson.dumps(without_secrets(orjson.loads(stored))).decode())


# A message as it stands, deleted or not.
MESSAGE_SQL: Final = """
SELECT message_id, place_id, author_id, author_kind, author_name, content, reply_to_id, created_at, version_at,
       edited_at, deleted_at
FROM chat_messages WHERE space_id = $1 AND message_id = $2
"""
# Its former words, the newest first.
REVISIONS_SQL: Final = """
SELECT version_at, content FROM chat_message_revisions
WHERE space_id = $1 AND message_id = $2 ORDER BY version_at DESC LIMIT $3
"""
# The reactions that stand, in the order in which they began.
REACTIONS_SQL: Final = """
SELECT emoji, count(*) AS people FROM message_reactions
WHERE space_id = $1 AND message_id = $2 GROUP BY emoji ORDER BY min(reacted_at), emoji LIMIT $3
"""
# What made a message wait for the router.
INBOX_OF_MESSAGE_SQL: Final = """
SELECT reason, state, arrived_at FROM discord_inbox WHERE space_id = $1 AND message_id = $2
"""


async def _message(db: Db, space_id: SpaceId, message_id: MessageId) -> MessageRecord | None:
    row = await db.fetchrow(MESSAGE_SQL, space_id, message_id)
    if row is None:
        return None
    revisions = await db.fetch(REVISIONS_SQL, space_id, message_id, MOST_ROWS)
    reactions = await db.fetch(REACTIONS_SQL, space_id, message_id, MOST_ROWS)
    return replace(
        MessageRecord(**dict(row)),
        revisions=tuple(Revision(**dict(each)) for each in reversed(revisions)),
        reactions=tuple((each["emoji"], each["people"]) for each in reactions),
    )


# The turn that a message triggered, or whose answer it is.
TURN_OF_MESSAGE_SQL: Final = """
SELECT t.turn_id, t.place_id, t.author_id, t.trigger_id, t.state, t.outcome, t.end_reason, t.attempts,
       (SELECT count(*) FROM turn_parts p WHERE p.turn_id = t.turn_id) AS parts,
       t.triggered_at, t.queued_at, t.started_at, t.composed_at, t.ended_at
FROM turns t
WHERE t.space_id = $1 AND t.turn_id = coalesce(
    (SELECT turn_id FROM turn_triggers WHERE space_id = $1 AND message_id = $2),
    (SELECT turn_id FROM turns WHERE space_id = $1 AND trigger_id = $2),
    (SELECT turn_id FROM chat_messages WHERE space_id = $1 AND message_id = $2))
"""


async def _turn(db: Db, space_id: SpaceId, message_id: MessageId) -> TurnRecord | None:
    row = await db.fetchrow(TURN_OF_MESSAGE_SQL, space_id, message_id)
    return TurnRecord(**dict(row)) if row is not None else None


# The receipts of a turn, and all that name its trigger (or a trigger that has no turn), the newest.
RECEIPTS_SQL: Final = """
SELECT receipt_id, action, left(args::text, $4) AS arguments, length(args::text) AS characters, state, external_id,
       failure, attempts, intended_at, settled_at
FROM (SELECT * FROM action_receipts WHERE space_id = $1 AND trigger_id = $3
      UNION SELECT * FROM action_receipts WHERE space_id = $1 AND turn_id = $2
      ORDER BY receipt_id DESC LIMIT $5) AS newest
ORDER BY receipt_id
"""


async def _receipts(
    db: Db, space_id: SpaceId, turn: TurnRecord | None, message_id: MessageId
) -> tuple[ReceiptRecord, ...]:
    turn_id, trigger_id = (None, message_id) if turn is None else (turn.turn_id, turn.trigger_id)
    rows = await db.fetch(RECEIPTS_SQL, space_id, turn_id, trigger_id, MOST_CHARACTERS, MOST_ROWS)
    return tuple(_receipt(row) for row in rows)


def _receipt(row: Any) -> ReceiptRecord:
    fields: dict[str, Any] = dict(row)
    fields["arguments"] = Excerpt(fields["arguments"], fields.pop("characters"))
    return ReceiptRecord(**fields)


# The runs of a turn, the first attempt first.
RUNS_OF_TURN_SQL: Final = f"""
SELECT {_RUN_COLUMNS} FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id
WHERE t.space_id = $1 AND r.turn_id = $2 ORDER BY r.run_id
"""
# One run.
RUN_SQL: Final = f"""
SELECT {_RUN_COLUMNS} FROM agent_runs r JOIN turns t ON t.turn_id = r.turn_id WHERE t.space_id = $1 AND r.run_id = $2
"""


async def _runs(db: Db, space_id: SpaceId, turn_id: TurnId) -> tuple[RunSummary, ...]:
    return tuple(RunSummary(**dict(row)) for row in await db.fetch(RUNS_OF_TURN_SQL, space_id, turn_id))


# The steps of a run.
STEPS_SQL: Final = """
SELECT s.step, s.reply::text AS reply, s.prompt_tokens, s.completion_tokens, s.said_at
FROM agent_runs r JOIN agent_steps s ON s.run_id = r.run_id
WHERE r.space_id = $1 AND r.run_id = $2 ORDER BY s.step
"""
# The calls of a run, in the model's order.
CALLS_SQL: Final = """
SELECT c.step, c.ordinal, c.tool, c.effect, c.state, c.error_code, c.planned_at, c.settled_at,
       left(c.arguments, $3) AS arguments, length(c.arguments) AS arguments_characters,
       left(c.result::text, $3) AS result, length(c.result::text) AS result_characters
FROM agent_runs r JOIN agent_tool_calls c ON c.run_id = r.run_id
WHERE r.space_id = $1 AND r.run_id = $2 ORDER BY c.step, c.ordinal LIMIT $4
"""


async def _steps(db: Db, space_id: SpaceId, run_id: RunId) -> tuple[StepRecord, ...]:
    calls: dict[int, list[CallRecord]] = {}
    for row in await db.fetch(CALLS_SQL, space_id, run_id, MOST_CHARACTERS, MOST_ROWS):
        calls.setdefault(row["step"], []).append(_call(row))
    rows = await db.fetch(STEPS_SQL, space_id, run_id)
    return tuple(_step(row, calls.get(row["step"], ())) for row in rows)


def _step(row: Any, calls: Sequence[CallRecord]) -> StepRecord:
    reply = cast("dict[str, Any]", orjson.loads(row["reply"]))
    said = reply.get("text")
    return StepRecord(
        row["step"],
        _cut(said) if said else None,
        reply.get("finish", ""),
        reply.get("model", ""),
        row["prompt_tokens"],
        row["completion_tokens"],
        row["said_at"],
        tuple(calls),
    )


def _call(row: Any) -> CallRecord:
    fields: dict[str, Any] = dict(row)
    del fields["step"]
    written, came = fields.pop("arguments_characters"), fields.pop("result_characters")
    fields["arguments"] = Excerpt(fields["arguments"], written)
    fields["result"] = None if came is None else Excerpt(fields["result"], came)
    return CallRecord(**fields)


def _cut(text: str) -> Excerpt:
    return Excerpt(text[:MOST_CHARACTERS], len(text))
