"""What memory brings back for a message: the right things, for the right eyes, and how it says that they were found."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from memory.errors import RecallRefused
from memory.ids import MessageId
from tests.harness.recalling import PLACE, Shelf, contents, open_shelf
from tests.harness.told import Talk

ADA, BOB = 701, 702


@pytest.fixture
async def shelf(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Shelf]:
    async with open_shelf(database_url, pool) as opened:
        yield opened


async def test_the_memory_that_answers_comes_first(shelf: Shelf) -> None:
    """Words and vectors find it; the ledger says by what, and what was considered."""
    await shelf.keeps(ADA, "The database of project Atlas is PostgreSQL.", "project.atlas.database")
    await shelf.keeps(ADA, "Ada has a cat called Miso.")
    await shelf.keeps(ADA, "The train to Vienna leaves at nine.")
    await shelf.embeds()
    recalled = await shelf.asks(ADA, "Which database does project Atlas use?")
    assert contents(recalled)[0] == "The database of project Atlas is PostgreSQL."
    assert recalled.mode == "hybrid"
    assert recalled.items[0].reason == "both"
    row = await shelf.pool.fetchrow("SELECT * FROM recalls WHERE recall_id = $1", recalled.recall_id)
    assert row is not None
    assert (row["mode"], row["iterative_scan"], row["selected"]) == ("hybrid", "off", len(recalled.items))
    assert row["considered"] == 3
    assert row["underfilled"]
    items = await shelf.pool.fetch("SELECT * FROM recall_items WHERE recall_id = $1 ORDER BY rank", recalled.recall_id)
    assert [item["memory_id"] for item in items] == [each.candidate.memory_id for each in recalled.items]
    assert all(item["tokens"] > 0 and item["score"] is not None for item in items)


@pytest.mark.parametrize(
    "message",
    [
        "ok",
        "thanks!",
        "😂",
        "lol nice",
        "danke",
        "спасибо",
        "ありがとう",
        "好的",
        "شكرا",
        "고마워요",
        "धन्यवाद!",
        "ধন্যবাদ",
        "நன்றி",
        "ขอบคุณครับ",
        "תודה רבה",
        "ευχαριστώ!",
        "მადლობა",
        "շնորհակալություն",
        "አመሰግናለሁ",
        "ممنون",
        "cảm ơn",
    ],
)
async def test_small_talk_recalls_nothing_and_embeds_nothing(shelf: Shelf, message: str) -> None:
    """Empty because nothing was asked, and said so (I9)."""
    await shelf.keeps(ADA, "Ada thinks that thanks are nice and ok.")
    await shelf.embeds()
    asked = len(shelf.model.embedding_requests)
    recalled = await shelf.asks(ADA, message)
    assert (contents(recalled), recalled.mode, recalled.why) == ([], "none", "small_talk")
    assert len(shelf.model.embedding_requests) == asked


@pytest.mark.parametrize("message", ["xk29 fj3 0zzq qqpw", "asdkjh qweoiu zxmcn", "What is the capital of Mongolia?"])
async def test_what_was_never_said_recalls_nothing(shelf: Shelf, message: str) -> None:
    """A random string, or a question about something else: nothing is relevant, and nothing is injected."""
    for content in ("Ada's cat is called Miso.", "Bob plays the cello.", "The offsite is in Lisbon."):
        await shelf.keeps(ADA, content)
    await shelf.embeds()
    recalled = await shelf.asks(ADA, message)
    assert (contents(recalled), recalled.why) == ([], "nothing_relevant")


async def test_a_vague_question_finds_what_it_refers_to(shelf: Shelf) -> None:
    """It is looked for by what the conversation was about."""
    await shelf.keeps(ADA, "For the garden Ada wants roses.")
    await shelf.keeps(ADA, "Ada's bicycle has a flat tyre.")
    await shelf.embeds()
    vague = "Ok, and what do you recommend?"
    assert contents(await shelf.asks(ADA, vague)) == []
    recalled = await shelf.asks(ADA, vague, about="I am planning the garden, roses or tulips")
    assert contents(recalled)[0] == "For the garden Ada wants roses."


async def test_a_members_own_memories_come_unasked_for_them_alone(shelf: Shelf) -> None:
    """I6: Bob's come to Ada only where her question is about Bob, and then with his name on them."""
    await shelf.keeps(BOB, "The favourite editor is Emacs.", "preference.editor", name="Bob")
    await shelf.keeps(ADA, "The favourite editor is Vim.", "preference.editor", name="Ada")
    await shelf.embeds()
    assert contents(await shelf.asks(ADA, "Which editor is the favourite?")) == ["The favourite editor is Vim."]
    named = await shelf.asks(ADA, "Which editor is the favourite of Bob?")
    assert "The favourite editor is Emacs." in contents(named)
    assert {each.candidate.author_name for each in named.items} == {"Ada", "Bob"}
    mentioned = await shelf.asks(ADA, f"Which editor is the favourite of <@{BOB}>?")
    assert "The favourite editor is Emacs." in contents(mentioned)


