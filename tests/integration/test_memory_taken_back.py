"""Taking back: with the commit of an edit, a deletion or a forgetting, what rested on it is gone everywhere (I8)."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import asyncpg
import pytest

from memory.items import Target, forget
from memory.journal import write_group
from memory.revocation import age_out
from memory.scope import Scope
from memory.summaries import read_summary
from sandbox.model import Completion, say, say_json
from tests.harness.locks import BLOCKED
from tests.harness.remembering import Entry, Mind, entry, heard, open_mind

ADA, BOB = 701, 702


@pytest.fixture
async def mind(database_url: str, pool: asyncpg.Pool) -> AsyncGenerator[Mind]:
    async with open_mind(database_url, pool) as opened:
        yield opened


def city(message: Mapping[str, Any]) -> Entry:
    """Where somebody lives: the last word of the message."""
    name = message["text"].rstrip(".!").split()[-1]
    return entry(message["id"], int(message["by"]), f"{message['name']} lives in {name}.", "profile.city")


async def links(mind: Mind) -> int:
    return await mind.pool.fetchval("SELECT count(*) FROM live_links")


async def summary(mind: Mind) -> str | None:
    found = await read_summary(mind.pool, mind.talk.scope)
    return found.content if found else None


async def settled(mind: Mind) -> None:
    """Let the workers do what there is to do."""
    await mind.reads()
    for _ in range(50):
        if not await mind.summaries.step():
            return
    raise AssertionError("summing up does not come to an end")


async def prepared(mind: Mind) -> list[int]:
    """Three things said, a memory of each, a link between the first two, a summary and vectors of all."""
    mind.extracts(
        lambda data: {
            "memories": [
                city(message) | {"ref": message["text"][:6]}
                for message in data["messages"]
                if "live" in message["text"]
            ],
            "relations": [
                {
                    "from": data["messages"][0]["text"][:6],
                    "to": data["messages"][1]["text"][:6],
                    "relation": "related_to",
                    "confidence": 0.9,
                    "evidence": [data["messages"][0]["id"]],
                }
            ]
            if len(data["messages"]) > 1
            else [],
        }
    )
    said = [
        await mind.talk.says(ADA, "Ada: I live in Bergen."),
        await mind.talk.says(BOB, "Bob: I live in Oslo."),
        await mind.talk.says(705, "Cleo: I live in Narvik."),
    ]
    await settled(mind)
    async with mind.embedding() as embedding:
        while await embedding.step():
            pass
    assert len(await mind.live()) == 3
    assert await links(mind) == 1
    assert "Bergen" in str(await summary(mind))
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_vectors") == 3
    return [int(each) for each in said]


@pytest.mark.parametrize("how", ["edited", "deleted", "bulk", "forgotten"])
async def test_it_is_gone_at_once_and_stays_gone(mind: Mind, how: str) -> None:
    """From recall, links and summary with the commit itself, before any worker ran; and after it ran, from vectors and
    the summary that is written again. The audit is kept."""
    said = await prepared(mind)
    match how:
        case "edited":
            await mind.talk.edits(said[0], ADA, "Ada: nothing to see")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        case "deleted":
            await mind.talk.deletes(said[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        case "bulk":
            await mind.talk.deletes(said[0], said[2])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        case _:
            async with mind.pool.acquire() as conn, conn.transaction():
                await forget(conn, mind.talk.author(ADA), Target(key="profile.city"))
    left = ["user702 lives in Oslo."] if how == "bulk" else ["user702 lives in Oslo.", "user705 lives in Narvik."]
    assert await mind.live() == left
    assert await links(mind) == 0
    assert await summary(mind) is None
    await settled(mind)
    assert await mind.live() == left
    assert await links(mind) == 0
    assert "Bergen" not in str(await summary(mind))
    state = {"edited": "superseded", "deleted": "revoked", "bulk": "revoked", "forgotten": "forgotten"}[how]
    row = await mind.pool.fetchrow("SELECT * FROM memory_items WHERE owner_id = $1", ADA)
    assert row is not None
    assert (row["state"], row["content"]) == (state, "user701 lives in Bergen.")
    kept = await mind.pool.fetchval("SELECT reason FROM memory_item_revisions WHERE memory_id = $1", row["memory_id"])
    assert kept == state
    assert await mind.pool.fetchval("SELECT state FROM memory_links") == state
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_vectors v WHERE memory_id = $1", row["memory_id"]) == 0
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_revocations") == 0


async def test_edited_words_are_read_again(mind: Mind) -> None:
    """The place is scheduled again by the same transaction: what the message says now is remembered instead."""
    mind.finds({"live": city})
    said = await mind.talk.says(ADA, "I live in Bergen.")
    await mind.reads()
    await mind.talk.edits(said, ADA, "I live in Oslo.")
    assert await mind.live() == []
    await mind.reads()
    assert await mind.live() == ["user701 lives in Oslo."]
    states = await mind.pool.fetch("SELECT state FROM memory_items ORDER BY memory_id")
    assert [row["state"] for row in states] == ["superseded", "active"]


async def test_a_memory_stays_while_any_message_says_so(mind: Mind) -> None:
    """Two messages, one of them deleted: less sure, and still there; with the second it goes."""
    mind.finds({"live": city})
    first = await mind.talk.says(ADA, "I live in Bergen.")
    second = await mind.talk.says(ADA, "Yes, I really live in Bergen.")
    await mind.reads()
    sure = await mind.pool.fetchval("SELECT confidence FROM memory_items")
    await mind.talk.deletes(first)
    assert await mind.live() == ["user701 lives in Bergen."]
    await mind.reads()
    assert await mind.live() == ["user701 lives in Bergen."]
    assert await mind.pool.fetchval("SELECT confidence FROM memory_items") < sure
    await mind.talk.deletes(second)
    assert await mind.live() == []


async def test_with_the_correction_gone_what_was_said_before_counts_again(mind: Mind) -> None:
    """The earlier value is not dug out: the message that still says it is read again."""
    mind.finds({"live": city})
    await mind.talk.says(ADA, "I live in Bergen.")
    await mind.reads()
    second = await mind.talk.says(ADA, "I live in Oslo.")
    await mind.reads()
    await mind.talk.deletes(second)
    assert await mind.live() == []
    await mind.reads()
    assert await mind.live() == ["user701 lives in Bergen."]


async def test_what_is_deleted_while_the_model_thinks_is_not_stored(mind: Mind) -> None:
    """A job in flight looks again before it writes."""
    said = await mind.talk.says(ADA, "I live in Bergen.")
    kept = await mind.talk.says(BOB, "I live in Oslo.")

    async def turn(request: Any) -> Any:
        await mind.talk.deletes(said)
        made: Any = {"memories": [city(message) for message in heard(request)["messages"]], "relations": []}
        return say_json(made)

    mind.model.script(turn)
    await mind.reads()
    assert await mind.live() == ["user702 lives in Oslo."]
    assert await mind.counted() == {"created": 1, "refused:foreign_evidence": 1}
    assert await mind.pool.fetchval("SELECT count(*) FROM memory_evidence") == 1
    assert await mind.pool.fetchval("SELECT done_target FROM ingestion_targets") == kept


async def test_what_is_edited_while_a_summary_is_written_is_not_in_it(mind: Mind) -> None:
    """Words in flight are not written; the summary is made of what stands."""
    said = [await mind.talk.says(ADA, f"I live in Bergen, number {n}") for n in range(3)]

    async def turn(request: Any) -> Any:
        if len(mind.model.requests) == 1:
            await mind.talk.edits(said[0], ADA, "never mind")
        return say("Summary: " + " / ".join(line["text"] for line in heard(request)["messages"]))

    mind.model.default(turn)
    for _ in range(5):
        await mind.summaries.step()
    assert await summary(mind) == "Summary: never mind / I live in Bergen, number 1 / I live in Bergen, number 2"
    assert len(mind.model.requests) == 2


async def test_what_is_being_deleted_while_a_first_summary_is_begun_is_not_in_it(mind: Mind) -> None:
    """I8: a place has no summary whose row could be marked, and the deletion commits only after the claim."""
    said = [await mind.talk.says(ADA, f"I live in Bergen, number {n}") for n in range(3)]
    mind.model.default(lambda request: say("Summary: " + " / ".join(m["text"] for m in heard(request)["messages"])))
    async with mind.pool.acquire() as conn, conn.transaction():
        await write_group(conn, [mind.talk.gone(said[0])])
        step = asyncio.create_task(mind.summaries.step())
        async with asyncio.timeout(10):
            while not step.done() and await mind.pool.fetchval(BLOCKED) is None:
                await asyncio.wait([step], timeout=0.01)
    await step
    await settled(mind)
    assert "number 0" not in str(await summary(mind))


async def test_ageing_out_is_not_deletion(mind: Mind) -> None:
    """Raw rows go by a guild's retention: the memory stays, its evidence marked; a deletion that was not dealt with
    yet does not come back with it."""
    mind.finds({"live": city})
    first = await mind.talk.says(ADA, "I live in Bergen.")
    second = await mind.talk.says(BOB, "I live in Oslo.")
    await mind.reads()
    await mind.talk.deletes(second)
    async with mind.pool.acquire() as conn, conn.transaction():
        await age_out(conn, mind.talk.scope.space_id, [first, second])
        await conn.execute("DELETE FROM chat_messages")
    assert await mind.live() == ["user701 lives in Bergen."]
    await mind.reads()
    assert await mind.live() == ["user701 lives in Bergen."]
    rows = await mind.pool.fetch("SELECT aged_out_at IS NOT NULL AS aged, revoked_why FROM memory_evidence ORDER BY 1")
    assert [tuple(row) for row in rows] == [(False, "deleted"), (True, None)]
    assert await mind.pool.fetchval("SELECT state FROM memory_items WHERE owner_id = $1", BOB) == "revoked"
    await mind.talk.deletes(first)
    assert await mind.live() == []


async def test_a_summary_moves_forward_and_starts_anew(mind: Mind) -> None:
    """Monotonic and checkpointed: each message is summed up once; another place's is another's."""
    mind.extracts(lambda _: [])
    for n in range(3):
        await mind.talk.says(ADA, f"first {n}")
    await mind.summaries.step()
    before = await read_summary(mind.pool, mind.talk.scope)
    assert before is not None
    for n in range(3):
        await mind.talk.says(ADA, f"second {n}")
    await mind.summaries.step()
    after = await read_summary(mind.pool, mind.talk.scope)
    assert after is not None
    assert after.through_id > before.through_id
    asked = heard(mind.model.requests[-1])
    assert asked["summary"] == before.content
    assert [line["text"] for line in asked["messages"]] == [f"second {n}" for n in range(3)]
    assert await read_summary(mind.pool, Scope(mind.talk.scope.space_id, mind.talk.scope.place_id + 1)) is None  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await mind.talk.says(ADA, "one more")
    await mind.summaries.step()
    assert len(mind.model.requests) == 2, "one message is not worth a summary"


async def test_a_failing_summary_holds_up_nothing(mind: Mind) -> None:
    """Neither reading nor the journal; it is tried again with less, and what no attempt can sum up is left out."""
    mind.finds({"live": city})
    for n in range(8):
        await mind.talk.says(ADA, f"I live in Bergen{n}")

    def turn(request: Any) -> Completion:
        data = heard(request)
        if "known" in data:
            made: Any = {"memories": [city(message) for message in data["messages"]], "relations": []}
            return say_json(made)
        if any("Bergen1" in line["text"] for line in data["messages"]):
            return say("")
        return say("Fine.")

    mind.model.default(turn)
    for _ in range(40):
        await mind.summaries.step()
        await mind.pool.execute("UPDATE conversation_summaries SET available_at = now()")
    await mind.reads()
    assert await mind.live() == ["user701 lives in Bergen7."]
    assert await mind.pool.fetchval("SELECT through_id FROM conversation_summaries") == mind.talk.message_id(8)
    await mind.ai_events.flush()
    failed = await mind.pool.fetchval("SELECT count(*) FROM ai_events WHERE purpose = 'summary' AND status = 'failed'")
    assert failed >= 7
