"""Spans of time, as people write them and as they are said."""

import re
from collections.abc import Mapping
from typing import Final

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY

_UNITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), WEEK),
    **dict.fromkeys(("mo", "month", "months"), 30 * DAY),
    **dict.fromkeys(("y", "yr", "year", "years"), 365 * DAY),
}
_WORDS: Final[Mapping[str, int]] = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_UNIT: Final = "|".join(sorted(_UNITS, key=len, reverse=True))
_END: Final = rf"(?:{_UNIT})(?![a-z])"
SPAN: Final = rf"(?:\d{{1,6}}|an?|one|two|three)\s*{_END}(?:(?:\s*,?\s*(?:and\s+)?)\d{{1,6}}\s*{_END})*"
"""The pattern of a span within other words, in lower case."""

_PART: Final = re.compile(rf"(\d{{1,6}}|an?|one|two|three)\s*({_UNIT})(?![a-z])")
_WHOLE: Final = re.compile(SPAN)
_SAID: Final = ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (1, "second"))


def read(text: str) -> int | None:
    """The seconds of "3d", "1h 30m" or "two weeks"; None for what is no span, or one of nothing."""
    written = " ".join(text.casefold().split())
    if _WHOLE.fullmatch(written) is None:
        return None
    parts = [
        int(count) * _UNITS[unit] if count.isdecimal() else _WORDS[count] * _UNITS[unit]
        for count, unit in _PART.findall(written)
    ]
    return sum(parts) or None


def said(seconds: int) -> str:
    """In words, exact to the second: "1 day and 2 hours"."""
    parts: list[str] = []
    for size, name in _SAID:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}" + ("s" if count > 1 else ""))
    return " and ".join(parts) if len(parts) < 3 else ", ".join(parts[:-1]) + " and " + parts[-1]
