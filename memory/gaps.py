"""Gaps: spans in which Discord may have sent what was not committed, and the cursors from which it is fetched (I1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId

GapReason = Literal["start", "identify", "overflow"]


@dataclass(frozen=True, slots=True)
class Behind:
    """A place whose messages after `after` may be missing from the journal."""

    space_id: SpaceId
    place_id: PlaceId
    after: MessageId


@dataclass(frozen=True, slots=True)
class OpenGap:
    """A gap that is not yet closed. `since` is when the journal was last known to be whole; `opened_at`, when what
    came afterwards was put to it again."""

    gap_id: int
    since: datetime
    opened_at: datetime


# Freeze every cursor of the shard: live messages raise newest_id, never backfill_after. One that is frozen moves
# back by a single id, so that a backfill that is at this very moment done with the older gap finds that it is not.
FREEZE_CURSORS_SQL: Final = """
UPDATE place_cursors c SET backfill_after = coalesce(backfill_after - 1, newest_id)
WHERE gone_at IS NULL AND $1 = CASE
    WHEN space_id = place_id AND NOT EXISTS (SELECT FROM audience_guilds g WHERE g.space_id = c.space_id) THEN 0
    ELSE mod(space_id >> 22, $2) END
"""

# Without a time of its own, a gap begins a minute before the newest message that came by the gateway and was committed,
# for messages of different places need not come in the order of their ids, nor are they committed so; but not before
# the first gap of all. That begins with its session, when nobody listened before, and ten seconds earlier, since what
# was said when Discord began the session may have been lost, and its clock is not ours. Where no such message is left,
# nothing is known that the gap before did not know. By Discord's own clock, since that is what it is compared with, and
# what waited in our queue at the end is older than the last commit. What we said ourselves tells nothing of what came:
# a turn may be taken up, and answered, before the first dispatch of a new session.
OPEN_GAP_SQL: Final = """
WITH heard AS (
    SELECT to_timestamp(((message_id >> 22) + 1420070400000) / 1000.0) - interval '1 minute' AS until
    FROM discord_events WHERE kind = 'MESSAGE_CREATE' AND source = 'gateway' ORDER BY event_id DESC LIMIT 1
)
INSERT INTO gateway_gaps (shard_id, reason, since, dropped)
SELECT $1, $2, coalesce(
    $3,
    (SELECT greatest(until, (SELECT since FROM gateway_gaps ORDER BY gap_id LIMIT 1)) FROM heard),
    (SELECT since FROM gateway_gaps ORDER BY gap_id DESC LIMIT 1),
    now() - $5::interval - interval '10 seconds'
), $4
"""


async def open_gap(
    conn: Db,
    *,
    shard: tuple[int, int],
    reason: GapReason,
    since: datetime | None,
    dropped: int,
    waited: timedelta = timedelta(0),
) -> None:
    """Record a gap of `shard` (its number, and how many there are) that was noticed `waited` before the caller's
    transaction began, inside of it.

    A guild's shard is its id's high bits modulo their number, and DMs are shard 0's (Discord's rule). What is no known
    guild is taken for a DM where space and place are one.
    """
    await conn.execute(FREEZE_CURSORS_SQL, *shard)
    await conn.execute(OPEN_GAP_SQL, shard[0], reason, since, dropped, waited)


# The gaps that wait for a backfill, oldest first.
OPEN_GAPS_SQL: Final = """
SELECT gap_id, since, opened_at FROM gateway_gaps WHERE shard_id = $1 AND closed_at IS NULL ORDER BY gap_id
"""


async def open_gaps(conn: Db, shard_id: int) -> tuple[OpenGap, ...]:
    """The shard's open gaps, oldest first."""
    return tuple(OpenGap(**dict(row)) for row in await conn.fetch(OPEN_GAPS_SQL, shard_id))


# The places that may lack messages, the most recently active first.
PLACES_BEHIND_SQL: Final = """
SELECT space_id, place_id, backfill_after FROM place_cursors
WHERE backfill_after IS NOT NULL AND gone_at IS NULL
ORDER BY newest_id DESC LIMIT $1
"""


