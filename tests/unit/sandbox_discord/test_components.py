"""Components of messages, the old kind and Components V2: what Discord takes, and what members can do with them."""

import io
from typing import Any

import discord as dpy
import pytest
from discord import ui

from sandbox.discord import Discord, Misuse, NotPermitted, Workshop

from .apps import Press, app
from .bots import Answer, Wire, connected, socket, wire
from .test_commands import errors

V2 = 1 << 15
BUTTON = {"type": 2, "style": 1, "label": "Go", "custom_id": "go"}
OPTION = {"label": "One", "value": "1"}
SELECT = {"type": 3, "custom_id": "pick", "options": [OPTION, {"label": "Two", "value": "2"}]}
TEXT = {"type": 10, "content": "Hello"}
LINK = {"type": 2, "style": 5, "label": "Go", "url": "https://example.org"}
IMAGE = {"media": {"url": "https://example.org/a.png"}}


def row(*parts: object) -> dict[str, object]:
    return {"type": 1, "components": list(parts)}


async def post(client: Wire, shop: Workshop, *components: object, flags: int = 0, **fields: object) -> Answer:
    return await client.post(shop.general, components=list(components), flags=flags, **fields)


OLD: list[tuple[list[object], str, str]] = [
    ([row(BUTTON)] * 6, "components", "BASE_TYPE_BAD_LENGTH"),
    ([TEXT], "components.0.type", "UNION_TYPE_CHOICES"),
    ([BUTTON], "components.0.type", "UNION_TYPE_CHOICES"),
    ([{"type": 17, "components": [TEXT]}], "components.0.type", "UNION_TYPE_CHOICES"),
    (["row"], "components.0", "DICT_TYPE_CONVERT"),
    ([{}], "components.0.type", "BASE_TYPE_REQUIRED"),
    ([{"type": 1}], "components.0.components", "BASE_TYPE_REQUIRED"),
    ([row()], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ([row(*[{**BUTTON, "custom_id": str(i)} for i in range(6)])], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ([row(BUTTON, SELECT)], "components.0.components.1", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
    ([row(SELECT, BUTTON)], "components.0.components.1", "COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
    ([row({"type": 4, "custom_id": "t", "style": 1})], "components.0.components.0.type", "UNION_TYPE_CHOICES"),
    ([row(BUTTON), row(BUTTON)], "components.1.components.0.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED"),
    (
        [row({**BUTTON, "id": 7}, {**BUTTON, "custom_id": "b", "id": 7})],
        "components.0.components.1.id",
        "COMPONENT_ID_DUPLICATED",
    ),
]
BUTTONS: list[tuple[dict[str, object], str, str]] = [
    ({"style": 7}, "style", "BASE_TYPE_CHOICES"),
    ({"style": None}, "style", "BASE_TYPE_REQUIRED"),
    ({"label": "x" * 81}, "label", "BASE_TYPE_MAX_LENGTH"),
    ({"label": ""}, "label", "BASE_TYPE_REQUIRED"),
    ({"custom_id": "x" * 101}, "custom_id", "BASE_TYPE_BAD_LENGTH"),
    ({"custom_id": ""}, "custom_id", "BASE_TYPE_BAD_LENGTH"),
    ({"custom_id": None}, "custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"),
    ({"url": "https://example.org"}, "url", "BUTTON_COMPONENT_INVALID_URL"),
    ({"disabled": "no"}, "disabled", "BOOLEAN_TYPE_CONVERT"),
    ({"emoji": {"name": "Go"}}, "emoji.name", "COMPONENT_INVALID_EMOJI"),
    ({"emoji": {"name": "hugin", "id": "1234"}}, "emoji.id", "COMPONENT_INVALID_EMOJI"),
    ({**LINK, "url": "https://example.org"}, "custom_id", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"),
    ({**LINK, "custom_id": None, "url": None}, "url", "BASE_TYPE_REQUIRED"),
    ({**LINK, "custom_id": None, "url": "ftp://example.org"}, "url", "URL_TYPE_INVALID_SCHEME"),
    ({**LINK, "custom_id": None, "url": "https://" + "x" * 512}, "url", "BASE_TYPE_BAD_LENGTH"),
    ({"style": 6, "custom_id": None}, "sku_id", "BASE_TYPE_REQUIRED"),
]
SELECTS: list[tuple[dict[str, object], str, str]] = [
    ({"custom_id": None}, "custom_id", "BASE_TYPE_REQUIRED"),
    ({"placeholder": "x" * 151}, "placeholder", "BASE_TYPE_MAX_LENGTH"),
    ({"min_values": 26}, "min_values", "NUMBER_TYPE_MAX"),
    ({"max_values": 0}, "max_values", "NUMBER_TYPE_MIN"),
    ({"min_values": 2, "max_values": 1}, "min_values", "NUMBER_TYPE_MAX"),
    ({"max_values": 3}, "max_values", "NUMBER_TYPE_MAX"),
    ({"options": None}, "options", "BASE_TYPE_REQUIRED"),
    ({"options": []}, "options", "BASE_TYPE_BAD_LENGTH"),
    ({"options": [{"label": str(i), "value": str(i)} for i in range(26)]}, "options", "BASE_TYPE_BAD_LENGTH"),
    ({"options": [{**OPTION, "label": "x" * 101}]}, "options.0.label", "BASE_TYPE_BAD_LENGTH"),
    ({"options": [{**OPTION, "value": ""}]}, "options.0.value", "BASE_TYPE_BAD_LENGTH"),
    ({"options": [{**OPTION, "description": "x" * 101}]}, "options.0.description", "BASE_TYPE_MAX_LENGTH"),
    ({"options": [OPTION, OPTION]}, "options.1.value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"),
    (
        {"options": [{**OPTION, "default": True}, {**OPTION, "value": "2", "default": True}]},
        "options",
        "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES",
    ),
]
NEW: list[tuple[list[object], str, str]] = [
    ([BUTTON], "components.0.type", "UNION_TYPE_CHOICES"),
    ([{**TEXT, "content": f"{i}"} for i in range(41)], "components", "BASE_TYPE_BAD_LENGTH"),
    (
        [{"type": 17, "components": [TEXT] * 20}, {"type": 17, "components": [TEXT] * 19}],
        "components",
        "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
    ),
    ([{**TEXT, "content": "x" * 2001}] * 2, "components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"),
    ([{**TEXT, "content": ""}], "components.0.content", "BASE_TYPE_BAD_LENGTH"),
    ([{"type": 10}], "components.0.content", "BASE_TYPE_REQUIRED"),
    ([{"type": 17, "components": []}], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    ([{"type": 17, "components": [TEXT], "accent_color": 1 << 24}], "components.0.accent_color", "NUMBER_TYPE_MAX"),
    (
        [{"type": 17, "components": [{"type": 17, "components": [TEXT]}]}],
        "components.0.components.0.type",
        "UNION_TYPE_CHOICES",
    ),
    ([{"type": 9, "components": [TEXT]}], "components.0.accessory", "BASE_TYPE_REQUIRED"),
    ([{"type": 9, "components": [TEXT] * 4, "accessory": BUTTON}], "components.0.components", "BASE_TYPE_BAD_LENGTH"),
    (
        [{"type": 9, "components": [BUTTON], "accessory": BUTTON}],
        "components.0.components.0.type",
        "UNION_TYPE_CHOICES",
    ),
    ([{"type": 9, "components": [TEXT], "accessory": SELECT}], "components.0.accessory.type", "UNION_TYPE_CHOICES"),
    (
        [{"type": 9, "components": [TEXT], "accessory": {"type": 11}}],
        "components.0.accessory.media",
        "BASE_TYPE_REQUIRED",
    ),
    ([{"type": 12, "items": []}], "components.0.items", "BASE_TYPE_BAD_LENGTH"),
    ([{"type": 12, "items": [IMAGE] * 11}], "components.0.items", "BASE_TYPE_BAD_LENGTH"),
    (
        [{"type": 12, "items": [{**IMAGE, "description": "x" * 1025}]}],
        "components.0.items.0.description",
        "BASE_TYPE_MAX_LENGTH",
    ),
    (
        [{"type": 12, "items": [{"media": {"url": "file:///etc"}}]}],
        "components.0.items.0.media.url",
        "URL_TYPE_INVALID_SCHEME",
    ),
    (
        [{"type": 12, "items": [{"media": {"url": "attachment://a.png"}}]}],
        "components.0.items.0.media.url",
        "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
    ),
    ([{"type": 13, "file": IMAGE["media"]}], "components.0.file.url", "UNFURLED_MEDIA_ITEM_ATTACHMENT_REQUIRED"),
    ([{"type": 14, "spacing": 3}], "components.0.spacing", "BASE_TYPE_CHOICES"),
    (
        [TEXT, row(BUTTON), {"type": 9, "components": [TEXT], "accessory": BUTTON}],
        "components.2.accessory.custom_id",
        "COMPONENT_CUSTOM_ID_DUPLICATED",
    ),
]


@pytest.mark.parametrize(
    ("components", "flags", "path", "code"),
    [
        *[(components, 0, path, code) for components, path, code in OLD],
        *[
            ([row({**BUTTON, **change})], 0, f"components.0.components.0.{path}", code)
            for change, path, code in BUTTONS
        ],
        *[
            ([row({**SELECT, **change})], 0, f"components.0.components.0.{path}", code)
            for change, path, code in SELECTS
        ],
        *[(components, V2, path, code) for components, path, code in NEW],
    ],
)
async def test_wrong_components_are_refused_where_they_are_wrong(
    discord: Discord, shop: Workshop, components: list[object], flags: int, path: str, code: str
) -> None:
    """400/50035 with Discord's code at the part; nothing is posted."""
    async with wire(discord) as client:
        answer = await post(client, shop, *components, flags=flags)
    assert (answer.status, answer.code) == (400, 50035)
    assert errors(answer, path) == [code]
    assert discord.messages_in(shop.general) == []


async def test_components_v2_excludes_content_and_embeds(discord: Discord, shop: Workshop) -> None:
    """On posting and on editing; the flag once set cannot be taken away, and needs the old fields emptied first."""
    legacy = ["MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"]
    async with wire(discord) as client:
        both = await post(client, shop, TEXT, flags=V2, content="x", embeds=[{"title": "t"}])
        assert errors(both, "content") == errors(both, "embeds") == legacy
        empty = await post(client, shop, flags=V2)
        assert empty.code == 50006
        new = await post(client, shop, TEXT, flags=V2)
        old = await post(client, shop, row(BUTTON), content="old")
        path = f"/channels/{shop.general.id}/messages/"
        one = path + new.body["id"]
        assert errors(await client.send("PATCH", one, {"content": "x"}), "content") == legacy
        removed = await client.send("PATCH", one, {"flags": 0})
        assert errors(removed, "flags") == ["MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG"]
        other = path + old.body["id"]
        assert errors(await client.send("PATCH", other, {"flags": V2, "components": [TEXT]}), "content") == legacy
        became = await client.send("PATCH", other, {"flags": V2, "content": None, "components": [TEXT]})
        assert (became.status, became.body["flags"] & V2) == (200, V2)
        unflagged = await client.send("PATCH", one, {"components": [TEXT, TEXT]})
    assert len(unflagged.body["components"]) == 2


async def test_every_component_gets_an_id(discord: Discord, shop: Workshop) -> None:
    """Its own, or the next free number in the order of the tree."""
    section = {"type": 9, "id": 2, "components": [TEXT], "accessory": BUTTON}
    async with wire(discord) as client:
        made = (await post(client, shop, {"type": 17, "components": [section, {"type": 14}]}, flags=V2)).body
    container = made["components"][0]
    first, second = container["components"]
    assert (container["id"], first["id"], second["id"]) == (1, 2, 5)
    assert (first["components"][0]["id"], first["accessory"]["id"]) == (3, 4)


async def test_a_layout_of_discord_py_is_shown_with_its_files(discord: Discord, shop: Workshop) -> None:
    """Container, section, gallery, file, separator, rows; attachment:// becomes the file's own address."""

    class Layout(ui.LayoutView):
        def __init__(self) -> None:
            super().__init__(timeout=None)
            section = ui.Section[Layout]("Title", "Subtitle", accessory=ui.Thumbnail("https://example.org/a.png"))
            gallery = ui.MediaGallery[Layout](dpy.MediaGalleryItem("attachment://cover.png", description="The cover"))
            box = ui.Container[Layout](
                section, ui.Separator[Layout](spacing=dpy.SeparatorSpacing.large), accent_colour=0xFF
            )
            box.add_item(gallery).add_item(ui.File("attachment://notes.txt"))
            box.add_item(ui.ActionRow(ui.Button(label="Go", custom_id="go")))
            self.add_item(box)

    async with connected(discord) as bot:
        files = [dpy.File(io.BytesIO(b"png"), "cover.png"), dpy.File(io.BytesIO(b"text"), "notes.txt")]
        sent = await bot.place(shop.general).send(view=Layout(), files=files)
        (container,) = sent.components
        assert isinstance(container, dpy.Container)
        gallery, shown = container.children[2], container.children[3]
        assert isinstance(gallery, dpy.MediaGalleryComponent)
        assert isinstance(shown, dpy.FileComponent)
        assert (shown.name, shown.size) == ("notes.txt", 4)
        assert await bot.http.get_from_cdn(gallery.items[0].media.url) == b"png"
    (message,) = discord.messages_in(shop.general)
    assert message.displayed == "Title\nSubtitle"


async def test_an_edit_may_show_files_that_are_there(discord: Discord, shop: Workshop) -> None:
    """attachment:// names what stays and what comes with the edit, and nothing that goes."""
    file = {"type": 13, "file": {"url": "attachment://notes.txt"}}
    async with connected(discord) as bot, wire(discord) as client:
        sent = await bot.place(shop.general).send(file=dpy.File(io.BytesIO(b"text"), "notes.txt"))
        path = f"/channels/{shop.general.id}/messages/{sent.id}"
        gone = await client.send("PATCH", path, {"flags": V2, "components": [file], "attachments": []})
        assert errors(gone, "components.0.file.url") == ["UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"]
        kept = await client.send("PATCH", path, {"flags": V2, "components": [file]})
    assert kept.status == 200


async def test_a_press_is_told_with_the_message(discord: Discord, shop: Workshop) -> None:
    """custom_id, type, component id and the message as it stands, its content whatever the intents."""
    async with wire(discord) as client, socket(discord) as gateway:
        await gateway.identify(discord.token, intents=0)
        await gateway.until("READY")
        await post(client, shop, row(BUTTON), content="press")
        (message,) = discord.messages_in(shop.general)
        await shop.ada.press(message, "Go")
        told = (await gateway.until("INTERACTION_CREATE"))[-1]["d"]
    assert told["type"] == 3
    assert told["data"] == {"component_type": 2, "custom_id": "go", "id": 2}
    assert told["message"]["id"] == str(message.id)
    assert told["message"]["components"][0]["components"][0]["label"] == "Go"


async def test_only_what_is_there_can_be_pressed(discord: Discord, shop: Workshop) -> None:
    """Not what is disabled, removed by an edit, a link, of another author, in a channel unseen, or deleted."""
    disabled = {**BUTTON, "label": "Off", "custom_id": "off", "disabled": True}
    async with wire(discord) as client:
        await post(client, shop, row(BUTTON, disabled, LINK | {"label": "Web"}), content="x")
        (message,) = discord.messages_in(shop.general)
        with pytest.raises(NotPermitted, match="'Off' is disabled"):
            await shop.ada.press(message, "Off")
        with pytest.raises(Misuse, match="opens an address"):
            await shop.ada.press(message, "Web")
        with pytest.raises(Misuse, match="no such component 'Stop' now; it has Go, Off, Web"):
            await shop.ada.press(message, "Stop")
        with pytest.raises(Misuse, match="no such component"):
            await shop.ada.choose(message, "go", "1")
        path = f"/channels/{shop.general.id}/messages/{message.id}"
        await client.send("PATCH", path, {"components": []})
        with pytest.raises(Misuse, match="it has none"):
            await shop.ada.press(message, "Go")
        await client.send("PATCH", path, {"components": [row(BUTTON)]})
        await shop.ada.press(message, "Go")
        await client.send("DELETE", path)
        with pytest.raises(Misuse, match="deleted"):
            await shop.ada.press(message, "Go")
        secret = await client.post(shop.staff, content="x", components=[row(BUTTON)])
        assert secret.status == 200
    with pytest.raises(NotPermitted, match="does not see"):
        await shop.ada.press(discord.messages_in(shop.staff)[0], "Go")
    foreign = await shop.ben.says(shop.general, "x")
    with pytest.raises(Misuse, match="only the bot's own"):
        await shop.ada.press(foreign, "Go")


async def test_choices_are_those_of_the_menu(discord: Discord, shop: Workshop) -> None:
    """Values or labels, as many as it takes; members, roles and channels come with what they are."""

    class Menus(ui.View):
        chosen: Any = None

        @ui.select(
            placeholder="Words",
            min_values=1,
            max_values=2,
            options=[dpy.SelectOption(label="One", value="1"), dpy.SelectOption(label="Two", value="2")],
        )
        async def words(self, press: Press, menu: ui.Select["Menus"]) -> None:
            await press.response.send_message(",".join(menu.values))

        @ui.select(cls=ui.MentionableSelect["Menus"], placeholder="Whom", max_values=2)
        async def whom(self, press: Press, menu: ui.MentionableSelect["Menus"]) -> None:
            await press.response.send_message(",".join(type(value).__name__ for value in menu.values))

        @ui.select(cls=ui.ChannelSelect["Menus"], placeholder="Where", channel_types=[dpy.ChannelType.text])
        async def where(self, press: Press, menu: ui.ChannelSelect["Menus"]) -> None:
            await press.response.send_message(menu.values[0].name)

        @ui.select(cls=ui.UserSelect["Menus"], placeholder="Who", min_values=0)
        async def who(self, press: Press, menu: ui.UserSelect["Menus"]) -> None:
            await press.response.send_message(",".join(value.display_name for value in menu.values) or "nobody")

        @ui.select(cls=ui.RoleSelect["Menus"], placeholder="Role")
        async def role(self, press: Press, menu: ui.RoleSelect["Menus"]) -> None:
            await press.response.send_message(menu.values[0].name)

    crew = shop.guild.create_role("Crew")
    async with app(discord) as bot:
        await bot.bot.place(shop.general).send("choose", view=Menus())
        (message,) = discord.messages_in(shop.general)

        async def answered(menu: str, values: Any) -> str:
            return (await (await shop.ada.choose(message, menu, values)).message()).content

        assert await answered("Words", ["Two", "1"]) == "2,1"
        assert await answered("Whom", [shop.ben, crew]) == "Member,Role"
        assert await answered("Where", shop.help) == "help"
        assert await answered("Who", shop.ben) == "Ben"
        assert await answered("Who", []) == "nobody"
        assert await answered("Role", crew) == "Crew"
    for menu, values, words in (
        ("Words", [], "takes 1 to 2 values, not 0"),
        ("Words", ["1", "2", "1"], "takes 1 to 2 values, not 3"),
        ("Words", "3", "no option '3'"),
        ("Whom", shop.general, "takes User or Member or Role"),
        ("Where", shop.ideas, "does not offer"),
        ("Who", discord.create_user("Stranger"), "not in Workshop"),
    ):
        with pytest.raises(Misuse, match=words):
            await shop.ada.choose(message, menu, values)
