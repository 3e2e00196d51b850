"""What Discord sent while nobody listened, sent twice, or sent in a strange order (I1, I2, I3)."""

import pytest

from sandbox.discord import Message
from sandbox.model import say
from tests.harness.stage import Stage


@pytest.fixture(autouse=True)
def _answers(stage: Stage) -> None:
    stage.model.default(say("yes"))


async def _journalled(stage: Stage) -> set[int]:
    return {row["message_id"] for row in await stage.pool.fetch("SELECT message_id FROM chat_messages")}


async def test_what_was_said_while_muninn_was_down_is_journalled_and_answered(stage: Stage) -> None:
    """I1, I3: known places, a new channel, a thread and a known DM, from their cursors."""
    mention = stage.discord.bot.mention
    async with stage.muninn():
        for place in (stage.general, stage.ada.dm()):
            first = await stage.ada.says(place, f"{mention} hello")
            await stage.discord.wait_for_message(reply_to=first)
        await stage.settled(2)
    plain = await stage.bob.says(stage.general, "nobody is listening")
    asked = await stage.ada.says(stage.general, f"{mention} are you there?")
    private = await stage.ada.says(stage.ada.dm(), "psst")
    new = stage.guild.create_channel("new")
    in_new = await stage.bob.says(new, f"{mention} and here?")
    thread = await stage.bob.starts_thread(stage.general, "a thread", text=f"{mention} in a thread?")
    async with stage.muninn():
        for message in (asked, private, in_new):
            await stage.discord.wait_for_message(reply_to=message)
        await stage.discord.wait_for_message(in_=thread)
        assert await stage.settled(6) == ["answered"] * 6
        await stage.until("SELECT 1 FROM gateway_gaps HAVING count(*) = 2 AND count(*) = count(closed_at)")
    assert plain.id in await _journalled(stage)
    assert await stage.pool.fetchval("SELECT count(*) FROM place_cursors WHERE backfill_after IS NOT NULL") == 0


@pytest.mark.parametrize("resumable", [True, False], ids=["resume", "identify"])
async def test_a_broken_connection_loses_nothing(stage: Stage, resumable: bool) -> None:
    """I1: by RESUME with its replay, or by a new session and a backfill."""
    async with stage.muninn():
        first = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await stage.discord.wait_for_message(reply_to=first)
        async with stage.discord.gateway_offline(resumable=resumable):
            plain = await stage.bob.says(stage.general, "talking to myself")
            asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two")
        await stage.discord.wait_for_message(reply_to=asked, within=30)
        assert await stage.settled(2) == ["answered"] * 2
    assert {plain.id, asked.id} <= await _journalled(stage)
    assert len(stage.discord.bot_messages()) == 2


@pytest.mark.parametrize("new_seq", [True, False], ids=["new-seq", "same-seq"])
async def test_a_duplicated_event_is_answered_once(stage: Stage, new_seq: bool) -> None:
    """I2: the same MESSAGE_CREATE, delivered four times."""
    stage.discord.faults.gateway("MESSAGE_CREATE").duplicate(3, new_seq=new_seq)
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
        again = await stage.bob.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=again)
        assert await stage.settled(2) == ["answered"] * 2
    assert len(stage.discord.bot_messages()) == 2
    assert len(stage.model.requests) == 2


async def test_reordered_create_edit_and_delete_end_in_the_right_state(stage: Stage) -> None:
    """I2: a create that arrives after its edit and its delete changes nothing, and is not answered."""
    async with stage.muninn():
        stage.discord.faults.gateway("MESSAGE_CREATE").reorder(behind=2)
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} helo")
        await stage.ada.edits(asked, f"{stage.discord.bot.mention} hello")
        await stage.ada.deletes(asked)
        assert await stage.settled(1) == ["cancelled"]
    row = await stage.pool.fetchrow("SELECT * FROM chat_messages WHERE message_id = $1", asked.id)
    assert row is not None
    assert row["deleted_at"] is not None
    assert row["content"].endswith("hello")
    assert stage.discord.bot_messages() == []


async def test_a_dropped_event_is_found_after_the_next_identify(stage: Stage) -> None:
    """I1: what Discord never delivered comes with the backfill."""
    async with stage.muninn():
        first = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await stage.discord.wait_for_message(reply_to=first)
        stage.discord.faults.gateway("MESSAGE_CREATE").drop()
        lost = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two")
        await stage.discord.disconnect_bots(resumable=False)
        await stage.discord.wait_for_message(reply_to=lost, within=30)


async def test_malformed_dispatches_are_survived(stage: Stage) -> None:
    """A payload that makes the library's handler raise does not end the bot; it is parked."""
    async with stage.muninn():
        stage.discord.faults.gateway("MESSAGE_CREATE").malform({"id": "nonsense"})
        await stage.bob.says(stage.general, "garbled")
        stage.discord.faults.gateway("MESSAGE_CREATE").malform(None)
        await stage.bob.says(stage.general, "gone")
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} still there?")
        await stage.discord.wait_for_message(reply_to=asked)
        assert stage.discord.identifies == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM parked_events") == 2


async def test_many_reconnects_answer_everything_once(stage: Stage) -> None:
    """I1, I3: op 7, aborts and resumable closes while people talk."""
    asked: list[Message] = []
    async with stage.muninn(member_turns=1000):
        for n in range(9):
            asked.append(await stage.ada.says(stage.general, f"{stage.discord.bot.mention} number {n}"))
            match n % 3:
                case 0:
                    await stage.discord.request_reconnect()
                case 1:
                    await stage.discord.disconnect_bots(abort=True)
                case _:
                    await stage.discord.disconnect_bots(4000)
            await stage.discord.wait_for_session(within=15)
        for message in asked:
            await stage.discord.wait_for_message(reply_to=message, within=20)
        assert await stage.settled(9) == ["answered"] * 9
    assert len(stage.discord.bot_messages()) == 9
