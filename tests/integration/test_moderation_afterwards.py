"""What becomes of cases afterwards: found out where nobody saw their end, let go where somebody undid them by hand."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.discord import Member, Permission
from tests.harness.moderating import MODERATES, Court, court
from tests.harness.process import open_processes
from tests.harness.stage import Stage

BANS = ("PUT", "/guilds/*/bans/*")
KICKS = ("DELETE", "/guilds/*/members/*")
ROLES = ("PUT", "/guilds/*/members/*/roles/*")
PATCH = ("PATCH", "/guilds/*/members/*")
DUE_SQL = "UPDATE mod_timers SET due_at = now() - interval '1 second'"


@pytest.fixture
def scene(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Court:
    """A guild with moderators, and a bot that gives up early."""
    monkeypatch.setattr("bot.moderation.execution.WITHIN_S", 0.1)
    return court(stage)


async def _unanswered(scene: Court, request: tuple[str, str], deed: str, *, accepted: bool, **options: Any) -> None:
    """Do it while Discord gives no answer to it, and wait until the card says that it is not certain."""
    fault = scene.stage.discord.faults.rest(*request)
    fault.accept_then_status(503) if accepted else fault.status(503)
    scene.stage.discord.faults.rest(*request, times=None).status(503)
    assert "not certain" in await scene.does(scene.mia, deed, **options)
    scene.stage.discord.faults.clear()


async def _found_out(scene: Court, member: Member) -> tuple[str, str, str]:
    """Wait until a member's case is settled, or known to be unknowable: its state and code, its receipt's state."""
    row = await scene.stage.until(
        """SELECT c.state, c.code, r.state AS receipt, r.failure FROM mod_cases c
           JOIN action_receipts r ON r.trigger_id = c.trigger_id AND r.action = 'mod_' || c.deed
           WHERE c.object_id = $1 AND (c.state IN ('done', 'refused') OR c.code = 'unknowable')""",
        member.id,
    )
    return row["state"], row["code"], row["receipt"]


@pytest.mark.parametrize("logged", [True, False])
async def test_what_discord_did_not_answer_is_found_out(scene: Court, logged: bool) -> None:
    """I4: by the audit log where it may be read, else by what stands there; nothing is done twice, and what cannot be
    known is said to be so."""
    if logged:
        scene.bots.edit(permissions=MODERATES | Permission.VIEW_AUDIT_LOG)
    guild = scene.stage.guild
    kim, lena, joe = (guild.add_member(name) for name in ("Kim", "Lena", "Joe"))
    await scene.logs_to(scene.log)
    async with scene.muninn(reconcile_s=0.2):
        await _unanswered(scene, BANS, "ban", accepted=True, member=kim, duration="7d")
        assert await _found_out(scene, kim) == ("done", "done", "applied")
        assert await scene.stage.pool.fetchval("SELECT count(*) FROM mod_timers WHERE closed_at IS NULL") == 1
        await _unanswered(scene, KICKS, "kick", accepted=True, member=lena)
        gone = ("done", "done", "applied") if logged else ("unknown", "unknowable", "unknown")
        assert await _found_out(scene, lena) == gone
        await _unanswered(scene, ROLES, "role add", accepted=False, member=joe, role=scene.colour)
        assert await _found_out(scene, joe) == ("refused", "not_applied", "refused")
        await _unanswered(scene, PATCH, "timeout", accepted=True, member=scene.bob, duration="2h")
        assert await _found_out(scene, scene.bob) == ("done", "done", "applied")
        said = await scene.says_no(scene.mia, "case", number=2)
        assert ("Outcome: done" if logged else "it cannot be found out any more") in said
        assert "not done (not_applied)" in await scene.says_no(scene.mia, "case", number=3)
        await scene.stage.until("SELECT 1 FROM action_receipts WHERE action = 'mod_log' HAVING count(*) >= 8")
        # Each card says in the end what became of it, and is changed for that once.
        cards = scene.stage.discord.bot_messages(scene.general)
        await scene.stage.discord.wait_until(lambda: not any("not certain" in card.content for card in cards))
        signs = [card.content[0] for card in cards]
        assert signs == ["✅", "✅" if logged else "❔", "⚠", "✅"]
        assert all(card.content.count("I looked again") == (card.content[0] != "❔") for card in cards)
        await scene.stage.until("SELECT FROM action_cards HAVING bool_and(shown = state)")
        assert len(scene.stage.discord.requests_to("PATCH", "/channels/*/messages/*")) == 8
    assert len([e for e in scene.stage.discord.world.audit.of(guild) if e.by is scene.stage.discord.bot]) == 3
    assert any("I looked again" in m.content for m in scene.stage.discord.bot_messages(scene.log))


async def test_what_somebody_undid_by_hand_is_let_go(scene: Court) -> None:
    """Who banned or silenced anew by hand has not asked for it to end: the timer does nothing, and the case says so."""
    kim, lena = scene.stage.guild.add_member("Kim"), scene.stage.guild.add_member("Lena")
    async with scene.muninn():
        await scene.does(scene.mia, "ban", member=kim, duration="7d", reason="coins")
        await scene.does(scene.mia, "timeout", member=scene.bob, duration="1h")
        await scene.does(scene.mia, "ban", member=lena, duration="7d")
        await scene.olive.unbans(kim)
        await scene.olive.bans(kim, reason="for good")
        await scene.olive.lifts_timeout(scene.bob)
        await scene.olive.times_out(scene.bob, 2 * 86_400)
        await scene.olive.unbans(lena)
        assert "Outcome: undone by hand" in await scene.says_no(scene.mia, "case", number=3)
        assert "undone by hand" in await scene.says_no(scene.mia, "undo", number=3)
        before = scene.changes()
        await scene.stage.pool.execute(DUE_SQL)
        await scene.stage.until("SELECT 1 FROM mod_timers HAVING count(*) FILTER (WHERE outcome = 'by_hand') = 3")
        for number in (1, 2):
            assert "Outcome: undone by hand" in await scene.says_no(scene.mia, "case", number=number)
        assert scene.changes() == before
        assert kim.id in scene.stage.guild.bans
        assert scene.bob.timed_out_until is not None

        use = await scene.mia.autocomplete(scene.general, "mod case", "number", number="kim")
        assert [(choice.name, choice.value) for choice in await use.choices()] == [("1 · Ban · Kim: coins", 1)]
        use = await scene.mia.autocomplete(scene.general, "mod undo", "number", number="")
        assert [choice.value for choice in await use.choices()] == [3, 2, 1]


@pytest.mark.long
async def test_killed_while_a_ban_comes_to_its_end(scene: Court, tmp_path: Path) -> None:
    """I14: kill -9 with the timer in hand: whoever comes next lifts the ban, once, as one case."""
    async with open_processes(scene.stage, tmp_path) as processes:
        first = processes.start(crash_at="after_timer", turn_lease_s=2.0, turn_heartbeat_s=0.4)
        await scene.stage.discord.wait_for_session()
        await scene.stage.until("SELECT 1 FROM application_commands", within=30)
        await scene.does(scene.mia, "ban", member=scene.bob, duration="7d")
        await scene.stage.pool.execute(DUE_SQL)
        await first.killed()
        assert scene.bob.id in scene.stage.guild.bans
        # Its lease runs out, as after a minute.
        await scene.stage.pool.execute("UPDATE mod_timers SET lease_until = now() WHERE closed_at IS NULL")
        last = processes.start()
        await scene.stage.until("SELECT 1 FROM mod_timers WHERE closed_at IS NOT NULL", within=30)
        await last.stop()
    assert scene.bob.id not in scene.stage.guild.bans
    assert [(case["deed"], case["state"]) for case in await scene.cases()] == [("ban", "undone"), ("unban", "done")]
    assert len(scene.stage.discord.requests_to("DELETE", "/guilds/*/bans/*")) == 1
