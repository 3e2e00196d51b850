"""Receipts: one row for each external effect, committed as `intended` before it, settled after it (I4).

intended -> applied | refused | unknown        unknown -> applied | refused

A receipt is taken in hand under a lease: the turn's, or the card's that confirmed it. Who holds an older one is turned
away, so that no two workers do the same at once (I14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal, Protocol

import orjson

from bot.metrics import RECEIPTS
from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId

State = Literal["intended", "applied", "refused", "unknown"]
Settled = Literal["applied", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class Intent:
    """An external effect that is about to be made: what makes it the same effect the next time.

    `kept` is what the receipt shows of `args`, where that is not all. `requester_id`: for whom it is made.
    """

    space_id: SpaceId
    place_id: PlaceId
    trigger_id: MessageId
    action: str
    args: Mapping[str, object]
    turn_id: TurnId | None = None
    nonce: str | None = None
    kept: Mapping[str, object] | None = None
    requester_id: UserId | None = None
    lease_no: int = 0
    card_id: int | None = None

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
    INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, turn_id, nonce,
                                 requester_id, lease_no, card_id)
    VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7, $8, $9, $10, $11)
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
        orjson.dumps(intent.args if intent.kept is None else intent.kept, option=orjson.OPT_SORT_KEYS).decode(),
        intent.turn_id,
        intent.nonce,
        intent.requester_id,
        intent.lease_no,
        intent.card_id,
    )
    row = await conn.fetchrow(INTEND_SQL, *arguments)
    if row is None:
        # Another process committed it between our snapshot and our insert; now it can be seen.
        row = await conn.fetchrow(INTEND_SQL, *arguments)
    if row is None:
        raise LookupError(f"receipt for {intent.action} vanished")
    return Receipt(**dict(row))


# What is on record for an effect, if anything; where that is its end, it is served once more from there.
ON_RECORD_SQL: Final = """
UPDATE action_receipts SET served = served + CASE WHEN state IN ('applied', 'refused') THEN 1 ELSE 0 END
WHERE space_id = $1 AND trigger_id = $2 AND action = $3 AND args_digest = $4
RETURNING receipt_id, state, nonce, external_id, failure,
          extract(epoch FROM now() - intended_at)::float8 AS age_s, false AS fresh
"""


async def on_record(conn: Db, intent: Intent) -> Receipt | None:
    """The receipt that the same effect already has. One that is settled counts as served from the record."""
    row = await conn.fetchrow(ON_RECORD_SQL, intent.space_id, intent.trigger_id, intent.action, intent.digest)
    return None if row is None else Receipt(**dict(row))


# Take an effect in hand that somebody began: only who holds a newer lease, or the same one, may.
TAKE_SQL: Final = """
UPDATE action_receipts SET lease_no = $2
WHERE receipt_id = $1 AND lease_no <= $2 AND state IN ('intended', 'unknown')
RETURNING true
"""


async def take(conn: Db, receipt_id: int, lease_no: int) -> bool:
    """Whether the effect is ours to go on with under this lease (I14)."""
    return bool(await conn.fetchval(TAKE_SQL, receipt_id, lease_no))


# Record what became of an effect. What is applied or refused stays so, and its words go: they were there to look for it
# by, and stand in Discord and the journal, where they can be forgotten. An action that made no message of its own
# (which is journalled as one) is an event of the ledger, too.
SETTLE_SQL: Final = """
WITH settled AS (
    UPDATE action_receipts
    SET state = $2, external_id = coalesce($3, external_id), failure = $4, attempts = attempts + $5, settled_at = now(),
        args = CASE WHEN $2 <> 'unknown' OR $4 LIKE 'unreadable:%' THEN args - '{content,name}'::text[] ELSE args END
    WHERE receipt_id = $1 AND state IN ('intended', 'unknown')
    RETURNING *
), told AS (
    INSERT INTO discord_events (space_id, place_id, kind, event_key, message_id, subject_ids, source, payload)
    SELECT space_id, place_id, 'ACTION_' || upper(action), 'action:' || receipt_id, (args ->> 'message_id')::bigint,
           CASE WHEN requester_id IS NULL THEN '{}' ELSE ARRAY[requester_id] END, 'action',
           json_build_object('receipt_id', receipt_id, 'action', action, 'arguments', args,
                             'trigger_id', trigger_id::text, 'turn_id', turn_id, 'card_id', card_id,
                             'external_id', external_id::text, 'requester_id', requester_id::text)
    FROM settled WHERE state = 'applied' AND nonce IS NULL
    ON CONFLICT DO NOTHING
)
SELECT action FROM settled
"""


class Came(Protocol):
    """What an effect came to, as whoever made it tells."""

    @property
    def state(self) -> Settled:
        """Whether it was made."""
        ...

    @property
    def external_id(self) -> int | None:
        """What came of it, by Discord's id."""
        ...

    @property
    def failure(self) -> str | None:
        """Why it was not made, or is not certain."""
        ...

    @property
    def attempts(self) -> int:
        """How often it was tried."""
        ...


async def settle_as(conn: Db, receipt_id: int, outcome: Came) -> None:
    """As `settle`, with what an outcome says."""
    await settle(
        conn,
        receipt_id,
        outcome.state,
        external_id=outcome.external_id,
        failure=outcome.failure,
        attempts=outcome.attempts,
    )


async def settle(
    conn: Db, receipt_id: int, state: Settled, *, external_id: int | None, failure: str | None, attempts: int
) -> None:
    """Record the outcome; does nothing if the receipt is settled already."""
    action = await conn.fetchval(SETTLE_SQL, receipt_id, state, external_id, failure, attempts)
    if action is not None:
        RECEIPTS.labels(action, state).inc()


# Which of these messages are already on record as the effect of some other receipt. A draft is not: it becomes the
# answer, whose part has a receipt of its own.
CLAIMED_MESSAGES_SQL: Final = """
SELECT external_id FROM action_receipts
WHERE space_id = $1 AND place_id = $2 AND state = 'applied' AND external_id = ANY($3::bigint[]) AND receipt_id <> $4
  AND action <> 'show_draft'
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
