"""What Discord sends, as the journal can hold it: ids, moments and text within bounds, secrets and others' words out.

Whatever these let through, PostgreSQL stores. They raise ValueError, TypeError or OverflowError for what Discord never
sends; whoever reads a dispatch calls it malformed then.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final, cast

import orjson

Payload = Mapping[str, Any]

# Wherever they stand: what lets somebody act as us or in our name (I13).
SECRETS: Final = frozenset({"token", "session_id", "resume_gateway_url"})

# Fields that hold a person's id, and fields that hold a person.
_PERSON_IDS: Final = ("user_id", "owner_id", "creator_id", "target_id", "message_author_id")
_PERSONS: Final = ("user", "author", "inviter", "target_user", "member")
_PERSON_LISTS: Final = ("added_members", "removed_member_ids", "mentions")

MOST_TEXT: Final = 100_000
"""Characters of a text: 25 times what Discord lets anybody write."""


def snowflake(value: Any) -> int:
    """An id as Discord makes them, which PostgreSQL's bigint holds."""
    number = int(value)
    if not 0 <= number < 2**63:
        raise ValueError("an id beyond 64 bits")
    return number


def moment(value: Any) -> datetime:
    """An ISO 8601 time with its offset, in UTC."""
    read = datetime.fromisoformat(value)
    if read.tzinfo is None:
        raise ValueError("a time without an offset")
    return read.astimezone(UTC)


def listed(value: Any) -> Sequence[Any]:
    """A JSON array; null and a missing one are empty."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected an array, got {type(value).__name__}")
    return cast("Sequence[Any]", value)


def text(value: Any, *, most: int = MOST_TEXT) -> str:
    """A text as PostgreSQL can hold it, of at most `most` characters."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    if len(value) > most:
        raise ValueError(f"a text of {len(value)} characters")
    return clean(value)


def subjects(data: Payload) -> tuple[int, ...]:
    """Whom a payload of any kind is about (I15), as far as its fields tell."""
    return tuple(dict.fromkeys(_subjects(data)))


def _subjects(data: Payload) -> Iterator[int]:
    for field in _PERSON_IDS:
        yield from _person(data.get(field))
    for field in _PERSONS:
        yield from _person(data.get(field))
    for field in _PERSON_LISTS:
        many = data.get(field)
        for one in cast("Sequence[Any]", many) if isinstance(many, list) else ():
            yield from _person(one)


def _person(value: Any) -> Iterator[int]:
    """The id in an id, a user or a member; nothing in what is none of them."""
    if isinstance(value, Mapping):
        inner = cast("Payload", value)
        yield from _person(inner.get("user") or inner.get("user_id") or inner.get("id"))
    elif isinstance(value, str | int) and str(value).isascii() and str(value).isdecimal() and int(value) < 2**63:
        yield int(value)


def without_secrets(value: object) -> object:
    """The same without SECRETS, however deep they stand."""
    match value:
        case Mapping():
            items = cast("Mapping[object, object]", value).items()
            return {key: without_secrets(inner) for key, inner in items if key not in SECRETS}
        case list() | tuple():
            return [without_secrets(inner) for inner in cast("Sequence[object]", value)]
        case _:
            return value


def dump(value: object) -> str:
    """JSON text that PostgreSQL takes as jsonb."""
    try:
        written = orjson.dumps(value)
    except TypeError:  # a lone surrogate, an integer over 64 bits, or a key that is no string
        written = orjson.dumps(_cleaned(value))
    if rb"\u0000" in written:
        written = orjson.dumps(_cleaned(value))
    return written.decode()


def digest(written: str) -> str:
    """A short name for a payload; equal payloads have equal names."""
    return blake2b(written.encode(), digest_size=12).hexdigest()


def session_key(session_id: str) -> str:
    """Names a gateway session in event keys without storing the session's own id."""
    return blake2b(clean(str(session_id)).encode(), digest_size=6).hexdigest()


def clean(written: str) -> str:
    """Text as PostgreSQL can hold it: U+0000 and lone surrogates become U+FFFD."""
    if written.isascii() and "\0" not in written:
        return written
    if "\0" in written:
        written = written.replace("\0", "�")
    try:
        written.encode()
    except UnicodeEncodeError:
        return written.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return written


def _cleaned(value: object) -> object:
    match value:
        case str():
            return clean(value)
        case Mapping():
            return {clean(str(k)): _cleaned(v) for k, v in cast("Mapping[object, object]", value).items()}
        case list() | tuple():
            return [_cleaned(item) for item in cast("Sequence[object]", value)]
        case bool() | None | float():
            return value
        case int():
            return value if -(2**63) <= value < 2**63 else str(value)
        case _:
            return str(value)
