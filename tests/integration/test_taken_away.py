"""What is taken away is gone at the very next question: from recall, links, episodes, summary, open items and older
messages, by words and by vectors (I7, I8)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from bot.prompt import render
from memory.assembly import Assembled, assemble
from memory.context import working_set
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.items import Draft, Target, forget, remember
from memory.journal import write_group
from memory.places import compute_audiences
from memory.recall import Recall
from memory.scope import Scope
from memory.search import search_words
from tests.audience.worlds import VIEW, World
from tests.harness.recalling import Shelf, open_shelf
from tests.harness.told import Talk

ADA = 701
SAID = "Remember that the heron has to be fed at Duckpond before Friday."
QUESTION = "Where has the heron to be fed before Friday?"
LINK = """
WITH link AS (
    INSERT INTO memory_links (space_id, place_id, from_id, from_version, to_id, to_version, relation, asserted,
                              confidence)
    VALUES ($1, $2, $3, 1, $4, 1, 'supports', 0.9, 0.9) RETURNING link_id
)
INSERT INTO memory_link_evidence (link_id, version, space_id, message_id, place_id, author_id, read_version)
SELECT link_id, 1, $1, message_id, $2, author_id, version_at FROM link, chat_messages
WHERE space_id = $1 AND message_id = $5
"""


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Kept:
    """One message in a place, and all that came of it."""

    scope: Scope
    message_id: MessageId
    commitment: int


async def keep(shelf: Shelf, scope: Scope, *, summed_up: Scope) -> Kept:
    """Ada says it and is answered: a commitment, a link to it, an episode, and a summary of the place asked in."""
    place: dict[str, Any] = {"place": scope.place_id, "space": scope.space_id}
    asked = await shelf.exchanges(ADA, SAID, "I will remember Duckpond.", **place)
    talk = Talk(shelf.pool, scope)
    async with shelf.pool.acquire() as conn, conn.transaction():
        author = talk.author(ADA, asked.question, governs=True)
        made = await remember(
            conn, author, Draft("The heron has to be fed at Duckpond before Friday.", "commitment", None, "channel")
        )
    seed = await shelf.keeps(ADA, "The heron is Ada's oldest bird.", scope="guild", **place)
    await shelf.pool.execute(LINK, scope.space_id, scope.place_id, seed, made.memory_id, asked.question)
    await shelf.pool.execute(
        "INSERT INTO conversation_summaries (space_id, place_id, content, through_id, written_at) "
        "VALUES ($1, $2, 'They spoke of feeding the heron at Duckpond.', $3, now())",
        summed_up.space_id,
        summed_up.place_id,
        asked.question + 1,
    )
    await shelf.embeds()
    return Kept(scope, asked.question, made.memory_id)


async def ask(shelf: Shelf, here: Scope, *, vectors: bool) -> tuple[str, Assembled]:
    """What the model is shown for the question, asked months later."""
    talk = Talk(shelf.pool, here, start=datetime.now(UTC), _count=int(datetime.now(UTC).timestamp() * 10) % 10_000)
    trigger = await talk.says(ADA, QUESTION)
    working = await working_set(shelf.pool, here, trigger, most_messages=5, most_tokens=2_000)
    recall = Recall(shelf.pool, shelf.embedder if vectors else None, query_s=5.0)
    beside = await assemble(shelf.pool, recall, here, UserId(ADA), working)
    assert working.trigger is not None
    assert beside.recalled is not None
    assert beside.recalled.mode == ("hybrid" if vectors else "keyword_fallback")
    await talk.deletes(trigger)
    return repr(render(working, working.trigger, own_id=99, beside=beside)), beside


def memories(beside: Assembled) -> set[int]:
    found = beside.recalled
    assert found is not None
    hopped = {hop.ranked.candidate.memory_id for hop in found.hops.values()}
    return {each.candidate.memory_id for each in found.items} | {each.memory_id for each in beside.open_items} | hopped


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("how", ["edited", "deleted", "bulk", "forgotten"])
async def test_what_lost_its_message_is_gone_from_everything(shelf: Shelf, how: str, vectors: bool) -> None:
    """I8: nothing of it is shown, before any worker looked; a forgotten memory leaves the message that was said."""
    here = Scope(SpaceId(500), PlaceId(600))
    kept = await keep(shelf, here, summed_up=here)
    text, beside = await ask(shelf, here, vectors=vectors)
    assert kept.commitment in memories(beside)
    assert beside.summary is not None
    assert beside.recalled is not None
    assert beside.recalled.episodes
    assert SAID in {each.content for each in beside.older}
    talk = Talk(shelf.pool, here)
    match how:
        case "edited":
            await talk.edits(kept.message_id, ADA, "Never mind.")
        case "deleted":
            await talk.deletes(kept.message_id)
        case "bulk":
            await talk.deletes(MessageId(kept.message_id - 1), kept.message_id, MessageId(kept.message_id + 1))
        case _:
            await shelf.pool.execute("DELETE FROM memory_owners")
            async with shelf.pool.acquire() as conn, conn.transaction():
                await forget(conn, talk.author(ADA, governs=True), Target(kept.commitment, None, "channel"))
    text, beside = await ask(shelf, here, vectors=vectors)
    assert kept.commitment not in memories(beside)
    assert beside.summary is None
    assert beside.recalled is not None
    assert beside.recalled.episodes == ()
    assert beside.recalled.hops == {}
    if how != "forgotten":
        assert SAID not in text
        assert "fed at Duckpond" not in text


@pytest.mark.parametrize("vectors", [True, False])
async def test_what_was_said_where_a_role_no_longer_reads_is_gone(shelf: Shelf, vectors: bool) -> None:
    """I7: from the commit of the change on, and after it was computed; nobody else's place shows it."""
    world = World.make(1, channels=2, threads=0)
    here, there = world.channels
    for place in (here, there):
        world.channels[place] |= {"type": 0, "permission_overwrites": []}
    for role in world.roles:
        world.roles[role] = VIEW | 1 << 16 if role == world.guild_id else 0
    async with shelf.pool.acquire() as conn:
        await write_group(conn, [world.told()])
    await compute_audiences(shelf.pool)
    space = SpaceId(world.guild_id)
    asked, origin = Scope(space, PlaceId(here)), Scope(space, PlaceId(there))
    kept = await keep(shelf, origin, summed_up=origin)
    _, beside = await ask(shelf, asked, vectors=vectors)
    assert kept.commitment in memories(beside)
    assert beside.recalled is not None
    assert beside.recalled.episodes
    assert beside.older
    closed = {"id": str(world.guild_id), "type": 0, "allow": "0", "deny": str(VIEW)}
    world.channels[there]["permission_overwrites"] = [closed]
    async with shelf.pool.acquire() as conn:
        await write_group(conn, [world.event("CHANNEL_UPDATE", world.channels[there])])
    for _ in range(2):
        text, beside = await ask(shelf, asked, vectors=vectors)
        assert memories(beside) == set()
        assert beside.recalled is not None
        assert beside.recalled.episodes == ()
        assert beside.older == ()
        assert "Duckpond" not in text
        async with shelf.pool.acquire() as conn:
            assert (await search_words(conn, asked, "Duckpond", limit=5, before_id=None)).found == ()
        await compute_audiences(shelf.pool)
