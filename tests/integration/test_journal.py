"""The journal through its two doors: Ingress.accept and write_group (I1, I2)."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, cast

import asyncpg
import pytest
from structlog.testing import capture_logs

from bot.addressing import Identity
from bot.errors import EventDropped
from bot.events import LOADING, Dispatch
from bot.ingress import Ingress
from bot.ingress.seen import Seen
from memory.database import Pool
from memory.ids import TurnId, time_snowflake
from memory.incoming import Ack
from tests.harness.locks import until_blocked

ME = Identity(application_id=10, user_id=10)
GUILD, GENERAL, ADA, BOB = 500, 600, 701, 702


def snowflake(n: int) -> int:
    """Message ids of one afternoon, in order."""
    from datetime import UTC, datetime, timedelta

    return time_snowflake(datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(seconds=n))


def message(n: int, content: str = "hello", *, author: int = ADA, **more: Any) -> dict[str, Any]:
    """A MESSAGE_CREATE payload."""
    return {
        "id": str(snowflake(n)),
        "channel_id": str(GENERAL),
        "guild_id": str(GUILD),
        "author": {"id": str(author), "username": "ada", "global_name": "Ada"},
        "content": content,
        "timestamp": "2026-05-01T12:00:00+00:00",
        "edited_timestamp": None,
        "type": 0,
        "mentions": [],
        "attachments": [],
        **more,
    }


def edit(n: int, content: str, second: int, **more: Any) -> Dispatch:
    at = f"2026-05-01T13:00:{second:02d}+00:00"
    return Dispatch("MESSAGE_UPDATE", message(n, content, edited_timestamp=at, **more), "s", 1000 + second)


def create(n: int, content: str = "hello", *, sequence: int = 1, **more: Any) -> Dispatch:
    return Dispatch("MESSAGE_CREATE", message(n, content, **more), "s", sequence)


def delete(n: int) -> Dispatch:
    data = {"id": str(snowflake(n)), "channel_id": str(GENERAL), "guild_id": str(GUILD)}
    return Dispatch("MESSAGE_DELETE", data, "s", 2000)


@dataclass
class Told:
    """What the ingress told its owner."""

    inbox: int = 0
    gaps: int = 0
    cancelled: list[TurnId] = field(default_factory=list[TurnId])


@asynccontextmanager
async def ingress(
    pool: Pool, *, most_queued: int = 1000, writing: bool = True, seen: Seen | None = None
) -> AsyncGenerator[tuple[Ingress, Told]]:
    told = Told()

    def inbox() -> None:
        told.inbox += 1

    def gap() -> None:
        told.gaps += 1

    one = Ingress(
        pool,
        seen or Seen(None, ""),
        ME,
        shard=(0, 1),
        most_queued=most_queued,
        most_grouped=64,
        on_inbox=inbox,
        on_gap=gap,
        on_cancel=told.cancelled.extend,
    )
    task = asyncio.create_task(one.run()) if writing else None
    try:
        yield one, told
    finally:
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


async def put(one: Ingress, *dispatches: Dispatch) -> list[Ack]:
    """Accept in order, and wait for every commit."""
    futures = [future for dispatch in dispatches if (future := one.accept(dispatch)) is not None]
    async with asyncio.timeout(20):
        return list(await asyncio.gather(*futures))


async def stored(pool: Pool, n: int) -> asyncpg.Record:
    row = await pool.fetchrow("SELECT * FROM chat_messages WHERE message_id = $1", snowflake(n))
    assert row is not None
    return row


async def revisions(pool: Pool, n: int) -> list[str]:
    rows = await pool.fetch(
        "SELECT content FROM chat_message_revisions WHERE message_id = $1 ORDER BY version_at", snowflake(n)
    )
    return [row["content"] for row in rows]


async def test_a_future_resolves_after_the_commit_and_the_row_is_there(pool: Pool) -> None:
    """I1: an acknowledgement means committed: event, message, cursor and target."""
    async with ingress(pool) as (one, _):
        assert await put(one, create(1, "good morning")) == ["committed"]
        row = await stored(pool, 1)
    assert (row["content"], row["author_name"], row["author_kind"]) == ("good morning", "Ada", "member")
    assert await pool.fetchval("SELECT kind FROM discord_events") == "MESSAGE_CREATE"
    assert await pool.fetchval("SELECT newest_id FROM place_cursors") == snowflake(1)
    assert await pool.fetchval("SELECT target FROM ingestion_targets") == snowflake(1)


async def test_a_writer_with_nothing_to_write_rests(pool: Pool) -> None:
    """Once all is committed it is drained, and waits without turning the loop round and round."""
    async with ingress(pool) as (one, _):
        await put(one, create(1), create(2))
        assert await one.drain(within_s=5)


async def test_the_same_event_by_any_path_has_its_effect_once(pool: Pool) -> None:
    """I2: live, replayed with a new sequence number, in one group or later, and from a backfill."""
    mention: dict[str, Any] = {"mentions": [{"id": str(ME.user_id), "username": "muninn"}]}
    async with ingress(pool) as (one, told):
        acks = await put(one, create(1, **mention), create(1, sequence=2, **mention))
        assert sorted(acks) == ["committed", "committed"]
        again = Dispatch("MESSAGE_CREATE", message(1, **mention), "rest", 0, "backfill")
        assert await put(one, create(1, sequence=9, **mention), again) == ["duplicate", "duplicate"]
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 1
    assert await pool.fetchval("SELECT count(*) FROM discord_inbox") == 1
    assert told.inbox == 1


@pytest.mark.parametrize(
    ("before", "after", "reason"), [(True, True, "mention"), (False, True, "edit"), (True, False, "mention")]
)
async def test_a_message_and_its_edit_in_one_group_are_one_item(
    pool: Pool, before: bool, after: bool, reason: str
) -> None:
    """I3: whichever of them names the bot, it is asked once; the group is committed as it is."""
    await pool.execute(
        "INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)"
        " VALUES ($1, $2, 'listening', '\"free\"', 1, 1)",
        GUILD,
        GENERAL,
    )
    mention: dict[str, Any] = {"mentions": [{"id": str(ME.user_id), "username": "muninn"}]}
    async with ingress(pool, writing=False) as (one, _):
        acks = [
            one.accept(create(1, **mention if before else {})),
            one.accept(edit(1, "!", 5, **mention if after else {})),
        ]
        with capture_logs() as logs:
            task = asyncio.create_task(one.run())
            async with asyncio.timeout(20):
                assert await asyncio.gather(*[ack for ack in acks if ack is not None]) == ["committed", "committed"]
        task.cancel()
    assert [line["event"] for line in logs if line["log_level"] in ("warning", "error")] == []
    assert [row["reason"] for row in await pool.fetch("SELECT reason FROM discord_inbox")] == [reason]


@pytest.mark.parametrize(
    "words",
    [
        [""],
        ["", ""],
        ["\x1f", "between \x1f two", "\x1f1", "\x1f1\x1e", "at the end \x1f"],
        ['"quoted"', "{braces}", "back\\slash", "NULL", ",", "\n"],
    ],
    ids=["one-empty", "empty", "separators", "array-syntax"],
)
async def test_words_are_kept_as_they_are_however_a_group_is_sent(pool: Pool, words: Sequence[str]) -> None:
    """I1: no word is lost or moved to its neighbour, whatever stands between them on the way."""
    async with ingress(pool) as (one, _):
        acks = await put(one, *(create(n, said) for n, said in enumerate(words, start=1)))
    assert acks == ["committed"] * len(words)
    rows = await pool.fetch("SELECT content FROM chat_messages ORDER BY message_id")
    assert [row["content"] for row in rows] == list(words)
    payloads = await pool.fetch("SELECT payload::jsonb->>'content' AS content FROM discord_events ORDER BY event_id")
    assert [row["content"] for row in payloads] == list(words)


@pytest.mark.parametrize("known", ["event", "message"])
async def test_what_another_writer_committed_first_is_no_fault(pool: Pool, known: str) -> None:
    """I2: the group whose key was taken in the same instant is written again, each event by its own key."""
    async with pool.acquire() as other:
        taken = other.transaction()
        await taken.start()
        if known == "event":
            await other.execute(
                "INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, source, payload)"
                " VALUES ($1, $2, 'MESSAGE_CREATE', $3, $4, 'gateway', '{}')",
                GUILD, GENERAL, f"create:{snowflake(2)}", snowflake(2),
            )  # fmt: skip
        else:
            # It was heard of by its deletion.
            await other.execute(
                "INSERT INTO chat_messages (space_id, message_id, place_id, created_at, version_at, deleted_at)"
                " VALUES ($1, $2, $3, now(), now(), now())",
                GUILD, snowflake(2), GENERAL,
            )  # fmt: skip
        async with ingress(pool) as (one, _):
            writing = asyncio.create_task(put(one, create(1), create(2), create(3)))
            await until_blocked(pool, writing, within_s=20)
            await taken.commit()
            acks = await writing
    assert acks == ["committed", "duplicate" if known == "event" else "committed", "committed"]
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 3
    assert await pool.fetchval("SELECT count(*) FROM chat_messages WHERE deleted_at IS NULL") == 2
    assert await pool.fetchval("SELECT count(*) FROM parked_events") == 0


ORDERS = list(permutations([create(1, "first"), edit(1, "second", 10), edit(1, "third", 20), delete(1)]))


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(d.kind[8:] + str(d.sequence) for d in order))
@pytest.mark.parametrize("together", [True, False], ids=["one-group", "one-by-one"])
async def test_message_state_does_not_depend_on_order(pool: Pool, order: Sequence[Dispatch], together: bool) -> None:
    """I2: the newest edit wins and a delete is sticky, in each of the 24 orders, within one group and across groups."""
    async with ingress(pool) as (one, _):
        if together:
            await put(one, *order)
        else:
            for dispatch in order:
                await put(one, dispatch)
        row = await stored(pool, 1)
        assert row["content"] == "third"
        assert row["deleted_at"] is not None
        assert await revisions(pool, 1) == ["first", "second"]
        assert await pool.fetchval("SELECT count(*) FROM discord_events") == 4


async def test_a_link_unfurled_changes_no_words_and_is_kept_once(pool: Pool) -> None:
    """I2: an update without an edit time is told apart by its payload."""
    unfurled = Dispatch("MESSAGE_UPDATE", message(1, "hello", embeds=[{"title": "x"}]), "s", 5)
    async with ingress(pool) as (one, _):
        await put(one, create(1, "hello"), unfurled)
        assert await put(one, Dispatch("MESSAGE_UPDATE", unfurled.data, "t", 7)) == ["duplicate"]
        assert (await stored(pool, 1))["edited_at"] is None
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 2


def reaction(kind: str, sequence: int, *, user: int = ADA, emoji: str = "👍") -> Dispatch:
    data = {
        "user_id": str(user),
        "channel_id": str(GENERAL),
        "guild_id": str(GUILD),
        "message_id": str(snowflake(1)),
        "emoji": {"id": None, "name": emoji},
    }
    return Dispatch(f"MESSAGE_REACTION_{kind}", data, "s", sequence)


async def test_reactions_are_journalled_only_where_the_state_changes(pool: Pool) -> None:
    """I2: added twice is added once; what is gone cannot go again; added again after that is news."""
    async with ingress(pool) as (one, _):
        await put(one, create(1))
        await put(one, reaction("ADD", 2), reaction("ADD", 3), reaction("REMOVE", 4), reaction("REMOVE", 5))
        await put(one, reaction("ADD", 6), reaction("ADD", 7, user=BOB), reaction("REMOVE_ALL", 8))
        await put(one, reaction("REMOVE_ALL", 9))
    kinds = await pool.fetch("SELECT kind FROM discord_events WHERE kind LIKE '%REACTION%' ORDER BY event_id")
    assert [row["kind"][17:] for row in kinds] == ["ADD", "REMOVE", "ADD", "ADD", "REMOVE_ALL"]
    assert await pool.fetchval("SELECT count(*) FROM message_reactions") == 0


async def test_bulk_delete_is_one_row_a_message(pool: Pool) -> None:
    """I2: also where some of them were deleted before, one by one."""
    ids = [str(snowflake(n)) for n in (1, 2, 3)]
    bulk = Dispatch("MESSAGE_DELETE_BULK", {"ids": ids, "channel_id": str(GENERAL), "guild_id": str(GUILD)}, "s", 9)
    async with ingress(pool) as (one, _):
        await put(one, create(1), create(2), delete(2))
        await put(one, bulk)
    assert await pool.fetchval("SELECT count(*) FROM chat_messages WHERE deleted_at IS NOT NULL") == 3
    assert await pool.fetchval("SELECT count(*) FROM discord_events WHERE event_key LIKE 'delete:%'") == 3


async def test_what_postgresql_cannot_hold_is_replaced_at_the_edge(pool: Pool) -> None:
    """U+0000 and lone surrogates fail a whole group in PostgreSQL; here they become U+FFFD, and nothing is lost."""
    async with ingress(pool) as (one, _):
        acks = await put(
            one, create(1, "a\0b"), create(2, "c\ud800d"), create(3, "fine"), create(4, r"a literal \u0000")
        )
        assert acks == ["committed"] * 4
        assert (await stored(pool, 1))["content"] == "a\ufffdb"
        assert (await stored(pool, 2))["content"] == "c\ufffdd"
        assert (await stored(pool, 4))["content"] == r"a literal \u0000"


async def test_a_poison_row_is_parked_and_its_group_survives(pool: Pool) -> None:
    """A group that PostgreSQL refuses is halved until the culprit stands alone; it is kept where it can be seen."""
    await pool.execute("ALTER TABLE discord_events ADD CHECK (payload::text NOT LIKE '%poison%')")
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(create(n, "poison" if n == 17 else "fine")) for n in range(40)]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            acks = await asyncio.gather(*[future for future in futures if future is not None])
        task.cancel()
    assert acks.count("committed") == 39
    assert acks[17] == "parked"
    parked = await pool.fetchrow("SELECT * FROM parked_events")
    assert parked is not None
    assert "poison" in parked["payload"]
    assert "CheckViolation" in parked["reason"]


@pytest.mark.parametrize(
    "dispatch",
    [
        Dispatch("MESSAGE_CREATE", {"id": "1"}, "s", 1),
        Dispatch("MESSAGE_CREATE", None, "s", 1),
        Dispatch("MESSAGE_CREATE", message(1, author="nobody"), "s", 1),  # pyright: ignore[reportArgumentType]
        Dispatch("MESSAGE_UPDATE", {**message(1), "edited_timestamp": "yesterday"}, "s", 1),
        Dispatch("MESSAGE_DELETE_BULK", {"ids": 7, "channel_id": "1"}, "s", 1),
        Dispatch("MESSAGE_REACTION_ADD", {"emoji": None}, "s", 1),
        Dispatch("CHANNEL_UPDATE", ["not", "an", "object"], "s", 1),
    ],
    ids=lambda dispatch: dispatch.kind,
)
async def test_a_malformed_dispatch_is_parked_and_survived(pool: Pool, dispatch: Dispatch) -> None:
    """I1: what cannot be read is kept as it came, and what follows is journalled."""
    async with ingress(pool) as (one, _):
        assert await put(one, dispatch) == ["parked"]
        assert await put(one, create(2)) == ["committed"]
    assert await pool.fetchval("SELECT kind FROM parked_events") == dispatch.kind


async def test_a_full_queue_leaves_a_gap_and_frozen_cursors(pool: Pool) -> None:
    """I1: what does not fit is counted, and the cursor stays before it, whatever comes afterwards."""
    async with ingress(pool, most_queued=3, writing=False) as (one, told):
        kept = [one.accept(create(n)) for n in (1, 2, 3)]
        dropped = [one.accept(create(n)) for n in (4, 5)]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            await asyncio.gather(*[future for future in kept if future is not None])
            for future in dropped:
                assert future is not None
                with pytest.raises(EventDropped):
                    await future
            assert await one.drain(within_s=10)
        await put(one, create(6))
        task.cancel()
    assert told.gaps == 1
    gap = await pool.fetchrow("SELECT reason, dropped, closed_at FROM gateway_gaps")
    assert gap is not None
    assert (gap["reason"], gap["dropped"], gap["closed_at"]) == ("overflow", 2, None)
    cursor = await pool.fetchrow("SELECT newest_id, backfill_after FROM place_cursors")
    assert cursor is not None
    assert (cursor["newest_id"], cursor["backfill_after"]) == (snowflake(6), snowflake(3))


async def test_a_new_session_freezes_the_cursors_before_its_first_event(pool: Pool) -> None:
    """I1: what the old session may have missed lies after the cursor, whatever the new one brings."""
    ready = Dispatch("READY", {"v": 10, "session_id": "secret", "resume_gateway_url": "wss://x", "guilds": []}, "t", 1)
    async with ingress(pool) as (one, told):
        await put(one, create(1))
        await put(one, ready, create(5))
    assert told.gaps == 1
    cursor = await pool.fetchrow("SELECT newest_id, backfill_after FROM place_cursors")
    assert cursor is not None
    assert (cursor["newest_id"], cursor["backfill_after"]) == (snowflake(5), snowflake(1))
    payload = await pool.fetchval("SELECT payload::text FROM discord_events WHERE kind = 'READY'")
    assert "secret" not in payload


async def test_tokens_and_other_peoples_words_do_not_enter_the_ledger(pool: Pool) -> None:
    """I13, I15: interaction tokens, and the message that a reply embeds, are not stored."""
    other = message(1, "somebody else's words", author=BOB)
    interaction = {"id": "77", "token": "hush", "channel_id": str(GENERAL), "guild_id": str(GUILD), "type": 2}
    async with ingress(pool) as (one, _):
        await put(
            one,
            create(2, "I agree", referenced_message=other, message_reference={"message_id": str(snowflake(1))}),
            Dispatch("INTERACTION_CREATE", interaction, "s", 3),
        )
        assert (await stored(pool, 2))["reply_to_id"] == snowflake(1)
    for payload in await pool.fetch("SELECT payload::text AS text FROM discord_events"):
        assert "somebody else" not in payload["text"]
        assert "hush" not in payload["text"]


@pytest.mark.parametrize("beside", [create(3), reaction("ADD", 9)], ids=["one statement", "a transaction"])
async def test_our_own_message_settles_its_receipt_by_its_nonce(pool: Pool, beside: Dispatch) -> None:
    """I4: a POST's response may be lost; the gateway's echo says that it was applied, and the message is the turn's.
    Others' nonces say nothing, nor does ours once it is settled."""
    await pool.execute(
        """INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args,
                                        nonce, turn_id, state, external_id)
           VALUES ($1, $2, 1, 'send_part', '\\x00', '{}', 'ours', 71, 'intended', NULL),
                  ($1, $2, 2, 'send_part', '\\x00', '{}', 'theirs', 72, 'intended', NULL),
                  ($1, $2, 3, 'send_part', '\\x00', '{}', 'known', 73, 'applied', 5),
                  ($1, $2, 4, 'show_draft', '\\x00', '{}', 'draft', 74, 'intended', NULL)""",
        GUILD,
        GENERAL,
    )
    ours, theirs = create(1, author=ME.user_id, nonce="ours"), create(2, author=ADA, nonce="theirs")
    known, draft = (create(n, author=ME.user_id, nonce=nonce) for n, nonce in ((4, "known"), (5, "draft")))
    cast("dict[str, Any]", draft.data)["flags"] = LOADING
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(each) for each in (ours, theirs, known, draft, beside)]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            assert set(await asyncio.gather(*[each for each in futures if each is not None])) == {"committed"}
        task.cancel()
    rows = await pool.fetch("SELECT nonce, state, external_id FROM action_receipts ORDER BY trigger_id")
    assert [tuple(row) for row in rows] == [
        ("ours", "applied", snowflake(1)),
        ("theirs", "intended", None),
        ("known", "applied", 5),
        ("draft", "applied", snowflake(5)),
    ]
    assert (await stored(pool, 1))["turn_id"] == 71
    assert (await stored(pool, 2))["turn_id"] is None


