"""Remembering and forgetting by hand: what a member, or somebody who governs the place, says in so many words.

Both take the caller's transaction, so that a receipt commits with what it stands for (I4). Whether the author may do it
at all was decided by the caller from Discord's facts (I5); here it is only held that nobody reaches the memories of
somebody else (I6). What is refused raises MemoryRefused and has changed nothing (I16).
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from asyncpg import Record

from memory.choices import PLACE_REMEMBERS, REMEMBERED
from memory.credentials import caught_by
from memory.database import Db
from memory.errors import MemoryRefused
from memory.ids import MessageId, UserId, time_snowflake
from memory.keys import is_key
from memory.kinds import KINDS, SCOPES, Kind, MemoryScope
from memory.owners import DEFAULT_CAPS, Caps, Owner, admit, lock_owners, owner_of
from memory.scope import Scope
from memory.taking_back import end_items
from memory.values import Stored, StoredAs, Value, Witness, store

CONTENT_CHARS: Final = 2_000
"""What one memory may hold, on every path into it. The schema says so too."""

TOLD_CONFIDENCE: Final = 0.9
TOLD_IMPORTANCE: Final = 0.6

# Signs that show nothing and can hide or turn text: bidirectional overrides, tags, soft hyphens, byte order marks.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\xad\u200b\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said something."""

    user_id: UserId
    name: str


@dataclass(frozen=True, slots=True)
class Author:
    """Who says it, and where. Made from the event or interaction, never from what a model says (I6).

    `message_id` is the message that says it, on which the memory then rests: it goes with it (I8). None: an interaction
    or an API, where it rests on the author alone. `governs`: may write for the channel and the guild. `speaker`: whose
    words it keeps, where they are somebody else's.
    """

    scope: Scope
    user_id: UserId
    name: str
    message_id: MessageId | None = None
    governs: bool = False
    speaker: Speaker | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be remembered, as it was given. `importance` is 0 to 1."""

    content: str
    kind: str = "fact"
    key: str | None = None
    scope: str = "user"
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be forgotten: the memory of that id, or the active one of that key; exactly one is given."""

    memory_id: int | None = None
    key: str | None = None
    scope: str = "user"


@dataclass(frozen=True, slots=True)
class Remembered:
    """`version`: of what stands now. `unchanged`: it was known already. `previous`: the words that it replaced."""

    memory_id: int
    outcome: StoredAs
    content: str
    previous: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten."""

    memory_id: int
    key: str | None
    content: str
    version: int


# Whether the author may be kept in mind, and whether memory is on in the place.
WILLING_SQL: Final = f"""
SELECT {REMEMBERED.format(author="$3::bigint")} AS willing, {PLACE_REMEMBERS.format(space="$1", place="$2")} AS is_on
"""


async def _require_willing(conn: Db, author: Author) -> None:
    """Raises MemoryRefused: opted_out, memory_off."""
    row = await conn.fetchrow(WILLING_SQL, author.scope.space_id, author.scope.place_id, author.user_id)
    if row is not None and not row["willing"]:
        raise MemoryRefused(
            "opted_out",
            "They chose not to be remembered, so nothing was stored; `/privacy` changes that.",
        )
    if row is not None and not row["is_on"]:
        raise MemoryRefused("memory_off", "Memory is switched off in this channel, so nothing was stored.")


async def remember(conn: Db, author: Author, draft: Draft, *, caps: Caps = DEFAULT_CAPS) -> Remembered:
    """Remember what the author says, inside the caller's transaction.

    Raises MemoryRefused: empty, too_long, unknown_kind, unknown_scope, bad_key, bad_importance, secret, not_yours,
    gone, opted_out, memory_off, cap_reached, rate_limited.
    """
    scope = _allowed_scope(author, draft.scope)
    kind = known_kind(draft.kind)
    content = require_content(draft.content)
    if draft.key is not None:
        require_key(draft.key)
    importance = TOLD_IMPORTANCE if draft.importance is None else require_importance(draft.importance)
    place, speaker = author.scope, author.speaker or Speaker(author.user_id, author.name)
    owner = owner_of(scope, place.space_id, place.place_id, author.user_id)
    await lock_owners(conn, [owner])
    await _require_willing(conn, author)
    evidence = await _witness(conn, author)
    value = Value(
        owner=owner,
        place_id=place.place_id,
        kind=kind,
        key=draft.key,
        content=content,
        source="told",
        author_id=speaker.user_id,
        author_name=clean(speaker.name)[:100],
        said_id=author.message_id or await _moment(conn),
        importance=importance,
        asserted=TOLD_CONFIDENCE,
        evidence=evidence,
    )
    stored: Stored = await store(conn, value, caps)
    return Remembered(stored.memory_id, stored.outcome, content, stored.previous, stored.version)


# The owner's active memory of this id or key.
FIND_TARGET_SQL: Final = """
SELECT memory_id, key, content, version, scope, owner_id FROM memory_items
WHERE space_id = $1 AND state = 'active'
  AND ((memory_id = $2 AND $3::text IS NULL) OR (key = $3 AND scope = $4 AND owner_id = $5))
