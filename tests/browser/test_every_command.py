"""Every command and menu that Muninn offers, used at the page by an administrator, with a picture of each answer.

It takes half a minute; .ci/run walks it beside `make test`.
"""

from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import expect

from bot.catalogue import COMMANDS
from sandbox.discord import Message
from sandbox.model import say
from tests.browser.test_walk import page_of
from tests.browser.visitor import Visitors
from tests.browser.walker import CARD, Walker
from tests.harness.moderating import Court, court
from tests.harness.stage import Stage

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
OWNER: Final = "Olive"


async def test_every_command_is_used_and_looks_right(stage: Stage, visitors: Visitors, pictures: Path) -> None:
    """None is left out; nothing is wider than the window, and all words can be read."""
    scene = court(stage)
    stage.model.default(say("The ferry goes at **noon**."))
    async with scene.muninn(owner_ids=str(scene.olive.id)), page_of(stage, visitors) as page:
        said = await stage.bob.says(stage.general, "The ferry goes at noon.")
        seen = await visitors.visit(page.url, width=1200, height=680)
        await seen.comes_in(OWNER)
        await seen.press("Control+.")
        walker = Walker(seen, pictures)
        await _conversation(walker, scene)
        await _memory(walker)
        await _rules_and_settings(walker)
        await _reactions(walker, said)
        await _moderation(walker, scene)
        await _privacy(walker, scene)
        assert not await seen.is_wider_than_its_window()
        assert await seen.faint() == []
        assert await seen.nameless() == []
    assert walker.walked == {each.path for each in COMMANDS}


async def _conversation(walker: Walker, scene: Court) -> None:
    """An exchange, and what there is about it; then what operators see of it."""
    stage, seen = scene.stage, walker.visitor
    await seen.says(f"@{stage.discord.bot.display_name} when does the ferry go?")
    answer = seen.messages.filter(has=seen.page.locator("strong", has_text="noon")).last
    await expect(answer).to_be_visible()
    await stage.until("SELECT 1 FROM memory_episodes")
    await walker.takes("Why this answer?", answer, says="It answers")
    await walker.uses("why", says="It answers")
    await walker.uses("usage", says="today")
    await walker.uses("help", says="Mention me or reply to me")
    await walker.uses("stop", says="not working on")
    await walker.dismisses()
    episode = await stage.pool.fetchval("SELECT episode_id FROM memory_episodes")
    await walker.uses("memory episodes", says="of our exchanges")
    await walker.uses("memory drop-episode", says="Deleted for good: exchange", episode=str(episode))
    run = await stage.pool.fetchval("SELECT run_id FROM agent_runs")
    await walker.uses("operator runs", says="The newest runs")
    await walker.uses("operator run", says="Step 1", run=str(run))
    await walker.uses("new", says="A fresh conversation begins here", alone=False)
    await walker.dismisses()


async def _memory(walker: Walker) -> None:
    """Memories of one's own, changed and brought back."""
    seen = walker.visitor
    await walker.uses("memory add", says="Remembered as", content="I drink my coffee black.", key="preference.coffee")
    memory = "preference.coffee"
    await walker.uses("memory edit", says="Changed.", memory=memory, content="I drink tea, without sugar.")
    await walker.uses("memory pin", says="Pinned", memory=memory)
    await walker.uses("memory show", says="I remember 1 thing")
    await walker.uses("memory search", says="with “tea”", words="tea")
    await walker.dismisses()
    await walker.uses("memory why", says="Evidence", memory=memory)
    await walker.uses("memory history", says="changed by hand by", memory=memory)
    forgotten = await walker.uses("memory forget", says="Forgotten", memory=memory)
    await walker.presses(forgotten, "Undo", says="Undone")
    await walker.uses("memory restore", says="Restored", memory="1", version="1")
    await walker.uses("memory export", says="Here is 1 thing")
    await walker.dismisses()
    await seen.does(seen.message("The ferry goes at noon."), "Remember this")
    await walker.fills("Remember this message", used="Remember this", says="Remembered as")
    await walker.uses("operator memories", says="has 2 memories")
    await walker.uses("operator delete", says="Deleted for good, and put on record", memory="2")
    await walker.dismisses()


async def _rules_and_settings(walker: Walker) -> None:
    seen = walker.visitor
    await seen.uses("rules edit")
    await walker.fills("What am I to do here?", used="rules edit", says="Version 1 counts", Rules="Be brief.")
    await seen.uses("rules edit")
    await walker.fills("What am I to do here?", used="rules edit", says="Version 2 counts", Rules="Be kind.")
    await walker.uses("rules show", says="Version 2, by")
    await walker.uses("rules diff", says="+Be kind.")
    await walker.uses("rules revert", says="counts again, as version 3", version="1")
    await walker.dismisses()
    card = await walker.uses("settings show", says="How I behave")
    await card.get_by_role("combobox", name="Choose").select_option("To everything")
    await expect(seen.message("Listening: to everything")).to_be_visible()
    await card.get_by_role("combobox", name="Choose").select_option("When I am addressed")
    await expect(seen.message("Listening: when I am addressed")).to_be_visible()
    await walker.uses("settings retention", says="Messages are kept for 90 days", days="90")
    await walker.uses("settings mod-log", says="Cases are told in", log="#mod-log")
    await walker.uses("settings admin-role", says="these govern me", role="@Seniors")
    await walker.uses("settings language", says="I answer in en", language="en")
    await walker.uses("settings budget", says="tokens may be used here", tokens="1000000")
    await walker.uses("settings history", says="Messages are kept")
    await walker.dismisses()


