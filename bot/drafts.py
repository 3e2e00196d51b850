"""Drafts: the one message that stands while an answer is made, shows how far it is, and becomes the answer.

A draft is posted once, under a receipt with a nonce of its own. What it shows meanwhile changes nothing and is no part
of the conversation: only what it becomes is journalled as words. `turn_drafts` has a row for each from before it is
posted until it became the answer or was deleted; one whose turn ended otherwise is cleared away here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from bot.bodies import Component, button, row
from bot.crash import crash_point
from bot.drafting import button_id
from bot.errors import DeliveryDelayed
from bot.outgoing import Outcome, Outgoing
from bot.receipts import Intent, Receipt, Settled, intend, settle_as
from bot.speech.forms import AnswerForm
from bot.turns import Turn, nonce
from bot.writes import Writes
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import MessageId, PlaceId, TurnId

log = structlog.get_logger(__name__)

ACTION: Final = "show_draft"
PART: Final = -1
"""Where parts are counted from 0, for its nonce."""

OPEN_WITHIN_S: Final = 5.0
SHOW_WITHIN_S: Final = 5.0
REMOVE_WITHIN_S: Final = 5.0
RESOLVE_WITHIN_S: Final = 15.0
BATCH: Final = 20

# Note that the turn has a draft, before it is posted.
NOTE_DRAFT_SQL: Final = """
INSERT INTO turn_drafts (turn_id, receipt_id) VALUES ($1, $2) ON CONFLICT (turn_id) DO NOTHING
"""

# The draft that a turn has, if it is neither answer nor deleted yet.
OPEN_DRAFT_SQL: Final = """
SELECT r.receipt_id, r.state, r.nonce, r.external_id, r.failure,
       extract(epoch FROM now() - r.intended_at)::float8 AS age_s, false AS fresh
FROM turn_drafts d JOIN action_receipts r USING (receipt_id)
WHERE d.turn_id = $1 AND d.closed_at IS NULL
"""

# Whether the turn had a draft that was posted, as far as anybody knows.
DRAFT_POSTED_SQL: Final = """
SELECT EXISTS (SELECT FROM turn_drafts d JOIN action_receipts r USING (receipt_id)
               WHERE d.turn_id = $1 AND r.state <> 'refused')
"""

# The draft became the answer, or is gone.
CLOSE_DRAFT_SQL: Final = "UPDATE turn_drafts SET closed_at = now() WHERE turn_id = $1 AND closed_at IS NULL"

# Drafts that were left standing though their turn is over, as far as it is known what became of them.
LEFT_DRAFTS_SQL: Final = """
SELECT d.turn_id, t.place_id, r.external_id
FROM turn_drafts d JOIN turns t USING (turn_id) JOIN action_receipts r USING (receipt_id)
WHERE d.closed_at IS NULL AND t.state IN ('answered', 'failed_told', 'cancelled', 'expired')
  AND r.state IN ('applied', 'refused')
ORDER BY d.turn_id LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """The message of a draft that stands."""

    message_id: MessageId
    receipt_id: int


