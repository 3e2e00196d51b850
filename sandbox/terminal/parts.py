"""Buttons, menus and files of a message in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from sandbox.discord.components import LINK, SELECTS, Part, inner, media, options_of

if TYPE_CHECKING:
    from sandbox.discord.events import Payload
    from sandbox.discord.messages import Message

_TAKES: Final = {
    Part.USER_SELECT: "a member",
    Part.ROLE_SELECT: "a role",
    Part.MENTIONABLE_SELECT: "a member or role",
    Part.CHANNEL_SELECT: "a channel",
}


def offered(message: Message) -> list[str]:
    """A line for each row: ``( Undo )`` is a button, ``< Which: One, Two >`` a menu, ``+`` a picture or file."""
    return [line for component in message.components for line in _lines(component)]


def _lines(component: Payload) -> list[str]:
    kind = component["type"]
    if kind == Part.BUTTON:
        return [_button(component)]
    if kind in SELECTS:
        return [_menu(component)]
    below = [line for part in inner(component) for line in _lines(part)]
    if kind == Part.ACTION_ROW:
        return ["  ".join(below)]
    return [*below, *(f"+ {one.get('url')}" for one in media(component))]


def _button(button: Payload) -> str:
    emoji = cast("Payload", button.get("emoji") or {})
    name = " ".join(str(word) for word in (emoji.get("name"), button.get("label")) if word)
    if button.get("style") == LINK:
        return f"( {name}: {button.get('url')} )"
    return f"( {name}, disabled )" if button.get("disabled") else f"( {name} )"


def _menu(menu: Payload) -> str:
    name = menu.get("placeholder") or menu.get("custom_id")
    kind = Part(cast("int", menu["type"]))
    takes = _TAKES.get(kind) or ", ".join(str(option["label"]) for option in options_of(menu))
    return f"< {name}: {takes}{', disabled' if menu.get('disabled') else ''} >"
