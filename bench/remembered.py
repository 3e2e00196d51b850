"""Memories by the hundred thousand, in spaces of very different size, for measuring how recall finds among them.

Each memory is of a topic: half of its words are, and its vector lies around the topic's. What is asked is made likewise
from one memory. Written by COPY, with all that the writers of memory keep beside a memory: its message, its evidence,
its postings, its vector.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

import asyncpg

from bench.figures import progress
from memory import embedding
from memory.database import Connection, Pool
from memory.ids import PlaceId, SpaceId, UserId, time_snowflake
from memory.scope import Scope

SPACES: Final = 1_000
PLACES: Final = 8
MEMBERS: Final = 20
SMALL: Final = 50
"""Memories of the one space that is counted for completeness, and of a channel that stands alone in the largest one."""

MODEL: Final = "bench"
DIMENSIONS: Final = 384
TOPICS: Final = 2_000
NOISES: Final = 4_096
_WORDS: Final = 20_000
_TOPIC_WORDS: Final = 30
_BEGIN: Final = datetime(2025, 1, 1, tzinfo=UTC)
_BURST: Final = 5
"""Memories that were said within minutes of each other."""

_CHUNK: Final = 20_000
SMALL_SPACE: Final = SpaceId(SPACES + 1)
ASIDE: Final = PlaceId(9_000_000)
"""A channel of the largest space whose audience nobody knows: it shows what was said in it, and nothing else."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a member in a place, and its vector as pgvector reads it."""

    scope: Scope
    asker: UserId
    text: str
    vector: str


@dataclass(frozen=True, slots=True)
class _Memory:
    memory_id: int
    space: int
    place: int
    member: int
    topic: int
    noises: tuple[int, int]
    words: tuple[str, ...]
    at: datetime


def sizes(memories: int) -> list[int]:
    """How many memories each space has: the largest an eighth of all, most of them a few."""
    shares = [1 / rank for rank in range(1, SPACES + 1)]
    whole = sum(shares)
    return [max(int(memories * share / whole), 1) for share in shares]


class Words:
    """Words that nobody says, the same ones for a seed: of all topics, common and rare, and of each."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (nothing secret)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]
        made = dict.fromkeys("".join(self.random.choices(syllables, k=3)) for _ in range(2 * _WORDS))
        self.common = list(made)[:_WORDS]
        # As in a language: the n-th word is said one n-th as often as the first.
        self.often = list(accumulate(1 / rank for rank in range(1, _WORDS + 1)))
        self.topics = [self.random.sample(self.common, _TOPIC_WORDS) for _ in range(TOPICS)]

    def say(self, topic: int) -> tuple[str, ...]:
        """Twelve words, half of them the topic's."""
        any_words = self.random.choices(self.common, cum_weights=self.often, k=6)
        said = [*self.random.choices(self.topics[topic], k=6), *any_words]
        self.random.shuffle(said)
        return tuple(said)


async def fill(database_url: str, words: Words, memories: int) -> int:
    """Fill an empty database; gives the id of the embedding model. The indexes are made, and everything is analysed."""
    # A connection of its own: nothing here has a deadline.
    conn = await asyncpg.connect(database_url)
    try:
        adopted = await embedding.adopt(conn, MODEL, DIMENSIONS)
        await _lay_out(conn, words.random)
        await conn.execute("ALTER TABLE memory_items DISABLE TRIGGER USER")
        chunk: list[_Memory] = []
        for each in _memories(words, memories):
            chunk.append(each)
            if len(chunk) == _CHUNK:
                await _write(conn, chunk, adopted.model_id)
                progress(f"recall: {each.memory_id:,} of {memories:,} memories written")
                chunk.clear()
        await _write(conn, chunk, adopted.model_id)
        await conn.execute("ALTER TABLE memory_items ENABLE TRIGGER USER")
        progress("recall: the indexes of vectors are being made")
        await conn.execute("SET maintenance_work_mem = '2GB'")
        await embedding.make_indexes(conn, adopted)
        # What a recall is measured against: one of all vectors, whoever may see them.
        await conn.execute(
            f"CREATE INDEX bench_nearest ON memory_vectors USING hnsw "
            f"((embedding::halfvec({DIMENSIONS})) halfvec_cosine_ops) WHERE model_id = {adopted.model_id}"
        )
        await conn.execute("VACUUM (ANALYZE)")
    finally:
        await conn.close()
    return adopted.model_id


