"""Effects: an action that was allowed, done once under its receipt, and recorded (I4).

    receipt intended (committed) -> the door -> receipt settled, with the message journalled or an event of the ledger

What is on record already is answered from there. What another attempt began and nobody recorded is gone on with: done
again where that changes nothing, else looked for first. Memory's writes commit with their receipt.
"""

from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, assert_never

import structlog

from bot import cards, receipts
from bot.addressing import Identity
from bot.crash import crash_point
from bot.delivery import LINK_ANSWER_SQL
from bot.errors import TurnLost
from bot.outgoing import ANNOUNCEMENT_THREAD, PUBLIC_THREAD, Outcome, Outgoing, ThreadStart
from bot.own_messages import journal_own
from bot.receipts import Intent, Receipt, claimed_messages, settle, settle_as
from bot.reporting import refused_by_discord, report_of
from bot.standing import Standing
from bot.turns import NONCE_CHARACTERS
from bot.wishes import Wish, changes_of, words_of
from bot.writes import Writes
from memory.database import BORROW_S, Borrowed, Pool
from memory.errors import MemoryRefused
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId
from memory.items import Author, Draft, Target, forget, remember
from memory.owners import Caps
from memory.places import is_direct
from memory.scope import Scope
from tools.actions import (
    CreateThread,
    DeleteOwnMessage,
    EditOwnMessage,
    EditThread,
    Forget,
    PinMessage,
    React,
    Remember,
    RemoveOwnReaction,
    ReplyToMessage,
    SendMessage,
    UnpinMessage,
)
from tools.ports import ActionReport

log = structlog.get_logger(__name__)

WITHIN_S: Final = 10.0
"""Less than a tool may take, so that what is not known is recorded, and not cut off."""


@dataclass(frozen=True, slots=True)
class Errand:
    """For whom something is done, and on account of which message. `lease_no`: the turn's, or the card's.

    `governs`: whether they may write the memories of the place and the guild.
    """

    scope: Scope
    trigger_id: MessageId
    requester_id: UserId
    requester_name: str
    lease_no: int
    turn_id: TurnId | None = None
    card_id: int | None = None
    governs: bool = False
    announcements: bool = False

    @property
    def space_id(self) -> SpaceId:
        """The space, which leads every key."""
        return self.scope.space_id

    @property
    def reason(self) -> str:
        """What the guild's audit log says."""
        return f"Asked for by {self.requester_id} in message {self.trigger_id}"


def intent_of(wish: Wish, errand: Errand) -> Intent:
    """The receipt that the wish has, or will have."""
    speaks = isinstance(wish.action, SendMessage | ReplyToMessage)
    return Intent(
        space_id=errand.space_id,
        place_id=wish.place_id,
        trigger_id=errand.trigger_id,
        action=wish.name,
        args=wish.args,
        turn_id=errand.turn_id,
        nonce=nonce_of(errand.space_id, errand.trigger_id, wish.name, wish.digest) if speaks else None,
        kept=wish.kept,
        requester_id=errand.requester_id,
        lease_no=errand.lease_no,
        card_id=errand.card_id,
    )


def nonce_of(space_id: SpaceId, trigger_id: MessageId, action: str, digest: bytes) -> str:
    """The nonce of a message that an action sends: the same for every attempt at it, and no other's."""
    identity = f"{space_id}:{trigger_id}:{action}:{digest.hex()}".encode()
    return b32encode(blake2b(identity, digest_size=15).digest()).decode().lower()[:NONCE_CHARACTERS]


