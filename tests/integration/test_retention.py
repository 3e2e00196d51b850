"""What a guild keeps no longer goes; what it left behind goes after a time of grace."""

from datetime import UTC, datetime, timedelta

import asyncpg

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
