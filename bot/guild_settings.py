"""Guild settings: what a guild sets for itself or for one of its places, and what holds where it set nothing.

A place takes what was set for it, else what was set for its channel (of a thread) or category, else for the guild, else
what the operator set for all (`Ground`). Values are kept as JSON by name, each with who set it and when, and every
change stays on record. A value that does not fit its name (another version wrote it) counts as not set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, Self, TypeAlias, cast, get_args

import orjson
import structlog
from asyncpg import Record

from bot.kept import Kept
from bot.quiet_hours import QuietHours
from bot.settings import Settings
from bot.speech.forms import AnswerForm
from memory.database import BORROW_S, Borrowed, Connection, Db, Pool
from memory.ids import PlaceId, SpaceId, UserId

log = structlog.get_logger(__name__)

Listening: TypeAlias = Literal["mentions", "free", "off"]
Name: TypeAlias = Literal[
    "listening", "ambient", "actions", "memory", "retention_days", "language", "model", "daily_tokens",
    "member_daily_tokens", "ambient_hourly", "quiet_hours", "mod_log_id", "admin_role_ids", "streaming",
    "ack_reaction", "images", "context_of_others", "answer_form", "reply_ping",
]  # fmt: skip
Value: TypeAlias = bool | int | str | list[int]

WHOLE_SPACE: Final = PlaceId(0)
"""The place of what holds for the whole space."""

OF_SPACE_ALONE: Final[frozenset[Name]] = frozenset(
    {"retention_days", "daily_tokens", "member_daily_tokens", "mod_log_id", "admin_role_ids"}
)
"""What cannot be set for one place."""

MOST_KEPT: Final = 20_000
MOST_ROLES: Final = 20
MOST_DAYS: Final = 3_650
MOST_HOURLY: Final = 60


@dataclass(frozen=True, slots=True)
class GuildSettings:
    """What holds in one place. All defaults are the careful choice.

    `listening`: whether it answers when it is addressed, everything, or nothing. `memory`: what is said here is read
    for memory, and what is remembered shows here. `retention_days`: 0 for no end. `language`: a BCP 47 tag, None for
    that of who asks. Tokens are a day's (UTC), 0 for no budget. `ambient_hourly`: how often in an hour it may think of
    speaking unasked in one place; `quiet_hours`: when it may not (bot.quiet_hours). `context_of_others`: the model is
    shown what others than the asker wrote. `answer_form`: how an answer's words are put; `reply_ping`: a reply pings
    who asked.
    """

    listening: Listening = "mentions"
    ambient: bool = False
    ambient_hourly: int = 4
    quiet_hours: str = ""
    actions: bool = True
    memory: bool = True
    retention_days: int = 365
    language: str | None = None
    model: str = ""
    daily_tokens: int = 0
    member_daily_tokens: int = 0
    mod_log_id: PlaceId | None = None
    admin_role_ids: frozenset[int] = frozenset()
    streaming: bool = False
    ack_reaction: str | None = None
    images: bool = True
    context_of_others: bool = True
    answer_form: AnswerForm = "plain"
    reply_ping: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What holds where nothing was set, as the operator wants it. `off_in`: spaces without actions; `models`: those
    that a guild may choose from. The operator's budgets and retention are limits: a guild may only set less."""

    defaults: GuildSettings = field(default_factory=GuildSettings)
    off_in: frozenset[int] = frozenset()
    models: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The ground that the operator's settings lay."""
        return cls(
            GuildSettings(
                ambient_hourly=settings.ambient_hourly,
                quiet_hours=settings.ambient_quiet_hours,
                actions=settings.actions,
                retention_days=settings.retention_days,
                model=settings.model,
                daily_tokens=settings.space_daily_tokens,
                member_daily_tokens=settings.member_daily_tokens,
            ),
            settings.ids("actions_off_in"),
            frozenset({settings.model, *settings.offered_models}),
        )

    def in_space(self, space_id: SpaceId) -> GuildSettings:
        """What holds in a space that set nothing."""
        return replace(self.defaults, actions=False) if space_id in self.off_in else self.defaults

    def with_set(self, space_id: SpaceId, values: Mapping[str, object]) -> GuildSettings:
        """What holds where these values were set."""
        base = self.in_space(space_id)
        fitting = {name: value for name, value in values.items() if (fault_in(name, value) is None)}
        for name in values.keys() - fitting.keys():
            log.warning("guild_settings.unfit", space_id=space_id, name=name)
        if fitting.get("model", base.model) not in self.models:
            fitting.pop("model", None)
        for limited in ("retention_days", "daily_tokens", "member_daily_tokens"):
            if limited in fitting:
                fitting[limited] = _least(cast("int", fitting[limited]), getattr(base, limited))
        if "ambient_hourly" in fitting:
            fitting["ambient_hourly"] = min(cast("int", fitting["ambient_hourly"]), base.ambient_hourly)
        if "admin_role_ids" in fitting:
            fitting["admin_role_ids"] = frozenset(cast("list[int]", fitting["admin_role_ids"]))
        return replace(base, **cast("dict[str, Any]", fitting))


