"""Members and administrators manage Muninn at the page: memory, help, usage, a fresh conversation, reactions."""

from pathlib import Path

from playwright.async_api import expect

from sandbox.model import say
from tests.browser.test_walk import page_of
from tests.browser.visitor import Visitors
from tests.harness.stage import Stage


async def test_a_member_manages_what_is_remembered(stage: Stage, visitors: Visitors, pictures: Path) -> None:
    """Adding, showing, undoing, asking why, helping oneself; each answer is seen by who asked alone."""
    async with stage.muninn(), page_of(stage, visitors) as page:
        await stage.until("SELECT 1 FROM application_commands")
        ada = await visitors.visit(page.url)
        await ada.comes_in("Ada")
        await ada.uses("memory add", content="I drink my coffee black.", key="preference.coffee")
        added = ada.message("Remembered as")
        await expect(added).to_contain_text("Only you can see this.")
        await ada.keeps_a_picture(pictures / "memory-add.png")

        await ada.uses("memory show")
        await expect(ada.message("I remember 1 thing")).to_contain_text("I drink my coffee black.")
        await ada.keeps_a_picture(pictures / "memory-show.png")

        await ada.uses("memory why", memory="preference.coffee")
        await expect(ada.message("Evidence")).to_contain_text("rests on the word")
        await ada.keeps_a_picture(pictures / "memory-why.png")

        await added.get_by_role("button", name="Undo").click()
        await expect(ada.message("Undone")).to_be_visible()
        await ada.uses("memory search", words="coffee")
        await expect(ada.message("I remember nothing")).to_be_visible()

        for command, said in (("help", "Mention me or reply to me"), ("usage", "today"), ("stop", "not working on")):
            await ada.uses(command)
            await expect(ada.message(said).last).to_be_visible()
            await ada.keeps_a_picture(pictures / f"{command}.png")
        await ada.uses("new")
        await expect(ada.message("A fresh conversation begins here")).to_be_visible()
        assert not await ada.is_wider_than_its_window()
        assert await ada.faint() == []


async def test_a_message_is_remembered_from_its_menu(stage: Stage, visitors: Visitors, pictures: Path) -> None:
    """The menu of a message asks for kind and whose in a form, and what is kept rests on the message."""
    async with stage.muninn(), page_of(stage, visitors) as page:
        await stage.until("SELECT 1 FROM application_commands")
        message = await stage.bob.says(stage.general, "The ferry goes at noon.")
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1", message.id)
        ada = await visitors.visit(page.url)
        await ada.comes_in("Ada")
        await ada.does(ada.message("The ferry goes at noon."), "Remember this")
        form = ada.page.get_by_role("dialog", name="Remember this message")
        await expect(form).to_be_visible()
        await ada.keeps_a_picture(pictures / "remember-this.png")
        await form.get_by_role("button", name="Submit").click()
        await expect(ada.message("Remembered as")).to_be_visible()
    assert await stage.pool.fetchval("SELECT rests_on FROM memory_items") == "messages"


async def test_why_stands_behind_a_question_mark(stage: Stage, visitors: Visitors, pictures: Path) -> None:
    """A reaction brings a button, and who presses it sees the explanation alone."""
    stage.model.script(say("The sky."))
    async with stage.muninn(), page_of(stage, visitors) as page:
        question = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} what is up?")
        answer = await stage.discord.wait_for_message(reply_to=question)
        await stage.until("SELECT 1 FROM chat_messages WHERE message_id = $1 AND turn_id IS NOT NULL", answer.id)
        await stage.bob.reacts(answer, "❓")
        bob = await visitors.visit(page.url)
        await bob.comes_in("Bob")
        await bob.messages.get_by_role("button", name="Why this answer?").click()
        await expect(bob.message("It answers")).to_contain_text("Only you can see this.")
        await bob.keeps_a_picture(pictures / "why.png")
