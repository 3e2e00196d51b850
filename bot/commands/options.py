"""The options of slash commands, each declared once with its type: what Discord is told, and what a handler reads.

    KEY = text("key", "A stable name.", most=128)
    ...
    key = command.get(KEY)          # str | None

Discord keeps the bounds for its own clients; what comes is read strictly all the same.
Source: https://discord.com/developers/docs/interactions/application-commands#application-command-object
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

from bot.bodies import Body
from bot.errors import CommandRefused
from bot.payloads import clean, snowflake
from memory.ids import PlaceId, UserId

T = TypeVar("T")
Choices: TypeAlias = Sequence[tuple[str, T]]

OptionKind = Literal["text", "whole", "number", "flag", "person", "place", "role"]
_TYPES: Final[Mapping[OptionKind, int]] = {
    "text": 3,
    "whole": 4,
    "flag": 5,
    "person": 6,
    "place": 7,
    "role": 8,
    "number": 10,
}

TEXT_PLACES: Final = (0, 2, 5, 10, 11, 12, 13, 15, 16)
"""Discord's channel types in which people write, or which hold threads."""


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """One option. `bounds` are Discord's own fields; `choices` pairs of what is shown and what is meant.

    `suggested`: the handler's suggestions are asked for while it is typed.
    """

    name: str
    description: str
    kind: OptionKind
    read: Callable[[object], T]
    required: bool = False
    bounds: Mapping[str, object] = field(default_factory=dict[str, object])
    choices: Choices[Any] = ()
    suggested: bool = False

    def value(self, raw: object) -> T:
        """What was given, in its type. Raises CommandRefused where it is not what the option takes."""
        try:
            read = self.read(raw)
        except (TypeError, ValueError, OverflowError) as error:
            raise CommandRefused(f"The option {self.name} is not what I can take, so nothing was done.") from error
        if self.choices and read not in [meant for _, meant in self.choices]:
            raise CommandRefused(f"The option {self.name} takes one of what is offered, so nothing was done.")
        return read

    def body(self, localised: Callable[[str], Mapping[str, str]]) -> Body:
        """As Discord is told. `localised`: words in other languages, by locale."""
        body: Body = {"type": _TYPES[self.kind], "name": self.name, "description": self.description, **self.bounds}
        if words := localised(self.description):
            body["description_localizations"] = dict(words)
        if self.required:
            body["required"] = True
        if self.choices:
            body["choices"] = [
                {"name": shown, "value": meant, **({"name_localizations": dict(words)} if words else {})}
                for shown, meant in self.choices
                for words in [localised(shown)]
            ]
        if self.suggested:
            body["autocomplete"] = True
        return body


def text(
    name: str,
    description: str,
    *,
    required: bool = False,
    least: int = 1,
    most: int = 1000,
    choices: Sequence[str] = (),
    suggested: bool = False,
) -> Option[str]:
    """Words, of `least` to `most` characters."""

    def read(raw: object) -> str:
        if not isinstance(raw, str):
            raise TypeError("no text")
        written = clean(raw)
        if choices:
            return written
        if not least <= len(written) <= most:
            raise CommandRefused(f"The option {name} takes {least} to {most} characters, so nothing was done.")
        return written

    bounds: dict[str, object] = {} if choices else {"min_length": least, "max_length": most}
    pairs = tuple((each, each) for each in choices)
    return Option(name, description, "text", read, required, bounds, pairs, suggested)


def whole(
    name: str,
    description: str,
    *,
    required: bool = False,
    least: int,
    most: int,
    choices: Choices[int] = (),
    suggested: bool = False,
) -> Option[int]:
    """A whole number from `least` to `most`."""

    def read(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise TypeError("no whole number")
        if not least <= raw <= most:
            raise CommandRefused(f"The option {name} takes a number from {least} to {most}, so nothing was done.")
        return raw

    bounds: dict[str, object] = {} if choices else {"min_value": least, "max_value": most}
    return Option(name, description, "whole", read, required, bounds, choices, suggested)


def number(name: str, description: str, *, required: bool = False, least: float, most: float) -> Option[float]:
    """A number from `least` to `most`."""

    def read(raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not math.isfinite(raw):
            raise TypeError("no number")
        if not least <= raw <= most:
            raise CommandRefused(f"The option {name} takes a number from {least:g} to {most:g}, so nothing was done.")
        return float(raw)

    return Option(name, description, "number", read, required, {"min_value": least, "max_value": most})


def flag(name: str, description: str, *, required: bool = False) -> Option[bool]:
    """Yes or no."""

    def read(raw: object) -> bool:
        if not isinstance(raw, bool):
            raise TypeError("neither yes nor no")
        return raw

    return Option(name, description, "flag", read, required)


def person(name: str, description: str, *, required: bool = False) -> Option[UserId]:
    """Somebody, who need not be a member (any more)."""
    return Option(name, description, "person", lambda raw: UserId(_id(raw)), required)


def place(
    name: str, description: str, *, required: bool = False, kinds: Sequence[int] = TEXT_PLACES
) -> Option[PlaceId]:
    """A channel or thread of the guild."""
    bounds = {"channel_types": list(kinds)}
    return Option(name, description, "place", lambda raw: PlaceId(_id(raw)), required, bounds)


def role(name: str, description: str, *, required: bool = False) -> Option[int]:
    """A role of the guild."""
    return Option(name, description, "role", _id, required)


def given(options: object) -> tuple[tuple[str, ...], Mapping[str, object], str | None]:
    """The subcommands' names, what was given, and which option has the cursor, from an interaction's `data.options`.

    Raises KeyError, TypeError, ValueError or AttributeError for what Discord never sends.
    """
    path: list[str] = []
    level = cast("Sequence[Mapping[str, Any]]", options or ())
    while len(level) == 1 and int(level[0]["type"]) in (1, 2):
        path.append(str(level[0]["name"]))
        level = cast("Sequence[Mapping[str, Any]]", level[0].get("options") or ())
    focused = next((str(each["name"]) for each in level if each.get("focused")), None)
    return tuple(path), {str(each["name"]): each.get("value") for each in level}, focused


def _id(raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, str | int):
        raise TypeError("no id")
    return snowflake(raw)
