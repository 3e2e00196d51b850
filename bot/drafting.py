"""How a draft is known: by the button that it has, which names its turn."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from memory.ids import TurnId

PREFIX: Final = "stopturn"


def button_id(turn_id: TurnId) -> str:
    """The custom_id of the button on a turn's draft."""
    return f"{PREFIX}:{turn_id}"


def turn_of(custom_id: str) -> TurnId | None:
    """The turn that a button's custom_id names."""
    digits = custom_id.removeprefix(f"{PREFIX}:")
    is_one = custom_id.startswith(f"{PREFIX}:") and digits.isascii() and digits.isdecimal() and len(digits) < 19
    return TurnId(int(digits)) if is_one else None


def custom_ids(message: Mapping[str, Any]) -> Sequence[str]:
    """The custom_ids of a message's buttons, as far as they stand in plain rows."""
    found: list[str] = []
    rows: object = message.get("components")
    for each in cast("list[object]", rows) if isinstance(rows, list) else []:
        if not isinstance(each, dict):
            continue
        inner: object = cast("Mapping[str, object]", each).get("components")
        for part in cast("list[object]", inner) if isinstance(inner, list) else []:
            if isinstance(part, dict) and isinstance(name := cast("Mapping[str, object]", part).get("custom_id"), str):
                found.append(name)
    return found


def is_draft(message: Mapping[str, Any]) -> bool:
    """Whether a message of ours is one that stands only while an answer is made."""
    return bool(message.get("components")) and any(turn_of(each) is not None for each in custom_ids(message))
