"""Reactions that do something: marks on answers, roles, shortcuts; over raw events, so that old messages work too."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from sandbox.discord import Member, Message, Permission
from sandbox.model import say
from tests.harness.stage import Stage


@pytest.fixture
async def running(stage: Stage) -> AsyncGenerator[Stage]:
    """Muninn, with its commands known to Discord."""
    async with stage.muninn():
        await stage.until("SELECT 1 FROM application_commands")
        yield stage


async def _answer(stage: Stage) -> Message:
    stage.model.script(say("The door is green."))
    question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} which colour is the door?")
    answer = await stage.discord.wait_for_message(reply_to=question)
    await stage.settled(1)
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1 AND turn_id IS NOT NULL", answer.id)
    return answer


async def _through(stage: Stage, reactions: int) -> None:
    """Wait until so many reactions were journalled, and nothing is left to do."""
    await stage.until(
        """SELECT 1 WHERE (SELECT count(*) FROM discord_events WHERE kind LIKE 'MESSAGE_REACTION%') >= $1
           AND NOT EXISTS (SELECT FROM reaction_tasks)""",
        reactions,
    )


async def _told(stage: Stage, who: Member, command: str, **options: Any) -> str:
    use = await who.slash(stage.general, f"reactions {command}", **options)
    told = await use.message()
    assert use.ephemeral
    return told.content


async def test_a_wastebasket_from_the_asker_removes_the_answer(running: Stage) -> None:
    """I4: only the asker's counts, and its receipt says so."""
    stage = running
    answer = await _answer(stage)
    await stage.bob.reacts(answer, "🗑️")
    await _through(stage, 1)
    assert not answer.deleted
    await stage.ada.reacts(answer, "🗑️")
    await stage.discord.wait_until(lambda: answer.deleted)
    row = await stage.until("SELECT state, requester_id FROM action_receipts WHERE action = 'remove_answer'")
    assert row["requester_id"] == stage.ada.id


async def test_a_question_mark_brings_a_button_that_explains_to_who_presses(running: Stage) -> None:
    """A reaction has no answer that one person sees, so a button stands between; once for each answer."""
    stage = running
    answer = await _answer(stage)
    await stage.bob.reacts(answer, "❓")
    offered = await stage.discord.wait_for_message(reply_to=answer)
    use = await stage.bob.press(offered, "Why this answer?")
    assert "**Why this answer?** It answers" in (await use.message()).content
    assert use.ephemeral
    await stage.ada.reacts(answer, "❓")
    await _through(stage, 2)
    assert len([m for m in stage.discord.messages_in(stage.general) if m.components]) == 1
    assert not stage.discord.pings


async def test_a_cross_from_the_asker_is_a_correction_to_learn_from(running: Stage) -> None:
    """The exchange is not recalled any more, and what is right is kept as the asker's own; nobody else corrects it."""
    stage = running
    answer = await _answer(stage)
    await stage.until("SELECT 1 FROM memory_episodes")
    await stage.bob.reacts(answer, "❌")
    await _through(stage, 1)
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_episodes") == 1
    await stage.ada.reacts(answer, "❌")
    offered = await stage.discord.wait_for_message(reply_to=answer)
    assert await stage.pool.fetchval("SELECT count(*) FROM memory_episodes") == 0
    use = await stage.bob.press(offered, "Say what is right")
    assert "Only who asked" in (await use.message()).content
    use = await stage.ada.press(offered, "Say what is right")
    use = await stage.ada.submit(await use.modal(), {"What is right?": "The door is blue."})
    assert "Remembered as" in (await use.message()).content
    row = await stage.pool.fetchrow("SELECT content, kind, owner_id FROM live_memories")
    assert row is not None
    assert tuple(row) == ("The door is blue.", "correction", stage.ada.id)


