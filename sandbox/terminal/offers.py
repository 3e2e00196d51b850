"""Using what the bot offers, as it is typed at the prompt: commands with options, buttons, menus, forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from sandbox.discord import Channel, Member, Message, Misuse, Modal, Role, Use
from sandbox.discord.commands import Command, CommandKind
from sandbox.discord.components import SELECTS, Part, options_of, walk
from sandbox.discord.filling import fields
from sandbox.discord.options import OptionKind, leaf, spellings

if TYPE_CHECKING:
    from sandbox.discord.events import Payload
    from sandbox.discord.options import Value
    from sandbox.discord.places import Guild

_TRUE: Final = frozenset({"yes", "true", "on", "1"})
_FALSE: Final = frozenset({"no", "false", "off", "0"})


@dataclass(slots=True)
class Form:
    """A form under way: one line fills one field, in their order."""

    modal: Modal
    left: list[Payload]
    values: dict[str, Value | list[Value]] = field(default_factory=dict[str, "Value | list[Value]"])

    @property
    def next(self) -> Payload | None:
        return self.left[0] if self.left else None


def begin(modal: Modal) -> Form:
    return Form(modal, list(fields(modal).values()))


def question(part: Payload) -> str:
    """What a form asks next."""
    options = ", ".join(str(option["label"]) for option in options_of(part))
    return f"{part.get('label')}{f' ({options})' if options else ''}"


def fill(form: Form, line: str, guild: Guild) -> None:
    """Put a line into the form's next field; an empty one leaves the field as it was. Raises Misuse."""
    part = form.left[0]
    text, name, kind = line.strip(), str(part["custom_id"]), part["type"]
    if not text:
        pass
    elif kind == Part.TEXT_INPUT:
        form.values[name] = text
    elif kind == Part.CHECKBOX:
        form.values[name] = _flag(text)
    elif kind == Part.FILE_UPLOAD:
        raise Misuse("files cannot be sent from here")
    else:
        form.values[name] = _several(part, text, guild)
    del form.left[0]


async def press(viewer: Member, message: Message, name: str) -> Use:
    """Press the button of that label, in any case."""
    return await viewer.press(message, _exactly(message, name, {Part.BUTTON}))


async def choose(viewer: Member, message: Message, text: str, guild: Guild) -> Use:
    """Choose in a message's menu: ``One, Two``, or with several menus ``Which: One, Two``."""
    menus = [part for part in walk(message.components) if part["type"] in SELECTS]
    head, colon, rest = text.partition(":")
    named = [m for m in menus if _named(m, head.strip())] if colon else []
    if not named and len(menus) != 1:
        names = ", ".join(str(menu.get("placeholder") or menu["custom_id"]) for menu in menus)
        raise Misuse(
            f"there are {len(menus)} menus; begin with the name of one: {names}" if menus else "there is no menu"
        )
    menu, chosen = (named[0], rest) if named else (menus[0], text)
    return await viewer.choose(message, str(menu["custom_id"]), _several(menu, chosen, guild))


async def apps(viewer: Member, message: Message, name: str) -> Use:
    """Use a command of the message's menu, in any case of its name."""
    offered = message.channel.world.commands.offered(viewer.user, message.channel, CommandKind.MESSAGE)
    found = next((command for command in offered if command.name.casefold() == name.casefold()), None)
    if found is None:
        raise Misuse(f"there is no {name!r}; there is {', '.join(command.name for command in offered) or 'nothing'}")
    return await viewer.context_menu(found.name, message)


async def slash(viewer: Member, place: Channel, line: str, guild: Guild) -> Use | None:
    """Use the bot's slash command, ``memory add text: The key is red``. None where it has none of that name.

    A text before the first ``name:`` is the first option's. Raises Misuse for what the command does not take.
    """
    found = _command(viewer, place, line)
    if found is None:
        return None
    command, spelling = found
    options, _ = leaf(command, spelling.split()[1:])
    given = _options(options, line[len(spelling) :].strip(), guild)
    return await viewer.slash(place, spelling, **given)


