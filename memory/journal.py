"""The journal: raw events, the state of messages and reactions, memory targets and the inbox, in one transaction (I1).

`write_group` takes a group of events in the order in which they came, inside the caller's transaction. Each event takes
effect once, by its key, whatever path it came by (I2). Message state does not depend on order: a delete is sticky, even
before its create, and the newest edit wins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from asyncpg import DivisionByZeroError, UniqueViolationError

from memory.database import Db
from memory.departures import end_with_places
from memory.ids import MessageId, TurnId
from memory.incoming import Incoming, MessageSeen, ReactionAdded, ReactionsRemoved
from memory.messages import apply_deletes, merge_messages
from memory.places import apply_structure
from memory.reactions import apply_reactions


@dataclass(frozen=True, slots=True)
class Written:
    """What a group did: the (space, key) pairs that were no news, whether the inbox grew, and the running turns whose
    trigger was deleted."""

    stale: frozenset[tuple[int, str]]
    inbox_grew: bool
    cancelled: tuple[TurnId, ...]


_PLAIN_CHANGES: Final = frozenset({MessageSeen, type(None)})


@dataclass(frozen=True, slots=True)
class Group:
    """Events laid out for one transaction: each key once, in order, and ready to be sent where nothing can change
    which of them are kept. `is_plain`: one statement is likely to do, since there is nothing but new messages, and
    events that change nothing."""

    events: tuple[Incoming, ...]
    rows: "_Rows | None"
    is_plain: bool


def lay_out(events: Sequence[Incoming]) -> Group:
    """Make a group of `events`. It touches no database, so that it can be done while another group commits."""
    first: dict[tuple[int, str], Incoming] = {}
    for event in events:
        first.setdefault((event.space_id, event.key), event)
    unique = tuple(first.values())
    changes = {type(event.change) for event in unique}
    if not changes.isdisjoint((ReactionAdded, ReactionsRemoved)):
        # Those that change nothing are left out, which only the database tells.
        return Group(unique, None, is_plain=False)
    is_plain = changes <= _PLAIN_CHANGES and all(event.kind != "MESSAGE_UPDATE" for event in unique)
    return Group(unique, _rows(unique), is_plain)


async def write_group(conn: Db, group: Group | Sequence[Incoming]) -> Written:
    """Journal events, laid out already or not, in order, inside the caller's transaction.

    Raises what asyncpg raises: a data error means that one of the events cannot be stored as it is.
    """
    laid_out = group if isinstance(group, Group) else lay_out(group)
    kept, rows = laid_out.events, laid_out.rows
    stale: set[tuple[int, str]] = set()
    if rows is None:
        unchanged = await apply_reactions(conn, kept)
        stale.update((event.space_id, event.key) for event in kept if id(event) in unchanged)
        kept = tuple(event for event in kept if id(event) not in unchanged)
        rows = _rows(kept)
    if not kept:
        return Written(frozenset(stale), inbox_grew=False, cancelled=())
    known, waiting, inbox_grew = await _insert_events(conn, kept, rows)
    new = [event for event in kept if (event.space_id, event.key) not in known] if known else kept
    await merge_messages(conn, waiting)
    cancelled = await apply_deletes(conn, new) + await end_with_places(conn, new)
    await apply_structure(conn, new)
    await _settle_echoes(conn, new)
    return Written(frozenset(stale | known), inbox_grew, cancelled)


async def write_plain(conn: Db, group: Group) -> Written | None:
    """Journal a plain group outside of any transaction, by one statement, which is one of its own.

    None: it was not to be done so, and nothing was done; use `write_group`. Raises what asyncpg raises.
    """
    if group.rows is None or not group.events:
        return None
    statement, more = INSERT_PLAIN_SQL, ()
    if echoes := _echoes(group.events):
        statement, more = INSERT_PLAIN_ECHOES_SQL, _arguments(echoes)
    try:
        known, _, inbox_grew = await _insert_events(conn, group.events, group.rows, statement, more)
    except (DivisionByZeroError, UniqueViolationError):
        return None
    return Written(known, inbox_grew, cancelled=())


# One round trip for what most groups need. Each event is kept once, in the order of the group; of those that are new,
# messages that were never heard of are inserted, the places' marks are raised (how far the journal reaches, and what
# memory has yet to read: both only rise; what comes late is noted, to be read out of turn), and addressed messages wait
# for the router, whom one notification a commit wakes (I14): plain talk only in a thread of which the bot is part, or
# in a guild that lets it listen somewhere; an edit that names the bot only where the message was no affair of its
# before; of a message and its edit in one group, whichever names the bot. What we said ourselves does not raise the
# journal's mark: what others said just before it may still be on its way here. Rows that several writers may touch are
# taken in one order everywhere, so that they cannot deadlock. `IN` in a list of columns is looked up in a hash; a join
# of so few expected rows would compare each with each. What comes back is what is out of the ordinary: events that were
# there, and versions of messages still to be merged.
_INSERTING: Final = """
given AS MATERIALIZED (
    -- A single empty text is read as an array of none.
    SELECT space_id, place_id, coalesce(kind, '') AS kind, event_key, message_id, subject_ids, source, payload,
           addressed, first, author_id, author_kind, coalesce(author_name, '') AS author_name,
           coalesce(content, '') AS content, reply_to_id, extras, created_at, edited_at, n
    FROM unnest($1::text::bigint[], $2::text::bigint[], string_to_array($3, $19), string_to_array($4, $19),
                $5::text::bigint[], string_to_array($6, $19), $7::text::text[], string_to_array($8, $19),
                $9::text::text[], $10::text::bool[], $11::text::bigint[], $12::text::text[],
                string_to_array($13, $19), string_to_array($14, $19), $15::text::bigint[],
                string_to_array($16, $19), $17::text::timestamptz[], $18::text::timestamptz[])
      WITH ORDINALITY AS e (space_id, place_id, kind, event_key, message_id, subject_ids, source,
                            payload, addressed, first, author_id, author_kind, author_name, content,
                            reply_to_id, extras, created_at, edited_at, n)
), fresh AS (
    INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload)
    SELECT space_id, place_id, kind, event_key, message_id, subject_ids::bigint[], source, payload::json
    FROM given {new_events}
    RETURNING space_id, event_key
), new AS MATERIALIZED (
    SELECT space_id, place_id, kind, event_key, message_id, source, addressed, first, author_id, author_kind,
           author_name, content, reply_to_id, extras, created_at, edited_at, n
    FROM given WHERE (space_id, event_key) IN (SELECT space_id, event_key FROM fresh)
), said AS (
    INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content,
                               reply_to_id, extras, created_at, version_at, edited_at, turn_id)
    SELECT space_id, message_id, place_id, author_id, author_kind, author_name, content,
           reply_to_id, extras::jsonb, created_at, coalesce(edited_at, created_at), edited_at, {turn_id}
    FROM new WHERE first ORDER BY space_id, message_id {new_messages}
    RETURNING space_id, message_id
){settling}, newest AS MATERIALIZED (
    SELECT space_id, place_id, min(message_id) AS oldest_id, max(message_id) AS newest_id,
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
    ON CONFLICT (space_id, place_id) DO UPDATE SET
        target = EXCLUDED.target, raised_at = now(),
        waiting_at = CASE WHEN t.done_target < t.target THEN t.waiting_at ELSE now() END
    WHERE t.target < EXCLUDED.target
), late AS (
    INSERT INTO ingestion_rereads (space_id, place_id, message_id)
    SELECT n.space_id, n.place_id, n.message_id
    FROM newest w
    JOIN ingestion_targets t ON t.space_id = w.space_id AND t.place_id = w.place_id AND w.oldest_id < t.target
    JOIN new n ON n.space_id = w.space_id AND n.place_id = w.place_id
    WHERE n.kind = 'MESSAGE_CREATE' AND n.message_id < t.target ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING
), listening AS MATERIALIZED (
    SELECT DISTINCT g.space_id FROM guild_settings g
    WHERE g.space_id IN (SELECT space_id FROM new WHERE addressed IN ('room', 'thread'))
      AND ((g.name = 'listening' AND g.value = '"free"') OR (g.name = 'ambient' AND g.value = 'true'))
), joined AS MATERIALIZED (
    SELECT t.place_id, CASE WHEN takes_part(t.space_id, t.place_id) THEN 0 ELSE (
        SELECT min(s.n) FROM new s
        WHERE (s.message_id = t.place_id AND s.addressed IN ('mention', 'reply', 'edit'))
           OR (s.place_id = t.place_id AND s.addressed = 'joined')) END AS since
    FROM (SELECT DISTINCT space_id, place_id FROM new WHERE addressed = 'thread') AS t
), inbox AS (
    INSERT INTO discord_inbox AS i (space_id, place_id, message_id, author_id, reason)
    SELECT space_id, place_id, message_id, author_id, addressed FROM (
        SELECT DISTINCT ON (space_id, message_id) space_id, place_id, message_id, author_id, addressed, n FROM new
        WHERE addressed IS NOT NULL AND author_id IS NOT NULL
          AND (addressed NOT IN ('room', 'thread') OR space_id IN (SELECT space_id FROM listening)
               OR (addressed = 'thread' AND n > (SELECT min(j.since) FROM joined j WHERE j.place_id = new.place_id)))
        ORDER BY space_id, message_id, addressed IN ('room', 'thread'), n
    ) AS one ORDER BY n
    ON CONFLICT (space_id, message_id) DO UPDATE SET
        reason = EXCLUDED.reason, state = 'waiting', due_at = now(), arrived_at = now()
    WHERE i.state = 'ignored' AND EXCLUDED.reason = 'edit'
    RETURNING inbox_id
), woken AS MATERIALIZED (
    SELECT a.n, pg_notify('muninn_inbox', '') FROM (SELECT count(*) AS n FROM inbox) AS a WHERE a.n > 0
)
SELECT space_id, event_key, 'known' AS what FROM given
WHERE (space_id, event_key) NOT IN (SELECT space_id, event_key FROM fresh)
UNION ALL
SELECT space_id, event_key, {unsaid} FROM new
WHERE author_id IS NOT NULL
  AND NOT (first AND (space_id, message_id) IN (SELECT space_id, message_id FROM said))
