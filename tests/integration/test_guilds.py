"""Joining and leaving guilds: one notice a joining, to whom it concerns, through restarts, outages and crashes."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from bot.gateway import Gateway
from bot.notices import NOTICE, NOTICE_OF_LITTLE
from bot.settings import load
from sandbox.discord import Guild, Message, Permission
from sandbox.discord.people import User
from sandbox.model import say
from tests.harness.process import open_processes
from tests.harness.stage import Stage

TELLS: Any = {"guild_notice": True}


def owner_of(guild: Guild) -> User:
    return guild.members[guild.owner_id].user


def notices(stage: Stage) -> list[Message]:
    return [message for message in stage.discord.bot_messages() if message.content == NOTICE]


async def joining(stage: Stage, state: str, guild: Guild | None = None) -> asyncpg.Record:
    """The newest joining of the guild, as soon as its notice stands so."""
    return await stage.until(
        """SELECT * FROM guild_joinings WHERE space_id = $1 AND notice_state = $2
           AND joined_at = (SELECT max(joined_at) FROM guild_joinings WHERE space_id = $1)""",
        (guild or stage.guild).id,
        state,
    )


async def test_a_guild_is_told_once_in_its_system_channel(stage: Stage) -> None:
    """One that it was in before anything was on record, and one that it joins while it runs; pinging nobody (I11)."""
    stage.guild.system_channel_id = stage.general.id
    other = stage.discord.create_guild("Library")
    hall = other.create_channel("hall")
    other.system_channel_id = hall.id
    other.remove_bot()
    async with stage.muninn(**TELLS):
        told = await stage.discord.wait_for_message(in_=stage.general)
        await joining(stage, "told")
        other.add_member(stage.discord.bot)
        await joining(stage, "told", other)
    assert [message.channel for message in notices(stage)] == [stage.general, hall]
    assert told.content == NOTICE
    assert len(NOTICE) < 2000
    assert not told.pings.users
    receipts = await stage.pool.fetch("SELECT state, external_id FROM action_receipts WHERE action = 'guild_notice'")
    assert {row["external_id"] for row in receipts} == {message.id for message in notices(stage)}
    # What it said is journalled like all that it says.
    kinds = await stage.pool.fetch("SELECT author_kind FROM chat_messages WHERE content = $1", NOTICE)
    assert [row["author_kind"] for row in kinds] == ["self", "self"]


async def test_a_restart_and_an_outage_are_no_joining(stage: Stage) -> None:
    """The guild comes again with each session and after each outage, and nobody is told again."""
    stage.guild.system_channel_id = stage.general.id
    for _ in range(2):
        async with stage.muninn(**TELLS):
            await joining(stage, "told")
            stage.guild.goes_down()
            stage.guild.comes_back()
            said = await stage.ada.says(stage.general, "anything")
            await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said.id)
    assert len(notices(stage)) == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_joinings") == 1
    assert await stage.pool.fetchval("SELECT left_at FROM guild_joinings") is None
    assert await stage.pool.fetchval("SELECT count(*) FROM erasures") == 0, "an outage starts no time of grace (I15)"


@pytest.mark.parametrize("why", ["none", "unseen", "silent"])
async def test_without_a_system_channel_the_owner_is_told(stage: Stage, why: str) -> None:
    """There is none, it cannot be seen, or nothing may be said in it."""
    stage.guild.system_channel_id = None if why == "none" else stage.general.id
    if why == "unseen":
        stage.general.set_permissions(stage.guild.everyone, deny=Permission.VIEW_CHANNEL)
    if why == "silent":
        stage.general.set_permissions(stage.guild.everyone, deny=Permission.SEND_MESSAGES)
    async with stage.muninn(**TELLS):
        row = await joining(stage, "told")
    assert [message.channel for message in notices(stage)] == [owner_of(stage.guild).dm()]
    assert (row["channel_id"], row["owner_place_id"]) == (None, owner_of(stage.guild).dm().id)
    assert all(request.status == 200 for request in stage.discord.requests_to("POST", "/channels/*/messages"))


async def test_a_channel_that_refuses_after_all_leaves_the_owner(stage: Stage) -> None:
    """Permissions may change between the look and the message."""
    stage.guild.system_channel_id = stage.general.id
    held = stage.discord.faults.rest("POST", f"/channels/{stage.general.id}/messages").hold()
    async with stage.muninn(**TELLS):
        await held.hit()
        stage.general.set_permissions(stage.guild.everyone, deny=Permission.SEND_MESSAGES)
        held.release()
        await joining(stage, "told")
    assert [message.channel for message in notices(stage)] == [owner_of(stage.guild).dm()]


async def test_nobody_takes_it(stage: Stage) -> None:
    """The owner's conversations are closed: that is on record, and not tried again with each start."""
    stage.guild.system_channel_id = None
    owner_of(stage.guild).accepts_dms = False
    for _ in range(2):
        async with stage.muninn(**TELLS):
            await joining(stage, "refused")
    assert notices(stage) == []
    assert len(stage.discord.requests_to("POST", "/channels/*/messages")) == 1


