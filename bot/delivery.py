"""Delivery: the parts of a composed answer go out in order, each once, and are journalled as ours (I3, I4)."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

import structlog

from bot import receipts, turns
from bot.addressing import Identity
from bot.crash import crash_point
from bot.drafts import Draft, Drafts, close_draft
from bot.errors import DeliveryDelayed, EventDropped, TurnLost
from bot.events import Dispatch, read
from bot.guild_settings import GuildSettings, GuildSettingsDoor
from bot.metrics import RECEIPTS
from bot.outgoing import Outcome, Outgoing
from bot.own_messages import own_dispatch
from bot.receipts import Intent, claimed_messages, close_unsent, settle_as
from bot.turns import Part, Turn
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.episodes import keep_episode
from memory.ids import MessageId
from memory.journal import write_group
from memory.places import is_direct

log = structlog.get_logger(__name__)

GIVE_UP_S: Final = 1800.0
"""How long a part is tried before its turn ends as undeliverable."""

MOST_ATTEMPTS: Final = 6
"""How often an answer whose time is up is still taken up again."""

STINT_S: Final = 20.0
"""How long a part is tried in one go: a place that takes no messages must not keep a worker from other places."""

JOURNAL_S: Final = 5.0
"""How long what was said waits for the journal, before its turn is given back to be recorded later."""

REACT_WITHIN_S: Final = 10.0
"""Less than a tool may take, so that what is not known is recorded, and not cut off."""


# Remember whose answer a message of ours is.
LINK_ANSWER_SQL: Final = """
UPDATE chat_messages SET turn_id = $3 WHERE space_id = $1 AND message_id = $2
"""

# Record that a part is out, whose answer the message is, and what becomes of its turn ($6); nothing comes back where
# that is no longer ours. The commit need not wait for the disk: lost with a crash of the server, the part is found by
# its nonce or among our messages, as after a crash of ours between its sending and this record.
RECORD_PART_SQL: Final = """
WITH settled AS (
    UPDATE action_receipts SET state = 'applied', external_id = coalesce($2, external_id), failure = $8,
                               attempts = attempts + $3, settled_at = now()
    WHERE receipt_id = $1 AND state IN ('intended', 'unknown') AND set_config('synchronous_commit', 'off', true) = 'off'
), linked AS (
    UPDATE chat_messages SET turn_id = $4 WHERE space_id = $7 AND message_id = $2
)
UPDATE turns SET state = $6, ended_at = CASE WHEN $6 <> 'delivering' THEN now() END,
                 lease_until = CASE WHEN $6 = 'delivering' THEN lease_until END
