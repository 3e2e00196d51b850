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
RETURNING space_id, message_id, user_id, emoji
"""

# The routes of reactions, in their order: on an answer of ours, for a role, a shortcut of the guild. What one of them
# claims is its task, in the transaction that journals the reaction; what none claims is state and nothing else. What
# is taken back (it comes without a place) undoes a role, and what a shortcut remembered. Where they are cleared ($7)
# nobody has given back a role, which would go from everybody at once.
CLAIM_REACTIONS_SQL: Final = """
INSERT INTO reaction_tasks (space_id, place_id, message_id, user_id, emoji, claim)
SELECT r.space_id, coalesce(r.place_id, g.place_id, (
           SELECT m.place_id FROM chat_messages m WHERE m.space_id = r.space_id AND m.message_id = r.message_id), 0),
       r.message_id, r.user_id, r.emoji,
       CASE WHEN o.ours THEN 'own' WHEN g.role_id IS NOT NULL THEN 'role' ELSE 'shortcut' END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
  AS r (space_id, message_id, user_id, emoji, place_id)
CROSS JOIN LATERAL (
    SELECT r.place_id IS NOT NULL AND r.emoji = ANY($6::text[]) AND (
        SELECT m.author_kind = 'self' FROM chat_messages m
        WHERE m.space_id = r.space_id AND m.message_id = r.message_id) IS TRUE AS ours) AS o
LEFT JOIN reaction_roles g ON NOT $7 AND g.space_id = r.space_id AND g.message_id = r.message_id AND g.emoji = r.emoji
LEFT JOIN reaction_shortcuts s ON s.space_id = r.space_id AND s.emoji = r.emoji
    AND (r.place_id IS NOT NULL OR s.deed = 'remember')
WHERE o.ours OR g.role_id IS NOT NULL OR s.deed IS NOT NULL
"""

OWN_MARKS: Final = ("🗑", "🗑️", "❓", "❔", "❌", "✖️")
"""Emoji that mean something on an answer of ours."""

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
                gone = await conn.fetch(CLEAR_REACTIONS_SQL, r.space_id, r.message_id, r.user_id, r.emoji, event.key)
                await _claim(conn, {(g[0], g[1], g[2], g[3]): event for g in gone}, cleared=r.user_id is None)
                if not gone:
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
    await _claim(conn, {key: event for key, event in events.items() if key in changed})
    return {id(event) for key, event in events.items() if key not in changed}


async def _claim(conn: Db, events: Mapping[_Reaction, Incoming], *, cleared: bool = False) -> None:
    """Let the routes claim reactions that are news. `cleared`: all of a message's went, or all with one emoji."""
    rows = [
        (*key, event.change.place_id if isinstance(event.change, ReactionAdded) else None)
        for key, event in sorted(events.items())
    ]
    if rows:
        await conn.execute(CLAIM_REACTIONS_SQL, *map(list, zip(*rows, strict=True)), list(OWN_MARKS), cleared)