async def test_it_can_be_switched_off(stage: Stage) -> None:
    """Nobody is told then, nor later when it is switched on."""
    stage.guild.system_channel_id = stage.general.id
    async with stage.muninn(guild_notice=False):
        await joining(stage, "waived")
    async with stage.muninn(**TELLS):
        said = await stage.ada.says(stage.general, "anything")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said.id)
        await joining(stage, "waived")
    assert notices(stage) == []
    assert load().guild_notice is True


async def test_leaving_is_noted_and_coming_again_is_a_new_joining(stage: Stage) -> None:
    """Kicked while it runs, kicked while it does not, and invited anew: each joining has its own notice."""
    stage.guild.system_channel_id = stage.general.id
    bot = stage.discord.bot
    async with stage.muninn(**TELLS):
        await joining(stage, "told")
        stage.guild.remove_bot()
        await stage.until("SELECT 1 FROM guild_joinings WHERE left_at IS NOT NULL")
        stage.guild.add_member(bot)
        await stage.until("SELECT 1 FROM guild_joinings HAVING count(*) = 2 AND bool_and(notice_state = 'told')")
    stage.guild.remove_bot()
    async with stage.muninn(**TELLS):
        await stage.until("SELECT 1 FROM guild_joinings HAVING count(*) = 2 AND bool_and(left_at IS NOT NULL)")
    stage.guild.add_member(bot)
    stage.guild.remove_bot()
    stage.guild.add_member(bot)
    async with stage.muninn(**TELLS):
        await stage.until("SELECT 1 FROM guild_joinings HAVING count(*) = 3 AND bool_and(notice_state = 'told')")
    assert await stage.pool.fetchval("SELECT count(*) FROM guild_joinings WHERE left_at IS NULL") == 1
    assert len(notices(stage)) == 3
    # Each leaving that was seen began a time of grace, which the coming back called off.
    states = await stage.pool.fetch("SELECT kind, state FROM erasures")
    assert [tuple(row) for row in states] == [("space", "called_off")] * 2


