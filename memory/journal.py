"""The journal: raw events, the state of messages and reactions, memory targets and the inbox, in one transaction (I1).

`write_group` takes a group of events in the order in which they came, inside the caller's transaction. Each event takes
effect once, by its key, whatever path it came by (I2). Message state does not depend on order: a delete is sticky, even
before its create, and the newest edit wins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from asyncpg import DivisionByZeroError

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
    """What a group did: the (space, key) pairs that were no news, whether the inbox grew, and the running turns whose
    trigger was deleted."""

    stale: frozenset[tuple[int, str]]
    inbox_grew: bool
    cancelled: tuple[TurnId, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Events laid out for one transaction: each key once, in order, and ready to be sent where nothing can change
    which of them are kept."""

    events: tuple[Incoming, ...]
    rows: "_Rows | None"

    @property
    def is_plain(self) -> bool:
        """Whether one statement is likely to do: nothing but new messages of others, and events that change nothing."""
        return self.rows is not None and not any(
            event.nonce is not None or isinstance(event.change, MessageGone) or event.kind == "MESSAGE_UPDATE"
            for event in self.events
        )


def lay_out(events: Sequence[Incoming]) -> Group:
    """Make a group of `events`. It touches no database, so that it can be done while another group commits."""
    first: dict[tuple[int, str], Incoming] = {}
    for event in events:
        first.setdefault((event.space_id, event.key), event)
    unique = tuple(first.values())
    if any(isinstance(event.change, ReactionAdded | ReactionsRemoved) for event in unique):
        # Those that change nothing are left out, which only the database tells.
        return Group(unique, None)
    return Group(unique, _rows(unique))


async def write_group(conn: Db, group: Group | Sequence[Incoming]) -> Written:
    """Journal events, laid out already or not, in order, inside the caller's transaction.

    Raises what asyncpg raises: a data error means that one of the events cannot be stored as it is.
    """
    laid_out = group if isinstance(group, Group) else lay_out(group)
    kept, rows = laid_out.events, laid_out.rows
    stale: set[tuple[int, str]] = set()
    if rows is None:
        unchanged = await _apply_reactions(conn, kept)
        stale.update((event.space_id, event.key) for event in kept if id(event) in unchanged)
        kept = tuple(event for event in kept if id(event) not in unchanged)
        rows = _rows(kept)
    if not kept:
        return Written(frozenset(stale), inbox_grew=False, cancelled=())
    known, waiting, inbox_grew = await _insert_events(conn, kept, rows)
    new = [event for event in kept if (event.space_id, event.key) not in known] if known else kept
    await _merge_messages(conn, waiting)
    cancelled = await _apply_deletes(conn, new)
    await _settle_echoes(conn, new)
    return Written(frozenset(stale | known), inbox_grew, cancelled)


async def write_plain(conn: Db, group: Group) -> Written | None:
    """Journal a plain group outside of any transaction, by one statement, which is one of its own.

    None: it was not to be done so, and nothing was done; use `write_group`. Raises what asyncpg raises.
    """
    if group.rows is None or not group.events:
        return None
    try:
        known, _, inbox_grew = await _insert_events(conn, group.events, group.rows, alone=True)
    except DivisionByZeroError:
        return None
    return Written(known, inbox_grew, cancelled=())


