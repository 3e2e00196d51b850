"""Memories as members have them kept, embedded by the loopback model, and recalled through the one door."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import asyncpg

from bot.ai_events import AiEvents
from bot.remembering.embedding import Embedding
from bot.remembering.embeddings import EndpointEmbeddings
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from memory.episodes import keep_episode
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId
from memory.items import Draft, Target, forget, remember
from memory.ports import Embedder
from memory.recall import Asking, Recall, Recalled
from memory.scope import Scope
from sandbox.model import Model
from tests.harness.told import Talk

GUILD = SpaceId(500)
PLACE = PlaceId(600)
OWN = 10


def scope(place: int = PLACE, space: int = GUILD) -> Scope:
    """A place of a space."""
    return Scope(SpaceId(space), PlaceId(place))


def contents(recalled: Recalled) -> list[str]:
    """The words of what was recalled, in its order."""
    return [each.candidate.content for each in recalled.items]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer; `episode_id` is None where they were not kept."""

    episode_id: int | None
    question: MessageId
    answer: tuple[MessageId, ...]


@dataclass
class Shelf:
    """What is remembered. `model` is the loopback's, to be scripted; `embedder` speaks to it, or to another."""

    pool: asyncpg.Pool
    model: Model
    embedder: Embedder
    worker: Embedding
    said: int = 0

    async def keeps(self, user: int, content: str, key: str | None = None, **more: Any) -> int:
        """A member says something and has it kept; gives the memory's id. `at`: when; `place`, `space`: where."""
        where = scope(more.pop("place", PLACE), more.pop("space", GUILD))
        self.said += 1
        talk = Talk(self.pool, where, _count=self.said)
        words, name, at = more.pop("message", content), more.pop("name", None), more.pop("at", None)
        message = await talk.says(user, words, name=name, at=at)
        author = talk.author(user, message, governs=more.get("scope", "user") != "user")
        author = replace(author, name=name or author.name)
        async with self.pool.acquire() as conn, conn.transaction():
            made = await remember(conn, author, Draft(content, more.pop("kind", "fact"), key, **more))
        return made.memory_id

    async def exchanges(
        self,
        user: int,
        question: str,
        answer: str | Sequence[str],
        *,
        name: str | None = None,
        at: datetime | None = None,
        place: int = PLACE,
        space: int = GUILD,
    ) -> Exchange:
        """A member asks and is answered, in as many messages as there are answers; the turn has just ended."""
        where = scope(place, space)
        self.said += 1
        talk = Talk(self.pool, where, _count=self.said)
        asked = await talk.says(user, question, name=name, at=at)
        parts = [answer] if isinstance(answer, str) else answer
        said: list[MessageId] = []
        for part in parts:
            self.said += 1
            talk = Talk(self.pool, where, _count=self.said)
            said.append(await talk.says(OWN, part, name="Muninn", kind="self", at=at))
        async with self.pool.acquire() as conn, conn.transaction():
            turn_id = await conn.fetchval(
                """INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, outcome, triggered_at,
                                      started_at)
                   VALUES ($1, $2, $3, $4, 'answered', 'answer', now(), now()) RETURNING turn_id""",
                space,
                place,
                user,
                asked,
            )
            await conn.execute("INSERT INTO turn_triggers VALUES ($1, $2, $3)", space, asked, turn_id)
            for number, (part, message_id) in enumerate(zip(parts, said, strict=True)):
                nonce = f"{turn_id}-{number}"
                await conn.execute("INSERT INTO turn_parts VALUES ($1, $2, $3, $4)", turn_id, number, part, nonce)
                await conn.execute(
                    """INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, turn_id,
                                                    state, nonce, external_id)
                       VALUES ($1, $2, $3, 'send_part', $4, '{}', $5, 'applied', $6, $7)""",
                    space,
                    place,
                    asked,
                    nonce.encode(),
                    turn_id,
                    nonce,
                    message_id,
                )
            episode_id = await keep_episode(conn, TurnId(turn_id))
        return Exchange(episode_id, asked, tuple(said))

    async def forgets(self, user: int, memory_id: int) -> None:
        """Its owner has a memory forgotten."""
        async with self.pool.acquire() as conn, conn.transaction():
            await forget(conn, Talk(self.pool).author(user), Target(memory_id))

    async def embeds(self) -> None:
        """Everything that waits gets its vector."""
        while await self.worker.step():
            pass

    async def message_of(self, memory_id: int) -> int:
        """The message that a memory rests on."""
        return int(await self.pool.fetchval("SELECT message_id FROM memory_evidence WHERE memory_id = $1", memory_id))

    async def asks(
        self,
        user: int,
        text: str,
        *,
        place: int = PLACE,
        space: int = GUILD,
        embedder: Embedder | str | None = "loopback",
        shown: Sequence[str] = (),
        about: str = "",
        **more: Any,
    ) -> Recalled:
        """A member says something, and what memory has for it."""
        using = self.embedder if isinstance(embedder, str) else embedder
        recall = Recall(self.pool, using, query_s=more.pop("query_s", 5.0))
        return await recall.answer(Asking(scope(place, space), UserId(user), text, shown=shown, about=about, **more))


@asynccontextmanager
async def open_shelf(database_url: str, pool: asyncpg.Pool, embedder: Embedder | None = None) -> AsyncGenerator[Shelf]:
    """An empty memory, with a loopback model of 256 dimensions unless the caller has an embedder."""
    async with Model.start(embedding_dimensions=256) as model:
        loopback = EndpointEmbeddings(
            base_url=model.base_url, api_key=model.api_key, name=model.embedding_name, dimensions=256
        )
        using = embedder or loopback
        try:
            worker = Embedding(
                pool,
                using,
                Ledger(AiEvents(pool).note),
                lambda: asyncpg.connect(database_url),
                batch=64,
                pace=Pace(0, 0, 0.05),
            )
            yield Shelf(pool, model, using, worker)
        finally:
            await loopback.aclose()
