"""Recall: the few memories that a message calls for, for the eyes that can read its place, and how they were found.

    read the question -> its vector, and what there is here (side by side) -> candidates (one statement)
    -> order -> one hop along links -> selection -> ledger

No model stands in the way but the one that makes the question's vector, and that has a deadline: without it, words find
what they can in the same scope, and the ledger says so (I9).
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, Literal

import orjson

from memory.around import Around, look_around
from memory.candidates import ANYTHING, Looked, Query, ScanMode, Wanted, find
from memory.candidates import Pool as Found
from memory.database import BORROW_S, Borrowed, Connection, Pool
from memory.embedding import literal
from memory.episode_recall import EPISODES_REFERENCED_SQL, Episode, Episodes, note_episodes, recall_episodes
from memory.episode_recall import NONE as NO_EPISODES
from memory.errors import ModelTrouble, RecallRefused
from memory.hops import Hop, hops_from
from memory.ids import MessageId, RunId, UserId
from memory.places import SHOWN_PLACES
from memory.ports import Embedder
from memory.questions import QUESTION_CHARS, Read, read, words_of
from memory.ranking import Bearings, Floors, Ranked, floors_of, rank
from memory.scope import Scope, fetch_scoped
from memory.selection import LeftOut, Limits, Selected, pool_of, select, tokens_of
from memory.uses import Uses

QUERY_S: Final = 2.0
"""Seconds that a question's vector may take; an answer does not wait longer for it."""

Mode = Literal["hybrid", "keyword_fallback", "none"]
"""With vectors; by words because there were none; or not at all, since the message asks nothing of memory."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks what, where. Made from the event, never from what a model says (I6), but for `text` of a search.

    `about`: what the conversation was about, for a message that is vague. `shown`: texts that the model sees anyway, of
    the messages `shown_ids`.
    A `search` was asked for in so many words: whatever it says is looked for. `most`: items, if not as many as usual.
    """

    scope: Scope
    asker: UserId
    text: str
    about: str = ""
    shown: Sequence[str] = ()
    shown_ids: Collection[MessageId] = ()
    wanted: Wanted = ANYTHING
    run_id: RunId | None = None
    cause: Literal["answer", "search"] = "answer"
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was recalled, in its order, and how (see recalls in the schema). `why`: why it is not hybrid, or empty.

    `recall_id` is its number in the ledger, once it stands there.
    """

    asking: Asking
    mode: Mode
    why: str | None
    found: Found | None = None
    selected: Selected | None = None
    hops: Mapping[int, Hop] = field(default_factory=dict[int, Hop])
    underfilled: bool = True
    kept: Episodes = NO_EPISODES
    recall_id: int | None = None

    @property
    def items(self) -> tuple[Ranked, ...]:
        """The memories, best first."""
        return self.selected.chosen if self.selected else ()

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The episodes, which follow the memories."""
        return self.kept.chosen

    @property
    def scan(self) -> ScanMode:
        """How the index of vectors was used."""
        return self.found.scan if self.found else "off"

    @property
    def considered(self) -> int:
        """How many memories and episodes were looked at."""
        return (len(self.found.candidates) if self.found else 0) + self.kept.considered

    @property
    def left_out(self) -> Mapping[LeftOut, int]:
        """How many of them were not chosen, by why."""
        return dict(Counter(self.selected.left_out if self.selected else {}) + Counter(self.kept.left_out))

    @property
    def saved_tokens(self) -> int:
        """The tokens that those would have taken, as an estimate."""
        return (self.selected.saved_tokens if self.selected else 0) + self.kept.saved_tokens


