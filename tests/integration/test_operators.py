"""Owners of the bot in any server, on record; everybody else confined to their own (I5, I6)."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sandbox.discord import Member, Permission
from sandbox.model import say
from tests.harness.stage import Stage


@pytest.fixture
async def running(stage: Stage) -> AsyncGenerator[Stage]:
    """Muninn, owned by the guild's owner Olive, with actions and memory off everywhere."""
    olive = stage.guild.member("Olive")
    async with stage.muninn(owner_ids=str(olive.id), actions=False):
        await stage.until("SELECT 1 FROM application_commands")
        yield stage


async def _told(stage: Stage, who: Member, command: str, **options: Any) -> str:
    use = await who.slash(stage.general, command, **options)
    told = await use.message()
    assert use.ephemeral
    return told.content


async def test_owners_delete_anything_and_others_their_own(running: Stage) -> None:
    """Also where memory is off; each look and deletion with a row of audit; the words are gone for good."""
    stage = running
    olive = stage.guild.member("Olive")
    here = str(stage.guild.id)
    await _told(stage, stage.bob, "memory add", content="Bob hides the keys.", key="fact.keys")
    await _told(stage, stage.bob, "memory edit", memory="fact.keys", content="Bob hides the spare keys.")
    await stage.pool.execute(
        """INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by)
           VALUES ($1, 0, 'memory', 'false', 1, 1)""",
        stage.guild.id,
    )
    number = await stage.pool.fetchval("SELECT memory_id FROM memory_items")

    # An administrator is no owner of the bot: what they get is their own, whichever server they name.
    admin = stage.guild.add_member(
        "Carl", roles=[stage.guild.create_role("Admin", permissions=Permission.ADMINISTRATOR)]
    )
    told = await _told(stage, admin, "operator memories", server=here)
    assert "confined" in told
    assert "keys" not in told
    assert "no such memory" in await _told(stage, admin, "operator delete", memory=number, server=here)

    assert "spare keys" in await _told(stage, olive, "operator memories", server=here, words=str(stage.bob.id))
    assert "no such memory" in await _told(stage, olive, "operator delete", memory=number, server="12345")
    assert "Deleted for good" in await _told(stage, olive, "operator delete", memory=number, server=here)
    left = await stage.pool.fetchval(
        """SELECT count(*) FROM (SELECT content FROM memory_items UNION ALL SELECT content FROM memory_item_revisions)
           AS c WHERE content LIKE '%keys%'"""
    )
    assert left == 0
    use = await stage.bob.autocomplete(stage.general, "memory restore", "memory", memory="")
    assert list(await use.choices()) == []
    rows = await stage.pool.fetch("SELECT operator_id, action, target_id FROM operator_audit ORDER BY audit_id")
    assert [tuple(row) for row in rows] == [
        (olive.id, "list_memories", None),
        (olive.id, "delete_memory", number),
    ]


async def test_who_is_no_owner_can_take_it_back(running: Stage) -> None:
    """What they have forgotten by this command is their own, and comes back by a button, as elsewhere."""
    stage = running
    await _told(stage, stage.bob, "memory add", content="Bob hides the keys.")
    number = await stage.pool.fetchval("SELECT memory_id FROM memory_items")
    use = await stage.bob.slash(stage.bob.dm(), "memory add", content="In a conversation of two.")
    await use.message()
    theirs = await stage.pool.fetchval("SELECT max(memory_id) FROM memory_items")
    assert theirs != number
    told = await (await stage.bob.slash(stage.bob.dm(), "operator delete", memory=theirs)).message()
    assert "Forgotten" in told.content
    use = await stage.bob.press(told, "Undo")
    assert "as it was before" in (await use.updated()).content
    assert await stage.pool.fetchval("SELECT count(*) FROM live_memories") == 2


async def test_a_dm_is_no_way_around(running: Stage) -> None:
    """In a direct conversation everybody is offered the command, and confined all the same."""
    stage = running
    await _told(stage, stage.bob, "memory add", content="Bob hides the keys.")
    number = await stage.pool.fetchval("SELECT memory_id FROM memory_items")
    room = stage.ada.dm()
    use = await stage.ada.slash(room, "operator memories", server=str(stage.guild.id))
    told = (await use.message()).content
    assert "confined" in told
    assert "keys" not in told
    use = await stage.ada.slash(room, "operator delete", memory=number, server=str(stage.guild.id))
    assert "no such memory" in (await use.message()).content
    for command in ("operator runs", "operator run"):
        more = {"run": 1} if command == "operator run" else {}
        use = await stage.ada.slash(room, command, **more)
        assert "people who run me" in (await use.message()).content
    assert await stage.pool.fetchval("SELECT count(*) FROM live_memories") == 1
    assert await stage.pool.fetchval("SELECT count(*) FROM operator_audit") == 0


async def test_runs_are_looked_into_and_not_changed(running: Stage) -> None:
    """Read-only: what happened, without anybody's words."""
    stage = running
    stage.model.script(say("The sky."))
    question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what is up?")
    await stage.discord.wait_for_message(reply_to=question)
    await stage.settled(1)
    olive = stage.guild.member("Olive")
    run_id = await stage.pool.fetchval("SELECT run_id FROM agent_runs")
    assert f"`{run_id}`" in await _told(stage, olive, "operator runs")
    told = await _told(stage, olive, "operator run", run=run_id)
    assert "Step 1" in told
    assert "The sky" not in told
