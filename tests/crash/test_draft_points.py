"""Muninn is killed while an answer grows in its place: one message stands in the end, exact, and no draft is left."""

from pathlib import Path
from typing import Any, Final

import pytest

from bot.crash import DRAFT_POINTS
from sandbox.model import say, slow
from tests.crash.test_crash_points import ALONE_SQL, SETTINGS, WINDOW_S
from tests.harness.process import open_processes
from tests.harness.stage import Stage

ANSWER: Final = "It grew. " * 30
PATIENT: Final[dict[str, Any]] = {**SETTINGS, "turn_lease_s": 3.0, "turn_heartbeat_s": 0.5}
STREAMING_SQL: Final = """
INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
VALUES ($1, 0, 'streaming', 'true'::text::jsonb, 1, 1)
"""

# Nothing is left open: no draft, no receipt.
CLOSED_SQL: Final = """
SELECT 1 WHERE NOT EXISTS (SELECT FROM turn_drafts WHERE closed_at IS NULL)
  AND NOT EXISTS (SELECT FROM action_receipts WHERE state IN ('intended', 'unknown'))
"""


def _cases() -> list[Any]:
    """Inside the nonce window and after it; what the second life does is quick, or grows again."""
    return [
        pytest.param(point, late, again, id=f"{point}-{'late' if late else 'soon'}-{'grows' if again else 'quick'}")
        for point in (*DRAFT_POINTS, "after_composed")
        for late, again in ((False, False), (True, True))
    ]


@pytest.mark.parametrize(("point", "late", "again"), _cases())
async def test_killed_while_it_grows(point: str, late: bool, again: bool, stage: Stage, tmp_path: Path) -> None:
    """I3, I4: the answer stands once, whole, without a button; the journal has its words and no others."""
    await stage.pool.execute(STREAMING_SQL, stage.guild.id)
    grows = slow(ANSWER, between=0.03, piece=6)
    stage.model.script(grows)
    stage.model.default(grows if again else say(ANSWER))
    async with open_processes(stage, tmp_path) as processes:
        first = processes.start(**PATIENT, crash_at=point)
        await stage.discord.wait_for_session(within=30)
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} grow")
        await first.killed(within=30)
        await stage.until(ALONE_SQL)
        if late:
            stage.discord.clock.advance(WINDOW_S)
            await stage.pool.execute(
                "UPDATE action_receipts SET intended_at = intended_at - make_interval(secs => $1)", WINDOW_S
            )
        last = processes.start(**PATIENT)
        await last.says("muninn.ready", within=30)
        try:
            assert await stage.settled(1, within=30) == ["answered"]
            await stage.until(CLOSED_SQL, within=15)
        except AssertionError as error:
            error.add_note(f"{stage.discord.transcript()}\n{processes.report()}")
            raise
        await last.stop()
    (answer,) = stage.discord.bot_messages()
    assert (answer.content, answer.reply_to, list(answer.components)) == (ANSWER.strip(), question, [])
    kept = await stage.pool.fetch("SELECT content FROM chat_messages WHERE author_kind = 'self' AND deleted_at IS NULL")
    assert [row["content"] for row in kept] == [ANSWER.strip()]