class Recall:
    """The one door to durable memory. Shared by all turns of a process."""

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder | None,
        *,
        limits: Limits | None = None,
        floors: Floors | None = None,
        query_s: float = QUERY_S,
        uses: Uses | None = None,
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._limits = limits or Limits()
        self._floors = floors or floors_of(embedder.name if embedder is not None else "")
        self._query_s = query_s
        self._uses = uses

    async def answer(self, asking: Asking) -> Recalled:
        """What the message calls for, written down. Raises as `look` does."""
        recalled = await self.look(asking)
        return replace(recalled, recall_id=await self.note(recalled, asking.run_id))

    async def look(self, asking: Asking) -> Recalled:
        """What the message calls for, to be noted by the caller, who may have something to do meanwhile.

        Raises RecallRefused for a search that is blank or too long, before anything is embedded; what an answer looks
        for by itself is shortened.
        """
        if asking.cause == "search":
            require_query(asking.text)
        now = datetime.now(UTC)
        question = read(asking.text, now, about=asking.about)
        if question.sort == "small_talk" and asking.cause == "answer":
            return Recalled(asking, "none", "small_talk")
        model = None if self._embedder is None else (self._embedder.name, self._embedder.dimensions)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            around = await look_around(conn, asking.scope, question.words, model=model)
        if not around.remembers:
            return Recalled(asking, "none", "memory_off")
        vector, trouble = await self._vector(question.text, around)
        return await self._recall(asking, question, vector, around, trouble, now)

    async def _vector(self, text: str, around: Around) -> tuple[str | None, str | None]:
        """The question's vector as text, or why there is none."""
        if self._embedder is None:
            return None, "no_embedding_model"
        if not around.embedded:
            # The question's vector costs more than all the rest, and here is nothing to compare it with.
            return None, "nothing_embedded"
        try:
            async with asyncio.timeout(self._query_s):
                vector = await self._embedder.embed_query(text, within_s=self._query_s)
        except TimeoutError:
            return None, "timeout"
        except ModelTrouble as trouble:
            return None, trouble.code
        if len(vector) != self._embedder.dimensions:
            return None, "wrong_dimension"
        return literal(vector), None

    async def _recall(
        self, asking: Asking, question: Read, vector: str | None, around: Around, trouble: str | None, now: datetime
    ) -> Recalled:
        looked = Looked(
            asking.asker,
            _without_names(question, around),
            tuple({*around.members, *question.mentioned, *filter(None, (asking.wanted.person,))}),
            question.span,
            asking.wanted,
        )
        query = None
        if vector is not None and around.model_id is not None and self._embedder is not None:
            query = Query(around.model_id, self._embedder.dimensions, vector)
        limits = self._limits if asking.most is None else replace(self._limits, items=asking.most)
        authors = {*around.members, *question.mentioned}
        # What a conversation is about has many words, and most of them stand in no memory.
        vague = question.sort == "vague"
        floors = replace(self._floors, terms=self._floors.terms / 3) if vague else self._floors
        bearings = Bearings(now.date(), authors, question.span, question.only_span)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await find(conn, asking.scope, looked, query, around)
            ranked = rank(found.candidates, bearings, floors)
            hops = await hops_from(conn, asking.scope, looked, ranked)
            ranked = _with_hops(ranked, hops)
            best = pool_of(ranked, limits)
            alike = await _alike(conn, asking.scope, best, around.model_id if query else None, self._floors.low)
            episodes = NO_EPISODES
            if around.episodes:
                episodes = await recall_episodes(
                    conn, asking.scope, looked, query, bearings, floors, shown_ids=asking.shown_ids
                )
        seen = {each.candidate.memory_id for each in best if is_shown(each.candidate.content, asking.shown)}
        selected = select(ranked, seen, alike, self._floors, limits)
        recalled = Recalled(
            asking,
            "hybrid" if query else "keyword_fallback",
            trouble or _why_empty(ranked or episodes.chosen, found.candidates or episodes.considered),
            found,
            selected,
            {
                each.candidate.memory_id: hops[each.candidate.memory_id]
                for each in selected.chosen
                if each.candidate.memory_id in hops
            },
            len(selected.chosen) < limits.items,
            episodes,
        )
        if self._uses is not None and query is not None:
            self._uses.note(
                [
                    each.candidate.memory_id
                    for each in selected.chosen
                    if (each.candidate.cosine or 0.0) >= self._floors.used
                ]
            )
        return recalled

    async def note(self, recalled: Recalled, run_id: RunId | None) -> int:
        """Write a recall down, with the run that it was for; its number in the ledger."""
        asking, items, episodes = recalled.asking, recalled.items, recalled.episodes
        scored = recalled.mode != "keyword_fallback"
        async with self._pool.acquire(timeout=BORROW_S) as conn, AsyncExitStack() as whole:
            if episodes:
                # A recall without any is one statement, and a transaction by itself.
                await whole.enter_async_context(conn.transaction())
            row = await conn.fetchrow(
                NOTE_RECALL_SQL,
                asking.scope.space_id,
                asking.scope.place_id,
                asking.asker,
                run_id,
                asking.cause,
                recalled.mode,
                recalled.why,
                recalled.scan,
                recalled.found.scan_why if recalled.found else None,
                recalled.considered,
                orjson.dumps(recalled.left_out).decode(),
                recalled.saved_tokens,
                recalled.underfilled,
                [each.candidate.memory_id for each in items],
                [each.candidate.version for each in items],
                [each.reason for each in items],
                [each.score if scored else None for each in items],
                [each.candidate.cosine if scored else None for each in items],
                [tokens_of(each) for each in items],
                len(items) + len(episodes),
            )
            if row is None:
                raise AssertionError("it is noted now, or it was")
            if row["fresh"] and episodes:
                await note_episodes(conn, asking.scope, row["recall_id"], episodes, after=len(items), scored=scored)
        return int(row["recall_id"])


def _why_empty(chosen: Sequence[object], considered: object) -> str | None:
    return None if chosen else "nothing_relevant" if considered else "nothing_found"


def require_query(text: str) -> None:
    """Raises RecallRefused (blank, too_long) for a search that cannot be made as it stands."""
    if not any(each.isalnum() for each in text):
        raise RecallRefused("blank", "There are no words to search for; nothing was searched.")
    if len(text) > QUESTION_CHARS:
        raise RecallRefused(
            "too_long", f"A search has at most {QUESTION_CHARS} characters, and this has {len(text)}; ask shorter."
        )


