"""Away and back: nothing that was said meanwhile is lost, and what no longer wants an answer gets none."""

import asyncio
import random
import time

import pytest

from sandbox.discord import Message
from sandbox.model import say
from tests.harness.stage import Stage


async def test_more_places_than_fit_in_one_go_are_all_fetched(stage: Stage) -> None:
    """I1: the bound is for side by side; a place beyond it does not wait for the next gap, nor for a busy one."""
    stage.model.default(say("Here."))
    rooms = [stage.guild.create_channel(f"room-{n}") for n in range(5)]
    async with stage.muninn():
        before = [await stage.bob.says(room, "before") for room in rooms]
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", before[-1].id)
    asked = [await stage.ada.says(room, f"{stage.discord.bot.mention} anybody?") for room in rooms]
    for n in range(120):
        await stage.bob.says(rooms[0], f"chatter {n}")
    async with stage.muninn(backfill_places=2):
        for message in asked:
            await stage.discord.wait_for_message(reply_to=message, within=20)
        await stage.until("SELECT 1 FROM gateway_gaps HAVING bool_and(closed_at IS NOT NULL) AND sum(incomplete) = 0")
    assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE content LIKE 'chatter %'") == 120


async def test_a_thread_that_was_opened_and_archived_meanwhile_is_fetched(stage: Stage) -> None:
    """I1: the guild does not list it."""
    stage.model.default(say("Here."))
    forum = stage.guild.create_forum("help")
    async with stage.muninn():
        said = await stage.bob.says(stage.general, "before")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said.id)
    post = await stage.ada.posts(forum, "Short", f"{stage.discord.bot.mention} anybody?")
    post.archive()
    async with stage.muninn():
        await stage.discord.wait_for_messages(1, in_=post, within=20)
        assert await stage.settled(1) == ["answered"]


async def test_what_was_asked_again_or_answered_meanwhile_is_not_answered_twice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3: each has its one end, and says which."""
    monkeypatch.setattr("bot.arrivals.rules.LATE_S", 0.0)
    stage.model.default(say("Here."))
    mention = stage.discord.bot.mention
    async with stage.muninn():
        before = await stage.bob.says(stage.general, "before")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", before.id)
    first = await stage.ada.says(stage.general, f"{mention} when does the train leave?")
    other = await stage.bob.says(stage.general, f"{mention} when does the train leave?")
    again = await stage.ada.says(stage.general, f"{mention} when does the train leave??")
    known = await stage.bob.says(stage.general, f"{mention} something else entirely")
    await stage.discord.bot.says(stage.general, "Answered by an earlier life of mine.", reply_to=known)
    async with stage.muninn():
        for message in (other, again):
            await stage.discord.wait_for_message(reply_to=message, within=20)
        await stage.settled(4)
        ends = {row["trigger_id"]: row["end_reason"] for row in await stage.turns()}
    assert ends == {
        first.id: "asked_again",
        other.id: "answered",
        again.id: "answered",
        known.id: "already_answered",
    }


async def test_a_storm_of_edits_and_deletes_ends_in_the_right_words(stage: Stage) -> None:
    """I2: the newest edit wins, a delete is sticky, and the one question among them is answered once."""
    stage.model.default(say("Noted."))
    rolls = random.Random(7)  # noqa: S311 - the same storm each time
    said = [await stage.bob.says(stage.general, f"line {n}") for n in range(40)]
    standing: dict[int, str] = {}
    async with stage.muninn():
        said += [await stage.bob.says(stage.general, f"line {n}") for n in range(40, 80)]
        live = said[40:]
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what was that?")
        for n in range(300):
            message = rolls.choice(live)
            if message.deleted:
                continue
            if rolls.random() < 0.15:
                await stage.bob.deletes(message)
            else:
                await stage.bob.edits(message, f"version {n}")
        last = await stage.bob.says(stage.general, "over")
        await stage.discord.wait_for_message(reply_to=asked, within=15)
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", last.id, within=20)
        standing = {message.id: message.content for message in live if not message.deleted}
    rows = await stage.pool.fetch(
        "SELECT message_id, content FROM chat_messages WHERE deleted_at IS NULL AND message_id = ANY($1)",
        [message.id for message in live],
    )
    assert {row["message_id"]: row["content"] for row in rows} == standing
    assert len(stage.discord.bot_messages()) == 1


async def test_two_hundred_messages_a_second_in_one_channel_hold_up_no_answer(stage: Stage) -> None:
    """Each is journalled, and who asks in the middle of them is answered."""
    stage.model.default(say("I can hear you."))
    async with stage.muninn():
        began, asked = time.monotonic(), list[Message]()
        for n in range(400):
            await stage.bob.says(stage.general, f"flood {n}")
            if n in (100, 300):
                asked.append(await stage.ada.says(stage.general, f"{stage.discord.bot.mention} still there?"))
            await asyncio.sleep(max(began + n / 200 - time.monotonic(), 0))
        for message in asked:
            await stage.discord.wait_for_message(reply_to=message, within=15)
        await stage.until("SELECT 1 FROM chat_messages WHERE content = 'flood 399'", within=15)
    assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE content LIKE 'flood %'") == 400
    assert len(stage.discord.bot_messages()) == 2


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_fifty_reconnects_of_every_kind_lose_and_repeat_nothing(stage: Stage) -> None:
    """I1, I3: RESUME and re-IDENTIFY mixed, while people talk and ask throughout, before, in and after the break."""
    stage.model.default(say("Yes."))
    asked: list[Message] = []
    rolls = random.Random(11)  # noqa: S311 - the same breaks each time
    async with stage.muninn(member_turns=1_000, place_turns=1_000, space_turns=1_000):
        for n in range(50):
            asked.append(await stage.ada.says(stage.general, f"{stage.discord.bot.mention} before {n}"))
            match rolls.randrange(5):
                case 0:
                    await stage.discord.request_reconnect()
                case 1:
                    await stage.discord.disconnect_bots(abort=True)
                case 2:
                    await stage.discord.disconnect_bots(4000, resumable=False)
                case 3:
                    await stage.discord.invalidate_sessions()
                case _:
                    async with stage.discord.gateway_offline():
                        asked.append(await stage.bob.says(stage.general, f"{stage.discord.bot.mention} while {n}"))
            await stage.bob.says(stage.general, f"talk {n}")
            await stage.discord.wait_for_session(within=30)
        for message in asked:
            await stage.discord.wait_for_message(reply_to=message, within=60)
        await stage.settled(len(asked), within=60)
    assert len(stage.discord.bot_messages()) == len(asked)
    assert await stage.pool.fetchval("SELECT count(*) FROM chat_messages WHERE content LIKE 'talk %'") == 50
