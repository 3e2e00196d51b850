"""The audience rule (I7), by SQL, against worlds at random and an oracle that knows everybody."""

import asyncpg
import pytest

from memory.ids import PlaceId, SpaceId
from memory.journal import write_group
from memory.places import SHOWN_PLACES, compute_audiences, shown_places
from tests.audience.worlds import World

Pool = "asyncpg.Pool[asyncpg.Record]"

# Of each place of a guild, the places whose words may show in it: the very fragment that recall goes through.
PAIRS = f"""
SELECT p.place_id AS place, shown.place_id AS origin
FROM places p CROSS JOIN LATERAL (
    WITH {SHOWN_PLACES.replace("$2::bigint", "p.place_id").replace("$2", "p.place_id")} SELECT * FROM shown_places
) AS shown
WHERE p.space_id = $1
"""


async def compare(pool: "asyncpg.Pool[asyncpg.Record]", world: World) -> int:
    """Check each pair of places; gives how many there were."""
    shown = {(row["place"], row["origin"]) for row in await pool.fetch(PAIRS, world.guild_id)}
    places = world.places()
    reads = {
        place: frozenset(number for number, person in enumerate(world.people()) if world.reads(person, place))
        for place in places
    }
    for place in places:
        for origin in places:
            private = world.threads.get(origin, {}).get("type") == 12
            allowed = place == origin or (not private and reads[place] <= reads[origin])
            assert ((place, origin) in shown) == allowed, f"seed {world.guild_id - 1_000_000}: {origin} in {place}"
    return len(places) ** 2


async def walk(pool: "asyncpg.Pool[asyncpg.Record]", seed: int) -> int:
    """A world is told, and changes four times; after each, what may show is what the oracle says."""
    world, pairs = World.make(seed), 0
    for event in (world.told, *[world.changed] * 4):
        async with pool.acquire() as conn, conn.transaction():
            await write_group(conn, [event()])
        while await compute_audiences(pool) is not None:
            pass
        pairs += await compare(pool, world)
    return pairs


async def test_twelve_worlds(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """I7: nothing shows that the rule forbids, and nothing is kept back that it certainly allows."""
    assert sum([await walk(pool, seed) for seed in range(12)]) > 50_000


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(6))
async def test_three_hundred_worlds(pool: "asyncpg.Pool[asyncpg.Record]", part: int) -> None:
    """I7: the same for 300 worlds, at least 500,000 pairs of place and origin in all."""
    pairs = sum([await walk(pool, seed) for seed in range(part * 50, part * 50 + 50)])
    assert pairs * 6 > 500_000


async def test_a_change_narrows_at_once(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """I7: from the commit that tells of a change until it is computed, a place shows only its own words."""
    world = World.make(1)
    async with pool.acquire() as conn, conn.transaction():
        await write_group(conn, [world.told()])
    assert await compute_audiences(pool) == world.guild_id
    assert await compute_audiences(pool) is None
    space, place = SpaceId(world.guild_id), PlaceId(next(iter(world.channels)))
    async with pool.acquire() as conn:
        assert len(await shown_places(conn, space, place)) > 1
        world.roles[world.guild_id] ^= 1 << 10
        role = {"guild_id": str(world.guild_id), "role": world.role(world.guild_id)}
        await write_group(conn, [world.event("GUILD_ROLE_UPDATE", role)])
        assert await shown_places(conn, space, place) == {place}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("READY", {"guilds": [{"id": "1000001", "unavailable": True}]}),
        ("CHANNEL_UPDATE", {"guild_id": "1000001", "id": "2000", "type": 0, "permission_overwrites": [{"id": "1"}]}),
        ("GUILD_ROLE_UPDATE", {"guild_id": "1000001", "role": {"id": "100"}}),
    ],
)
async def test_what_is_not_known_shows_nowhere_else(
    pool: "asyncpg.Pool[asyncpg.Record]", kind: str, data: dict[str, object]
) -> None:
    """I7: a new session, or news of a guild that cannot be read, and only the place's own words show until it is told
    of as a whole again."""
    world = World.make(1)
    space, place = SpaceId(world.guild_id), PlaceId(next(iter(world.channels)))
    async with pool.acquire() as conn:
        await write_group(conn, [world.told()])
        await compute_audiences(pool)
        assert len(await shown_places(conn, space, place)) > 1
        await write_group(conn, [world.event(kind, data)])
        await compute_audiences(pool)
        assert await shown_places(conn, space, place) == {place}
        await write_group(conn, [world.told()])
        await compute_audiences(pool)
        assert len(await shown_places(conn, space, place)) > 1


async def test_what_was_told_again_changes_nothing(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """A guild told anew after a reconnection is not stale, where nothing changed."""
    world = World.make(2)
    async with pool.acquire() as conn:
        await write_group(conn, [world.told()])
        await compute_audiences(pool)
        await write_group(conn, [world.told()])
    assert await compute_audiences(pool) is None


async def test_an_unknown_place_shows_its_own_words(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """I7: a direct conversation, and a place that nobody told of."""
    async with pool.acquire() as conn:
        assert await shown_places(conn, SpaceId(5), PlaceId(5)) == {5}
