"""Message and modal components as they are kept: walking them, finding one, showing them.

Source: https://discord.com/developers/docs/components/reference (types, custom_id, ids).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from .events import Payload
    from .messages import Attachment
    from .world import World


class Part(IntEnum):
    """Component types."""

    ACTION_ROW = 1
    BUTTON = 2
    STRING_SELECT = 3
    TEXT_INPUT = 4
    USER_SELECT = 5
    ROLE_SELECT = 6
    MENTIONABLE_SELECT = 7
    CHANNEL_SELECT = 8
    SECTION = 9
    TEXT_DISPLAY = 10
    THUMBNAIL = 11
    MEDIA_GALLERY = 12
    FILE = 13
    SEPARATOR = 14
    CONTAINER = 17
    LABEL = 18
    FILE_UPLOAD = 19
    RADIO_GROUP = 21
    CHECKBOX_GROUP = 22
    CHECKBOX = 23


LINK: Final = 5
PREMIUM: Final = 6
SELECTS: Final = frozenset(
    {Part.STRING_SELECT, Part.USER_SELECT, Part.ROLE_SELECT, Part.MENTIONABLE_SELECT, Part.CHANNEL_SELECT}
)
ATTACHMENT_SCHEME: Final = "attachment://"


def walk(components: Iterable[Payload]) -> Iterator[Payload]:
    """Every component, the outer before the inner, as Discord numbers and counts them."""
    for component in components:
        yield component
        yield from walk(inner(component))


def inner(component: Payload) -> list[Payload]:
    """What a component holds: its components, its accessory, or the one that a label is for."""
    held = _list(component.get("components"))
    for name in ("accessory", "component"):
        one = component.get(name)
        if isinstance(one, dict):
            held.append(cast("Payload", one))
    return held


def _list(value: object) -> list[Payload]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Payload", item) for item in items if isinstance(item, dict)]


def numbered(components: Sequence[Payload]) -> list[Payload]:
    """Copies in which every component has an ``id``: its own, or the next number that nobody has."""
    taken = {part["id"] for part in walk(components) if part.get("id")}
    numbers = (n for n in range(1, 1 << 31) if n not in taken)

    def copied(component: Payload) -> Payload:
        copy: Payload = {"type": component["type"], "id": component.get("id") or next(numbers)}
        copy |= {name: value for name, value in component.items() if name not in copy}
        if isinstance(copy.get("components"), list):
            copy["components"] = [copied(part) for part in _list(copy["components"])]
        for name in ("accessory", "component"):
            if isinstance(copy.get(name), dict):
                copy[name] = copied(cast("Payload", copy[name]))
        return copy

    return [copied(component) for component in components]


def media(component: Payload) -> list[Payload]:
    """The media that a component refers to, as objects with a ``url``."""
    found = [component.get("media"), component.get("file")]
    found += [item.get("media") for item in _list(component.get("items"))]
    return [cast("Payload", one) for one in found if isinstance(one, dict)]


def shown(components: Sequence[Payload], attachments: Sequence[Attachment], world: World) -> list[Payload]:
    """As a message's JSON has them: ``attachment://`` addresses are replaced by those of the files."""
    if not any(media(part) for part in walk(components)):
        return list(components)
    files = {attachment.file.filename: attachment for attachment in attachments}

    def resolved(one: Payload) -> Payload:
        url = str(one.get("url", ""))
        attachment = files.get(url.removeprefix(ATTACHMENT_SCHEME)) if url.startswith(ATTACHMENT_SCHEME) else None
        if attachment is None:
            return {**one, "proxy_url": url, "loading_state": 2}
        signed = world.cdn.url(attachment)
        body: Payload = {"url": signed, "proxy_url": signed, "loading_state": 2, "attachment_id": str(attachment.id)}
        body |= {"width": attachment.file.width or 0, "height": attachment.file.height or 0}
        return body | {"content_type": attachment.file.content_type, "flags": 0, "placeholder": ""}

    def copied(component: Payload) -> Payload:
        copy = dict(component)
        for name in ("media", "file"):
            if isinstance(copy.get(name), dict):
                copy[name] = resolved(cast("Payload", copy[name]))
        if copy["type"] == Part.MEDIA_GALLERY:
            copy["items"] = [
                {**item, "media": resolved(cast("Payload", item["media"]))} for item in _list(copy.get("items"))
            ]
        if copy["type"] == Part.FILE:
            url = str(cast("Payload", component["file"]).get("url", ""))
            attachment = files.get(url.removeprefix(ATTACHMENT_SCHEME))
            if attachment is not None:
                copy |= {"name": attachment.file.filename, "size": len(attachment.file.content)}
        if isinstance(copy.get("components"), list):
            copy["components"] = [copied(part) for part in _list(copy["components"])]
        if isinstance(copy.get("accessory"), dict):
            copy["accessory"] = copied(cast("Payload", copy["accessory"]))
        return copy

    return [copied(component) for component in components]


def find(components: Sequence[Payload], name: str) -> Payload | None:
    """The component with that custom_id, or else label (a button's), or else placeholder (a select's)."""
    parts = list(walk(components))
    for key in ("custom_id", "label", "placeholder"):
        for part in parts:
            if part.get(key) == name:
                return part
    return None


def names(components: Sequence[Payload]) -> list[str]:
    """What there is to press or choose from, for a message that tells of a mistake."""
    parts = [part for part in walk(components) if part.get("custom_id") or part.get("url")]
    return [str(part.get("label") or part.get("placeholder") or part.get("custom_id")) for part in parts]


def texts(components: Sequence[Payload]) -> list[str]:
    """What the text displays say, in the order in which they stand."""
    return [str(part.get("content", "")) for part in walk(components) if part.get("type") == Part.TEXT_DISPLAY]


def number(component: Payload, name: str, default: int) -> int:
    """A whole number of a component, where it has one."""
    value = component.get(name)
    return value if isinstance(value, int) else default


def options_of(component: Payload) -> list[Payload]:
    """The options of a string select, a radio group or a checkbox group."""
    return _list(component.get("options"))
