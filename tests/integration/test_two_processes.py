"""Two Muninns on one token: one serves, one stands by; where both are connected, still one answer each (I17)."""

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from bot.shard_lock import ShardLock
from sandbox.discord import Message
from sandbox.model import ChatRequest, Completion, call, say
from sandbox.model.practice import heard
from tests.harness.process import open_processes
from tests.harness.stage import Stage

TAKES_OVER_S = 12.0
"""Seconds, on a machine that is busy with other tests; a second by itself."""
QUICK: Final[dict[str, Any]] = {"poll_s": 0.2, "turn_lease_s": 2.0, "turn_heartbeat_s": 0.4}

# End the connection that holds the shard's lock, as a failing network would.
BREAK_LOCK_SQL: Final = """
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

# Whether what is journalled of a message is what it says now.
STATE_SQL: Final = """
SELECT 1 FROM chat_messages WHERE message_id = $1 AND content = $2 AND (deleted_at IS NOT NULL) = $3
"""

# Messages whose create stands in the ledger more than once.
TWICE_SQL: Final = """
SELECT message_id FROM discord_events WHERE kind = 'MESSAGE_CREATE' GROUP BY message_id HAVING count(*) > 1
"""


def _echo(request: ChatRequest) -> Completion:
    """The asker's own words: in parts where they ask for much, after a reaction where they ask for one."""
    words = heard(request).words
    if "react" in words and not request.tool_results:
        return call("discord_react", emoji="👍")
    return say("\n".join(f"{words} {n} {'.' * 150}" for n in range(20)) if "much" in words else words)


async def _answered_once(stage: Stage, questions: list[Message]) -> None:
    """Each question has one turn, answered, and its parts stand in Discord once and in order."""
    assert await stage.settled(len(questions), within=15) == ["answered"] * len(questions)
    parts = await stage.pool.fetch(
        """SELECT p.content, r.external_id, r.state, r.trigger_id FROM turn_parts p JOIN action_receipts r USING (nonce)
           ORDER BY r.external_id"""
    )
    assert {row["trigger_id"] for row in parts} == {question.id for question in questions}
    assert [(row["external_id"], row["content"], row["state"]) for row in parts] == [
        (message.id, message.content, "applied") for message in stage.discord.bot_messages()
    ]
    for question in questions:
        assert len(stage.discord.replies_to(question)) == 1
    assert await stage.pool.fetch(TWICE_SQL) == []
    assert await stage.pool.fetchval("SELECT count(*) FROM parked_events") == 0
    assert await stage.pool.fetchval("SELECT count(*) FROM action_receipts WHERE state <> 'applied'") == 0


async def test_the_second_process_stands_by_and_takes_over(stage: Stage, tmp_path: Path) -> None:
    """I17, I3: it says that it waits, is not connected meanwhile, and serves within seconds after kill -9 of the first;
    what the first had begun, and what was said in between, is answered once."""
    stage.model.default(_echo)
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await first.says("muninn.ready")
        second = processes.start(**QUICK)
        await second.says("shard.standing_by")
        asked = [await stage.ada.says(stage.general, f"{stage.discord.bot.mention} first")]
        await stage.discord.wait_for_message(reply_to=asked[0])
        assert stage.discord.identifies == 1
        gate = stage.model.hold()
        asked.append(await stage.ada.says(stage.general, f"{stage.discord.bot.mention} begun"))
        await gate.reached()
        first.kill()
        await first.killed()
        asked.append(await stage.bob.says(stage.general, f"{stage.discord.bot.mention} in between"))
        taken_over = asyncio.get_running_loop().time()
        await stage.discord.wait_for_session()
        await second.says("muninn.ready")
        assert asyncio.get_running_loop().time() - taken_over < TAKES_OVER_S
        gate.release(say("to nobody"))
        await _answered_once(stage, asked)
        assert stage.discord.identifies == 2
        await second.stop()


async def test_a_clean_stop_hands_over_at_once(stage: Stage, tmp_path: Path) -> None:
    """I17: SIGTERM frees the shard, and the one that stood by serves."""
    stage.model.default(_echo)
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await first.says("muninn.ready")
        second = processes.start(**QUICK)
        await second.says("shard.standing_by")
        await first.stop()
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await second.says("muninn.ready")
        await _answered_once(stage, [asked])


async def test_whoever_loses_the_lock_steps_down_and_nothing_is_said_twice(stage: Stage, tmp_path: Path) -> None:
    """I17: the lock's connection breaks and the second process takes it; for some seconds both are connected, and the
    unique keys are the wall; then the first one notices, lets go of the gateway and stands by."""
    stage.model.default(_echo)
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**QUICK)
        await first.says("muninn.ready")
        second = processes.start(**QUICK)
        await second.says("shard.standing_by")
        await stage.pool.execute(BREAK_LOCK_SQL)
        await second.says("muninn.ready")
        asked = [
            await stage.ada.says(place, f"{stage.discord.bot.mention} {n} {wish}")
            for n in range(4)
            for place, wish in ((stage.general, "much"), (stage.ada, "react"))
        ]
        await first.says("shard.lost")
        await first.says("shard.standing_by")
        asked.append(await stage.bob.says(stage.general, f"{stage.discord.bot.mention} and now?"))
        await _answered_once(stage, asked)
        await stage.discord.wait_until(lambda: len(stage.discord.sessions) == 1, what="one session")
        await first.stop()
        await second.stop()
        broken = {"turn.broken", "task.broken", "ingress.parked"}
        assert [line for process in processes.all for line in process.events() if line.get("event") in broken] == []


@pytest.fixture
def _without_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the shard, and nobody loses it: the first wall is down."""

    async def take(self: ShardLock) -> None:
        """Taken, whoever else has it."""

    async def keep(self: ShardLock) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(ShardLock, "take", take)
    monkeypatch.setattr(ShardLock, "keep", keep)


@pytest.mark.usefixtures("_without_lock")
async def test_two_that_are_both_connected_answer_once_and_agree_on_every_message(stage: Stage) -> None:
    """I2, I3, I17: each hears everything, and each event, turn and answer is there once, with the last words."""
    stage.model.default(_echo)
    mention = stage.discord.bot.mention
    async with stage.muninn(), stage.muninn():
        await stage.discord.wait_for_session(2)
        quiet = stage.guild.create_channel("quiet")
        asked: list[Message] = []
        plain: list[Message] = []
        for n in range(5):
            asked.append(await stage.ada.says(stage.general, f"{mention} {n} much"))
            plain.append(await stage.bob.says(quiet, f"by the way {n}"))
            asked.append(await stage.bob.says(quiet, f"{mention} {n} react"))
            asked.append(await stage.ada.says(stage.ada, f"{n} in private"))
            await stage.bob.edits(plain[-1], f"by the way {n}, rather")
            await stage.ada.reacts(plain[-1], "👀")
        for message in plain[::2]:
            await stage.bob.deletes(message)
        await _answered_once(stage, asked)
        for message in plain:
            await stage.until(STATE_SQL, message.id, message.content, message.deleted)
        reacted = await stage.pool.fetchval("SELECT count(*) FROM discord_events WHERE kind = 'MESSAGE_REACTION_ADD'")
        # Ada's five, and the bot's own five.
        assert reacted == 10
