"""From the journal to memory: what is believed, what is refused, and what becomes of changes of mind."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import asyncpg
import pytest

from memory.backlog import look
from memory.ingestion import unpark
from memory.items import Draft, Target, forget, remember
from sandbox.model import rate_limited, say, say_json, truncated
from tests.harness.remembering import Entry, Mind, entry, heard, open_mind

ADA, BOB, ROBOT, SELF = 701, 702, 703, 704


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


def editor(message: Mapping[str, Any]) -> Entry:
    """Whoever says which editor they use: the last word of the message."""
    name = message["text"].rstrip(".!").split()[-1]
    return entry(message["id"], int(message["by"]), f"{message['name']} uses {name}.", "preference.editor")


async def test_what_somebody_says_becomes_theirs(mind: Mind) -> None:
    """I8: with the message as evidence, at the version that was read, marked as extracted, from this place."""
    mind.finds({"I use": editor})
    said = await mind.talk.says(ADA, "I use vim.", name="Ada")
    await mind.reads()
    row = await mind.pool.fetchrow("SELECT * FROM memory_items")
    assert row is not None
    assert (row["content"], row["scope"], row["owner_id"], row["place_id"]) == ("Ada uses vim.", "user", ADA, 600)
    assert (row["source"], row["said_id"], row["author_name"]) == ("extracted", said, "Ada")
    assert await mind.pool.fetchval("SELECT message_id FROM live_evidence") == said
    assert await mind.pool.fetchval("SELECT done_target FROM ingestion_targets") == said
    assert await mind.counted() == {"created": 1}
    await mind.ai_events.flush()
    event = await mind.pool.fetchrow("SELECT * FROM ai_events WHERE purpose = 'extraction'")
    assert event is not None
    assert event["status"] == "ok"
    assert event["prompt_tokens"] > 0


async def test_the_same_again_is_surer_and_consolidating_again_is_not(mind: Mind) -> None:
    """Distinct messages count: reading one twice changes nothing."""
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.")
    await mind.reads()
    first = await mind.pool.fetchval("SELECT confidence FROM memory_items")
    await mind.talk.says(ADA, "As ever, I use vim.")
    await mind.reads()
    second = await mind.pool.fetchval("SELECT confidence FROM memory_items")
    assert second > first
    await mind.pool.execute("UPDATE ingestion_targets SET done_target = 0")
    await mind.reads()
    assert await mind.pool.fetchval("SELECT confidence FROM memory_items") == second
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_evidence") == 2
    assert await mind.counted() == {"created": 1, "confirmed": 1, "unchanged": 2}


async def test_changes_of_mind_leave_one_value_and_the_chain(mind: Mind) -> None:
    """Two corrections within minutes, one of them in the same batch: the last word counts, each former one is kept."""
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.")
    await mind.reads()
    await mind.talk.says(ADA, "I use emacs.")
    await mind.reads()
    await mind.talk.says(ADA, "I use nano.")
    await mind.talk.says(ADA, "Sorry, I use helix.")
    await mind.reads()
    assert await mind.live() == ["user701 uses helix."]
    rows = await mind.pool.fetch("SELECT version, content, reason FROM memory_item_revisions ORDER BY version")
    assert [tuple(row) for row in rows] == [
        (1, "user701 uses vim.", "revised"),
        (2, "user701 uses emacs.", "revised"),
    ]


async def test_an_older_message_read_late_does_not_undo_a_newer_one(mind: Mind) -> None:
    """What a backfill brings is read out of turn, and stands behind what was said after it."""
    mind.finds({"I use": editor})
    early = mind.talk.message_id(1)
    await mind.talk.says(BOB, "Hello Ada")
    mind.talk._count = 5  # pyright: ignore[reportPrivateUsage]
    await mind.talk.says(ADA, "I use emacs.")
    await mind.reads()
    late = mind.talk.seen(early + 1, ADA, "I use vim.", None, "member", None, "{}")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await mind.talk.put(late)
    assert await mind.pool.fetchval("SELECT count(*) FROM ingestion_rereads") == 1
    await mind.reads()
    assert await mind.live() == ["user701 uses emacs."]
    assert (await mind.counted())["refused:outdated"] == 1
    assert await mind.pool.fetchval("SELECT count(*) FROM ingestion_rereads") == 0


async def test_everybody_gets_their_own(mind: Mind) -> None:
    """Speakers that take turns, and near-identical facts: subjects are always the authors."""
    mind.finds({"I use": editor})
    for user, name in ((ADA, "vim"), (BOB, "emacs"), (ADA, "vim"), (BOB, "emacs"), (705, "vim")):
        await mind.talk.says(user, f"I use {name}")
    await mind.reads()
    rows = await mind.pool.fetch("SELECT owner_id, content FROM live_memories ORDER BY owner_id")
    assert [tuple(row) for row in rows] == [
        (ADA, "user701 uses vim."),
        (BOB, "user702 uses emacs."),
        (705, "user705 uses vim."),
    ]


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("not_the_speaker", "Bob uses emacs, he told me.", {"user": str(BOB)}),
    ("unknown_user", "My cousin uses emacs.", {"user": "999"}),
    ("unknown_user", "I use emacs.", {"user": None}),
    ("foreign_evidence", "I use emacs.", {"evidence": ["1"]}),
    ("malformed", "I use emacs.", {"key": "Preference Editor"}),
    ("malformed", "I use emacs.", {"evidence": []}),
    ("malformed", "I use emacs.", {"kind": "rumour"}),
    ("malformed", "I use emacs.", {"importance": 7}),
    ("secret", "I use emacs and one other thing", {"content": "Ada uses emacs, her password is hunter2!"}),
    ("not_own_words", "I use emacs, my password is hunter2!", {}),
    ("too_long", "I use emacs.", {"content": "emacs " * 400}),
    ("empty", "I use emacs.", {"content": " . "}),
    ("unsure", "I might use emacs.", {"confidence": 0.3}),
    ("unsupported", "I use emacs.", {"content": "Ada was born in Oslo on a Tuesday."}),
    ("translated", "私は毎日コードを書いています", {"content": "Ada writes code every day."}),
    ("request", "Please play emacs songs for me now", {"content": "Ada asked the bot to play emacs songs."}),
    ("not_own_words", "> I use emacs.", {}),
    ("not_own_words", ">>> I use emacs.\nand more", {}),
    ("not_own_words", "```\nI use emacs.\n```", {}),
    ("not_own_words", "[12:04] Bob: I use emacs.", {}),
    ("not_own_words", "2026-05-01 12:00:00 INFO emacs started", {}),
    ("not_own_words", "!play emacs", {}),
    ("not_own_words", "Does Bob use emacs?", {}),
    ("not_own_words", "https://example.org/emacs", {}),
]


@pytest.mark.parametrize(("reason", "text", "wrong"), REFUSED)
async def test_what_is_not_believed_is_counted_by_its_reason(
    mind: Mind, reason: str, text: str, wrong: dict[str, Any]
) -> None:
    """I8, I12, I13: nothing is taken on the model's word."""
    await mind.talk.says(BOB, "I listen to Ada.", name="Bob")
    said = await mind.talk.says(ADA, text, name="Ada")
    made = entry(said, ADA, "Ada uses emacs.", "preference.editor") | wrong
    mind.extracts(lambda _: [made])
    await mind.reads()
    assert await mind.live() == []
    assert await mind.counted() == {f"refused:{reason}": 1}


