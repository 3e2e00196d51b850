"""Whole recalls, arm by arm, in worlds at random: not one row that the audience rule forbids (I6, I7)."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import asyncpg
import pytest

from memory import candidates, embedding
from memory.assembly import OPEN_ITEMS_SQL
from memory.context import read_lines_beside
from memory.former import former_values
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.journal import write_group
from memory.places import compute_audiences
from memory.ports import Vectors
from memory.ranking import Floors
from memory.recall import Asking, Recall, Recalled
from memory.scope import Scope, fetch_scoped
from memory.search import search_words
from memory.selection import Limits
from tests.audience.worlds import World

SIZE = 8
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ANYTHING = Floors(alone=-1.0, low=-1.0, copy=2.0, used=2.0)
LARGE = Limits(items=50, chars=200_000, tokens=200_000)
LATEST = MessageId(2**63 - 1)
ARMS = ("words", "scan", "index", "window", "journal", "rest")


@dataclass(frozen=True)
class AnyVectors:
    """An embedder whose vectors say nothing: whatever is near, the rule has to hold."""

    dice: random.Random
    name: str = "any"
    dimensions: int = SIZE

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        return Vectors([self.vector() for _ in texts])

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        return self.vector()

    def vector(self) -> list[float]:
        return [self.dice.uniform(-1, 1) for _ in range(SIZE)]


# Two memories and a former value a place of each scope, links between them, an episode and a message: all say where
# they were said, and all have a word in common.
FILL = """
WITH place AS (
    SELECT p AS place_id, n, $3::timestamptz + make_interval(secs => n) AS at,
           (extract(epoch FROM $3::timestamptz + make_interval(secs => n) - '2015-01-01Z') * 1000)::bigint << 22 AS id
    FROM unnest($2::bigint[]) WITH ORDINALITY AS t (p, n)
), item AS (
    INSERT INTO memory_items (space_id, scope, owner_id, place_id, kind, content, content_hash, version, source,
                              rests_on, author_id, author_name, said_at, said_id, importance, asserted, confidence)
    SELECT $1, s.scope, CASE s.scope WHEN 'user' THEN 501 + (n + k) % 3 WHEN 'channel' THEN place_id ELSE $1 END,
           place_id, (ARRAY['fact', 'project', 'commitment'])[1 + (n + k) % 3],
           'heron w' || n || 'x' || k || ' y' || (n * 7 + k) % 11, sha256((n || ' ' || k)::text::bytea), 2,
           'told', 'author', 501 + n % 3, 'Member', at, id, 0.5, 0.8, 0.8
    FROM place CROSS JOIN (VALUES ('user', 1), ('user', 2), ('channel', 3), ('guild', 4)) AS s (scope, k)
    RETURNING memory_id, place_id
), former AS (
    INSERT INTO memory_item_revisions (memory_id, version, space_id, place_id, kind, content, source, author_id,
                                       author_name, said_at, importance, confidence, reason)
    SELECT memory_id, 1, $1, $2[1 + memory_id % cardinality($2::bigint[])],
           'fact', 'formerly', 'told', 501, 'Member', $3, 0.5, 0.8, 'revised' FROM item
), link AS (
    INSERT INTO memory_links (space_id, place_id, from_id, from_version, to_id, to_version, relation, asserted,
                              confidence)
    SELECT $1, a.place_id, a.memory_id, 2, b.memory_id, 2, 'supports', 0.8, 0.8
    FROM item a JOIN item b ON b.memory_id % 17 = (a.memory_id * 5) % 17 AND a.memory_id <> b.memory_id
    RETURNING link_id, place_id
), said AS (
    INSERT INTO chat_messages (space_id, message_id, place_id, author_id, author_kind, author_name, content, created_at,
                               version_at)
    SELECT $1, id, place_id, 501, 'member', 'Member', 'heron message ' || n, $3, $3 FROM place
    RETURNING message_id, place_id
), linked AS (
    INSERT INTO memory_link_evidence (link_id, version, space_id, message_id, place_id, author_id, read_version)
    SELECT link_id, 1, $1, s.message_id, s.place_id, 501, $3 FROM link JOIN said s USING (place_id)
)
INSERT INTO memory_episodes (space_id, place_id, asker_id, asker_name, question, answer, content_hash, terms, said_at,
                             said_id)
SELECT $1, place_id, 501, 'Member', 'heron?', 'episode ' || n, sha256(n::text::bytea),
       ARRAY(SELECT hashtextextended(term, $1) FROM memory_terms_of('heron episode')), at, id
FROM place
"""
ORIGINS = """
SELECT i.place_id FROM unnest($1::bigint[]) AS b (id) JOIN memory_items i ON i.memory_id = b.id
UNION ALL
SELECT v.place_id FROM memory_item_revisions v WHERE v.memory_id = ANY($2::bigint[])
"""
EMBED = """
WITH given AS (
    INSERT INTO memory_vectors (memory_id, model_id, version, space_id, embedding)
    SELECT memory_id, $2, version, space_id,
           ARRAY(SELECT random() - 0.5 FROM generate_series(1, $3 + (memory_id * 0)::int))::real[]::halfvec
    FROM memory_items WHERE space_id = $1
)
UPDATE memory_episodes SET model_id = $2, embedding =
    ARRAY(SELECT random() - 0.5 FROM generate_series(1, $3 + (episode_id * 0)::int))::real[]::halfvec
