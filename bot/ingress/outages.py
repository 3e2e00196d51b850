"""Guilds that Discord cannot serve for a while: what happens in them meanwhile is told by nobody (I1).

The gateway says GUILD_DELETE with `unavailable`, or lists a guild in READY and sends its GUILD_CREATE much later. The
session lives on, so that nothing would ask for what was missed.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

SETTLE_S: Final = 1.0
"""Guilds that come no more than this after one another are covered by one gap: a backfill waits as long for more."""

BEFORE: Final = timedelta(minutes=1)
"""So much earlier than it was told an outage may have begun: the telling takes time, and clocks differ."""


class Outages:
    """Keeps who is away. `note` each READY, GUILD_CREATE and GUILD_DELETE, in frame order."""

    def __init__(self) -> None:
        self._away: dict[str, datetime] = {}
        # The gap of a session's start, or of the guild that came back last, covers those that come back until then.
        self._covered_until = 0.0

    def note(self, kind: str, data: object) -> datetime | None:
        """Since when events may be missing, where this dispatch is a guild that comes back; never raises."""
        if kind not in ("READY", "GUILD_CREATE", "GUILD_DELETE") or not isinstance(data, Mapping):
            return None
        fields = cast("Mapping[str, Any]", data)
        guild, now = str(fields.get("id")), datetime.now(UTC) - BEFORE
        match kind:
            case "READY":
                listed = fields.get("guilds")
                guilds = cast("list[object]", listed) if isinstance(listed, list) else []
                self._away = {str(cast("Any", g).get("id")): now for g in guilds if isinstance(g, Mapping)}
                self._covered_until = time.monotonic() + SETTLE_S
            case "GUILD_DELETE" if fields.get("unavailable"):
                self._away.setdefault(guild, now)
            case "GUILD_DELETE":
                self._away.pop(guild, None)
            case "GUILD_CREATE" if not fields.get("unavailable"):
                return self._back(guild)
            case _:
                pass
        return None

    def _back(self, guild: str) -> datetime | None:
        since = self._away.pop(guild, None)
        if since is None:
            return None
        covered = time.monotonic() <= self._covered_until
        self._covered_until = time.monotonic() + SETTLE_S
        return None if covered else since
