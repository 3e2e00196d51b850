"""Reading components: messages of the old kind, Components V2, and modals, with Discord's limits.

Source: https://discord.com/developers/docs/components/reference. The codes of the errors are those that Discord
answers; it documents the limits but not the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sandbox.discord import emoji as emojis
from sandbox.discord.components import ATTACHMENT_SCHEME, LINK, PREMIUM, SELECTS, Part, numbered
from sandbox.discord.messages import IS_COMPONENTS_V2

from .forms import Form

if TYPE_CHECKING:
    from sandbox.discord.events import Payload
    from sandbox.discord.interactions import Interaction, Modal
    from sandbox.discord.world import World

MAX_PARTS: Final = 40
MAX_TEXT: Final = 4000
_ROWS: Final = 5
_ROW_WIDTH: Final = 5
_LEGACY: Final = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
_SCHEMES: Final = ("http", "https", "discord")
_TEXT_PARTS: Final = frozenset({Part.SECTION, Part.TEXT_DISPLAY, Part.MEDIA_GALLERY, Part.FILE, Part.SEPARATOR})
_IN_MESSAGE: Final = frozenset({Part.ACTION_ROW})
_IN_CONTAINER: Final = _TEXT_PARTS | {Part.ACTION_ROW}
_IN_V2: Final = _IN_CONTAINER | {Part.CONTAINER}
_IN_ROW: Final = SELECTS | {Part.BUTTON}
_IN_MODAL: Final = frozenset({Part.ACTION_ROW, Part.TEXT_DISPLAY, Part.LABEL})
_IN_LABEL: Final = SELECTS | {
    Part.TEXT_INPUT,
    Part.FILE_UPLOAD,
    Part.RADIO_GROUP,
    Part.CHECKBOX_GROUP,
    Part.CHECKBOX,
}


def read_components(form: Form, flags: int, world: World, filenames: Collection[str] = ()) -> list[Payload]:
    """The ``components`` of a message, each with its ``id``. ``filenames`` are those that ``attachment://`` may name.

    What is wrong is noted on the form.
    """
    if flags & IS_COMPONENTS_V2:
        reader = _Reader(world, filenames, in_modal=False)
        parts = form.children("components", most=MAX_PARTS)
        reader.read_all(parts, _IN_V2)
        if reader.count > MAX_PARTS:
            text = f"Total number of components cannot exceed {MAX_PARTS}"
            form.error("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", text)
        if reader.text > MAX_TEXT:
            text = f"Components displayable text size exceeds maximum size of {MAX_TEXT}"
            form.error("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", text)
    else:
        reader = _Reader(world, filenames, in_modal=False)
        parts = form.children("components", most=_ROWS)
        reader.read_all(parts, _IN_MESSAGE)
    return [] if reader.broken else numbered([part.data for part in parts])


def refuse_legacy(form: Form, content: str | None, embeds: Sequence[Payload]) -> None:
    """With Components V2 there is no content and there are no embeds; what says so is noted on the form."""
    for name, given in (("content", content), ("embeds", embeds)):
        if given:
            words = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            form.error(name, _LEGACY, words)


def read_modal(form: Form, interaction: Interaction) -> Modal:
    """The ``data`` of a modal. What is wrong is noted on the form."""
    from sandbox.discord.interactions import Modal

    custom_id = form.text("custom_id", least=1, most=100, required=True)
    title = form.text("title", least=1, most=45, required=True)
    form.must_have("components")
    parts = form.children("components", least=1, most=_ROWS)
    reader = _Reader(interaction.world, (), in_modal=True)
    reader.read_all(parts, _IN_MODAL)
    components = [] if reader.broken else numbered([part.data for part in parts])
    return Modal(custom_id or "", title or "", components, interaction)


@dataclass(slots=True)
class _Reader:
    """Goes through a tree of components and counts what is limited in all."""

    world: World
    filenames: Collection[str]
    in_modal: bool
    count: int = 0
    text: int = 0
    broken: bool = False
    """Whether something has no type, so that nothing can be made of it."""
    _custom_ids: set[str] = field(default_factory=set[str])
    _ids: set[int] = field(default_factory=set[int])

    def read_all(self, parts: list[Form], allowed: Collection[Part]) -> None:
        for part in parts:
            self.read(part, allowed)

    def read(self, part: Form, allowed: Collection[Part]) -> None:
        self.count += 1
        kind = part.integer("type")
        part.must_have("type")
        if kind not in allowed:
            self.broken = True
            if kind is not None:
                choices = ", ".join(str(int(choice)) for choice in sorted(allowed))
                part.error("type", "UNION_TYPE_CHOICES", f'Value of field "type" must be one of ({choices},).')
            return
        self._read_id(part)
        _READERS[Part(kind)](self, part)

    def _read_id(self, part: Form) -> None:
        number = part.integer("id", most=(1 << 31) - 1)
        if number and number in self._ids:
            part.error("id", "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
        self._ids.add(number or 0)

    def custom_id(self, part: Form, code: str = "BASE_TYPE_REQUIRED", words: str = "This field is required") -> None:
        custom_id = part.text("custom_id", least=1, most=100)
        if part.data.get("custom_id") is None:
            part.error("custom_id", code, words)
        elif custom_id in self._custom_ids:
            part.error("custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
        elif custom_id is not None:
            self._custom_ids.add(custom_id)

    # layout

    def row(self, part: Form) -> None:
        part.must_have("components")
        held = part.children("components", least=1, most=_ROW_WIDTH)
        self.read_all(held, frozenset({Part.TEXT_INPUT}) if self.in_modal else _IN_ROW)
        width = 0
        for one in held:
            width += 1 if one.data.get("type") == Part.BUTTON else _ROW_WIDTH
            if width > _ROW_WIDTH:
                one.reject("COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")

    def section(self, part: Form) -> None:
        part.must_have("components")
        part.must_have("accessory")
        self.read_all(part.children("components", least=1, most=3), frozenset({Part.TEXT_DISPLAY}))
        accessory = part.child("accessory")
        if accessory is not None:
            self.read(accessory, frozenset({Part.BUTTON, Part.THUMBNAIL}))

    def container(self, part: Form) -> None:
        part.must_have("components")
        part.integer("accent_color", most=0xFFFFFF)
        part.flag("spoiler")
        self.read_all(part.children("components", least=1, most=MAX_PARTS), _IN_CONTAINER)

    def label(self, part: Form) -> None:
        part.text("label", least=1, most=45, required=True)
        part.text("description", most=100)
        part.must_have("component")
        component = part.child("component")
        if component is not None:
            self.read(component, _IN_LABEL)
            if component.data.get("label") is not None and component.data.get("type") == Part.TEXT_INPUT:
                component.error("label", "COMPONENT_LABEL_NOT_ALLOWED", "The label component has the label")

    # content

    def text_display(self, part: Form) -> None:
        self.text += len(part.text("content", least=1, most=MAX_TEXT, required=True) or "")

    def thumbnail(self, part: Form) -> None:
        self._media(part, "media")
        self._described(part)

    def gallery(self, part: Form) -> None:
        part.must_have("items")
        for item in part.children("items", least=1, most=10):
            self._media(item, "media")
            self._described(item)

    def file(self, part: Form) -> None:
        self._media(part, "file", only_attachments=True)
        part.flag("spoiler")

    def separator(self, part: Form) -> None:
        part.flag("divider", True)
        part.choice("spacing", (1, 2))

    def _described(self, part: Form) -> None:
        part.text("description", most=1024)
        part.flag("spoiler")

    def _media(self, part: Form, name: str, *, only_attachments: bool = False) -> None:
        part.must_have(name)
        item = part.child(name)
        url = None if item is None else item.text("url", least=1, most=2048, required=True)
        if item is None or url is None:
            return
        if url.startswith(ATTACHMENT_SCHEME):
            if url.removeprefix(ATTACHMENT_SCHEME) not in self.filenames:
                words = f"The referenced attachment was not found: {url}"
                item.error("url", "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", words)
        elif only_attachments:
            item.error("url", "UNFURLED_MEDIA_ITEM_ATTACHMENT_REQUIRED", "Only attachment:// can be shown as a file")
        else:
            _check_scheme(item, url, ("http", "https"))

    # what is pressed, chosen and filled in

    def button(self, part: Form) -> None:
        part.must_have("style")
        style = part.choice("style", range(1, 7))
        part.text("label", most=80)
        part.flag("disabled")
        self._emoji(part)
        if style == LINK:
            self._link(part)
        elif style == PREMIUM:
            part.snowflake("sku_id", required=True)
        else:
            self.custom_id(part, "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
            if part.data.get("url") is not None:
                part.error("url", "BUTTON_COMPONENT_INVALID_URL", "Only link buttons can have a url")
        if style != PREMIUM and not part.data.get("label") and not part.data.get("emoji"):
            part.must_have("label")
            if part.data.get("label") == "":
                part.error("label", "BASE_TYPE_REQUIRED", "This field is required")

    def _link(self, part: Form) -> None:
        url = part.text("url", least=1, most=512, required=True)
        if url is not None:
            _check_scheme(part, url, _SCHEMES)
        if part.data.get("custom_id") is not None:
            words = "A custom id and url cannot both be specified"
            part.error("custom_id", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", words)

    def _emoji(self, part: Form) -> None:
        emoji = part.child("emoji")
        if emoji is None:
            return
        emoji_id, name = emoji.snowflake("id"), emoji.text("name", most=32)
        if emoji_id is not None:
            if not any(emoji_id in guild.emojis for guild in self.world.guilds.values()):
                emoji.error("id", "COMPONENT_INVALID_EMOJI", "Invalid emoji")
        elif emojis.parse(name or "") is None:
            emoji.error("name", "COMPONENT_INVALID_EMOJI", "Invalid emoji")

    def select(self, part: Form) -> None:
        self.custom_id(part)
        part.text("placeholder", most=150)
        disabled = part.flag("disabled")
        if self.in_modal and disabled:
            part.error("disabled", "COMPONENT_CANNOT_BE_DISABLED_IN_MODAL", "Cannot be disabled in a modal")
        self._counts(part, least=0, most=25)
        kind = part.data.get("type")
        if kind == Part.STRING_SELECT:
            self._options(part, least=1, most=25, described=100)
        elif kind == Part.CHANNEL_SELECT:
            part.items("channel_types", most=25)
        if kind != Part.STRING_SELECT:
            for default in part.children("default_values", most=25):
                default.snowflake("id", required=True)

    def _counts(self, part: Form, *, least: int, most: int) -> None:
        low, high = part.integer("min_values", least=least, most=most), part.integer("max_values", least=1, most=most)
        if low is not None and low > (1 if high is None else high):
            words = f"int value should be less than or equal to {1 if high is None else high}."
            part.error("min_values", "NUMBER_TYPE_MAX", words)

    def _options(self, part: Form, *, least: int, most: int, described: int) -> None:
        part.must_have("options")
        options = part.children("options", least=least, most=most)
        seen: set[str] = set()
        for option in options:
            option.text("label", least=1, most=100, required=True)
            value = option.text("value", least=1, most=100, required=True)
            option.text("description", most=described)
            self._emoji(option)
            if value in seen:
                words = "The specified option value is already used"
                option.error("value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", words)
            seen.add(value or "")
        self._must_suit(part, options)

    def _must_suit(self, part: Form, options: list[Form]) -> None:
        """No more may be chosen than there is, and no more be chosen from the start than may be."""
        usual = len(options) if part.data.get("type") == Part.CHECKBOX_GROUP else 1
        most = part.data.get("max_values", usual)
        if not isinstance(most, int) or not options:
            return
        if most > len(options):
            words = f"int value should be less than or equal to {len(options)}."
            part.error("max_values", "NUMBER_TYPE_MAX", words)
        elif sum(option.data.get("default") is True for option in options) > most:
            words = "The specified number of default values exceeds the specified maximum values"
            part.error("options", "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES", words)

    def text_input(self, part: Form) -> None:
        self.custom_id(part)
        part.must_have("style")
        part.choice("style", (1, 2))
        part.text("label", most=45)
        low = part.integer("min_length", most=4000)
        high = part.integer("max_length", least=1, most=4000)
        if low is not None and high is not None and low > high:
            part.error("min_length", "NUMBER_TYPE_MAX", f"int value should be less than or equal to {high}.")
        part.flag("required", True)
        part.text("value", most=4000)
        part.text("placeholder", most=100)

    def file_upload(self, part: Form) -> None:
        self.custom_id(part)
        self._counts(part, least=0, most=10)
        part.flag("required", True)

    def radio(self, part: Form) -> None:
        self.custom_id(part)
        part.flag("required", True)
        self._options(part, least=2, most=10, described=100)

    def boxes(self, part: Form) -> None:
        self.custom_id(part)
        part.flag("required", True)
        if part.data.get("min_values") is not None and part.data.get("max_values") is None:
            part.integer("min_values", most=10)
        else:
            self._counts(part, least=0, most=10)
        self._options(part, least=1, most=10, described=100)

    def box(self, part: Form) -> None:
        self.custom_id(part)
        part.flag("default")


def _check_scheme(part: Form, url: str, allowed: tuple[str, ...]) -> None:
    scheme, found, rest = url.partition("://")
    if not found or scheme not in allowed:
        words = f'Scheme "{scheme if found else ""}" is not supported. Scheme must be one of {allowed}.'
        part.error("url", "URL_TYPE_INVALID_SCHEME", words)
    elif not rest:
        part.error("url", "URL_TYPE_INVALID_URL", "Not a well formed URL.")


def _readers() -> Iterator[tuple[Part, Callable[[_Reader, Form], None]]]:
    yield Part.ACTION_ROW, _Reader.row
    yield Part.BUTTON, _Reader.button
    for kind in SELECTS:
        yield kind, _Reader.select
    yield Part.TEXT_INPUT, _Reader.text_input
    yield Part.SECTION, _Reader.section
    yield Part.TEXT_DISPLAY, _Reader.text_display
    yield Part.THUMBNAIL, _Reader.thumbnail
    yield Part.MEDIA_GALLERY, _Reader.gallery
    yield Part.FILE, _Reader.file
    yield Part.SEPARATOR, _Reader.separator
    yield Part.CONTAINER, _Reader.container
    yield Part.LABEL, _Reader.label
    yield Part.FILE_UPLOAD, _Reader.file_upload
    yield Part.RADIO_GROUP, _Reader.radio
    yield Part.CHECKBOX_GROUP, _Reader.boxes
    yield Part.CHECKBOX, _Reader.box


_READERS: Final[Mapping[Part, Callable[[_Reader, Form], None]]] = dict(_readers())
