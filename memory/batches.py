"""What the extractor reads at once: a bounded stretch of a place, who speaks in it, and what is known already."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import orjson

from memory.choices import PLACE_REMEMBERS, REMEMBERED
from memory.credentials import caught_by
from memory.database import Db
from memory.dates import zone_in
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.incoming import AuthorKind
from memory.kinds import Kind
from memory.owners import Owner
from memory.speech import lines_of, own_words, states_something

BATCH_MESSAGES: Final = 40
BATCH_CHARS: Final = 12_000
EARLIER_SHOWN: Final = 6
EARLIER_READ: Final = 60
"""So far back it is looked whether somebody said the same before."""
KNOWN_READ: Final = 200
KNOWN_SHOWN: Final = 40
_SHOWN_CHARS: Final = 2_000
WITHHELD: Final = "(withheld: it looks like a secret)"


@dataclass(frozen=True, slots=True)
class Heard:
    """One message as it was read. `own`: what of its words is its author's own; empty if it can carry no fact."""

    message_id: MessageId
    author_id: UserId
    author_kind: AuthorKind
    author_name: str
    content: str
    own: str
    reply_to_id: MessageId | None
    created_at: datetime
    version_at: datetime
    mentions: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may be the subject of a memory. `zone_name` is None where it is not known."""

    user_id: UserId
    name: str
    zone_name: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A memory that there is already. `content` is None where its origin is another place (I7)."""

    memory_id: int
    owner: Owner
    kind: Kind
    key: str | None
    content: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A stretch of a place. `through_id`: everything up to it is read when this is done.

    `rereads` are those of `messages` that were read before, or came late.
    """

    space_id: SpaceId
    place_id: PlaceId
    messages: tuple[Heard, ...]
    earlier: tuple[Heard, ...]
    through_id: MessageId
    full: bool
    rereads: frozenset[MessageId] = frozenset()
    people: tuple[Person, ...] = ()
    known: tuple[Known, ...] = ()
    zones: Mapping[UserId, ZoneInfo] = field(default_factory=dict[UserId, ZoneInfo])

    @property
    def says_something(self) -> bool:
        """Whether any member says anything that could be a fact; where not, no model need be asked."""
        return any(heard.own for heard in self.messages)

    def local_time(self, heard: Heard) -> datetime:
        """When it was said, in the speaker's time zone where that is known, else UTC."""
        return heard.created_at.astimezone(self.zones.get(heard.author_id, UTC))


# The next messages after the checkpoint, and those to be read out of turn; those that are deleted, of who is not to be
# remembered, or from where memory is off are passed over.
READ_BATCH_SQL: Final = f"""
WITH fresh AS (
    SELECT message_id FROM chat_messages
    WHERE space_id = $1 AND place_id = $2 AND message_id > $3 AND message_id <= $4
    ORDER BY message_id LIMIT $5
), again AS (
    SELECT message_id FROM ingestion_rereads
    WHERE space_id = $1 AND place_id = $2 AND message_id <= $3
    ORDER BY message_id LIMIT $5
)
SELECT b.message_id, m.author_id, m.author_kind, m.author_name, coalesce(m.content, '') AS content, m.reply_to_id,
       m.created_at, m.version_at, m.extras::text AS extras, b.again,
       m.deleted_at IS NOT NULL OR m.author_id IS NULL OR NOT {REMEMBERED.format(author="m.author_id")}
       OR NOT (SELECT {PLACE_REMEMBERS.format(space="$1", place="$2")}) AS gone
FROM (SELECT message_id, false AS again FROM fresh UNION ALL SELECT message_id, true FROM again) AS b
LEFT JOIN chat_messages m ON m.space_id = $1 AND m.message_id = b.message_id
ORDER BY b.message_id
"""

# What was said just before a message, newest first.
READ_EARLIER_SQL: Final = f"""
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at, version_at,
       extras::text AS extras
FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id < $3 AND deleted_at IS NULL AND author_id IS NOT NULL
  AND {REMEMBERED.format(author="author_id")}
ORDER BY message_id DESC LIMIT $4
"""


async def read_batch(
    db: Db, space_id: SpaceId, place_id: PlaceId, *, after: MessageId, target: MessageId, limit: int
) -> Batch:
    """The next `limit` messages at most after the checkpoint `after` and up to `target`, and those to be read again."""
    rows = await db.fetch(READ_BATCH_SQL, space_id, place_id, after, target, limit)
    taken: list[Any] = []
    room = BATCH_CHARS
    for row in rows:
        room -= len(row["content"])
        if taken and (room < 0 or len(taken) >= limit):
            break
        taken.append(row)
    fresh = [row["message_id"] for row in taken if not row["again"]]
    full = len(taken) < len(rows) or sum(not row["again"] for row in rows) >= limit
    through = MessageId((fresh[-1] if fresh else after) if full else target)
    there = [row for row in taken if not row["gone"]]
    earlier: Sequence[Any] = ()
    if there:
        earlier = await db.fetch(READ_EARLIER_SQL, space_id, place_id, there[0]["message_id"], EARLIER_READ)
    shown = list(reversed(earlier[:EARLIER_SHOWN]))
    heard = _heard([*shown, *there], _said_in(reversed(earlier[EARLIER_SHOWN:])))
    messages, before = heard[len(shown) :], heard[: len(shown)]
    rereads = frozenset(MessageId(row["message_id"]) for row in taken if row["again"])
    batch = Batch(space_id, place_id, messages, before, through, full, rereads)
    return await _with_company(db, batch) if batch.says_something else batch


