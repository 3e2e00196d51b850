"""Reconciliation: what became of effects whose turn has ended without anybody knowing (I4).

A receipt stays `intended` where its worker was cut off, and `unknown` where Discord gave no answer in time. Discord is
asked what stands there. Nothing is done again, and no model is asked. Any number of processes may do this at once: what
is settled stays.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog

from bot.delivery import LINK_ANSWER_SQL
from bot.errors import WriteInDoubt, WriteRefused
from bot.receipts import Settled, claimed_messages, settle
from bot.standing import UNKNOWN_MESSAGE, Sought, Standing
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, SpaceId, TurnId

log = structlog.get_logger(__name__)

BATCH: Final = 20


@dataclass(frozen=True, slots=True)
class _Open:
    """A receipt that nobody will settle any more. `content` and `part` are a message's."""

    receipt_id: int
    space_id: SpaceId
    place_id: PlaceId
    trigger_id: MessageId
    turn_id: TurnId | None
    action: str
    args: str
    content: str | None
    part: int | None


# Receipts without an outcome whose turn is over, those first that were not asked about yet or longest ago. Notices to
# guilds are not among them: who sends them finds out by himself.
OPEN_RECEIPTS_SQL: Final = """
SELECT r.receipt_id, r.space_id, r.place_id, r.trigger_id, r.turn_id, r.action, r.args::text AS args, p.content, p.part
FROM action_receipts r LEFT JOIN turns t ON t.turn_id = r.turn_id
LEFT JOIN turn_parts p ON p.turn_id = r.turn_id AND p.nonce = r.nonce
WHERE r.state IN ('intended', 'unknown')
  AND r.action <> 'guild_notice'
  AND coalesce(r.failure, '') NOT LIKE 'unreadable:%'
  AND coalesce(r.settled_at, r.intended_at) <= now() - make_interval(secs => $1)
  AND (t.turn_id IS NULL OR t.state IN ('answered', 'failed_told', 'cancelled', 'expired'))
ORDER BY r.settled_at NULLS FIRST, r.receipt_id LIMIT $2
"""


class Reconciliation:
    """Looks for open receipts every `every_s` seconds, and asks about those of which as long nothing was heard: a
    request that was left behind may still end."""

    def __init__(self, pool: Pool, standing: Standing, *, every_s: float) -> None:
        self._pool = pool
        self._standing = standing
        self._every_s = every_s

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                rows = await conn.fetch(OPEN_RECEIPTS_SQL, self._every_s, BATCH)
            for row in rows:
                await self._reconcile(_Open(**dict(row)))
            await asyncio.sleep(self._every_s)

    async def _reconcile(self, receipt: _Open) -> None:
        state: Settled
        failure: str | None
        message_id: MessageId | None = None
        try:
            if receipt.action == "react":
                state, failure, message_id = await self._reaction(receipt)
            else:
                message_id = await self._message(receipt)
                state, failure = ("refused", "not_applied") if message_id is None else ("applied", None)
        except WriteRefused as refusal:
            state, failure = "unknown", f"unreadable:discord_{refusal.code}"
        except WriteInDoubt as doubt:
            state, failure = "unknown", doubt.cause
        log.info("receipt.reconciled", receipt_id=receipt.receipt_id, action=receipt.action, state=state)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            if message_id is not None and receipt.action != "react":
                # The message before its receipt, as everywhere.
                await conn.execute(LINK_ANSWER_SQL, receipt.space_id, message_id, receipt.turn_id)
            await settle(conn, receipt.receipt_id, state, external_id=message_id, failure=failure, attempts=1)

    async def _reaction(self, receipt: _Open) -> tuple[Settled, str | None, MessageId | None]:
        args: dict[str, Any] = orjson.loads(receipt.args)
        message_id = MessageId(int(args["message_id"]))
        stands = await self._standing.reacted(receipt.place_id, message_id, str(args["emoji"]))
        if stands is None:
            return "refused", f"discord_{UNKNOWN_MESSAGE}", None
        return ("applied", None, message_id) if stands else ("refused", "not_applied", None)

    async def _message(self, receipt: _Open) -> MessageId | None:
        async def claimed(messages: list[int]) -> frozenset[int]:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                return await claimed_messages(
                    conn, receipt.space_id, receipt.place_id, messages, but=receipt.receipt_id
                )

        sought = Sought(
            place_id=receipt.place_id,
            content=receipt.content or "",
            since=receipt.trigger_id,
            reply_to=receipt.trigger_id if receipt.part == 0 else None,
        )
        found = await self._standing.find(sought, claimed)
        return None if found is None else MessageId(int(found["id"]))
