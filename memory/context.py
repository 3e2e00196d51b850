"""What the model is shown: for now the working set, the recent messages that resolve "it" and "that".

Selection happens here, under a budget; bot.prompt renders what was selected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from memory.database import Db
from memory.ids import MessageId, UserId
from memory.incoming import AuthorKind
from memory.scope import Scope, fetch_scoped

LINE_OVERHEAD_TOKENS: Final = 16
"""What a line costs beside its words: who, when, and the marks around them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the working set."""

    message_id: MessageId
    author_id: UserId
    author_kind: AuthorKind
    author_name: str
    content: str
    reply_to_id: MessageId | None
    created_at: datetime
    extras: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The trigger, the lines before it (oldest first), and how many recent lines the budget left out.

    `trigger` is None if the message is gone: deleted, or never journalled.
    """

    trigger: Line | None
    lines: tuple[Line, ...]
    left_out: int


# The newest messages of this place that still stand.
WORKING_SET_SQL: Final = """
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at, extras::text AS extras
FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND deleted_at IS NULL AND author_id IS NOT NULL
ORDER BY message_id DESC LIMIT $3
"""

# The trigger alone, for a place that has moved on too far for the working set to hold it.
TRIGGER_SQL: Final = """
SELECT message_id, author_id, author_kind, author_name, content, reply_to_id, created_at, extras::text AS extras
FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id = $3 AND deleted_at IS NULL AND author_id IS NOT NULL
"""


async def working_set(
    db: Db, scope: Scope, trigger_id: MessageId, *, most_messages: int, most_tokens: int
) -> WorkingSet:
    """The newest lines of the place that fit into `most_tokens`, by our own estimate, and the trigger.

    The trigger stands outside of the budget: a message is read whole, Discord's limit bounds it.
    """
    rows = await fetch_scoped(db, WORKING_SET_SQL, scope, most_messages + 1)
    lines = [_line(row) for row in rows]
    trigger = next((line for line in lines if line.message_id == trigger_id), None)
    if trigger is None:
        found = await fetch_scoped(db, TRIGGER_SQL, scope, trigger_id)
        trigger = _line(found[0]) if found else None
    others = [line for line in lines if line.message_id != trigger_id][:most_messages]
    kept: list[Line] = []
    budget = most_tokens
    for line in others:
        budget -= estimate_tokens(line.content) + LINE_OVERHEAD_TOKENS
        if budget < 0:
            break
        kept.append(line)
    return WorkingSet(trigger, tuple(reversed(kept)), len(others) - len(kept))


def estimate_tokens(text: str) -> int:
    """A careful guess: a token for three bytes, which is too many for English and about right for most scripts."""
    return (len(text.encode()) + 2) // 3


def _line(row: Any) -> Line:
    return Line(
        row["message_id"],
        row["author_id"],
        row["author_kind"],
        row["author_name"] or "",
        row["content"],
        row["reply_to_id"],
        row["created_at"],
        orjson.loads(row["extras"]),
    )


def names_of(lines: Sequence[Line]) -> dict[int, str]:
    """What people were last called, by their ids: authors, then those whom a message names."""
    names: dict[int, str] = {}
    for line in lines:
        names.update({int(user): str(name) for user, name in line.extras.get("mentions", {}).items() if name})
    names.update({line.author_id: line.author_name for line in lines})
    return names
