"""What durable memory's requests to models took and cost, a row each in ai_events. Its failure breaks nothing."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from bot.metrics import MEMORY_REQUEST_SECONDS, MEMORY_REQUESTS
from memory.database import BORROW_S, Pool
from memory.errors import ModelTrouble
from memory.ids import PlaceId, SpaceId

log = structlog.get_logger(__name__)

NOTE_S: Final = 5.0

# One request to a provider.
NOTE_REQUEST_SQL: Final = """
INSERT INTO ai_events (space_id, place_id, purpose, model, status, error_code, messages, prompt_tokens,
                       completion_tokens, asked_at, took_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() - make_interval(secs => $10), ($10 * 1000)::int)
"""


@dataclass(slots=True)
class Request:
    """One request while it runs; whoever makes it fills in what it learns."""

    model: str
    items: int
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Ledger:
    """Notes requests."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def request(
        self, purpose: str, model: str, *, space_id: SpaceId, place_id: PlaceId | None, items: int
    ) -> AsyncGenerator[Request]:
        """A request that ends with the block: well, with a ModelTrouble, or cancelled."""
        request = Request(model, items)
        started = time.perf_counter()
        status, code = "failed", None
        try:
            yield request
            status = "ok"
        except ModelTrouble as trouble:
            code = trouble.code
            raise
        except asyncio.CancelledError:
            status = "cancelled"
            raise
        finally:
            took_s = time.perf_counter() - started
            MEMORY_REQUESTS.labels(purpose, status).inc()
            MEMORY_REQUEST_SECONDS.labels(purpose).observe(took_s)
            if status != "cancelled":
                await self._note(purpose, request, space_id, place_id, status, code, took_s)

    async def _note(
        self,
        purpose: str,
        request: Request,
        space_id: SpaceId,
        place_id: PlaceId | None,
        status: str,
        code: str | None,
        took_s: float,
    ) -> None:
        try:
            async with asyncio.timeout(NOTE_S), self._pool.acquire(timeout=BORROW_S) as conn:
                await conn.execute(
                    NOTE_REQUEST_SQL,
                    space_id,
                    place_id,
                    purpose,
                    request.model,
                    status,
                    code,
                    request.items,
                    request.prompt_tokens,
                    request.completion_tokens,
                    took_s,
                )
        except Exception as error:
            log.warning("memory.request_not_noted", purpose=purpose, error=type(error).__name__)
