"""What became of cases that nobody saw the end of: settled from Discord's audit log, or from what stands there (I4).

A case stays `unknown` where Discord gave no answer, and `acting` where whoever had it in hand was cut off for too long.
Nothing is done again. What cannot be known (whether somebody who is gone was kicked, or left) is said to be so.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from discord.http import Route

from bot import cards
from bot.errors import ReadFault, ReadRefused
from bot.metrics import MODERATION
from bot.moderation import cases, purge, wording
from bot.moderation.cases import Case, End
from bot.moderation.endings import report_on
from bot.moderation.execution import BUSY, UNCERTAIN
from bot.moderation.messages import CaseMessages
from bot.moderation.outcomes import stands
from bot.moderation.rules import Situation
from bot.moderation.situation import Situations
from bot.payloads import listed, snowflake
from bot.receipts import Settled, settle
from bot.rest import Reads, parsed
from memory.database import BORROW_S, Db, Pool
from memory.ids import PlaceId, UserId

log = structlog.get_logger(__name__)

BATCH: Final = 20
LOG_PAGE: Final = 100
LOG_PAGES: Final = 5

_LOGGED: Final = frozenset({"ban", "unban", "kick", "timeout", "untimeout", "role_add", "role_remove", "nickname",
                            "slowmode", "channel_create", "channel_edit", "channel_delete"})  # fmt: skip
"""Deeds of one request each, which the audit log has or has not."""

_LATER: Final = "Discord gave no answer at the time; I looked again."
_NOT_DONE: Final = f"⚠️ This was not done. {_LATER}"
_CUT_OFF: Final = "⚠️ This was not done: I was cut off before I could."
_NOBODYS: Final = ("busy", BUSY)
_LOST: Final = "❔ Whether this was done cannot be found out any more: Discord shows nothing that tells."

# Cases without an outcome that nobody has in hand any more: their card shows its end, and no timer is at work on them.
# Those first that were not looked at yet, or longest ago.
OPEN_CASES_SQL: Final = """
SELECT c.space_id, c.case_id FROM mod_cases c LEFT JOIN action_cards k ON k.card_id = c.card_id
WHERE c.state IN ('acting', 'unknown') AND c.code IS DISTINCT FROM 'unknowable'
  AND coalesce(c.settled_at, c.made_at) <= now() - make_interval(secs => $1)
  AND (k.card_id IS NULL OR k.shown IS NOT DISTINCT FROM k.state)
  AND NOT EXISTS (SELECT FROM mod_timers t WHERE t.case_id = c.undoes AND t.closed_at IS NULL)
ORDER BY c.settled_at NULLS FIRST, c.case_id LIMIT $2
"""

# The receipts of a case's requests that are open still.
CASE_RECEIPTS_SQL: Final = """
SELECT receipt_id FROM action_receipts
WHERE space_id = $1 AND trigger_id = $2 AND action = $3 AND state IN ('intended', 'unknown')
  AND coalesce(args ->> 'object_id', $4) = $4