WHERE space_id = $1
"""


@dataclass
class Tried:
    """Recalls of each arm, what they brought, and how much of it was said elsewhere."""

    recalls: Counter[str] = field(default_factory=Counter[str])
    rows: Counter[str] = field(default_factory=Counter[str])
    elsewhere: Counter[str] = field(default_factory=Counter[str])


class Trial:
    """One world, filled, and asked in."""

    def __init__(
        self, pool: "asyncpg.Pool[asyncpg.Record]", world: World, model: embedding.Model, tried: Tried
    ) -> None:
        self.pool, self.world, self.model, self.tried = pool, world, model, tried
        self.embedder = AnyVectors(world.dice)

    async def fill(self) -> None:
        async with self.pool.acquire() as conn, conn.transaction():
            await write_group(conn, [self.world.told()])
            await conn.execute(FILL, self.world.guild_id, self.world.places(), NOON)
            await conn.execute(EMBED, self.world.guild_id, self.model.model_id, SIZE)

    async def asks(self, arm: str, monkeypatch: pytest.MonkeyPatch) -> None:
        place, asker = self.world.dice.choice(self.world.places()), self.world.dice.choice(self.world.members)
        scope = Scope(SpaceId(self.world.guild_id), PlaceId(place))
        self.tried.recalls[arm] += 1
        match arm:
            case "journal":
                async with self.pool.acquire() as conn:
                    found = await search_words(conn, scope, "heron", limit=50, before_id=None)
                    ids = [(each.message_id, each.place_id) for each in found.found]
                    lines = await read_lines_beside(conn, scope, ids, before_id=LATEST, elsewhere_before_id=LATEST)
                self.check(
                    arm, place, [*(each.place_id for each in found.found), *(e.elsewhere or place for e in lines)]
                )
            case "rest":
                async with self.pool.acquire() as conn:
                    ids = [row["memory_id"] for row in await conn.fetch("SELECT memory_id FROM memory_items")]
                    rows = await fetch_scoped(conn, OPEN_ITEMS_SQL, scope, UserId(asker), 50)
                    former = await former_values(conn, scope, UserId(asker), ids)
                    brought = [*(row["memory_id"] for row in rows), *former]
                    where = await conn.fetch(ORIGINS, brought, list(former))
                self.check(arm, place, [row["place_id"] for row in where])
            case _:
                for most in ("EXACT_MOST", "SHOWN_MOST"):
                    monkeypatch.setattr(candidates, most, -1 if arm == "index" else 10_000)
                embedder = self.embedder if arm in ("scan", "index") else None
                recall = Recall(self.pool, embedder, limits=LARGE, floors=ANYTHING)
                text = {"words": "heron", "window": "What happened in May 2026?"}.get(arm, "nothing of the kind")
                recalled = await recall.answer(Asking(scope, UserId(asker), text))
                assert recalled.scan == ("applied" if arm == "index" else "off")
                self.look(arm, place, asker, recalled)

    def look(self, arm: str, place: int, asker: int, recalled: Recalled) -> None:
        own = [each.candidate for each in recalled.items if each.candidate.scope == "user"]
        assert all(each.owner_id == asker for each in own), self.world.guild_id
        origins = [each.candidate.place_id for each in recalled.items]
        self.check(arm, place, [*origins, *(each.place_id for each in recalled.episodes)])

    def check(self, arm: str, place: int, origins: Sequence[int]) -> None:
        for origin in set(origins):
            stands = origin == place or origin in self.world.places()
            assert stands, f"{arm}: {origin} is gone and shows in {place} of {self.world.guild_id}"
            assert self.world.may_show(place, origin), f"{arm}: {origin} in {place} of {self.world.guild_id}"
        self.tried.rows[arm] += len(origins)
        self.tried.elsewhere[arm] += sum(origin != place for origin in origins)


async def try_worlds(
    database_url: str, pool: "asyncpg.Pool[asyncpg.Record]", monkeypatch: pytest.MonkeyPatch, seeds: range, times: int
) -> Tried:
    """Ask `times` in every arm after each of four states of each world: told, changed, changed again and computed."""
    tried = Tried()
    async with pool.acquire() as conn, conn.transaction():
        model = await embedding.adopt(conn, "any", SIZE)
    for seed in seeds:
        trial = Trial(pool, World.make(seed, channels=14, threads=6), model, tried)
        await trial.fill()
        conn = await asyncpg.connect(database_url)
        assert await embedding.make_indexes(conn, model, most=0) == (trial.world.guild_id,)
        await conn.close()
        for change in (None, None, trial.world.changed, trial.world.changed):
            if change is not None:
                async with pool.acquire() as conn, conn.transaction():
                    await write_group(conn, [change()])
            for arm in ARMS:
                for _ in range(times):
                    await trial.asks(arm, monkeypatch)
            while await compute_audiences(pool) is not None:
                pass
    return tried


async def test_recalls_in_a_few_worlds(
    database_url: str, pool: "asyncpg.Pool[asyncpg.Record]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """I7: every arm brings rows, also of elsewhere, and none that somebody here could not have read there."""
    tried = await try_worlds(database_url, pool, monkeypatch, range(2), 1)
    for arm in ARMS:
        assert tried.recalls[arm] == 8
        assert tried.rows[arm] > tried.elsewhere[arm] > 0, arm


@pytest.mark.long
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("part", range(6))
async def test_two_thousand_recalls_an_arm(
    database_url: str, pool: "asyncpg.Pool[asyncpg.Record]", monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """I7: the same in 300 worlds, 2,400 recalls an arm in all."""
    tried = await try_worlds(database_url, pool, monkeypatch, range(part * 50, part * 50 + 50), 2)
    for arm in ARMS:
        assert tried.recalls[arm] * 6 >= 2_000
        assert tried.elsewhere[arm] > 0, arm
