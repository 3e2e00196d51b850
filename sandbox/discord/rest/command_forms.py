"""Reading an application command with Discord's limits.

Source: https://discord.com/developers/docs/interactions/application-commands#application-command-object
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING, Final, cast

from sandbox.discord.commands import Command, CommandKind
from sandbox.discord.options import OptionKind
from sandbox.discord.permissions import EVERYTHING, Permission

from .forms import Form

if TYPE_CHECKING:
    from sandbox.discord.events import Payload

MAX_OPTIONS: Final = 25
MAX_CHOICES: Final = 25
MAX_SIZE: Final = 8000
"""Characters of all names, descriptions and values of a command together."""
_LONGEST_TEXT: Final = 6000
_NESTING: Final = (OptionKind.SUBCOMMAND, OptionKind.GROUP)
_NUMBERS: Final = (OptionKind.INTEGER, OptionKind.NUMBER)
_SUGGESTED: Final = (OptionKind.STRING, *_NUMBERS)
LOCALES: Final = frozenset(
    "id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja "
    "zh-TW ko".split()
)


def read_command(form: Form, guild_id: int | None, before: Command | None = None) -> Command:
    """The command as the body describes it; with ``before``, changed by the body. What is wrong is noted.

    Its id and version are 0 where it is new.
    """
    kind = _kind(form, before)
    name, names = before.name if before else "", before.names if before else None
    if before is None or form.has("name"):
        name = _name(form, kind) or name
    if form.has("name_localizations"):
        names = _localised(form, "name_localizations", kind)
    description = _description(form, kind, before)
    descriptions = before.descriptions if before else None
    if form.has("description_localizations"):
        descriptions = _localised(form, "description_localizations", None)
    options = list(before.options) if before else []
    if form.has("options") and kind is CommandKind.SLASH:
        options = _options(form, depth=0)
    elif form.data.get("options") and kind is not CommandKind.SLASH:
        form.error("options", "APPLICATION_COMMAND_INVALID_OPTIONS", "Context menu commands cannot have options")
    made = Command(
        before.id if before else 0,
        kind,
        name,
        description,
        guild_id,
        options,
        _needs(form) if form.has("default_member_permissions") else (before.needs if before else None),
        _contexts(form, before.contexts if before else None),
        _installs(form, before.installs if before else frozenset({0})),
        form.flag("nsfw", before.nsfw if before else False),
        names,
        descriptions,
        before.version if before else 0,
    )
    if _size(made) > MAX_SIZE:
        form.reject("APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({MAX_SIZE})")
    return made


def _kind(form: Form, before: Command | None) -> CommandKind:
    if before is not None:
        return before.kind
    kind = form.choice("type", [int(kind) for kind in CommandKind])
    return CommandKind(kind or CommandKind.SLASH)


def _name(form: Form, kind: CommandKind | None, field: str = "name") -> str | None:
    name = form.text(field, least=1, most=32, required=True)
    if name is not None and kind in (CommandKind.SLASH, None) and not _is_slash_name(name):
        if name.lower() == name:
            form.error(field, "STRING_TYPE_REGEX", "String value did not match validation regex.")
        form.error(field, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    return name


def _is_slash_name(name: str) -> bool:
    r"""``^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$``, and in lower case where there is one."""
    return name == name.lower() and all(
        char in "-_'"
        or unicodedata.category(char)[0] in "LN"
        or "\u0900" <= char <= "\u097f"
        or "\u0e00" <= char <= "\u0e7f"
        for char in name
    )


def _description(form: Form, kind: CommandKind, before: Command | None) -> str:
    if kind is not CommandKind.SLASH:
        if form.data.get("description"):
            words = "Context menu commands cannot have description"
            form.error("description", "APPLICATION_COMMAND_INVALID_DESCRIPTION", words)
        return ""
    if before is not None and not form.has("description"):
        return before.description
    return form.text("description", least=1, most=100, required=True) or ""


def _localised(form: Form, field: str, kind: CommandKind | None) -> dict[str, str] | None:
    """Texts by locale: names by the rules of names, descriptions (kind None) of 1 to 100 characters."""
    inner = form.child(field)
    if inner is None:
        return None
    found: dict[str, str] = {}
    for locale in inner.data:
        if locale not in LOCALES:
            choices = ", ".join(f"'{known}'" for known in sorted(LOCALES))
            inner.error(locale, "ENUM_TYPE_COERCE", f'Value "{locale}" is not a valid enum value of ({choices}).')
            continue
        text = inner.text(locale, least=1, most=100) if kind is None else _name(inner, kind, locale)
        if text is not None:
            found[locale] = text
    return found


def _needs(form: Form) -> Permission | None:
    """A set of permission bits as a text; null lets anybody, ``"0"`` only administrators."""
    value = form.data["default_member_permissions"]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).isdigit():
        form.error("default_member_permissions", "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
        return None
    return Permission(int(value) & EVERYTHING.value)


def _contexts(form: Form, before: frozenset[int] | None) -> frozenset[int] | None:
    if form.has("contexts"):
        return None if form.data["contexts"] is None else _set(form, "contexts", (0, 1, 2))
    if form.has("dm_permission"):  # deprecated for ``contexts``, and still taken
        return before if form.flag("dm_permission", True) else frozenset({0})
    return before


def _installs(form: Form, before: frozenset[int]) -> frozenset[int]:
    return _set(form, "integration_types", (0, 1)) if form.data.get("integration_types") is not None else before


def _set(form: Form, field: str, among: Collection[int]) -> frozenset[int]:
    items = form.items(field, least=1, most=len(among))
    if any(isinstance(item, bool) or item not in among for item in items):
        form.error(field, "BASE_TYPE_CHOICES", f"Value must be one of {tuple(among)}.")
    if len(set(map(str, items))) != len(items):
        form.error(field, "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this value")
    return frozenset(item for item in items if isinstance(item, int))


def _options(form: Form, *, depth: int) -> list[Payload]:
    """A level of options. Subcommands stand alone, groups hold only subcommands, what is required comes first."""
    parts = form.children("options", most=MAX_OPTIONS)
    kinds = [part.data.get("type") for part in parts]
    if any(kind in _NESTING for kind in kinds) and not all(kind in _NESTING for kind in kinds):
        words = "Sub-command and sub-command group option types are mutually exclusive to all other types"
        form.error("options", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", words)
    seen: set[str] = set()
    optional_seen = False
    found: list[Payload] = []
    for part in parts:
        option = _option(part, depth)
        name = str(option.get("name", ""))
        if name in seen:
            words = f"Option name {name} is already used in these options"
            part.reject("APPLICATION_COMMAND_OPTIONS_NAME_INVALID", words)
        seen.add(name)
        if option.get("required"):
            if optional_seen:
                words = "Required options must be placed before non-required options"
                part.reject("APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", words)
        else:
            optional_seen = True
        found.append(option)
    return found


def _option(part: Form, depth: int) -> Payload:
    part.must_have("type")
    kind = part.choice("type", [int(kind) for kind in OptionKind])
    option: Payload = {"type": kind or 0, "name": _name(part, CommandKind.SLASH) or ""}
    option["description"] = part.text("description", least=1, most=100, required=True) or ""
    for field, rule in (("name_localizations", CommandKind.SLASH), ("description_localizations", None)):
        if part.data.get(field) is not None:
            option[field] = _localised(part, field, rule)
    if kind in _NESTING:
        if depth > (0 if kind == OptionKind.GROUP else 1) or (depth == 1 and kind == OptionKind.GROUP):
            words = "Sub-command groups hold sub-commands, and those hold options of other types"
            part.error("type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", words)
            return option
        option["options"] = _options(part, depth=1 if kind == OptionKind.GROUP else 2)
        return option
    if depth == 1:
        words = "Sub-command groups hold only sub-commands"
        part.error("type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", words)
    if part.flag("required"):
        option["required"] = True
    _bounds(part, option, kind)
    _suggestions(part, option, kind)
    if part.data.get("channel_types") is not None:
        option["channel_types"] = [kind for kind in part.items("channel_types", most=25) if isinstance(kind, int)]
    return option


def _bounds(part: Form, option: Payload, kind: int | None) -> None:
    if kind == OptionKind.STRING:
        for field, least in (("min_length", 0), ("max_length", 1)):
            value = part.integer(field, least=least, most=_LONGEST_TEXT)
            if value is not None:
                option[field] = value
    elif kind in _NUMBERS:
        for field in ("min_value", "max_value"):
            value = part.data.get(field)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                part.error(field, "NUMBER_TYPE_COERCE", f'Value "{value}" is not a number.')
            else:
                option[field] = value


def _suggestions(part: Form, option: Payload, kind: int | None) -> None:
    """Choices or autocompletion, of texts and numbers, and never both."""
    choices, autocomplete = part.children("choices", most=MAX_CHOICES), part.flag("autocomplete")
    if autocomplete:
        option["autocomplete"] = True
        if choices or kind not in _SUGGESTED:
            words = "Options with autocomplete take no choices, and are texts or numbers"
            part.error("autocomplete", "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID", words)
    if choices:
        option["choices"] = _choices(part, choices, kind)


def _choices(part: Form, choices: list[Form], kind: int | None) -> list[Payload]:
    found: list[Payload] = []
    seen: set[str] = set()
    for choice in choices:
        name = choice.text("name", least=1, most=100, required=True)
        choice.must_have("value")
        value = choice.data.get("value")
        if kind == OptionKind.STRING:
            value = choice.text("value", most=100)
        elif value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            choice.error("value", "NUMBER_TYPE_COERCE", f'Value "{value}" is not a number.')
        body: Payload = {"name": name or "", "value": value}
        if choice.data.get("name_localizations") is not None:
            body["name_localizations"] = _localised(choice, "name_localizations", None)
        if name in seen:
            words = f"Option choice name {name} is already used"
            part.error("choices", "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS", words)
        seen.add(name or "")
        found.append(body)
    return found


def _size(command: Command) -> int:
    def of_options(options: Collection[Payload]) -> int:
        total = 0
        for option in options:
            total += len(str(option["name"])) + len(str(option["description"]))
            total += of_options(cast("list[Payload]", option.get("options", [])))
            for choice in cast("list[Payload]", option.get("choices", [])):
                total += len(str(choice["name"])) + (
                    len(str(choice["value"])) if isinstance(choice["value"], str) else 0
                )
        return total

    return len(command.name) + len(command.description) + of_options(command.options)
