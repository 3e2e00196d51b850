"""The places of a guild and their audiences: what Discord tells of roles and channels, and what follows from it (I7).

What was told is kept in the transaction that journals it, and makes the guild's audiences stale in the same instant:
until they are computed again, a place shows only what was said in it. `compute_audiences` does that, a guild at a time.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.audience import (
    PRIVATE_THREAD,
    THREAD_KINDS,
    Place,
    ReadingRule,
    Role,
    is_within,
    read_overwrites,
    reading_rule,
    write_overwrites,
)
from memory.choices import PLACE_REMEMBERS
from memory.database import BORROW_S, Db, Pool
from memory.ids import PlaceId, SpaceId
from memory.incoming import (
    GuildLeft,
    GuildsUnconfirmed,
    GuildTold,
    Incoming,
    PlaceGone,
    PlaceTold,
    RoleGone,
    RoleTold,
    Structure,
)
from memory.scope import Scope, fetch_scoped

# Take in roles of guilds; what is new or other makes the guild stale.
TELL_ROLES_SQL: Final = """
WITH told AS (
    INSERT INTO guild_roles AS r (space_id, role_id, permissions)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS t (space_id, role_id, permissions)
    ORDER BY 1, 2
    ON CONFLICT (space_id, role_id) DO UPDATE SET permissions = EXCLUDED.permissions
    WHERE r.permissions <> EXCLUDED.permissions
    RETURNING space_id
)
UPDATE audience_guilds SET version = version + 1 WHERE space_id IN (SELECT space_id FROM told)
"""

# Take in places of guilds, likewise. The class goes with what it was computed from.
TELL_PLACES_SQL: Final = """
WITH told AS (
    INSERT INTO places AS p (space_id, place_id, kind, parent_id, overwrites, own_only, age_restricted)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::text[], $6::boolean[],
                         $7::boolean[])
      AS t (space_id, place_id, kind, parent_id, overwrites, own_only, age_restricted)
    ORDER BY 1, 2
    ON CONFLICT (space_id, place_id) DO UPDATE SET
        kind = EXCLUDED.kind, parent_id = EXCLUDED.parent_id, overwrites = EXCLUDED.overwrites,
        own_only = EXCLUDED.own_only, age_restricted = EXCLUDED.age_restricted, class_id = NULL
    WHERE (p.kind, p.parent_id, p.overwrites, p.own_only, p.age_restricted)
          IS DISTINCT FROM (EXCLUDED.kind, EXCLUDED.parent_id, EXCLUDED.overwrites, EXCLUDED.own_only,
                            EXCLUDED.age_restricted)
    RETURNING space_id
)
UPDATE audience_guilds SET version = version + 1 WHERE space_id IN (SELECT space_id FROM told)
"""

# Forget roles, and make their guilds stale.
DROP_ROLES_SQL: Final = """
WITH gone AS (
    DELETE FROM guild_roles r USING unnest($1::bigint[], $2::bigint[]) AS t (space_id, role_id)
    WHERE r.space_id = t.space_id AND r.role_id = t.role_id RETURNING r.space_id
)
UPDATE audience_guilds SET version = version + 1 WHERE space_id IN (SELECT space_id FROM gone)
"""

# Forget places, with the threads under them.
DROP_PLACES_SQL: Final = """
WITH gone AS (
    DELETE FROM places p USING unnest($1::bigint[], $2::bigint[]) AS t (space_id, place_id)
    WHERE p.space_id = t.space_id AND t.place_id IN (p.place_id, p.parent_id) RETURNING p.space_id
)
UPDATE audience_guilds SET version = version + 1 WHERE space_id IN (SELECT space_id FROM gone)
"""

# A guild told as a whole: it is there, and this session vouches for it.
CONFIRM_GUILD_SQL: Final = """
INSERT INTO audience_guilds AS g (space_id, confirmed) VALUES ($1, true)
ON CONFLICT (space_id) DO UPDATE SET confirmed = true, told_at = now()
"""

# Of a guild told as a whole, what it no longer has. Threads stay: only the active ones were told.
KEEP_ONLY_SQL: Final = """
WITH roles AS (
    DELETE FROM guild_roles WHERE space_id = $1 AND role_id <> ALL($2::bigint[]) RETURNING role_id
), channels AS (
    DELETE FROM places p
    WHERE p.space_id = $1
      AND ((p.kind <> ALL($4::integer[]) AND p.place_id <> ALL($3::bigint[]))
           OR (p.kind = ANY($4::integer[]) AND p.parent_id <> ALL($3::bigint[])))
    RETURNING place_id
)
UPDATE audience_guilds SET version = version + 1
WHERE space_id = $1 AND (EXISTS (SELECT FROM roles) OR EXISTS (SELECT FROM channels))
"""

# A new session: until it tells of them, nobody knows what changed in these guilds meanwhile.
UNCONFIRM_SQL: Final = "UPDATE audience_guilds SET confirmed = false WHERE space_id = ANY($1::bigint[])"


# Audiences are to be computed again (one notification a commit).
NOTIFY_SQL: Final = "SELECT pg_notify('muninn_audiences', '')"


async def apply_structure(conn: Db, events: Iterable[Incoming]) -> None:
    """Take in what these events, in their order, tell of guilds, roles and places; in the caller's transaction."""
    told = False
    for event in events:
        if isinstance(event.change, Structure):
            await _apply(conn, event.change)
            told = True
    if told:
        await conn.execute(NOTIFY_SQL)


