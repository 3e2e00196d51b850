"""The working set: the recent messages that resolve "it" and "that", and what they answer.

Selection happens here, under a budget; memory.assembly adds the other sections, bot.prompt renders them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

import orjson

from memory.beginnings import SINCE_START
from memory.choices import READ
from memory.database import Db
from memory.ids import MessageId, PlaceId, UserId
from memory.incoming import AuthorKind
from memory.places import SHOWN_PLACES, here_alone
from memory.scope import Scope, fetch_scoped

LINE_OVERHEAD_TOKENS: Final = 16
"""What a line costs beside its words: who, when, and the marks around them."""


SILENCE: Final = timedelta(hours=12)
"""After so long, what was said before is another topic."""

MOST_ANSWERED: Final = 3
"""How far a chain of replies is followed back."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message. `elsewhere`: the place that it was said in, where that is another one than the turn's.
    `edited`: its words are not the first ones."""

    message_id: MessageId
    author_id: UserId
    author_kind: AuthorKind
    author_name: str
    content: str
    reply_to_id: MessageId | None
    created_at: datetime
    extras: Mapping[str, Any]
    elsewhere: PlaceId | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The trigger, the lines before it (oldest first), and how many recent lines the budget left out.

    `trigger` is None if the message is gone: deleted, or never journalled. `starter` is the message that the thread was
    opened on, where this place is one, or the first one of a forum's post. `whole`: there is no more of the
    place's conversation.
    """

    trigger: Line | None
    lines: tuple[Line, ...]
    left_out: int
    starter: Line | None = None
    whole: bool = False


# The newest messages of this place that still stand, since its conversation began; and what a thread was opened on:
# that message has the thread's own id, and stands in the thread's parent, or, in a forum's post, in the thread. Who
# sees the thread sees it.
WORKING_SET_SQL: Final = f"""
(SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at,
        edited_at IS NOT NULL AS edited, extras::text AS extras, false AS is_starter
 FROM chat_messages
 WHERE space_id = $1 AND place_id = $2 AND deleted_at IS NULL AND author_id IS NOT NULL
   AND {READ.format(author="author_id")} AND {SINCE_START.format(message="message_id", space="$1", place="$2")}
   AND ($4::bigint IS NULL OR author_id = $4 OR author_kind = 'self')
 ORDER BY message_id DESC LIMIT $3)
UNION ALL
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at,
       edited_at IS NOT NULL, extras::text, true
FROM chat_messages
WHERE space_id = $1 AND message_id = $2 AND deleted_at IS NULL AND author_id IS NOT NULL
  AND {READ.format(author="author_id")} AND ($4::bigint IS NULL OR author_id = $4 OR author_kind = 'self')
"""

# The trigger alone, for a place that has moved on too far for the working set to hold it.
TRIGGER_SQL: Final = """
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at,
       edited_at IS NOT NULL AS edited, extras::text AS extras
FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id = $3 AND deleted_at IS NULL AND author_id IS NOT NULL
"""


# Messages of this place by their ids.
LINES_SQL: Final = f"""
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at,
       edited_at IS NOT NULL AS edited, extras::text AS extras
FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id = ANY($3::bigint[]) AND deleted_at IS NULL
  AND author_id IS NOT NULL AND {READ.format(author="author_id")}
"""

# Messages of this place and others that may show here, with what was said just before and after each, older than $5
# here and than $6 elsewhere, in their order.
LINES_BESIDE_SQL: Final = f"""
WITH {SHOWN_PLACES}, hit AS MATERIALIZED (
    SELECT h.message_id, h.place_id, CASE WHEN h.place_id = $2 THEN $5::bigint ELSE $6::bigint END AS before_id
    FROM unnest($3::bigint[], $4::bigint[]) AS h (message_id, place_id)
    WHERE h.place_id = $2 OR h.place_id IN (SELECT place_id FROM shown_places)
)
SELECT DISTINCT m.message_id, m.author_id, m.author_kind, m.author_name, m.content, m.reply_to_id, m.created_at,
       m.edited_at IS NOT NULL AS edited, m.extras::text AS extras, nullif(m.place_id, $2) AS elsewhere
FROM hit CROSS JOIN LATERAL (
    (SELECT b.* FROM chat_messages b
     WHERE b.space_id = $1 AND b.place_id = hit.place_id AND b.message_id <= hit.message_id AND b.deleted_at IS NULL
     ORDER BY b.message_id DESC LIMIT 2)
    UNION ALL
    (SELECT a.* FROM chat_messages a
     WHERE a.space_id = $1 AND a.place_id = hit.place_id AND a.message_id > hit.message_id AND a.deleted_at IS NULL
     ORDER BY a.message_id LIMIT 1)
) AS m
WHERE m.author_id IS NOT NULL AND m.message_id < hit.before_id AND {READ.format(author="m.author_id")}
ORDER BY m.message_id
"""


# The same, of this place alone.
LINES_BESIDE_HERE_SQL: Final = here_alone(LINES_BESIDE_SQL)


async def read_lines_beside(
    db: Db,
    scope: Scope,
    found: Sequence[tuple[MessageId, PlaceId]],
    *,
    before_id: MessageId,
    elsewhere_before_id: MessageId,
) -> tuple[Line, ...]:
    """These messages and their neighbours, in their order, as far as they may show here and are older than these."""
    if not found:
        return ()
    places = [place_id for _, place_id in found]
    statement = LINES_BESIDE_HERE_SQL if set(places) == {scope.place_id} else LINES_BESIDE_SQL
    messages = [message_id for message_id, _ in found]
    rows = await fetch_scoped(db, statement, scope, messages, places, before_id, elsewhere_before_id)
    return tuple(_line(row, elsewhere=row["elsewhere"]) for row in rows)