class Effects:
    """Does what was allowed. Raises TurnLost where a newer lease has the effect in hand."""

    def __init__(self, pool: Pool, writes: Writes, standing: Standing, me: Identity, caps: Caps) -> None:
        self._pool = pool
        self._writes = writes
        self._standing = standing
        self._me = me
        self._caps = caps

    async def on_record(self, wish: Wish, errand: Errand) -> ActionReport | None:
        """What the record says of the same effect; None where nothing is settled yet."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await receipts.on_record(conn, intent_of(wish, errand))
        return None if receipt is None else _recorded(receipt, wish)

    async def apply(self, wish: Wish, errand: Errand) -> ActionReport:
        """Do it, at most once, and say what became of it."""
        if isinstance(wish.action, Remember | Forget):
            return await self._memory(wish, errand)
        intent = intent_of(wish, errand)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await receipts.intend(conn, intent)
            if receipt.state in ("intended", "unknown") and not receipt.fresh:
                if not await receipts.take(conn, receipt.receipt_id, errand.lease_no):
                    raise TurnLost(receipt.receipt_id)
                log.info("action.resumed", receipt_id=receipt.receipt_id, action=wish.name)
        if (recorded := _recorded(receipt, wish)) is not None:
            return recorded
        crash_point("after_intended")
        outcome = await self._dispatch(wish, errand, receipt)
        crash_point("after_effect")
        await self.record(receipt, outcome, errand)
        crash_point("after_receipt")
        log.info("action.done", action=wish.name, receipt_id=receipt.receipt_id, state=outcome.state)
        return report_of(wish, outcome)

    async def record(self, receipt: Receipt, outcome: Outcome, errand: Errand, *, card_id: int | None = None) -> None:
        """Settle the receipt, and journal the message that was sent, in one transaction. `card_id`: it is that card."""
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            # The message before its receipt, as everywhere.
            if outcome.message is not None and outcome.external_id is not None:
                await self._journal(conn, errand, outcome.message, outcome.external_id)
            if card_id is not None and outcome.state == "applied":
                await cards.posted(conn, card_id, outcome.external_id)
            if card_id is not None and outcome.state == "refused":
                await cards.withdraw(conn, card_id)
            await settle_as(conn, receipt.receipt_id, outcome)

    async def send(
        self, outgoing: Outgoing, errand: Errand, receipt: Receipt, *, within_s: float = WITHIN_S
    ) -> Outcome:
        """Send a message under its receipt, for the caller to record."""

        async def claimed(messages: list[int]) -> frozenset[int]:
            return await self._claimed(errand, outgoing.place_id, receipt, messages)

        async def known() -> MessageId | None:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                return await standing_message(conn, receipt.receipt_id, errand.lease_no)

        return await self._writes.send(outgoing, receipt, known=known, claimed=claimed, within_s=within_s)

    async def _dispatch(self, wish: Wish, errand: Errand, receipt: Receipt) -> Outcome:
        place_id, message_id, reason = wish.place_id, wish.message_id or errand.trigger_id, errand.reason
        match wish.action:
            case React():
                return await self._writes.react(place_id, message_id, wish.action.emoji, within_s=WITHIN_S)
            case RemoveOwnReaction():
                return await self._writes.unreact(place_id, message_id, wish.action.emoji, within_s=WITHIN_S)
            case SendMessage() | ReplyToMessage():
                content = words_of(wish.action.content)
                outgoing = Outgoing(place_id, content, errand.trigger_id, wish.message_id)
                return await self.send(outgoing, errand, receipt)
            case CreateThread():
                return await self._thread(wish.action, wish, errand, receipt)
            case EditThread():
                changes = changes_of(wish.action)
                return await self._writes.edit_thread(place_id, changes, within_s=WITHIN_S, reason=reason)
            case EditOwnMessage():
                content = words_of(wish.action.content)
                return await self._writes.reword(place_id, message_id, content, within_s=WITHIN_S)
            case DeleteOwnMessage():
                return await self._writes.delete(place_id, message_id, within_s=WITHIN_S, reason=reason)
            case PinMessage() | UnpinMessage():
                pinned = isinstance(wish.action, PinMessage)
                return await self._writes.pin(place_id, message_id, pinned=pinned, within_s=WITHIN_S, reason=reason)
            case Remember() | Forget():
                raise AssertionError("memory has no door")
            case _:
                assert_never(wish.action)

    async def _thread(self, action: CreateThread, wish: Wish, errand: Errand, receipt: Receipt) -> Outcome:
        async def claimed(threads: list[int]) -> frozenset[int]:
            return await self._claimed(errand, wish.place_id, receipt, threads)

        async def found() -> PlaceId | None:
            if action.message_id is not None:
                return await self._standing.thread_from(action.message_id)
            return await self._standing.thread_named(
                errand.space_id, wish.place_id, words_of(action.name), errand.trigger_id, claimed
            )

        start = ThreadStart(
            wish.place_id,
            words_of(action.name),
            found,
            message_id=action.message_id,
            kind=ANNOUNCEMENT_THREAD if errand.announcements else PUBLIC_THREAD,
            reason=errand.reason,
        )
        return await self._writes.start_thread(start, doubtful=not receipt.fresh, within_s=WITHIN_S)

    async def _claimed(self, errand: Errand, place_id: PlaceId, receipt: Receipt, ids: list[int]) -> frozenset[int]:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await claimed_messages(conn, errand.space_id, place_id, ids, but=receipt.receipt_id)

    async def _journal(
        self, conn: Borrowed, errand: Errand, message: Mapping[str, object], message_id: MessageId
    ) -> None:
        guild_id = None if await is_direct(conn, errand.scope) else errand.space_id
        await journal_own(conn, message, guild_id, self._me)
        if errand.turn_id is not None:
            await conn.execute(LINK_ANSWER_SQL, errand.space_id, message_id, errand.turn_id)

    async def _memory(self, wish: Wish, errand: Errand) -> ActionReport:
        """One transaction holds the receipt and what it stands for: either both are there, or neither."""
        author = Author(
            errand.scope, errand.requester_id, errand.requester_name, errand.trigger_id, governs=errand.governs
        )
        try:
            async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                receipt = await receipts.intend(conn, intent_of(wish, errand))
                if (recorded := _recorded(receipt, wish)) is not None:
                    return recorded
                crash_point("after_intended")
                match wish.action:
                    case Remember() as action:
                        draft = Draft(action.content, action.kind, action.key, action.scope, action.importance)
                        memory_id = (await remember(conn, author, draft, caps=self._caps)).memory_id
                    case Forget() as action:
                        target = Target(action.memory_id, action.key, action.scope)
                        memory_id = (await forget(conn, author, target, caps=self._caps)).memory_id
                    case _:
                        raise AssertionError("no memory")
                await settle(conn, receipt.receipt_id, "applied", external_id=memory_id, failure=None, attempts=1)
                crash_point("after_effect")
        except MemoryRefused as refusal:
            # Nothing was stored, the receipt neither: the same may be asked for again.
            return ActionReport("refused", refusal.code, refusal.message)
        crash_point("after_receipt")
        return ActionReport("applied", None, "", memory_id, errand.scope.place_id)


# What is on record for an effect by now, if its lease is still the newest.
STANDING_EFFECT_SQL: Final = """
SELECT state, external_id FROM action_receipts WHERE receipt_id = $1 AND lease_no <= $2
"""


async def standing_message(conn: Borrowed, receipt_id: int, lease_no: int) -> MessageId | None:
    """The message under which the effect was settled meanwhile, if it was. Raises TurnLost under an older lease."""
    row = await conn.fetchrow(STANDING_EFFECT_SQL, receipt_id, lease_no)
    if row is None:
        raise TurnLost(receipt_id)
    return MessageId(row["external_id"]) if row["state"] == "applied" and row["external_id"] else None


def _recorded(receipt: Receipt, wish: Wish) -> ActionReport | None:
    """The report of a receipt that is settled; None where it is not."""
    if receipt.state == "applied":
        said = "This was done already, on account of the same message; it was not done again."
        return ActionReport("applied", None, said, receipt.external_id, wish.place_id, from_record=True)
    if receipt.state == "refused":
        return replace(refused_by_discord(receipt.failure), from_record=True)
    return None