async def test_an_answer_that_is_lost_is_no_second_notice(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I4: Discord took it and the line broke; then nobody answers for longer than a nonce is remembered."""
    monkeypatch.setattr("bot.guilds.SEND_S", 0.1)
    monkeypatch.setattr("bot.guilds.RETRY_FIRST_S", 0.2)
    stage.guild.system_channel_id = stage.general.id
    path = f"/channels/{stage.general.id}/messages"
    lost = stage.discord.faults.rest("POST", path).accept_then_reset()
    # The echo, which would settle it, does not come.
    stage.discord.faults.gateway("MESSAGE_CREATE").drop()
    async with stage.muninn(nonce_window_s=0.01, **TELLS):
        await lost.hit()
        await joining(stage, "told")
    assert len(notices(stage)) == 1
    assert len(stage.discord.requests_to("POST", path)) == 1


@pytest.mark.parametrize("point", ["after_intended", "after_post", "after_settled"])
async def test_a_crash_makes_no_second_notice_and_loses_none(stage: Stage, tmp_path: Path, point: str) -> None:
    """I3, I4: killed before it is sent, after Discord took it, and after it was recorded; reconciliation leaves it."""
    stage.guild.system_channel_id = stage.general.id
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(crash_at=point, **TELLS)
        await first.killed()
        processes.start(reconcile_s=0.05, **TELLS)
        row = await joining(stage, "told")
        receipt = await stage.until("SELECT * FROM action_receipts WHERE action = 'guild_notice'")
    assert (receipt["state"], len(notices(stage))) == ("applied", 1)
    assert receipt["external_id"] == notices(stage)[0].id
    assert row["notice"] == NOTICE


async def test_what_was_in_doubt_when_the_guild_was_left_stays_so(stage: Stage) -> None:
    """Nobody can look it up any more, and nobody is asked for ever."""
    stage.guild.system_channel_id = stage.general.id
    held = stage.discord.faults.rest("POST", f"/channels/{stage.general.id}/messages").hold()
    async with stage.muninn(**TELLS):
        await held.hit()
        stage.guild.remove_bot()
        held.release()
        await stage.until("SELECT 1 FROM guild_joinings WHERE left_at IS NOT NULL")
    state = await stage.pool.fetchval("SELECT notice_state FROM guild_joinings")
    assert state in ("refused", "told")
    assert await stage.pool.fetchval("SELECT count(*) FROM action_receipts WHERE state = 'intended'") == 0


async def test_a_bot_that_reads_little_says_so(stage: Stage) -> None:
    """Without Message Content it keeps less, and the notice says what."""
    stage.guild.system_channel_id = stage.general.id
    async with stage.muninn(message_content=False, **TELLS):
        await joining(stage, "told")
    assert [message.content for message in stage.discord.bot_messages()] == [NOTICE_OF_LITTLE]
    assert len(NOTICE_OF_LITTLE) < 2000


async def test_many_guilds_are_told_one_after_the_other(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that opens many conversations at once is not trusted: between two notices there is a pause."""
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(delay: float, *rest: Any) -> None:
        if delay == 2.0:
            pauses.append(delay)
            delay = 0
        await real(delay, *rest)

    monkeypatch.setattr("bot.guilds.asyncio.sleep", sleep)
    for number in range(3):
        stage.discord.create_guild(f"Guild {number}").create_channel("lobby")
    async with stage.muninn(**TELLS):
        await stage.until("SELECT 1 FROM guild_joinings HAVING count(*) = 4 AND bool_and(notice_state = 'told')")
    assert len(notices(stage)) == 4
    assert len(pauses) == 3


async def test_without_message_content_what_is_meant_for_it_is_answered(stage: Stage) -> None:
    """The intent is off in the portal and not asked for: mentions, replies with a ping, and conversations work; what
    others say to each other is heard without its words, and those are not remembered."""
    from sandbox.discord.events import Intent

    stage.discord.world.application.privileged = Intent(0)
    stage.model.default(lambda request: say("words: " + str("quoth" in request.messages[-1].text)))
    async with stage.muninn(message_content=False):
        asked = [await stage.ada.says(stage.general, f"{stage.discord.bot.mention} quoth the raven")]
        answer = await stage.discord.wait_for_message(reply_to=asked[0])
        asked.append(await stage.ada.says(stage.general, "quoth again", reply_to=answer))
        asked.append(await stage.ada.says(stage.ada, "quoth in private"))
        others = await stage.bob.says(stage.general, "quoth to nobody")
        assert await stage.settled(3) == ["answered"] * 3
        row = await stage.until("SELECT content FROM chat_messages WHERE message_id = $1", others.id)
    assert row["content"] == ""
    for question in asked:
        assert [message.content for message in stage.discord.replies_to(question)] == ["words: True"]


async def test_what_is_kept_in_memory_of_a_guild_does_not_grow_with_who_speaks(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's membership, and the last hundred messages of all places with their authors, whoever else spoke."""
    made: list[Gateway] = []

    class Watched(Gateway):
        def __init__(self, *, shard: tuple[int, int], message_content: bool = True) -> None:
            super().__init__(shard=shard, message_content=message_content)
            made.append(self)

    monkeypatch.setattr("bot.app.Gateway", Watched)
    speakers = [stage.guild.add_member(f"Speaker {number}") for number in range(150)]
    async with stage.muninn():
        said = [await each.says(stage.general, "hello") for each in speakers]
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said[-1].id)
        (gateway,) = made
        (guild,) = gateway.guilds
        assert [member.id for member in guild.members] in ([], [stage.discord.bot.id])
        assert len(gateway.cached_messages) == 100
        assert len(gateway.users) <= 102
