"""Moderation from end to end: a command, a card, a press, a case, a log, an undo (I4, I5)."""

import pytest

from tests.harness.moderating import Court, court
from tests.harness.stage import Stage


@pytest.fixture
def scene(stage: Stage) -> Court:
    """A guild with moderators."""
    return court(stage)


async def test_a_timeout_from_the_command_to_its_undoing(scene: Court) -> None:
    """The card says all before anything happens; then it is done, told, numbered, logged, and can be undone."""
    async with scene.muninn():
        await scene.logs_to(scene.log)
        card = await scene.asks(scene.mia, "timeout", member=scene.bob, duration="2h", reason="spam @everyone")
        for words in ("time out", scene.bob.mention, "2 hours", "spam", "below yours", "`Mods`", "/mod undo"):
            assert words in card.content
        assert scene.changes() == []
        said = await scene.confirms(scene.mia, card)
        assert "(case 1)" in said
        assert "They were told" in said
        assert scene.bob.timed_out_until is not None
        [entry] = scene.stage.discord.world.audit.of(scene.stage.guild)
        assert entry.reason == f"Mia ({scene.mia.id}), case 1: spam @everyone"
        [notice] = scene.stage.discord.messages_in(scene.bob.dm())
        assert "timed out in **Workshop**" in notice.content
        [logged] = scene.stage.discord.bot_messages(scene.log)
        assert "Case 1 · Timeout" in logged.content

        assert "Case 1 · Timeout" in await scene.says_no(scene.max, "case", number=1)
        assert "`1` **Timeout**" in await scene.says_no(scene.max, "history", member=scene.bob)
        assert "coins" in await scene.says_no(scene.max, "reason", number=1, reason="coins")
        card = await scene.asks(scene.max, "undo", number=1)
        assert "(case 2)" in await scene.confirms(scene.max, card)
        assert scene.bob.timed_out_until is None
        assert "undone (case 2)" in await scene.says_no(scene.mia, "case", number=1)
    assert [(c["case_no"], c["deed"], c["state"]) for c in await scene.cases()] == [
        (1, "timeout", "undone"),
        (2, "untimeout", "done"),
    ]
    assert not scene.stage.discord.pings