# One round trip for what most groups need. Each event is kept once, in the order of the group; of those that are new,
# messages that were never heard of are inserted, the places' marks are raised (how far the journal reaches, and what
# memory has yet to read: both only rise), and addressed messages wait for the router, whom one notification a commit
# wakes (I14). What we said ourselves does not raise the journal's mark: what others said just before it may still be on
# its way here. Rows that several writers may touch are taken in one order everywhere, so that they cannot deadlock.
# `IN` in a list of columns is looked up in a hash; a join of so few expected rows would compare each with each.
# What comes back is what is out of the ordinary: events that were there, and versions of messages still to be merged.
# With $19, where nothing could merge them, such a version undoes the statement by a division by zero.
INSERT_EVENTS_SQL: Final = """
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::text::bigint[], $2::text::bigint[], $3::text[], $4::text[], $5::text::bigint[], $6::text[],
                         $7::text::text[], $8::text[], $9::text::text[], $10::text::bool[], $11::text::bigint[],
                         $12::text::text[], $13::text[], $14::text[], $15::text::bigint[], $16::text[],
                         $17::text::timestamptz[], $18::text::timestamptz[])
      WITH ORDINALITY AS e (space_id, place_id, kind, event_key, message_id, subject_ids, source,
                            payload, addressed, first, author_id, author_kind, author_name, content,
                            reply_to_id, extras, created_at, edited_at, n)
), fresh AS (
    INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload)
    SELECT space_id, place_id, kind, event_key, message_id, subject_ids::bigint[], source, payload::json
    FROM given ORDER BY n
    ON CONFLICT (space_id, event_key) DO NOTHING
    RETURNING space_id, event_key
), new AS MATERIALIZED (
    SELECT space_id, place_id, kind, event_key, message_id, source, addressed, first, author_id, author_kind,
           author_name, content, reply_to_id, extras, created_at, edited_at, n
    FROM given WHERE (space_id, event_key) IN (SELECT space_id, event_key FROM fresh)
), said AS (
    INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content,
                               reply_to_id, extras, created_at, version_at, edited_at)
    SELECT space_id, message_id, place_id, author_id, author_kind, author_name, content,
           reply_to_id, extras::jsonb, created_at, coalesce(edited_at, created_at), edited_at
    FROM new WHERE first ORDER BY space_id, message_id
    ON CONFLICT (space_id, message_id) DO NOTHING
    RETURNING space_id, message_id
), newest AS MATERIALIZED (
    SELECT space_id, place_id, max(message_id) AS newest_id,
           max(message_id) FILTER (WHERE source <> 'action') AS heard_id
    FROM new
    WHERE kind = 'MESSAGE_CREATE' AND place_id IS NOT NULL AND message_id IS NOT NULL
    GROUP BY space_id, place_id
), cursors AS (
    INSERT INTO place_cursors AS c (space_id, place_id, newest_id)
    SELECT space_id, place_id, heard_id FROM newest WHERE heard_id IS NOT NULL ORDER BY space_id, place_id
    ON CONFLICT (space_id, place_id) DO UPDATE SET newest_id = EXCLUDED.newest_id, gone_at = NULL
    WHERE c.newest_id < EXCLUDED.newest_id
), targets AS (
    INSERT INTO ingestion_targets AS t (space_id, place_id, target)
    SELECT space_id, place_id, newest_id FROM newest ORDER BY space_id, place_id
    ON CONFLICT (space_id, place_id) DO UPDATE SET target = EXCLUDED.target WHERE t.target < EXCLUDED.target
), inbox AS (
    INSERT INTO discord_inbox (space_id, place_id, message_id, author_id, reason)
    SELECT space_id, place_id, message_id, author_id, addressed FROM new
    WHERE addressed IS NOT NULL AND author_id IS NOT NULL ORDER BY n
    ON CONFLICT (space_id, message_id) DO NOTHING
    RETURNING inbox_id
), woken AS MATERIALIZED (
    SELECT a.n, pg_notify('muninn_inbox', '') FROM (SELECT count(*) AS n FROM inbox) AS a WHERE a.n > 0
)
SELECT space_id, event_key, 'known' AS what FROM given
WHERE (space_id, event_key) NOT IN (SELECT space_id, event_key FROM fresh)
UNION ALL
SELECT space_id, event_key, CASE WHEN $19 THEN (1 / (n - n))::text ELSE 'unsaid' END FROM new
WHERE author_id IS NOT NULL
  AND NOT (first AND (space_id, message_id) IN (SELECT space_id, message_id FROM said))
UNION ALL
SELECT NULL, NULL, 'woken' FROM woken
"""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The arguments of INSERT_EVENTS_SQL, and the message that each event brings, if any."""

    seen: tuple[MessageSeen | None, ...]
    arguments: tuple[object, ...]


def _rows(events: Sequence[Incoming]) -> _Rows:
    seen = tuple(event.change if isinstance(event.change, MessageSeen) else None for event in events)
    firsts = _first_versions(seen)
    arguments = (
        _literal([event.space_id for event in events]),
        _literal([event.place_id for event in events]),
        [event.kind for event in events],
        [event.key for event in events],
        _literal([event.message_id for event in events]),
        [_literal(event.subject_ids) for event in events],
        _literal([event.source for event in events]),
        [event.payload for event in events],
        _literal([event.addressed for event in events]),
        _literal([m is not None and id(m) in firsts for m in seen]),
        _literal([m and m.author_id for m in seen]),
        _literal([m and m.author_kind for m in seen]),
        [m.author_name if m else "" for m in seen],
        [m.content if m else "" for m in seen],
        _literal([m and m.reply_to_id for m in seen]),
        [m.extras if m else "{}" for m in seen],
        _literal([m and m.created_at.isoformat() for m in seen]),
        _literal([m and m.edited_at and m.edited_at.isoformat() for m in seen]),
    )
    return _Rows(seen, arguments)


async def _insert_events(
    conn: Db, events: Sequence[Incoming], rows: _Rows, *, alone: bool = False
) -> tuple[frozenset[tuple[int, str]], list[MessageSeen], bool]:
    """What of `events` was known, the versions of messages that are still to be merged, and whether the inbox grew."""
    odd: dict[str, set[tuple[int, str]]] = {"known": set(), "unsaid": set(), "woken": set()}
    for space_id, key, what in await conn.fetch(INSERT_EVENTS_SQL, *rows.arguments, alone):
        odd[what].add((space_id, key))
    unsaid = odd["unsaid"]
    waiting = [
        m
        for event, m in zip(events, rows.seen, strict=True)
        if unsaid and m is not None and (event.space_id, event.key) in unsaid
    ]
    return frozenset(odd["known"]), waiting, bool(odd["woken"])


def _literal(values: Iterable[int | str | bool | None]) -> str:
    """An array of numbers, times or our own words as PostgreSQL reads it from text.

    asyncpg looks at each element of an array three times over; where the elements need no quoting, one text is quicker.
    """
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def _first_versions(seen: Sequence[MessageSeen | None]) -> set[int]:
    """The id() of the oldest version of each message: a statement may touch a message once."""
    oldest: dict[tuple[int, int], MessageSeen] = {}
    for message in seen:
        if message is not None:
            known = oldest.setdefault((message.space_id, message.message_id), message)
            if message.version_at < known.version_at:
                oldest[message.space_id, message.message_id] = message
    return {id(message) for message in oldest.values()}


MESSAGE_COLUMNS: Final = """
unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[],
       $9::text[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[])
  AS m (space_id, message_id, place_id, author_id, author_kind, author_name, content, reply_to_id,
        extras, created_at, version_at, edited_at)
