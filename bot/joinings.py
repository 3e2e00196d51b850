"""What is on record of guilds that were joined: when, when they were left, and how far the notice to each has come.

A notice is `owed`, then `told` or `refused` (nobody takes it, or the guild was left), or was never due (`waived`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, UserId, time_snowflake

State = Literal["owed", "told", "refused", "waived"]

ACTION: Final = "guild_notice"
"""What its receipts are called."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A guild that the bot is in, as its GUILD_CREATE told. `joined_at` (Discord's) tells one joining from the next."""

    space_id: SpaceId
    joined_at: datetime
    owner_id: UserId
    system_channel_id: PlaceId | None

    @property
    def trigger_id(self) -> MessageId:
        """Names the joining in receipts: the id that Discord would have made in that moment."""
        return MessageId(time_snowflake(self.joined_at))


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a notice has come. `notice` and `channel_id` are fixed together, at `composed_at`."""

    notice_state: State
    notice: str | None
    composed_at: datetime | None
    channel_id: PlaceId | None
    owner_place_id: PlaceId | None


# Note a joining, once, and that every earlier one of the guild has ended; gives what is on record.
JOIN_SQL: Final = """
WITH ended AS (
    UPDATE guild_joinings SET left_at = now() WHERE space_id = $1 AND joined_at < $2 AND left_at IS NULL
)
INSERT INTO guild_joinings AS j (space_id, joined_at, notice_state) VALUES ($1, $2, $3)
ON CONFLICT (space_id, joined_at) DO UPDATE SET left_at = NULL
RETURNING notice_state, notice, composed_at, channel_id, owner_place_id
"""


async def join(conn: Db, joined: Joined, *, owes: bool) -> Standing:
    """Note that the bot is in the guild; a joining that is new owes a notice, or with `owes` off never will."""
    row = await conn.fetchrow(JOIN_SQL, joined.space_id, joined.joined_at, "owed" if owes else "waived")
    return _standing(row)


# Commit to the words and to where they go first, unless somebody did before.
COMPOSE_SQL: Final = """
UPDATE guild_joinings SET
    notice = coalesce(notice, $3), composed_at = coalesce(composed_at, now()),
    channel_id = CASE WHEN notice IS NULL THEN $4::bigint ELSE channel_id END
WHERE space_id = $1 AND joined_at = $2
RETURNING notice_state, notice, composed_at, channel_id, owner_place_id
"""


async def compose(conn: Db, joined: Joined, notice: str, channel_id: PlaceId | None) -> Standing:
    """Fix what is said and, unless it is for the owner alone (None), in which channel; the first one's words stay."""
    return _standing(await conn.fetchrow(COMPOSE_SQL, joined.space_id, joined.joined_at, notice, channel_id))


# Commit to the conversation in which the owner is told.
OWNER_PLACE_SQL: Final = """
UPDATE guild_joinings SET owner_place_id = coalesce(owner_place_id, $3) WHERE space_id = $1 AND joined_at = $2
RETURNING owner_place_id
"""


async def fix_owner_place(conn: Db, joined: Joined, place_id: PlaceId) -> PlaceId:
    """Fix the owner's conversation; gives the one that was fixed first."""
    return PlaceId(await conn.fetchval(OWNER_PLACE_SQL, joined.space_id, joined.joined_at, place_id))


# The notice is given, or cannot be.
END_NOTICE_SQL: Final = """
UPDATE guild_joinings SET notice_state = $3, told_at = now()
WHERE space_id = $1 AND joined_at = $2 AND notice_state = 'owed'
"""


async def end(conn: Db, joined: Joined, state: State) -> None:
    """Record how it ended; once."""
    await conn.execute(END_NOTICE_SQL, joined.space_id, joined.joined_at, state)


# These guilds were left; what they were still owed is not given any more, and what is in doubt stays so.
LEAVE_SQL: Final = """
WITH ended AS (
    UPDATE guild_joinings SET left_at = now(),
        notice_state = CASE notice_state WHEN 'owed' THEN 'refused' ELSE notice_state END
    WHERE left_at IS NULL AND space_id = ANY($1::bigint[])
    RETURNING space_id
), doubtful AS (
    UPDATE action_receipts r SET state = 'unknown', failure = 'unreadable:left', settled_at = now() FROM ended
    WHERE r.space_id = ended.space_id AND r.action = 'guild_notice' AND r.state IN ('intended', 'unknown')
)
SELECT space_id FROM ended
"""


async def leave(conn: Db, guilds: Sequence[SpaceId]) -> tuple[SpaceId, ...]:
    """Note that the bot is in none of `guilds` any more; gives those in which it was."""
    return tuple(SpaceId(row["space_id"]) for row in await conn.fetch(LEAVE_SQL, list(guilds)))


# The guilds of a shard that the bot was in, by Discord's rule for shards.
PRESENT_SQL: Final = """
SELECT space_id FROM guild_joinings WHERE left_at IS NULL AND mod(space_id >> 22, $2) = $1
"""


async def present(conn: Db, shard: tuple[int, int]) -> tuple[SpaceId, ...]:
    """The guilds of `shard` (its number, and how many there are) that were not left, as far as is known."""
    return tuple(SpaceId(row["space_id"]) for row in await conn.fetch(PRESENT_SQL, *shard))


def _standing(row: object) -> Standing:
    return Standing(**dict(cast("Mapping[str, Any]", row)))