async def test_nobody_makes_anothers_words_theirs(mind: Mind) -> None:
    """A line that somebody else said before is theirs, with or without a quotation mark."""
    await mind.talk.says(BOB, "I have used emacs for twenty years.")
    copied = await mind.talk.says(ADA, "I have used emacs for twenty years.")
    mind.extracts(lambda _: [entry(copied, ADA, "Ada has used emacs for twenty years.")])
    await mind.reads()
    assert await mind.counted() == {"refused:not_own_words": 1}


async def test_a_short_answer_means_what_it_answers(mind: Mind) -> None:
    """ "Yes" supports what was asked by a member, and not what the bot said."""
    await mind.talk.says(BOB, "Do you still use emacs, Ada?")
    yes = await mind.talk.says(ADA, "Yes I do")
    mind.extracts(lambda _: [entry(yes, ADA, "Ada uses emacs.", "preference.editor")])
    await mind.reads()
    assert await mind.live() == ["Ada uses emacs."]
    await mind.talk.says(SELF, "You were born in Oslo?", kind="self")
    yes = await mind.talk.says(ADA, "Yes I was")
    mind.extracts(lambda _: [entry(yes, ADA, "Ada comes from Oslo.", "profile.origin")])
    await mind.reads()
    assert await mind.live() == ["Ada uses emacs."]


