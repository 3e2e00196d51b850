"""The journal: raw events, the state of messages and reactions, memory targets and the inbox, in one transaction (I1).

`write_group` takes a group of events in the order in which they came, inside the caller's transaction. Each event takes
effect once, by its key, whatever path it came by (I2). Message state does not depend on order: a delete is sticky, even
before its create, and the newest edit wins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId, snowflake_time

Source = Literal["gateway", "backfill", "action"]
AuthorKind = Literal["member", "self", "bot", "webhook", "system"]
Reason = Literal["mention", "reply", "dm"]


@dataclass(frozen=True, slots=True)
class MessageSeen:
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


Change = MessageSeen | MessageGone | ReactionAdded | ReactionsRemoved


@dataclass(frozen=True, slots=True)
class Incoming:
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


@dataclass(frozen=True, slots=True)
class Written:
    """What a group did: the (space, key) pairs that are new, whether the inbox grew, and the running turns whose
    trigger was deleted."""

    fresh: frozenset[tuple[int, str]]
    inbox_grew: bool
    cancelled: tuple[TurnId, ...]


async def write_group(conn: Db, group: Sequence[Incoming]) -> Written:
    """Journal `group`, in order, inside the caller's transaction.

    Raises what asyncpg raises: a data error means that one of the events cannot be stored as it is.
    """
    unique = list({(event.space_id, event.key): event for event in reversed(group)}.values())[::-1]
    unchanged = await _apply_reactions(conn, unique)
    kept = [event for event in unique if id(event) not in unchanged]
    if not kept:
        return Written(frozenset(), inbox_grew=False, cancelled=())
    fresh = await _insert_events(conn, kept)
    new = [event for event in kept if (event.space_id, event.key) in fresh]
    await _apply_messages(conn, new)
    cancelled = await _apply_deletes(conn, new)
    await _raise_targets(conn, new)
    inbox_grew = await _fill_inbox(conn, new)
    await _settle_echoes(conn, new)
    return Written(fresh, inbox_grew, cancelled)


# Keep each event once, in the order of the group.
INSERT_EVENTS_SQL: Final = """
INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload)
SELECT space_id, place_id, kind, event_key, message_id, subject_ids::bigint[], source, payload::jsonb
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
  WITH ORDINALITY AS e (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload, n)
ORDER BY n
ON CONFLICT (space_id, event_key) DO NOTHING
RETURNING space_id, event_key
"""


async def _insert_events(conn: Db, events: Sequence[Incoming]) -> frozenset[tuple[int, str]]:
    rows = await conn.fetch(
        INSERT_EVENTS_SQL,
        [event.space_id for event in events],
        [event.place_id for event in events],
        [event.kind for event in events],
        [event.key for event in events],
        [event.message_id for event in events],
        ["{" + ",".join(map(str, event.subject_ids)) + "}" for event in events],
        [event.source for event in events],
        [event.payload for event in events],
    )
    return frozenset((row[0], row[1]) for row in rows)


MESSAGE_COLUMNS: Final = """
unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[],
       $9::text[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[])
  AS m (space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
        extras, created_at, version_at, edited_at)
"""

# Insert messages that were never heard of.
INSERT_MESSAGES_SQL: Final = f"""
INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
                           extras, created_at, version_at, edited_at)
SELECT space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
       extras::jsonb, created_at, version_at, edited_at
FROM {MESSAGE_COLUMNS}
ON CONFLICT (space_id, message_id) DO NOTHING
RETURNING space_id, message_id
"""

# Keep the words that lose: the stored ones where the new version is newer, else the new ones that came late.
SAVE_REVISIONS_SQL: Final = f"""
INSERT INTO chat_message_revisions (space_id, message_id, version_at, content)
SELECT c.space_id, c.message_id, least(c.version_at, m.version_at),
       CASE WHEN m.version_at > c.version_at THEN c.content ELSE m.content END
FROM {MESSAGE_COLUMNS} JOIN chat_messages c USING (space_id, message_id)
WHERE c.author_id IS NOT NULL AND c.version_at <> m.version_at
ON CONFLICT DO NOTHING
"""

# The newest version wins; a delete, and who wrote it, stay.
MERGE_MESSAGES_SQL: Final = f"""
INSERT INTO chat_messages AS c (space_id, message_id, place_id, author_id, author_kind, author_name, content,
                                reply_to_id, extras, created_at, version_at, edited_at)
SELECT space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
       extras::jsonb, created_at, version_at, edited_at