class Drafts:
    """Puts drafts, changes them, and takes them away. `every_s`: how often is looked for those that were left."""

    def __init__(self, pool: Pool, writes: Writes, *, every_s: float) -> None:
        self._pool = pool
        self._writes = writes
        self._every_s = every_s

    async def open(
        self, turn: Turn, words: str, *, ping_by_reply: bool = False, within_s: float = OPEN_WITHIN_S
    ) -> Draft | None:
        """Post the turn's draft, or find the one that it has. None where there is none: Discord refused it, it was
        deleted since, or nobody knows (then it is resolved with the answer, or cleared away)."""
        intent = Intent(
            turn.space_id,
            turn.place_id,
            turn.trigger_id,
            ACTION,
            {},
            turn.turn_id,
            nonce(turn, PART),
            requester_id=turn.author_id,
            lease_no=turn.lease_no,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            receipt = await intend(conn, intent)
            await conn.execute(NOTE_DRAFT_SQL, turn.turn_id, receipt.receipt_id)
        crash_point("after_draft_intended")
        draft, _ = await self._posted(turn, receipt, words, within_s, ping_by_reply=ping_by_reply)
        return draft

    async def left_by(self, turn: Turn) -> Draft | None:
        """The draft that an earlier attempt at the turn left standing. Raises DeliveryDelayed while nobody can tell."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await conn.fetchrow(OPEN_DRAFT_SQL, turn.turn_id)
        if found is None:
            return None
        draft, state = await self._posted(turn, Receipt(**dict(found)), "\u2026", RESOLVE_WITHIN_S)
        if state == "unknown":
            raise DeliveryDelayed("draft_unknown", 1.0)
        return draft

    async def show(self, turn: Turn, draft: Draft, words: str) -> Outcome:
        """Let it say something else for now."""
        return await self._writes.edit(turn.place_id, draft.message_id, words, within_s=SHOW_WITHIN_S)

    async def turned(
        self,
        turn: Turn,
        draft: Draft,
        content: str,
        attached: str | None,
        *,
        form: AnswerForm = "plain",
        within_s: float,
    ) -> Outcome | None:
        """Make it the answer's first part. None where it is gone or may not be changed: then nothing stands there."""
        outcome = await self._writes.edit(
            turn.place_id, draft.message_id, content, components=(), attached=attached, form=form, within_s=within_s
        )
        crash_point("after_turned")
        if outcome.state != "refused":
            return outcome
        log.info("draft.not_turned", turn_id=turn.turn_id, failure=outcome.failure)
        await self.remove(turn, draft)
        return None

    async def remove(self, turn: Turn, draft: Draft) -> None:
        """Take it away; what cannot be deleted now is cleared away later."""
        await self._removed(turn.turn_id, turn.place_id, draft.message_id)

    async def clear(self, turn: Turn) -> None:
        """Take away what stands of a turn that ended without an answer, as far as it is known."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await conn.fetchrow(OPEN_DRAFT_SQL, turn.turn_id)
        if found is not None and found["state"] == "applied" and found["external_id"] is not None:
            await self._removed(turn.turn_id, turn.place_id, MessageId(found["external_id"]))

    async def run(self) -> None:
        """Clear away what was left standing, for ever. Raises what PostgreSQL raises."""
        while True:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                rows = await conn.fetch(LEFT_DRAFTS_SQL, BATCH)
            for left in rows:
                turn_id, message_id = TurnId(left["turn_id"]), left["external_id"]
                if message_id is None:
                    await self._close(turn_id)
                else:
                    await self._removed(turn_id, PlaceId(left["place_id"]), MessageId(message_id))
            await asyncio.sleep(self._every_s)

    async def was_posted(self, turn: Turn) -> bool:
        """Whether the turn ever had one in its place, or may have had."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return bool(await conn.fetchval(DRAFT_POSTED_SQL, turn.turn_id))

    async def _posted(
        self, turn: Turn, receipt: Receipt, words: str, within_s: float, *, ping_by_reply: bool = False
    ) -> tuple[Draft | None, Settled]:
        if receipt.state in ("applied", "refused"):
            return _draft(receipt, receipt.external_id), receipt.state
        outgoing = Outgoing(
            turn.place_id,
            words,
            turn.trigger_id,
            turn.trigger_id,
            components=buttons(turn),
            found_by=button_id(turn.turn_id),
            ping_by_reply=ping_by_reply,
        )

        async def known() -> MessageId | None:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                found = await conn.fetchrow(OPEN_DRAFT_SQL, turn.turn_id)
            return MessageId(found["external_id"]) if found is not None and found["external_id"] is not None else None

        outcome = await self._writes.send(outgoing, receipt, known=known, claimed=_nobody, within_s=within_s)
        crash_point("after_draft_posted")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await settle_as(conn, receipt.receipt_id, outcome)
        return _draft(receipt, outcome.external_id), outcome.state

    async def _removed(self, turn_id: TurnId, place_id: PlaceId, message_id: MessageId) -> None:
        outcome = await self._writes.delete(place_id, message_id, within_s=REMOVE_WITHIN_S)
        if outcome.state != "unknown":
            await self._close(turn_id)

    async def _close(self, turn_id: TurnId) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await close_draft(conn, turn_id)


async def close_draft(conn: Borrowed, turn_id: TurnId) -> None:
    """Record that the turn's draft is the answer, or is gone."""
    await conn.execute(CLOSE_DRAFT_SQL, turn_id)


def buttons(turn: Turn) -> Sequence[Component]:
    """The button by which its asker stops the turn."""
    return [row(button("Stop", button_id(turn.turn_id), "secondary"))]


def _draft(receipt: Receipt, message_id: int | None) -> Draft | None:
    return None if message_id is None else Draft(MessageId(message_id), receipt.receipt_id)


async def _nobody(messages: list[int]) -> frozenset[int]:
    """Whose button names the turn is the turn's draft: no other receipt can account for it."""
    del messages
    return frozenset()
