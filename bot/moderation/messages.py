"""Messages that go with a case, each under its own receipt: to the member beforehand, and to the mod-log."""

from collections.abc import Mapping
from typing import Final, Protocol

import structlog

from bot import receipts
from bot.effects import Effects, Errand, nonce_of
from bot.errors import ReadFault, TurnLost, WriteFault
from bot.facts import Facts
from bot.moderation import wording
from bot.moderation.cases import Case
from bot.outgoing import Outcome, Outgoing
from bot.receipts import Intent
from bot.rest import Reads
from bot.wishes import digest_of
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId, SpaceId, UserId
from memory.scope import Scope

log = structlog.get_logger(__name__)

NOTICE: Final = "mod_notice"
LOG: Final = "mod_log"


class LogPlaces(Protocol):
    async def mod_log(self, space_id: SpaceId) -> PlaceId | None:
        """The channel in which a guild wants its cases listed."""
        ...


class CaseMessages:
    """Sends them. `own_id`: the bot's user."""

    def __init__(
        self, pool: Pool, writes: Writes, effects: Effects, reads: Reads, places: LogPlaces, own_id: int
    ) -> None:
        self._pool = pool
        self._writes = writes
        self._effects = effects
        self._reads = reads
        self._places = places
        self._own_id = own_id

    async def notify(self, case: Case, guild_name: str, *, lease_no: int) -> bool:
        """Tell the member what is about to happen; whether they could be told. Raises TurnLost."""
        order = case.order
        try:
            direct = await self._writes.open_direct(UserId(case.object_id))
        except WriteFault as fault:
            log.info("moderation.no_direct_message", case_id=case.case_id, cause=str(fault))
            return False
        outgoing = Outgoing(direct, wording.notice(order, guild_name), case.trigger_id)
        scope = Scope(SpaceId(direct), direct)
        outcome = await self._send(case, NOTICE, {"user_id": str(case.object_id)}, outgoing, scope, lease_no)
        return outcome is None or outcome.state == "applied"

    async def enter(self, case: Case, *, lease_no: int, found_out: bool = False) -> None:
        """List the case in the guild's mod-log, where it has one; once more where it was `found_out` later. Raises
        TurnLost."""
        place_id = await self._places.mod_log(case.space_id)
        if place_id is None or case.case_no is None:
            return
        facts = Facts(self._reads, case.space_id, self._own_id)
        try:
            place = await facts.place(place_id)
        except ReadFault as fault:
            log.warning("moderation.log_unknown", space_id=case.space_id, cause=str(fault))
            return
        if place is None:
            log.warning("moderation.no_log", space_id=case.space_id, place_id=place_id)
            return
        told = case.told or ""
        entry = wording.log_entry(case, case.case_no, name=case.subject_name, requester=case.requester_name, told=told)
        outgoing = Outgoing(place_id, entry, case.trigger_id)
        scope = Scope(case.space_id, place_id)
        args: dict[str, object] = {"case_id": case.case_id}
        if found_out:
            args["found_out"] = True
        await self._send(case, LOG, args, outgoing, scope, lease_no)

    async def _send(
        self,
        case: Case,
        action: str,
        args: Mapping[str, object],
        outgoing: Outgoing,
        scope: Scope,
        lease_no: int,
    ) -> Outcome | None:
        """Send it once; None where it went out before."""
        intent = Intent(
            space_id=case.space_id,
            place_id=outgoing.place_id,
            trigger_id=case.trigger_id,
            action=action,
            args={**args, "deed": case.deed},
            kept={**args, "deed": case.deed, "content": outgoing.content},
            nonce=nonce_of(case.space_id, case.trigger_id, action, digest_of({**args, "deed": case.deed})),
            requester_id=case.requester_id,
            lease_no=lease_no,
        )
        receipt = await taken(self._pool, intent)
        if receipt.state == "applied":
            return None
        if receipt.state == "refused":
            return Outcome("refused", 0, None, receipt.failure)
        errand = Errand(scope, case.trigger_id, case.requester_id, case.requester_name, lease_no)
        outcome = await self._effects.send(outgoing, errand, receipt)
        await self._effects.record(receipt, outcome, errand)
        log.info("moderation.message", case_id=case.case_id, action=action, state=outcome.state)
        return outcome


async def taken(pool: Pool, intent: Intent) -> receipts.Receipt:
    """The receipt of an effect, in hand under this lease. Raises TurnLost where a newer one has it (I14)."""
    async with pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
        receipt = await receipts.intend(conn, intent)
        begun = not receipt.fresh and receipt.state in ("intended", "unknown")
        if begun and not await receipts.take(conn, receipt.receipt_id, intent.lease_no):
            raise TurnLost(receipt.receipt_id)
    return receipt
