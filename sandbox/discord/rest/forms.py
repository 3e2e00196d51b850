"""Reading a request's JSON as strictly as Discord does, with its nested error bodies.

Source: https://discord.com/developers/docs/reference#error-messages. Fields that nobody knows are ignored, as
Discord ignores them; a known field of the wrong type or size is an error, and all errors come in one answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from sandbox.discord.clock import looks_like_snowflake
from sandbox.discord.errors import Refusal
from sandbox.discord.events import Payload
from sandbox.discord.permissions import EVERYTHING, Permission


class Form:
    """A JSON object. Readers note what is wrong; ``done`` raises 400/50035 when something was.

    A nested object's errors are part of the outer one's, and ``done`` on either raises them all.
    """

    def __init__(
        self, data: Payload, errors: dict[str, object] | None = None, root: dict[str, object] | None = None
    ) -> None:
        self.data = data
        self._errors: dict[str, object] = {} if errors is None else errors
        self._root = self._errors if root is None else root

    def has(self, name: str) -> bool:
        return name in self.data

    def error(self, name: str, code: str, message: str) -> None:
        node = cast("dict[str, object]", self._errors.setdefault(name, {}))
        cast("list[object]", node.setdefault("_errors", [])).append({"code": code, "message": message})

    def reject(self, code: str, message: str) -> None:
        """Note an error of the whole object."""
        cast("list[object]", self._errors.setdefault("_errors", [])).append({"code": code, "message": message})

    def done(self) -> None:
        errors = pruned(self._root)
        if errors:
            raise Refusal(400, 50035, "Invalid Form Body", errors)

    def text(self, name: str, *, most: int, least: int = 0, required: bool = False) -> str | None:
        """A string of ``least`` to ``most`` code points, or None when absent or null."""
        value = self.data.get(name)
        if value is None:
            if required:
                self.error(name, "BASE_TYPE_REQUIRED", "This field is required")
            return None
        if not isinstance(value, str):
            # Discord coerces numbers to text, and nothing else.
            if isinstance(value, bool) or not isinstance(value, int | float):
                self.error(name, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
                return None
            value = str(value)
        if len(value) > most:
            if least:
                self.error(name, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
            else:
                self.error(name, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
            return None
        if len(value) < least:
            self.error(name, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
            return None
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.data.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.error(name, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
            return default
        return value

    def integer(self, name: str, *, least: int = 0, most: int = 1 << 53) -> int | None:
        value = self.data.get(name)
        if value is None:
            return None
        if (isinstance(value, str) and value.isdigit()) or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.error(name, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
            return None
        if not least <= value <= most:
            code = "NUMBER_TYPE_MAX" if value > most else "NUMBER_TYPE_MIN"
            word = f"less than or equal to {most}" if value > most else f"greater than or equal to {least}"
            self.error(name, code, f"int value should be {word}.")
            return None
        return value

    def choice(self, name: str, among: Collection[int]) -> int | None:
        value = self.integer(name)
        if value is not None and value not in among:
            choices = ", ".join(str(c) for c in sorted(among))
            self.error(name, "BASE_TYPE_CHOICES", f"Value must be one of ({choices}).")
            return None
        return value

    def must_have(self, name: str) -> None:
        """Note an error when the field is absent or null."""
        if self.data.get(name) is None:
            self.error(name, "BASE_TYPE_REQUIRED", "This field is required")

    def snowflake(self, name: str, *, required: bool = False) -> int | None:
        value = self.data.get(name)
        if value is None:
            if required:
                self.error(name, "BASE_TYPE_REQUIRED", "This field is required")
            return None
        if isinstance(value, bool) or not isinstance(value, int | str) or not looks_like_snowflake(str(value)):
            self.error(name, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
            return None
        return int(value)

    def items(self, name: str, *, most: int, least: int = 0) -> list[object]:
        """A list, or an empty one when absent or null."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.error(name, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
            return []
        found = cast("list[object]", value)
        if not least <= len(found) <= most:
            self.error(name, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
            return []
        return found

    def snowflakes(self, name: str, *, most: int, least: int = 0) -> list[int]:
        found: list[int] = []
        for index, item in enumerate(self.items(name, most=most, least=least)):
            if isinstance(item, bool) or not isinstance(item, int | str) or not looks_like_snowflake(str(item)):
                node = cast("dict[str, object]", self._errors.setdefault(name, {}))
                Form({}, node).error(str(index), "NUMBER_TYPE_COERCE", f'Value "{item}" is not snowflake.')
            else:
                found.append(int(item))
        return found

    def spread(self, items: Sequence[object]) -> list[Form]:
        """The objects of a list that is the whole body; errors nest under the index."""
        forms: list[Form] = []
        for index, item in enumerate(items):
            form = self._nested(str(index), item, cast("dict[str, object]", self._errors.setdefault(str(index), {})))
            if form is not None:
                forms.append(form)
        return forms

    def bits(self, name: str) -> Permission | None:
        """A set of permissions, as a string of decimals or a number. Bits that nobody knows are passed over."""
        value = self.data.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdigit():
            self.error(name, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
            return None
        return Permission(int(value) & EVERYTHING.value)

    def child(self, name: str) -> Form | None:
        """A nested object whose errors nest under ``name``; None when absent or null."""
        value = self.data.get(name)
        if value is None:
            return None
        return self._nested(name, value, cast("dict[str, object]", self._errors.setdefault(name, {})))

    def children(self, name: str, *, most: int, least: int = 0) -> list[Form]:
        """A list of objects; errors nest under ``name`` and the index."""
        node = cast("dict[str, object]", self._errors.setdefault(name, {}))
        forms: list[Form] = []
        for index, item in enumerate(self.items(name, most=most, least=least)):
            inner = cast("dict[str, object]", node.setdefault(str(index), {}))
            form = self._nested(str(index), item, inner, node)
            if form is not None:
                forms.append(form)
        return forms

    def _nested(
        self, name: str, value: object, errors: dict[str, object], under: dict[str, object] | None = None
    ) -> Form | None:
        if not isinstance(value, dict):
            Form({}, self._errors if under is None else under).error(
                name, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType"
            )
            return None
        return Form(cast("Payload", value), errors, self._root)


def pruned(errors: dict[str, object]) -> dict[str, object]:
    """Without the branches in which nothing was wrong."""
    kept: dict[str, object] = {}
    for name, node in errors.items():
        below = pruned(cast("dict[str, object]", node)) if isinstance(node, dict) else node
        if below:
            kept[name] = below
    return kept
