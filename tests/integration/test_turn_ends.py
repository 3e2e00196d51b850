"""Whatever happens to a turn, it ends once, its run ends with it, and no lane waits for it for ever (I3, I14)."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot import turns
from bot.turns import Beat, Turn
from memory.database import Db
from memory.episodes import keep_episode
from memory.ids import TurnId
from sandbox.model import say
from tests.harness.locks import until_blocked
from tests.harness.stage import Stage

POST = ("POST", "/channels/*/messages")


async def _turn(conn: Db) -> Turn:
    """The only turn, as its worker holds it."""
    row = await conn.fetchrow(
        """SELECT turn_id, space_id, place_id, author_id, trigger_id, state, outcome, notice, lease_no, attempts,
                  false AS overdue, false AS unwanted, reason, route FROM turns"""
    )
    assert row is not None
    return Turn(**dict(row))


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
    """I14: heartbeats fail; what runs is stopped while the lease still holds, so that nobody works beside it. It is no
    attempt of the turn's, after so many of which it would be given up."""
    stage.model.hold()
    left: asyncio.Queue[tuple[float, int]] = asyncio.Queue()
    release = turns.release

    async def away(*_: object, **__: object) -> dict[TurnId, bool]:
        await asyncio.sleep(60)
        return {}

    async def watched(conn: Db, turn: Turn, *, after_s: float, counts: bool) -> None:
        ends = "SELECT extract(epoch FROM lease_until - now())::float8 FROM turns WHERE turn_id = $1"
        left_s = await conn.fetchval(ends, turn.turn_id)
        await release(conn, turn, after_s=after_s, counts=counts)
        left.put_nowait((left_s, await conn.fetchval("SELECT attempts FROM turns WHERE turn_id = $1", turn.turn_id)))

    monkeypatch.setattr("bot.turns.heartbeat", away)
    monkeypatch.setattr("bot.turns.release", watched)
    # Between one and three seconds are left then: so much may a busy machine be late.
    async with stage.muninn(turn_lease_s=6.0, turn_heartbeat_s=2.0):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        async with asyncio.timeout(20):
            left_s, attempts = await left.get()
    assert left_s > 0
    assert attempts == 0


async def test_a_heartbeat_does_not_cut_off_a_turn_that_ends_under_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I14: the beat waits for the row that the turn's own end holds, and finds it ended: that is not a lease lost."""
    beats: list[asyncio.Task[Mapping[TurnId, Beat]]] = []

    async def beaten(turn: Turn) -> Mapping[TurnId, Beat]:
        async with stage.pool.acquire() as conn:
            return await turns.heartbeat(conn, [turn], lease_s=60)

    async def kept(conn: Db, turn_id: TurnId) -> None:
        beats.append(asyncio.create_task(beaten(await _turn(conn))))
        await until_blocked(stage.pool, beats[-1], within_s=20)
        await keep_episode(conn, turn_id)

    monkeypatch.setattr("bot.delivery.keep_episode", kept)
    stage.model.script(say("hello"))
    async with stage.muninn(turn_lease_s=200, turn_heartbeat_s=60):
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["answered"]
    turn_id = await stage.pool.fetchval("SELECT turn_id FROM turns")
    assert [await beat for beat in beats] == [{turn_id: "keep"}]


async def test_a_heartbeat_says_nothing_of_a_turn_that_another_has_ended(stage: Stage) -> None:
    """I14: only the lease's own holder ended it; to anybody else the turn is lost."""
    stage.model.script(say("hello"))
    async with stage.muninn():
        await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        assert await stage.settled(1) == ["answered"]
    async with stage.pool.acquire() as conn:
        turn = await _turn(conn)
        assert await turns.heartbeat(conn, [turn], lease_s=60) == {turn.turn_id: "keep"}
        assert await turns.heartbeat(conn, [replace(turn, lease_no=turn.lease_no - 1)], lease_s=60) == {}


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
