"""Remembering and forgetting by hand: what is taken, what is refused, and that nobody reaches anybody else's."""

import asyncio
from typing import Any

import asyncpg
import pytest

from memory.errors import MemoryRefused
from memory.ids import PlaceId, SpaceId
from memory.items import Draft, Forgotten, Remembered, Target, forget, remember
from memory.keys import is_key
from memory.owners import Caps
from memory.scope import Scope
from tests.harness.told import Talk

ADA, BOB = 701, 702


@pytest.fixture
def talk(pool: asyncpg.Pool) -> Talk:
    return Talk(pool)


async def told(talk: Talk, user: int, content: str, key: str | None = None, **more: Any) -> Remembered:
    """A member has something remembered, from an interaction, which leaves no message."""
    caps = more.pop("caps", Caps())
    author = talk.author(user, more.pop("message_id", None), governs=more.pop("governs", False))
    async with talk.pool.acquire() as conn, conn.transaction():
        return await remember(conn, author, Draft(content, more.pop("kind", "preference"), key, **more), caps=caps)


async def forgotten(talk: Talk, user: int, **more: Any) -> Forgotten:
    governs = more.pop("governs", False)
    async with talk.pool.acquire() as conn, conn.transaction():
        return await forget(conn, talk.author(user, governs=governs), Target(**more))


async def live(talk: Talk) -> list[str]:
    rows = await talk.pool.fetch("SELECT content FROM live_memories WHERE space_id = 500 ORDER BY memory_id")
    return [row["content"] for row in rows]


async def test_a_new_value_takes_the_place_of_the_old_one_and_keeps_it(talk: Talk) -> None:
    """Like to hate: one active value, the newer one, with the older as a revision."""
    first = await told(talk, ADA, "Ada likes vim.", "preference.editor")
    again = await told(talk, ADA, "ada  likes VIM", "preference.editor")
    second = await told(talk, ADA, "Ada hates vim.", "preference.editor")
    assert [each.outcome for each in (first, again, second)] == ["created", "unchanged", "revised"]
    assert second.previous == "Ada likes vim."
    assert await live(talk) == ["Ada hates vim."]
    row = await talk.pool.fetchrow("SELECT * FROM memory_item_revisions")
    assert row is not None
    assert (row["content"], row["version"], row["reason"], row["by_id"]) == ("Ada likes vim.", 1, "corrected", ADA)


async def test_the_same_words_without_a_key_are_one_memory(talk: Talk) -> None:
    """SHA-256 of the words, in their scope: whatever the kind; another member's are another memory."""
    first = await told(talk, ADA, "Ada likes tea.")
    again = await told(talk, ADA, "ada likes tea", kind="fact")
    keyed = await told(talk, ADA, "Ada likes tea", "preference.drink")
    other = await told(talk, BOB, "Ada likes tea.")
    assert first.memory_id == again.memory_id == keyed.memory_id != other.memory_id
    assert await talk.pool.fetchval("SELECT key FROM memory_items WHERE memory_id = $1", first.memory_id) == (
        "preference.drink"
    )


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("empty", {"content": " \u200b\n "}),
        ("empty", {"content": "!?"}),
        ("too_long", {"content": "x" * 2001}),
        ("unknown_kind", {"content": "Tea.", "kind": "rumour"}),
        ("unknown_scope", {"content": "Tea.", "scope": "world"}),
        ("bad_key", {"content": "Tea.", "key": "Tea"}),
        ("bad_importance", {"content": "Tea.", "importance": 1.5}),
        ("bad_importance", {"content": "Tea.", "importance": float("nan")}),
        ("not_yours", {"content": "Tea.", "scope": "channel"}),
        ("not_yours", {"content": "Tea.", "scope": "guild"}),
        ("secret", {"content": "my password is hunter2!"}),
    ],
)
async def test_what_is_refused_says_so_and_changes_nothing(talk: Talk, code: str, given: dict[str, Any]) -> None:
    """I16: a stable code and one sentence."""
    with pytest.raises(MemoryRefused) as caught:
        await told(talk, ADA, **given)
    assert caught.value.code == code
    assert caught.value.message.endswith(".")
    assert await live(talk) == []
    assert await talk.pool.fetchval("SELECT count(*) FROM memory_owners") == 0


async def test_two_thousand_characters_are_taken(talk: Talk) -> None:
    """The bound itself."""
    assert (await told(talk, ADA, "é" * 2000)).outcome == "created"