WHERE turn_id = $4 AND lease_no = $5 AND state IN ('composed', 'delivering')
RETURNING extract(epoch FROM now() - queued_at)::float8
"""

# What is on record for a part by now, if its turn is still ours.
STANDING_SQL: Final = """
SELECT r.state, r.external_id FROM action_receipts r JOIN turns t ON t.turn_id = r.turn_id
WHERE r.receipt_id = $1 AND t.lease_no = $2 AND t.state IN ('composed', 'delivering')
"""


class Delivery:
    """Brings what turns came to into Discord. Raises TurnLost where a turn is no longer ours."""

    def __init__(
        self,
        pool: Pool,
        writes: Writes,
        me: Identity,
        drafts: Drafts,
        settings: GuildSettingsDoor,
        accept: Callable[[Dispatch], Awaitable[object] | None] | None = None,
    ) -> None:
        """`accept` is the door of the journal's writer, in a process that has one."""
        self._drafts = drafts
        self._settings = settings
        self._pool = pool
        self._accept = accept
        self._writes = writes
        self._me = me

    async def deliver(self, turn: Turn, parts: Sequence[Part], draft: Draft | None = None) -> None:
        """Send the parts that are not out yet, and end the turn. Where a draft stands, it becomes the first part.

        The turn ends as answered or failed_told, or, where Discord refuses (the place is gone, a permission is missing)
        or cannot be reached for half an hour, as cancelled with the reason. Raises DeliveryDelayed where Discord takes
        nothing for now.
        """
        settings = await self._settings.of(turn.space_id, turn.place_id)
        for number, part in enumerate(parts):
            if part.receipt.state == "applied":
                continue
            if part.receipt.state == "refused":
                await self._end(turn, "cancelled", f"undeliverable:{part.receipt.failure}")
                return
            if turn.attempts > MOST_ATTEMPTS and part.receipt.age_s > 2 * GIVE_UP_S:
                # It fails each time, and not for Discord's sake: a place must not wait for it for ever.
                turned, outcome = None, Outcome("unknown", 0, None, "broken")
            else:
                becomes = draft if part.part == 0 else None
                turned = await self._turn(turn, part, becomes, settings) if becomes is not None else None
                outcome = turned or await self._send(turn, part, settings)
            ended = await self._record(turn, part, outcome, parts[number + 1 :], settings, was_draft=turned is not None)
            crash_point("after_settled")
            if ended:
                return
        # Everything was out already: the process died between the last part's record and the turn's end.
        await self._end(turn, "failed_told" if turn.outcome == "error" else "answered", None)

    async def react(self, turn: Turn, emoji: str) -> Literal["applied", "refused", "unknown"]:
        """React to the trigger, once (I4)."""
        outcome = await self.react_receipted(turn, emoji)
        return outcome.state

    async def react_receipted(self, turn: Turn, emoji: str) -> Outcome:
        """React to the trigger under a receipt; an effect that is on record is answered from the record."""
        intent = Intent(
            turn.space_id,
            turn.place_id,
            turn.trigger_id,
            "react",
            {"message_id": str(turn.trigger_id), "emoji": emoji},
            turn.turn_id,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await receipts.intend(conn, intent)
        if receipt.state in ("applied", "refused"):
            state = "applied" if receipt.state == "applied" else "refused"
            return Outcome(state, 0, turn.trigger_id, receipt.failure)
        crash_point("after_intended")
        outcome = await self._writes.react(turn.place_id, turn.trigger_id, emoji, within_s=REACT_WITHIN_S)
        crash_point("after_effect")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await settle_as(conn, receipt.receipt_id, outcome)
        crash_point("after_receipt")
        return outcome

    async def _send(self, turn: Turn, part: Part, settings: GuildSettings) -> Outcome:
        """Try for a while. Raises TurnLost, and DeliveryDelayed where there is time left to try again later."""
        receipt = part.receipt

        async def claimed(messages: list[int]) -> frozenset[int]:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                return await claimed_messages(conn, turn.space_id, turn.place_id, messages, but=receipt.receipt_id)

        async def known() -> MessageId | None:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                row = await conn.fetchrow(STANDING_SQL, receipt.receipt_id, turn.lease_no)
            if row is None:
                raise TurnLost(turn.turn_id)
            return MessageId(row["external_id"]) if row["state"] == "applied" and row["external_id"] else None

        outgoing = Outgoing(
            place_id=turn.place_id,
            content=part.content,
            since=turn.trigger_id,
            reply_to=turn.trigger_id if part.part == 0 else None,
            ping=turn.author_id,
            attached=part.attached,
            form=settings.answer_form,
            # Once: who was pinged by a draft that did not last is not pinged again.
            ping_by_reply=settings.reply_ping and part.part == 0 and not await self._drafts.was_posted(turn),
        )
        began = time.monotonic()
        outcome = await self._writes.send(outgoing, receipt, known=known, claimed=claimed, within_s=STINT_S)
        after_s = outcome.retry_after_s
        if after_s is not None and receipt.age_s + time.monotonic() - began + after_s < GIVE_UP_S:
            raise DeliveryDelayed(outcome.failure or "unknown", after_s)
        return outcome

    async def _turn(self, turn: Turn, part: Part, draft: Draft, settings: GuildSettings) -> Outcome | None:
        """Make the draft the part. None where it cannot be: then it is gone, and the part is sent like any other."""
        began = time.monotonic()
        outcome = await self._drafts.turned(
            turn, draft, part.content, part.attached, form=settings.answer_form, within_s=STINT_S
        )
        after_s = outcome.retry_after_s if outcome is not None else None
        if after_s is not None and part.receipt.age_s + time.monotonic() - began + after_s < GIVE_UP_S:
            raise DeliveryDelayed(outcome.failure if outcome is not None and outcome.failure else "unknown", after_s)
        return outcome

    async def _record(
        self,
        turn: Turn,
        part: Part,
        outcome: Outcome,
        rest: Sequence[Part],
        settings: GuildSettings,
        *,
        was_draft: bool,
    ) -> bool:
        """Settle the part's receipt, journal the message, and move the turn on; whether the turn has ended."""
        if outcome.state == "applied":
            return await self._out(turn, part, outcome, settings, is_last=not rest, was_draft=was_draft)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await settle_as(conn, part.receipt.receipt_id, outcome)
            await close_unsent(conn, [each.receipt.receipt_id for each in rest])
            await turns.end(conn, turn, "cancelled", reason=f"undeliverable:{outcome.failure}")
        log.warning("turn.undeliverable", turn_id=turn.turn_id, place_id=turn.place_id, failure=outcome.failure)
        return True

    async def _out(
        self, turn: Turn, part: Part, outcome: Outcome, settings: GuildSettings, *, is_last: bool, was_draft: bool
    ) -> bool:
        """A part is out. Raises TurnLost, with the part on record, where the turn is no longer ours."""
        # The message before its receipt: ingress takes them in this order when the gateway echoes the message, and the
        # other way round the two would deadlock. A crash in between leaves what an echo leaves.
        if outcome.message is not None:
            await self._journal(turn, outcome.message, was_draft=was_draft)
        ended = "failed_told" if turn.outcome == "error" else "answered"
        state = ended if is_last else "delivering"
        remembers = is_last and settings.memory
        async with self._pool.acquire(timeout=BORROW_S) as conn, contextlib.AsyncExitStack() as stack:
            if was_draft or remembers:
                await stack.enter_async_context(conn.transaction())
            seconds = await conn.fetchval(
                RECORD_PART_SQL,
                part.receipt.receipt_id,
                outcome.external_id,
                outcome.attempts,
                turn.turn_id,
                turn.lease_no,
                state,
                turn.space_id,
                outcome.failure,
            )
            if was_draft:
                await close_draft(conn, turn.turn_id)
            if seconds is not None and remembers:
                await keep_episode(conn, turn.turn_id)
        RECEIPTS.labels("send_part", "applied").inc()
        if seconds is None:
            raise TurnLost(turn.turn_id)
        if is_last:
            turns.note_end(ended, seconds)
        return is_last

    async def _journal(self, turn: Turn, message: Mapping[str, Any], *, was_draft: bool) -> None:
        """Journal what we said, by the writer that takes everything in; by ourselves where that one has no room."""
        # Its receipt is settled by what the response said, and needs no nonce.
        payload = {name: value for name, value in message.items() if name != "nonce"}
        guild_id = None if await is_direct(self._pool, turn.scope) else turn.space_id
        # A draft's making is journalled already, without words: they come with the change that made it the answer.
        kind = "MESSAGE_UPDATE" if was_draft else "MESSAGE_CREATE"
        dispatch = own_dispatch(payload, guild_id, kind)
        acknowledged = self._accept(dispatch) if self._accept is not None else None
        if acknowledged is not None:
            with contextlib.suppress(EventDropped):
                async with asyncio.timeout(JOURNAL_S):
                    await asyncio.shield(acknowledged)
                return
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await write_group(conn, read(dispatch, self._me))

    async def _end(
        self, turn: Turn, state: Literal["answered", "failed_told", "cancelled", "expired"], reason: str | None
    ) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await turns.end(conn, turn, state, reason=reason)
            await keep_episode(conn, turn.turn_id)
