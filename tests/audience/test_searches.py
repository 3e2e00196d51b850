"""Earlier messages of other places: found where they may show, with what was said beside them (I7)."""

import asyncpg
import pytest

from memory.context import read_lines_beside
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.journal import write_group
from memory.places import compute_audiences, here_alone
from memory.scope import Scope
from memory.search import NEWEST_READ, search_words
from tests.audience.worlds import VIEW, World
from tests.harness.told import Talk

LATEST = MessageId(2**63 - 1)


def open_world() -> tuple[World, list[int]]:
    """A guild in which everybody reads two channels and nobody but administrators the third."""
    world = World.make(1, channels=3, threads=0)
    for place, closed in zip(world.channels, (False, False, True), strict=True):
        deny = {"id": str(world.guild_id), "type": 0, "allow": "0", "deny": str(VIEW)}
        world.channels[place] |= {"type": 0, "permission_overwrites": [deny] if closed else []}
    for role in world.roles:
        world.roles[role] = VIEW | 1 << 16 if role == world.guild_id else 0
    return world, list(world.channels)


async def test_a_message_is_found_where_it_may_show_and_brings_its_neighbours(
    pool: "asyncpg.Pool[asyncpg.Record]",
) -> None:
    """I7: of another channel that everybody here can read; not of one that some cannot, nor after a change."""
    world, (here, there, closed) = open_world()
    async with pool.acquire() as conn, conn.transaction():
        await write_group(conn, [world.told()])
    while await compute_audiences(pool) is not None:
        pass
    space = SpaceId(world.guild_id)
    talks = {place: Talk(pool, Scope(space, PlaceId(place))) for place in (here, there, closed)}
    await talks[there].says(1, "Before it.")
    found_id = await talks[there].says(1, "The heron sleeps on the roof.")
    await talks[there].says(1, "After it.")
    await talks[closed].says(1, "The heron is a secret.")
    scope = Scope(space, PlaceId(here))
    async with pool.acquire() as conn:
        found = await search_words(conn, scope, "heron", limit=5, before_id=None)
        hits = [(each.message_id, each.place_id) for each in found.found]
        assert hits == [(found_id, there)]
        lines = await read_lines_beside(conn, scope, hits, before_id=LATEST, elsewhere_before_id=LATEST)
        assert [(line.content, line.elsewhere) for line in lines] == [
            ("Before it.", there),
            ("The heron sleeps on the roof.", there),
            ("After it.", there),
        ]
        # The private channel sees the public ones, and its own.
        inside = await search_words(conn, Scope(space, PlaceId(closed)), "heron", limit=5, before_id=None)
        assert {each.place_id for each in inside.found} == {there, closed}
        world.channels[there]["permission_overwrites"] = world.channels[closed]["permission_overwrites"]
        await write_group(conn, [world.event("CHANNEL_UPDATE", world.channels[there])])
        for _ in range(2):  # from the commit on, and when it was computed
            assert (await search_words(conn, scope, "heron", limit=5, before_id=None)).found == ()
            assert await read_lines_beside(conn, scope, hits, before_id=LATEST, elsewhere_before_id=LATEST) == ()
            await compute_audiences(pool)


async def test_a_search_of_one_place_finds_nothing_of_another(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """What may show here is left out where it is not wanted, by words and by pieces of words; the place's own stays."""
    world, (here, there, _closed) = open_world()
    async with pool.acquire() as conn, conn.transaction():
        await write_group(conn, [world.told()])
    await compute_audiences(pool)
    scope = Scope(SpaceId(world.guild_id), PlaceId(here))
    own = await Talk(pool, scope).says(1, "A heron (日本) nests here.")
    other = await Talk(pool, Scope(scope.space_id, PlaceId(there)), _count=10).says(1, "A heron (日本) nests there.")
    async with pool.acquire() as conn:
        for query in ("heron", "日本"):
            everywhere = await search_words(conn, scope, query, limit=5, before_id=None)
            assert {each.message_id for each in everywhere.found} == {own, other}
            alone = await search_words(conn, scope, query, limit=5, before_id=None, elsewhere=False)
            assert [each.message_id for each in alone.found] == [own]
    with pytest.raises(ValueError, match="no other places"):
        here_alone("SELECT 1")


async def test_a_rare_word_in_an_old_message_of_another_place_is_found(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    """However much was said since, here and there; a time bounds it."""
    world, (here, there, _closed) = open_world()
    async with pool.acquire() as conn:
        await write_group(conn, [world.told()])
        await compute_audiences(pool)
        await conn.execute(
            """INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content,
                                          created_at, version_at)
               SELECT $1, n, CASE WHEN n % 2 = 0 THEN $2::bigint ELSE $3 END, 7, 'member', 'Ada',
                      CASE WHEN n = 101 THEN 'the heron nests' ELSE 'we talk about lunch ' || n END, now(), now()
               FROM generate_series(1, $4) AS n""",
            world.guild_id,
            here,
            there,
            2 * NEWEST_READ + 400,
        )
        await conn.execute("ANALYZE chat_messages")
        scope = Scope(SpaceId(world.guild_id), PlaceId(here))
        found = await search_words(conn, scope, "heron lunch", limit=1, before_id=None)
        assert [each.message_id for each in found.found] == [101]
        assert (await search_words(conn, scope, "heron", limit=1, before_id=None, since=102)).found == ()
        assert (await search_words(conn, scope, "heron", limit=1, before_id=None, elsewhere_before_id=LATEST)).found
        for person, ids in ((UserId(7), [101]), (UserId(8), [])):
            by = await search_words(conn, scope, "heron", limit=1, before_id=None, person=person)
            assert [each.message_id for each in by.found] == ids
        before = await search_words(conn, scope, "heron", limit=1, before_id=None, elsewhere_before_id=MessageId(101))
        assert before.found == ()