"""


async def forget(conn: Db, author: Author, target: Target, *, caps: Caps = DEFAULT_CAPS) -> Forgotten:
    """Forget a memory, inside the caller's transaction: it leaves recall, links, vectors and summaries at once.

    Its row stays for the audit, and what its messages say is not extracted again. Raises MemoryRefused: not_found,
    not_yours, unknown_scope, rate_limited.
    """
    if (target.memory_id is None) == (target.key is None):
        raise MemoryRefused("not_found", "Say which memory to forget: by its id, or by its key.")
    scope = _known_scope(target.scope)
    row = await _find(conn, author, target, scope)
    if row is None:
        raise MemoryRefused("not_found", "There is no such memory; nothing was changed.")
    owner = owned(author, row)
    await lock_owners(conn, [owner])
    row = await _find(conn, author, target, scope)
    if row is None or owned(author, row) != owner:
        raise MemoryRefused("not_found", "There is no such memory any more; nothing was changed.")
    await admit(conn, owner, caps, new=False)
    await end_items(conn, [row["memory_id"]], state="forgotten", by_id=author.user_id)
    return Forgotten(row["memory_id"], row["key"], row["content"], row["version"])


@dataclass(frozen=True, slots=True)
class Sought:
    """An active memory that somebody named: whose it is, and its key and words as one text."""

    scope: MemoryScope
    words: str


async def sought(conn: Db, author: Author, target: Target) -> Sought | None:
    """What `forget` would find for this author and target; None where there is no such memory of theirs, of the
    place or of the guild. Whether they may change it is not looked at. Raises MemoryRefused: unknown_scope."""
    row = await _find(conn, author, target, _known_scope(target.scope))
    if row is None:
        return None
    scope: MemoryScope = row["scope"]
    mine = owner_of(scope, author.scope.space_id, author.scope.place_id, author.user_id)
    return Sought(scope, f"{row['key'] or ''} {row['content']}") if row["owner_id"] == mine.owner_id else None


async def _find(conn: Db, author: Author, target: Target, scope: MemoryScope) -> Record | None:
    place = author.scope
    owner = owner_of(scope, place.space_id, place.place_id, author.user_id)
    return await conn.fetchrow(
        FIND_TARGET_SQL, place.space_id, target.memory_id, target.key, owner.scope, owner.owner_id
    )


def owned(author: Author, row: Record) -> Owner:
    """Whose `row` is, if it is for this author to change: a member's own; with `governs`, the place's or the guild's.

    Raises MemoryRefused: not_found for another member's or place's, as if there were none; not_yours.
    """
    scope: MemoryScope = row["scope"]
    mine = owner_of(scope, author.scope.space_id, author.scope.place_id, author.user_id)
    if row["owner_id"] != mine.owner_id:
        raise MemoryRefused("not_found", "There is no such memory; nothing was changed.")
    _allowed_scope(author, scope)
    return mine


def _known_scope(scope: str) -> MemoryScope:
    for known in SCOPES:
        if known == scope:
            return known
    raise MemoryRefused("unknown_scope", f"A scope is one of {', '.join(SCOPES)}.")


def _allowed_scope(author: Author, scope: str) -> MemoryScope:
    known = _known_scope(scope)
    if known != "user" and not author.governs:
        raise MemoryRefused(
            "not_yours",
            f"What is remembered for the whole {known} is for administrators to change; nothing was changed. "
            "Your own memories are yours to write and forget.",
        )
    return known


def known_kind(kind: str) -> Kind:
    """The kind of that name. Raises MemoryRefused: unknown_kind."""
    for known in KINDS:
        if known == kind:
            return known
    raise MemoryRefused("unknown_kind", f"A kind is one of {', '.join(KINDS)}; nothing was stored.")


def require_content(text: str) -> str:
    """The words as they are kept. Raises MemoryRefused: empty, too_long, secret. Every path into memory comes here."""
    content = clean(text)
    if not any(each.isalnum() for each in content):
        raise MemoryRefused("empty", "There are no words to remember; nothing was stored.")
    if len(content) > CONTENT_CHARS:
        raise MemoryRefused(
            "too_long",
            f"A memory holds at most {CONTENT_CHARS} characters, and this has {len(content)}; nothing was stored. "
            "Say it shorter, or as several memories.",
        )
    require_no_secret(content)
    return content


def require_key(key: str) -> str:
    """The key. Raises MemoryRefused: bad_key."""
    if not is_key(key):
        raise MemoryRefused(
            "bad_key",
            "A key is two to five names of a-z, 0-9 and _ joined by dots (preference.editor); nothing was stored.",
        )
    return key


def require_importance(importance: float) -> float:
    """How much it matters. Raises MemoryRefused: bad_importance."""
    if not (math.isfinite(importance) and 0 <= importance <= 1):
        raise MemoryRefused("bad_importance", "Importance is a number from 0 to 1; nothing was stored.")
    return importance


def require_no_secret(text: str) -> None:
    """Raises MemoryRefused (secret) with the name of the rule that caught it, never with what was caught (I13)."""
    rule = caught_by(text)
    if rule is not None:
        raise MemoryRefused(
            "secret",
            f"This looks like {rule.what} (rule {rule.name}), which memory never keeps; nothing was stored. "
            "Remember where it can be found instead.",
        )


def clean(text: str) -> str:
    """Composed, trimmed, and without signs that cannot be seen."""
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text)).strip()


# The message that says it, held so that nobody edits or deletes it before the caller's transaction ends.
HOLD_WITNESS_SQL: Final = """
SELECT place_id, author_id, version_at FROM chat_messages
WHERE space_id = $1 AND message_id = $2 AND deleted_at IS NULL AND author_id IS NOT NULL
FOR SHARE
"""


async def _witness(conn: Db, author: Author) -> tuple[Witness, ...]:
    if author.message_id is None:
        return ()
    row = await conn.fetchrow(HOLD_WITNESS_SQL, author.scope.space_id, author.message_id)
    if row is None:
        raise MemoryRefused("gone", "The message that says so is not there any more; nothing was stored.")
    return (Witness(author.message_id, row["place_id"], row["author_id"], row["version_at"]),)


# By the database's clock, like every time.
MOMENT_SQL: Final = "SELECT now()"


async def _moment(conn: Db) -> MessageId:
    return MessageId(time_snowflake(await conn.fetchval(MOMENT_SQL)))
