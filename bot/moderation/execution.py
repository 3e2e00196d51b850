"""Carrying out an order on one object: its case, the facts again, the word beforehand, the deed, its end, the log.

    case begun -> facts, judgement -> number -> direct message -> receipt, request, receipt -> case settled -> mod-log

Every step can be cut off and gone on with: what was done is found by its case and its receipts (I4, I14).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import structlog

from bot.crash import crash_point
from bot.errors import ReadFault
from bot.metrics import MODERATION
from bot.moderation import cases, purge, requests, wording
from bot.moderation.cases import Case, End, Opening
from bot.moderation.messages import CaseMessages, taken
from bot.moderation.orders import Order
from bot.moderation.rules import Refused, Situation, judge
from bot.moderation.situation import Situations
from bot.outgoing import Change, Outcome
from bot.receipts import Intent, settle_as
from bot.reporting import refused_by_discord
from bot.rest import Reads
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId, snowflake_time

log = structlog.get_logger(__name__)

WITHIN_S: Final = 10.0
BUSY: Final = (
    "Somebody else has done the same since, or is doing it right now; nothing was done twice. `/mod history` shows it."
)
_UNAVAILABLE: Final = "Discord cannot say right now whether this may be done, so nothing was done. Try again later."
UNCERTAIN: Final = "❔ Discord gave no answer, so it is not certain whether this was done. Look before you repeat it."

# What counts for nothing when a deed that was begun is gone on with: it may have been done.
_BY_OURSELVES: Final = frozenset({"already", "absent", "no_such_place", "nothing"})


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one: a stable code (`done` where it was), one line, and whether another attempt may do better."""

    code: str
    line: str
    passing: bool = False