async def test_a_name_may_be_shortened(shelf: Shelf) -> None:
    """By a word that begins one author's name, and that no memory has as a word of its own."""
    await shelf.keeps(BOB, "The favourite editor is Emacs.", "preference.editor", name="Roberta Smith")
    await shelf.keeps(ADA, "The favourite editor is Vim.", "preference.editor", name="Ada")
    question = "Which editor is the favourite of rob?"
    assert "The favourite editor is Emacs." in contents(await shelf.asks(ADA, question))
    await shelf.keeps(703, "Nobody cooks like this.", name="Robin")
    assert "The favourite editor is Emacs." not in contents(await shelf.asks(ADA, question)), "two may be meant"
    assert "The favourite editor is Emacs." in contents(await shelf.asks(ADA, question.replace("rob", "Roberta")))
    await shelf.keeps(ADA, "The roberts are a band.")
    assert "The favourite editor is Emacs." not in contents(await shelf.asks(ADA, question.replace("rob", "robert")))


async def test_without_vectors_words_find_it_and_the_ledger_says_so(shelf: Shelf) -> None:
    """I9: no model, or nothing embedded yet: the same scope, by words, scores null."""
    await shelf.keeps(ADA, "The offsite is in Lisbon.")
    for embedder, why in ((None, "no_embedding_model"), ("loopback", "nothing_embedded")):
        recalled = await shelf.asks(ADA, "Where is the offsite?", embedder=embedder)
        assert contents(recalled) == ["The offsite is in Lisbon."]
        assert (recalled.mode, recalled.why) == ("keyword_fallback", why)
        row = await shelf.pool.fetchrow("SELECT * FROM recall_items WHERE recall_id = $1", recalled.recall_id)
        assert row is not None
        assert (row["reason"], row["score"], row["cosine"]) == ("keyword_fallback", None, None)


async def test_what_lost_its_evidence_is_gone_at_the_next_question(shelf: Shelf) -> None:
    """I8: deleted, edited, forgotten, in the query itself, with and without vectors."""
    deleted = await shelf.keeps(ADA, "The offsite is in Lisbon in spring.")
    edited = await shelf.keeps(ADA, "The offsite needs a visa for Lisbon.")
    forgotten = await shelf.keeps(ADA, "The offsite budget for Lisbon is small.")
    stays = await shelf.keeps(ADA, "The offsite in Lisbon is fun.")
    await shelf.embeds()
    question = "What about the offsite in Lisbon?"
    assert len(contents(await shelf.asks(ADA, question))) == 4
    talk = Talk(shelf.pool)
    await talk.deletes(MessageId(await shelf.message_of(deleted)))
    await talk.edits(MessageId(await shelf.message_of(edited)), ADA, "Something else.")
    await shelf.forgets(ADA, forgotten)
    for embedder in ("loopback", None):
        recalled = await shelf.asks(ADA, question, embedder=embedder)
        assert [each.candidate.memory_id for each in recalled.items] == [stays]


