"""Each change that a command makes of our own tables with its receipt, in one transaction: both, or neither (I4)."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import structlog

from bot import receipts
from bot.errors import CommandRefused
from bot.interactions import Interaction
from bot.receipts import Intent, settle
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import MessageId

log = structlog.get_logger(__name__)

T = TypeVar("T")

_TWICE: Final = "That was done already; it was not done again."


class MemoryLedger:
    """Runs changes. What a person's words are is in memory alone: a receipt says of them only whose and which."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def run(
        self,
        who: Interaction,
        action: str,
        args: Mapping[str, object],
        change: Callable[[Borrowed], Awaitable[tuple[T, int | None]]],
    ) -> T:
        """Do `change`, which gives its result and the id of what it is about (a memory's), under the receipt of this
        interaction's `action`.

        Raises what `change` raises, and leaves nothing then; CommandRefused where the same interaction did it before.
        """
        intent = Intent(
            space_id=who.scope.space_id,
            place_id=who.scope.place_id,
            trigger_id=MessageId(who.interaction_id),
            action=action,
            args=args,
            requester_id=who.user_id,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            receipt = await receipts.intend(conn, intent)
            if not receipt.fresh:
                raise CommandRefused(_TWICE)
            result, memory_id = await change(conn)
            await settle(conn, receipt.receipt_id, "applied", external_id=memory_id, failure=None, attempts=1)
        log.info("memory.changed", action=action, memory_id=memory_id, user_id=who.user_id)
        return result
