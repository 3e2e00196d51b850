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


async def test_what_is_cleared_away_is_taken_back(running: Stage) -> None:
    """As by taking one's reaction back: all of a message's cleared, all with one emoji, or the message deleted. A role
    stays: nobody took it back."""
    stage = running
    olive = stage.guild.member("Olive")
    role = stage.guild.create_role("Readers")
    stage.guild.me.give(stage.guild.create_role("Raven", permissions=Permission.MANAGE_ROLES))
    await _told(stage, olive, "shortcut-add", emoji="🧠", does="remember")
    texts = ["The ferry goes at noon.", "The mill stands still.", "The bridge is closed."]
    [first, second, third] = [await stage.bob.says(stage.general, text) for text in texts]
    await _told(stage, olive, "role-add", message=str(first.id), emoji="📚", role=role)
    for message in (first, second, third):
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
        await stage.ada.reacts(message, "🧠")
    await stage.bob.reacts(first, "📚")
    await stage.until("SELECT 1 FROM live_memories HAVING count(*) = 3")
    await stage.discord.wait_until(lambda: role in stage.guild.members[stage.bob.id].roles)
    await olive.clears_reactions(first)
    await olive.clears_reactions(second, "🧠")
    await stage.until("SELECT 1 FROM memory_items WHERE state = 'forgotten' HAVING count(*) = 2")
    await stage.bob.deletes(third)
    await stage.until("SELECT 1 WHERE NOT EXISTS (SELECT FROM live_memories)")
    await _through(stage, 6)
    assert role in stage.guild.members[stage.bob.id].roles


async def test_reactions_that_discord_did_not_answer_are_found_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I4: given up, a role, a pin and a removal are settled from what stands there; not while they are still tried."""
    monkeypatch.setattr("bot.reactions.worker.MOST_ATTEMPTS", 1)
    monkeypatch.setattr("bot.reactions.shortcuts.WITHIN_S", 0.1)
    monkeypatch.setattr("bot.reactions.answers.WITHIN_S", 0.1)
    olive = stage.guild.member("Olive")
    role = stage.guild.create_role("Readers")
    mine = stage.guild.create_role("Raven", permissions=Permission.MANAGE_ROLES | Permission.PIN_MESSAGES)
    stage.guild.me.give(mine)
    requests = {
        "reaction_role": ("PUT", "/guilds/*/members/*/roles/*"),
        "reaction_pin": ("PUT", "/channels/*/messages/pins/*"),
        "remove_answer": ("DELETE", "/channels/*/messages/*"),
    }
    faults = stage.discord.faults
    for action, request in requests.items():
        fault = faults.rest(*request)
        fault.status(503) if action == "reaction_pin" else fault.accept_then_status(503)
        faults.rest(*request, times=None).status(503)
    async with stage.muninn(reconcile_s=0.2):
        await stage.until("SELECT 1 FROM application_commands")
        answer = await _answer(stage)
        message = await olive.says(stage.general, "React to read along.")
        await _told(stage, olive, "role-add", message=str(message.id), emoji="📚", role=role)
        await _told(stage, olive, "shortcut-add", emoji="📌", does="pin")
        await stage.bob.reacts(message, "📚")
        await olive.reacts(message, "📌")
        await stage.ada.reacts(answer, "🗑️")
        await stage.until(
            "SELECT 1 FROM action_receipts WHERE action = ANY($1) AND state IN ('applied', 'refused') "
            "HAVING count(*) = 3",
            list(requests),
        )
    rows = await stage.pool.fetch(
        "SELECT action, state, failure FROM action_receipts WHERE action = ANY($1)", list(requests)
    )
    assert {tuple(row) for row in rows} == {
        ("reaction_role", "applied", None),
        ("reaction_pin", "refused", "not_applied"),
        ("remove_answer", "applied", None),
    }


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