async def test_no_memory_is_made_of_recalled_text(mind: Mind) -> None:
    """Fifty turns in which the bot says what it knows: neither its words, nor who repeats them, nor other bots and
    Discord itself make a memory, however often the extractor claims so."""
    mind.finds({"uses vim": lambda message: entry(message["id"], ADA, "Ada uses vim for everything.", "fact.editor")})
    for _ in range(50):
        await mind.talk.says(ADA, "what do you know about me?")
        answer = await mind.talk.says(SELF, "I remember that Ada uses vim for everything.", kind="self")
        await mind.talk.says(ADA, "I remember that Ada uses vim for everything.", reply_to=answer)
        await mind.talk.says(ROBOT, "Ada uses vim for everything.", kind="bot")
        await mind.talk.says(ROBOT, "Ada uses vim for everything.", kind="webhook")
        await mind.talk.says(ADA, "Ada uses vim for everything, joined.", kind="system")
        await mind.talk.says(ADA, "> Ada uses vim for everything.")
    await mind.reads()
    assert await mind.live() == []
    counted = await mind.counted()
    assert set(counted) == {"refused:not_own_words", "refused:not_a_member"}
    assert sum(counted.values()) == 300


JUNK = (
    "!play despacito", "/remind me", "?", "lol", "👍👍👍", "https://example.org/x", "<@123>", "```\nls -la\n```",
    "> quoted words of somebody", "[10:00] bot: started", "ERROR connection refused", "what time is it?",
    "has anybody seen the cat?", "<:wave:123456789012345678>", "...", "1234", "2026-05-01 10:00:00 INFO heartbeat",
    "-roll 2d6", "$price btc", "Traceback (most recent call last):",
)  # fmt: skip


async def test_junk_makes_no_memory(mind: Mind) -> None:
    """Two hundred turns of commands, logs, links, emoji and questions, with an extractor that makes something of each;
    of heartbeats around a real fact only the fact remains."""
    for n in range(200):
        await mind.talk.says(ADA if n % 3 else ROBOT, JUNK[n % len(JUNK)], kind="member" if n % 3 else "bot")
    mind.extracts(lambda data: [entry(message["id"], ADA, "Ada laughs a lot.") for message in data["messages"]])
    await mind.reads()
    assert await mind.live() == []
    assert set(await mind.counted()) == {"refused:not_own_words", "refused:not_a_member", "refused:unsupported"}
    mind.finds({"I use": editor, "heartbeat": lambda message: entry(message["id"], ADA, "Ada sends a heartbeat.")})
    for n in range(60):
        await mind.talk.says(ROBOT, f"heartbeat {n} ok", kind="bot")
    await mind.talk.says(ADA, "I use vim.")
    await mind.reads()
    assert await mind.live() == ["user701 uses vim."]