# Guilds in which every channel can be read by everybody, and the parts that vectors are made of.
_LAY_OUT: Final = f"""
INSERT INTO audience_guilds (space_id, version, computed, confirmed)
SELECT s, 1, 1, true FROM generate_series(1, {SPACES + 1}) AS s;
INSERT INTO audience_classes (space_id, digest) SELECT s, sha256('all') FROM generate_series(1, {SPACES + 1}) AS s;
INSERT INTO audience_flow (space_id, into_class, from_class) SELECT space_id, class_id, class_id FROM audience_classes;
INSERT INTO places (space_id, place_id, kind, class_id)
SELECT space_id, space_id * 100 + p, 0, class_id
FROM audience_classes CROSS JOIN generate_series(0, {PLACES - 1}) AS p;
CREATE TABLE bench_topics (topic_id integer PRIMARY KEY, part vector({DIMENSIONS}));
CREATE TABLE bench_noises (noise_id integer PRIMARY KEY, part vector({DIMENSIONS}));
CREATE TABLE bench_parts (memory_id bigint, topic_id integer, one integer, other integer)
"""


async def _lay_out(conn: Connection, chance: random.Random) -> None:
    await conn.execute(_LAY_OUT)
    for table, many, spread in (("bench_topics", TOPICS, 1.0), ("bench_noises", NOISES, 0.7)):
        parts = [
            (number, embedding.literal([chance.gauss(0, spread) for _ in range(DIMENSIONS)])) for number in range(many)
        ]
        await conn.execute(
            f"INSERT INTO {table} SELECT * FROM unnest($1::integer[], $2::text[]::vector[])",
            [number for number, _ in parts],
            [vector for _, vector in parts],
        )


def _memories(words: Words, memories: int) -> Iterator[_Memory]:
    memory_id = 0
    homes = [(space, size, None) for space, size in enumerate(sizes(memories), start=1)]
    for space, size, place in (*homes, (SMALL_SPACE, SMALL, None), (1, SMALL, ASIDE)):
        for number in range(size):
            memory_id += 1
            burst, within = divmod(number, _BURST)
            topic = words.random.randrange(TOPICS)
            yield _Memory(
                memory_id,
                space,
                place or space * 100 + burst % PLACES,
                space * 1_000 + words.random.randrange(MEMBERS),
                topic,
                (words.random.randrange(NOISES), words.random.randrange(NOISES)),
                words.say(topic),
                _BEGIN + timedelta(hours=3 * burst, minutes=within, milliseconds=memory_id % 1_000),
            )


# The vectors of memories from their parts; the words of memories, as the trigger on memory_items posts them.
_VECTORS: Final = """
INSERT INTO memory_vectors (memory_id, model_id, version, space_id, embedding)
SELECT i.memory_id, $1, 1, i.space_id, l2_normalize(t.part + a.part + b.part)::halfvec
FROM bench_parts p JOIN memory_items i USING (memory_id) JOIN bench_topics t USING (topic_id)
JOIN bench_noises a ON a.noise_id = p.one JOIN bench_noises b ON b.noise_id = p.other
WHERE i.memory_id BETWEEN $2 AND $3
"""
_POSTINGS: Final = """
INSERT INTO memory_postings (space_id, term, memory_id, place_id, member_id, times, size)
SELECT i.space_id, t.term, i.memory_id, i.place_id, CASE WHEN i.scope = 'user' THEN i.owner_id END, t.times,
       (sum(t.times) OVER (PARTITION BY i.memory_id))::integer
FROM memory_items i CROSS JOIN LATERAL memory_terms_of(i.content) AS t WHERE i.memory_id BETWEEN $1 AND $2
"""


