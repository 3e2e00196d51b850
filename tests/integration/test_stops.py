"""Stopping from outside always wins, and leaves nothing behind that goes on (I3, I10)."""

import pytest

from bot.stops import is_stopped, stop_turn, switch_stop
from memory.ids import SpaceId, TurnId
from sandbox.model import say
from tests.harness.stage import Stage


async def stop(stage: Stage, turn: int, *, space: int | None = None) -> str | None:
    async with stage.pool.acquire() as conn:
        return await stop_turn(conn, SpaceId(space or stage.guild.id), TurnId(turn))


async def test_a_turn_that_is_stopped_says_nothing_and_ends(stage: Stage) -> None:
    """Its worker learns of it by the heartbeat; the run ends with the turn, and the lane goes on."""
    gate = stage.model.hold()
    stage.model.script(say("Second."))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await gate.reached()
        waits = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} two")
        await stage.until("SELECT 1 FROM turns HAVING count(*) = 2")
        first, second = [row["turn_id"] for row in await stage.turns()]
        assert await stop(stage, first, space=7) is None, "another space has no such turn (I6)"
        assert await stop(stage, first) == "stopping"
        assert (await stage.discord.wait_for_message(reply_to=waits)).content == "Second."
        assert await stage.settled(2) == ["cancelled", "answered"]
        assert await stop(stage, second) is None
    rows = await stage.pool.fetch("SELECT state, end_reason FROM agent_runs ORDER BY run_id")
    assert [tuple(row) for row in rows] == [("cancelled", "stopped"), ("answered", "answered")]
    assert (await stage.turns())[0]["end_reason"] == "stopped"


async def test_a_waiting_turn_is_stopped_at_once(stage: Stage) -> None:
    gate = stage.model.hold()
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await gate.reached()
        await stage.bob.says(stage.general, f"{stage.discord.bot.mention} two")
        await stage.until("SELECT 1 FROM turns HAVING count(*) = 2")
        assert await stop(stage, (await stage.turns())[1]["turn_id"]) == "cancelled"
        gate.release(say("One."))
        assert await stage.settled(2) == ["answered", "cancelled"]
    assert len(stage.model.requests) == 1


@pytest.mark.parametrize("told", ["by a worker", "by the heartbeat"])
async def test_the_answer_of_a_stopped_turn_cannot_be_committed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    """The reply comes after the stop and before anybody told the worker: the stop has won all the same."""
    gate = stage.model.hold()
    async with stage.muninn(**({"turn_heartbeat_s": 60, "turn_lease_s": 200} if told == "by a worker" else {})):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
        await gate.reached()
        assert await stop(stage, (await stage.turns())[0]["turn_id"]) == "stopping"
        gate.release(say("too late"))
        assert await stage.settled(1) == ["cancelled"]
    assert stage.discord.bot_messages() == []


async def test_the_switch(stage: Stage) -> None:
    """Off until somebody switches it on; the last one who switched it counts."""
    async with stage.pool.acquire() as conn:
        assert not await is_stopped(conn)
        await switch_stop(conn, is_on=True, reason="it repeats itself")
        assert await is_stopped(conn)
        await switch_stop(conn, is_on=False)
        assert not await is_stopped(conn)
