"""Saying something unasked, where a guild lets Muninn: seldom, late, and only to what nobody else has taken up.

All of this is decided by code, and costs nothing; what is left is one request to the model, which may stay silent.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog

from bot.arrivals.items import Decision, Fate, Ignored, Item, PutOff
from bot.guild_settings import GuildSettings
from bot.quiet_hours import QuietHours
from memory.database import Db

log = structlog.get_logger(__name__)

LULL_S: Final = 20.0
"""Somebody else may answer first, for so long."""

OLDEST_S: Final = 300.0
LEAST_CHARS: Final = 12


@dataclass(frozen=True, slots=True)
class Reserve:
    """How much an unasked Muninn holds back, whatever a place allows. `pause_s` between two thoughts in one place (not
    all of them are said); `daily_tokens` of a space, 0 for no budget."""

    pause_s: float = 300.0
    daily_tokens: int = 100_000
    lull_s: float = LULL_S


# The message and the place around it: its words, whether anybody said something since, when Muninn last thought of
# saying something here, how often in this hour, and what that cost the space today.
MOMENT_SQL: Final = """
SELECT m.content,
       EXISTS (SELECT FROM chat_messages n WHERE n.space_id = $1 AND n.place_id = $2 AND n.message_id > $3
                 AND n.author_id IS DISTINCT FROM m.author_id) AS taken_up,
       (SELECT extract(epoch FROM now() - max(t.queued_at)) FROM turns t
        WHERE t.space_id = $1 AND t.place_id = $2 AND t.reason = 'ambient')::float8 AS last_s,
       (SELECT count(*) FROM turns t WHERE t.space_id = $1 AND t.place_id = $2 AND t.reason = 'ambient'
          AND t.queued_at > now() - interval '1 hour') AS in_hour,
       (SELECT coalesce(sum(e.prompt_tokens + e.completion_tokens), 0) FROM ai_events e
        WHERE e.space_id = $1 AND e.purpose = 'ambient'
          AND e.asked_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')::bigint AS spent
FROM chat_messages m WHERE m.space_id = $1 AND m.message_id = $3
"""


class Ambience:
    """Decides whether a message that nobody addressed to us is worth a thought."""

    def __init__(self, reserve: Reserve) -> None:
        self._reserve = reserve

    async def fate(self, conn: Db, item: Item, settings: GuildSettings) -> Fate:
        """Put off until others had their chance, then a turn or nothing. `settings`: what holds in its place."""
        if item.age_s > OLDEST_S or item.chars < LEAST_CHARS or not settings.ambient_hourly:
            return Ignored(item)
        if QuietHours.of(settings.quiet_hours).hold(datetime.now(UTC)):
            return Ignored(item)
        if item.waited_s < self._reserve.lull_s:
            return PutOff(item, self._reserve.lull_s - item.waited_s)
        row = await conn.fetchrow(MOMENT_SQL, item.space_id, item.place_id, item.message_id)
        if row is None or row["taken_up"] or not is_open_question(row["content"]):
            return Ignored(item)
        spent = self._reserve.daily_tokens and row["spent"] >= self._reserve.daily_tokens
        soon = row["last_s"] is not None and row["last_s"] < self._reserve.pause_s
        if spent or soon or row["in_hour"] >= settings.ambient_hourly:
            log.info("ambient.held_back", space_id=item.space_id, place_id=item.place_id, spent=bool(spent), soon=soon)
            return Ignored(item)
        return Decision(item, "ambient")


def is_open_question(content: str) -> bool:
    """Whether somebody asks the room something: by its end, or by our name in it."""
    said = content.rstrip(" \t\n)*_~|\"'")
    return said.endswith(("?", "\uff1f", "\u061f")) or "muninn" in content.casefold()
