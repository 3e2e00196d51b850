"""What durable memory's requests to models took and cost: a row each in ai_events, and counted; and none that is paid
for where a space has used up what it may spend in a day."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from agent.contracts import Usage
from bot.ai_events import AiEvent
from bot.metrics import MEMORY_REQUEST_SECONDS, MEMORY_REQUESTS
from memory.errors import ModelAway, ModelTrouble
from memory.ids import PlaceId, SpaceId

BUDGETED: Final = frozenset({"extraction", "summary"})
"""What counts against a space's day; vectors do not."""

LOOK_AGAIN_S: Final = 900.0
"""Seconds until a space that has used up its day is looked at again: the day may end, or the budget be raised."""


@dataclass(slots=True)
class Request:
    """One request while it runs; whoever makes it fills in what it learns."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Ledger:
    """Notes requests where `note` collects them (bot.ai_events), which neither waits nor fails.

    `used_up`: whether a space has used up what it may spend today; None: it may spend without end.
    """

    def __init__(
        self, note: Callable[[AiEvent], None], used_up: Callable[[SpaceId], Awaitable[bool]] | None = None
    ) -> None:
        self._note = note
        self._used_up = used_up

    @asynccontextmanager
    async def request(
        self, purpose: str, model: str, *, space_id: SpaceId, place_id: PlaceId | None, items: int
    ) -> AsyncGenerator[Request]:
        """A request that ends with the block: well, with a ModelTrouble, or cancelled. `items`: messages or texts.

        Raises ModelAway (budget_space) instead of beginning one that the space may not pay for today.
        """
        if purpose in BUDGETED and self._used_up is not None and await self._used_up(space_id):
            raise ModelAway("budget_space", "The space has used up its tokens of the day.", after_s=LOOK_AGAIN_S)
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
