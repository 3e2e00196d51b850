"""Committing to an answer: its parts and the receipts of their sending, and the end of the run that led to it, stand
before anything is said (I3, I4).
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import orjson

from agent.ending import Ending, finishing
from bot.errors import TurnLost
from bot.receipts import Receipt
from bot.turns import Outcome, Part, Turn, nonce
from memory.database import Db

# Commit to an answer, if the turn is still ours and wanted (else no row comes back): its parts, each with the receipt
# of its sending.
_COMPOSING: Final = """
composed AS (
    UPDATE turns SET state = 'composed', outcome = $5, end_reason = $6, composed_at = now()
    WHERE turn_id = $1 AND lease_no = $2 AND state = 'running' AND cancel_requested_at IS NULL
    RETURNING turn_id, space_id, place_id, trigger_id, author_id, lease_no
), given AS (
    SELECT * FROM composed,
      unnest($3::int[], $4::text[], $7::text[], $8::text[], $9::bytea[]) AS p (part, content, nonce, args, digest)
), stored AS (
    INSERT INTO turn_parts (turn_id, part, content, nonce, attached)
    SELECT turn_id, part, content, nonce, CASE part WHEN 0 THEN $10 END FROM given
), intended AS (
    INSERT INTO action_receipts (space_id, place_id, trigger_id, action, args_digest, args, turn_id, nonce,
                                 requester_id, lease_no)
    SELECT space_id, place_id, trigger_id, 'send_part', digest, args::jsonb, turn_id, nonce, author_id, lease_no
    FROM given RETURNING receipt_id, nonce
)
"""
COMPOSE_SQL: Final = f"WITH {_COMPOSING} SELECT receipt_id, nonce FROM intended"

# The same, and the end of the run that led to it.
COMPOSE_FINISHED_SQL: Final = (
    f"WITH {_COMPOSING}, "
    + "{}, finished AS ({}) SELECT receipt_id, nonce FROM intended".format(
        *finishing(after=10, when="EXISTS (SELECT FROM composed)")
    )
)


async def compose(
    conn: Db,
    turn: Turn,
    parts: Sequence[str],
    *,
    outcome: Outcome,
    reason: str,
    attached: str | None = None,
    ending: Ending | None = None,
) -> tuple[Part, ...]:
    """Commit to `parts` as the turn's answer by one statement: they are never made again (I3).

    `attached` is the text of a file that comes with the first; `ending`: the run ends with it. Raises TurnLost, and
    nothing is done, if the turn is no longer ours or no longer wanted.
    """
    numbers = list(range(len(parts)))
    nonces = [nonce(turn, number) for number in numbers]
    args = [orjson.dumps({"part": number}) for number in numbers]
    rows = await conn.fetch(
        COMPOSE_SQL if ending is None else COMPOSE_FINISHED_SQL,
        turn.turn_id,
        turn.lease_no,
        numbers,
        list(parts),
        outcome,
        reason,
        nonces,
        [arg.decode() for arg in args],
        [blake2b(arg, digest_size=16).digest() for arg in args],
        attached,
        *(() if ending is None else ending.arguments),
    )
    if not rows:
        raise TurnLost(turn.turn_id)
    receipts = {row["nonce"]: row["receipt_id"] for row in rows}
    return tuple(
        Part(
            number,
            parts[number],
            Receipt(receipts[n], "intended", n, None, None, 0.0, fresh=True),
            attached if number == 0 else None,
        )
        for number, n in zip(numbers, nonces, strict=True)
    )
