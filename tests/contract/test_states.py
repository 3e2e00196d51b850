"""The states that the code knows are those that the schema allows."""

import re
from typing import get_args

import asyncpg
import pytest

from bot.addressing import Reason
from bot.cards import CardState
from bot.moderation.cases import CaseState
from bot.receipts import State
from bot.turns import TRANSITIONS, Outcome, TurnState
from memory.gaps import GapReason
from memory.incoming import AuthorKind, Source
from memory.kinds import EndReason, ItemState, Kind, MemoryScope, Relation, Taken
from memory.kinds import Source as MemorySource

STATES = [
    ("turns", "state", get_args(TurnState)),
    ("turns", "outcome", get_args(Outcome)),
    ("action_receipts", "state", get_args(State)),
    ("action_cards", "state", get_args(CardState)),
    ("discord_events", "source", get_args(Source)),
    ("chat_messages", "author_kind", get_args(AuthorKind)),
    ("gateway_gaps", "reason", get_args(GapReason)),
    ("discord_inbox", "reason", get_args(Reason)),
    ("mod_cases", "state", get_args(CaseState)),
    ("memory_items", "scope", get_args(MemoryScope)),
    ("memory_items", "kind", get_args(Kind)),
    ("memory_items", "state", get_args(ItemState)),
    ("memory_items", "source", get_args(MemorySource)),
    ("memory_item_revisions", "reason", get_args(EndReason)),
    ("memory_evidence", "revoked_why", get_args(Taken)),
    ("memory_links", "relation", get_args(Relation)),
    ("memory_links", "state", get_args(ItemState)),
    ("memory_revocations", "why", get_args(Taken)),
]


@pytest.mark.parametrize(
    ("table", "column", "states"), STATES, ids=lambda value: value if isinstance(value, str) else ""
)
async def test_the_check_constraint_lists_the_same_states(
    pool: asyncpg.Pool, table: str, column: str, states: tuple[str, ...]
) -> None:
    """A state machine is a Literal of states and the same states in a CHECK."""
    rows = await pool.fetch(
        "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'",
        table,
    )
    lists = [set(re.findall(r"'([a-z_]+)'::text", row["text"])) for row in rows if f"({column} =" in row["text"]]
    assert lists == [set(states)]


def test_every_turn_can_end_and_no_end_is_left() -> None:
    """I3: from each state an end is reached, and the four ends lead nowhere."""
    ends = {state for state, after in TRANSITIONS.items() if not after}
    assert ends == {"answered", "failed_told", "cancelled", "expired"}
    for state in TRANSITIONS:
        reached: set[str] = {state}
        while True:
            more = {after for each in reached for after in TRANSITIONS[each]} - reached  # type: ignore[index]  # pyright: ignore[reportArgumentType]
            if not more:
                break
            reached |= more
        assert reached & ends
