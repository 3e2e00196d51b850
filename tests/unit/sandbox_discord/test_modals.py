"""Forms: what Discord takes of them, how a member fills them in, and what the bot is told."""

import io
from typing import Any

import discord as dpy
import pytest
from discord import ui

from sandbox.discord import Discord, File, Misuse, NotPermitted, Use, Workshop

from .apps import App, Press, app
from .bots import wire
from .test_commands import PING, errors, register
from .test_interactions import MESSAGE, MODAL, answer

TEXT_INPUT = {"type": 4, "custom_id": "t", "style": 1}
OPTIONS = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]


def label(**component: object) -> dict[str, object]:
    return {"type": 18, "label": "Field", "component": {"custom_id": "f", **component}}


def form(*components: object, **fields: object) -> dict[str, object]:
    return {"type": 9, "data": {"custom_id": "form", "title": "Form", "components": list(components), **fields}}


async def asked(discord: Discord, shop: Workshop) -> Use:
    await register(discord, PING)
    return await shop.ada.slash(shop.general, "ping")


ROW = {"type": 1, "components": [{**TEXT_INPUT, "label": "Field"}]}
REFUSED: list[tuple[dict[str, object], str, str]] = [
    (form(ROW, title=""), "title", "BASE_TYPE_BAD_LENGTH"),
    (form(ROW, title="x" * 46), "title", "BASE_TYPE_BAD_LENGTH"),
    (form(ROW, custom_id=None), "custom_id", "BASE_TYPE_REQUIRED"),
    (form(ROW, custom_id="x" * 101), "custom_id", "BASE_TYPE_BAD_LENGTH"),
    (form(), "components", "BASE_TYPE_BAD_LENGTH"),
    (form(*[ROW] * 6), "components", "BASE_TYPE_BAD_LENGTH"),
    (form({"type": 17, "components": []}), "components.0.type", "UNION_TYPE_CHOICES"),
    (form({"type": 1, "components": [{"type": 2}]}), "components.0.components.0.type", "UNION_TYPE_CHOICES"),
    (form({"type": 18, "label": "x" * 46, "component": TEXT_INPUT}), "components.0.label", "BASE_TYPE_BAD_LENGTH"),
    (form({"type": 18, "label": "Field"}), "components.0.component", "BASE_TYPE_REQUIRED"),
    (form(label(type=2)), "components.0.component.type", "UNION_TYPE_CHOICES"),
    (form(label(type=4)), "components.0.component.style", "BASE_TYPE_REQUIRED"),
    (form(label(type=4, style=3)), "components.0.component.style", "BASE_TYPE_CHOICES"),
    (form(label(type=4, style=1, label="x")), "components.0.component.label", "COMPONENT_LABEL_NOT_ALLOWED"),
    (form(label(type=4, style=1, max_length=4001)), "components.0.component.max_length", "NUMBER_TYPE_MAX"),
    (form(label(type=4, style=1, min_length=5, max_length=4)), "components.0.component.min_length", "NUMBER_TYPE_MAX"),
    (form(label(type=4, style=1, placeholder="x" * 101)), "components.0.component.placeholder", "BASE_TYPE_MAX_LENGTH"),
    (form(label(type=8, disabled=True)), "components.0.component.disabled", "COMPONENT_CANNOT_BE_DISABLED_IN_MODAL"),
    (form(label(type=19, max_values=11)), "components.0.component.max_values", "NUMBER_TYPE_MAX"),
    (form(label(type=21, options=OPTIONS[:1])), "components.0.component.options", "BASE_TYPE_BAD_LENGTH"),
    (form(label(type=22, options=OPTIONS * 6)), "components.0.component.options", "BASE_TYPE_BAD_LENGTH"),
    (form(label(type=23, default="yes")), "components.0.component.default", "BOOLEAN_TYPE_CONVERT"),
    (
        form(label(type=23), label(type=23)),
        "components.1.component.custom_id",
        "COMPONENT_CUSTOM_ID_DUPLICATED",
    ),
]