async def test_what_was_forgotten_is_not_extracted_again_from_the_same_messages(mind: Mind) -> None:
    """I15's little sister: under another key too; a new message that says so is another matter."""
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.")
    await mind.reads()
    async with mind.pool.acquire() as conn, conn.transaction():
        await forget(conn, mind.talk.author(ADA), Target(key="preference.editor"))
    assert await mind.live() == []
    mind.finds({"I use": lambda message: editor(message) | {"key": "fact.tool", "content": "Ada works with vim."}})
    await mind.pool.execute("UPDATE ingestion_targets SET done_target = 0")
    await mind.reads()
    assert await mind.live() == []
    assert (await mind.counted())["refused:forgotten"] == 1
    await mind.talk.says(ADA, "By the way, I use vim.")
    await mind.reads()
    assert await mind.live() == ["Ada works with vim."]


async def test_what_was_corrected_by_hand_is_not_undone_by_reading_again(mind: Mind) -> None:
    """The correction is newer than the messages; a newer message may change it."""
    mind.finds({"I use": editor})
    await mind.talk.says(ADA, "I use vim.")
    await mind.reads()
    async with mind.pool.acquire() as conn, conn.transaction():
        await remember(conn, mind.talk.author(ADA), Draft("Ada uses helix.", "preference", "preference.editor"))
    await mind.pool.execute("UPDATE ingestion_targets SET done_target = 0")
    await mind.reads()
    assert await mind.live() == ["Ada uses helix."]
    assert (await mind.counted())["refused:outdated"] == 1


async def test_talk_does_not_change_what_was_set_for_the_guild(mind: Mind) -> None:
    """I5: only who governs the guild writes for it; what anybody says there does not replace it."""
    async with mind.pool.acquire() as conn, conn.transaction():
        draft = Draft("The meeting is on Monday.", "fact", "fact.meeting", "guild")
        await remember(conn, mind.talk.author(BOB, governs=True), draft)
    said = await mind.talk.says(ADA, "The meeting is on Friday now.", at=None)
    future = await mind.pool.fetchval("SELECT max(said_id) + 1 FROM memory_items")
    mind.extracts(
        lambda _: [entry(said, None, "The meeting is on Friday.", "fact.meeting", scope="guild", kind="fact")]
    )
    await mind.reads()
    assert future
    assert await mind.live() == ["The meeting is on Monday."]
    assert (await mind.counted())["refused:told_by_hand"] == 1


async def test_relations_hold_between_the_values_they_were_said_of(mind: Mind) -> None:
    """Typed, with evidence, between exact active memories; a revised end ends what was said of it."""
    said = await mind.talk.says(ADA, "Atlas runs on PostgreSQL, which is part of our move to Linux.")

    def both(data: Mapping[str, Any]) -> dict[str, Any]:
        if "MySQL" in data["messages"][-1]["text"]:
            one = entry(
                data["messages"][-1]["id"], None, "Atlas runs on MySQL.", "project.atlas.database", kind="project"
            )
            return {"memories": [one], "relations": []}
        return {
            "memories": [
                entry(said, None, "Atlas runs on PostgreSQL.", "project.atlas.database", ref="a", kind="project"),
                entry(said, None, "The move to Linux is under way.", "project.linux.move", ref="b", kind="project"),
            ],
            "relations": [
                {"from": "a", "to": "b", "relation": "part_of", "confidence": 0.9, "evidence": [str(said)]},
                {"from": "a", "to": "a", "relation": "supports", "confidence": 0.9, "evidence": [str(said)]},
                {"from": "a", "to": "nobody", "relation": "supports", "confidence": 0.9, "evidence": [str(said)]},
                {"from": "a", "to": "b", "relation": "hates", "confidence": 0.9, "evidence": [str(said)]},
            ],
        }

    mind.extracts(both)
    await mind.reads()
    rows = await mind.pool.fetch("SELECT relation, confidence FROM live_links")
    assert [row["relation"] for row in rows] == ["part_of"]
    assert await mind.counted() == {"created": 2, "linked": 1, "refused:unknown_end": 2, "refused:malformed": 1}
    await mind.talk.says(BOB, "We moved: Atlas runs on MySQL.")
    await mind.reads()
    assert await mind.pool.fetchval("SELECT count(*) FROM live_links") == 0
    assert await mind.live("project.atlas.database") == ["Atlas runs on MySQL."]


