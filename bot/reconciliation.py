"""Reconciliation: what became of effects whose turn has ended without anybody knowing (I4).

A receipt stays `intended` where its worker was cut off, and `unknown` where Discord gave no answer in time. Discord is
asked what stands there. Nothing is done again, and no model is asked. Any number of processes may do this at once: what
is settled stays.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
import structlog

from bot import cards
from bot.delivery import LINK_ANSWER_SQL
from bot.drafting import button_id
from bot.errors import WriteInDoubt, WriteRefused
from bot.reactions.answers import FIX, WHY_BUTTON
from bot.receipts import Settled, claimed_messages, settle
from bot.speech.forms import said_in
from bot.standing import UNKNOWN_MEMBER, UNKNOWN_MESSAGE, Sought, Standing
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, SpaceId, TurnId

log = structlog.get_logger(__name__)

BATCH: Final = 20

SENT: Final = frozenset(
    {"send_part", "send_message", "reply_to_message", "ask", "late_answer", "mod_notice", "mod_log"}
)
"""Effects that are messages of our own."""

OF_REACTIONS: Final = frozenset(
    {"reaction_role", "reaction_pin", "remove_answer", "offer_why", "offer_fix", "memory_add", "memory_forget"}
)
"""Effects that a reaction may have: while its task is there, they are still to be tried."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A receipt that nobody will settle any more. `content` and `part` are those of a part or of a card."""

    receipt_id: int
    space_id: SpaceId
    place_id: PlaceId
    trigger_id: MessageId
    turn_id: TurnId | None
    action: str
    stored_args: str
    content: str | None
    part: int | None
    card_id: int | None
    requester_id: int | None

    @property
    def args(self) -> Mapping[str, Any]:
        """Its arguments."""
        return cast("Mapping[str, Any]", orjson.loads(self.stored_args))

    @property
    def message_id(self) -> MessageId:
        """The message that it acts on."""
        return MessageId(int(self.args["message_id"]))


@dataclass(frozen=True, slots=True)
class _Finding:
    """What Discord shows of it."""

    state: Settled
    external_id: int | None = None
    failure: str | None = None


NOT_DONE: Final = "This was not done. Discord gave no answer at the time; I looked again."
_NOT_APPLIED: Final = _Finding("refused", None, "not_applied")
_NO_MESSAGE: Final = _Finding("refused", None, f"discord_{UNKNOWN_MESSAGE}")

# Receipts without an outcome whose turn is over, those first that were not asked about yet or longest ago. Notices to
# guilds are not among them, nor what a card that is not finished has in hand, nor what moderation did: who does those
# finds out by himself.
OPEN_RECEIPTS_SQL: Final = """
SELECT r.receipt_id, r.space_id, r.place_id, r.trigger_id, r.turn_id, r.action, r.args::text AS stored_args,
       coalesce(p.content, k.question) AS content, p.part, r.card_id, r.requester_id
FROM action_receipts r LEFT JOIN turns t ON t.turn_id = r.turn_id
LEFT JOIN turn_parts p ON p.turn_id = r.turn_id AND p.nonce = r.nonce
LEFT JOIN action_cards k ON k.nonce = r.nonce
LEFT JOIN action_cards c ON c.card_id = r.card_id
WHERE r.state IN ('intended', 'unknown')
  AND r.action <> 'guild_notice'
  AND (NOT starts_with(r.action, 'mod_') OR r.action IN ('mod_notice', 'mod_log'))
  AND coalesce(r.failure, '') NOT LIKE 'unreadable:%'
  AND coalesce(r.settled_at, r.intended_at) <= now() - make_interval(secs => $1)
  AND (t.turn_id IS NULL OR t.state IN ('answered', 'failed_told', 'cancelled', 'expired'))
  AND (c.card_id IS NULL OR c.shown IS NOT DISTINCT FROM c.state)
  AND NOT (r.action = ANY($3::text[]) AND EXISTS (
      SELECT FROM reaction_tasks k WHERE k.space_id = r.space_id AND k.message_id = r.trigger_id))
ORDER BY r.settled_at NULLS FIRST, r.receipt_id LIMIT $2
"""