async def _apply(conn: Db, change: Structure) -> None:
    match change:
        case GuildTold(space_id, roles, places):
            await conn.execute(CONFIRM_GUILD_SQL, space_id)
            await conn.execute(
                KEEP_ONLY_SQL,
                space_id,
                [role.role_id for role in roles],
                [place.place_id for place in places],
                sorted(THREAD_KINDS),
            )
            await _tell_roles(conn, space_id, roles)
            await _tell_places(conn, space_id, places)
        case GuildsUnconfirmed(space_ids):
            await conn.execute(UNCONFIRM_SQL, list(space_ids))
        case GuildLeft(space_id):
            await conn.execute(UNCONFIRM_SQL, [space_id])
        case RoleTold(space_id, role):
            await _tell_roles(conn, space_id, (role,))
        case RoleGone(space_id, role_id):
            await conn.execute(DROP_ROLES_SQL, [space_id], [role_id])
        case PlaceTold(space_id, place):
            await _tell_places(conn, space_id, (place,))
        case PlaceGone(space_id, place_id):
            await conn.execute(DROP_PLACES_SQL, [space_id], [place_id])


async def _tell_roles(conn: Db, space_id: SpaceId, roles: Sequence[Role]) -> None:
    unique = {role.role_id: role for role in roles}
    await conn.execute(
        TELL_ROLES_SQL, [space_id] * len(unique), list(unique), [role.permissions for role in unique.values()]
    )


async def _tell_places(conn: Db, space_id: SpaceId, places: Sequence[Place]) -> None:
    unique = {place.place_id: place for place in places}
    told = list(unique.values())
    await conn.execute(
        TELL_PLACES_SQL,
        [space_id] * len(told),
        [place.place_id for place in told],
        [place.kind for place in told],
        [place.parent_id for place in told],
        [write_overwrites(place.overwrites) for place in told],
        [place.kind == PRIVATE_THREAD for place in told],
        [place.age_restricted for place in told],
    )


# Whether Discord told of a guild of this id.
KNOWN_GUILD_SQL: Final = "SELECT EXISTS (SELECT FROM audience_guilds WHERE space_id = $1)"


async def is_direct(db: Db, scope: Scope) -> bool:
    """Whether a place is a direct conversation, which is a space of its own.

    Ids alone cannot say: the first channel of a guild made before August 2017 has the guild's own id. But Discord tells
    of a guild before it tells of anything in it, and the journal keeps that in the same order.
    """
    return scope.space_id == scope.place_id and not await db.fetchval(KNOWN_GUILD_SQL, scope.space_id)


# A guild whose audiences are stale, the one that was told of first.
STALE_SQL: Final = """
SELECT space_id, version FROM audience_guilds WHERE computed < version ORDER BY told_at, space_id LIMIT 1
"""