async def places_behind(conn: Db, *, limit: int) -> tuple[Behind, ...]:
    """At most `limit` places to fetch from, the most recently active first."""
    rows = await conn.fetch(PLACES_BEHIND_SQL, limit)
    return tuple(
        Behind(SpaceId(row["space_id"]), PlaceId(row["place_id"]), MessageId(row["backfill_after"])) for row in rows
    )


# Places that are not known yet get a cursor at the gap's start. One that is known may be so by a live message alone,
# which came after the gap: then too it is fetched from the gap's start. One that could not be read is tried again after
# five minutes, for permissions change and outages end; not sooner, since Discord counts refused requests.
ADD_CURSORS_SQL: Final = """
INSERT INTO place_cursors AS c (space_id, place_id, newest_id, backfill_after)
SELECT space_id, place_id, after, after
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS p (space_id, place_id, after)
ON CONFLICT (space_id, place_id) DO UPDATE SET backfill_after = EXCLUDED.backfill_after, gone_at = NULL
WHERE (c.gone_at IS NULL OR c.gone_at < now() - interval '5 minutes')
  AND (c.backfill_after IS NULL OR c.backfill_after > EXCLUDED.backfill_after)
"""


async def add_cursors(conn: Db, places: Sequence[Behind]) -> None:
    """Make sure that each of `places` is fetched from where it says, or from before."""
    await conn.execute(
        ADD_CURSORS_SQL,
        [place.space_id for place in places],
        [place.place_id for place in places],
        [place.after for place in places],
    )


# A place is whole again, unless a newer gap froze it meanwhile.
CATCH_UP_SQL: Final = """
UPDATE place_cursors SET backfill_after = NULL, gone_at = CASE WHEN $4 THEN now() ELSE gone_at END
WHERE space_id = $1 AND place_id = $2 AND backfill_after = $3
"""


async def caught_up(conn: Db, place: Behind, *, gone: bool = False) -> None:
    """The place's messages were fetched, or (`gone`) the place can no longer be read."""
    await conn.execute(CATCH_UP_SQL, place.space_id, place.place_id, place.after, gone)


@dataclass(frozen=True, slots=True)
class Known:
    """A message that the journal holds and takes for there; `version_at`: when it was last edited, or made."""

    message_id: MessageId
    version_at: datetime


# The newest messages up to $3 that the journal takes for there.
KNOWN_BEFORE_SQL: Final = """
SELECT message_id, version_at FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id <= $3 AND deleted_at IS NULL AND author_id IS NOT NULL
ORDER BY message_id DESC LIMIT $4
"""

# The oldest messages after $3, made before $5, that the journal takes for there.
KNOWN_AFTER_SQL: Final = """
SELECT message_id, version_at FROM chat_messages
WHERE space_id = $1 AND place_id = $2 AND message_id > $3 AND deleted_at IS NULL AND author_id IS NOT NULL
  AND created_at < $5
ORDER BY message_id LIMIT $4
"""


async def known_before(conn: Db, place: Behind, last: MessageId, *, limit: int) -> tuple[Known, ...]:
    """What the journal holds of `place` up to `last`, newest first."""
    rows = await conn.fetch(KNOWN_BEFORE_SQL, place.space_id, place.place_id, last, limit)
    return tuple(Known(**dict(row)) for row in rows)


async def known_after(conn: Db, place: Behind, after: MessageId, *, until: datetime, limit: int) -> tuple[Known, ...]:
    """What the journal holds of `place` after `after` and from before `until`, oldest first."""
    rows = await conn.fetch(KNOWN_AFTER_SQL, place.space_id, place.place_id, after, limit, until)
    return tuple(Known(**dict(row)) for row in rows)


# Close gaps, saying how many messages came back and how many places stay incomplete.
CLOSE_GAPS_SQL: Final = """
UPDATE gateway_gaps SET closed_at = now(), recovered = $2, incomplete = $3 WHERE gap_id = ANY($1::bigint[])
"""


async def close_gaps(conn: Db, gaps: Sequence[OpenGap], *, recovered: int, incomplete: int) -> None:
    """The backfill for `gaps` is over."""
    await conn.execute(CLOSE_GAPS_SQL, [gap.gap_id for gap in gaps], recovered, incomplete)
