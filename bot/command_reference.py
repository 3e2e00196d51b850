"""The page of docs/reference about commands, written from their declarations: `python -m bot.command_reference`."""

from pathlib import Path
from typing import Final

from bot.catalogue import COMMANDS
from bot.commands.declaration import Declaration, Menu, Slash

PAGE: Final = Path("docs/reference/commands.md")

_HEAD: Final = """# Commands

Written by `make docs` from the declarations of the commands; do not edit. [How to add one](../how-to/add-a-command.md).

What Discord offers to whom is a default that each server can change; whether somebody may do it is decided when they
do it.
"""


def reference() -> str:
    """The page as Markdown."""
    slashes = [each for each in COMMANDS if isinstance(each, Slash)]
    menus = [each for each in COMMANDS if isinstance(each, Menu)]
    sections = [_slash(each) for each in sorted(slashes, key=lambda one: one.path)]
    rows = [f"| {each.name} | a {each.on} | {each.description} |" for each in sorted(menus, key=lambda one: one.name)]
    apps = ["## In menus, under Apps\n", "| name | of | |", "|---|---|---|", *rows]
    return "\n".join([_HEAD, *sections, *apps]) + "\n"


def _slash(each: Slash) -> str:
    lines = [f"## `{each.shown}`\n", f"{each.description}{_where(each)}\n"]
    if each.options:
        lines += ["| option | | |", "|---|---|---|"]
    for option in each.options:
        given = "needed" if option.required else "may be left out"
        kind = " or ".join(f"`{shown}`" for shown, _ in option.choices) or option.kind
        lines.append(f"| `{option.name}` | {kind}, {given} | {option.description} |")
    return "\n".join([*lines, ""] if each.options else lines)


def _where(each: Declaration) -> str:
    where = each.family.where if isinstance(each, Slash) and each.family is not None else each.where
    return " In servers only." if where == "guilds" else ""


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