"""

# Keep the words that lose: the stored ones where the new version is newer, else the new ones that came late.
SAVE_REVISIONS_SQL: Final = f"""
INSERT INTO chat_message_revisions (space_id, message_id, version_at, content)
SELECT c.space_id, c.message_id, least(c.version_at, m.version_at),
       CASE WHEN m.version_at > c.version_at THEN c.content ELSE m.content END
FROM {MESSAGE_COLUMNS} CROSS JOIN LATERAL (
    -- The limit keeps it a look at the key for each, also in a plan that was made while the table was small.
    SELECT * FROM chat_messages c WHERE c.space_id = m.space_id AND c.message_id = m.message_id LIMIT 1
) AS c
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


async def _merge_messages(conn: Db, waiting: Sequence[MessageSeen]) -> None:
    """Bring in versions of messages that are known already."""
    # Each statement may touch a message once, and in one order everywhere, so that two writers cannot deadlock.
    left: list[MessageSeen] = sorted(waiting, key=lambda m: (m.space_id, m.message_id, m.version_at))
    while left:
        batch = {(m.space_id, m.message_id): m for m in reversed(left)}
        left = [m for m in left if batch[m.space_id, m.message_id] is not m]
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


# Add reactions; those that do not come back were there, or were added by this very event before.
ADD_REACTIONS_SQL: Final = """
INSERT INTO message_reactions (space_id, message_id, user_id, emoji, place_id)
SELECT space_id, message_id, user_id, emoji, place_id
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
  AS r (space_id, message_id, user_id, emoji, event_key, place_id)
WHERE NOT EXISTS (SELECT 1 FROM discord_events e WHERE e.space_id = r.space_id AND e.event_key = r.event_key)
ON CONFLICT DO NOTHING
RETURNING space_id, message_id, user_id, emoji
"""