def usages(viewer: Member, place: Channel) -> list[tuple[str, str]]:
    """The bot's commands here, each with its options and what it says of itself."""
    found: list[tuple[str, str]] = []
    for command in place.world.commands.offered(viewer.user, place, CommandKind.SLASH):
        for spelling in spellings(command):
            options, path = leaf(command, spelling.split()[1:])
            wanted = [f"{o['name']}: …" if o.get("required") else f"[{o['name']}: …]" for o in options]
            about = path[-1]["description"] if path else command.description
            found.append((" ".join([f"/{spelling}", *wanted]), str(about)))
    return found


def _command(viewer: Member, place: Channel, line: str) -> tuple[Command, str] | None:
    """The command that a line begins with, and its whole name. Raises Misuse where a subcommand is missing."""
    offered = place.world.commands.offered(viewer.user, place, CommandKind.SLASH)
    command = next((command for command in offered if command.name == line.split()[0]), None)
    if command is None:
        return None
    for spelling in sorted(spellings(command), key=len, reverse=True):
        if f"{line} ".startswith(f"{spelling} "):
            return command, spelling
    raise Misuse(f"{command} is used by one of its subcommands: {', '.join(spellings(command))}")


def _options(options: list[Payload], text: str, guild: Guild) -> dict[str, Value]:
    by_name = {str(option["name"]): option for option in options}
    names = "|".join(re.escape(name) for name in by_name)
    if not names:
        if text:
            raise Misuse("this command takes no options")
        return {}
    first, *rest = re.split(rf"(?<!\S)({names}):\s*", text)
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    if first.strip():
        pairs.insert(0, (next(iter(by_name)), first))
    return {name: _value(by_name[name], typed.strip(), guild) for name, typed in pairs}


def _value(option: Payload, text: str, guild: Guild) -> Value:
    kind = option["type"]
    if kind == OptionKind.BOOLEAN:
        return _flag(text)
    if kind in (OptionKind.INTEGER, OptionKind.NUMBER) and not option.get("choices"):
        try:
            return int(text) if kind == OptionKind.INTEGER else float(text)
        except ValueError:
            raise Misuse(f"{option['name']} takes a number, not {text!r}") from None
    if kind in (OptionKind.USER, OptionKind.ROLE, OptionKind.CHANNEL, OptionKind.MENTIONABLE):
        return _thing(text, guild)
    if kind == OptionKind.ATTACHMENT:
        raise Misuse("files cannot be sent from here")
    return text


def _several(part: Payload, text: str, guild: Guild) -> list[Value]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if part["type"] not in SELECTS - {Part.STRING_SELECT}:
        labels = {str(option["label"]).casefold(): str(option["label"]) for option in options_of(part)}
        return [labels.get(word.casefold(), word) for word in words]
    return [_thing(word, guild) for word in words]


def _thing(text: str, guild: Guild) -> Member | Role | Channel:
    name = text.removeprefix("@").removeprefix("#").casefold()
    things: list[Member | Role | Channel] = [*guild.members.values(), *guild.roles.values(), *guild.places()]
    found = next((thing for thing in things if thing.name.casefold() == name), None)
    if found is None:
        raise Misuse(f"there is no member, role or channel {text!r}")
    return found


def _flag(text: str) -> bool:
    if text.casefold() not in _TRUE | _FALSE:
        raise Misuse(f"it is yes or no, not {text!r}")
    return text.casefold() in _TRUE


def _exactly(message: Message, name: str, kinds: set[Part]) -> str:
    """The custom_id of the component of that name; the name itself where there is none, for the refusal to say so."""
    parts = [part for part in walk(message.components) if part["type"] in kinds]
    return next((str(part["custom_id"]) for part in parts if _named(part, name) and part.get("custom_id")), name)


def _named(part: Payload, name: str) -> bool:
    return any(
        str(cast("object", part.get(key)) or "").casefold() == name.casefold()
        for key in ("label", "placeholder", "custom_id")
    )
