"""People walk the page and talk to Muninn: a member, a moderator and an administrator, by mouse and by keyboard."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import expect

from bot.records import DatabaseRecords
from sandbox.discord import Member
from sandbox.discord.permissions import MODERATOR
from sandbox.model import call, say
from sandbox.page import Page, serve_page
from tests.browser.visitor import Visitors
from tests.harness.stage import Stage


@asynccontextmanager
async def page_of(stage: Stage, visitors: Visitors) -> AsyncGenerator[Page]:
    """The stage's guild on a page, with the journal to look into; visitors leave before it is closed."""
    async with serve_page(stage.discord, stage.guild, records=DatabaseRecords(stage.pool)) as page:
        try:
            yield page
        finally:
            await visitors.leave()


def moderator(stage: Stage) -> Member:
    role = stage.guild.create_role("Moderators", permissions=MODERATOR, color=0x2ECC71)
    return stage.guild.add_member("Mo", roles=[role])


async def test_a_member_talks_to_muninn(stage: Stage, visitors: Visitors) -> None:
    """Asking, reading the answer and what is on record for it, editing, reacting, replying, deleting."""
    stage.model.script(call("discord_react", emoji="👍"), say("It moves on **Thursday**."), say("You are welcome."))
    async with stage.muninn(), page_of(stage, visitors) as page:
        await stage.bob.says(stage.general, "The Atlas database moves on Thursday.")
        ada = await visitors.visit(page.url)
        await ada.comes_in("Ada")
        await ada.writes("@mun")
        await expect(ada.page.get_by_role("option", name="Muninn")).to_be_visible()
        await ada.press("Enter")
        await ada.writes("when does atlas move?")
        await ada.press("Enter")
        answer = ada.message("It moves on")
        await expect(answer.locator("strong")).to_have_text("Thursday")
        asked = ada.messages.filter(has_text="when does atlas move?").first
        await expect(asked.get_by_role("button", name="👍, 1 reaction: Muninn")).to_be_visible()

        # What is on record follows the newest message by itself.
        await expect(ada.panel.get_by_text("Turn 1")).to_be_visible()
        await expect(ada.panel.get_by_text("answered").first).to_be_visible()
        for what in ("Answer composed", "discord_react", "send_part", "Tokens in"):
            await expect(ada.panel.get_by_text(what).first).to_be_visible()
        await ada.does(answer, "Why this answer?")
        why = ada.messages.filter(has_text="Only you can see this.")
        await expect(why).to_contain_text("discord_react")
        await why.get_by_role("button", name="#general › message").first.click()  # noqa: RUF001
        await expect(asked).to_be_focused()
        await why.get_by_role("button", name="Dismiss").click()
        await ada.panel.get_by_text("discord_react").click()
        await expect(ada.panel.get_by_text('"emoji": "👍"').first).to_be_visible()

        # The arrow edits the last message; Esc leaves it as it was, Enter saves.
        await ada.box.press("ArrowUp")
        await ada.writes(" and where")
        await ada.press("Escape")
        await expect(ada.box).to_be_focused()
        await ada.box.press("ArrowUp")
        await ada.writes(" Please.")
        await ada.press("Enter")
        await expect(asked).to_contain_text("when does atlas move? Please. (edited)")

        await ada.does(answer, "Reply")
        await ada.writes("thank you")
        await ada.press("Enter")
        await expect(ada.message("You are welcome.")).to_be_visible()
        thanks = ada.messages.filter(has_text="thank you").first
        await expect(thanks).to_contain_text("It moves on Thursday.")

        await ada.message("You are welcome.").click()
        await ada.press("a")
        await ada.writes("heart")
        await ada.press("Enter")
        mine = ada.message("You are welcome.").get_by_role("button", name="❤️, 1 reaction: Ada")
        await expect(mine).to_have_attribute("aria-pressed", "true")
        await mine.click()
        await expect(mine).to_have_count(0)

        await thanks.click()
        await ada.press("Delete")
        await ada.page.get_by_role("dialog", name="Delete this message?").get_by_role("button", name="Delete").click()
        await expect(ada.messages.locator(".words", has_text="thank you")).to_have_count(0)
        await stage.until("SELECT 1 FROM chat_messages WHERE content = 'thank you' AND deleted_at IS NOT NULL")
    assert await stage.settled(2) == ["answered", "answered"]


