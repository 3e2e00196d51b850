"""The form in which an answer's words stand in Discord, and the words of a message of ours whatever its form."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

AnswerForm: TypeAlias = Literal["plain", "embed", "panel"]
"""`plain`: the message's content. `embed`: the text of one embed, which pings nobody and shows no previews; Discord
takes embeds only where the bot may embed links. `panel`: a text in a container (Components V2)."""

IS_COMPONENTS_V2: Final = 1 << 15
CONTAINER: Final = 17
TEXT_DISPLAY: Final = 10
FILE: Final = 13


def form_of(message: Mapping[str, Any]) -> AnswerForm:
    """The form that a message of ours has."""
    if int(message.get("flags") or 0) & IS_COMPONENTS_V2:
        return "panel"
    return "embed" if not message.get("content") and _described(message) else "plain"


def said_in(message: Mapping[str, Any]) -> str:
    """The words of a message of ours: what it was sent with, whatever form they were put in."""
    match form_of(message):
        case "panel":
            return "\n".join(_displayed(message))
        case "embed":
            return "\n".join(_described(message))
        case "plain":
            return str(message.get("content") or "")


def undressed(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same message of ours with its words as content, and without what held them."""
    form = form_of(message)
    if form == "plain":
        return message
    held = "components" if form == "panel" else "embeds"
    return {**{name: value for name, value in message.items() if name != held}, "content": said_in(message)}


def _described(message: Mapping[str, Any]) -> list[str]:
    embeds = [each for each in _objects(message.get("embeds")) if each.get("type") == "rich"]
    return [each["description"] for each in embeds if isinstance(each.get("description"), str)]


def _displayed(part: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for each in _objects(part.get("components")):
        if each.get("type") == TEXT_DISPLAY and isinstance(each.get("content"), str):
            found.append(each["content"])
        found += _displayed(each)
    return found


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    many = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in many if isinstance(each, dict)]