UNION ALL
SELECT NULL, NULL, 'woken' FROM woken
"""
INSERT_EVENTS_SQL: Final = "WITH" + _INSERTING.format(
    new_events="ORDER BY n ON CONFLICT (space_id, event_key) DO NOTHING",
    new_messages="ON CONFLICT (space_id, message_id) DO NOTHING",
    unsaid="'unsaid'",
    turn_id="NULL::bigint",
    settling="",
)

# The same where nothing could merge what is not new. That events are new is looked up first, and messages are taken to
# be: a tenth cheaper than to insert each on trial. Where another was quicker, or a version of a message would be still
# to merge, the statement is undone: by the keys, or by a division by zero.
_PLAIN: Final = {
    "new_events": """WHERE NOT EXISTS (
        SELECT FROM discord_events e WHERE e.space_id = given.space_id AND e.event_key = given.event_key
    ) ORDER BY n""",
    "new_messages": "",
    "unsaid": "(1 / (n - n))::text",
}
INSERT_PLAIN_SQL: Final = "WITH" + _INSERTING.format(**_PLAIN, turn_id="NULL::bigint", settling="")

# Our own message came back from the gateway with its nonce: the write was applied, whatever its response said (I4).
_SETTLING: Final = """
    action_receipts r
    SET state = 'applied', external_id = e.message_id, settled_at = now(), attempts = greatest(r.attempts, 1),
        args = r.args - 'content'
    FROM unnest({nonces}::text[], {messages}::bigint[]) AS e (nonce, message_id)
    WHERE r.nonce = e.nonce AND r.state IN ('intended', 'unknown')