# Take reactions back; those that do not come back were not there, or were taken by this very event before.
TAKE_REACTIONS_SQL: Final = """
DELETE FROM message_reactions r
USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
  AS g (space_id, message_id, user_id, emoji, event_key)
WHERE NOT EXISTS (SELECT 1 FROM discord_events e WHERE e.space_id = g.space_id AND e.event_key = g.event_key)
  AND r.space_id = g.space_id AND r.message_id = g.message_id AND r.user_id = g.user_id AND r.emoji = g.emoji
RETURNING r.space_id, r.message_id, r.user_id, r.emoji
"""

# Clear a message's reactions of one person or all, with one emoji or any; no row back means that there were none, or
# that this very event did it before.
CLEAR_REACTIONS_SQL: Final = """
DELETE FROM message_reactions
WHERE space_id = $1 AND message_id = $2 AND ($3::bigint IS NULL OR user_id = $3) AND ($4::text IS NULL OR emoji = $4)
  AND NOT EXISTS (SELECT 1 FROM discord_events WHERE space_id = $1 AND event_key = $5)
RETURNING true
"""

_Reaction = tuple[int, int, int, str]


async def _apply_reactions(conn: Db, events: Iterable[Incoming]) -> set[int]:
    """Apply reactions in order; returns the id() of the events that changed nothing and so are not journalled (I2).

    Those that do not touch each other go together, however they are ordered.
    """
    unchanged: set[int] = set()
    apart: dict[_Reaction, Incoming] = {}
    for event in events:
        match event.change:
            case ReactionAdded() as a:
                key = (a.space_id, a.message_id, a.user_id, a.emoji)
            case ReactionsRemoved(user_id=int() as user_id, emoji=str() as emoji) as r:
                key = (r.space_id, r.message_id, user_id, emoji)
            case ReactionsRemoved() as r:
                unchanged |= await _apply_apart(conn, apart)
                apart = {}
                if not await conn.fetch(CLEAR_REACTIONS_SQL, r.space_id, r.message_id, r.user_id, r.emoji, event.key):
                    unchanged.add(id(event))
                continue
            case _:
                continue
        if key in apart:
            unchanged |= await _apply_apart(conn, apart)
            apart = {}
        apart[key] = event
    return unchanged | await _apply_apart(conn, apart)


async def _apply_apart(conn: Db, events: Mapping[_Reaction, Incoming]) -> set[int]:
    """Apply additions and removals of which no two are about the same reaction."""
    added = [
        (*key, e.key, e.change.place_id) for key, e in sorted(events.items()) if isinstance(e.change, ReactionAdded)
    ]
    taken = [(*key, e.key) for key, e in sorted(events.items()) if isinstance(e.change, ReactionsRemoved)]
    changed: set[tuple[object, ...]] = set()
    if added:
        changed |= {tuple(row) for row in await conn.fetch(ADD_REACTIONS_SQL, *map(list, zip(*added, strict=True)))}
    if taken:
        changed |= {tuple(row) for row in await conn.fetch(TAKE_REACTIONS_SQL, *map(list, zip(*taken, strict=True)))}
    return {id(event) for key, event in events.items() if key not in changed}


# Our own message came back from the gateway with its nonce: the write was applied, whatever its response said (I4), and
# the message is the turn's, whose worker may have died before it could say so.
SETTLE_ECHOES_SQL: Final = """
WITH settled AS (
    UPDATE action_receipts r SET state = 'applied', external_id = e.message_id, settled_at = now()
    FROM unnest($1::text[], $2::bigint[]) AS e (nonce, message_id)
    WHERE r.nonce = e.nonce AND r.state IN ('intended', 'unknown')
    RETURNING r.space_id, r.external_id, r.turn_id
)
UPDATE chat_messages c SET turn_id = s.turn_id
FROM settled s WHERE c.space_id = s.space_id AND c.message_id = s.external_id
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