def _without_names(question: Read, around: Around) -> str:
    """The words to look for: a name says who, which the order knows; only alone it is what is looked for."""
    kept = [word for word in question.text.split() if not set(words_of(word)) & set(around.names)]
    rest = " ".join(kept)
    return rest if any(len(word) > 3 for word in words_of(rest)) else question.text


def is_shown(content: str, shown: Collection[str]) -> bool:
    """Whether all that a memory says stands in one of the texts that the model sees anyway."""
    words = set(words_of(content))
    return len(words) > 2 and any(words <= set(words_of(text)) for text in shown)


def _with_hops(ranked: Sequence[Ranked], hops: Mapping[int, Hop]) -> tuple[Ranked, ...]:
    known = {each.candidate.memory_id for each in ranked}
    more = [hop.ranked for memory_id, hop in hops.items() if memory_id not in known]
    return tuple(
        sorted([*ranked, *more], key=lambda each: (-each.score, -each.candidate.said_id, each.candidate.memory_id))
    )


# How like each other the best candidates are, pair by pair, where it is at least $5.
ALIKE_SQL: Final = f"""
WITH {SHOWN_PLACES}, v AS MATERIALIZED (
    SELECT v.memory_id, v.embedding FROM memory_vectors v JOIN memory_items i USING (memory_id, version)
    WHERE v.space_id = $1 AND v.memory_id = ANY($3::bigint[]) AND v.model_id = $4
      AND i.place_id IN (SELECT place_id FROM shown_places)
)
SELECT a.memory_id AS one, b.memory_id AS other, p.cosine
FROM v a JOIN v b ON a.memory_id < b.memory_id
CROSS JOIN LATERAL (SELECT (1 - (a.embedding <=> b.embedding))::float8 AS cosine OFFSET 0) AS p
WHERE p.cosine >= $5::float8
"""


async def _alike(
    conn: Borrowed | Connection, scope: Scope, best: Sequence[Ranked], model_id: int | None, low: float
) -> Mapping[tuple[int, int], float]:
    if model_id is None or len(best) < 2:
        return {}
    ids = [each.candidate.memory_id for each in best]
    rows = await fetch_scoped(conn, ALIKE_SQL, scope, ids, model_id, low)
    return {(row["one"], row["other"]): row["cosine"] for row in rows}


# Write down a recall and what it surfaced; of an answer's once, though its run was taken up again. The commit need not
# wait for the disk: lost with a crash of the server, the run is taken up again, or has said nothing that rests on it.
NOTE_RECALL_SQL: Final = """
WITH noted AS (
    INSERT INTO recalls (space_id, place_id, asker_id, run_id, cause, mode, why, iterative_scan, scan_why, considered,
                         selected, left_out, saved_tokens, underfilled)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $20, $11::jsonb, $12, $13
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
      AND ($5 <> 'answer' OR $4::bigint IS NULL
           OR NOT EXISTS (SELECT FROM recalls WHERE run_id = $4 AND cause = 'answer'))
    RETURNING recall_id, space_id
), items AS (
    INSERT INTO recall_items (recall_id, rank, space_id, memory_id, version, reason, score, cosine, tokens)
    SELECT recall_id, t.rank, space_id, t.memory_id, t.version, t.reason, t.score, t.cosine, t.tokens
    FROM noted CROSS JOIN unnest($14::bigint[], $15::int[], $16::text[], $17::float8[], $18::float8[], $19::int[])
        WITH ORDINALITY AS t (memory_id, version, reason, score, cosine, tokens, rank)
    -- Somebody's memories may have been erased meanwhile.
    WHERE t.memory_id IN (SELECT memory_id FROM memory_items i WHERE i.memory_id = ANY($14::bigint[]))
)
SELECT recall_id, true AS fresh FROM noted
UNION ALL
SELECT recall_id, false FROM recalls
WHERE run_id = $4 AND cause = 'answer' AND $5 = 'answer' AND NOT EXISTS (SELECT FROM noted)
"""

# An answer cited memories: only those that a recall of its run surfaced count.
REFERENCED_SQL: Final = """
UPDATE recall_items i SET referenced_at = now()
WHERE i.recall_id IN (SELECT recall_id FROM recalls WHERE space_id = $1 AND place_id = $2 AND run_id = $3)
  AND i.memory_id = ANY($4::bigint[]) AND i.referenced_at IS NULL
"""


async def note_references(
    conn: Borrowed | Connection,
    scope: Scope,
    run_id: RunId,
    memory_ids: Sequence[int],
    episode_ids: Sequence[int] = (),
) -> None:
    """Record which memories and episodes an answer cited. It never feeds the order."""
    if memory_ids:
        await fetch_scoped(conn, REFERENCED_SQL, scope, run_id, list(memory_ids))
    if episode_ids:
        await fetch_scoped(conn, EPISODES_REFERENCED_SQL, scope, run_id, list(episode_ids))
