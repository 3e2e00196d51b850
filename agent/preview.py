"""What the audit shows of arguments and results: bounded, without secrets (I13), and without words where they are
private.

A preview outlives the transcript that it was taken from, so it says no more than an audit needs.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from agent.contracts import Audit

MOST_CHARS: Final = 400

_WORDS = 100
_ITEMS = 5
_IDS = 20
_DEPTH = 4
_SMALL = 1_000_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_ID = re.compile(r"\d{1,20}")
_CODE = re.compile(r"[a-z0-9_.:/ -]{1,40}")
_CODE_KEYS = frozenset({"code", "state", "kind", "scope", "how", "effect"})
_SECRET = re.compile(
    r"(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|hf|AIza|AKIA|ASIA|eyJ)[-_A-Za-z0-9.]{12,}"
    r"|[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"  # Discord's tokens
    r"|-----BEGIN[A-Z ]+-----"
    r"|(?i:bearer|basic|token|password|passwd|secret|api[_-]?key)(?:\s*[:=]\s*|\s+)\S{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|\b(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])[A-Za-z0-9+/_-]{32,}"
)


def preview(text: str, audit: Audit) -> str:
    """At most MOST_CHARS characters about the JSON `text`.

    With `words` the beginnings of its texts, secrets masked; with `counts` only ids, numbers, codes and how much there
    is of everything else.
    """
    try:
        read: object = json.loads(text)
    except (ValueError, RecursionError):
        return f"({len(text)} characters that are no JSON)"
    try:
        shown = json.dumps(_shown(read, audit, "", 0), ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return f"({len(text)} characters, nested too deeply)"
    return shown if len(shown) <= MOST_CHARS else shown[: MOST_CHARS - 1] + "…"


def masked(text: str) -> str:
    """`text` with everything that looks like a credential left out."""
    return _SECRET.sub("[secret]", text)


def _shown(value: object, audit: Audit, key: str, depth: int) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if audit == "words" or _names_ids(key) or abs(value) < _SMALL else "(number)"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, audit, key)
    if depth >= _DEPTH:
        return "…"
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, object]", value)
        return {_key(name, audit): _shown(each, audit, name, depth + 1) for name, each in inner.items()}
    items = cast("list[object]", value)
    if audit == "counts":
        ids = [found for each in items if (found := _id_of(each, key)) is not None]
        return {"count": len(items), "ids": ids[:_IDS]} if ids else {"count": len(items)}
    shown = [_shown(each, audit, key, depth + 1) for each in items[:_ITEMS]]
    return shown if len(items) <= _ITEMS else [*shown, f"… {len(items)} in all"]


def _text(value: str, audit: Audit, key: str) -> str:
    if _names_ids(key) and _ID.fullmatch(value):
        return value
    if key in _CODE_KEYS and _CODE.fullmatch(value):
        return value
    if audit == "counts":
        return f"({len(value)} characters)"
    clean = masked(value)
    return clean if len(clean) <= _WORDS else clean[: _WORDS - 1] + "…"


def _key(name: str, audit: Audit) -> str:
    """A name that the model may have made up is no better than any other of its words."""
    return name if audit == "words" or _NAME.fullmatch(name) else f"({len(name)} characters)"


def _names_ids(key: str) -> bool:
    return key in ("id", "ids") or key.endswith(("_id", "_ids"))


def _id_of(item: object, key: str) -> object:
    """The id in an item of a list: the item itself under a key that names ids, or the first id of an object."""
    if isinstance(item, Mapping):
        inner = cast("Mapping[str, object]", item)
        return next((_id_of(each, name) for name, each in inner.items() if _names_ids(name)), None)
    if not _names_ids(key):
        return None
    return item if isinstance(item, int) or (isinstance(item, str) and _ID.fullmatch(item)) else None
