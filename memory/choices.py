"""What people chose for themselves: not to be remembered, not to be read by the model, and where they live.

A choice holds in every guild and conversation from its commit on, by the statements themselves: `READ` and
`REMEMBERED` stand in each that reads what people wrote, and live_memories leaves out what was said by, or is kept of,
somebody who is not to be remembered. Who is not to be read is not remembered either.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from memory.database import Db
from memory.ids import PlaceId, SpaceId, UserId

READ: Final = "NOT EXISTS (SELECT FROM member_choices ch WHERE ch.user_id = {author} AND NOT ch.read_by_model)"
"""Whether the model may be shown what the author of a row wrote."""

REMEMBERED: Final = (
    "NOT EXISTS (SELECT FROM member_choices ch WHERE ch.user_id = {author} "
    "AND NOT (ch.remembered AND ch.read_by_model))"
)
"""Whether what the author of a row wrote may be kept in mind: read for memory, summed up."""

PLACE_REMEMBERS: Final = "(setting_of({space}, {place}, 'memory') IS DISTINCT FROM 'false')"
"""Whether memory is on in a place."""

Chosen: TypeAlias = Literal["remembered", "read_by_model"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What one person chose. `time_zone` is None where they named none here."""

    remembered: bool = True
    read_by_model: bool = True
    time_zone: str | None = None

    @property
    def zone(self) -> ZoneInfo | None:
        """The same as a time zone; None for none, or for one that is no longer known."""
        return ZoneInfo(self.time_zone) if self.time_zone in available_timezones() else None


# What a person chose.
CHOICES_SQL: Final = "SELECT remembered, read_by_model, time_zone FROM member_choices WHERE user_id = $1"


async def choices_of(db: Db, user_id: UserId) -> Choices:
    """What a person chose; the defaults where they chose nothing."""
    row = await db.fetchrow(CHOICES_SQL, user_id)
    return Choices() if row is None else Choices(row["remembered"], row["read_by_model"], row["time_zone"])


# Put what a person chose, all of it.
CHOOSE_SQL: Final = """
INSERT INTO member_choices (user_id, remembered, read_by_model, time_zone) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET
    remembered = EXCLUDED.remembered, read_by_model = EXCLUDED.read_by_model, time_zone = EXCLUDED.time_zone,
    chosen_at = now()
"""

# Summaries of places in which a person wrote may hold their words: they are hidden, and written again without them.
HIDE_SUMMARIES_SQL: Final = """
UPDATE conversation_summaries s SET epoch = s.epoch + 1, stale_at = coalesce(s.stale_at, now())
WHERE EXISTS (SELECT FROM chat_messages m
              WHERE m.space_id = s.space_id AND m.place_id = s.place_id AND m.author_id = $1)
"""


async def choose(db: Db, user_id: UserId, choices: Choices) -> None:
    """Let these choices hold, inside the caller's transaction. Raises ValueError for an unknown time zone."""
    if choices.time_zone is not None and choices.zone is None:
        raise ValueError(choices.time_zone)
    before = await choices_of(db, user_id)
    await db.execute(CHOOSE_SQL, user_id, choices.remembered, choices.read_by_model, choices.time_zone)
    if (before.remembered and not choices.remembered) or (before.read_by_model and not choices.read_by_model):
        await db.execute(HIDE_SUMMARIES_SQL, user_id)


# Whether memory is on in a place.
REMEMBERS_SQL: Final = f"SELECT {PLACE_REMEMBERS.format(space='$1', place='$2')}"


async def place_remembers(db: Db, space_id: SpaceId, place_id: PlaceId) -> bool:
    """Whether what is said in a place is read for memory, and what is remembered shows there."""
    return bool(await db.fetchval(REMEMBERS_SQL, space_id, place_id))


# Who of these does not want to be read.
UNREAD_SQL: Final = "SELECT user_id FROM member_choices WHERE user_id = ANY($1::bigint[]) AND NOT read_by_model"


async def unread(db: Db, user_ids: Iterable[UserId]) -> frozenset[UserId]:
    """Those of them whom the model may not be shown."""
    rows = await db.fetch(UNREAD_SQL, sorted(set(user_ids)))
    return frozenset(UserId(row["user_id"]) for row in rows)
