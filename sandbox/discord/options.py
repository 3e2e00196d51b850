"""A slash command's options as a member fills them in, checked as Discord's client checks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final, cast

from .errors import Misuse
from .messages import File
from .people import Member, Role, User
from .places import Channel

if TYPE_CHECKING:
    from .commands import Command
    from .events import Payload
    from .invocation import Resolvable

Value = str | int | float | bool | User | Member | Role | Channel | File


class OptionKind(IntEnum):
    SUBCOMMAND = 1
    GROUP = 2
    STRING = 3
    INTEGER = 4
    BOOLEAN = 5
    USER = 6
    CHANNEL = 7
    ROLE = 8
    MENTIONABLE = 9
    NUMBER = 10
    ATTACHMENT = 11


_NESTING: Final = (OptionKind.SUBCOMMAND, OptionKind.GROUP)
_THINGS: Final[Mapping[int, tuple[type, ...]]] = {
    OptionKind.USER: (User, Member),
    OptionKind.CHANNEL: (Channel,),
    OptionKind.ROLE: (Role,),
    OptionKind.MENTIONABLE: (User, Member, Role),
}


@dataclass(slots=True)
class Filled:
    """The ``options`` of an interaction, and the things that they name."""

    options: list[Payload] = field(default_factory=list["Payload"])
    things: list[Resolvable] = field(default_factory=list["Resolvable"])
    files: list[tuple[Payload, File]] = field(default_factory=list["tuple[Payload, File]"])
    """Options still without a value, because their file is not uploaded yet."""


def listed(of: Mapping[str, object], name: str = "options") -> list[Payload]:
    return cast("list[Payload]", of.get(name) or [])


def spellings(command: Command) -> list[str]:
    """A slash command's whole names: itself, or one for each of its subcommands."""

    def below(prefix: str, options: Sequence[Payload]) -> list[str]:
        nested = [option for option in options if option["type"] in _NESTING]
        if not nested:
            return [prefix]
        return [name for option in nested for name in below(f"{prefix} {option['name']}", listed(option))]

    return below(command.name, command.options)


def filled(command: Command, words: Sequence[str], given: Mapping[str, Value], *, focused: str | None = None) -> Filled:
    """What a member typed as the options of an interaction. ``words`` are the names of group and subcommand.

    With ``focused`` it is typed so far: nothing need be complete, and the option of that name has the cursor. Raises
    Misuse for what the client would not let them send.
    """
    declared, path = leaf(command, words)
    known = {str(option["name"]): option for option in declared}
    strange = [name for name in given if name not in known]
    if strange or (focused is not None and focused not in known):
        name = strange[0] if strange else focused
        raise Misuse(f"{command} has no option {name!r}; it has {', '.join(known) or 'none'}")
    result = Filled()
    for name, option in known.items():
        if name in given or name == focused:
            result.options.append(_one(result, option, given.get(name, ""), focused=focused))
        elif option.get("required") and focused is None:
            raise Misuse(f"{command} needs the option {name!r}")
    for step in reversed(path):
        result.options = [{"name": step["name"], "type": step["type"], "options": result.options}]
    return result


def leaf(command: Command, words: Sequence[str]) -> tuple[list[Payload], list[Payload]]:
    """The options of the (sub)command that the words name, and the steps down to it."""
    options, path = list(command.options), list["Payload"]()
    for word in words:
        step = next((option for option in options if option["name"] == word and option["type"] in _NESTING), None)
        if step is None:
            raise Misuse(f"there is no {' '.join(words)!r} in {command}; there are {', '.join(spellings(command))}")
        path.append(step)
        options = listed(step)
    if any(option["type"] in _NESTING for option in options):
        raise Misuse(f"{command} is used by one of its subcommands: {', '.join(spellings(command))}")
    return options, path


def _one(result: Filled, option: Payload, value: Value, *, focused: str | None) -> Payload:
    kind, name = cast("int", option["type"]), str(option["name"])
    body: Payload = {"name": name, "type": kind}
    if name == focused:
        if not option.get("autocomplete"):
            raise Misuse(f"the option {name!r} has no autocompletion")
        return {**body, "value": str(value), "focused": True}
    wanted = _THINGS.get(kind)
    if wanted is not None:
        if not isinstance(value, wanted):
            raise Misuse(f"the option {name!r} takes {' or '.join(w.__name__ for w in wanted)}, not {value!r}")
        thing = value
        if (
            isinstance(thing, Channel)
            and (kinds := option.get("channel_types"))
            and thing.kind not in cast("list[int]", kinds)
        ):
            raise Misuse(f"the option {name!r} does not take a channel of the kind of {thing}")
        result.things.append(thing)
        return {**body, "value": str(thing.id)}
    if kind == OptionKind.ATTACHMENT:
        if not isinstance(value, File):
            raise Misuse(f"the option {name!r} takes a File, not {value!r}")
        result.files.append((body, value))
        return body
    return {**body, "value": _scalar(option, kind, name, value)}


def _scalar(option: Payload, kind: int, name: str, value: Value) -> str | int | float | bool:
    fits = {
        OptionKind.STRING: isinstance(value, str),
        OptionKind.BOOLEAN: isinstance(value, bool),
        OptionKind.INTEGER: isinstance(value, int) and not isinstance(value, bool),
        OptionKind.NUMBER: isinstance(value, int | float) and not isinstance(value, bool),
    }
    if not fits[OptionKind(kind)]:
        raise Misuse(f"the option {name!r} does not take {value!r}")
    scalar = cast("str | int | float | bool", value)
    choices = listed(option, "choices")
    if choices:
        for choice in choices:
            if scalar in (choice["value"], choice["name"]):
                return cast("str | int | float", choice["value"])
        raise Misuse(f"the option {name!r} takes one of {', '.join(str(choice['name']) for choice in choices)}")
    measure = len(scalar) if isinstance(scalar, str) else scalar
    least, most = ("min_length", "max_length") if isinstance(scalar, str) else ("min_value", "max_value")
    low, high = cast("float | None", option.get(least)), cast("float | None", option.get(most))
    if isinstance(scalar, str):
        low, high = 1 if low is None and option.get("required") else low, 6000 if high is None else high
    if (low is not None and measure < low) or (high is not None and measure > high):
        raise Misuse(f"the option {name!r} takes {low} to {high}, not {measure}")
    return scalar