async def test_a_role_comes_and_goes_with_the_reaction(running: Stage) -> None:
    """Defined by who could give the role by hand, and taken back with the reaction; a definition ends, too."""
    stage = running
    olive = stage.guild.member("Olive")
    role = stage.guild.create_role("Readers")
    stage.guild.create_role("Raven", permissions=Permission.MANAGE_ROLES)
    mine = next(each for each in stage.guild.roles.values() if each.name == "Raven")
    stage.guild.me.give(mine)
    message = await olive.says(stage.general, "React to read along.")
    assert "administrators" in await _as_other(stage, message, role)
    told = await _told(stage, olive, "role-add", message=str(message.id), emoji="📚", role=role)
    assert "from now on" in told
    await stage.bob.reacts(message, "📚")
    await stage.discord.wait_until(lambda: role in stage.guild.members[stage.bob.id].roles)
    await stage.bob.unreacts(message, "📚")
    await stage.discord.wait_until(lambda: role not in stage.guild.members[stage.bob.id].roles)
    assert "📚" in await _told(stage, olive, "show")
    await _told(stage, olive, "role-remove", message=str(message.id), emoji="📚")
    await stage.ada.reacts(message, "📚")
    await _through(stage, 3)
    assert role not in stage.guild.members[stage.ada.id].roles


async def _as_other(stage: Stage, message: Message, role: Any) -> str:
    """Somebody who is offered the commands, and governs nothing."""
    keeper = stage.guild.create_role("Keeper", permissions=Permission.MANAGE_GUILD)
    carl = stage.guild.add_member("Carl", roles=[keeper])
    return await _told(stage, carl, "role-add", message=str(message.id), emoji="📚", role=role)


async def test_a_shortcut_remembers_for_who_reacts(running: Stage) -> None:
    """The message's words as its author's, resting on the message, until the reaction is taken back; an emoji that is
    none is refused; what is defined has its receipt (I4)."""
    stage = running
    olive = stage.guild.member("Olive")
    assert "no emoji" in await _told(stage, olive, "shortcut-add", emoji="brain", does="remember")
    await _told(stage, olive, "shortcut-add", emoji="🧠", does="remember")
    message = await stage.bob.says(stage.general, "The ferry goes at noon.")
    await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
    await stage.ada.reacts(message, "🧠")
    row = await stage.until("SELECT content, owner_id, author_id, rests_on FROM memory_items")
    assert tuple(row) == ("The ferry goes at noon.", stage.ada.id, stage.bob.id, "messages")
    await stage.ada.unreacts(message, "🧠")
    await stage.until("SELECT 1 FROM memory_items WHERE state = 'forgotten'")
    row = await stage.until("SELECT requester_id, state FROM action_receipts WHERE action = 'reaction_shortcut_add'")
    assert tuple(row) == (olive.id, "applied")
    await stage.until("SELECT 1 WHERE NOT EXISTS (SELECT FROM action_receipts WHERE state <> 'applied')")


async def test_reactions_to_messages_from_before_the_start(stage: Stage) -> None:
    """Raw events: an answer of an earlier process is removed, and a message that nobody here has seen gives a role."""
    olive = stage.guild.member("Olive")
    role = stage.guild.create_role("Readers")
    stage.guild.me.give(stage.guild.create_role("Raven", permissions=Permission.MANAGE_ROLES))
    old = await olive.says(stage.general, "React to read along.")
    async with stage.muninn():
        answer = await _answer(stage)
        await stage.until("SELECT 1 FROM application_commands")
        assert "from now on" in await _told(stage, olive, "role-add", message=str(old.id), emoji="📚", role=role)
    async with stage.muninn():
        await stage.bob.reacts(old, "📚")
        await stage.ada.reacts(answer, "🗑️")
        await stage.discord.wait_until(lambda: answer.deleted)
        await stage.discord.wait_until(lambda: role in stage.guild.members[stage.bob.id].roles)
        assert await stage.pool.fetchval("SELECT 1 FROM chat_messages WHERE message_id = $1", old.id) is None