class Reconciliation:
    """Looks for open receipts every `every_s` seconds, and asks about those of which as long nothing was heard: a
    request that was left behind may still end."""

    def __init__(self, pool: Pool, standing: Standing, *, every_s: float) -> None:
        self._pool = pool
        self._standing = standing
        self._every_s = every_s
        self._looks: Mapping[str, Callable[[_Open], Awaitable[_Finding]]] = {
            "react": self._reaction,
            "remove_own_reaction": self._reaction,
            "create_thread": self._thread,
            "edit_thread": self._thread_changes,
            "edit_own_message": self._edit,
            "show_card": self._shown,
            "delete_own_message": self._deletion,
            "pin_message": self._pin,
            "unpin_message": self._pin,
            "show_draft": self._draft,
            "reaction_role": self._role,
            "reaction_pin": self._reaction_pin,
            "remove_answer": self._removal,
            "offer_why": self._offer,
            "offer_fix": self._offer,
            **dict.fromkeys(SENT, self._sent),
        }

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                rows = await conn.fetch(OPEN_RECEIPTS_SQL, self._every_s, BATCH, list(OF_REACTIONS))
            for row in rows:
                await self._reconcile(_Open(**dict(row)))
            await asyncio.sleep(self._every_s)

    async def _reconcile(self, receipt: _Open) -> None:
        look = self._looks.get(receipt.action)
        try:
            # What nobody here knows was begun by another version, or by memory, which commits with its receipt.
            finding = await look(receipt) if look is not None else _Finding("unknown", None, "unreadable:action")
        except WriteRefused as refusal:
            finding = _Finding("unknown", None, f"unreadable:discord_{refusal.code}")
        except WriteInDoubt as doubt:
            finding = _Finding("unknown", None, doubt.cause)
        except (KeyError, TypeError, ValueError) as error:
            log.warning("receipt.unreadable", receipt_id=receipt.receipt_id, error=type(error).__name__)
            finding = _Finding("unknown", None, "unreadable:arguments")
        log.info("receipt.reconciled", receipt_id=receipt.receipt_id, action=receipt.action, state=finding.state)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            if finding.external_id is not None and receipt.action in SENT:
                # The message before its receipt, as everywhere.
                await conn.execute(LINK_ANSWER_SQL, receipt.space_id, finding.external_id, receipt.turn_id)
            await settle(
                conn,
                receipt.receipt_id,
                finding.state,
                external_id=finding.external_id,
                failure=finding.failure,
                attempts=1,
            )
            if finding.state != "unknown" and receipt.card_id is not None and receipt.action != "show_card":
                # What was confirmed by a card, which says so far that it is not certain.
                told = "" if finding.state == "applied" else NOT_DONE
                await cards.correct(conn, receipt.card_id, receipt.space_id, finding.state, told)

    async def _reaction(self, receipt: _Open) -> _Finding:
        stands = await self._standing.reacted(receipt.place_id, receipt.message_id, str(receipt.args["emoji"]))
        if stands is None:
            return _NO_MESSAGE
        wanted = receipt.action == "react"
        return _Finding("applied", receipt.message_id) if stands == wanted else _NOT_APPLIED

    async def _sent(self, receipt: _Open) -> _Finding:
        async def claimed(messages: list[int]) -> frozenset[int]:
            return await self._claimed(receipt, messages)

        reply_to = receipt.message_id if receipt.action == "reply_to_message" else None
        if receipt.action == "ask" or receipt.part == 0:
            reply_to = receipt.trigger_id
        content = receipt.content if receipt.content is not None else str(receipt.args["content"])
        sought = Sought(receipt.place_id, content, receipt.trigger_id, reply_to)
        found = await self._standing.find(sought, claimed)
        return _NOT_APPLIED if found is None else _Finding("applied", int(found["id"]))

    async def _draft(self, receipt: _Open) -> _Finding:
        """A draft by its button, which names the turn; it is cleared away as soon as it is known."""
        if receipt.turn_id is None:
            return _NOT_APPLIED
        sought = Sought(receipt.place_id, "", receipt.trigger_id, button=button_id(receipt.turn_id))
        found = await self._standing.find(sought, _nobody)
        return _NOT_APPLIED if found is None else _Finding("applied", int(found["id"]))

    async def _thread(self, receipt: _Open) -> _Finding:
        async def claimed(threads: list[int]) -> frozenset[int]:
            return await self._claimed(receipt, threads)

        if receipt.args.get("message_id") is not None:
            found = await self._standing.thread_from(receipt.message_id)
        else:
            found = await self._standing.thread_named(
                receipt.space_id, receipt.place_id, str(receipt.args["name"]), receipt.trigger_id, claimed
            )
        return _NOT_APPLIED if found is None else _Finding("applied", found)

    async def _thread_changes(self, receipt: _Open) -> _Finding:
        thread = await self._standing.place(receipt.place_id)
        if thread is None:
            return _Finding("refused", None, "discord_10003")
        about = cast("Mapping[str, Any]", thread.get("thread_metadata") or {})
        wanted = {name: value for name, value in receipt.args.items() if name != "thread_id"}
        stands = all((about if name in ("archived", "locked") else thread).get(name) == wanted[name] for name in wanted)
        return _Finding("applied", receipt.place_id) if stands else _NOT_APPLIED

    async def _edit(self, receipt: _Open) -> _Finding:
        message = await self._standing.message(receipt.place_id, receipt.message_id)
        if message is None:
            return _NO_MESSAGE
        stands = said_in(message) == receipt.args["content"]
        return _Finding("applied", receipt.message_id) if stands else _NOT_APPLIED

    async def _shown(self, receipt: _Open) -> _Finding:
        """A card that is over has no buttons, and says how it ended."""
        message = await self._standing.message(receipt.place_id, receipt.message_id)
        if message is None:
            return _NO_MESSAGE
        content = message.get("content")
        stands = not message.get("components") and receipt.args.get("content", content) == content
        return _Finding("applied", receipt.message_id) if stands else _NOT_APPLIED

    async def _deletion(self, receipt: _Open) -> _Finding:
        message = await self._standing.message(receipt.place_id, receipt.message_id)
        return _Finding("applied", receipt.message_id) if message is None else _NOT_APPLIED

    async def _pin(self, receipt: _Open) -> _Finding:
        message = await self._standing.message(receipt.place_id, receipt.message_id)
        if message is None:
            return _NO_MESSAGE
        stands = bool(message.get("pinned")) == (receipt.action == "pin_message")
        return _Finding("applied", receipt.message_id) if stands else _NOT_APPLIED

    async def _role(self, receipt: _Open) -> _Finding:
        has = await self._standing.has_role(receipt.space_id, int(receipt.args["user"]), int(receipt.args["role"]))
        if has is None:
            return _Finding("refused", None, f"discord_{UNKNOWN_MEMBER}")
        return _Finding("applied", int(receipt.args["user"])) if has == receipt.args["given"] else _NOT_APPLIED

    async def _reaction_pin(self, receipt: _Open) -> _Finding:
        message = await self._standing.message(receipt.place_id, receipt.trigger_id)
        if message is None:
            return _NO_MESSAGE
        return _Finding("applied", receipt.trigger_id) if message.get("pinned") else _NOT_APPLIED

    async def _removal(self, receipt: _Open) -> _Finding:
        part = MessageId(int(receipt.args["message"]))
        message = await self._standing.message(receipt.place_id, part)
        return _Finding("applied", part) if message is None else _NOT_APPLIED

    async def _offer(self, receipt: _Open) -> _Finding:
        """A reply with a button, which names the answer that it is about."""
        button = f"{WHY_BUTTON}:{receipt.trigger_id}"
        if receipt.action == "offer_fix":
            button = f"{FIX}:{receipt.trigger_id}:{receipt.requester_id}"
        found = await self._standing.find(Sought(receipt.place_id, "", receipt.trigger_id, button=button), _nobody)
        return _NOT_APPLIED if found is None else _Finding("applied", int(found["id"]))

    async def _claimed(self, receipt: _Open, ids: list[int]) -> frozenset[int]:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await claimed_messages(conn, receipt.space_id, receipt.place_id, ids, but=receipt.receipt_id)


async def _nobody(messages: list[int]) -> frozenset[int]:
    del messages
    return frozenset()