def said(n: int, content: str) -> Dispatch:
    """What Discord's response to a POST of ours tells."""
    return Dispatch("MESSAGE_CREATE", message(n, content, author=ME.user_id), "rest", 0, "action")


async def test_the_echo_of_what_we_said_is_a_duplicate_once_the_original_is_committed(pool: Pool) -> None:
    """I1, I2: it is acknowledged after the original's COMMIT and not before, and costs no row of its own."""
    async with ingress(pool, writing=False) as (one, _):
        ours, echo = one.accept(said(1, "at your service")), one.accept(create(1, author=ME.user_id, nonce="n"))
        assert ours is not None
        assert echo is not None
        assert not echo.done()
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(20):
            assert await asyncio.gather(ours, echo) == ["committed", "duplicate"]
        assert await put(one, create(1, author=ME.user_id), create(2)) == ["duplicate", "committed"]
        task.cancel()
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 2
    assert (await stored(pool, 1))["content"] == "at your service"


async def test_the_echo_of_what_could_not_be_journalled_goes_the_way_of_every_event(pool: Pool) -> None:
    """I1: where Discord's response was refused by the journal, what the gateway tells of the message is kept."""
    await pool.execute("ALTER TABLE discord_events ADD CHECK (payload::text NOT LIKE '%poison%')")
    async with ingress(pool) as (one, _):
        assert await put(one, said(1, "poison"), create(1, "remedy", author=ME.user_id)) == ["parked", "committed"]
    assert (await stored(pool, 1))["content"] == "remedy"


