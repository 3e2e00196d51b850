"""The state of reactions: who reacted with what, now. An event that changes nothing is no news (I2)."""

from collections.abc import Iterable, Mapping
from typing import Final

from memory.database import Db
from memory.incoming import Incoming, ReactionAdded, ReactionsRemoved

# Add reactions; those that do not come back were there, or were added by this very event before.
ADD_REACTIONS_SQL: Final = """
INSERT INTO message_reactions (space_id, message_id, user_id, emoji, place_id)
SELECT space_id, message_id, user_id, emoji, place_id
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
  AS r (space_id, message_id, user_id, emoji, event_key, place_id)
WHERE NOT EXISTS (SELECT 1 FROM discord_events e WHERE e.space_id = r.space_id AND e.event_key = r.event_key)
ON CONFLICT DO NOTHING
RETURNING space_id, message_id, user_id, emoji
"""

# Take reactions back; those that do not come back were not there, or were taken by this very event before.
TAKE_REACTIONS_SQL: Final = """
DELETE FROM message_reactions r
USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
  AS g (space_id, message_id, user_id, emoji, event_key)
WHERE NOT EXISTS (SELECT 1 FROM discord_events e WHERE e.space_id = g.space_id AND e.event_key = g.event_key)
  AND r.space_id = g.space_id AND r.message_id = g.message_id AND r.user_id = g.user_id AND r.emoji = g.emoji
RETURNING r.space_id, r.message_id, r.user_id, r.emoji
"""

# Clear a message's reactions of one person or all, with one emoji or any; no row back means that there were none, or
# that this very event did it before.
CLEAR_REACTIONS_SQL: Final = """
DELETE FROM message_reactions
WHERE space_id = $1 AND message_id = $2 AND ($3::bigint IS NULL OR user_id = $3) AND ($4::text IS NULL OR emoji = $4)
  AND NOT EXISTS (SELECT 1 FROM discord_events WHERE space_id = $1 AND event_key = $5)
RETURNING true
"""

_Reaction = tuple[int, int, int, str]


async def apply_reactions(conn: Db, events: Iterable[Incoming]) -> set[int]:
    """Apply reactions in order; returns the id() of the events that changed nothing and so are not journalled (I2).

    Those that do not touch each other go together, however they are ordered.
    """
    unchanged: set[int] = set()
    apart: dict[_Reaction, Incoming] = {}
    for event in events:
        match event.change:
            case ReactionAdded() as a:
                key = (a.space_id, a.message_id, a.user_id, a.emoji)
            case ReactionsRemoved(user_id=int() as user_id, emoji=str() as emoji) as r:
                key = (r.space_id, r.message_id, user_id, emoji)
            case ReactionsRemoved() as r:
                unchanged |= await _apply_apart(conn, apart)
                apart = {}
                if not await conn.fetch(CLEAR_REACTIONS_SQL, r.space_id, r.message_id, r.user_id, r.emoji, event.key):
                    unchanged.add(id(event))
                continue
            case _:
                continue
        if key in apart:
            unchanged |= await _apply_apart(conn, apart)
            apart = {}
        apart[key] = event
    return unchanged | await _apply_apart(conn, apart)


async def _apply_apart(conn: Db, events: Mapping[_Reaction, Incoming]) -> set[int]:
    """Apply additions and removals of which no two are about the same reaction."""
    added = [
        (*key, e.key, e.change.place_id) for key, e in sorted(events.items()) if isinstance(e.change, ReactionAdded)
    ]
    taken = [(*key, e.key) for key, e in sorted(events.items()) if isinstance(e.change, ReactionsRemoved)]
    changed: set[tuple[object, ...]] = set()
    if added:
        changed |= {tuple(row) for row in await conn.fetch(ADD_REACTIONS_SQL, *map(list, zip(*added, strict=True)))}
    if taken:
        changed |= {tuple(row) for row in await conn.fetch(TAKE_REACTIONS_SQL, *map(list, zip(*taken, strict=True)))}
    return {id(event) for key, event in events.items() if key not in changed}