"""

# The same with messages of ours among them: each is its turn's, and then its receipt is settled, as SETTLE_ECHOES_SQL
# does where they are merged; a draft's too, which has no words yet.
INSERT_PLAIN_ECHOES_SQL: Final = "WITH" + _INSERTING.format(
    **_PLAIN,
    turn_id="""(
        SELECT r.turn_id FROM unnest($20::text[], $21::bigint[]) AS e (nonce, message_id)
        JOIN action_receipts r ON r.nonce = e.nonce WHERE e.message_id = new.message_id LIMIT 1
    )""",
    settling=f""", settled AS (UPDATE {_SETTLING.format(nonces="$20", messages="$21")}
    AND e.message_id IN (SELECT message_id FROM new)
)""",
)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The arguments of INSERT_EVENTS_SQL, and the message that each event brings, if any."""

    seen: tuple[MessageSeen | None, ...]
    arguments: tuple[object, ...]


# What stands where an event brings no message.
_NO_MESSAGE: Final = tuple(
    (dict.fromkeys(MessageSeen._fields) | {"author_name": "", "content": "", "extras": "{}"}).values()
)


def _rows(events: Sequence[Incoming]) -> _Rows:
    seen = tuple(event.change if isinstance(event.change, MessageSeen) else None for event in events)
    firsts = _first_versions(seen)
    event = _columns(Incoming._fields, events)
    message = _columns(MessageSeen._fields, [m or _NO_MESSAGE for m in seen])
    separator, (kinds, keys, subjects, payloads, names, contents, extras) = _joined(
        event["kind"],
        event["key"],
        [_literal(subject_ids) for subject_ids in event["subject_ids"]],
        event["payload"],
        message["author_name"],
        message["content"],
        message["extras"],
    )
    arguments = (
        _literal(event["space_id"]),
        _literal(event["place_id"]),
        kinds,
        keys,
        _literal(event["message_id"]),
        subjects,
        _literal(event["source"]),
        payloads,
        _literal(event["addressed"]),
        _literal([m is not None and id(m) in firsts for m in seen]),
        _literal(message["author_id"]),
        _literal(message["author_kind"]),
        names,
        contents,
        _literal(message["reply_to_id"]),
        extras,
        _literal([at and at.isoformat() for at in message["created_at"]]),
        _literal([at and at.isoformat() for at in message["edited_at"]]),
        separator,
    )
    return _Rows(seen, arguments)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Sequence[Any]]:
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())


