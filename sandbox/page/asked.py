"""A request of the page, and its arguments, read with care: whatever is amiss is a Mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from .errors import Mistake

LONGEST_TEXT: Final = 4000
LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """A number that comes back with the answer, what to do, and with what."""

    number: int
    do: str
    arguments: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> Asked:
        """Raises Mistake for what is no request."""
        try:
            read = orjson.loads(text)
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise Mistake("That was no request.")
        body = cast("dict[str, Any]", read)
        number, do = body.get("n"), body.get("do")
        if not isinstance(number, int) or not isinstance(do, str):
            raise Mistake("That was no request.")
        return cls(number, do, body)

    def text(self, key: str, *, most: int = LONGEST_TEXT) -> str:
        """Raises Mistake where there is none, or a longer one."""
        value = self.arguments.get(key)
        if not isinstance(value, str):
            raise Mistake(f"{key} is missing.")
        if len(value) > most:
            raise Mistake(f"That is {len(value)} characters long; {most} is the most.")
        return value

    def id(self, key: str) -> int:
        """An id, written as a text, as all of Discord's are. Raises Mistake."""
        value = self.arguments.get(key)
        if not isinstance(value, str) or not value.isascii() or not value.isdigit() or len(value) > 20:
            raise Mistake(f"{key} is no id.")
        return int(value)

    def has(self, key: str) -> bool:
        return self.arguments.get(key) is not None

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.arguments.get(key, default)
        return value if isinstance(value, bool) else default

    def texts(self, key: str) -> list[str]:
        """Raises Mistake for what is no list of texts; a missing one is empty."""
        value = self.arguments.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[Any]", value)):
            raise Mistake(f"{key} is no list.")
        return cast("list[str]", value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Raises Mistake for what is no object; a missing one is empty."""
        value = self.arguments.get(key, {})
        if not isinstance(value, dict):
            raise Mistake(f"{key} is no object.")
        return cast("dict[str, Any]", value)