async def _reactions(walker: Walker, said: Message) -> None:
    await walker.uses("reactions role-add", says="from now on", message=str(said.id), emoji="🎨", role="@Colour")
    await walker.uses("reactions shortcut-add", says="pins it", emoji="📌", does="pin")
    await walker.uses("reactions show", says="on any message")
    await walker.uses("reactions role-remove", says="gives no role there any more", message=str(said.id), emoji="🎨")
    await walker.uses("reactions shortcut-remove", says="does nothing any more", emoji="📌")
    await walker.dismisses()


async def _moderation(walker: Walker, scene: Court) -> None:
    """Each deed by its card, from the command and from the menus."""
    scene.bob.give(scene.badge)
    scene.stage.guild.create_channel("annex")
    await walker.moderates("note", "Keep note", member="Bob", reason="New here.")
    await walker.moderates("warn", "Warn", member="Bob", reason="Please do not shout.")
    await walker.moderates("timeout", "Timeout", member="Bob", duration="2h", reason="He shouts.")
    await walker.moderates("untimeout", "End timeout", member="Bob")
    await walker.moderates("nickname", "Rename", member="Bob", name="Robert")
    await walker.moderates("role add", "Give role", member="Robert", role="@Colour")
    await walker.moderates("role remove", "Take role", member="Robert", role="@Badge")
    await walker.moderates("slowmode", "Set slow mode", interval="10s", channel="#annex")
    await walker.moderates("lock", "Lock", channel="#annex", duration="1h")
    await walker.moderates("unlock", "Unlock", channel="#annex")
    await walker.moderates("channel create", "Make channel", name="lounge", topic="Talk")
    await walker.moderates("channel edit", "Change channel", channel="#annex", name="archive")
    await walker.moderates("channel delete", "Delete channel", channel="#lounge")
    await walker.moderates("ban", "Ban", member="Max", duration="7d", delete="1d", reason="He sells coins.")
    await walker.moderates("unban", "Lift ban", member=str(scene.max.id))
    await walker.moderates("kick", "Kick", member="Sam", reason="He asked for it.")
    await walker.uses("mod history", says="warning 1", member="Robert")
    await walker.uses("mod case", says="Case 3 · Timeout", number="3")
    await walker.uses("mod reason", says="has this reason now", number="3", reason="He shouted a lot.")
    await walker.moderates("undo", "Retract", number="2")
    await _menus(walker, scene)
    await walker.moderates("purge", "Delete messages", count="2")


async def _menus(walker: Walker, scene: Court) -> None:
    """What stands in the menus of a message and of who wrote it."""
    seen, general = walker.visitor, scene.general
    kim = scene.stage.guild.add_member("Kim")
    await scene.stage.ada.says(general, "Buy coins at my shop!")
    await walker.takes("Time out author", seen.message("Buy coins"), says=CARD, alone=False)
    await walker.confirms("Time out author", "Timeout")
    await walker.takes("Delete message", seen.message("Buy coins"), says=CARD, alone=False)
    await walker.confirms("Delete message", "Delete messages")
    hello = await kim.says(general, "Hello, I am Kim.")
    await walker.takes("Time out", seen.message(hello.content), by="Kim", says=CARD, alone=False)
    await walker.confirms("Time out", "Timeout")
    await walker.takes("Moderation history", seen.message(hello.content), by="Kim", says="timeout 1")
    await walker.takes("Kick", seen.message(hello.content), by="Kim", says=CARD, alone=False)
    await walker.confirms("Kick", "Kick")
    await scene.amy.says(general, "I am Amy.")
    await walker.takes("Ban", seen.message("I am Amy."), by="Amy", says=CARD, alone=False)
    await walker.confirms("Ban", "Ban")


async def _privacy(walker: Walker, scene: Court) -> None:
    """What one may choose, what is kept of others, and the end of it all."""
    await walker.uses("privacy show", says="What you chose")
    await walker.uses("privacy timezone", says="Noted", zone="Europe/Berlin")
    await walker.uses("privacy export", says="This is what I keep of you")
    await walker.dismisses()
    asked = await walker.uses("purge-kept channel", says="Delete what I keep of", channel="#archive")
    await walker.presses(asked, "Delete it", says="Deleting. The receipt is")
    asked = await walker.uses("purge-kept member", says="Delete what I keep of", member=str(scene.sam.id))
    await walker.presses(asked, "Delete it", says="Deleting. The receipt is")
    await walker.dismisses()
    asked = await walker.uses("privacy delete", says="Delete everything that I keep of you")
    await walker.presses(asked, "Delete everything", says="deleted (")
    await walker.keeps("privacy delete done")
    receipt = await scene.stage.pool.fetchval("SELECT receipt FROM erasures WHERE kind = 'member' AND space_id IS NULL")
    await walker.uses("privacy receipt", says="It is about you", receipt=str(receipt))