@pytest.mark.parametrize(("body", "path", "code"), REFUSED)
async def test_a_wrong_form_is_refused_where_it_is_wrong(
    discord: Discord, shop: Workshop, body: dict[str, object], path: str, code: str
) -> None:
    """400/50035 under ``data``, and the interaction stays open."""
    use = await asked(discord, shop)
    async with wire(discord) as client:
        refused = await answer(client, use, body)
    assert (refused.status, refused.code) == (400, 50035)
    assert errors(refused, f"data.{path}") == [code]
    assert not use.answered


async def test_discord_py_reads_every_kind_of_field(discord: Discord, shop: Workshop) -> None:
    """Text, selects, files, radio buttons, boxes: filled in by label or custom_id, with what they resolve to."""
    got: list[str] = []

    class Everything(ui.Modal, title="Everything"):
        intro = ui.TextDisplay[Any]("Fill this in")
        name = ui.Label["Everything"](text="Name", component=ui.TextInput(custom_id="name", default="nobody"))
        who = ui.Label["Everything"](text="Who", component=ui.UserSelect(max_values=2))
        files = ui.Label["Everything"](text="Files", component=ui.FileUpload(max_values=2, required=False))
        kind = ui.Label["Everything"](
            text="Kind",
            component=ui.RadioGroup(options=[dpy.RadioGroupOption(label="A"), dpy.RadioGroupOption(label="B")]),
        )

        async def on_submit(self, press: Press, /) -> None:
            text, who, files, kind = (field.component for field in (self.name, self.who, self.files, self.kind))
            assert isinstance(text, ui.TextInput)
            assert isinstance(who, ui.UserSelect)
            assert isinstance(files, ui.FileUpload)
            assert isinstance(kind, ui.RadioGroup)
            got.append(f"{text.value} {[user.display_name for user in who.values]} {kind.value}")
            got.extend([f"{file.filename} {(await file.read()).decode()}" for file in files.values])
            await press.response.send_message("thanks", ephemeral=True)

    class Boxes(ui.Modal, title="Boxes"):
        several = ui.Label["Boxes"](
            text="Several",
            component=ui.CheckboxGroup(
                options=[dpy.CheckboxGroupOption(label="X"), dpy.CheckboxGroupOption(label="Y")], max_values=2
            ),
        )
        agreed = ui.Label["Boxes"](text="Agreed", component=ui.Checkbox())
        colour = ui.Label["Boxes"](
            text="Colour", component=ui.Select(options=[dpy.SelectOption(label="Red", value="r")], required=False)
        )

        async def on_submit(self, press: Press, /) -> None:
            several, agreed, colour = self.several.component, self.agreed.component, self.colour.component
            assert isinstance(several, ui.CheckboxGroup)
            assert isinstance(agreed, ui.Checkbox)
            assert isinstance(colour, ui.Select)
            await press.response.send_message(f"{several.values} {agreed.value} {colour.values}")

    def build(bot: App) -> None:
        @bot.tree.command(description="d")
        async def everything(press: Press) -> None:
            await press.response.send_modal(Everything())

        @bot.tree.command(description="d")
        async def boxes(press: Press) -> None:
            await press.response.send_modal(Boxes())

    async with app(discord, build) as bot:
        shown = await (await shop.ada.slash(shop.general, "everything")).modal()
        assert shown.title == "Everything"
        filled: dict[str, Any] = {"name": "Ada", "Who": [shop.ben, shop.mod], "Kind": "B"}
        sent = await shop.ada.submit(shown, {**filled, "Files": File("a.txt", b"hello", "text/plain")})
        assert (await sent.message()).ephemeral
        boxes = await (await shop.ada.slash(shop.general, "boxes")).modal()
        sent = await shop.ada.submit(boxes, {"Several": ["X", "Y"], "Agreed": True})
        assert (await sent.message()).content == "['X', 'Y'] True []"
        assert bot.errors == []
    assert got == ["Ada ['Ben', 'Mo'] B", "a.txt hello"]