class Execution:
    """Carries out. Raises TurnLost where a newer lease has it in hand."""

    def __init__(
        self, pool: Pool, writes: Writes, reads: Reads, situations: Situations, messages: CaseMessages
    ) -> None:
        self._pool = pool
        self._writes = writes
        self._reads = reads
        self._situations = situations
        self._messages = messages

    async def carry_out(self, opening: Opening, *, lease_no: int, patient: bool = False) -> Done:
        """Do it to the one that `opening` names. `patient`: what Discord cannot say now is left open for later."""
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            case = await cases.open_case(conn, opening)
        if case is None:
            return Done("busy", BUSY)
        crash_point("after_case")
        if case.state == "acting":
            done = await self._act(case, lease_no, patient=patient)
            if done.passing and patient:
                return done
            MODERATION.labels(case.deed, done.code if done.code in ("done", "unknown") else "refused").inc()
            log.info("moderation.settled", case_id=case.case_id, deed=case.deed, code=done.code)
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                case = await cases.by_id(conn, case.space_id, case.case_id) or case
        if case.case_no is not None and case.state != "refused":
            await self._messages.enter(case, lease_no=lease_no)
        return Done(case.code or case.state, case.told or "")

    async def _act(self, case: Case, lease_no: int, *, patient: bool) -> Done:
        order = case.order
        try:
            at = await self._situations.look(order, case.requester_id, case.scope)
        except ReadFault as fault:
            log.warning("moderation.facts_unavailable", case_id=case.case_id, cause=str(fault))
            if patient:
                return Done("discord_unavailable", _UNAVAILABLE, passing=True)
            if case.case_no is not None:
                return await self._end(case, End("unknown", "unknown", UNCERTAIN))
            return await self._end(case, End("refused", "discord_unavailable", _UNAVAILABLE))
        refused = judge(order, case.object_id, at)
        if refused is not None and not (case.case_no is not None and refused.code in _BY_OURSELVES):
            if patient and refused.code not in _BY_OURSELVES:
                return Done(refused.code, refused.message, passing=True)
            return await self._end(case, End("refused", refused.code, refused.message))
        case = await self._begin(case, order, at)
        crash_point("after_case_number")
        told = await self._messages.notify(case, at.guild_name, lease_no=lease_no) if _tells(order, at, case) else None
        end = await self._do(case, at, lease_no)
        crash_point("after_deed")
        if end.state != "done" and patient:
            return Done(end.code, end.told, passing=True)
        line = end.told
        if end.state == "done":
            number = case.case_no or 0
            line = wording.result(
                order, case.object_id, number, told_member=told, name=case.subject_name, extra=end.told
            )
        return await self._end(case, replace(end, told=line, told_member=told))

    async def _begin(self, case: Case, order: Order, at: Situation) -> Case:
        """Number the case, with names and what undoing needs as they are now."""
        requester = at.requester.display_name if at.requester is not None else ""
        subject = at.name_of(case.object_id) if order.users or at.place is None else at.place.name
        kept = requests.before(order, case.object_id, at)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            number = await cases.begin_case(conn, case, requester=requester, subject=subject, before=kept)
        return replace(case, case_no=number, requester_name=requester, subject_name=subject)

    async def _do(self, case: Case, at: Situation, lease_no: int) -> End:
        order = case.order
        reason = wording.audit_reason(case.requester_name, case.requester_id, case.case_no or 0, order.reason)
        if order.deed == "purge":
            return await self._purge(case, order, reason, lease_no)
        outcome = Outcome("applied", 0)
        for step, change in enumerate(requests.changes_of(order, case.object_id, at, case.space_id, reason=reason)):
            args = {"object_id": str(case.object_id), "step": step}
            outcome = await self._under_receipt(case, change, args, lease_no)
            if outcome.state != "applied":
                break
        match outcome.state:
            case "applied":
                held = order.seconds if order.declared.span is not None and order.seconds else None
                made = {"made": str(outcome.external_id)} if order.deed == "channel_create" else None
                extra = f" <#{outcome.external_id}>" if made is not None else ""
                return End("done", "done", extra, made=made, holds_s=held)
            case "refused":
                report = refused_by_discord(outcome.failure)
                return End("refused", report.code or "refused", f"⚠️ {report.message}")
            case "unknown":
                return End("unknown", "unknown", UNCERTAIN)

    async def _purge(self, case: Case, order: Order, reason: str, lease_no: int) -> End:
        """Delete what was listed and still stands, and count what is gone afterwards."""
        place_id = PlaceId(case.object_id)
        try:
            there = await purge.standing(self._reads, place_id, order.messages)
        except ReadFault:
            return End("refused", "discord_unavailable", _UNAVAILABLE)
        ids = [each for each in order.messages if each in there]
        states = set[str]()
        now = max(datetime.now(UTC), snowflake_time(case.trigger_id))
        for change, batch in purge.changes(place_id, ids, now, reason=reason):
            args = {"messages": [str(each) for each in batch]}
            states.add((await self._under_receipt(case, change, args, lease_no)).state)
        try:
            left = await purge.standing(self._reads, place_id, ids)
        except ReadFault:
            return End("unknown", "unknown", UNCERTAIN)
        gone = len(order.messages) - len(there)
        said = f" {len(ids) - len(left)} of {len(order.messages)} messages"
        said += f"; {gone} were gone before" if gone else ""
        said += f"; {len(left)} could not be deleted" if left else ""
        if not states and gone < len(order.messages):
            return End("refused", "nothing", "There was nothing left to delete; nothing was done.")
        return End("done", "done", said + ".")

    async def _under_receipt(self, case: Case, change: Change, args: Mapping[str, object], lease_no: int) -> Outcome:
        """One request to Discord under its receipt; from the record where it was settled."""
        intent = Intent(
            space_id=case.space_id,
            place_id=case.place_id,
            trigger_id=case.trigger_id,
            action=f"mod_{case.deed}",
            args=args,
            requester_id=case.requester_id,
            lease_no=lease_no,
        )
        receipt = await taken(self._pool, intent)
        if receipt.state in ("applied", "refused"):
            settled = "applied" if receipt.state == "applied" else "refused"
            return Outcome(settled, 0, None, receipt.failure)
        crash_point("after_intended")
        if not change.again and not receipt.fresh:
            outcome = Outcome("unknown", 0, None, "begun_before")
        else:
            outcome = await self._writes.change(change, within_s=WITHIN_S)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await settle_as(conn, receipt.receipt_id, outcome)
        return outcome

    async def _end(self, case: Case, end: End) -> Done:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await cases.settle_case(conn, case, end)
        return Done(end.code, end.told)


def _tells(order: Order, at: Situation, case: Case) -> bool:
    """Whether there is a word for the member beforehand, and a member to hear it."""
    member = at.members.get(case.object_id)
    return order.declared.notice is not None and member is not None and not member.is_bot


def refusal_of(order: Order, at: Situation) -> tuple[list[int], dict[int, Refused]]:
    """Whom it can be done to, and what stands against the others."""
    allowed: list[int] = []
    refused: dict[int, Refused] = {}
    for each in order.objects:
        against = judge(order, each, at)
        if against is None:
            allowed.append(each)
        else:
            refused[each] = against
    return allowed, refused
