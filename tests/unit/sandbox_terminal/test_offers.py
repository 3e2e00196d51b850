"""What a bot offers, at the prompt: slash commands, buttons, menus, forms, and answers that only one person sees."""

from typing import Literal

import discord as dpy
from discord import app_commands, ui

from sandbox.discord import Discord, Workshop
from tests.unit.sandbox_discord.apps import App, Press, app
from tests.unit.sandbox_terminal.person import at_a_terminal, piped


class Card(ui.View):
    @ui.button(label="Undo")
    async def undo(self, press: Press, button: ui.Button["Card"]) -> None:
        button.disabled = True
        await press.response.edit_message(content="undone", view=self)

    @ui.button(label="Rename")
    async def rename(self, press: Press, button: ui.Button["Card"]) -> None:
        await press.response.send_modal(Name())

    @ui.select(placeholder="Colour", options=[dpy.SelectOption(label="Red"), dpy.SelectOption(label="Blue")])
    async def colour(self, press: Press, menu: ui.Select["Card"]) -> None:
        await press.response.send_message(f"you chose {menu.values[0]}", ephemeral=True)


class Name(ui.Modal, title="Rename it"):
    name = ui.TextInput["Name"](label="Name")
    why = ui.TextInput["Name"](label="Why", required=False)

    async def on_submit(self, press: Press, /) -> None:
        await press.response.send_message(f"now {self.name.value} ({self.why.value})")


def bot(made: App) -> None:
    memory = app_commands.Group(name="memory", description="What is kept")

    @memory.command(description="Keep something")
    async def add(press: Press, text: str, weight: int = 1, who: dpy.Member | None = None, sure: bool = False) -> None:
        name = "nobody" if who is None else who.display_name
        await press.response.send_message(f"kept {text!r} {weight} {name} {sure}", ephemeral=True)

    made.tree.add_command(memory)

    @made.tree.command(description="Shows a card")
    async def card(press: Press, size: Literal["small", "large"] = "small") -> None:
        await press.response.defer(thinking=True)
        await press.edit_original_response(content=f"a {size} card", view=Card())

    @made.tree.command(description="Never answers")
    async def silent(press: Press) -> None: ...

    @made.tree.context_menu(name="Why this answer?")
    async def why(press: Press, message: dpy.Message) -> None:
        await press.response.send_message(f"because of {message.content}")


async def test_a_command_is_used_by_its_name(discord: Discord, shop: Workshop) -> None:
    """Options as Discord writes them, the first without its name; the answer says that nobody else sees it."""
    async with app(discord, bot):
        shown = await piped(
            discord,
            "/memory add The key is red weight: 3 who: @ben sure: yes",
            "/memory add text: again",
            speaker=shop.ada,
            place=shop.general,
        )
        others = await piped(discord, "/history", speaker=shop.ben, place=shop.general)
    assert "[1] Muninn (only you see this): kept 'The key is red' 3 Ben True" in shown
    assert "[2] Muninn (only you see this): kept 'again' 1 nobody False" in shown
    assert "kept" not in others


async def test_buttons_and_menus_are_shown_and_used(discord: Discord, shop: Workshop) -> None:
    """A row a line; what the bot changes is shown again, and what is disabled is refused in a sentence."""
    async with app(discord, bot):
        shown = await piped(
            discord,
            "/card size: large",
            "/choose 1 blue",
            "/press 1 UNDO",
            "/press 1 Undo",
            "/press 1 Nothing",
            speaker=shop.ada,
            place=shop.general,
        )
    assert "Muninn: a large card\n    ( Undo )  ( Rename )\n    < Colour: Red, Blue >" in shown
    assert "(only you see this): you chose Blue" in shown
    assert "[1] Muninn edited: undone\n    ( Undo, disabled )  ( Rename )" in shown
    assert "is disabled" in shown
    assert "! the message has no such component 'Nothing' now; it has Undo, Rename, Colour" in shown


async def test_a_form_is_filled_in_line_by_line(discord: Discord, shop: Workshop) -> None:
    """Each field is asked for; an empty line leaves it, /cancel ends the form, a mistake is said and asked again."""
    async with app(discord, bot):
        shown = await piped(
            discord,
            "/card",
            "/press 1 rename",
            "Atlas",
            "",
            "/press 1 rename",
            "/cancel",
            "said aloud",
            speaker=shop.ada,
            place=shop.general,
        )
    assert "A form, “Rename it”" in shown
    assert "? Name\n? Why\n" in shown
    assert "Muninn (to [1]): now Atlas ()" in shown
    assert "Ada: said aloud" in shown


async def test_a_form_asks_on_the_terminal(discord: Discord, shop: Workshop) -> None:
    """The prompt is the field's name while the form is open, and the place's again afterwards."""
    async with app(discord, bot), at_a_terminal(discord, speaker=shop.ada) as (screen, _):
        screen.type("/card\r")
        await screen.shows("( Undo )  ( Rename )")
        screen.type("/press 1 rename\r")
        await screen.ends_with("Name> ")
        screen.type("Atlas\r")
        await screen.ends_with("Why> ")
        screen.type("\r")
        await screen.shows("now Atlas ()")
        await screen.ends_with("Ada to Muninn> ")


async def test_the_menu_of_a_message(discord: Discord, shop: Workshop) -> None:
    """/apps uses a context menu command by its name, in any case, and says what there is."""
    await shop.ben.says(shop.general, "hello")
    async with app(discord, bot):
        shown = await piped(
            discord, "/history", "/apps 1 why this answer?", "/apps 1 how?", speaker=shop.ada, place=shop.general
        )
    assert "[2] Muninn: because of hello" in shown
    assert "! there is no 'how?'; there is Why this answer?" in shown


async def test_help_lists_what_the_bot_offers(discord: Discord, shop: Workshop) -> None:
    """Each command with its options; a wrong use is a sentence."""
    async with app(discord, bot):
        shown = await piped(
            discord,
            "/help",
            "/memory",
            "/memory add",
            "/memory add text: x weight: much",
            "/memory add text: x sure: perhaps",
            "/memory add text: x who: nobody",
            "/silent now",
            speaker=shop.ada,
            place=shop.general,
        )
    assert "  /memory add text: … [weight: …] [who: …] [sure: …]  Keep something" in shown
    complaints = [line for line in shown.splitlines() if line.startswith("! ")]
    assert complaints == [
        "! /memory is used by one of its subcommands: memory add",
        "! /memory needs the option 'text'",
        "! weight takes a number, not 'much'",
        "! it is yes or no, not 'perhaps'",
        "! there is no member, role or channel 'nobody'",
        "! this command takes no options",
    ]


async def test_no_answer_is_said_after_discords_time(discord: Discord, shop: Workshop) -> None:
    """The member reads that the application did not respond, and the talk goes on."""
    async with app(discord, bot), at_a_terminal(discord, speaker=shop.ada) as (screen, _):
        await screen.shows("Ada to Muninn> ")
        screen.type("/silent\r")
        await discord.wait_until(lambda: bool(discord.world.interactions.all))
        discord.clock.advance(3.1)
        await shop.ben.says(shop.general, "meanwhile")
        await screen.shows("! the application did not respond")