# The same guild, if it still is as it was read; whoever comes second finds it computed, or told of again.
HOLD_STALE_SQL: Final = """
SELECT true FROM audience_guilds WHERE space_id = $1 AND version = $2 AND computed < version FOR UPDATE
"""

# What the audiences of a guild are computed from.
ROLES_OF_SQL: Final = "SELECT role_id, permissions FROM guild_roles WHERE space_id = $1"
PLACES_OF_SQL: Final = "SELECT place_id, kind, parent_id, overwrites, age_restricted FROM places WHERE space_id = $1"

# The classes that the guild had, and what was found out about them: a rule's digest never comes to mean another rule.
CLASSES_OF_SQL: Final = "SELECT class_id, digest FROM audience_classes WHERE space_id = $1"

# Name new classes.
ADD_CLASSES_SQL: Final = """
INSERT INTO audience_classes (space_id, digest) SELECT $1, digest FROM unnest($2::bytea[]) AS d (digest)
RETURNING class_id, digest
"""

# What may flow between classes of which at least one is new.
ADD_FLOWS_SQL: Final = """
INSERT INTO audience_flow (space_id, into_class, from_class)
SELECT $1, i, f FROM unnest($2::bigint[], $3::bigint[]) AS t (i, f)
"""

# Say which class each place has; a place without one shows what was said in it alone.
CLASSIFY_SQL: Final = """
UPDATE places p SET class_id = t.class_id
FROM unnest($2::bigint[], $3::bigint[]) AS t (place_id, class_id)
WHERE p.space_id = $1 AND p.place_id = t.place_id AND p.class_id IS DISTINCT FROM t.class_id
"""

# Classes that no place has any more; their flows go with them.
DROP_CLASSES_SQL: Final = """
DELETE FROM audience_classes WHERE space_id = $1 AND class_id <> ALL($2::bigint[])
"""

# The guild's audiences are those of this version.
COMPUTED_SQL: Final = "UPDATE audience_guilds SET computed = $2 WHERE space_id = $1"


async def compute_audiences(pool: Pool) -> SpaceId | None:
    """Compute the audiences of one guild that is stale; gives which, or None if none is.

    Nothing is held while it computes. If Discord told more of the guild meanwhile, nothing is written, and the guild is
    still stale.
    """
    async with pool.acquire(timeout=BORROW_S) as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        stale = await conn.fetchrow(STALE_SQL)
        if stale is None:
            return None
        space_id = SpaceId(stale["space_id"])
        roles = [Role(**dict(row)) for row in await conn.fetch(ROLES_OF_SQL, space_id)]
        places = [
            Place(
                PlaceId(row["place_id"]),
                row["kind"],
                row["parent_id"],
                read_overwrites(row["overwrites"]),
                row["age_restricted"],
            )
            for row in await conn.fetch(PLACES_OF_SQL, space_id)
        ]
        known = {row["digest"]: row["class_id"] for row in await conn.fetch(CLASSES_OF_SQL, space_id)}
    # A large guild takes seconds of arithmetic.
    found = await asyncio.to_thread(_audiences, space_id, roles, places, frozenset(known))
    async with pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
        if await conn.fetchval(HOLD_STALE_SQL, space_id, stale["version"]):
            await _write(conn, space_id, found, known)
            await conn.execute(COMPUTED_SQL, space_id, stale["version"])
    return space_id


async def _write(conn: Db, space_id: SpaceId, found: "_Audiences", known: Mapping[bytes, int]) -> None:
    added = await conn.fetch(ADD_CLASSES_SQL, space_id, found.new)
    classes = {**known, **{row["digest"]: row["class_id"] for row in added}}
    await conn.execute(
        ADD_FLOWS_SQL,
        space_id,
        [classes[into] for into, _ in found.flows],
        [classes[origin] for _, origin in found.flows],
    )
    used = {place_id: classes[digest] if digest else None for place_id, digest in found.of_place.items()}
    await conn.execute(CLASSIFY_SQL, space_id, list(used), list(used.values()))
    await conn.execute(DROP_CLASSES_SQL, space_id, sorted({each for each in used.values() if each is not None}))


@dataclass(frozen=True, slots=True)
class _Audiences:
    """The class of each place (None: not known), classes that are new, and (into, from) that concern a new one."""

    of_place: Mapping[PlaceId, bytes | None]
    new: Sequence[bytes]
    flows: Sequence[tuple[bytes, bytes]]


