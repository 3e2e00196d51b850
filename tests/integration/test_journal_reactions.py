"""Reactions that go together in one statement end as they would one by one (I2)."""

import random

import pytest

from memory.database import Pool
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.incoming import Incoming, ReactionAdded, ReactionsRemoved
from memory.journal import write_group

SPACE, PLACE = SpaceId(500), PlaceId(600)
Key = tuple[int, int, str]


def _event(n: int, change: ReactionAdded | ReactionsRemoved) -> Incoming:
    return Incoming("MESSAGE_REACTION", f"reaction:{n}", SPACE, PLACE, change.message_id, (), "gateway", "{}", change)


def _changes(seed: int, count: int) -> list[ReactionAdded | ReactionsRemoved]:
    """Few people, messages and emoji, so that most changes are about the same ones."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    made: list[ReactionAdded | ReactionsRemoved] = []
    for _ in range(count):
        message, user, emoji = MessageId(draw.choice((1, 2))), UserId(draw.choice((7, 8))), draw.choice("ab")
        kind = draw.choices(("add", "take", "clear", "clear_emoji"), (8, 6, 1, 1))[0]
        if kind == "add":
            made.append(ReactionAdded(SPACE, PLACE, message, user, emoji))
        else:
            whose, which = (user if kind == "take" else None), (None if kind == "clear" else emoji)
            made.append(ReactionsRemoved(SPACE, message, whose, which))
    return made


def _one_by_one(changes: list[ReactionAdded | ReactionsRemoved]) -> tuple[set[Key], list[bool]]:
    """The reactions that stand at the end, and which of the changes changed something."""
    stand: set[Key] = set()
    changed: list[bool] = []
    for change in changes:
        before = set(stand)
        match change:
            case ReactionAdded():
                stand.add((change.message_id, change.user_id, change.emoji))
            case ReactionsRemoved():
                stand -= {
                    key
                    for key in stand
                    if key[0] == change.message_id
                    and change.user_id in (None, key[1])
                    and change.emoji in (None, key[2])
                }
        changed.append(stand != before)
    return stand, changed


@pytest.mark.parametrize("seed", range(5))
async def test_a_group_ends_as_one_by_one(pool: Pool, seed: int) -> None:
    """Whatever order additions, removals and clearings have in a group: same end, and the same events are kept."""
    changes = _changes(seed, 200)
    events = [_event(n, change) for n, change in enumerate(changes)]
    fresh: set[str] = set()
    async with pool.acquire() as conn:
        for at in range(0, len(events), 64):
            async with conn.transaction():
                written = await write_group(conn, events[at : at + 64])
            fresh |= {e.key for e in events[at : at + 64] if (e.space_id, e.key) not in written.stale}
        rows = await conn.fetch("SELECT message_id, user_id, emoji FROM message_reactions")
    stand, changed = _one_by_one(changes)
    assert {tuple(row) for row in rows} == stand
    assert fresh == {event.key for event, did in zip(events, changed, strict=True) if did}
