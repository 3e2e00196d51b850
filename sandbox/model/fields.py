"""Reading a JSON request field by field, refusing what is wrong in the words that OpenAI's API uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

import orjson

from sandbox.model.errors import InvalidRequest

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
_Item = TypeVar("_Item")


def parse(body: bytes) -> dict[str, Json]:
    """The JSON object in `body`. Raises InvalidRequest for anything else (lone surrogates included)."""
    try:
        value: Json = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(
            "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, "
            f"but what was sent was not valid JSON: {error}"
        ) from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"Invalid body: expected an object, but got {kind(value)} instead.", code="invalid_type")
    return value


def kind(value: Json) -> str:
    """How OpenAI's errors name the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, float):
        return "a decimal"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def wrong_type(path: str, expected: str, value: Json) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid type for '{path}': expected {expected}, but got {kind(value)} instead.",
        param=path,
        code="invalid_type",
    )


def unsupported(path: str, value: str, supported: tuple[str, ...]) -> InvalidRequest:
    names = ", ".join(f"'{name}'" for name in supported)
    return InvalidRequest(f"Invalid value: '{value}'. Supported values are: {names}.", param=path, code="invalid_value")


def refuse_unknown(fields: Mapping[str, Json], known: frozenset[str], path: str = "") -> None:
    for name in fields:
        if name not in known:
            where = f"{path}.{name}" if path else name
            raise InvalidRequest(f"Unknown parameter: '{where}'.", param=where, code="unknown_parameter")


def missing(path: str) -> InvalidRequest:
    return InvalidRequest(f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter")


class Fields:
    """One object of a request and where it stands in it.

    A reader returns the field's value, or None when it is absent (or null, where `nullable`); the `need_` readers
    refuse an absent one. A value of another type or out of its bounds raises InvalidRequest that names the path.
    """

    def __init__(self, value: Json, path: str = "") -> None:
        if not isinstance(value, dict):
            raise wrong_type(path, "an object", value)
        self.value = value
        self.path = path

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def absent(self, name: str) -> bool:
        return self.value.get(name) is None

    def need(self, name: str) -> Json:
        if name not in self.value:
            raise missing(self.at(name))
        return self.value[name]

    def text(self, name: str, *, longest: int | None = None, pattern: str | None = None) -> str | None:
        value = self.value.get(name)
        if value is None:
            return None
        path = self.at(name)
        if not isinstance(value, str):
            raise wrong_type(path, "a string", value)
        if longest is not None and len(value) > longest:
            raise InvalidRequest(
                f"Invalid '{path}': string too long. Expected a string with maximum length {longest}, "
                f"but got a string with length {len(value)} instead.",
                param=path,
                code="string_above_max_length",
            )
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise InvalidRequest(
                f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
                f"'^{pattern}$'.",
                param=path,
                code="invalid_value",
            )
        return value

    def need_text(self, name: str, *, longest: int | None = None, pattern: str | None = None) -> str:
        self.need(name)
        value = self.text(name, longest=longest, pattern=pattern)
        path = self.at(name)
        if value is None:
            raise wrong_type(path, "a string", None)
        if not value:
            raise InvalidRequest(
                f"Invalid '{path}': empty string. Expected a string with minimum length 1, "
                "but got an empty string instead.",
                param=path,
                code="empty_string",
            )
        return value

    def choice(self, name: str, supported: tuple[str, ...]) -> str | None:
        value = self.text(name)
        if value is not None and value not in supported:
            raise unsupported(self.at(name), value, supported)
        return value

    def flag(self, name: str) -> bool | None:
        value = self.value.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise wrong_type(self.at(name), "a boolean", value)

    def integer(self, name: str, *, least: int | None = None, most: int | None = None) -> int | None:
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong_type(self.at(name), "an integer", value)
        self._bounds(name, value, least, most, "integer")
        return value

    def number(self, name: str, *, least: float | None = None, most: float | None = None) -> float | None:
        value = self.value.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type(self.at(name), "a decimal", value)
        self._bounds(name, value, least, most, "decimal")
        return float(value)

    def _bounds(self, name: str, value: float, least: float | None, most: float | None, noun: str) -> None:
        path = self.at(name)
        if least is not None and value < least:
            raise InvalidRequest(
                f"Invalid '{path}': {noun} below minimum value. Expected a value >= {least}, but got {value} instead.",
                param=path,
                code=f"{noun}_below_min_value",
            )
        if most is not None and value > most:
            raise InvalidRequest(
                f"Invalid '{path}': {noun} above maximum value. Expected a value <= {most}, but got {value} instead.",
                param=path,
                code=f"{noun}_above_max_value",
            )

    def items(
        self, name: str, read: Callable[[Json, str], _Item], *, least: int = 0, most: int | None = None
    ) -> tuple[_Item, ...] | None:
        value = self.value.get(name)
        if value is None:
            return None
        path = self.at(name)
        if not isinstance(value, list):
            raise wrong_type(path, "an array of objects", value)
        if len(value) < least:
            raise InvalidRequest(
                f"Invalid '{path}': empty array. Expected an array with minimum length {least}, "
                "but got an empty array instead.",
                param=path,
                code="empty_array",
            )
        if most is not None and len(value) > most:
            raise InvalidRequest(
                f"Invalid '{path}': array too long. Expected an array with maximum length {most}, "
                f"but got an array with length {len(value)} instead.",
                param=path,
                code="array_above_max_length",
            )
        return tuple(read(item, f"{path}[{index}]") for index, item in enumerate(value))
