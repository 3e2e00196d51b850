"""Payloads that nobody should send: each is kept or parked, alone; what came with it is journalled (I1, I2, I13)."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.events import Dispatch
from memory.database import Pool
from tests.integration.test_journal import (
    ADA,
    BOB,
    GENERAL,
    GUILD,
    create,
    delete,
    edit,
    ingress,
    message,
    put,
    reaction,
    snowflake,
    stored,
)

HUGE = str(2**70)


def edited_at(n: int, moment: object) -> Dispatch:
    """An edit whose time is `moment`, as it came."""
    return Dispatch("MESSAGE_UPDATE", message(n, "changed", edited_timestamp=moment), "s", 50)


@pytest.mark.parametrize(
    "hostile",
    [
        edited_at(1, "2026-05-01T13:00:00"),
        edited_at(1, "2026-05-01"),
        edited_at(1, "0001-01-01T00:00:00+23:59"),
        edited_at(1, "9999-12-31T23:59:59-23:59"),
        Dispatch("MESSAGE_CREATE", {**message(1), "id": HUGE}, "s", 51),
        Dispatch("MESSAGE_DELETE", {"id": HUGE, "channel_id": "1", "guild_id": "2"}, "s", 52),
        Dispatch("CHANNEL_UPDATE", {"id": "1", "guild_id": "-99999999999999999999"}, "s", 53),
        Dispatch("MESSAGE_CREATE", message(7, mentions=[{"id": HUGE}]), "s", 54),
        Dispatch("A\0B\ud800", {"id": "1"}, "s\ud800", 55),
        Dispatch("X" * 6000, {"id": "1"}, "s", 56),
        Dispatch("NEWS", {"user": "somebody", "guild_id": str(GUILD)}, "s", 57),
    ],
    ids=["naive", "date", "year-1", "year-9999", "id", "delete", "guild", "mention", "kind", "long-kind", "user"],
)
async def test_one_hostile_payload_takes_nothing_with_it(pool: Pool, hostile: Dispatch) -> None:
    """I1: it is kept or parked; its whole group is acknowledged, and so is what follows."""
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(d) for d in (create(1), create(2), hostile, edit(1, "edited", 10), create(3))]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(10):
            acks = [await future for future in futures if future is not None]
        assert acks[:2] + acks[3:] == ["committed"] * 4
        assert await put(one, create(4)) == ["committed"]
        task.cancel()
    assert await pool.fetchval("SELECT count(*) FROM chat_messages WHERE message_id > $1", snowflake(0)) >= 4
    kept = await pool.fetchval("SELECT count(*) FROM parked_events")
    assert kept == (1 if acks[2] == "parked" else 0)


async def test_a_fault_of_our_own_loses_no_group_and_stops_nothing(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """I1: whatever writing one event raises, that event is parked and the others of its group are journalled."""
    from bot.ingress import writer as module

    def faulty(real: Any) -> Any:
        async def write(conn: Any, group: Any) -> Any:
            if any(event.message_id == snowflake(3) for event in getattr(group, "events", group)):
                raise RuntimeError("a bug")
            return await real(conn, group)

        return write

    for name in ("write_group", "write_plain"):
        monkeypatch.setattr(module, name, faulty(getattr(module, name)))
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(create(n)) for n in range(6)]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(10):
            acks = [await future for future in futures if future is not None]
        assert not task.done()
        task.cancel()
    assert acks == ["committed"] * 3 + ["parked"] + ["committed"] * 2


async def test_what_nests_too_deeply_is_parked(pool: Pool) -> None:
    """I1: accept never raises, not even for a payload deeper than any reader goes."""
    deep: object = "core"
    for _ in range(900):
        deep = [deep]
    async with ingress(pool) as (one, _):
        future = one.accept(Dispatch("CHANNEL_UPDATE", {"id": "1", "guild_id": str(GUILD), "x": deep}, "s", 1))
        assert future is not None
        async with asyncio.timeout(10):
            assert await future == "parked"


async def test_a_list_of_ids_that_is_a_text_deletes_nothing(pool: Pool) -> None:
    """I2: its characters are no message ids."""
    bulk = Dispatch("MESSAGE_DELETE_BULK", {"ids": "123", "channel_id": str(GENERAL), "guild_id": str(GUILD)}, "s", 1)
    async with ingress(pool) as (one, _):
        assert await put(one, bulk) == ["parked"]
    assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 0


@pytest.mark.parametrize("emoji", ["a\0b", "c\ud800"])
async def test_an_emoji_that_postgresql_cannot_hold_is_replaced(pool: Pool, emoji: str) -> None:
    """I2: and counts as one emoji from then on."""
    async with ingress(pool) as (one, _):
        assert await put(one, reaction("ADD", 1, emoji=emoji), reaction("ADD", 2, emoji=emoji)) == [
            "committed",
            "duplicate",
        ]
    assert await pool.fetchval("SELECT count(*) FROM message_reactions") == 1


async def test_a_replayed_reaction_is_not_taken_for_a_new_one(pool: Pool) -> None:
    """I2: the same event again, after the state moved on, changes nothing; Redis or not."""
    async with ingress(pool) as (one, _):
        await put(one, reaction("ADD", 5), reaction("REMOVE", 6))
        assert await put(one, reaction("ADD", 5)) == ["duplicate"]
        assert await pool.fetchval("SELECT count(*) FROM message_reactions") == 0
        await put(one, reaction("ADD", 7), reaction("ADD", 8, user=BOB))
        assert await put(one, reaction("REMOVE", 6)) == ["duplicate"]
        await put(one, reaction("REMOVE_ALL", 9), reaction("ADD", 10))
        assert await put(one, reaction("REMOVE_ALL", 9)) == ["duplicate"]
        rows = await pool.fetch("SELECT user_id FROM message_reactions")
    assert [row["user_id"] for row in rows] == [ADA]


async def test_a_duplicate_within_a_group_does_not_reorder_it(pool: Pool) -> None:
    """I2: added, taken back, and the first frame once more: it is taken back."""
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(d) for d in (reaction("ADD", 5), reaction("REMOVE", 6), reaction("ADD", 5))]
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(10):
            await asyncio.gather(*[future for future in futures if future is not None])
        task.cancel()
    assert await pool.fetchval("SELECT count(*) FROM message_reactions") == 0


@pytest.mark.parametrize(
    "dispatch",
    [
        Dispatch("INTERACTION_CREATE", {"token": "hush-hush", "type": 2, "data": {"token": "hush-hush"}}, "s", 1),
        Dispatch("READY", {"session_id": "hush-hush", "guild_id": "no number", "guilds": []}, "s", 2),
        Dispatch("NEW_THING", {"id": "5", "inner": [{"token": "hush-hush"}], "guild_id": str(GUILD)}, "s", 3),
    ],
    ids=["interaction", "ready", "unknown"],
)
async def test_secrets_are_stored_nowhere_also_not_where_a_dispatch_is_parked(pool: Pool, dispatch: Dispatch) -> None:
    """I13: neither in the ledger nor among the parked."""
    async with ingress(pool) as (one, _):
        await put(one, dispatch)
    kept = [
        *await pool.fetch("SELECT payload::text AS text FROM discord_events"),
        *await pool.fetch("SELECT payload || reason AS text FROM parked_events"),
    ]
    assert len(kept) == 1
    assert "hush" not in kept[0]["text"]


async def test_a_refused_row_does_not_show_its_words_in_the_log(pool: Pool) -> None:
    """The log tells which event was refused and why; its words stay in the database."""
    await pool.execute("ALTER TABLE discord_events ADD CHECK (payload::text NOT LIKE '%poison%')")
    with capture_logs() as logs:
        async with ingress(pool) as (one, _):
            assert await put(one, create(1, "my secret poison")) == ["parked"]
    assert "my secret" not in str(logs)
    assert "CheckViolation" in str(logs)


async def test_a_message_deleted_before_it_came_is_never_shown(pool: Pool) -> None:
    """I2: bulk deletion of messages never seen, then their creates: deleted, with their words in the journal."""
    ids = [str(snowflake(n)) for n in (1, 2)]
    bulk = Dispatch("MESSAGE_DELETE_BULK", {"ids": ids, "channel_id": str(GENERAL), "guild_id": str(GUILD)}, "s", 9)
    async with ingress(pool) as (one, _):
        await put(one, bulk)
        await put(one, create(1), delete(2), create(2))
        for n in (1, 2):
            assert (await stored(pool, n))["deleted_at"] is not None


@pytest.mark.parametrize(
    ("kind", "data", "subjects"),
    [
        ("MESSAGE_POLL_VOTE_ADD", {"user_id": "7", "message_id": "3", "answer_id": 1}, {7}),
        ("THREAD_CREATE", {"id": "4", "owner_id": "8"}, {8}),
        (
            "THREAD_MEMBERS_UPDATE",
            {"id": "4", "added_members": [{"user_id": "9"}], "removed_member_ids": ["10"]},
            {9, 10},
        ),
        ("INTERACTION_CREATE", {"id": "5", "member": {"user": {"id": "11"}}}, {11}),
        ("GUILD_AUDIT_LOG_ENTRY_CREATE", {"id": "6", "user_id": "12", "target_id": "13"}, {12, 13}),
        ("INVITE_CREATE", {"inviter": {"id": "14"}, "target_user": {"id": "15"}}, {14, 15}),
        ("AUTO_MODERATION_ACTION_EXECUTION", {"user_id": "16", "content": "words"}, {16}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_whom_an_event_is_about_is_known(pool: Pool, kind: str, data: dict[str, Any], subjects: set[int]) -> None:
    """I15: every payload keeps the ids of the people in it, so that theirs can be found."""
    async with ingress(pool) as (one, _):
        await put(one, Dispatch(kind, {"guild_id": str(GUILD), "channel_id": str(GENERAL), **data}, "s", 1))
    assert set(await pool.fetchval("SELECT subject_ids FROM discord_events")) == subjects


async def test_what_was_taken_when_the_writer_fell_over_is_not_lost(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I1: a fault between the queue and the commit puts the events back, and the restarted writer journals them."""
    from bot.ingress.seen import Seen

    real, calls = Seen.known, 0

    async def faulty(self: Seen, keys: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("a bug")
        return await real(self, keys)

    monkeypatch.setattr(Seen, "known", faulty)
    async with ingress(pool, writing=False) as (one, _):
        futures = [one.accept(create(n)) for n in range(200)]
        with pytest.raises(RuntimeError):
            await one.run()
        task = asyncio.create_task(one.run())
        async with asyncio.timeout(10):
            acks = [await future for future in futures if future is not None]
        task.cancel()
    assert acks == ["committed"] * 200
