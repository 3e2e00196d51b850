"""Shortening JSON without breaking it: what the model sees of a result that is longer than it may be.

The one place where results are made shorter. The shape stays, so that ids, codes and the first items of lists are still
there; long texts and long lists lose their ends, and the result says that it was shortened.
"""

import json
from collections.abc import Mapping
from typing import Final, cast

LEAST_CHARS: Final = 120
"""No result is made shorter than that: it would say nothing any more."""

# Characters of a text and items of a list, from the gentlest cut to the hardest.
_CUTS: Final = ((4_000, 200), (2_000, 100), (1_000, 50), (500, 25), (250, 12), (120, 6), (60, 3), (30, 2), (16, 1))
_DEPTH: Final = 8


def shortened(content: str, most: int) -> str:
    """The JSON object in `content` as JSON text of at most `most` characters (not less than LEAST_CHARS).

    The same text, if it is short enough. Shortening twice is shortening once. Raises ValueError for what is no object.
    """
    most = max(most, LEAST_CHARS)
    if len(content) <= most:
        return content
    read: object = json.loads(content)
    if not isinstance(read, dict):
        raise ValueError("not a JSON object")
    before = cast("dict[str, object]", read).get("characters")
    told = {"shortened": True, "characters": before if isinstance(before, int) else len(content)}
    for texts, items in _CUTS:
        cut = cast("dict[str, object]", _cut(cast("object", read), texts, items, 0))
        candidate = _text({**cut, **told})
        if len(candidate) <= most:
            return candidate
    return _text({"ok": bool(cast("dict[str, object]", read).get("ok")), **told})


def _cut(value: object, texts: int, items: int, depth: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= texts else value[: texts - 1].rstrip() + "…"
    if isinstance(value, Mapping | list) and depth >= _DEPTH:
        return "…"
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, object]", value)
        return {name: _cut(each, texts, items, depth + 1) for name, each in inner.items()}
    if isinstance(value, list):
        return [_cut(each, texts, items, depth + 1) for each in cast("list[object]", value)[:items]]
    return value


def _text(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
