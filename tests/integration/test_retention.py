"""What a guild keeps no longer goes; what it left behind goes after a time of grace."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from bot.erasure import requests
from bot.erasure.requests import Seal
from bot.guild_settings import WHOLE_SPACE, Ground, GuildSettingsDoor, change
from bot.retention import Retention
from memory.ids import PlaceId, SpaceId, UserId
from memory.items import Draft, remember
from memory.scope import Scope
from tests.harness.stage import Stage
from tests.harness.told import Talk


def long_ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


async def test_old_messages_go_and_memories_stay(pool: asyncpg.Pool) -> None:
    """I8: by the guild's own days; evidence is marked as aged out and still counts; another guild keeps its own."""
    talk, other = Talk(pool), Talk(pool, Scope(SpaceId(900), PlaceId(901)))
    old = await talk.says(701, "I keep bees", at=long_ago(20))
    await talk.says(701, "and that is new", at=long_ago(2))
    await other.says(701, "elsewhere", at=long_ago(20))
    async with pool.acquire() as conn:
        async with conn.transaction():
            await remember(conn, talk.author(701, old), Draft("Ada keeps bees."))
        await change(conn, talk.scope.space_id, WHOLE_SPACE, "retention_days", 7, by=UserId(1))
    await pool.execute("UPDATE discord_events SET received_at = now() - interval '20 days' WHERE message_id = $1", old)
    await Retention(pool, GuildSettingsDoor(pool, Ground()), 30).sweep()
    left = [row["content"] for row in await pool.fetch("SELECT content FROM chat_messages ORDER BY message_id")]
    assert sorted(left) == ["and that is new", "elsewhere"]
    assert await pool.fetchval("SELECT content FROM live_memories") == "Ada keeps bees."
    assert await pool.fetchval("SELECT aged_out_at IS NOT NULL FROM memory_evidence")
    assert await pool.fetchval("SELECT count(*) FROM discord_events WHERE message_id = $1", old) == 0


async def test_it_lets_go_once_a_day(pool: asyncpg.Pool) -> None:
    """Soon after the start, then a day later each time, for as long as it runs: what has become old meanwhile goes."""
    talk = Talk(pool)
    rests: list[float] = []
    left: list[int] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        left.append(await pool.fetchval("SELECT count(*) FROM chat_messages"))
        if len(rests) == 4:
            raise EndOfDays
        await talk.says(701, f"day {len(rests)}", at=long_ago(400))

    with pytest.raises(EndOfDays):
        await Retention(pool, GuildSettingsDoor(pool, Ground()), 30, rest).run()
    assert rests == [300, 86_400, 86_400, 86_400]
    assert left == [0, 0, 0, 0]
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 3, "received today, whenever they were said"


class EndOfDays(Exception):
    """Enough of them."""


