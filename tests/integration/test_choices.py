"""What people chose for themselves holds from its commit on: not to be remembered, not to be read by the model; and
what a guild chose for its places: no memory."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import asyncpg
import pytest

from bot.guild_settings import Value, change
from memory.choices import Choices, choices_of, choose
from memory.errors import MemoryRefused
from memory.ids import PlaceId, UserId
from sandbox.model import say, say_json
from tests.harness.recalling import GUILD, PLACE, Shelf, contents, open_shelf
from tests.harness.remembering import Entry, Mind, entry, heard, open_mind
from tests.harness.stage import Stage

ADA, BOB = 701, 702


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        yield opened


def editor(message: Mapping[str, Any]) -> Entry:
    name = message["text"].rstrip(".!").split()[-1]
    return entry(message["id"], int(message["by"]), f"{message['name']} uses {name}.", "preference.editor")


async def chooses(pool: asyncpg.Pool, user: int, **chosen: Any) -> None:
    async with pool.acquire() as conn, conn.transaction():
        await choose(conn, UserId(user), Choices(**chosen))


async def sets_memory(pool: asyncpg.Pool, place: int, value: Value) -> None:
    async with pool.acquire() as conn:
        await change(conn, GUILD, PlaceId(place), "memory", value, by=UserId(1))


@pytest.mark.parametrize("chosen", [{"remembered": False}, {"read_by_model": False}])
async def test_who_is_not_to_be_remembered_is_not_shown_to_the_extracting_model(mind: Mind, chosen: Any) -> None:
    """Neither their messages nor what they said earlier reaches the model; what others say is read as ever."""
    await chooses(mind.pool, ADA, **chosen)
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.", name="Ada")
    await mind.talk.says(BOB, "I use nano.", name="Bob")
    await mind.reads()
    await mind.talk.says(BOB, "Well, now I use emacs.", name="Bob")
    await mind.reads()
    assert await mind.live() == ["Bob uses emacs."]
    assert "vim" not in "".join(request.last_user_text for request in mind.model.requests)
    # What they wrote meanwhile is passed over for good.
    await chooses(mind.pool, ADA)
    await mind.reads()
    assert await mind.live() == ["Bob uses emacs."]


async def test_a_choice_made_while_the_model_reads_holds(mind: Mind) -> None:
    """What was being read when its author opted out is not stored."""
    await mind.talk.says(ADA, "I use vim.", name="Ada")
    gate = mind.model.hold()
    reading = asyncio.create_task(mind.reader.step())
    request = await gate.reached()
    await chooses(mind.pool, ADA, remembered=False)
    gate.release(say_json({"memories": [editor(each) for each in heard(request)["messages"]], "relations": []}))
    await reading
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_items") == 0


@pytest.mark.parametrize("chosen", [{"remembered": False}, {"read_by_model": False}])
async def test_what_is_known_of_them_shows_nowhere(shelf: Shelf, chosen: Any) -> None:
    """From the commit on: not to themselves, not to others, by no arm; and it is back when they choose so again."""
    await shelf.keeps(ADA, "Ada keeps bees on the roof.")
    await shelf.keeps(BOB, "Bob keeps snails on the roof.")
    await shelf.embeds()
    question = "What does <@701> keep on the roof?"
    assert "Ada keeps bees on the roof." in contents(await shelf.asks(BOB, question))
    await chooses(shelf.pool, ADA, **chosen)
    assert contents(await shelf.asks(BOB, question)) == ["Bob keeps snails on the roof."]
    assert contents(await shelf.asks(ADA, "What do I keep on the roof?", embedder=None)) == []
    await chooses(shelf.pool, ADA)
    assert "Ada keeps bees on the roof." in contents(await shelf.asks(BOB, question))


async def test_who_opted_out_is_told_when_they_have_something_remembered(shelf: Shelf) -> None:
    """I16: refused in so many words, and nothing is stored."""
    await chooses(shelf.pool, ADA, remembered=False)
    with pytest.raises(MemoryRefused) as refused:
        await shelf.keeps(ADA, "Ada keeps bees.")
    assert refused.value.code == "opted_out"
    await sets_memory(shelf.pool, PLACE, False)
    with pytest.raises(MemoryRefused) as refused:
        await shelf.keeps(BOB, "Bob keeps snails.")
    assert refused.value.code == "memory_off"


async def test_a_summary_that_may_hold_their_words_is_written_again(mind: Mind) -> None:
    """I8: hidden from the commit of the choice on, and made anew without them."""
    for number in range(4):
        await mind.talk.says(ADA if number == 1 else BOB, f"line {number}")
    mind.extracts(lambda _: ())
    await mind.reads()
    while await mind.summaries.step():
        pass
    shown = "SELECT content FROM conversation_summaries WHERE stale_at IS NULL AND content <> ''"
    assert "line 1" in await mind.pool.fetchval(shown)
    await chooses(mind.pool, ADA, remembered=False)
    assert await mind.pool.fetchval(shown) is None
    while await mind.summaries.step():
        pass
    again = await mind.pool.fetchval(shown)
    assert again is not None
    assert "line 1" not in again
    assert "line 2" in again


async def test_no_memory_in_a_place(mind: Mind, shelf: Shelf) -> None:
    """Off: what is said there is passed over for good, nothing shows there, and the ledger says why (I9)."""
    await shelf.keeps(BOB, "Bob keeps snails on the roof.")
    await sets_memory(mind.pool, PLACE, False)
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.", name="Ada")
    await mind.reads()
    assert mind.model.requests == []
    recalled = await shelf.asks(BOB, "What do I keep on the roof?", embedder=None)
    assert (contents(recalled), recalled.mode, recalled.why) == ([], "none", "memory_off")
    await sets_memory(mind.pool, PLACE, True)
    await mind.reads()
    assert mind.model.requests == []
    assert contents(await shelf.asks(BOB, "What do I keep on the roof?", embedder=None)) != []


async def test_a_message_that_changes_where_memory_is_off_is_not_read_again(mind: Mind) -> None:
    """A place without memory comes to rest: an edit there leaves nothing to be read for ever."""
    mind.finds({"I use": editor})
    said = await mind.talk.says(ADA, "I use vim.", name="Ada")
    await mind.reads()
    await sets_memory(mind.pool, PLACE, False)
    await mind.talk.edits(said, ADA, "I use nano.")
    await mind.reads()
    assert await mind.live() == []
    assert await mind.pool.fetchval("SELECT count(*) FROM ingestion_rereads") == 0


async def test_who_is_not_to_be_read_is_in_no_prompt_and_is_told_why_there_is_no_answer(stage: Stage) -> None:
    """Not what they said before, not what an answer is asked about, and not what they ask."""
    await chooses(stage.pool, stage.ada.id, read_by_model=False)
    async with stage.muninn():
        first = await stage.ada.says(stage.general, "the canary is blue")
        stage.model.script(say("I see nothing."))
        asked = await stage.bob.says(stage.general, f"{stage.discord.bot.mention} which canary?", reply_to=first)
        await stage.discord.wait_for_message(reply_to=asked)
        own = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what of the canary?")
        told = await stage.discord.wait_for_message(reply_to=own)
    assert "blue" not in str(stage.model.requests[-1].body)
    assert len(stage.model.requests) == 1
    assert "/privacy" in told.content


async def test_choices_are_kept(pool: asyncpg.Pool) -> None:
    """All of them, with the time zone; one that there is not is refused."""
    assert await choices_of(pool, UserId(ADA)) == Choices()
    await chooses(pool, ADA, time_zone="Europe/Berlin", remembered=False)
    found = await choices_of(pool, UserId(ADA))
    assert (found.remembered, found.read_by_model, str(found.zone)) == (False, True, "Europe/Berlin")
    with pytest.raises(ValueError, match="Atlantis"):
        await chooses(pool, ADA, time_zone="Europe/Atlantis")