async def test_what_one_person_sees_is_no_message_of_the_place(pool: Pool) -> None:
    """I7: an ephemeral answer names no guild; it is kept as an event, and stands in no place and no cursor."""
    data = message(1, "only for you", flags=64, interaction_metadata={"id": "1", "type": 2, "user": {"id": "77"}})
    del data["guild_id"]
    async with ingress(pool) as (one, _):
        await put(one, Dispatch("MESSAGE_CREATE", data, "s", 1), Dispatch("MESSAGE_UPDATE", data, "s", 2))
    assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 0
    assert await pool.fetchval("SELECT count(*) FROM place_cursors") == 0
    assert await pool.fetchval("SELECT count(*) FROM ingestion_targets") == 0
    subjects = await pool.fetch("SELECT subject_ids FROM discord_events")
    assert len(subjects) == 2
    assert all(77 in row["subject_ids"] for row in subjects)


async def test_an_answer_that_was_thought_about_has_the_words_of_its_update(pool: Pool) -> None:
    """I2: Discord fills in a deferred answer by an update that is no edit; a later unfurled link changes nothing."""
    thinking, filled = message(1, "", flags=128), message(1, "here it is", flags=0)
    async with ingress(pool) as (one, _):
        await put(one, Dispatch("MESSAGE_CREATE", thinking, "s", 1))
        assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 0
        await put(one, Dispatch("MESSAGE_UPDATE", filled, "s", 2))
        assert (await stored(pool, 1))["content"] == "here it is"
        await put(one, Dispatch("MESSAGE_UPDATE", {**filled, "embeds": [{"type": "link"}]}, "s", 3))
    row = await stored(pool, 1)
    assert row["content"] == "here it is"
    assert row["edited_at"] is None
    assert await pool.fetchval("SELECT count(*) FROM chat_message_revisions") == 0
