"""Whatever an application may show or ask for can be used on the page: commands, menus, buttons, selects, forms."""

from __future__ import annotations

import re
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

with warnings.catch_warnings():
    # discord.py 2.7.1 imports audioop, which Python 3.11 deprecates.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord as dpy
    from discord import app_commands

from playwright.async_api import expect

from sandbox.discord import Discord, Workshop
from sandbox.page import Page, serve_page
from tests.browser.visitor import Visitors
from tests.unit.sandbox_discord.apps import App, Press, app

pytestmark = pytest.mark.timeout(60)


class Details(dpy.ui.Modal, title="Tell me more"):
    """A form with a line, a paragraph and a menu."""

    name = dpy.ui.TextInput[Any](label="Name")
    colour = dpy.ui.Label[Any](
        text="Colour",
        description="The one you like",
        component=dpy.ui.Select[Any](options=[dpy.SelectOption(label=each) for each in ("Red", "Blue")]),
    )

    async def on_submit(self, interaction: Press, /) -> None:
        assert isinstance(self.colour.component, dpy.ui.Select)
        await interaction.response.send_message(f"{self.name.value} likes {self.colour.component.values[0]}.")


class Card(dpy.ui.View):
    """Buttons and menus as they stood before Components V2."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @dpy.ui.button(label="Do it", style=dpy.ButtonStyle.primary)
    async def yes(self, interaction: Press, _: dpy.ui.Button[Any]) -> None:
        await interaction.response.edit_message(content="It is done.", view=None)

    @dpy.ui.button(label="More")
    async def more(self, interaction: Press, _: dpy.ui.Button[Any]) -> None:
        await interaction.response.send_modal(Details())

    @dpy.ui.button(label="No", style=dpy.ButtonStyle.danger)
    async def no(self, interaction: Press, _: dpy.ui.Button[Any]) -> None:
        await interaction.response.send_message("As you like.", ephemeral=True)

    @dpy.ui.select(placeholder="Which ones?", max_values=3, options=[dpy.SelectOption(label=each) for each in "ABCD"])
    async def several(self, interaction: Press, select: dpy.ui.Select[Any]) -> None:
        await interaction.response.send_message(f"You chose {' and '.join(select.values)}.")

    @dpy.ui.select(cls=dpy.ui.UserSelect, placeholder="Who?")
    async def who(self, interaction: Press, select: dpy.ui.UserSelect[Any]) -> None:
        await interaction.response.send_message(f"{select.values[0].mention} it is.")


class Layout(dpy.ui.LayoutView):
    """Components V2: a container with a heading, a section and a row."""

    def __init__(self) -> None:
        super().__init__(timeout=None)
        inside = dpy.ui.Container[Any](accent_colour=0x27598C)
        inside.add_item(dpy.ui.TextDisplay[Any]("## Forget this?\nIt rests on **two** messages."))
        inside.add_item(dpy.ui.Separator[Any]())
        inside.add_item(dpy.ui.Section[Any]("project.atlas", accessory=_Keep()))
        self.add_item(inside)


class _Keep(dpy.ui.Button[Any]):
    def __init__(self) -> None:
        super().__init__(label="Keep")

    async def callback(self, interaction: Press) -> None:
        await interaction.response.send_message("Kept.", ephemeral=True)


def build(made: App) -> None:
    tree = made.tree

    @tree.command(description="Find something")
    @app_commands.describe(what="The words", topic="What it is about", who="By whom")
    async def find(interaction: Press, what: str, topic: str = "", who: dpy.Member | None = None) -> None:
        await interaction.response.send_message(f"{what} in {topic} by {who}")

    @find.autocomplete("topic")
    async def topics(_: Press, typed: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=each, value=each) for each in ("tools", "travel") if typed in each]

    @tree.command(description="Show a card")
    async def card(interaction: Press) -> None:
        await interaction.response.send_message("Shall I?", view=Card())

    @tree.command(description="Show the newer layout")
    async def layout(interaction: Press) -> None:
        await interaction.response.send_message(view=Layout())

    @tree.command(description="Never answers")
    async def silent(_: Press) -> None:
        pass

    @tree.command(description="For administrators")
    @app_commands.default_permissions(administrator=True)
    async def govern(interaction: Press) -> None:
        await interaction.response.send_message("At your command.", ephemeral=True)

    @tree.context_menu(name="Why this answer?")
    async def why(interaction: Press, message: dpy.Message) -> None:
        await interaction.response.send_message(f"Because you said {message.content!r}.", ephemeral=True)

    @tree.context_menu(name="What do you know?")
    async def know(interaction: Press, member: dpy.Member) -> None:
        await interaction.response.send_message(f"I know {member.display_name}.", ephemeral=True)

    _ = (topics, card, layout, silent, govern, why, know)


@asynccontextmanager
async def page_with_app(visitors: Visitors) -> AsyncGenerator[tuple[Page, Workshop]]:
    """The ready-made guild with an application in it, on a page."""
    async with Discord.start(world="workshop") as discord, app(discord, build):
        shop = discord.workshop
        assert shop is not None
        async with serve_page(discord, shop.guild) as page:
            try:
                yield page, shop
            finally:
                await visitors.leave()


async def test_an_administrator_uses_what_the_application_offers(visitors: Visitors) -> None:
    """Commands with options and suggestions, both kinds of menus, buttons, selects, a form, ephemeral answers."""
    async with page_with_app(visitors) as (page, shop):
        agnes = await visitors.visit(page.url)
        await agnes.comes_in("Agnes Administrator")
        await agnes.uses("govern")
        own = agnes.message("At your command.")
        await expect(own).to_contain_text("Only you can see this.")
        await own.get_by_role("button", name="Dismiss").click()
        await expect(own).to_have_count(0)

        await agnes.writes("/fi")
        await agnes.press("Enter")
        form = agnes.page.get_by_role("form", name="/find")
        await expect(form.get_by_label("what")).to_be_focused()
        await agnes.writes("a hammer")
        await form.get_by_role("button", name="+ topic").click()
        await agnes.writes("to")
        await expect(form.get_by_role("option", name="tools")).to_be_visible()
        await agnes.press("Enter")
        await form.get_by_role("button", name="+ who").click()
        await form.get_by_label("who").select_option("Ben")
        await form.get_by_role("button", name="Use", exact=True).click()
        await expect(agnes.message("a hammer in tools by ben")).to_contain_text(re.compile(r"Agnes\s*used /find"))

        await agnes.uses("card")
        card = agnes.messages.filter(has=agnes.page.get_by_role("combobox", name="Who?"))
        await card.get_by_role("button", name="No").click()
        await expect(agnes.message("As you like.")).to_contain_text("Only you can see this.")
        await card.get_by_role("combobox", name="Who?").select_option("Ben")
        await expect(agnes.message("it is.")).to_contain_text("@Ben it is.")
        await card.get_by_role("button", name="Which ones?").click()
        for letter in "BD":
            await agnes.page.get_by_role("checkbox", name=letter).check()
        await agnes.page.get_by_role("button", name="Choose", exact=True).click()
        await expect(agnes.message("You chose B and D.")).to_be_visible()
        await card.locator(".components").get_by_role("button", name="More").click()
        asking = agnes.page.get_by_role("dialog", name="Tell me more")
        await asking.get_by_label("Name").fill("Agnes")
        await asking.get_by_label("Colour").select_option("Blue")
        await asking.get_by_role("button", name="Submit").click()
        await expect(agnes.message("Agnes likes Blue.")).to_be_visible()
        await card.get_by_role("button", name="Do it").click()
        await expect(card).to_have_count(0)
        await expect(agnes.message("It is done.")).to_be_visible()

        await agnes.uses("layout")
        layout = agnes.messages.filter(has=agnes.page.get_by_role("heading", name="Forget this?"))
        await expect(layout.locator("strong")).to_have_text("two")
        await layout.get_by_role("button", name="Keep").click()
        await expect(agnes.message("Kept.")).to_be_visible()

        said = await agnes.says("I said so")
        await said.get_by_role("button", name="Agnes", exact=True).click()
        await agnes.page.get_by_role("menuitem", name="What do you know?").click()
        await expect(agnes.message("I know Agnes.")).to_be_visible()
        await agnes.does(said, "Why this answer?")
        await expect(agnes.message("Because you said 'I said so'.")).to_be_visible()

        ben = await visitors.visit(page.url)
        await ben.comes_in("Ben Member")
        await expect(ben.message("I said so")).to_be_visible()
        await expect(ben.messages.filter(has_text="Only you can see this.")).to_have_count(0)
        await ben.box.fill("/")
        await expect(ben.page.get_by_role("option", name="/find")).to_be_visible()
        await expect(ben.page.get_by_role("option", name="/govern")).to_have_count(0)
    assert shop.general.shelf.live()


async def test_an_application_that_says_nothing_is_named(visitors: Visitors) -> None:
    """After Discord's three seconds a sentence says so, and what was filled in stays."""
    async with page_with_app(visitors) as (page, _):
        ben = await visitors.visit(page.url)
        await ben.comes_in("Ben")
        await ben.box.fill("/silent")
        await ben.page.get_by_role("option", name="/silent").click()
        form = ben.page.get_by_role("form", name="/silent")
        await form.get_by_role("button", name="Use", exact=True).click()
        await expect(form.get_by_role("alert")).to_contain_text("did not respond in the three seconds")
        await expect(form.get_by_role("button", name="Use", exact=True)).to_be_enabled()