"""


_RECEIPTS: Final[Mapping[str, tuple[Settled, str | None]]] = {
    "done": ("applied", None),
    "refused": ("refused", "not_applied"),
    "unknown": ("unknown", "unreadable:facts"),
}


@dataclass(frozen=True, slots=True)
class _Logged:
    """What the audit log has of a case: whether it can be read, and what it says that was acted on."""

    readable: bool
    target_id: int | None = None


class Settlement:
    """Looks every `every_s` seconds at what as long nobody said anything of. `own_id`: the bot's user."""

    def __init__(
        self, pool: Pool, reads: Reads, situations: Situations, messages: CaseMessages, own_id: int, *, every_s: float
    ) -> None:
        self._pool = pool
        self._reads = reads
        self._situations = situations
        self._messages = messages
        self._own_id = own_id
        self._every_s = every_s

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                rows = await conn.fetch(OPEN_CASES_SQL, self._every_s, BATCH)
                found = [await cases.by_id(conn, row["space_id"], row["case_id"]) for row in rows]
            for case in found:
                if case is not None:
                    await self._settle(case)
            await asyncio.sleep(self._every_s)

    async def _settle(self, case: Case) -> None:
        try:
            end = await self._end(case)
        except ReadFault as fault:
            log.warning("moderation.case_unsettled", case_id=case.case_id, cause=str(fault))
            end = End("unknown", "unknown", case.told or _LOST)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await self._close_receipts(conn, case, end)
            await cases.settle_case(conn, case, end)
            now = await cases.by_id(conn, case.space_id, case.case_id) or case
            if end.code != "unknown":
                await _tell(conn, now)
        log.info("moderation.case_settled", case_id=case.case_id, deed=case.deed, code=end.code)
        if end.code == "unknown":
            return
        MODERATION.labels(case.deed, "done" if end.state == "done" else end.code).inc()
        if now.case_no is not None:
            await self._messages.enter(now, lease_no=0, found_out=True)

    async def _close_receipts(self, conn: Db, case: Case, end: End) -> None:
        if end.code == "unknown":
            return
        to, failure = _RECEIPTS[end.state]
        args = (case.space_id, case.trigger_id, f"mod_{case.deed}", str(case.object_id))
        for row in await conn.fetch(CASE_RECEIPTS_SQL, *args):
            await settle(conn, row["receipt_id"], to, external_id=None, failure=failure, attempts=1)

    async def _end(self, case: Case) -> End:
        """What came of it. Raises ReadFault where Discord cannot say now."""
        order = case.order
        if case.case_no is None:
            return End("refused", "cut_off", _CUT_OFF)
        if order.declared.bot_needs == "":
            # A warning, a note: nothing but our own record, which was not finished.
            return End("refused", "cut_off", _CUT_OFF)
        if order.deed == "purge":
            return await self._purged(case)
        at = await self._situations.look(order, UserId(self._own_id), case.scope)
        logged = await self._logged(case, at) if order.deed in _LOGGED else _Logged(readable=False)
        if logged.target_id is not None:
            made = {"made": str(logged.target_id)} if order.deed == "channel_create" else None
            return self._done(case, "The audit log has it.", made=made)
        if logged.readable:
            return End("refused", "not_applied", _NOT_DONE)
        match stands(case, at):
            case True:
                return self._done(case, "It is so.")
            case False:
                return End("refused", "not_applied", _NOT_DONE)
            case None:
                return End("unknown", wording.UNKNOWABLE, _LOST)

    def _done(self, case: Case, how: str, *, made: Mapping[str, object] | None = None) -> End:
        order = case.order
        held = order.seconds if order.declared.span is not None and order.seconds else None
        number, name = case.case_no or 0, case.subject_name
        told = wording.result(order, case.object_id, number, told_member=None, name=name, extra=f" {_LATER} {how}")
        return End("done", "done", told, made=made, holds_s=held)

    async def _purged(self, case: Case) -> End:
        """Of a purge each message tells for itself."""
        ids = case.order.messages
        left = await purge.standing(self._reads, PlaceId(case.object_id), ids)
        if len(left) == len(ids):
            return End("refused", "not_applied", _NOT_DONE)
        return self._done(case, f"{len(ids) - len(left)} of {len(ids)} messages are gone.")

    async def _logged(self, case: Case, at: Situation) -> _Logged:
        """Whom or what the audit log says that we acted on for this case. Raises ReadFailed."""
        if not at.mine.view_audit_log:
            return _Logged(readable=False)
        after = int(case.trigger_id)
        for _ in range(LOG_PAGES):
            route = Route("GET", "/guilds/{guild_id}/audit-logs", guild_id=case.space_id)
            params = {"user_id": str(self._own_id), "after": str(after), "limit": str(LOG_PAGE)}
            try:
                body = await self._reads.get(route, params=params)
            except ReadRefused:
                return _Logged(readable=False)
            page = parsed(lambda data: listed(cast("dict[str, Any]", data)["audit_log_entries"]), body)
            for entry in page:
                if wording.is_of_case(str(entry.get("reason") or ""), case.case_no or 0):
                    return _Logged(readable=True, target_id=parsed(lambda data: snowflake(data["target_id"]), entry))
            if len(page) < LOG_PAGE:
                return _Logged(readable=True)
            after = max(parsed(lambda data: snowflake(data["id"]), entry) for entry in page)
        return _Logged(readable=False)


async def _tell(conn: Db, case: Case) -> None:
    """Let the case's card say what became of all that was confirmed by it."""
    found = await cases.of_same_card(conn, case)
    if found is None:
        return
    card_id, order, beside = found
    ends = [
        (each.code or each.state, each.told or UNCERTAIN) if (each := beside.get(object_id)) is not None else _NOBODYS
        for object_id in order.objects
    ]
    report = report_on(order, ends)
    await cards.correct(conn, card_id, case.space_id, report.code or report.state, report.message)
