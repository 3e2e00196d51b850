"""The memory workers on their own, against the loopback model: no Discord, no waiting."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import asyncpg

from agent.openai_model import OpenAIModel
from bot.ai_events import AiEvents
from bot.remembering.answers import ChatAnswers
from bot.remembering.embedding import Embedding
from bot.remembering.embeddings import EndpointEmbeddings
from bot.remembering.ingestion import Reader
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from bot.remembering.summaries import Summaries
from memory.extraction import SCHEMA_NAME
from memory.owners import Caps
from sandbox.model import ChatRequest, Completion, Model, say, say_json
from tests.harness.told import Talk

DIMENSIONS = 64

Entry = dict[str, Any]
Extract = Callable[[Mapping[str, Any]], Sequence[Entry] | dict[str, Any]]


def heard(request: ChatRequest) -> Mapping[str, Any]:
    """The data of a question for memory."""
    return json.loads(request.last_user_text)


def is_extraction(request: ChatRequest) -> bool:
    """Whether the request is one for memories."""
    return request.response_format.name == SCHEMA_NAME


def entry(message_id: object, user: int | None, content: str, key: str | None = None, **more: Any) -> Entry:
    """A memory as a model writes it."""
    evidence = cast("list[object]", message_id) if isinstance(message_id, list) else [message_id]
    return {
        "ref": more.pop("ref", content[:20]),
        "scope": more.pop("scope", "user" if user is not None else "channel"),
        "user": str(user) if user is not None else None,
        "kind": more.pop("kind", "preference"),
        "key": key,
        "content": content,
        "importance": more.pop("importance", 0.5),
        "confidence": more.pop("confidence", 0.8),
        "evidence": [str(each) for each in evidence],
        "expires": more.pop("expires", None),
        **more,
    }


@dataclass
class Mind:
    """The workers on a test's database. `model` is theirs to be scripted."""

    pool: asyncpg.Pool
    talk: Talk
    model: Model
    chat: OpenAIModel
    reader: Reader
    summaries: Summaries
    ai_events: AiEvents
    database_url: str

    def extracts(self, extract: Extract) -> None:
        """From now on the model answers each question with what `extract` makes of its data."""

        def turn(request: ChatRequest) -> Completion:
            if not is_extraction(request):
                return say("A summary of " + " ".join(line["text"] for line in heard(request)["messages"]))
            made = extract(heard(request))
            return say_json(made if isinstance(made, dict) else {"memories": list(made), "relations": []})

        self.model.default(turn)

    def finds(self, words: Mapping[str, Callable[[Mapping[str, Any]], Entry]]) -> None:
        """The model makes a memory of each message that contains one of the words."""
        self.extracts(
            lambda data: [
                make(message) for message in data["messages"] for word, make in words.items() if word in message["text"]
            ]
        )

    async def reads(self) -> int:
        """Read until there is nothing to read; gives how many places were dealt with."""
        steps = 0
        while await self.reader.step():
            steps += 1
            assert steps < 200, "reading does not come to an end"
        return steps

    async def live(self, key: str | None = None) -> list[str]:
        """What may be shown, oldest first."""
        rows = await self.pool.fetch(
            "SELECT content FROM live_memories WHERE $1::text IS NULL OR key = $1 ORDER BY memory_id", key
        )
        return [row["content"] for row in rows]

    async def counted(self) -> dict[str, int]:
        """What became of entries so far."""
        rows = await self.pool.fetch("SELECT outcome, how_many FROM extraction_counts")
        return {row["outcome"]: row["how_many"] for row in rows}

    def another_reader(self, caps: Caps | None = None) -> Reader:
        """A second reader, as in another process."""
        return Reader(
            self.pool, ChatAnswers(self.chat, "m"), "m", Ledger(self.ai_events.note), caps or Caps(), Pace(0, 0, 0.05)
        )

    @asynccontextmanager
    async def embedding(
        self,
        *,
        url: str | None = None,
        key: str | None = None,
        name: str | None = None,
        dimensions: int | None = None,
        batch: int = 16,
    ) -> AsyncGenerator[Embedding]:
        """The worker for vectors of another process, with the loopback's model unless another is named."""
        embedder = EndpointEmbeddings(
            base_url=url or self.model.base_url,
            api_key=key or self.model.api_key,
            name=name or self.model.embedding_name,
            dimensions=dimensions or self.model.embedding_dimensions,
        )
        try:
            yield Embedding(
                self.pool,
                embedder,
                Ledger(self.ai_events.note),
                lambda: asyncpg.connect(self.database_url),
                batch=batch,
                pace=Pace(0, 0, 0.05),
            )
        finally:
            await embedder.aclose()


@asynccontextmanager
async def workers(
    pool: asyncpg.Pool, database_url: str, model_url: str, api_key: str, pace: Pace
) -> AsyncGenerator[dict[str, Callable[[], Awaitable[None]]]]:
    """The loops of one process's memory, by name, against a loopback model that somebody else runs."""
    chat = OpenAIModel(base_url=model_url, api_key=api_key, model="sandbox-chat", tries=1)
    embedder = EndpointEmbeddings(base_url=model_url, api_key=api_key, name="sandbox-embedding", dimensions=DIMENSIONS)
    answers, ledger = ChatAnswers(chat, "sandbox-chat"), Ledger(AiEvents(pool).note)
    try:
        yield {
            "reader": Reader(pool, answers, "sandbox-chat", ledger, Caps(), pace).run,
            "summaries": Summaries(pool, answers, "sandbox-chat", ledger, every=3, pace=pace).run,
            "embedding": Embedding(
                pool, embedder, ledger, lambda: asyncpg.connect(database_url), batch=2, pace=pace
            ).run,
        }
    finally:
        await chat.aclose()
        await embedder.aclose()


@asynccontextmanager
async def open_mind(database_url: str, pool: asyncpg.Pool, *, lease_s: float = 300.0) -> AsyncGenerator[Mind]:
    """Workers that wait for nothing: what is said is due at once."""
    pace = Pace(0, 0, 0.05, lease_s)
    async with Model.start(embedding_dimensions=DIMENSIONS) as model:
        chat = OpenAIModel(base_url=model.base_url, api_key=model.api_key, model=model.name, tries=1)
        try:
            answers = ChatAnswers(chat, model.name)
            ai_events = AiEvents(pool)
            ledger = Ledger(ai_events.note)
            yield Mind(
                pool,
                Talk(pool),
                model,
                chat,
                Reader(pool, answers, model.name, ledger, Caps(), pace),
                Summaries(pool, answers, model.name, ledger, every=3, pace=pace),
                ai_events,
                database_url,
            )
        finally:
            await chat.aclose()