def _said_in(rows: Iterable[Any], said: dict[str, int] | None = None) -> dict[str, int]:
    """Whose each line is: of the member who said it first; but what a bot said is nobody's else, even if it had it
    from somebody."""
    said = {} if said is None else said
    for row in rows:
        for line in lines_of(row["content"]):
            if row["author_kind"] == "member":
                said.setdefault(line, row["author_id"])
            else:
                said[line] = row["author_id"]
    return said


def _heard(rows: Sequence[Any], said: dict[str, int]) -> tuple[Heard, ...]:
    """In order; a line that somebody else said before (`said`) is not the words of who repeats it."""
    heard: list[Heard] = []
    for row in rows:
        others = {line for line, author in said.items() if author != row["author_id"]}
        extras: dict[str, Any] = orjson.loads(row["extras"])
        own = own_words(row["content"], others) if row["author_kind"] == "member" else ""
        # No prompt carries what looks like a secret (I13), and nothing is remembered of it.
        secret = caught_by(row["content"]) is not None
        heard.append(
            Heard(
                MessageId(row["message_id"]),
                UserId(row["author_id"]),
                row["author_kind"],
                row["author_name"] or "",
                WITHHELD if secret else row["content"][:_SHOWN_CHARS],
                own if states_something(own) and not secret else "",
                row["reply_to_id"],
                row["created_at"],
                row["version_at"],
                {int(user): str(name) for user, name in extras.get("mentions", {}).items() if name},
            )
        )
        _said_in([row], said)
    return tuple(heard)


# What is known of these people, this place and this guild, newest first; words only where they come from this place.
READ_KNOWN_SQL: Final = """
SELECT memory_id, scope, owner_id, kind, key, version, CASE WHEN place_id = $2 THEN content END AS content
FROM live_memories
WHERE space_id = $1 AND (
    (scope = 'user' AND owner_id = ANY($3::bigint[]) AND (key IS NOT NULL OR place_id = $2))
    OR (scope = 'channel' AND owner_id = $2)
    OR (scope = 'guild' AND owner_id = $1 AND (key IS NOT NULL OR place_id = $2)))
ORDER BY changed_at DESC LIMIT $4
"""

# The time zones that these people named, wherever they did: only hours are made from them. What they set by command
# comes last, and counts.
READ_ZONES_SQL: Final = """
SELECT owner_id, content FROM (
    SELECT owner_id, content, 1 AS rank FROM live_memories
    WHERE space_id = $1 AND scope = 'user' AND owner_id = ANY($2::bigint[]) AND key = 'profile.timezone'
    UNION ALL
    SELECT user_id, time_zone, 2 FROM member_choices WHERE user_id = ANY($2::bigint[]) AND time_zone IS NOT NULL
) AS named ORDER BY rank
"""


async def _with_company(db: Db, batch: Batch) -> Batch:
    names: dict[UserId, str] = {}
    for heard in (*batch.earlier, *batch.messages):
        if heard.author_kind == "member":
            names[heard.author_id] = heard.author_name
    speakers = list(names)
    zones = {
        UserId(row["owner_id"]): zone
        for row in await db.fetch(READ_ZONES_SQL, batch.space_id, speakers)
        if (zone := zone_in(row["content"])) is not None
    }
    rows = await db.fetch(READ_KNOWN_SQL, batch.space_id, batch.place_id, speakers, KNOWN_READ)
    known = [
        Known(
            row["memory_id"],
            Owner(batch.space_id, row["scope"], row["owner_id"]),
            row["kind"],
            row["key"],
            row["content"],
            row["version"],
        )
        for row in rows
    ]
    people = tuple(Person(user, name, str(zones[user]) if user in zones else None) for user, name in names.items())
    return Batch(
        batch.space_id,
        batch.place_id,
        batch.messages,
        batch.earlier,
        batch.through_id,
        batch.full,
        batch.rereads,
        people,
        _relevant(known, batch.messages),
        zones,
    )


_PIECE: Final = re.compile(r"[^\W_]{3,}")


def _relevant(known: Sequence[Known], messages: Sequence[Heard]) -> tuple[Known, ...]:
    """Those that share most words with what is said, then the newest; in a stable order."""
    said = {word for heard in messages for word in _PIECE.findall(heard.own.casefold())}

    def shared(one: Known) -> int:
        words = set(_PIECE.findall(f"{one.key or ''} {one.content or ''}".casefold()))
        return len(words & said)

    ranked = sorted(enumerate(known), key=lambda pair: (-shared(pair[1]), pair[0]))
    return tuple(one for _, one in sorted(ranked[:KNOWN_SHOWN], key=lambda pair: pair[1].memory_id))