async def working_set(
    db: Db,
    scope: Scope,
    trigger_id: MessageId,
    *,
    most_messages: int,
    most_tokens: int,
    only: UserId | None = None,
) -> WorkingSet:
    """The newest lines of the place that fit into `most_tokens`, by our own estimate, and the trigger.

    The trigger stands outside of the budget: a message is read whole, Discord's limit bounds it. What was said before a
    long silence is another topic, and left out, but for what the trigger answers. `only`: of what this member and we
    said, and nobody else; what the trigger answers was chosen by who asks, and stays.
    """
    rows = await fetch_scoped(db, WORKING_SET_SQL, scope, most_messages + 1, only)
    lines = [_line(row) for row in rows if not row["is_starter"]]
    starter = next((_line(row) for row in rows if row["is_starter"]), None)
    trigger = next((line for line in lines if line.message_id == trigger_id), None)
    if trigger is None:
        found = await fetch_scoped(db, TRIGGER_SQL, scope, trigger_id)
        trigger = _line(found[0]) if found else None
    others = [line for line in lines if line.message_id != trigger_id][:most_messages]
    if trigger is not None:
        trigger, others = with_rest(trigger, others)
    kept: list[Line] = []
    budget, later = most_tokens, trigger
    for line in others:
        budget -= estimate_tokens(line.content) + LINE_OVERHEAD_TOKENS
        if budget < 0 or (later is not None and later.created_at - line.created_at > SILENCE):
            break
        kept.append(line)
        later = line
    left_out = len(others) - len(kept)
    kept.reverse()
    answered = await _answered(db, scope, trigger, kept)
    shown = (*answered, *kept)
    if starter is not None and any(
        line.message_id == starter.message_id for line in (*shown, *filter(None, [trigger]))
    ):
        starter = None
    whole = len(lines) <= most_messages and not left_out
    return WorkingSet(trigger, shown, left_out, starter, whole)


PIECE_CHARS: Final = 1_800
PIECES_S: Final = 3.0


def with_rest(trigger: Line, others: Sequence[Line]) -> tuple[Line, list[Line]]:
    """The trigger whole, and what is left of `others`: a client splits what is longer than Discord takes into several
    messages, each but the last nearly as long as one can be, and sends them one right after the other."""
    own = sorted([trigger, *(e for e in others if e.author_id == trigger.author_id)], key=lambda e: e.message_id)
    at = own.index(trigger)
    first = last = at
    while first > 0 and _goes_on(own[first - 1], own[first]):
        first -= 1
    while last + 1 < len(own) and _goes_on(own[last], own[last + 1]):
        last += 1
    pieces = own[first : last + 1]
    if len(pieces) == 1:
        return trigger, list(others)
    extras: dict[str, Any] = {}
    for piece in pieces:
        for name, value in piece.extras.items():
            extras[name] = _together(extras.get(name), value)
    whole = replace(trigger, content="\n".join(piece.content for piece in pieces), extras=extras)
    return whole, [line for line in others if line not in pieces]


def _goes_on(one: Line, following: Line) -> bool:
    soon = (following.created_at - one.created_at).total_seconds() <= PIECES_S
    return len(one.content) >= PIECE_CHARS and soon and one.author_kind == "member"


def _together(one: object, other: object) -> object:
    """Lists after one another, names beside one another, else the first."""
    if isinstance(one, list) and isinstance(other, list):
        return [*cast("list[object]", one), *cast("list[object]", other)]
    if isinstance(one, dict) and isinstance(other, dict):
        return {**cast("dict[str, object]", one), **cast("dict[str, object]", other)}
    return cast("object", other if one is None else one)


async def _answered(db: Db, scope: Scope, trigger: Line | None, kept: Sequence[Line]) -> tuple[Line, ...]:
    """What the trigger answers, and what that answers, where it is further back than the lines, oldest first."""
    known = {line.message_id: line for line in kept}
    found: list[Line] = []
    target = trigger.reply_to_id if trigger is not None else None
    for _ in range(MOST_ANSWERED):
        if target is None:
            break
        line = known.get(target)
        if line is None:
            rows = await fetch_scoped(db, LINES_SQL, scope, [target])
            if not rows:
                break
            line = _line(rows[0])
            found.append(line)
        target = line.reply_to_id
    return tuple(sorted(found, key=lambda each: each.message_id))


def estimate_tokens(text: str) -> int:
    """A careful guess: a token for three bytes, which is too many for English and about right for most scripts."""
    return (len(text.encode()) + 2) // 3


def _line(row: Any, *, elsewhere: PlaceId | None = None) -> Line:
    return Line(
        row["message_id"],
        row["author_id"],
        row["author_kind"],
        row["author_name"] or "",
        row["content"],
        row["reply_to_id"],
        row["created_at"],
        orjson.loads(row["extras"]),
        elsewhere,
        row["edited"],
    )


def names_of(lines: Sequence[Line]) -> dict[int, str]:
    """What people were last called, by their ids: authors, then those whom a message names."""
    names: dict[int, str] = {}
    for line in lines:
        names.update(names_in(line.extras.get("mentions", {})))
    names.update({line.author_id: line.author_name for line in lines})
    return names


def names_in(mentions: Mapping[str, object]) -> dict[int, str]:
    """What those whom a message mentions were called, by their ids, from what is kept of it."""
    return {int(user): str(name) for user, name in mentions.items() if name}
