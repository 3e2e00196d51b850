"""What a command is: its name, its words and its options, declared once, from which everything else is made.

A slash command of several words belongs to a Family, which Discord shows as one command with subcommands. Whether it is
offered somewhere is a convenience of Discord's; whether it may be used is decided when it is (I5).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import discord

from bot.bodies import Body
from bot.commands.options import Option
from bot.commands.words import localised

Where = Literal["everywhere", "guilds"]
_CONTEXTS: Final[Mapping[Where, Sequence[int]]] = {"everywhere": (0, 1), "guilds": (0,)}

_SUBCOMMAND, _GROUP = 1, 2
_MENUS: Final[Mapping[str, int]] = {"member": 2, "message": 3}


@dataclass(frozen=True, slots=True)
class Family:
    """Slash commands that share their first word. `offered_to`: who sees them unless a guild says otherwise."""

    name: str
    description: str
    where: Where = "everywhere"
    offered_to: discord.Permissions | None = None


@dataclass(frozen=True, slots=True)
class Slash:
    """A slash command. `name` is its last word; `group` the one between it and the family's, where there is one."""

    name: str
    description: str
    options: tuple[Option[Any], ...] = ()
    family: Family | None = None
    group: str | None = None
    where: Where = "everywhere"
    offered_to: discord.Permissions | None = None

    @property
    def path(self) -> str:
        """All its words: `memory show`."""
        words = [self.family.name] if self.family is not None else []
        return " ".join([*words, *([self.group] if self.group else []), self.name])

    @property
    def shown(self) -> str:
        """As people write it."""
        return f"/{self.path}"


@dataclass(frozen=True, slots=True)
class Menu:
    """A command in the menu of a message or of a member (Apps). `description` is for /help; Discord shows none."""

    name: str
    description: str
    on: Literal["message", "member"]
    where: Where = "everywhere"
    offered_to: discord.Permissions | None = None

    @property
    def path(self) -> str:
        """Its name, which may have spaces and capitals."""
        return self.name

    @property
    def shown(self) -> str:
        """As people find it."""
        return f"{self.name} (in the menu of a {self.on}, under Apps)"


Declaration: TypeAlias = Slash | Menu


def bodies(declarations: Iterable[Declaration]) -> tuple[Body, ...]:
    """What Discord is told of all of them together, in a stable order."""
    made: dict[str, Body] = {}
    for each in sorted(declarations, key=lambda one: one.path):
        match each:
            case Menu():
                made[each.path] = _top(each, {"type": _MENUS[each.on], **_named(each.name)})
            case Slash():
                family = each.family
                if family is None:
                    made[each.path] = _top(each, {"type": 1, **_slash(each)})
                    continue
                body = made.setdefault(
                    family.name, _top(family, {"type": 1, **_described(family.name, family.description)})
                )
                _into(body, each)
    return tuple(made.values())


def _top(each: Declaration | Family, body: Body) -> Body:
    body["contexts"] = list(_CONTEXTS[each.where])
    body["integration_types"] = [0]
    if each.offered_to is not None:
        body["default_member_permissions"] = str(each.offered_to.value)
    return body


def _into(body: Body, each: Slash) -> None:
    """Put a subcommand into its family's body."""
    level: list[Body] = body.setdefault("options", [])
    if each.group is not None:
        group = next((one for one in level if one["name"] == each.group), None)
        if group is None:
            options: list[Body] = []
            group = {"type": _GROUP, **_described(each.group, each.group.capitalize()), "options": options}
            level.append(group)
        level = cast("list[Body]", group["options"])
    level.append({"type": _SUBCOMMAND, **_slash(each)})


def _slash(each: Slash) -> Body:
    body = _described(each.name, each.description)
    # What is required stands first, as Discord wants it.
    options = sorted(each.options, key=lambda option: not option.required)
    if options:
        body["options"] = [option.body(localised) for option in options]
    return body


def _described(name: str, description: str) -> Body:
    body: Body = {"name": name, "description": description}
    if words := localised(description):
        body["description_localizations"] = dict(words)
    return body


def _named(name: str) -> Body:
    """Of a menu's entry the name is all that is shown."""
    words = localised(name)
    return {"name": name, **({"name_localizations": dict(words)} if words else {})}