def _least(mine: int, operators: int) -> int:
    """The smaller limit, where 0 is none."""
    return min((each for each in (mine, operators) if each), default=0)


def fault_in(name: str, value: object) -> str | None:
    """Why a value does not fit its name, as a sentence for who wants to set it; None where it does."""
    match name:
        case "listening":
            return None if value in get_args(Listening) else "It listens to mentions, to everything (free), or is off."
        case "ambient" | "actions" | "memory" | "streaming" | "images" | "context_of_others" | "reply_ping":
            return None if isinstance(value, bool) else "It is on or off."
        case "answer_form":
            return None if value in get_args(AnswerForm) else "It is plain, embed or panel."
        case "retention_days":
            return None if _is_count(value, MOST_DAYS) else f"It is a number of days up to {MOST_DAYS}; 0 is no end."
        case "daily_tokens" | "member_daily_tokens":
            return None if _is_count(value, 10**12) else "It is a number of tokens; 0 is no budget."
        case "ambient_hourly":
            return None if _is_count(value, MOST_HOURLY) else f"It is a number up to {MOST_HOURLY}; 0 is never."
        case "quiet_hours":
            return _fault_in_hours(value)
        case "mod_log_id":
            return None if _is_count(value, 2**63 - 1) else "It is a channel."
        case "admin_role_ids":
            fits = isinstance(value, list) and all(_is_count(e, 2**63 - 1) for e in cast("list[object]", value))
            return None if fits and len(cast("list[object]", value)) <= MOST_ROLES else f"At most {MOST_ROLES} roles."
        case "language" | "model" | "ack_reaction":
            fits = isinstance(value, str) and 0 < len(value) <= 100 and value.isprintable()
            return None if fits else "It is one word of at most 100 characters."
        case _:
            return "There is no such setting."


def _fault_in_hours(value: object) -> str | None:
    try:
        QuietHours.of(value if isinstance(value, str) else "?")
    except ValueError as error:
        return str(error)
    return None


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


# What was set for a place, by name.
SETTINGS_OF_SQL: Final = "SELECT name, value::text AS value FROM settings_of($1, $2)"


async def read_settings(conn: Db, ground: Ground, space_id: SpaceId, place_id: PlaceId) -> GuildSettings:
    """What holds in a place now, or with WHOLE_SPACE in the space. Raises what PostgreSQL raises."""
    rows = await conn.fetch(SETTINGS_OF_SQL, space_id, place_id)
    return ground.with_set(space_id, {row["name"]: orjson.loads(row["value"]) for row in rows})


class GuildSettingsDoor(Kept[GuildSettings]):
    """Where everybody reads settings. Raises what PostgreSQL raises."""

    def __init__(self, pool: Pool, ground: Ground) -> None:
        self.ground = ground
        self._pool = pool
        super().__init__(self._settings, most=MOST_KEPT)

    async def of(self, space_id: SpaceId, place_id: PlaceId = WHOLE_SPACE) -> GuildSettings:
        """What holds in a place, or in the space as a whole."""
        return await super().of(space_id, place_id)

    async def _settings(self, space_id: SpaceId, place_id: PlaceId) -> GuildSettings:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await read_settings(conn, self.ground, space_id, place_id)


# What was set for this very place.
SET_IN_SQL: Final = "SELECT name FROM guild_settings WHERE space_id = $1 AND place_id = $2"