async def _insert_events(
    conn: Db,
    events: Sequence[Incoming],
    rows: _Rows,
    statement: str = INSERT_EVENTS_SQL,
    more: Sequence[object] = (),
) -> tuple[frozenset[tuple[int, str]], list[MessageSeen], bool]:
    """What of `events` was known, the versions of messages that are still to be merged, and whether the inbox grew."""
    odd: dict[str, set[tuple[int, str]]] = {"known": set(), "unsaid": set(), "woken": set()}
    for space_id, key, what in await conn.fetch(statement, *rows.arguments, *more):
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


def _joined(*columns: Sequence[str]) -> tuple[str, list[str]]:
    """Each column as one text, and what stands between its values: something that is in none of them.

    Sent as arrays they would be laid out by asyncpg value by value, while PostgreSQL waits.
    """
    separator, tried = "\x1f", 0
    while True:
        joined = [separator.join(column) for column in columns]
        between = (max(len(column) - 1, 0) for column in columns)
        if all(text.count(separator) == expected for text, expected in zip(joined, between, strict=True)):
            return separator, joined
        # It begins and ends differently, so that none can arise from the end of a value and the beginning of another.
        tried += 1
        separator = f"\x1f{tried}\x1e"


def _first_versions(seen: Sequence[MessageSeen | None]) -> set[int]:
    """The id() of the oldest version of each message: a statement may touch a message once."""
    oldest: dict[tuple[int, int], MessageSeen] = {}
    for message in seen:
        if message is not None:
            known = oldest.setdefault((message.space_id, message.message_id), message)
            if message.version_at < known.version_at:
                oldest[message.space_id, message.message_id] = message
    return {id(message) for message in oldest.values()}


# What was sent came back: its receipt is settled, and the message is the turn's, whose worker may have died before it
# could say so.
SETTLE_ECHOES_SQL: Final = f"""
WITH settled AS (UPDATE {_SETTLING.format(nonces="$1", messages="$2")}
    RETURNING r.space_id, r.external_id, r.turn_id
)
UPDATE chat_messages c SET turn_id = s.turn_id
FROM settled s WHERE c.space_id = s.space_id AND c.message_id = s.external_id
"""


def _echoes(events: Sequence[Incoming]) -> dict[str, MessageId]:
    return {e.nonce: e.message_id for e in events if e.nonce is not None and e.message_id is not None}


async def _settle_echoes(conn: Db, events: Sequence[Incoming]) -> None:
    if echoes := _echoes(events):
        await conn.execute(SETTLE_ECHOES_SQL, *_arguments(echoes))


def _arguments(echoes: Mapping[str, MessageId]) -> tuple[list[str], list[MessageId]]:
    return list(echoes), list(echoes.values())


# Keep what cannot be stored as it is, for an operator to see.
PARK_EVENT_SQL: Final = """
INSERT INTO parked_events (kind, event_key, payload, reason) VALUES ($1, $2, $3, $4)
ON CONFLICT (event_key) DO NOTHING
"""


async def park(conn: Db, *, kind: str, key: str, payload: str, reason: str) -> None:
    """Keep an event that the journal refused, as text, with the reason. `payload` and `reason` hold no U+0000."""
    await conn.execute(PARK_EVENT_SQL, kind, key, payload, reason[:500])