FROM {MESSAGE_COLUMNS}
ON CONFLICT (space_id, message_id) DO UPDATE SET
    author_id = EXCLUDED.author_id, author_kind = EXCLUDED.author_kind, author_name = EXCLUDED.author_name,
    content = EXCLUDED.content, reply_to_id = coalesce(EXCLUDED.reply_to_id, c.reply_to_id), extras = EXCLUDED.extras,
    version_at = EXCLUDED.version_at, edited_at = EXCLUDED.edited_at
WHERE c.author_id IS NULL OR EXCLUDED.version_at > c.version_at
"""


def _columns(messages: Sequence[MessageSeen]) -> tuple[list[object], ...]:
    return (
        [m.space_id for m in messages],
        [m.message_id for m in messages],
        [m.place_id for m in messages],
        [m.author_id for m in messages],
        [m.author_kind for m in messages],
        [m.author_name for m in messages],
        [m.content for m in messages],
        [m.reply_to_id for m in messages],
        [m.extras for m in messages],
        [m.created_at for m in messages],
        [m.version_at for m in messages],
        [m.edited_at for m in messages],
    )


async def _apply_messages(conn: Db, events: Sequence[Incoming]) -> None:
    seen = [event.change for event in events if isinstance(event.change, MessageSeen)]
    if not seen:
        return
    # Each statement may touch a message once, and in one order everywhere, so that two writers cannot deadlock.
    seen.sort(key=lambda m: (m.space_id, m.message_id, m.version_at))
    first: dict[tuple[int, int], MessageSeen] = {}
    later: list[MessageSeen] = []
    for message in seen:
        if first.setdefault((message.space_id, message.message_id), message) is not message:
            later.append(message)
    rows = await conn.fetch(INSERT_MESSAGES_SQL, *_columns(list(first.values())))
    inserted = {(row[0], row[1]) for row in rows}
    waiting: list[MessageSeen] = [message for key, message in first.items() if key not in inserted] + later
    while waiting:
        batch = {(m.space_id, m.message_id): m for m in reversed(waiting)}
        waiting = [m for m in waiting if batch[m.space_id, m.message_id] is not m]
        columns = _columns([batch[key] for key in sorted(batch)])
        await conn.execute(SAVE_REVISIONS_SQL, *columns)
        await conn.execute(MERGE_MESSAGES_SQL, *columns)


# Mark messages deleted, also those that were never seen.
DELETE_MESSAGES_SQL: Final = """
INSERT INTO chat_messages AS c (space_id, message_id, place_id, created_at, version_at, deleted_at)
SELECT space_id, message_id, place_id, created_at, created_at, now()
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
  AS g (space_id, message_id, place_id, created_at)
ON CONFLICT (space_id, message_id) DO UPDATE SET deleted_at = now() WHERE c.deleted_at IS NULL
"""

# A trigger deleted before its answer was composed cancels the turn: at once if it waits, else through its worker (I3).
CANCEL_TURNS_SQL: Final = """
UPDATE turns t SET
    cancel_requested_at = coalesce(t.cancel_requested_at, now()),
    state = CASE t.state WHEN 'queued' THEN 'cancelled' ELSE t.state END,
    end_reason = CASE t.state WHEN 'queued' THEN 'trigger_deleted' ELSE t.end_reason END,
    ended_at = CASE t.state WHEN 'queued' THEN now() ELSE t.ended_at END