async def test_a_member_finds_their_way(stage: Stage, visitors: Visitors) -> None:
    """Places, threads, forum, the direct message, jumping, what is new, files, and switching to somebody else."""
    stage.model.default(say("Psst."))
    stage.guild.create_forum("ideas")
    stage.guild.create_channel("help", topic="Questions")
    async with stage.muninn(), page_of(stage, visitors) as page:
        question = await stage.bob.says(stage.general, "Who has the key?")
        ada = await visitors.visit(page.url)
        await ada.comes_in("Ada")
        await ada.message(question.content).click()
        await ada.press("t")
        await ada.page.get_by_role("dialog", name="New thread").get_by_label("Name").fill("the key")
        await ada.press("Enter")
        await expect(ada.page.get_by_role("heading", level=1, name="the key")).to_be_visible()
        await ada.says("I have it")
        await ada.page.get_by_role("button", name="in #general").click()
        await expect(ada.message("Who has the key?").get_by_role("button", name="the key 1 message")).to_be_visible()

        await ada.press("Control+k")
        await ada.writes("ideas")
        await ada.press("Enter")
        await ada.page.get_by_role("button", name="New post").last.click()
        form = ada.page.get_by_role("dialog", name="New post in ideas")
        await form.get_by_label("Title").fill("A raven")
        await form.get_by_label("Words").fill("It should be *black*.")
        await form.get_by_role("button", name="Post").click()
        await expect(ada.message("It should be").locator("em")).to_have_text("black")

        await ada.box.fill("it is in #help")  # which is offered, and stands there whole: Enter sends
        await expect(ada.page.get_by_role("option", name="help")).to_be_visible()
        await ada.press("Enter")
        await expect(ada.message("it is in").get_by_role("button", name="#help")).to_be_visible()

        await ada.goes("Muninn")
        await ada.says("hello?")
        await expect(ada.message("Psst.")).to_be_visible()

        await stage.bob.says(stage.general, "first news")
        await stage.bob.says(stage.general, f"second news, {stage.ada.mention}")
        general = ada.page.get_by_role("button", name="#general, 2 new messages, for you")
        await expect(general).to_be_visible()
        await general.click()
        await expect(ada.page.get_by_role("separator", name="New")).to_be_visible()
        await expect(ada.page.get_by_role("button", name="#general", exact=True)).to_be_visible()

        await ada.page.locator("input[type=file]").set_input_files(
            {"name": "dot.png", "mimeType": "image/png", "buffer": DOT}
        )
        await ada.page.get_by_text("dot.png").wait_for()
        await ada.box.press("Enter")
        await expect(ada.page.get_by_role("img", name="dot.png")).to_be_visible()
        assert await ada.page.get_by_role("img", name="dot.png").evaluate("(image) => image.naturalWidth") == 1

        await ada.becomes("Bob")
        await ada.says("now I am Bob")
        assert [m.author for m in stage.general.shelf.live()][-1] is stage.bob.user


async def test_a_member_confirms_what_muninn_asks_back(stage: Stage, visitors: Visitors) -> None:
    """I5: an action that was not asked for in plain words waits for its requester's press, and is on record then."""
    stage.model.script(call("discord_send_message", content="Tea is ready"), say("Press the button, please."))
    async with stage.muninn(), page_of(stage, visitors) as page:
        ada, bob = await visitors.visit(page.url), await visitors.visit(page.url)
        await ada.comes_in("Ada")
        await bob.comes_in("Bob")
        await ada.says(f"@{stage.discord.bot.display_name} I think it is about time")
        card = ada.messages.filter(has=ada.page.get_by_role("button", name="Do it"))
        await expect(card).to_be_visible()
        await expect(ada.message("Press the button, please.")).to_be_visible()
        await bob.page.get_by_role("button", name="Do it").click()
        await expect(bob.messages.filter(has_text="Only you can see this.")).to_be_visible()
        await expect(ada.messages.filter(has_text="Only you can see this.")).to_have_count(0)
        await card.get_by_role("button", name="Do it").click()
        said = ada.messages.filter(has=ada.page.locator(".words", has_text=re.compile("^Tea is ready$")))
        await expect(said).to_be_visible()
        await expect(card).to_have_count(0)
        await ada.messages.filter(has_text="I think it is about time").first.click()
        await expect(ada.panel.get_by_text("Asked back")).to_be_visible()
        await expect(ada.panel.get_by_text("used", exact=True)).to_be_visible()
    assert len([m for m in stage.discord.bot_messages() if m.content == "Tea is ready"]) == 1


async def test_a_moderator_keeps_order(stage: Stage, visitors: Visitors) -> None:
    """Deletes what others say, pins, sees the staff's channel; and what was deleted stays on record."""
    mo = moderator(stage)
    stage.guild.create_channel("staff", private_to=[mo.roles[0]])
    async with stage.muninn(), page_of(stage, visitors) as page:
        await stage.bob.says(stage.general, "something rude")
        await stage.bob.says(stage.general, "something useful")
        seen = await visitors.visit(page.url)
        await seen.comes_in("Mo Moderator")
        await expect(seen.page.get_by_role("button", name="#staff")).to_be_visible()
        rude = seen.message("something rude")
        await rude.click()
        await expect(seen.panel.get_by_text("It addressed nobody")).to_be_visible()
        await seen.does(seen.message("something useful"), "Pin")
        await expect(seen.messages.filter(has_text="Mo pinned a message.")).to_be_visible()
        await seen.does(rude, "Delete")
        await seen.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(rude).to_have_count(0)
        await expect(seen.panel.get_by_text("The words, kept although the message is deleted")).to_be_visible()
        await expect(seen.panel.get_by_text("something rude").first).to_be_visible()
        await seen.page.get_by_role("button", name="Pinned messages").click()
        await (
            seen.page.get_by_role("group", name="Pinned messages")
            .get_by_role("button", name="something useful")
            .click()
        )
        await expect(seen.message("something useful")).to_be_focused()

        poll = await mo.asks(stage.general, "Tea or coffee?", ["Tea", "Coffee"])
        voting = seen.page.get_by_role("group", name=poll.poll.question if poll.poll else "")
        await voting.get_by_role("button", name="Coffee").click()
        await expect(voting.get_by_role("button", name="Coffee 1 vote")).to_have_attribute("aria-pressed", "true")
        await seen.message("something useful").get_by_role("button", name="Bob", exact=True).click()
        await seen.page.get_by_role("menuitem", name="Time out for ten minutes").click()
        await seen.goes("#staff")
        await seen.says("he is at it again")
        assert stage.bob.timed_out_until is not None

        watching = await visitors.visit(page.url)
        await watching.comes_in("Ada Member")
        await expect(watching.page.get_by_role("button", name="#staff")).to_have_count(0)
        await watching.message("something useful").hover()
        await watching.message("something useful").get_by_role("button", name="More", exact=True).click()
        await expect(watching.page.get_by_role("menuitem", name="Delete")).to_have_count(0)


DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f000386018027c0ae4a0000000049454e44ae426082"
)
pytestmark = pytest.mark.timeout(60)
