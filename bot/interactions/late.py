"""Answers that come when an interaction takes none any more: its token is good for fifteen minutes.

What everybody was to see is said in the place, to who asked; what only they were to see is written to them directly.
Each is a message like any other, under a receipt of its own (I4).
"""

from hashlib import blake2b
from typing import Final

import structlog

from bot import receipts
from bot.bodies import Attached
from bot.effects import Effects, Errand, nonce_of
from bot.errors import WriteInDoubt, WriteRefused
from bot.interactions.payloads import Interaction
from bot.outgoing import Outgoing
from bot.payloads import clean
from bot.receipts import Intent
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, PlaceId, SpaceId
from memory.scope import Scope

log = structlog.get_logger(__name__)

ACTION: Final = "late_answer"
WITHIN_S: Final = 60.0
MOST_CHARACTERS: Final = 2_000


class LateAnswers:
    """Says them, once each. Raises what PostgreSQL raises."""

    def __init__(self, pool: Pool, writes: Writes, effects: Effects) -> None:
        self._pool = pool
        self._writes = writes
        self._effects = effects

    async def say(self, interaction: Interaction, text: str, *, ephemeral: bool, attached: Attached | None) -> bool:
        """Say it where it may be read. False where Discord does not take it, or does not say so."""
        scope = interaction.scope
        try:
            if ephemeral and not interaction.is_direct:
                direct = await self._writes.open_direct(interaction.user_id)
                scope = Scope(SpaceId(direct), PlaceId(direct))
        except (WriteRefused, WriteInDoubt) as fault:
            log.warning("interaction.late_untold", interaction_id=interaction.interaction_id, cause=str(fault))
            return False
        words = clean(text) if ephemeral else f"<@{interaction.user_id}> {clean(text)}"
        return await self._send(interaction, scope, words[:MOST_CHARACTERS], attached)

    async def _send(self, interaction: Interaction, scope: Scope, words: str, attached: Attached | None) -> bool:
        trigger_id = MessageId(interaction.interaction_id)
        digest = blake2b(words.encode(), digest_size=16).digest()
        errand = Errand(scope, trigger_id, interaction.user_id, interaction.user_name, lease_no=0)
        intent = Intent(
            scope.space_id,
            scope.place_id,
            trigger_id,
            ACTION,
            {"content": words},
            nonce=nonce_of(scope.space_id, trigger_id, ACTION, digest),
            requester_id=interaction.user_id,
        )
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await receipts.intend(conn, intent)
        if receipt.state in ("applied", "refused"):
            return receipt.state == "applied"
        outgoing = Outgoing(scope.place_id, words, trigger_id, ping=interaction.user_id, attached=attached)
        outcome = await self._effects.send(outgoing, errand, receipt, within_s=WITHIN_S)
        await self._effects.record(receipt, outcome, errand)
        log.info("interaction.late", interaction_id=interaction.interaction_id, state=outcome.state)
        return outcome.state == "applied"
