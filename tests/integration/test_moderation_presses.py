"""Presses of moderation's cards: one action or one clear word, whoever presses, whatever breaks (I4, I5, I14)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.crash import MODERATION_POINTS
from sandbox.discord.audit import Action
from tests.harness.moderating import Court, court
from tests.harness.process import open_processes
from tests.harness.stage import Stage

BANS = ("PUT", "/guilds/*/bans/*")
QUICK: dict[str, Any] = {"turn_lease_s": 2.0, "turn_heartbeat_s": 0.4}


@pytest.fixture
def scene(stage: Stage) -> Court:
    """A guild with moderators."""
    return court(stage)


async def test_a_double_click_bans_once(scene: Court) -> None:
    """Of four presses one counts; the others are told, each alone."""
    async with scene.muninn():
        card = await scene.asks(scene.mia, "ban", member=scene.bob)
        uses = await asyncio.gather(*[scene.mia.press(card, "Ban") for _ in range(4)])
        await scene.ends(card)
        for use in uses:
            await use.answer()
    assert sum(use.ephemeral for use in uses) == 3
    assert len(scene.stage.discord.requests_to(*BANS)) == 1


async def test_two_moderators_at_once_act_once(scene: Court) -> None:
    """Two cards for the same: whoever comes second is told, at once or later, and nothing is done twice."""
    async with scene.muninn():
        one = await scene.asks(scene.mia, "timeout", member=scene.bob)
        two = await scene.asks(scene.sam, "timeout", member=scene.bob)
        three = await scene.asks(scene.max, "timeout", member=scene.bob)
        held = scene.stage.discord.faults.rest("PATCH", "/guilds/*/members/*").hold()
        await scene.mia.press(one, "Timeout")
        await held.hit()
        assert "Somebody else has done the same" in await scene.confirms(scene.sam, two, button="Timeout")
        held.release()
        await scene.ends(one)
        assert "✅" in one.content
        assert "Somebody else has done the same" in await scene.confirms(scene.max, three, button="Timeout")
    assert len(scene.stage.discord.requests_to("PATCH", "/guilds/*/members/*")) == 1


async def test_a_press_by_somebody_else(scene: Court) -> None:
    """Not the owner either: only who asked."""
    async with scene.muninn():
        card = await scene.asks(scene.mia, "ban", member=scene.bob)
        for other in (scene.olive, scene.bob):
            use = await other.press(card, "Ban")
            assert (await use.message()).content.startswith(f"Only <@{scene.mia.id}> can press this")
            assert use.ephemeral
        assert scene.changes() == []


async def test_a_press_after_a_restart_without_redis(scene: Court) -> None:
    """The row is the truth: the card outlives the process, and Redis that went away between card and press."""
    async with scene.muninn():
        card = await scene.asks(scene.mia, "ban", member=scene.bob)
    gone: dict[str, Any] = {"redis_url": "redis://127.0.0.1:9/0"}
    async with scene.muninn(**gone):
        assert "(case 1)" in await scene.confirms(scene.mia, card)
    assert scene.bob.id in scene.stage.guild.bans


async def test_a_press_after_the_ten_minutes(scene: Court) -> None:
    """It says so, and nothing is done."""
    async with scene.muninn(poll_s=60):
        card = await scene.asks(scene.mia, "ban", member=scene.bob)
        await scene.stage.pool.execute("UPDATE action_cards SET expires_at = now() - interval '1 second'")
        await scene.mia.press(card, "Ban")
        await scene.ends(card)
        assert "nobody pressed a button in time" in card.content
        assert scene.changes() == []
    assert await scene.cases() == []


@pytest.mark.parametrize("lost", ["rank", "owner"])
async def test_what_changed_between_card_and_press(scene: Court, lost: str) -> None:
    """I5: the facts of the press count, and not those of the card; the case is kept without a number.

    What permissions are taken away meanwhile, and who has left, is tried for every deed in the table of positions.
    """
    async with scene.muninn():
        card = await scene.asks(scene.mia, "kick", member=scene.bob)
        match lost:
            case "rank":
                scene.bob.give(scene.high)
                said = "does not stand below you"
            case _:
                scene.stage.guild.owner_id = scene.bob.id
                said = "owns this server"
        assert said in await scene.confirms(scene.mia, card)
        assert scene.changes() == []
    [case] = await scene.cases()
    assert (case["state"], case["case_no"]) == ("refused", None)


async def test_facts_that_discord_cannot_give(scene: Court) -> None:
    """Unknown is not yes: neither when it is asked for nor when it is pressed."""
    async with scene.muninn():
        card = await scene.asks(scene.mia, "ban", member=scene.bob)
        down = scene.stage.discord.faults.rest("GET", "/guilds/*", times=None)
        down.status(503)
        assert "cannot say right now" in await scene.confirms(scene.mia, card)
        assert scene.changes() == []


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=[] if point == "after_deed" else [pytest.mark.long])
        for point in MODERATION_POINTS
        if point != "after_timer"
    ],
)
async def test_killed_in_the_middle_of_a_ban(scene: Court, tmp_path: Path, point: str) -> None:
    """I14: whoever comes next goes on: one ban, one case, one number, one entry in the log, one direct message."""
    async with open_processes(scene.stage, tmp_path) as processes:
        first = processes.start(crash_at=point, **QUICK)
        await scene.stage.discord.wait_for_session()
        await scene.stage.until("SELECT 1 FROM application_commands", within=30)
        await scene.logs_to(scene.log)
        card = await scene.asks(scene.mia, "ban", member=scene.bob, reason="coins", duration="7d")
        await scene.mia.press(card, "Ban")
        await first.killed()
        last = processes.start(**QUICK)
        await scene.ends(card, within=30)
        assert "(case 1)" in card.content
        await last.stop()
    [case] = await scene.cases()
    assert (case["state"], case["case_no"]) == ("done", 1)
    assert len(scene.stage.discord.bot_messages(scene.log)) == 1
    assert len(scene.stage.discord.messages_in(scene.bob.dm())) == 1
    assert [e.action for e in scene.stage.discord.world.audit.of(scene.stage.guild)].count(Action.MEMBER_BAN_ADD) == 1


async def test_what_is_for_a_time_ends_on_time_after_a_restart(scene: Court) -> None:
    """A ban for a time is lifted by whoever is there, as a case of its own; so is one that Discord kept us from."""
    async with scene.muninn():
        await scene.does(scene.mia, "ban", member=scene.bob, duration="7d")
        await scene.does(scene.mia, "role add", member=scene.sam, role=scene.colour, duration="1h")
    await scene.stage.pool.execute("UPDATE mod_timers SET due_at = now() - interval '1 second'")
    scene.stage.discord.faults.rest("DELETE", "/guilds/*/bans/*").status(503)
    async with scene.muninn():
        await scene.stage.discord.wait_until(
            lambda: scene.bob.id not in scene.stage.guild.bans and scene.colour not in scene.sam.roles, within=20
        )
        await scene.stage.until("SELECT 1 FROM mod_timers HAVING count(closed_at) = 2")
    told = [(c["deed"], c["state"], c["requester_id"]) for c in await scene.cases()][2:]
    assert {deed for deed, _, _ in told} == {"unban", "role_remove"}
    assert {(state, by) for _, state, by in told} == {("done", scene.stage.discord.bot.id)}


async def test_an_older_end_does_not_cut_a_newer_timeout_short(scene: Court) -> None:
    """Who is timed out anew stays so until the newer time is up; a ban that is lifted by hand has no end any more."""
    kim = scene.stage.guild.add_member("Kim")
    async with scene.muninn():
        await scene.does(scene.mia, "timeout", member=scene.bob, duration="1h")
        await scene.does(scene.mia, "timeout", member=scene.bob, duration="2d")
        await scene.does(scene.mia, "ban", member=kim, duration="1d")
        await scene.does(scene.mia, "unban", member=kim.user)
    outcomes = await scene.stage.pool.fetch("SELECT outcome FROM mod_timers ORDER BY case_id")
    assert [row["outcome"] for row in outcomes] == ["replaced", None, "replaced"]
