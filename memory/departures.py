"""Turns whose place is gone: it was deleted, or the bot is no longer in its guild. There is nobody to answer (I3)."""

from collections.abc import Sequence
from typing import Final

from memory.database import Db
from memory.ids import SpaceId, TurnId
from memory.incoming import GuildLeft, Incoming, PlaceGone

# End what waits in these places (0: in the whole guild) and in the threads under them, and ask for the end of what
# runs there. What was composed is offered to Discord, whose refusal ends it.
CANCEL_GONE_SQL: Final = """
UPDATE turns t SET
    cancel_reason = CASE WHEN t.cancel_requested_at IS NULL THEN g.reason ELSE t.cancel_reason END,
    cancel_requested_at = coalesce(t.cancel_requested_at, now()),
    state = CASE t.state WHEN 'queued' THEN 'cancelled' ELSE t.state END,
    end_reason = CASE t.state WHEN 'queued' THEN g.reason ELSE t.end_reason END,
    ended_at = CASE t.state WHEN 'queued' THEN now() ELSE t.ended_at END
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS g (space_id, place_id, reason)
WHERE t.space_id = g.space_id AND t.state IN ('queued', 'running')
  AND (g.place_id IN (0, t.place_id)
       OR EXISTS (SELECT FROM places p
                  WHERE p.space_id = t.space_id AND p.place_id = t.place_id AND p.parent_id = g.place_id))
RETURNING t.turn_id, t.state
"""


async def end_with_places(conn: Db, events: Sequence[Incoming]) -> tuple[TurnId, ...]:
    """End the turns of places and guilds that are gone, in the caller's transaction, which forgets those places later.

    Gives those that run, for their workers to stop.
    """
    gone: list[tuple[int, int, str]] = []
    for event in events:
        match event.change:
            case PlaceGone(space_id, place_id):
                gone.append((space_id, place_id, "place_gone"))
            case GuildLeft(space_id):
                gone.append((space_id, 0, "guild_left"))
            case _:
                pass
    return await _end(conn, gone)


async def end_with_guilds(conn: Db, space_ids: Sequence[SpaceId]) -> None:
    """End the turns of guilds that a new session no longer lists; what runs there is noticed by its worker."""
    await _end(conn, [(space_id, 0, "guild_left") for space_id in space_ids])


async def _end(conn: Db, gone: Sequence[tuple[int, int, str]]) -> tuple[TurnId, ...]:
    if not gone:
        return ()
    spaces, places, reasons = zip(*sorted(gone), strict=True)
    rows = await conn.fetch(CANCEL_GONE_SQL, list(spaces), list(places), list(reasons))
    return tuple(TurnId(row["turn_id"]) for row in rows if row["state"] == "running")
