"""A form (modal) as a member fills it in and sends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from .choosing import chosen
from .components import SELECTS, Part, inner, number, options_of
from .errors import Misuse
from .messages import Attachment, File

if TYPE_CHECKING:
    from .events import Payload
    from .interactions import Modal
    from .invocation import Resolvable
    from .options import Value
    from .places import Channel

Values = Mapping[str, "Value | Sequence[Value]"]


def fields(modal: Modal) -> dict[str, Payload]:
    """The form's fields by custom_id. A field that a label is for has the label's text as its ``label``."""
    found: dict[str, Payload] = {}
    for outer in modal.components:
        for part in inner(outer):
            label = part.get("label") or outer.get("label")
            found[str(part["custom_id"])] = {**part, "label": label}
    return found


def submission(
    modal: Modal, values: Values, channel: Channel, upload: Callable[[File], Attachment]
) -> tuple[list[Payload], list[Resolvable]]:
    """The ``components`` of the interaction, and the things that were chosen or uploaded. Raises Misuse."""
    by_id = fields(modal)
    ids = {str(field["label"]): custom_id for custom_id, field in by_id.items()} | {name: name for name in by_id}
    strange = [name for name in values if name not in ids]
    if strange:
        raise Misuse(f"the form {modal.title!r} has no field {strange[0]!r}; it has {', '.join(ids)}")
    given = {ids[name]: value for name, value in values.items()}
    things: list[Resolvable] = []

    def sent(part: Payload) -> Payload:
        custom_id = str(part["custom_id"])
        body: Payload = {"type": part["type"], "id": part.get("id", 0), "custom_id": custom_id}
        return body | _answer(by_id[custom_id], given.get(custom_id), channel, upload, things)

    components: list[Payload] = []
    for outer in modal.components:
        body: Payload = {"type": outer["type"], "id": outer.get("id", 0)}
        if outer["type"] == Part.ACTION_ROW:
            body["components"] = [sent(part) for part in inner(outer)]
        elif outer["type"] == Part.LABEL:
            body["component"] = sent(inner(outer)[0])
        components.append(body)
    return components, things


def _answer(
    part: Payload,
    given: Value | Sequence[Value] | None,
    channel: Channel,
    upload: Callable[[File], Attachment],
    things: list[Resolvable],
) -> Payload:
    kind, required = part["type"], part.get("required", True) is not False
    if kind == Part.TEXT_INPUT:
        return {"value": _text(part, given, required)}
    if kind == Part.CHECKBOX:
        return {"value": bool(part.get("default", False)) if given is None else given is True}
    several = _several(part, given)
    if kind == Part.FILE_UPLOAD:
        return {"values": _files(part, several, upload, things, required)}
    texts, named = chosen(part, several, channel, required=required)
    things.extend(named)
    if kind == Part.RADIO_GROUP:
        return {"value": texts[0] if texts else None}
    return {"values": texts}


def _text(part: Payload, given: Value | Sequence[Value] | None, required: bool) -> str:
    text = str(part.get("value") or "") if given is None else given
    name = part["label"]
    if not isinstance(text, str):
        raise Misuse(f"{name!r} takes a text, not {text!r}")
    least, most = number(part, "min_length", 0), number(part, "max_length", 4000)
    if not text and not required:
        return text
    if not max(least, 1 if required else 0) <= len(text) <= most:
        raise Misuse(f"{name!r} takes {max(least, 1)} to {most} characters, not {len(text)}")
    return text


def _several(part: Payload, given: Value | Sequence[Value] | None) -> list[Value]:
    if given is not None:
        single = isinstance(given, str) or not isinstance(given, Sequence)
        return [cast("Value", given)] if single else list(cast("Sequence[Value]", given))
    if part["type"] in SELECTS or part["type"] in (Part.RADIO_GROUP, Part.CHECKBOX_GROUP):
        return [str(option["value"]) for option in options_of(part) if option.get("default")]
    return []


def _files(
    part: Payload,
    given: Sequence[Value],
    upload: Callable[[File], Attachment],
    things: list[Resolvable],
    required: bool,
) -> list[str]:
    least, most = number(part, "min_values", 1), number(part, "max_values", 1)
    if not (least <= len(given) <= most or (not given and not required)):
        raise Misuse(f"{part['label']!r} takes {least} to {most} files, not {len(given)}")
    ids: list[str] = []
    for file in given:
        if not isinstance(file, File):
            raise Misuse(f"{part['label']!r} takes files, not {file!r}")
        attachment = upload(file)
        things.append(attachment)
        ids.append(str(attachment.id))
    return ids
