"""Reading the YAML that compose.yaml is written in: nested blocks, lists, one-line lists and mappings, plain and quoted
scalars. What is beyond that (anchors, tags, block scalars, several documents) is refused and not guessed at.
"""

import re
from typing import Any, TypeAlias

Node: TypeAlias = dict[str, Any] | list[Any] | str | bool | int | None

_KEY = re.compile(r"([A-Za-z_][\w.-]*):(?: +(.*))?")
_REFUSED = ("&", "*", "!", "|", ">", "%", "@", "?", "---")


def read(text: str) -> dict[str, Any]:
    """The document. Raises ValueError, with the line, for what is not understood."""
    lines = [(len(raw) - len(raw.lstrip()), _uncommented(raw).strip()) for raw in text.splitlines()]
    rest = [(indent, line) for indent, line in lines if line]
    if any("\t" in raw for raw in text.splitlines()):
        raise ValueError("a tab")
    found = _block(rest, 0)
    if rest or not isinstance(found, dict):
        raise ValueError(f"not understood: {rest[:1]}")
    return found


def _uncommented(raw: str) -> str:
    if raw.lstrip().startswith("#"):
        return ""
    # In what we read, a `#` after a blank outside of quotes begins a comment.
    return re.sub(r"""^((?:[^"'#]|"[^"]*"|'[^']*'|(?<! )#)*?) #.*$""", r"\1", raw)


def _block(rest: list[tuple[int, str]], indent: int) -> Node:
    if not rest or rest[0][0] < indent:
        return None
    indent = rest[0][0]
    return _list(rest, indent) if rest[0][1].startswith("- ") else _mapping(rest, indent)


def _list(rest: list[tuple[int, str]], indent: int) -> list[Any]:
    found: list[Any] = []
    while rest and rest[0][0] == indent and rest[0][1].startswith("- "):
        found.append(_value(rest.pop(0)[1][2:].strip()))
    return found


def _mapping(rest: list[tuple[int, str]], indent: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while rest and rest[0][0] == indent:
        line = rest.pop(0)[1]
        matched = _KEY.fullmatch(line)
        if matched is None or matched[1] in found:
            raise ValueError(f"not understood: {line}")
        found[matched[1]] = _value(matched[2]) if matched[2] else _block(rest, indent + 1)
    return found


def _value(text: str) -> Node:
    if text[0] in "[{":
        if text[-1] != {"[": "]", "{": "}"}[text[0]]:
            raise ValueError(f"not understood: {text}")
        parts = [part.strip() for part in text[1:-1].split(",") if part.strip()]
        if text[0] == "[":
            return [_value(part) for part in parts]
        return {key: _value(value.strip()) for key, value in (part.split(":", 1) for part in parts)}
    if text.startswith(_REFUSED):
        raise ValueError(f"not understood: {text}")
    if text[0] in "\"'" and text[-1] == text[0] and text.count(text[0]) == 2:
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text
