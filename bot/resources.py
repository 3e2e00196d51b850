"""What a process opens once and keeps through every gateway: the pool, Redis and the models."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final

import asyncpg
from redis.asyncio import Redis

from agent.fallback import Fallback
from agent.openai_model import OpenAIModel
from agent.ports import SpeakingModel
from bot.ingress.seen import Ledger, ledger_name
from bot.pool import CONNECT_S, POOL_MOST, open_pool
from bot.settings import Settings
from memory.database import Connection, Pool

REDIS_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Resources:
    """What outlives a gateway."""

    pool: Pool
    redis: Redis
    models: Mapping[str, SpeakingModel]
    database_url: str
    ledger: Ledger
    backends: set[int]

    async def connect(self) -> Connection:
        """A connection outside of the pool: for the shard's lock, and for listening."""
        return await asyncpg.connect(self.database_url, timeout=CONNECT_S)


@contextlib.asynccontextmanager
async def open_resources(settings: Settings, database_url: str, redis_url: str) -> AsyncGenerator[Resources]:
    """They are closed when the block ends."""
    backends: set[int] = set()
    ledger = Ledger()

    async def opened(conn: Connection) -> None:
        backends.add(conn.get_server_pid())
        ledger.name = await ledger_name(conn)

    async with contextlib.AsyncExitStack() as stack:
        pool: Pool = await stack.enter_async_context(
            open_pool(database_url, most=max(POOL_MOST, settings.workers + 6), opened=opened)
        )
        stack.callback(pool.terminate)
        redis: Redis = Redis.from_url(
            # Nobody asks Redis which library it is, and to look that up takes each connection milliseconds.
            redis_url,
            socket_timeout=REDIS_S,
            socket_connect_timeout=REDIS_S,
            driver_info=None,
        )
        stack.push_async_callback(redis.aclose)
        models = {
            name: await stack.enter_async_context(_open_model(settings, name))
            for name in dict.fromkeys((settings.model, *settings.offered_models, *_vision(settings)))
        }
        yield Resources(pool, redis, models, database_url, ledger, backends)


def _vision(settings: Settings) -> tuple[str, ...]:
    return (settings.vision_model,) if settings.vision_model else ()


@contextlib.asynccontextmanager
async def _open_model(settings: Settings, name: str) -> AsyncGenerator[SpeakingModel]:
    """The model of that name, with the one behind it that replies where it cannot be had."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None

    def opened(name: str, base_url: str | None, api_key: str | None) -> OpenAIModel:
        return OpenAIModel(
            base_url=base_url,
            api_key=api_key,
            model=name,
            stream=settings.model_stream,
            silence_s=settings.model_timeout_s,
        )

    first = opened(name, settings.openai_base_url, key)
    async with contextlib.aclosing(first):
        if not settings.fallback_model:
            yield first
            return
        own = settings.fallback_api_key.get_secret_value() if settings.fallback_api_key else None
        elsewhere = settings.fallback_base_url not in (None, settings.openai_base_url)
        second = opened(
            settings.fallback_model,
            settings.fallback_base_url or settings.openai_base_url,
            own if own or elsewhere else key,  # a key is shown to nobody but its own endpoint (I13)
        )
        async with contextlib.aclosing(second):
            yield Fallback(first, second, room=_fallback_room(settings))


def _fallback_room(settings: Settings) -> int | None:
    return None if settings.fallback_context is None else settings.fallback_context - settings.reply_tokens
