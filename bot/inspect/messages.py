"""Messages: their events, words, turn, receipts and cards."""

from dataclasses import replace
from typing import Any, Final

import orjson

from bot.inspect.records import (
    MOST_ROWS,
    CardRecord,
    EventRecord,
    Excerpt,
    InboxRecord,
    MessageRecord,
    MessageReport,
    Revision,
    TurnRecord,
    excerpt,
)
from bot.inspect.runs import receipts_of, runs_of
from bot.payloads import without_secrets
from memory.database import Db
from memory.ids import MessageId, SpaceId


async def message_report(db: Db, space_id: SpaceId, message_id: MessageId) -> MessageReport:
    """What is on record for a message of that space (or, by its id, an interaction); empty where nothing is.

    Several statements: inside a REPEATABLE READ transaction they see one moment, else each its own.
    """
    turn = await _turn(db, space_id, message_id)
    told = (None, message_id) if turn is None else (turn.turn_id, turn.trigger_id)
    inbox = await db.fetchrow(INBOX_OF_MESSAGE_SQL, space_id, message_id)
    return MessageReport(
        space_id,
        message_id,
        await _events(db, space_id, message_id),
        await _message(db, space_id, message_id),
        InboxRecord(**dict(inbox)) if inbox is not None else None,
        turn,
        await runs_of(db, space_id, turn.turn_id) if turn is not None else (),
        await receipts_of(db, space_id, *told),
        await _cards(db, space_id, told[1]),
    )


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
    return None if stored is None else excerpt(orjson.dumps(without_secrets(orjson.loads(stored))).decode())


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


# What was asked back about a trigger's actions, in order.
CARDS_SQL: Final = """
SELECT card_id, action, question, requester_id, state, message_id, code, told, asked_at, expires_at, closed_at
FROM action_cards WHERE space_id = $1 AND trigger_id = $2 ORDER BY card_id LIMIT $3
"""


async def _cards(db: Db, space_id: SpaceId, trigger_id: MessageId) -> tuple[CardRecord, ...]:
    return tuple(CardRecord(**dict(row)) for row in await db.fetch(CARDS_SQL, space_id, trigger_id, MOST_ROWS))
