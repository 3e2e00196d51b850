"""Whatever happens to a turn, it ends once, its run ends with it, and no lane waits for it for ever (I3, I14)."""

import asyncio

import pytest

from bot import turns
from bot.turns import Turn
from memory.database import Db
from memory.ids import TurnId
from sandbox.model import say
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")


async def test_a_run_ends_with_its_expired_turn(stage: Stage) -> None:
    """I3: a run that was cut off is not left running when its message has become too old to be answered."""
    gate = stage.model.hold()
    async with stage.muninn(drain_s=1.2):
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} this takes long")
        await stage.model.wait_for_request()
    gate.release(say("never heard"))
    async with stage.muninn(answer_window_s=0.001):
        assert await stage.discord.wait_for_reaction(asked) == "⌛"
        assert await stage.settled(1) == ["expired"]
    run = await stage.pool.fetchrow("SELECT state, end_reason, ended_at FROM agent_runs")
    assert run is not None
    assert (run["state"], run["end_reason"], run["ended_at"] is not None) == ("cancelled", "expired", True)


async def test_nothing_new_is_begun_while_muninn_stops(stage: Stage) -> None:
    """I3: a turn that waits is left to the next process, instead of being begun and cut off."""
    gate = stage.model.hold()

    async def answer_once_it_stops() -> None:
        # It leaves the gateway when it has begun to stop, and not before.
        await stage.discord.wait_until(lambda: not stage.discord.sessions, within=20)
        gate.release(say("done"))

    async with asyncio.TaskGroup() as group:
        async with stage.muninn(drain_s=10.0, workers=2):
            first = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} one")
            await stage.model.wait_for_request()
            await stage.bob.says(stage.general, f"{stage.discord.bot.mention} two")
            await stage.until("SELECT 1 FROM turns HAVING count(*) = 2")
            group.create_task(answer_once_it_stops())
        await stage.discord.wait_for_message(reply_to=first)
    assert await stage.ends() == ["answered", "queued"]
    assert len(stage.model.requests) == 1


async def test_a_worker_stops_before_its_leases_can_end(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """I14: heartbeats fail; what runs is stopped while the lease still holds, so that nobody works beside it."""
    stage.model.hold()
    left: asyncio.Queue[float] = asyncio.Queue()
    release = turns.release

    async def away(*_: object, **__: object) -> dict[TurnId, bool]:
        await asyncio.sleep(60)
        return {}

    async def watched(conn: Db, turn: Turn, *, after_s: float) -> None:
        ends = "SELECT extract(epoch FROM lease_until - now())::float8 FROM turns WHERE turn_id = $1"
        left.put_nowait(await conn.fetchval(ends, turn.turn_id))
        await release(conn, turn, after_s=after_s)

    monkeypatch.setattr("bot.turns.heartbeat", away)
    monkeypatch.setattr("bot.turns.release", watched)
    # Between one and three seconds are left then: so much may a busy machine be late.
    async with stage.muninn(turn_lease_s=6.0, turn_heartbeat_s=2.0):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        async with asyncio.timeout(20):
            assert await left.get() > 0


async def test_an_answer_that_breaks_its_delivery_does_not_hold_its_place_for_ever(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I3: a composed answer that fails each time it is recorded is given up after its time, and the place goes on."""

    async def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("bot.delivery.Delivery._journal", broken)
    monkeypatch.setattr("bot.worker.RETRY_MOST_S", 0.05)
    stage.model.default(say("hello"))
    stage.discord.faults.gateway(
        "MESSAGE_CREATE", times=None, where=lambda d: str(stage.discord.bot.id) in str(d["author"])
    ).drop()
    async with stage.muninn(poll_s=0.1):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.until("SELECT 1 FROM turns WHERE attempts > 1")
        await stage.pool.execute("UPDATE turns SET attempts = 9")
        await stage.pool.execute("UPDATE action_receipts SET intended_at = intended_at - interval '2 hours'")
        assert await stage.settled(1) == ["cancelled"]
    assert len(stage.discord.bot_messages()) == 1


async def test_an_endless_answer_is_cut_and_blocks_nothing(stage: Stage) -> None:
    """I10: a model that does not stop talking costs one message with a file of bounded size, and no more."""
    stage.model.script(say("word " * 400_000))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1, within=20) == ["answered"]
    said = stage.discord.bot_messages()
    assert len(said) == 1
    assert "My whole answer is in the file" in said[0].content
    assert len(said[0].attachments[0].file.content) < 250_000
    stored = await stage.pool.fetchval("SELECT max(length(reply::text)) FROM agent_steps")
    assert stored < 200_000
