"""Hours of the day in which nothing is said unasked: `22-7`, or `22-7 Europe/Berlin`; without a zone they are UTC."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final, Self
from zoneinfo import ZoneInfo, available_timezones

MOST_CHARS: Final = 60
NEVER: Final = "none"
"""How a place says that it has no such hours, where what is around it has some."""

_WRITTEN: Final = re.compile(r"([01]?\d|2[0-3])-([01]?\d|2[0-3])(?: +([A-Za-z0-9_+/-]+))?")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From the beginning of `first` to the beginning of `last`, over midnight too; the same hour twice is no time."""

    first: int = 0
    last: int = 0
    zone: tzinfo = UTC

    @classmethod
    def of(cls, written: str) -> Self:
        """What was written. Raises ValueError, whose words say how it is written."""
        if written in ("", NEVER):
            return cls()
        found = _WRITTEN.fullmatch(written)
        if found is None or len(written) > MOST_CHARS:
            raise ValueError("Quiet hours are two hours of the day and perhaps a zone, such as 22-7 Europe/Berlin.")
        if found[3] is not None and found[3] not in available_timezones():
            raise ValueError(f"I know no time zone {found[3]}; it is written like Europe/Berlin.")
        return cls(int(found[1]), int(found[2]), UTC if found[3] is None else ZoneInfo(found[3]))

    def hold(self, now: datetime) -> bool:
        """Whether they hold at this moment, which knows its zone."""
        hour = now.astimezone(self.zone).hour
        return (hour - self.first) % 24 < (self.last - self.first) % 24