async def test_what_was_done_goes_with_its_time(pool: asyncpg.Pool) -> None:
    """Former values, the record of settings, cards and what owners looked into: the old ones, and never what holds now
    or the memory itself; another guild, which keeps longer, keeps its own."""
    talk, other = Talk(pool), Talk(pool, Scope(SpaceId(900), PlaceId(901)))
    for each in (talk, other):
        said = await each.says(701, "I keep bees", at=long_ago(20))
        async with pool.acquire() as conn:
            async with conn.transaction():
                for value in ("Ada keeps bees.", "Ada keeps wasps.", "Ada keeps ants."):
                    await remember(conn, each.author(701, said), Draft(value, key="fact.hive"))
            for days in (7, 365, 7) if each is talk else ():
                await change(conn, each.scope.space_id, WHOLE_SPACE, "retention_days", days, by=UserId(1))
        space = each.scope.space_id
        await pool.execute(
            "INSERT INTO operator_audit (operator_id, space_id, action) VALUES (1, $1, 'list_runs')", space
        )
        await pool.execute(
            """INSERT INTO action_cards (space_id, place_id, trigger_id, requester_id, action, digest, asked_action,
                   question, nonce, expires_at, state)
               SELECT $1, $2, $3, 701, 'react', digest, '{}', 'q', $1::bigint || state,
                   now() - interval '20 days', state
               FROM (VALUES ('\\x00'::bytea, 'used'), ('\\x01'::bytea, 'open')) AS c (digest, state)""",
            space, each.scope.place_id, said,
        )  # fmt: skip
    for statement in (
        "UPDATE memory_item_revisions SET ended_at = now() - interval '20 days' WHERE version = 1",
        "UPDATE guild_setting_changes SET set_at = now() - interval '20 days'",
        "UPDATE operator_audit SET at = now() - interval '20 days'",
    ):
        await pool.execute(statement)
    await Retention(pool, GuildSettingsDoor(pool, Ground()), 30).sweep()

    async def left(space: SpaceId, table: str, column: str) -> list[object]:
        rows = await pool.fetch(f"SELECT {column} AS it FROM {table} WHERE space_id = $1 ORDER BY 1", space)
        return [row["it"] for row in rows]

    kept: dict[tuple[str, str], tuple[list[object], list[object]]] = {
        ("memory_items", "content"): (["Ada keeps ants."], ["Ada keeps ants."]),
        ("memory_item_revisions", "content"): (["Ada keeps wasps."], ["Ada keeps bees.", "Ada keeps wasps."]),
        ("guild_setting_changes", "version"): ([3], []),
        ("operator_audit", "action"): ([], ["list_runs"]),
        ("action_cards", "state"): (["open"], ["open", "used"]),
    }
    for (table, column), (here, there) in kept.items():
        assert (await left(talk.scope.space_id, table, column), table) == (here, table)
        assert (await left(other.scope.space_id, table, column), table) == (there, table)
    async with pool.acquire() as conn:
        made = await change(conn, talk.scope.space_id, WHOLE_SPACE, "retention_days", 30, by=UserId(1))
    assert made is not None
    assert made.version == 4


async def test_without_end_nothing_goes_but_raw_events(pool: asyncpg.Pool) -> None:
    """0 days: messages stay; raw events have an end of their own."""
    talk = Talk(pool)
    await talk.says(701, "I keep bees", at=long_ago(900))
    await pool.execute("UPDATE discord_events SET received_at = now() - interval '31 days'")
    ground = Ground(defaults=Ground().in_space(SpaceId(1)).__class__(retention_days=0))
    await Retention(pool, GuildSettingsDoor(pool, ground), 30).sweep()
    assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 1
    assert await pool.fetchval("SELECT count(*) FROM discord_events") == 0


async def test_what_is_left_behind_goes_after_its_time(stage: Stage) -> None:
    """A guild that was left: after the time of grace, everything; nothing while it lasts."""
    guild = stage.guild.id
    async with stage.muninn(poll_s=0.1, erasure_again_s=0.1):
        await stage.ada.says(stage.general, "hello")
        await stage.until("SELECT 1 FROM chat_messages WHERE space_id = $1", guild)
        stage.guild.remove_bot()
        waiting = await stage.until("SELECT available_at > now() + interval '29 days' AS later FROM erasures")
        assert waiting["later"]
        assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE space_id = $1", guild) == 1
        await stage.pool.execute("UPDATE erasures SET available_at = now()")
        await stage.until("SELECT 1 FROM erasures WHERE state = 'done'", within=20)
    for table in ("chat_messages", "discord_events", "places", "guild_joinings", "place_cursors"):
        assert await stage.pool.fetchval(f"SELECT count(*) FROM {table} WHERE space_id = $1", guild) == 0


async def test_coming_back_in_time_keeps_all(pool: asyncpg.Pool) -> None:
    """What waits is called off, once; what is going already is not."""
    async with pool.acquire() as conn:
        await requests.ask(conn, Seal(b"k"), "space", 70, space_id=SpaceId(70), after_s=3_600)
        assert await requests.call_off(conn, SpaceId(70))
        assert not await requests.call_off(conn, SpaceId(70))
        assert await requests.claim(conn, lease_s=60) is None
