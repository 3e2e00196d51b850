"""Receipts: one row for each external effect, committed as `intended` before it, settled after it (I4).

intended -> applied | refused | unknown        unknown -> applied | refused
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

import orjson

from bot.metrics import RECEIPTS
from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, TurnId

State = Literal["intended", "applied", "refused", "unknown"]
Settled = Literal["applied", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class Intent:
    """An external effect that is about to be made: what makes it the same effect the next time."""

    space_id: SpaceId
    place_id: PlaceId
    trigger_id: MessageId
    action: str
    args: Mapping[str, object]
    turn_id: TurnId | None = None
    nonce: str | None = None

    @property
    def digest(self) -> bytes:
        """The canonical argument digest: sorted keys, no white space."""
        return blake2b(orjson.dumps(self.args, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is on record for an effect. `age_s`: seconds since it was intended, by the database's clock."""

    receipt_id: int
    state: State
    nonce: str | None
    external_id: int | None
    failure: str | None
    age_s: float
    fresh: bool


# Find or make the receipt of an effect: whoever comes second gets the first one's.
INTEND_SQL: Final = """
WITH made AS (
    INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, turn_id, nonce)
    VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8)
    ON CONFLICT (space_id, trigger_id, action, args_digest) DO NOTHING
    RETURNING receipt_id, state, nonce, external_id, failure, intended_at, true AS fresh
)
SELECT receipt_id, state, nonce, external_id, failure,
       extract(epoch FROM now() - intended_at)::float8 AS age_s, fresh
FROM (
    SELECT * FROM made
    UNION ALL
    SELECT receipt_id, state, nonce, external_id, failure, intended_at, false
    FROM action_receipts WHERE space_id = $1 AND trigger_id = $3 AND action = $4 AND args_digest = $5
      AND NOT EXISTS (SELECT 1 FROM made)
) AS found
"""


async def intend(conn: Db, intent: Intent) -> Receipt:
    """Record the intent, or give the receipt that the same effect already has. Committed by the caller's transaction,
    or at once outside of one."""
    arguments = (
        intent.space_id,
        intent.place_id,
        intent.trigger_id,
        intent.action,
        intent.digest,
        orjson.dumps(intent.args, option=orjson.OPT_SORT_KEYS).decode(),
        intent.turn_id,
        intent.nonce,
    )
    row = await conn.fetchrow(INTEND_SQL, *arguments)
    if row is None:
        # Another process committed it between our snapshot and our insert; now it can be seen.
        row = await conn.fetchrow(INTEND_SQL, *arguments)
    if row is None:
        raise LookupError(f"receipt for {intent.action} vanished")
    return Receipt(**dict(row))


# Record what became of an effect. What is applied or refused stays so.
SETTLE_SQL: Final = """
UPDATE action_receipts
SET state = $2, external_id = coalesce($3, external_id), failure = $4, attempts = attempts + $5, settled_at = now()
WHERE receipt_id = $1 AND state IN ('intended', 'unknown')
RETURNING action
"""


async def settle(
    conn: Db, receipt_id: int, state: Settled, *, external_id: int | None, failure: str | None, attempts: int
) -> None:
    """Record the outcome; does nothing if the receipt is settled already."""
    action = await conn.fetchval(SETTLE_SQL, receipt_id, state, external_id, failure, attempts)
    if action is not None:
        RECEIPTS.labels(action, state).inc()


# Which of these messages are already on record as the effect of some other receipt.
CLAIMED_MESSAGES_SQL: Final = """
SELECT external_id FROM action_receipts
WHERE space_id = $1 AND place_id = $2 AND state = 'applied' AND external_id = ANY($3::bigint[]) AND receipt_id <> $4
"""


async def claimed_messages(
    conn: Db, space_id: SpaceId, place_id: PlaceId, messages: Sequence[int], *, but: int
) -> frozenset[int]:
    """Those of `messages` that some receipt already accounts for, other than the receipt `but`."""
    rows = await conn.fetch(CLAIMED_MESSAGES_SQL, space_id, place_id, list(messages), but)
    return frozenset(row["external_id"] for row in rows)


# An answer that breaks off: the parts behind the one that failed were never sent, and never will be.
CLOSE_UNSENT_SQL: Final = """
UPDATE action_receipts SET state = 'refused', failure = 'not_sent', settled_at = now()
WHERE receipt_id = ANY($1::bigint[]) AND state = 'intended'
"""


async def close_unsent(conn: Db, receipt_ids: Sequence[int]) -> None:
    """Record that these effects were not even tried."""
    if receipt_ids:
        await conn.execute(CLOSE_UNSENT_SQL, list(receipt_ids))
