"""Asking back: puts cards, heeds their buttons, and brings what was confirmed to its end, whoever dies meanwhile.

A card that is over shows how it ended; where nobody presses it, a look every few seconds closes it. Redis knows whose a
card is, so that others are turned away without asking PostgreSQL; it decides nothing.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import structlog
from redis.asyncio import Redis

from bot import cards, questions, receipts
from bot.authority import Ask
from bot.bodies import Component
from bot.cards import Card, Draft
from bot.crash import crash_point
from bot.effects import Effects, Errand, nonce_of
from bot.errors import TurnLost
from bot.interactions import EXPIRED_BUTTON, Press, Reply
from bot.judgement import Judgement
from bot.metrics import CARDS, REDIS_ERRORS
from bot.outgoing import Outgoing
from bot.receipts import Intent, settle_as
from bot.wishes import Wish, dump_action
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, SpaceId
from memory.places import is_direct
from tools.ports import ActionReport

log = structlog.get_logger(__name__)

SHOW_WITHIN_S: Final = 10.0
MOST_ATTEMPTS: Final = 10
REDIS_S: Final = 0.25

_WAITING: Final = (
    "Nothing was done yet: the member has a card with a button to confirm exactly this. Say so briefly, and do not "
    "call again."
)
_NOT_DONE: Final = "The member was asked about exactly this, and it was not confirmed; nothing was done."


@dataclass(frozen=True, slots=True)
class CardSettings:
    """How long a card is open, in seconds, how long whoever pressed it has it in hand (longer than an action and its
    telling take), and how often is looked for those that are over."""

    lasts_s: float
    lease_s: float
    poll_s: float


@dataclass(frozen=True, slots=True)
class Question:
    """What a card is to ask. `name` and `digest` tell it from every other of the same trigger; `action` is the
    action as JSON holds it, `words` what the card says, `reply_to` the message that it replies to."""

    name: str
    digest: bytes
    action: Mapping[str, object]
    words: str
    reply_to: MessageId | None


class Office(Protocol):
    """What stands behind the cards of one kind of action."""

    async def confirmed(self, card: Card) -> ActionReport:
        """Do what was confirmed, under facts as they are now. Raises TurnLost under an older lease."""
        ...

    def buttons(self, card: Card) -> tuple[Component, ...]:
        """Those of a card that is open; their ids are `PREFIX:card:do` and `PREFIX:card:no`."""
        ...

    def working(self, card: Card) -> str:
        """What the card says while it is done."""
        ...

    def outcome(self, card: Card) -> str:
        """What it says when it is over."""
        ...


class _Wishes:
    """What tools want, decided by the judgement."""

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement

    async def confirmed(self, card: Card) -> ActionReport:
        errand = Errand(
            scope=card.scope,
            trigger_id=card.trigger_id,
            requester_id=card.requester_id,
            requester_name="",
            lease_no=card.lease_no,
            turn_id=card.turn_id,
            card_id=card.card_id,
        )
        report = await self._judgement.attempt(card.wish, errand, confirmed=True)
        return ActionReport("refused", "refused", "Not done.") if isinstance(report, Ask) else report

    def buttons(self, card: Card) -> tuple[Component, ...]:
        return questions.buttons(card.card_id)

    def working(self, card: Card) -> str:
        return questions.working(card)

    def outcome(self, card: Card) -> str:
        return questions.outcome(card)


class Asking:
    """The cards of one process. `prefix` keeps one application's keys in Redis apart from another's."""

    def __init__(
        self,
        pool: Pool,
        redis: Redis | None,
        prefix: str,
        writes: Writes,
        effects: Effects,
        judgement: Judgement,
        settings: CardSettings,
    ) -> None:
        self._pool = pool
        self._redis = redis
        self._prefix = prefix
        self._writes = writes
        self._effects = effects
        self._settings = settings
        self._offices: dict[str, Office] = {"": _Wishes(judgement)}

    async def standing(self, wish: Wish, errand: Errand) -> ActionReport | None:
        """What to say of a wish that was asked back before; None where it was not, or its card is not out yet."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            card = await cards.of_wish(conn, errand.space_id, errand.trigger_id, wish)
        if card is None or (card.state == "open" and card.message_id is None):
            return None
        return _standing(card)

    async def ask(self, wish: Wish, errand: Errand) -> ActionReport:
        """Put a card for the wish, or find the one that it has."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            guild_id = None if await is_direct(conn, errand.scope) else errand.space_id
        asked = dump_action(wish.action)
        question = self._question(wish, errand, guild_id)
        return await self.put(Question(wish.name, wish.digest, asked, question, errand.trigger_id), errand)

    def take_charge(self, name: str, office: Office) -> None:
        """Let `office` stand behind the cards whose action's name begins with `name:`."""
        assert name not in self._offices  # noqa: S101 - two offices for one card
        self._offices[name] = office

    async def put(self, asked: Question, errand: Errand) -> ActionReport:
        """Put a card for an action, or find the one that it has. Raises TurnLost under an older lease."""
        nonce = nonce_of(errand.space_id, errand.trigger_id, f"ask:{asked.name}", asked.digest)
        intent = Intent(
            space_id=errand.space_id,
            place_id=errand.scope.place_id,
            trigger_id=errand.trigger_id,
            action="ask",
            args={"action": asked.name, "digest": asked.digest.hex()},
            turn_id=errand.turn_id,
            nonce=nonce,
            requester_id=errand.requester_id,
            lease_no=errand.lease_no,
        )
        draft = Draft(
            errand.scope,
            errand.trigger_id,
            errand.turn_id,
            errand.requester_id,
            asked.name,
            asked.digest,
            asked.action,
            asked.words,
            nonce,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            card = await cards.put(conn, draft, lasts_s=self._settings.lasts_s)
            receipt = await receipts.intend(conn, intent)
            begun = not receipt.fresh and receipt.state in ("intended", "unknown")
            if begun and not await receipts.take(conn, receipt.receipt_id, errand.lease_no):
                raise TurnLost(receipt.receipt_id)
        crash_point("after_card")
        if card.state != "open" or receipt.state in ("applied", "refused"):
            return _standing(card)
        return await self._post(card, errand, receipt, asked.reply_to)

    @property
    def minutes(self) -> int:
        """How long a card is open, in whole minutes."""
        return max(1, round(self._settings.lasts_s / 60))

    def _question(self, wish: Wish, errand: Errand, guild_id: SpaceId | None) -> str:
        here = errand.scope.place_id
        return questions.question(wish, errand.requester_id, here, guild_id, minutes=self.minutes)

    async def _post(
        self, card: Card, errand: Errand, receipt: receipts.Receipt, reply_to: MessageId | None
    ) -> ActionReport:
        buttons = self._office(card).buttons(card)
        outgoing = Outgoing(card.place_id, card.question, card.trigger_id, reply_to, components=buttons)
        await self._bind(card)
        outcome = await self._effects.send(outgoing, errand, receipt)
        await self._effects.record(receipt, outcome, errand, card_id=card.card_id)
        CARDS.labels("asked" if outcome.state == "applied" else outcome.state).inc()
        log.info("card.put", card_id=card.card_id, action=card.name, state=outcome.state)
        match outcome.state:
            case "applied":
                return ActionReport("asked", "confirmation_needed", _WAITING)
            case "refused":
                said = "The member could not be asked here, since Discord refused the question; nothing was done."
                return ActionReport("refused", "could_not_ask", said)
            case "unknown":
                said = "It is not certain whether the member saw the question; nothing was done so far."
                return ActionReport("asked", "confirmation_needed", said)

    async def pressed(self, press: Press, reply: Reply) -> None:
        """A button of a card was pressed: one of them counts, and only the requester's."""
        card_id, chosen = _parsed(press.custom_id)
        if card_id is None:
            await reply.say(EXPIRED_BUTTON)
            return
        owner = await self._owner(card_id)
        if owner is not None and owner != press.user_id:
            await reply.say(f"Only <@{owner}> can press this, since it was their message.")
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            card = await cards.press(
                conn,
                card_id,
                by=press.user_id,
                scope=press.scope,
                message_id=press.message_id,
                state="used" if chosen == "do" else "cancelled",
                lease_s=self._settings.lease_s,
            )
            standing = None if card is not None else await cards.get(conn, card_id, press.scope.space_id)
        if card is None:
            await reply.say(_why_not(standing, press))
            return
        crash_point("after_press")
        CARDS.labels(card.code or card.state).inc()
        if card.state == "used":
            await reply.update(self._office(card).working(card))
            card = await self._finish(card)
        else:
            await reply.defer_update()
        if card is not None:
            await self._show(card)

    async def run(self) -> None:
        """Close and show what is over, and go on with what was confirmed and left, for ever."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                due = await cards.claim(conn, lease_s=self._settings.lease_s)
            for card in due:
                await self._settle(card)
            if len(due) < cards.BATCH:
                await asyncio.sleep(self._settings.poll_s)

    async def _settle(self, card: Card) -> None:
        """Bring one card that was found closed to where it shows its end."""
        finished: Card | None = card
        if card.state == "used" and card.code is None:
            log.info("card.resumed", card_id=card.card_id, attempt=card.attempts)
            finished = await self._finish(card)
        if finished is not None:
            await self._show(finished)

    async def _finish(self, card: Card) -> Card | None:
        """Do what was confirmed, under facts as they are now; None where somebody else has the card by now."""
        report = await self._confirmed(card)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            code = "from_record" if report.from_record and report.state == "applied" else report.code or report.state
            if not await cards.finish(conn, card, code, report.message):
                return None
            finished = await cards.get(conn, card.card_id, card.space_id)
        log.info("card.used", card_id=card.card_id, action=card.name, state=report.state, code=report.code)
        return finished

    async def _confirmed(self, card: Card) -> ActionReport:
        if card.is_old:
            return ActionReport("refused", "too_late", "")
        try:
            return await self._office(card).confirmed(card)
        except TurnLost:
            return ActionReport("unknown", "unknown", "It is being done already; whether it was is not certain yet.")

    def _office(self, card: Card) -> Office:
        """Who stands behind the card. A card of an office that this version does not have raises KeyError."""
        return self._offices[card.office]

    async def _show(self, card: Card) -> None:
        """Let the card's message say how it ended, under a receipt of its own."""
        if card.message_id is None or card.attempts > MOST_ATTEMPTS:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await cards.shown(conn, card)
            return
        words = self._office(card).outcome(card)
        about = {"card_id": card.card_id, "message_id": str(card.message_id), "state": card.state}
        intent = Intent(
            space_id=card.space_id,
            place_id=card.place_id,
            trigger_id=card.trigger_id,
            action="show_card",
            # What is found out later is another effect than what was shown before.
            args={**about, "content": words},
            requester_id=card.requester_id,
            lease_no=card.lease_no,
            card_id=card.card_id,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await receipts.intend(conn, intent)
        outcome = await self._writes.edit(card.place_id, card.message_id, words, components=(), within_s=SHOW_WITHIN_S)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await settle_as(conn, receipt.receipt_id, outcome)
            if outcome.state != "unknown":
                await cards.shown(conn, card)
        crash_point("after_card_shown")

    async def _bind(self, card: Card) -> None:
        """Let Redis know whose the card is."""
        if self._redis is None:
            return
        try:
            async with asyncio.timeout(REDIS_S):
                key = f"{self._prefix}card:{card.card_id}"
                await self._redis.set(key, str(card.requester_id), ex=int(self._settings.lasts_s) + 60)
        except Exception as error:  # whatever is wrong with Redis, PostgreSQL knows
            _redis_away(error)

    async def _owner(self, card_id: int) -> int | None:
        """Whose the card is, as far as Redis knows."""
        if self._redis is None:
            return None
        try:
            async with asyncio.timeout(REDIS_S):
                owner = await self._redis.get(f"{self._prefix}card:{card_id}")
                return int(owner) if owner is not None else None
        except Exception as error:
            _redis_away(error)
            return None


def _redis_away(error: Exception) -> None:
    REDIS_ERRORS.inc()
    log.warning("redis.away", error=f"{type(error).__name__}: {error}")


def _parsed(custom_id: str) -> tuple[int | None, Literal["do", "no"]]:
    """The card and the choice in a button's id."""
    parts = custom_id.split(":")
    if len(parts) == 3 and parts[1].isascii() and parts[1].isdecimal() and len(parts[1]) < 19:
        if parts[2] == "do":
            return int(parts[1]), "do"
        if parts[2] == "no":
            return int(parts[1]), "no"
    return None, "no"


def _standing(card: Card) -> ActionReport:
    """What the model is told of a wish that has a card."""
    if card.state == "open":
        return ActionReport("asked", "confirmation_needed", _WAITING)
    if card.state == "used":
        said = "The member confirmed this by a button, and it is being done; do not call again."
        return ActionReport("asked", "confirmed", said)
    return ActionReport("refused", "not_confirmed", _NOT_DONE)


def _why_not(card: Card | None, press: Press) -> str:
    """One clear sentence for a press that did not count."""
    if card is None or (card.space_id, card.place_id) != (press.scope.space_id, press.scope.place_id):
        return "I do not know this card any more, so nothing was done."
    if card.requester_id != press.user_id:
        return f"Only <@{card.requester_id}> can press this, since it was their message."
    match card.state:
        case "used":
            return "You pressed this already; it is done only once."
        case "expired":
            return "This card has expired, so nothing was done. Ask me again if you still want it."
        case _:
            return "This card is closed, so nothing was done. Ask me again if you still want it."