async def set_in(conn: Db, space_id: SpaceId, place_id: PlaceId) -> frozenset[Name]:
    """The names of what was set for a place itself, and does not come from around it."""
    names = {row["name"] for row in await conn.fetch(SET_IN_SQL, space_id, place_id)}
    return frozenset(each for each in get_args(Name) if each in names)


@dataclass(frozen=True, slots=True)
class Change:
    """One change. `value` is None where it was taken back to what holds around it."""

    place_id: PlaceId
    name: str
    version: int
    value: Value | None
    set_by: UserId
    set_at: datetime


# One change at a time in a space, so that versions count.
LOCK_SETTINGS_SQL: Final = "SELECT pg_advisory_xact_lock(hashtextextended('guild_settings', $1))"

# Put a value on record, and let it hold; null lets what is around it hold again. Nothing is changed where it holds.
SET_SQL: Final = """
WITH standing AS (
    SELECT value FROM guild_settings WHERE space_id = $1 AND place_id = $2 AND name = $3
), changed AS (
    INSERT INTO guild_setting_changes (space_id, place_id, name, version, value, set_by)
    SELECT $1, $2, $3, 1 + coalesce((SELECT max(version) FROM guild_setting_changes
                                     WHERE space_id = $1 AND place_id = $2 AND name = $3), 0), $4::text::jsonb, $5
    WHERE (SELECT value FROM standing) IS DISTINCT FROM $4::text::jsonb
    RETURNING place_id, name, version, value, set_by, set_at
), put AS (
    INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by, set_at)
    SELECT $1, place_id, name, value, version, set_by, set_at FROM changed WHERE value IS NOT NULL
    ON CONFLICT (space_id, place_id, name) DO UPDATE SET
        value = EXCLUDED.value, version = EXCLUDED.version, set_by = EXCLUDED.set_by, set_at = EXCLUDED.set_at
), dropped AS (
    DELETE FROM guild_settings g USING changed c
    WHERE g.space_id = $1 AND g.place_id = c.place_id AND g.name = c.name AND c.value IS NULL
)
SELECT place_id, name, version, value::text AS value, set_by, set_at FROM changed
"""


async def change(
    conn: Borrowed | Connection, space_id: SpaceId, place_id: PlaceId, name: Name, value: Value | None, *, by: UserId
) -> Change | None:
    """Set a value, or take it back with None; None where it stood so already. The caller has looked at who may, and
    lets the door forget the space afterwards. Raises ValueError for a value that does not fit."""
    if value is not None and (fault := fault_in(name, value)) is not None:
        raise ValueError(fault)
    if place_id != WHOLE_SPACE and name in OF_SPACE_ALONE:
        raise ValueError("This is set for the whole server.")
    async with conn.transaction():
        await conn.execute(LOCK_SETTINGS_SQL, space_id)
        row = await conn.fetchrow(
            SET_SQL, space_id, place_id, name, None if value is None else orjson.dumps(value).decode(), by
        )
    return None if row is None else _change_of(row)


# The newest changes in a space.
CHANGES_SQL: Final = """
SELECT place_id, name, version, value::text AS value, set_by, set_at FROM guild_setting_changes
WHERE space_id = $1 ORDER BY set_at DESC, place_id, name, version DESC LIMIT $2 OFFSET $3
"""


async def changes(conn: Db, space_id: SpaceId, *, limit: int = 10, start: int = 0) -> tuple[Change, ...]:
    """What was changed in a space, newest first, after the first `start` of them."""
    return tuple(_change_of(row) for row in await conn.fetch(CHANGES_SQL, space_id, limit, start))


# How many changes there were in a space.
COUNT_CHANGES_SQL: Final = "SELECT count(*) FROM guild_setting_changes WHERE space_id = $1"


async def count_changes(conn: Db, space_id: SpaceId) -> int:
    """How many changes are on record in a space."""
    return int(await conn.fetchval(COUNT_CHANGES_SQL, space_id))


def _change_of(row: Record) -> Change:
    value = None if row["value"] is None else cast("Value", orjson.loads(row["value"]))
    return Change(PlaceId(row["place_id"]), row["name"], row["version"], value, UserId(row["set_by"]), row["set_at"])
