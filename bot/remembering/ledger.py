"""What durable memory's requests to models took and cost: a row each in ai_events, and counted."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from agent.contracts import Usage
from bot.ai_events import AiEvent
from bot.metrics import MEMORY_REQUEST_SECONDS, MEMORY_REQUESTS
from memory.errors import ModelTrouble
from memory.ids import PlaceId, SpaceId


@dataclass(slots=True)
class Request:
    """One request while it runs; whoever makes it fills in what it learns."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Ledger:
    """Notes requests where `note` collects them (bot.ai_events), which neither waits nor fails."""

    def __init__(self, note: Callable[[AiEvent], None]) -> None:
        self._note = note

    @asynccontextmanager
    async def request(
        self, purpose: str, model: str, *, space_id: SpaceId, place_id: PlaceId | None, items: int
    ) -> AsyncGenerator[Request]:
        """A request that ends with the block: well, with a ModelTrouble, or cancelled. `items`: messages or texts."""
        request = Request()
        started = time.monotonic()
        status: Literal["ok", "failed", "cancelled"] = "failed"
        code = None
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
            took_s = time.monotonic() - started
            MEMORY_REQUESTS.labels(purpose, status).inc()
            MEMORY_REQUEST_SECONDS.labels(purpose).observe(took_s)
            self._note(
                AiEvent(
                    space_id=space_id,
                    purpose=purpose,
                    model=model,
                    status=status,
                    took_s=took_s,
                    place_id=place_id,
                    error_code=code,
                    messages=items,
                    usage=Usage(request.prompt_tokens, request.completion_tokens),
                )
            )