async def _write(conn: Connection, memories: Sequence[_Memory], model_id: int) -> None:
    if not memories:
        return
    messages, items = list[tuple[object, ...]](), list[tuple[object, ...]]()
    evidence, parts = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for each in memories:
        content = " ".join(each.words)
        said_id = time_snowflake(each.at) + each.memory_id % 4_096
        own = each.memory_id % 2 == 0
        scope, owner = ("user", each.member) if own else ("channel", each.place)
        author = (each.member, f"Member {each.member}")
        messages.append((each.space, said_id, each.place, author[0], "member", author[1], content, each.at, each.at))
        digest = hashlib.sha256(f"{each.memory_id} {content}".encode()).digest()
        words = (each.space, scope, owner, each.place, "fact", content, digest, "extracted", "messages")
        items.append((each.memory_id, *words, *author, each.at, said_id, 0.5, 0.8, 0.8))
        evidence.append((each.memory_id, 1, each.space, said_id, each.place, author[0], each.at))
        parts.append((each.memory_id, each.topic, *each.noises))
    columns = "space_id message_id place_id author_id author_kind author_name content created_at version_at"
    await conn.copy_records_to_table("chat_messages", records=messages, columns=columns.split())
    columns = (
        "memory_id space_id scope owner_id place_id kind content content_hash source rests_on author_id author_name "
        "said_at said_id importance asserted confidence"
    )
    await conn.copy_records_to_table("memory_items", records=items, columns=columns.split())
    columns = "memory_id version space_id message_id place_id author_id read_version"
    await conn.copy_records_to_table("memory_evidence", records=evidence, columns=columns.split())
    await conn.copy_records_to_table("bench_parts", records=parts)
    first, last = memories[0].memory_id, memories[-1].memory_id
    await conn.execute(_VECTORS, model_id, first, last)
    await conn.execute(_POSTINGS, first, last)


# Memories, their words, and a vector near theirs.
_PICK: Final = """
SELECT i.memory_id, i.space_id, i.place_id, i.content, (t.part + a.part)::text AS around
FROM unnest($1::bigint[]) AS m (memory_id) JOIN memory_items i USING (memory_id)
JOIN bench_parts p USING (memory_id) JOIN bench_topics t USING (topic_id) JOIN bench_noises a ON a.noise_id = p.one
ORDER BY i.memory_id
"""


async def questions(pool: Pool, words: Words, many: int, *, memories: int, scope: Scope | None = None) -> list[Asked]:
    """Questions about memories that there are, by a member of their space, where they were said; or all in `scope`."""
    ids: list[int] = []
    if scope is not None:
        found = await pool.fetch(
            "SELECT memory_id FROM memory_items "
            "WHERE space_id = $1 AND ($2::bigint <> $3::bigint OR place_id = $2) ORDER BY 1",
            scope.space_id, scope.place_id, ASIDE,
        )  # fmt: skip
        ids = [row["memory_id"] for row in found]
        ids = words.random.choices(ids, k=many)
    else:
        starts = [0, *accumulate(sizes(memories))]
        for number in range(many):
            if number % 2:
                ids.append(words.random.randrange(starts[-1]) + 1)
            else:
                space = words.random.randrange(SPACES)
                ids.append(words.random.randrange(starts[space], starts[space + 1]) + 1)
    rows = await pool.fetch(_PICK, sorted(set(ids)))
    made: list[Asked] = []
    for row in rows:
        said = words.random.sample(row["content"].split(), 4)
        any_words = words.random.choices(words.common, cum_weights=words.often, k=2)
        text = " ".join(("which", *said, *any_words))
        home = scope or Scope(SpaceId(row["space_id"]), PlaceId(row["space_id"] * 100))
        made.append(Asked(home, UserId(home.space_id * 1_000), text, str(row["around"])))
    words.random.shuffle(made)
    return made