async def test_a_form_is_filled_in_as_it_asks(discord: Discord, shop: Workshop) -> None:
    """Required fields, lengths, counts and options are the client's rules; only who was shown it can send it."""
    use = await asked(discord, shop)
    parts = [
        {"type": 18, "label": "Name", "component": {**TEXT_INPUT, "min_length": 2, "max_length": 4}},
        {"type": 18, "label": "Kind", "component": {"type": 3, "custom_id": "k", "options": OPTIONS}},
        {"type": 18, "label": "File", "component": {"type": 19, "custom_id": "f"}},
    ]
    async with wire(discord) as client:
        await answer(client, use, form(*parts))
        shown = await use.modal()
        good: dict[str, Any] = {"Name": "Ada", "Kind": "One", "File": File("a", b"")}
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"Name": ""}, "takes 2 to 4 characters, not 0"),
            ({"Name": "Adalbert"}, "takes 2 to 4 characters, not 8"),
            ({"Name": 5}, "takes a text"),
            ({"Kind": []}, "takes 1 to 1 values, not 0"),
            ({"Kind": "Three"}, "no option 'Three'"),
            ({"File": []}, "takes 1 to 1 files, not 0"),
            ({"File": "a"}, "takes files"),
            ({"Other": "x"}, "no field 'Other'; it has Name, Kind, File"),
        ]
        for change, words in wrong:
            with pytest.raises(Misuse, match=words):
                await shop.ada.submit(shown, {**good, **change})
        with pytest.raises(NotPermitted, match="was shown to Ada"):
            await shop.ben.submit(shown, good)
        first = await shop.ada.submit(shown, good)
        discord.clock.advance(3.1)
        assert first.failed
        second = await shop.ada.submit(shown, good)
        await answer(client, second, MESSAGE)
        with pytest.raises(Misuse, match="no longer open"):
            await shop.ada.submit(shown, good)


async def test_a_form_from_a_button_can_change_the_buttons_message(discord: Discord, shop: Workshop) -> None:
    """It comes with the message, so that update and deferred update are answers; metadata names the press."""

    class Form(ui.Modal, title="Form"):
        name = ui.TextInput["Form"](label="Name")

        async def on_submit(self, press: Press, /) -> None:
            assert press.message is not None
            await press.response.edit_message(content=f"changed by {self.name.value}")
            await press.followup.send("and more", file=dpy.File(io.BytesIO(b"x"), "x.txt"))

    class Door(ui.View):
        @ui.button(label="Open")
        async def open(self, press: Press, button: ui.Button["Door"]) -> None:
            await press.response.send_modal(Form())

    async with app(discord) as bot:
        await bot.bot.place(shop.general).send("door", view=Door())
        (door,) = discord.messages_in(shop.general)
        shown = await (await shop.ben.press(door, "Open")).modal()
        sent = await shop.ben.submit(shown, {"Name": "Ben"})
        assert await sent.updated() is door
        assert door.content == "changed by Ben"
        further = await sent.followup()
    assert further.reply_to is door
    assert further.interaction is not None
    said: Any = further.interaction["interaction_metadata"]
    assert (said["type"], said["triggering_interaction_metadata"]["interacted_message_id"]) == (5, str(door.id))


async def test_no_form_after_an_answer(discord: Discord, shop: Workshop) -> None:
    """40060: a form can only be the first answer, so not after a deferral."""
    use = await asked(discord, shop)
    async with wire(discord) as client:
        await answer(client, use, {"type": 5})
        late = await answer(client, use, MODAL)
    assert (late.status, late.code) == (400, 40060)
    with pytest.raises(AssertionError, match="the answer is THINKING"):
        await use.modal()
