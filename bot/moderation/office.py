"""The office of moderation: puts a card before anything is done, and has done what was confirmed.

A refusal is said before anything reaches Discord. Facts are read when it is asked for, and again when it is pressed.
"""

from dataclasses import dataclass, replace
from typing import Final

import structlog

from bot.asking import Asking, Question
from bot.bodies import Component
from bot.cards import Card
from bot.effects import Errand
from bot.errors import ReadFault
from bot.moderation import cases, purge, wording
from bot.moderation.cases import Opening
from bot.moderation.deeds import DEEDS, TARGETS_MOST
from bot.moderation.endings import report_on
from bot.moderation.execution import Execution, refusal_of
from bot.moderation.orders import Order, load_text
from bot.moderation.requests import undoing
from bot.moderation.rules import Situation
from bot.moderation.situation import Situations
from bot.questions import PREFIX
from bot.rest import Reads
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, TurnId, UserId, snowflake_time
from memory.scope import Scope
from tools.ports import ActionReport

log = structlog.get_logger(__name__)

OFFICE: Final = "moderation"
_CANNOT_SAY: Final = "Discord cannot say right now whether this may be done, so nothing was done. Try again later."


@dataclass(frozen=True, slots=True)
class Petition:
    """Who asks, where, and by what: the interaction's id, or the message's. `reply_to`: the message, where it is one.

    `lease_no` is the turn's that serves a message.
    """

    scope: Scope
    trigger_id: MessageId
    requester_id: UserId
    reply_to: MessageId | None = None
    turn_id: TurnId | None = None
    lease_no: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say to who asked. `asked`: a card stands there now, and says all."""

    text: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class PurgeWish:
    """Which messages to list: the last `count` of the place, of that author."""

    count: int
    author_id: int | None = None


class Office:
    """Stands behind moderation's cards. Raises TurnLost under an older lease."""

    def __init__(self, pool: Pool, reads: Reads, situations: Situations, execution: Execution, asking: Asking) -> None:
        self._pool = pool
        self._reads = reads
        self._situations = situations
        self._execution = execution
        self._asking = asking
        asking.take_charge(OFFICE, self)

    async def ask(self, order: Order, petition: Petition, *, listing: PurgeWish | None = None) -> Answer:
        """Put a card for the order, or say what stands against it."""
        if len(order.users) > TARGETS_MOST:
            return Answer(f"I take at most {TARGETS_MOST} members at once; nothing was done.")
        order = _placed(order, petition.scope)
        try:
            at = await self._situations.look(order, petition.requester_id, petition.scope)
            if listing is not None:
                order = await self._listed(order, listing, petition, at)
            elif order.deed == "purge":
                order = await self._there(order, at)
        except ReadFault as fault:
            log.warning("moderation.facts_unavailable", deed=order.deed, cause=str(fault))
            return Answer(_CANNOT_SAY)
        allowed, refused = refusal_of(order, at)
        if not allowed:
            log.info("moderation.refused", deed=order.deed, codes=[each.code for each in refused.values()])
            return Answer("\n".join(dict.fromkeys(each.message for each in refused.values())))
        words = wording.question(
            order, allowed, refused, at, requester_id=petition.requester_id, minutes=self._asking.minutes
        )
        kept = replace(order, users=tuple(allowed)) if order.users else order
        return await self._put(kept, words, petition)

    async def undo(self, number: int, petition: Petition) -> Answer:
        """Put a card for undoing a case."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            case = await cases.by_number(conn, petition.scope.space_id, number)
        if case is None:
            return Answer(f"There is no case {number} here; nothing was done.")
        if case.state == "undone":
            how = "by hand" if case.undone_by_no is None else f"already (case {case.undone_by_no})"
            return Answer(f"Case {number} was undone {how}; nothing was done.")
        if case.state != "done":
            return Answer(f"Case {number} was not done, so there is nothing to undo.")
        order = undoing(case.order, case.object_id, case.before, case.case_id)
        if order is None:
            final = DEEDS[case.order.deed].final or "There is no undoing."
            return Answer(f"Case {number} cannot be undone. {final}")
        return await self.ask(replace(order, reason=f"Undoes case {number}"), petition)

    async def confirmed(self, card: Card) -> ActionReport:
        """Carry out what was confirmed, on one after the other."""
        order = load_text(card.asked_action)
        ends: list[tuple[str, str]] = []
        for object_id in order.objects:
            opening = Opening(card.scope, card.trigger_id, card.requester_id, order, object_id, card.card_id)
            done = await self._execution.carry_out(opening, lease_no=card.lease_no)
            ends.append((done.code, done.line))
        return report_on(order, ends)

    def buttons(self, card: Card) -> tuple[Component, ...]:
        """Do it, or not."""
        return wording.buttons(PREFIX, card.card_id, load_text(card.asked_action))

    def working(self, card: Card) -> str:
        """What the card says while it is done."""
        return wording.working(card.question)

    def outcome(self, card: Card) -> str:
        """What it says when it is over."""
        return wording.outcome(card.question, card.state, card.code, card.told)

    async def _put(self, order: Order, words: str, petition: Petition) -> Answer:
        errand = Errand(
            petition.scope, petition.trigger_id, petition.requester_id, "", petition.lease_no, petition.turn_id
        )
        question = Question(f"{OFFICE}:{order.deed}", order.digest, order.dump(), words, petition.reply_to)
        report = await self._asking.put(question, errand)
        if report.state == "asked":
            return Answer("Look at the card below: nothing is done before you confirm it there.", asked=True)
        if report.code == "could_not_ask":
            return Answer("I cannot write here, so I could not ask you to confirm it; nothing was done.")
        return Answer("You were asked about exactly this already, and it was not confirmed; nothing was done.")

    async def _listed(self, order: Order, listing: PurgeWish, petition: Petition, at: Situation) -> Order:
        """The purge with the messages that it will delete, as far as requester and bot may see them."""
        if not (at.is_guild and at.theirs.read_message_history and at.mine.read_message_history):
            return order
        found = await purge.find(
            self._reads,
            PlaceId(order.place_id or petition.scope.place_id),
            before=petition.trigger_id,
            count=listing.count,
            now=snowflake_time(petition.trigger_id),
            author_id=listing.author_id,
        )
        return replace(order, messages=found.ids, old=found.old)

    async def _there(self, order: Order, at: Situation) -> Order:
        """The purge without those of its messages that are gone, as far as requester and bot may see them."""
        if not (at.is_guild and at.theirs.read_message_history and at.mine.read_message_history):
            return order
        left = await purge.standing(self._reads, PlaceId(order.place_id or 0), order.messages)
        return replace(order, messages=tuple(each for each in order.messages if each in left))


def _placed(order: Order, scope: Scope) -> Order:
    """The order with its place, where it is about one and names none: here."""
    target = order.declared.target
    if target == "place" and order.place_id is None:
        return replace(order, place_id=scope.place_id)
    return replace(order, place_id=scope.space_id) if target == "guild" else order
