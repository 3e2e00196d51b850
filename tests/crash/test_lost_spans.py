"""What was on its way when Muninn died is fetched again, whatever came before or after it (I1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.discord import Message
from sandbox.model import say
from sandbox.patience import WITHIN_S
from tests.harness.process import Process, open_processes
from tests.harness.stage import Stage

QUICK: Final[dict[str, Any]] = {"poll_s": 0.2, "turn_lease_s": 2.0, "turn_heartbeat_s": 0.4}


async def _journalled(stage: Stage, message: Message, *, within: float = WITHIN_S) -> None:
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id, within=within)


async def _caught_up(stage: Stage) -> None:
    """Until the gap of the start is closed, so that the next one stands alone."""
    await stage.until("SELECT 1 FROM gateway_gaps WHERE closed_at IS NOT NULL")


async def _kill(process: Process) -> None:
    process.kill()
    await process.killed()


async def test_our_own_answer_hides_nothing_that_was_said_before_it(stage: Stage, tmp_path: Path) -> None:
    """I1: an answer is journalled at once, while what others said just before it may still be on its way."""
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await stage.discord.wait_for_session()
        gate = stage.model.hold()
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await gate.reached()
        # From now on the gateway lags behind REST.
        stage.discord.faults.gateway("MESSAGE_CREATE", times=None).drop()
        late = await stage.bob.says(stage.general, "before the answer")
        gate.release(say("yes"))
        answer = await stage.discord.wait_for_message(containing="yes")
        await _journalled(stage, answer)
        assert late.id < answer.id
        await _kill(first)
        stage.discord.faults.clear()
        await processes.start(**QUICK).says("muninn.ready")
        await _journalled(stage, late)


async def test_a_new_place_is_fetched_though_somebody_speaks_there_at_once(stage: Stage, tmp_path: Path) -> None:
    """I1: the first live message of a place must not pass for all that was ever said there."""
    quiet = stage.guild.create_channel("quiet")
    async with open_processes(stage, tmp_path) as processes:
        await _warm(stage, processes.start(**QUICK))
        missed = await stage.bob.says(quiet, "nobody is listening")
        second = processes.start(**QUICK)
        await second.says("muninn.ready")
        live = await stage.bob.says(quiet, "now somebody is")
        await _journalled(stage, live)
        await _kill(second)
        await processes.start(**QUICK).says("muninn.ready")
        await _journalled(stage, missed)


async def test_a_turn_taken_up_before_the_session_begins_hides_no_new_place(stage: Stage, tmp_path: Path) -> None:
    """I1: a gap begins where Discord's events end, not where our own answers do."""
    quiet = stage.guild.create_channel("quiet")
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await _caught_up(stage)
        gate = stage.model.hold()
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await gate.reached()
        await _kill(first)
        gate.release(say("too late"))
        missed = await stage.bob.says(quiet, "nobody is listening")
        stage.discord.clock.advance(120)
        stage.model.default(say("here I am"))
        ready = stage.discord.faults.gateway("READY").hold()
        # Nothing is dispatched before READY, so no echo either.
        stage.discord.faults.gateway("MESSAGE_CREATE", where=lambda d: _author(d) == stage.discord.bot.id).drop()
        second = processes.start(**QUICK)
        answer = await stage.discord.wait_for_message(reply_to=asked)
        await _journalled(stage, answer)
        ready.release()
        await second.says("muninn.ready")
        await _journalled(stage, missed)


async def test_what_waits_in_a_new_place_is_found_though_later_events_are_committed(
    stage: Stage, tmp_path: Path
) -> None:
    """I1: places may lag behind one another, and the last commit says nothing of what was still on its way."""
    quiet = stage.guild.create_channel("quiet")
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await _caught_up(stage)
        stage.discord.faults.gateway("MESSAGE_CREATE", where=lambda d: d["channel_id"] == str(quiet.id)).drop()
        lost = await stage.bob.says(quiet, "on its way")
        await _journalled(stage, await stage.bob.says(stage.general, "arrived"))
        await _kill(first)
        await processes.start(**QUICK).says("muninn.ready")
        await _journalled(stage, lost)


async def test_a_gap_that_a_crash_left_open_waits_for_the_session(stage: Stage, tmp_path: Path) -> None:
    """I1: which places are new is told by a session alone; until there is one, no gap can be called closed."""
    quiet = stage.guild.create_channel("quiet")
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await _caught_up(stage)
        await _kill(first)
        missed = await stage.bob.says(quiet, "nobody is listening")
        stage.discord.clock.advance(120)
        second = processes.start(**QUICK)
        await second.says("muninn.ready")
        await _journalled(stage, await stage.bob.says(stage.general, "heard"))
        await _kill(second)
        for name in ("READY", "GUILD_CREATE"):
            stage.discord.faults.gateway(name).delay(2.5)
        await processes.start(**QUICK).says("muninn.ready")
        await _journalled(stage, missed)


async def test_a_part_that_was_posted_and_deleted_while_muninn_was_down_is_not_posted_again(
    stage: Stage, tmp_path: Path
) -> None:
    """I4: Discord knows the nonce and not the message any more, so it was applied; the turn is answered."""
    stage.model.default(say("yes"))
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(crash_at="after_post", **QUICK)
        stage.discord.faults.gateway("MESSAGE_CREATE", where=lambda d: _author(d) == stage.discord.bot.id).drop()
        await stage.discord.wait_for_session()
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await first.killed()
        answer = await stage.discord.wait_for_message(reply_to=asked)
        await stage.guild.member("Olive").deletes(answer)
        last = processes.start(**QUICK)
        assert await stage.settled(1) == ["answered"]
        await last.stop()
    assert stage.discord.bot_messages() == []
    receipt = await stage.pool.fetchrow("SELECT state, failure FROM action_receipts")
    assert receipt is not None
    assert tuple(receipt) == ("applied", "deleted_since")


def _author(data: Mapping[str, Any]) -> int:
    return int(data["author"]["id"])


async def _warm(stage: Stage, process: Process) -> None:
    """Let it hear something, so that it knows of the guild, and kill it."""
    await stage.discord.wait_for_session()
    await _journalled(stage, await stage.ada.says(stage.general, "hello"))
    await _kill(process)
