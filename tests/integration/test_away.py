"""Away and back: nothing that was said meanwhile is lost, and what no longer wants an answer gets none."""

import asyncio
import random
import time
from pathlib import Path

import pytest

from memory.database import Pool
from sandbox.discord import Clock, Message
from sandbox.model import say
from tests.harness.process import open_processes
from tests.harness.stage import Stage, open_stage

GONE = "SELECT * FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL"

QUESTIONS = (
    "when does the train go", "who feeds the heron", "how deep is the lake", "why did Bob leave early",
    "which key opens this", "may I bring cake", "what rhymes with orange", "is anybody hungry",
    "shall we dance", "do owls dream",
)  # fmt: skip


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


async def _flood(stage: Stage, seconds: int) -> list[Message]:
    """200 lines a second from one member, and once a second a question of another; gives the questions."""
    asked: list[Message] = []
    began = time.monotonic()
    for n in range(200 * seconds):
        await stage.bob.says(stage.general, f"flood {n}")
        if n % 200 == 100:
            asked.append(await stage.ada.says(stage.general, f"{stage.discord.bot.mention} still there?"))
        await asyncio.sleep(max(began + n / 200 - time.monotonic(), 0))
    return asked


async def _all_came(stage: Stage, asked: list[Message], seconds: int) -> None:
    """Every line is journalled, and every question answered once."""
    for message in asked:
        await stage.discord.wait_for_message(reply_to=message, within=15 + seconds)
    flooded = "SELECT 1 FROM chat_messages WHERE content LIKE 'flood %' HAVING count(DISTINCT content) = $1"
    await stage.until(flooded, 200 * seconds, within=15)
    assert await stage.settled(seconds) == ["answered"] * seconds
    assert len(stage.discord.bot_messages()) == seconds


async def test_two_hundred_messages_a_second_in_one_channel_hold_up_no_answer(stage: Stage) -> None:
    """Each is journalled, and who asks in the middle of them is answered."""
    stage.model.default(say("I can hear you."))
    async with stage.muninn(member_turns=1_000, place_turns=1_000, space_turns=1_000):
        await _all_came(stage, await _flood(stage, 2), 2)


@pytest.mark.long
@pytest.mark.timeout(200)
async def test_two_hundred_messages_a_second_for_fifteen_seconds(stage: Stage, tmp_path: Path) -> None:
    """At that very rate, since Muninn is a process apart from the loopback Discord: neither waits for the other."""
    stage.model.default(say("I can hear you."))
    async with open_processes(stage, tmp_path) as processes:
        muninn = processes.start(member_turns=1_000, place_turns=1_000, space_turns=1_000)
        await muninn.says("muninn.ready", within=30)
        began = time.monotonic()
        asked = await _flood(stage, 15)
        took_s = time.monotonic() - began
        await _all_came(stage, asked, 15)
        await muninn.stop()
    assert took_s < 16, f"the flood took {took_s:.1f} s, so it was no 200 a second"


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


async def test_nothing_older_than_muninn_is_fetched(database_url: str, redis_url: str, pool: Pool) -> None:
    """A guild's past is not the bot's business: only what came after it was first started, give or take seconds."""
    clock = Clock(lambda: time.time() - 60)
    async with open_stage(database_url, redis_url, pool, clock=clock) as stage:
        for n in range(3):
            await stage.ada.says(stage.general, f"long ago {n}")
        clock.advance(60)
        async with stage.muninn():
            await stage.until("SELECT 1 FROM gateway_gaps WHERE closed_at IS NOT NULL")
    assert await pool.fetchval("SELECT count(*) FROM chat_messages") == 0


@pytest.mark.parametrize(
    "window_s", [1_800, pytest.param(7_200, marks=pytest.mark.long)], ids=["half an hour", "two hours"]
)
async def test_an_hour_offline_loses_nothing_and_answers_each_question_once(
    database_url: str, redis_url: str, pool: Pool, window_s: int
) -> None:
    """I1, I3: people talked, asked, edited, deleted, opened a channel and a thread, and archived it. What is older than
    the window is marked, everything younger is answered once, and every word is there with its own time."""
    clock = Clock(lambda: time.time() - 3_660)
    async with open_stage(database_url, redis_url, pool, clock=clock) as stage:
        stage.model.default(say("Yes."))
        mention = stage.discord.bot.mention
        async with stage.muninn(answer_window_s=7_200):
            said = [await stage.bob.says(stage.general, f"before {n}") for n in range(3)]
            known = await stage.ada.says(stage.ada.dm(), "psst")
            await stage.discord.wait_for_message(reply_to=known)
            await stage.settled(1)
            await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", said[-1].id)
        await pool.execute("UPDATE gateway_gaps SET since = since - interval '1 hour'")
        clock.advance(60)
        await stage.bob.edits(said[0], "after all")
        await stage.bob.deletes(said[1])
        asked = dict[int, Message]()
        rooms = [stage.general, stage.ada.dm()]
        for minute in range(60):
            room = rooms[minute % len(rooms)]
            said.append(await stage.ada.says(room if room.guild else stage.general, f"talk {minute}"))
            if minute % 6 == 0:
                asked[minute] = await stage.ada.says(room, f"{mention} {QUESTIONS[minute // 6]}?")
            if minute == 10:
                rooms.append(stage.guild.create_channel("new"))
            if minute == 20:
                rooms.append(await stage.bob.starts_thread(rooms[-1], "Aside", text="by the way"))
            clock.advance(60)
        taken_back = asked.pop(48)
        await stage.ada.deletes(taken_back)
        async with stage.muninn(answer_window_s=window_s, member_turns=100):
            wanted = [message for minute, message in asked.items() if (60 - minute) * 60 < window_s - 60]
            for message in wanted:
                await stage.discord.wait_for_message(reply_to=message, within=20)
            for message in asked.values():
                if message not in wanted:
                    assert await stage.discord.wait_for_reaction(message, within=20) == "\N{HOURGLASS}"
            await stage.settled(1 + len(asked))
            await stage.until("SELECT 1 FROM gateway_gaps HAVING count(*) = count(closed_at) AND sum(incomplete) = 0")
            gone = await stage.until(
                "SELECT * FROM chat_messages WHERE message_id = $1 AND deleted_at IS NOT NULL", said[1].id
            )
        assert [len(stage.discord.replies_to(message)) for message in asked.values()] == [
            int(message in wanted) for message in asked.values()
        ]
        assert stage.discord.replies_to(taken_back) == []
        kept = {row["message_id"]: row for row in await pool.fetch("SELECT * FROM chat_messages")}
        assert {message.id for message in [*said, *asked.values()]} <= kept.keys()
        assert kept[said[0].id]["content"] == "after all"
        assert gone["content"] == "before 1"
        assert all(abs(kept[m.id]["created_at"].timestamp() - m.created_at) < 1 for m in said)
