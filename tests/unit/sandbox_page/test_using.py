"""Commands, components and forms over the page's socket, against a real discord.py application."""

import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest

with warnings.catch_warnings():
    # discord.py 2.7.1 imports audioop, which Python 3.11 deprecates.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord as dpy
    from discord import app_commands

from yarl import URL

from sandbox.discord import Discord, Workshop
from sandbox.page import Page
from tests.unit.sandbox_discord.apps import App, Press, app
from tests.unit.sandbox_page.tab import Refused, tab


class Form(dpy.ui.Modal, title="Form"):
    """One line."""

    line = dpy.ui.TextInput[Any](label="Line", custom_id="line")

    async def on_submit(self, interaction: Press, /) -> None:
        await interaction.response.send_message(f"line: {self.line.value}", ephemeral=True)


class Card(dpy.ui.View):
    """A button that opens a form, and a menu of members."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @dpy.ui.button(label="Form", custom_id="form")
    async def form(self, interaction: Press, _: dpy.ui.Button[Any]) -> None:
        await interaction.response.send_modal(Form())

    @dpy.ui.select(cls=dpy.ui.UserSelect, custom_id="who")
    async def who(self, interaction: Press, select: dpy.ui.UserSelect[Any]) -> None:
        await interaction.response.send_message(f"chosen: {select.values[0].display_name}")


def build(made: App) -> None:
    @made.tree.command(description="Everything at once")
    async def every(
        interaction: Press,
        text: str,
        count: int,
        share: float,
        sure: bool,
        who: dpy.Member,
        role: dpy.Role,
        place: dpy.TextChannel,
        file: dpy.Attachment,
    ) -> None:
        body = (await file.read()).decode()
        names = (who.display_name, role.name, place.name)
        await interaction.response.send_message(f"{text} {count + 1} {share * 2} {not sure} {names} {body}")

    @every.autocomplete("text")
    async def texts(_: Press, typed: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=f"{typed}!", value=typed * 2)]

    @made.tree.command(description="A card")
    async def card(interaction: Press) -> None:
        await interaction.response.send_message("a card", view=Card())

    _ = (texts, card)


@pytest.fixture
async def with_app(discord: Discord) -> AsyncGenerator[App]:
    async with app(discord, build) as made:
        yield made


async def test_options_of_every_kind_arrive_as_what_they_are(page: Page, shop: Workshop, with_app: App) -> None:
    """Texts, numbers, truth values, people, roles, places and files, by what the page has of them."""
    home, mods = str(URL(page.url).origin()), next(r for r in shop.guild.roles.values() if r.name == "Moderators")
    async with tab(page) as using:
        await using.enters(shop.ada, shop.general)
        [command] = [each for each in using.offered["slash"] if each["name"] == "every"]
        assert [option["name"] for option in command["options"]][:2] == ["text", "count"]
        headers = {"Origin": home, "Content-Type": "text/plain", "X-File-Name": "a.txt"}
        async with using.session.post(f"{home}/uploads", data=b"inside", headers=headers) as answer:
            file = (await answer.json())["id"]
        where = {"place": str(shop.general.id), "line": "every"}
        found = await using.ask("complete", **where, focused="text", options={"text": "ab"})
        assert found == [{"name": "ab!", "value": "abab"}]
        things = {"who": str(shop.ben.id), "role": str(mods.id), "place": str(shop.help.id), "file": file}
        options = {"text": "hi", "count": "41", "share": "1.5", "sure": False, **things}
        outcome = await using.ask("slash", **where, options=options)
        assert outcome == {"answer": "message", "modal": None}
        assert using.texts == ["hi 42 3.0 True ('Ben', 'Moderators', 'help') inside"]
        for wrong, told in (
            ({"count": "x"}, "takes a number"),
            ({"who": "1"}, "not there any more"),
            ({"no": 1}, "no option"),
        ):
            with pytest.raises(Refused, match=told):
                await using.ask(
                    "slash", **where, options={**wrong, **{k: v for k, v in options.items() if k not in wrong}}
                )
    assert with_app.errors == []


async def test_a_form_is_shown_to_who_pressed_and_sent_once(page: Page, shop: Workshop, with_app: App) -> None:
    """Its answer is for them alone; put away, it is gone from their page; another tab cannot send it."""
    async with tab(page) as ada, tab(page) as ben:
        await ada.enters(shop.ada, shop.general)
        await ben.enters(shop.ben, shop.general)
        where = {"place": str(shop.general.id)}
        await ada.ask("slash", **where, line="card", options={})
        [card] = ada.messages
        outcome = await ada.ask("press", **where, message=card, component="form")
        form = outcome["modal"]["id"]
        assert (outcome["answer"], outcome["modal"]["title"]) == ("modal", "Form")
        with pytest.raises(Refused, match="no longer open"):
            await ben.ask("submit", modal=form, values={"line": "mine"})
        with pytest.raises(Refused, match="no such field"):
            await ada.ask("submit", modal=form, values={"other": "x"})
        await ada.ask("submit", modal=form, values={"line": "hello"})
        assert ada.texts == ["a card", "line: hello"]
        hidden = next(m for m in ada.messages.values() if m["content"] == "line: hello")
        assert hidden["view"]["private"]
        with pytest.raises(Refused, match="no longer open"):
            await ada.ask("submit", modal=form, values={"line": "twice"})
        await ben.ask("choose", **where, message=card, component="who", values=[str(shop.ada.id)])
        await ada.until(lambda: "chosen: Ada" in ada.texts)
        assert "line: hello" not in str(ben.frames)
        await ada.ask("dismiss", message=hidden["id"])
        assert "line: hello" not in ada.texts
    assert with_app.errors == []
