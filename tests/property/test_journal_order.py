"""Message state does not depend on the order, the grouping or the number of times in which events come (I2)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.addressing import Identity
from bot.events import Dispatch, read
from memory.database import Pool
from memory.ids import snowflake_time, time_snowflake
from memory.journal import write_group

ME = Identity(application_id=10, user_id=10)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MESSAGES = tuple(time_snowflake(NOON) + n for n in range(3))
PLACE = 600
# Each example has a space of its own, so that they share a database.
_spaces = count(1000)


@dataclass(frozen=True)
class Said:
    """The message as it was at second `at`: 0 is the create, everything else an edit."""

    message: int
    at: int

    @property
    def version_at(self) -> datetime:
        return NOON + timedelta(seconds=self.at)

    @property
    def content(self) -> str:
        return f"{self.message} at {self.at}"


@dataclass(frozen=True)
class Deleted:
    """The message is gone; `together`: told by a bulk delete, with all the others of that."""

    messages: tuple[int, ...]
    together: bool


Event = Said | Deleted


def _one(message: int) -> Deleted:
    return Deleted((message,), together=False)


def _many(messages: list[int]) -> Deleted:
    return Deleted(tuple(messages), together=True)


_said = st.builds(Said, st.integers(0, 2), st.integers(0, 4))
_deleted = st.builds(_one, st.integers(0, 2))
_bulk = st.builds(_many, st.lists(st.integers(0, 2), min_size=1, max_size=3))
_events = st.lists(st.one_of(_said, _said, _said, _deleted, _bulk), min_size=1, max_size=14)


@st.composite
def _groups(draw: st.DrawFn) -> list[list[Event]]:
    """Events, some of them twice, in any order, cut anywhere."""
    events: list[Event] = draw(_events)
    events = draw(st.permutations(events + draw(st.lists(st.sampled_from(events), max_size=4))))
    cuts = sorted(draw(st.sets(st.integers(1, len(events)))))
    return [events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True) if a < b]


def _dispatch(event: Event, space: int) -> Dispatch:
    where: dict[str, Any] = {"guild_id": str(space), "channel_id": str(PLACE)}
    match event:
        case Deleted(messages, together=True):
            return Dispatch("MESSAGE_DELETE_BULK", {**where, "ids": [str(MESSAGES[m]) for m in messages]}, "s", 1)
        case Deleted(messages):
            return Dispatch("MESSAGE_DELETE", {**where, "id": str(MESSAGES[messages[0]])}, "s", 1)
        case Said():
            data: dict[str, Any] = {
                **where,
                "id": str(MESSAGES[event.message]),
                "author": {"id": "7", "username": "ada"},
                "content": event.content,
                "edited_timestamp": event.version_at.isoformat() if event.at else None,
            }
            return Dispatch("MESSAGE_UPDATE" if event.at else "MESSAGE_CREATE", data, "s", 1)


@given(groups=_groups())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_order_gives_the_same_messages_and_revisions(pool: Pool, groups: list[list[Event]]) -> None:
    """I2: the newest version stands, each older one is a revision, a delete is sticky, and each event is kept once."""
    space = next(_spaces)
    for group in groups:
        incoming = [one for event in group for one in read(_dispatch(event, space), ME)]
        async with pool.acquire() as conn, conn.transaction():
            await write_group(conn, incoming)
    events = {event for group in groups for event in group}
    versions = {m: sorted(e.at for e in events if isinstance(e, Said) and e.message == m) for m in range(3)}
    gone = {m for e in events if isinstance(e, Deleted) for m in e.messages}

    rows = await pool.fetch("SELECT * FROM chat_messages WHERE space_id = $1", space)
    found = {MESSAGES.index(row["message_id"]): row for row in rows}
    assert set(found) == {m for m, seen in versions.items() if seen} | gone
    for m, row in found.items():
        assert (row["deleted_at"] is not None) == (m in gone)
        assert row["created_at"] == snowflake_time(MESSAGES[m])
        if not versions[m]:
            assert (row["author_id"], row["content"]) == (None, "")
            continue
        last = Said(m, versions[m][-1])
        assert (row["content"], row["author_id"], row["version_at"]) == (last.content, 7, last.version_at)
        assert row["edited_at"] == (last.version_at if last.at else None)
    revisions = await pool.fetch(
        "SELECT message_id, version_at, content FROM chat_message_revisions WHERE space_id = $1", space
    )
    older = [Said(m, at) for m, seen in versions.items() for at in seen[:-1]]
    assert {tuple(row) for row in revisions} == {(MESSAGES[s.message], s.version_at, s.content) for s in older}
    kept = await pool.fetchval("SELECT count(*) FROM discord_events WHERE space_id = $1", space)
    assert kept == sum(len(seen) for seen in versions.values()) + len(gone)
