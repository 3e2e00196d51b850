"""A guild from before August 2017: the id of its first channel is its own, as space and place are one in a DM."""

from typing import Any

import asyncpg
import orjson

from memory.gaps import open_gap
from sandbox.discord import Channel, Permission
from sandbox.model import call, say
from tests.harness.stage import Stage
from tests.harness.tool_use import tools_used


def _old_general(stage: Stage) -> Channel:
    old = stage.discord.create_guild("Old", owner="Otto", bot_permissions=Permission.PIN_MESSAGES, aged=True)
    [general] = old.channels.values()
    assert general.id == old.id
    return general


async def test_its_first_channel_is_a_channel_of_a_guild(stage: Stage) -> None:
    """I5, I6: its tools are offered, its owner governs, and what is asked and sent there is the guild's."""
    general = _old_general(stage)
    otto = stage.discord.guilds[-1].member("Otto")
    other = stage.discord.guilds[-1].create_channel("news")
    async with stage.muninn():
        note = await otto.says(general, "the door code is on the wall")
        [channels, pinned] = await tools_used(
            stage,
            call("discord_list_channels"),
            call("discord_pin_message", message=f"https://discord.com/channels/{general.id}/{general.id}/{note.id}"),
            words="which channels are there? and please pin this",
            who=otto,
            place=general,
            reply_to=note,
        )
        assert [each["name"] for each in channels["channels"]] == ["general", "news"]
        assert pinned["ok"]
        assert note.pinned

        stage.model.script(call("discord_react", message=str(note.id), emoji="🎉"), say("I have asked you."))
        asked = await otto.says(general, f"{stage.discord.bot.mention} do what you think is best")
        card = await stage.discord.wait_for_message(reply_to=asked, where=lambda m: bool(m.components))
        assert f"https://discord.com/channels/{general.id}/{general.id}/{note.id}" in card.content
        await stage.discord.wait_for_message(reply_to=asked, where=lambda m: m.content == "I have asked you.")
        posted = await stage.pool.fetchval("SELECT count(*) FROM places WHERE place_id = $1", other.id)
        assert posted == 1
    own = await stage.pool.fetch(
        "SELECT payload::text AS payload FROM discord_events WHERE kind = 'MESSAGE_CREATE' AND source = 'action'"
    )
    assert {_guild_of(row["payload"]) for row in own} <= {str(general.id)}


async def test_a_direct_conversation_has_no_guild(stage: Stage) -> None:
    """I6: no tool of a guild's is offered in a direct conversation, and a card's links lead into it."""
    stage.model.script(say("I will."))
    async with stage.muninn():
        channel = stage.ada.dm()
        note = await stage.ada.says(channel, "mind the door")
        await stage.discord.wait_for_message(reply_to=note)
        assert "discord_list_channels" not in stage.model.requests[-1].tool_names
        stage.model.script(call("discord_react", message=str(note.id), emoji="🎉"), say("I have asked you."))
        asked = await stage.ada.says(channel, "do what you think is best")
        card = await stage.discord.wait_for_message(reply_to=asked, where=lambda m: bool(m.components))
        assert f"https://discord.com/channels/@me/{channel.id}/{note.id}" in card.content


async def test_its_gaps_are_those_of_its_own_shard(pool: asyncpg.Pool) -> None:
    """I1: a gap of a shard freezes the cursors of its guilds, old first channels among them; DMs are shard 0's."""
    old, direct = (2_000_001 << 22), (2_000_003 << 22)  # both of shard 1 by their ids
    await pool.execute("INSERT INTO audience_guilds (space_id) VALUES ($1)", old)
    await pool.executemany(
        "INSERT INTO place_cursors (space_id, place_id, newest_id) VALUES ($1, $1, 9)", [(old,), (direct,)]
    )
    frozen = "SELECT place_id FROM place_cursors WHERE backfill_after IS NOT NULL"
    async with pool.acquire() as conn:
        await open_gap(conn, shard=(1, 2), reason="start", since=None, dropped=0)
        assert await conn.fetchval(frozen) == old
        await conn.execute("UPDATE place_cursors SET backfill_after = NULL")
        await open_gap(conn, shard=(0, 2), reason="start", since=None, dropped=0)
        assert await conn.fetchval(frozen) == direct


def _guild_of(payload: str) -> Any:
    return orjson.loads(payload).get("guild_id")
