"""Relative dates in what is to be remembered, made absolute: "yesterday" would be wrong tomorrow.

The model is asked to do it; what it leaves is done here, for the words whose meaning is a day, month or year on their
own. A word that means a span ("recently") stays.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Resolve = Callable[[date], str]


def _day(shift: int, today: date) -> str:
    return (today + timedelta(days=shift)).isoformat()


def _month(shift: int, today: date) -> str:
    months = today.year * 12 + today.month - 1 + shift
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def _year(shift: int, today: date) -> str:
    return f"{today.year + shift:04d}"


def _week(shift: int, today: date) -> str:
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
    return f"{monday.isoformat()}/{(monday + timedelta(days=6)).isoformat()}"


_MEANINGS: Final[Mapping[str, Resolve]] = {
    "day-2": partial(_day, -2),
    "day-1": partial(_day, -1),
    "day0": partial(_day, 0),
    "day1": partial(_day, 1),
    "day2": partial(_day, 2),
    "week-1": partial(_week, -1),
    "week1": partial(_week, 1),
    "month-1": partial(_month, -1),
    "month1": partial(_month, 1),
    "year-1": partial(_year, -1),
    "year0": partial(_year, 0),
    "year1": partial(_year, 1),
}

_PHRASES: Final = {
    "day-2": "the day before yesterday|day before yesterday|vorgestern|позавчера|一昨日|おととい|前天|그저께|أول أمس",
    "day2": "the day after tomorrow|day after tomorrow|übermorgen|послезавтра|明後日|あさって|后天|後天|모레|بعد غد",
    "day-1": "yesterday|last night|gestern|вчера|昨日|きのう|昨天|어제|أمس|البارحة",
    "day1": "tomorrow|завтра|明日|あした|明天|내일|غدا|غدًا|غداً",
    "day0": "today|tonight|heute|сегодня|今日|きょう|今天|오늘|اليوم",
    "week-1": "last week|letzte woche|vorige woche|на прошлой неделе|先週|上周|上週|지난주|الأسبوع الماضي",
    "week1": "next week|nächste woche|на следующей неделе|来週|下周|下週|다음 주|다음주|الأسبوع القادم|الأسبوع المقبل",
    "month-1": "last month|letzten monat|vorigen monat|в прошлом месяце|先月|上个月|上個月|지난달|الشهر الماضي",
    "month1": "next month|nächsten monat|в следующем месяце|来月|下个月|下個月|다음 달|다음달|الشهر القادم",
    "year-1": "last year|letztes jahr|voriges jahr|в прошлом году|去年|昨年|작년|지난해|العام الماضي|السنة الماضية",
    "year0": "this year|dieses jahr|в этом году|今年|올해|هذا العام|هذه السنة",
    "year1": "next year|nächstes jahr|в следующем году|来年|明年|내년|العام القادم|العام المقبل",
}


_MEANT: Final[Mapping[str, Resolve]] = {
    phrase: _MEANINGS[name] for name, phrases in _PHRASES.items() for phrase in phrases.split("|")
}


def _any_of(phrases: Iterable[str]) -> str:
    """Any of them, the longest first: "day after tomorrow" goes before "tomorrow"."""
    return "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))


def _is_unspaced(phrase: str) -> bool:
    """Whether it is of a script without spaces, in which it may stand anywhere; of others only whole words count."""
    return ord(phrase[0]) > 0x2E7F


_UNSPACED: Final = [phrase for phrase in _MEANT if _is_unspaced(phrase)]
_SPACED: Final = [phrase for phrase in _MEANT if not _is_unspaced(phrase)]
# What it may begin with is looked at first, which most places in a text fail at once.
_ANY: Final = re.compile(
    rf"\b(?=[{''.join({phrase[0] for phrase in _SPACED})}])(?:{_any_of(_SPACED)})\b"
    rf"|(?=[{''.join({phrase[0] for phrase in _UNSPACED})}])(?:{_any_of(_UNSPACED)})",
    re.IGNORECASE,
)


def resolve(content: str, today: date) -> str:
    """`content` with its relative days, weeks, months and years written out, as seen from `today` (the speaker's)."""

    def written(found: re.Match[str]) -> str:
        meant = _MEANT.get(found[0].lower())
        return meant(today) if meant is not None else found[0]

    return _ANY.sub(written, content)


_ZONE: Final = re.compile(r"\b[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_+-]+){1,2}\b|\bUTC\b")


def zone_in(text: str) -> ZoneInfo | None:
    """The first time zone of the IANA database that a text names; None where there is none."""
    for found in _ZONE.finditer(text):
        try:
            return ZoneInfo(found[0])
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return None


def day_of(text: str | None) -> date | None:
    """A date as the model writes it (YYYY-MM-DD); None for anything else."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None