async def test_a_vector_forgets_the_words_before_it_too(shelf: Shelf) -> None:
    """I8: what was embedded with a memory that is gone is embedded again without it."""
    first = await shelf.keeps(ADA, "The password hint is a volcano.")
    second = await shelf.keeps(ADA, "It is near Naples.")
    await shelf.embeds()
    await shelf.forgets(ADA, first)
    before = len(shelf.model.embedding_requests)
    await shelf.embeds()
    assert len(shelf.model.embedding_requests) == before + 1
    (text,) = shelf.model.embedding_requests[-1].texts
    assert "volcano" not in text
    assert await shelf.pool.fetchval("SELECT count(*) FROM memory_vectors WHERE memory_id = $1", second) == 1


async def test_time_words_steer(shelf: Shelf) -> None:
    """A question that names a time finds what was said then before what is alike otherwise."""
    now = datetime.now(UTC)
    await shelf.keeps(ADA, "We decided to use Redis for the queue.", at=now - timedelta(days=200), kind="decision")
    await shelf.keeps(ADA, "We decided to use RabbitMQ for the queue.", at=now - timedelta(days=400), kind="decision")
    await shelf.embeds()
    month = (now - timedelta(days=400)).strftime("%B %Y")
    recalled = await shelf.asks(ADA, f"What did we decide about the queue in {month}?")
    assert contents(recalled)[0] == "We decided to use RabbitMQ for the queue."
    only_time = await shelf.asks(ADA, f"What happened in {month}?")
    assert contents(only_time) == ["We decided to use RabbitMQ for the queue."]


async def test_copies_make_room_and_are_counted(shelf: Shelf) -> None:
    """Selection: what the conversation shows, and near copies, are left out, replaced and counted."""
    await shelf.keeps(ADA, "The printer on floor two is broken.")
    await shelf.keeps(ADA, "The printer on floor two is broken!", scope="guild")
    await shelf.keeps(ADA, "The printer on floor three works well.")
    await shelf.embeds()
    recalled = await shelf.asks(ADA, "Which printer works and which printer is broken?")
    assert len([each for each in contents(recalled) if "two" in each]) == 1
    assert recalled.left_out["copy"] == 1
    shown = await shelf.asks(
        ADA, "Which printer works?", shown=["Ada: the printer on floor three works well, I just tried"]
    )
    assert "The printer on floor three works well." not in contents(shown)
    assert shown.left_out["seen"] == 1


async def test_the_same_question_gives_the_same_items(shelf: Shelf) -> None:
    """Same rows, same question, same day: the same order, whatever was counted meanwhile."""
    rooms = "Athens Berlin Cairo Dublin Edinburgh Florence Geneva Helsinki Istanbul Jakarta Kyoto Lima".split()
    for number, room in enumerate(rooms):
        await shelf.keeps(ADA, f"{room}, the meeting room on floor {number}, has a projector made by {room[::-1]}.")
    await shelf.embeds()
    first = await shelf.asks(ADA, "Which meeting room has a projector?")
    second = await shelf.asks(ADA, "Which meeting room has a projector?")
    assert [(e.candidate.memory_id, e.score) for e in first.items] == [
        (e.candidate.memory_id, e.score) for e in second.items
    ]
    assert len(first.items) == 8
    assert not first.underfilled


@pytest.mark.parametrize(("text", "code"), [("  ?! ", "blank"), ("x" * 501, "too_long")])
async def test_a_search_that_cannot_be_made_is_refused_first(shelf: Shelf, text: str, code: str) -> None:
    """I16: before anything is embedded; what an answer looks for by itself is shortened instead."""
    with pytest.raises(RecallRefused) as caught:
        await shelf.asks(ADA, text, cause="search")
    assert caught.value.code == code
    assert len(shelf.model.embedding_requests) == 0
    assert (await shelf.asks(ADA, text, place=PLACE)).items == ()
