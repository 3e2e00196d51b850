"""Whatever a payload holds: it is read or refused, and what is read can be stored (I1, I2)."""

import copy
import inspect
from typing import Any, cast

from discord.state import ConnectionState
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.addressing import Identity
from bot.errors import MalformedDispatch
from bot.events import Dispatch, read
from memory.database import Pool
from memory.journal import write_group

ME = Identity(application_id=10, user_id=10)
KINDS = sorted(
    name.removeprefix("parse_").upper() for name, _ in inspect.getmembers(ConnectionState) if name.startswith("parse_")
)
"""Every dispatch that the library has a handler for."""

USER: dict[str, Any] = {"id": "701", "username": "ada", "global_name": "Ada", "bot": False, "system": False}
# A payload with a field of every kind, of which each dispatch takes what it knows.
BASE: dict[str, Any] = {
    "id": "1400000000000000000",
    "ids": ["1400000000000000001", "1400000000000000002"],
    "guild_id": "500",
    "channel_id": "600",
    "message_id": "1400000000000000000",
    "user_id": "701",
    "owner_id": "702",
    "author": USER,
    "user": USER,
    "member": {"user": USER, "nick": "Addie", "roles": ["1"]},
    "content": "hello",
    "timestamp": "2026-05-01T12:00:00+00:00",
    "edited_timestamp": "2026-05-01T12:00:01.250000+00:00",
    "joined_at": "2026-05-01T12:00:00+00:00",
    "type": 0,
    "nonce": "n",
    "webhook_id": None,
    "mentions": [USER],
    "attachments": [{"id": "1", "filename": "a.png", "size": 3, "content_type": "image/png"}],
    "message_reference": {"type": 0, "message_id": "1400000000000000000", "channel_id": "600"},
    "referenced_message": {"id": "1400000000000000000", "author": USER, "content": "before"},
    "message_snapshots": [{"message": {"content": "forwarded"}}],
    "emoji": {"id": None, "name": "👍"},
    "message": {"id": "5", "content": "an interaction's"},
    "guilds": [{"id": "500", "unavailable": True}],
    "channels": [{"id": "600", "type": 0, "last_message_id": None}],
    "threads": [],
    "added_members": [{"user_id": "703"}],
    "removed_member_ids": ["704"],
    "token": "hush",
    "session_id": "hush",
    "unavailable": False,
}

_texts = st.one_of(
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc", "Lu"]), max_size=8),
    st.sampled_from(
        ["", "\0", "\ud800", r"\u0000", "x" * 4_000, "👩‍👩‍👧" * 900,
         "-1", "0", str(2**63), str(2**64), "1" * 5_000, "१२",
         "2026-05-01", "2026-05-01T12:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59"]
    ),
)  # fmt: skip
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    _texts,
)
_values: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_texts, inner, max_size=3)),
    max_leaves=6,
)


def _nested(depth: int) -> object:
    value: object = "core"
    for _ in range(depth):
        value = [value]
    return value


def _paths(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place within a payload, its top left out."""
    inner: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            inner += [(*path, key), *_paths(one, (*path, key))]
    elif isinstance(value, list):
        for at, one in enumerate(cast("list[Any]", value)):
            inner += [(*path, at), *_paths(one, (*path, at))]
    return inner


PATHS = _paths(BASE)
MISSING = object()


@st.composite
def _payloads(draw: st.DrawFn) -> Any:
    """The base with up to four places replaced or taken out; now and then something else altogether."""
    if draw(st.integers(0, 20)) == 0:
        return draw(_values)
    data = copy.deepcopy(BASE)
    for path in draw(st.lists(st.sampled_from(PATHS), max_size=4)):
        value = draw(st.one_of(st.just(MISSING), _values))
        _replace(data, path, value)
    return data


def _replace(data: Any, path: tuple[Any, ...], value: object) -> None:
    for key in path[:-1]:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(data, dict | list):
        try:
            if value is MISSING:
                del data[path[-1]]
            else:
                data[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            return


@given(
    kind=st.one_of(st.sampled_from(KINDS), _texts),
    data=_payloads(),
    session=st.sampled_from(["s", "rest"]),
    sequence=st.integers(0, 3),
)
@example(kind="CHANNEL_UPDATE", data={"id": "1", "x": _nested(260)}, session="s", sequence=1)
@example(kind="MESSAGE_CREATE", data={**BASE, "content": "many different words " * 4_000}, session="s", sequence=1)
@example(kind="MESSAGE_REACTION_ADD", data={**BASE, "emoji": {"name": "x" * 4_000}}, session="s", sequence=1)
@example(kind="", data=BASE, session="s", sequence=0)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_what_is_read_can_be_stored(pool: Pool, kind: str, data: Any, session: str, sequence: int) -> None:
    """I1: reading raises nothing but MalformedDispatch, and PostgreSQL takes whatever it yields."""
    try:
        events = read(Dispatch(kind, data, session, sequence), ME)
    except MalformedDispatch:
        return
    for event in events:
        assert "hush" not in event.payload or kind.startswith("MESSAGE_")
    async with pool.acquire() as conn, conn.transaction():
        await write_group(conn, events)


def test_every_kind_of_the_library_is_tried() -> None:
    """The list is not empty, and has those that matter."""
    assert {"MESSAGE_CREATE", "MESSAGE_REACTION_REMOVE_EMOJI", "GUILD_CREATE", "THREAD_MEMBERS_UPDATE"} <= set(KINDS)