def _audiences(
    space_id: SpaceId, roles: Sequence[Role], places: Sequence[Place], known: frozenset[bytes]
) -> _Audiences:
    rules: dict[bytes, ReadingRule] = {}
    of_place: dict[PlaceId, bytes | None] = {}
    has_everyone = any(role.role_id == space_id for role in roles)
    for place in places:
        if place.kind not in THREAD_KINDS and has_everyone:
            rule = reading_rule(space_id, roles, place)
            rules[rule.digest] = rule
            of_place[place.place_id] = rule.digest
        else:
            of_place[place.place_id] = None
    for place in places:
        if place.kind in THREAD_KINDS and place.parent_id is not None:
            of_place[place.place_id] = of_place.get(place.parent_id)
    new = [digest for digest in rules if digest not in known]
    fresh = frozenset(new)
    flows = [
        (into, origin)
        for into in rules
        for origin in rules
        if (into in fresh or origin in fresh) and is_within(rules[into], rules[origin])
    ]
    return _Audiences(of_place, new, flows)


# From the place $2 of the space $1 to every place that all can read who read it, as things stand now (I7).
_READABLE_HERE: Final = """
FROM places here
JOIN audience_guilds g ON g.space_id = here.space_id AND g.computed = g.version AND g.confirmed
JOIN audience_flow flow ON flow.space_id = here.space_id AND flow.into_class = here.class_id
JOIN places origin ON origin.space_id = here.space_id AND origin.class_id = flow.from_class
"""

# Where what may show in the place $2 of the space $1 was said: in it, and wherever everybody who can read it could have
# read too, as things stand now; nothing where memory is off, and nothing from there. For the WITH of a statement that
# reads what was said.
SHOWN_PLACES: Final = f"""
shown_places AS MATERIALIZED (
    SELECT s.place_id FROM (
        SELECT $2::bigint AS place_id
        UNION
        SELECT origin.place_id {_READABLE_HERE}
        WHERE here.space_id = $1 AND here.place_id = $2 AND NOT origin.own_only
    ) AS s
    WHERE CASE WHEN (SELECT EXISTS (SELECT FROM guild_settings WHERE space_id = $1 AND name = 'memory'))
               THEN (SELECT {PLACE_REMEMBERS.format(space="$1", place="$2")})
                    AND {PLACE_REMEMBERS.format(space="$1", place="s.place_id")}
               ELSE true END
)
"""


def here_alone(statement: str) -> str:
    """The same statement for what was said in the place $2 and nowhere else, whatever may show there. Raises
    ValueError where it has no SHOWN_PLACES."""
    before, marked, after = statement.partition(SHOWN_PLACES.strip())
    if not marked:
        raise ValueError("this statement reads no other places")
    return f"{before}shown_places AS MATERIALIZED (SELECT $2::bigint AS place_id){after}"


# Where what may show here was said.
SHOWN_PLACES_SQL: Final = f"""
WITH {SHOWN_PLACES} SELECT place_id FROM shown_places ORDER BY place_id
"""


async def shown_places(conn: Db, space_id: SpaceId, place_id: PlaceId) -> frozenset[PlaceId]:
    """The places whose words may show in this one (I7)."""
    return frozenset(PlaceId(row["place_id"]) for row in await conn.fetch(SHOWN_PLACES_SQL, space_id, place_id))


# Which of these places everybody can read who reads here, as things stand now.
VISIBLE_PLACES_SQL: Final = f"""
SELECT origin.place_id {_READABLE_HERE}
WHERE here.space_id = $1 AND here.place_id = $2 AND origin.place_id = ANY($3::bigint[])
  AND (NOT origin.own_only OR origin.place_id = here.place_id)
"""


async def visible_places(conn: Db, scope: Scope, place_ids: Sequence[PlaceId]) -> frozenset[PlaceId]:
    """Which of these everybody can read who reads the scope's place (I7); what is not known is not among them."""
    rows = await fetch_scoped(conn, VISIBLE_PLACES_SQL, scope, list(place_ids))
    return frozenset(PlaceId(row["place_id"]) for row in rows)