async def test_a_busy_model_is_asked_again_later_and_nothing_is_lost(mind: Mind) -> None:
    """Transient failures back off, growing and bounded; the checkpoint stays."""
    await mind.talk.says(ADA, "I use vim.")
    mind.model.script(rate_limited(), rate_limited())
    await mind.reads()
    row = await mind.pool.fetchrow("SELECT *, available_at - now() AS pause FROM ingestion_targets")
    assert row is not None
    assert (row["attempts"], row["failure"], row["done_target"]) == (1, "busy", 0)
    assert 3 < row["pause"].total_seconds() < 6
    await mind.pool.execute("UPDATE ingestion_targets SET available_at = now()")
    await mind.reads()
    assert await mind.pool.fetchval("SELECT available_at - now() > interval '8 seconds' FROM ingestion_targets")
    mind.finds({"I use": editor})
    await mind.pool.execute("UPDATE ingestion_targets SET available_at = now()")
    await mind.reads()
    assert await mind.live() == ["user701 uses vim."]
    assert await mind.pool.fetchval("SELECT failure IS NULL AND attempts = 0 FROM ingestion_targets")


async def test_a_poison_message_is_found_by_halves_and_parked(mind: Mind) -> None:
    """Wrong JSON again and again: what is not its fault is stored, the message itself stands where an operator sees
    it, and can be read again once that is mended."""
    for n in range(8):
        await mind.talk.says(ADA if n % 2 else BOB, f"I use editor{n}" if n != 5 else "I use poison")
    poison = mind.talk.message_id(6)

    def turn(request: Any) -> Any:
        messages = heard(request)["messages"]
        if any("poison" in message["text"] for message in messages):
            return say("Here is what I found: {")
        made: Any = {"memories": [editor(message) for message in messages], "relations": []}
        return say_json(made)

    mind.model.default(turn)
    for _ in range(6):
        await mind.reads()
        await mind.pool.execute("UPDATE ingestion_targets SET available_at = now()")
    assert sorted(await mind.live()) == ["user701 uses editor7.", "user702 uses editor6."]
    assert await mind.pool.fetchval("SELECT message_id FROM parked_ingestions") == poison
    standing = await look(mind.pool)
    assert standing.parked == 1
    assert standing.places_waiting == 0
    mind.finds({"I use": editor})
    assert await unpark(mind.pool) == 1
    await mind.reads()
    assert (await look(mind.pool)).parked == 0


@pytest.mark.parametrize("turn", [truncated('{"memories": ['), say(""), say('{"answer": []}'), say("[]")])
async def test_an_answer_that_is_none_stores_nothing(mind: Mind, turn: Any) -> None:
    """Cut, empty or of another form: the batch is not done."""
    await mind.talk.says(ADA, "I use vim.")
    mind.model.script(turn)
    await mind.reads()
    assert await mind.live() == []
    assert await mind.pool.fetchval("SELECT done_target FROM ingestion_targets") == 0
    assert await mind.pool.fetchval("SELECT failure FROM ingestion_targets") in ("cut", "bad_json")


async def test_no_secret_reaches_a_prompt(mind: Mind) -> None:
    """I13: a message that looks like one is withheld from the extractor and from whoever sums up."""
    await mind.talk.says(ADA, "I use vim, and my password is hunter2!")
    for n in range(3):
        await mind.talk.says(BOB, f"I read that {n} times.")
    mind.extracts(lambda _: [])
    await mind.reads()
    while await mind.summaries.step():
        pass
    assert len(mind.model.requests) == 2
    assert not any("hunter2" in str(request.body) for request in mind.model.requests)


async def test_where_nobody_says_anything_no_model_is_asked(mind: Mind) -> None:
    """The checkpoint moves all the same."""
    await mind.talk.says(ADA, "!play despacito")
    await mind.talk.says(ROBOT, "Playing despacito.", kind="bot")
    last = await mind.talk.says(ADA, "?")
    await mind.reads()
    assert mind.model.requests == []
    assert await mind.pool.fetchval("SELECT done_target FROM ingestion_targets") == last