FROM unnest($1::bigint[], $2::bigint[]) AS g (space_id, message_id)
WHERE t.space_id = g.space_id AND t.trigger_id = g.message_id AND t.state IN ('queued', 'running')
RETURNING t.turn_id, t.state
"""


async def _apply_deletes(conn: Db, events: Sequence[Incoming]) -> tuple[TurnId, ...]:
    gone = {(e.change.space_id, e.change.message_id): e.change for e in events if isinstance(e.change, MessageGone)}
    if not gone:
        return ()
    rows = [gone[key] for key in sorted(gone)]
    spaces, messages = [g.space_id for g in rows], [g.message_id for g in rows]
    await conn.execute(
        DELETE_MESSAGES_SQL, spaces, messages, [g.place_id for g in rows], [snowflake_time(g.message_id) for g in rows]
    )
    turns = await conn.fetch(CANCEL_TURNS_SQL, spaces, messages)
    return tuple(TurnId(row["turn_id"]) for row in turns if row["state"] == "running")


# Add a reaction; no row back means that it was there.
ADD_REACTION_SQL: Final = """
INSERT INTO message_reactions (space_id, message_id, user_id, emoji, place_id)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING true
"""

# Remove reactions of one person or all, with one emoji or any; no row back means that there were none.
REMOVE_REACTIONS_SQL: Final = """
DELETE FROM message_reactions
WHERE space_id = $1 AND message_id = $2 AND ($3::bigint IS NULL OR user_id = $3) AND ($4::text IS NULL OR emoji = $4)
RETURNING true
"""


async def _apply_reactions(conn: Db, events: Iterable[Incoming]) -> set[int]:
    """Apply reactions in order; returns the id() of the events that changed nothing and so are not journalled (I2)."""
    unchanged: set[int] = set()
    for event in events:
        match event.change:
            case ReactionAdded() as a:
                changed = await conn.fetch(ADD_REACTION_SQL, a.space_id, a.message_id, a.user_id, a.emoji, a.place_id)
            case ReactionsRemoved() as r:
                changed = await conn.fetch(REMOVE_REACTIONS_SQL, r.space_id, r.message_id, r.user_id, r.emoji)
            case _:
                continue
        if not changed:
            unchanged.add(id(event))
    return unchanged


# How far each place's journal reaches, and what memory has yet to read. Both only rise.
RAISE_TARGETS_SQL: Final = """
WITH newest AS (
    SELECT space_id, place_id, newest_id
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (space_id, place_id, newest_id)
), cursors AS (
    INSERT INTO place_cursors AS c (space_id, place_id, newest_id) SELECT * FROM newest
    ON CONFLICT (space_id, place_id) DO UPDATE SET newest_id = EXCLUDED.newest_id, gone_at = NULL
    WHERE c.newest_id < EXCLUDED.newest_id
)
INSERT INTO ingestion_targets AS t (space_id, place_id, target) SELECT * FROM newest
ON CONFLICT (space_id, place_id) DO UPDATE SET target = EXCLUDED.target WHERE t.target < EXCLUDED.target
"""


async def _raise_targets(conn: Db, events: Sequence[Incoming]) -> None:
    newest: dict[tuple[int, int], int] = {}
    for event in events:
        if event.kind == "MESSAGE_CREATE" and event.place_id is not None and event.message_id is not None:
            key = (event.space_id, event.place_id)
            newest[key] = max(newest.get(key, 0), event.message_id)
    if newest:
        keys = sorted(newest)
        await conn.execute(RAISE_TARGETS_SQL, [k[0] for k in keys], [k[1] for k in keys], [newest[k] for k in keys])


# Addressed messages wait for the router, once each; one notification a commit wakes it (I14).
FILL_INBOX_SQL: Final = """
WITH added AS (
    INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason)
    SELECT space_id, place_id, message_id, author_id, reason
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
      WITH ORDINALITY AS i (space_id, place_id, message_id, author_id, reason, n)
    ORDER BY n
    ON CONFLICT (space_id, message_id) DO NOTHING
    RETURNING inbox_id
)
SELECT pg_notify('muninn_inbox', '') FROM (SELECT count(*) AS n FROM added) AS a WHERE n > 0
"""


async def _fill_inbox(conn: Db, events: Sequence[Incoming]) -> bool:
    rows = [
        (e.space_id, e.change.place_id, e.change.message_id, e.change.author_id, e.addressed)
        for e in events
        if e.addressed is not None and isinstance(e.change, MessageSeen)
    ]
    if not rows:
        return False
    return bool(await conn.fetch(FILL_INBOX_SQL, *map(list, zip(*rows, strict=True))))


# Our own message came back from the gateway with its nonce: the write was applied, whatever its response said (I4).
SETTLE_ECHOES_SQL: Final = """
UPDATE action_receipts r SET state = 'applied', external_id = e.message_id, settled_at = now()
FROM unnest($1::text[], $2::bigint[]) AS e (nonce, message_id)
WHERE r.nonce = e.nonce AND r.state IN ('intended', 'unknown')
"""


async def _settle_echoes(conn: Db, events: Sequence[Incoming]) -> None:
    echoes = [(e.nonce, e.message_id) for e in events if e.nonce is not None]
    if echoes:
        await conn.execute(SETTLE_ECHOES_SQL, [nonce for nonce, _ in echoes], [message for _, message in echoes])


# Keep what cannot be stored as it is, for an operator to see.
PARK_EVENT_SQL: Final = """
INSERT INTO parked_events (kind, event_key, payload, reason) VALUES ($1, $2, $3, $4)
ON CONFLICT (event_key) DO NOTHING
"""


async def park(conn: Db, *, kind: str, key: str, payload: str, reason: str) -> None:
    """Keep an event that the journal refused, as text, with the reason. `payload` and `reason` hold no U+0000."""
    await conn.execute(PARK_EVENT_SQL, kind, key, payload, reason[:500])
