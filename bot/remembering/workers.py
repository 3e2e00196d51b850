"""What durable memory needs to run, made from the settings: models, and the loops that keep it going."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from agent.openai_model import OpenAIModel
from bot.ai_events import AiEvent
from bot.allowance import is_used_up
from bot.guild_settings import Ground, GuildSettingsDoor
from bot.remembering.answers import ChatAnswers
from bot.remembering.courtesy import Courtesy
from bot.remembering.embedded import EmbeddedEmbeddings
from bot.remembering.embedding import Embedding
from bot.remembering.embeddings import EndpointEmbeddings
from bot.remembering.ingestion import Reader
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from bot.remembering.summaries import Summaries
from bot.settings import Settings
from memory.database import Connection, Pool
from memory.ids import SpaceId
from memory.owners import Caps
from memory.ports import Embedder
from memory.ranking import Floors, floors_of
from memory.recall import Recall
from memory.selection import Limits as RecallLimits
from memory.uses import Uses

HOUR_S: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Remembering:
    """`loops` run for ever, by name. `embedder` is None where there are no embeddings: everything else goes on.
    `recall` is the door to what is remembered."""

    loops: Mapping[str, Callable[[], Awaitable[None]]]
    embedder: Embedder | None
    caps: Caps
    recall: Recall


@asynccontextmanager
async def open_remembering(
    settings: Settings,
    pool: Pool,
    connect: Callable[[], Awaitable[Connection]],
    note: Callable[[AiEvent], None],
    *,
    idle: asyncio.Event | None = None,
) -> AsyncGenerator[Remembering]:
    """The workers while the block runs; nothing is started before a loop is. `connect`: a connection of one's own;
    `idle`: set while this process works on no turn, for which the workers give way."""
    async with AsyncExitStack() as stack:
        name = settings.memory_model or settings.model
        key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
        chat = OpenAIModel(
            base_url=settings.openai_base_url,
            api_key=key,
            model=name,
            stream=settings.model_stream,
            silence_s=settings.model_timeout_s,
        )
        stack.push_async_callback(chat.aclose)
        answers, ledger = ChatAnswers(chat, name), Ledger(note, _purse(settings, pool))
        caps = caps_of(settings)
        pace = Pace(
            settings.memory_quiet_s,
            settings.memory_longest_s,
            settings.poll_s,
            settings.memory_lease_s,
            settings.stopped,
        )
        courtesy = Courtesy(idle)
        loops: dict[str, Callable[[], Awaitable[None]]] = {}
        for number in range(settings.memory_workers):
            loops[f"memory-reader-{number + 1}"] = Reader(pool, answers, name, ledger, caps, pace, courtesy).run
        summaries = Summaries(pool, answers, name, ledger, every=settings.summary_messages, pace=pace)
        loops["memory-summaries"] = summaries.run
        embedder = await embedder_of(settings, stack)
        if embedder is not None:
            embedding = Embedding(
                pool, embedder, ledger, connect, batch=settings.embedding_batch, pace=pace, courtesy=courtesy
            )
            loops["memory-embedding"] = embedding.run
        uses = Uses(pool)
        stack.push_async_callback(uses.aclose)
        limits = RecallLimits(settings.recall_items, settings.recall_chars)
        recall = Recall(pool, embedder, limits=limits, floors=_floors(settings, embedder), uses=uses)
        yield Remembering(loops, embedder, caps, recall)


def _purse(settings: Settings, pool: Pool) -> Callable[[SpaceId], Awaitable[bool]]:
    """Whether a space has used up its day, by the guild's own budget where it set one."""
    guild_settings = GuildSettingsDoor(pool, Ground.of(settings))

    async def used_up(space_id: SpaceId) -> bool:
        return await is_used_up(pool, await guild_settings.of(space_id), space_id)

    return used_up


def _floors(settings: Settings, embedder: Embedder | None) -> Floors:
    """What counts as relevant: measured for the embedded model, a careful guess for others, or as the operator says."""
    floors = floors_of(embedder.name if embedder is not None else "")
    return replace(
        floors,
        alone=floors.alone if settings.recall_alone is None else settings.recall_alone,
        low=floors.low if settings.recall_low is None else settings.recall_low,
        terms=floors.terms if settings.recall_terms is None else settings.recall_terms,
        few=floors.few if settings.recall_few is None else settings.recall_few,
        copy=floors.copy if settings.recall_copy is None else settings.recall_copy,
        used=floors.used if settings.recall_used is None else settings.recall_used,
    )


def caps_of(settings: Settings) -> Caps:
    """What an owner of memories may have and do."""
    return Caps(live=settings.memory_items, writes=settings.memory_writes, window_s=HOUR_S)


async def embedder_of(settings: Settings, stack: AsyncExitStack) -> Embedder | None:
    """The embedding model that the settings name, closed with `stack`; None for none. Nothing is started yet."""
    if settings.embedding_url is not None:
        key = settings.embedding_key.get_secret_value() if settings.embedding_key else None
        endpoint = EndpointEmbeddings(
            base_url=settings.embedding_url,
            api_key=key,
            name=settings.embedding_model or "",
            dimensions=settings.embedding_dimensions,
        )
        stack.push_async_callback(endpoint.aclose)
        return endpoint
    if settings.embeddings == "off":
        return None
    embedded = EmbeddedEmbeddings(settings.data_dir)
    stack.push_async_callback(embedded.aclose)
    return embedded