async def test_the_cap_is_true_however_many_write_at_once(talk: Talk) -> None:
    """I16: checked and inserted under one lock: sixteen writers leave exactly as many rows as are allowed."""
    caps = Caps(live=5)
    tries = [told(talk, ADA, f"Fact number {n}.", caps=caps) for n in range(16)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    refused = [each for each in results if isinstance(each, MemoryRefused)]
    assert {each.code for each in refused} == {"cap_reached"}
    assert len(refused) == 11
    assert len(await live(talk)) == 5
    assert (await told(talk, BOB, "Bob has room.", caps=caps)).outcome == "created"


async def test_writes_are_limited_an_owner(talk: Talk) -> None:
    """I16: beyond the rate nothing is written until the window is over; others go on."""
    caps = Caps(writes=2, window_s=60)
    await told(talk, ADA, "One.", caps=caps)
    await told(talk, ADA, "Two.", caps=caps)
    with pytest.raises(MemoryRefused) as caught:
        await told(talk, ADA, "Three.", caps=caps)
    assert caught.value.code == "rate_limited"
    await told(talk, BOB, "One.", caps=caps)
    await talk.pool.execute("UPDATE memory_owners SET window_at = window_at - interval '61 seconds'")
    await told(talk, ADA, "Three.", caps=caps)


async def test_the_same_key_written_by_many_at_once_loses_no_value(talk: Talk) -> None:
    """I14: under sixteen writers every write but the last is a revision, and one value is active."""
    await asyncio.gather(*(told(talk, ADA, f"Ada's number is {n}.", "fact.number") for n in range(16)))
    assert len(await live(talk)) == 1
    assert await talk.pool.fetchval("SELECT count(*) FROM memory_item_revisions") == 15
    assert await talk.pool.fetchval("SELECT count(DISTINCT version) FROM memory_item_revisions") == 15


async def test_forgetting_leaves_recall_and_keeps_the_audit(talk: Talk) -> None:
    """I8: gone from what may be shown, its vector, job and links with it; the row and its last value stay."""
    kept = await told(talk, ADA, "Ada likes tea.", "preference.drink")
    gone = await told(talk, ADA, "Ada lives in Bergen.", "profile.city")
    await talk.pool.execute(
        """WITH link AS (
             INSERT INTO memory_links (space_id, place_id, from_id, from_version, to_id, to_version, relation, asserted,
                                       confidence)
             VALUES (500, 600, $1, 1, $2, 1, 'related_to', 0.5, 0.5) RETURNING link_id),
           model AS (INSERT INTO embedding_models (name, dimensions) VALUES ('m', 2) RETURNING model_id)
           INSERT INTO memory_vectors (memory_id, model_id, version, space_id, embedding)
           SELECT $1, model_id, 1, 500, '[1,0]' FROM model""",
        gone.memory_id,
        kept.memory_id,
    )
    done = await forgotten(talk, ADA, key="profile.city")
    assert done == Forgotten(gone.memory_id, "profile.city", "Ada lives in Bergen.", 1)
    assert await live(talk) == ["Ada likes tea."]
    assert (
        await talk.pool.fetchval("SELECT state FROM memory_items WHERE memory_id = $1", gone.memory_id) == "forgotten"
    )
    assert await talk.pool.fetchval("SELECT state FROM memory_links") == "forgotten"
    for table in ("memory_vectors", "embedding_jobs"):
        count = await talk.pool.fetchval(f"SELECT count(*) FROM {table} WHERE memory_id = $1", gone.memory_id)
        assert count == 0, table
    assert await talk.pool.fetchval("SELECT reason FROM memory_item_revisions") == "forgotten"
    with pytest.raises(MemoryRefused) as caught:
        await forgotten(talk, ADA, key="profile.city")
    assert caught.value.code == "not_found"


async def test_nobody_forgets_what_is_not_theirs(talk: Talk) -> None:
    """I6: another member's memory is as if there were none; the guild's needs somebody who governs it."""
    adas = await told(talk, ADA, "Ada likes tea.", "preference.drink")
    ours = await told(talk, ADA, "The meeting is on Monday.", "fact.meeting", scope="guild", governs=True)
    theirs = await told(talk, ADA, "This place is for bread.", "fact.topic", scope="channel", governs=True)
    for target, code in (
        ({"memory_id": adas.memory_id}, "not_found"),
        ({"key": "preference.drink"}, "not_found"),
        ({"memory_id": ours.memory_id}, "not_yours"),
        ({"key": "fact.meeting", "scope": "guild"}, "not_yours"),
        ({}, "not_found"),
    ):
        with pytest.raises(MemoryRefused) as caught:
            await forgotten(talk, BOB, **target)
        assert caught.value.code == code
    elsewhere = Talk(talk.pool, Scope(SpaceId(500), PlaceId(601)))
    with pytest.raises(MemoryRefused) as caught:
        await forgotten(elsewhere, BOB, memory_id=theirs.memory_id, governs=True)
    assert caught.value.code == "not_found"
    abroad = Talk(talk.pool, Scope(SpaceId(501), PlaceId(600)))
    with pytest.raises(MemoryRefused) as caught:
        await forgotten(abroad, ADA, memory_id=adas.memory_id)
    assert caught.value.code == "not_found"
    assert (await forgotten(talk, BOB, memory_id=ours.memory_id, governs=True)).key == "fact.meeting"


async def test_what_a_message_says_goes_with_it(talk: Talk) -> None:
    """I8: it rests on the message that told it, and leaves with the commit of the event; without one, on the author."""
    message = await talk.says(ADA, "remember that I like tea")
    await told(talk, ADA, "Ada likes tea.", message_id=message)
    await told(talk, ADA, "Ada likes jam.")
    assert await live(talk) == ["Ada likes tea.", "Ada likes jam."]
    await talk.deletes(message)
    assert await live(talk) == ["Ada likes jam."]
    with pytest.raises(MemoryRefused) as caught:
        await told(talk, ADA, "Ada likes tea.", message_id=message)
    assert caught.value.code == "gone"


GOOD_KEYS = ["preference.editor", "project.atlas.database", "a.b_2.c.d.e", "a." + "b" * 118]
BAD_KEYS = [
    "editor",
    "a.b.c.d.e.f",
    "A.b",
    "a..b",
    "a.b.",
    ".a.b",
    "a._b",
    "a.b_",
    "a b.c",
    "a.ü",
    "a." + "b" * 119,
    "a.b\n",
]


async def test_keys_and_the_schema_agree_about_what_a_key_is(talk: Talk) -> None:
    """The grammar of keys, as the code and as the CHECK constraint have it."""
    await told(talk, ADA, "Ada likes tea.")
    for key in GOOD_KEYS:
        assert is_key(key)
        await talk.pool.execute("UPDATE memory_items SET key = $1", key)
    for key in BAD_KEYS:
        assert not is_key(key)
        with pytest.raises(asyncpg.CheckViolationError):
            await talk.pool.execute("UPDATE memory_items SET key = $1", key)
