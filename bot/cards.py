"""Cards: questions that only their requester can answer, by a button, once, within ten minutes.

    open -> used | expired | cancelled

The row is the truth. A press is one UPDATE, so that of two presses, in whatever processes, one counts; who does what
was confirmed holds a lease, and where they die somebody else goes on (I14). All times are the database's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import orjson

from bot.wishes import Wish, load_action, wish_of
from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, TurnId, UserId
from memory.scope import Scope
from tools.actions import Action

CardState = Literal["open", "used", "expired", "cancelled"]

BATCH: Final = 20

_COLUMNS: Final = """
c.card_id, c.space_id, c.place_id, c.trigger_id, c.turn_id, c.requester_id, c.action AS name,
c.asked_action::text AS asked_action, c.question, c.state, c.nonce, c.message_id, c.code, c.told, c.lease_no,
c.attempts, c.closed_at < now() - interval '10 minutes' AS is_old
"""


@dataclass(frozen=True, slots=True)
class Card:
    """A card as it stands. `name` is that of the action, with the office behind it before a colon, where it is not a
    tool's (`moderation:ban`). `code` and `told` say what came of it; `is_old`: closed so long ago that nothing is
    done."""

    card_id: int
    space_id: SpaceId
    place_id: PlaceId
    trigger_id: MessageId
    turn_id: TurnId | None
    requester_id: UserId
    name: str
    asked_action: str
    question: str
    state: CardState
    nonce: str
    message_id: MessageId | None
    code: str | None
    told: str | None
    lease_no: int
    attempts: int
    is_old: bool | None = None

    @property
    def office(self) -> str:
        """Who does what was confirmed; empty for a tool's action."""
        return self.name.partition(":")[0] if ":" in self.name else ""

    @property
    def action(self) -> Action:
        """What is asked about, by a tool."""
        return load_action(cast("dict[str, Any]", orjson.loads(self.asked_action)))

    @property
    def wish(self) -> Wish:
        """The same, with nothing left open."""
        return wish_of(self.action, here=self.place_id, trigger_id=self.trigger_id)

    @property
    def scope(self) -> Scope:
        """Where it was asked."""
        return Scope(self.space_id, self.place_id)


@dataclass(frozen=True, slots=True)
class Draft:
    """A card that is to be made; `nonce` is that of its message, `asked` the action as JSON holds it."""

    scope: Scope
    trigger_id: MessageId
    turn_id: TurnId | None
    requester_id: UserId
    name: str
    digest: bytes
    asked: Mapping[str, object]
    question: str
    nonce: str


# Make the card of a wish, or find the one that it has.
PUT_CARD_SQL: Final = f"""
WITH made AS (
    INSERT INTO action_cards AS c (space_id, place_id, trigger_id, turn_id, requester_id, action, digest, asked_action,
                                   question, nonce, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9, $10, now() + make_interval(secs => $11))
    ON CONFLICT (space_id, trigger_id, action, digest) DO NOTHING
    RETURNING {_COLUMNS}
)
SELECT * FROM made
UNION ALL
SELECT {_COLUMNS} FROM action_cards c
WHERE c.space_id = $1 AND c.trigger_id = $3 AND c.action = $6 AND c.digest = $7 AND NOT EXISTS (SELECT 1 FROM made)
"""


async def put(conn: Db, draft: Draft, *, lasts_s: float) -> Card:
    """The card of the wish, new (open for `lasts_s` seconds) or as it stands."""
    arguments = (
        draft.scope.space_id,
        draft.scope.place_id,
        draft.trigger_id,
        draft.turn_id,
        draft.requester_id,
        draft.name,
        draft.digest,
        orjson.dumps(dict(draft.asked)).decode(),
        draft.question,
        draft.nonce,
        lasts_s,
    )
    row = await conn.fetchrow(PUT_CARD_SQL, *arguments) or await conn.fetchrow(PUT_CARD_SQL, *arguments)
    if row is None:
        raise LookupError(f"card for {draft.name} vanished")
    return Card(**dict(row))


# The card of a wish, if there is one.
CARD_OF_WISH_SQL: Final = f"""
SELECT {_COLUMNS} FROM action_cards c
WHERE c.space_id = $1 AND c.trigger_id = $2 AND c.action = $3 AND c.digest = $4
"""


async def of_wish(conn: Db, space_id: SpaceId, trigger_id: MessageId, wish: Wish) -> Card | None:
    """The card that was put for this wish."""
    row = await conn.fetchrow(CARD_OF_WISH_SQL, space_id, trigger_id, wish.name, wish.digest)
    return None if row is None else Card(**dict(row))


# Where the card's message is, as soon as it is known.
POSTED_SQL: Final = """
UPDATE action_cards SET message_id = coalesce(message_id, $2), shown = coalesce(shown, 'open') WHERE card_id = $1
"""


async def posted(conn: Db, card_id: int, message_id: MessageId | None) -> None:
    """The card's message is out."""
    await conn.execute(POSTED_SQL, card_id, message_id)


# The card could not be shown to anybody.
WITHDRAW_SQL: Final = """
UPDATE action_cards SET state = 'cancelled', code = 'not_shown', closed_at = now(), shown = 'cancelled'
WHERE card_id = $1 AND state = 'open'
"""


async def withdraw(conn: Db, card_id: int) -> None:
    """End a card whose message Discord did not take."""
    await conn.execute(WITHDRAW_SQL, card_id)


# One press counts. Only the requester's, in the card's own place, while it is open; one that comes too late, or whose
# trigger is gone, closes it all the same and does nothing.
PRESS_SQL: Final = f"""
UPDATE action_cards c SET
    state = p.state, code = p.code, closed_at = now(), message_id = coalesce(c.message_id, $5),
    lease_no = c.lease_no + 1, lease_until = now() + make_interval(secs => $7), attempts = 1
FROM (
    SELECT o.card_id,
           CASE WHEN o.expires_at <= now() THEN 'expired' WHEN g.message_id IS NOT NULL THEN 'cancelled'
                ELSE $6 END AS state,
           CASE WHEN o.expires_at <= now() THEN 'expired' WHEN g.message_id IS NOT NULL THEN 'trigger_gone'
                WHEN $6 = 'cancelled' THEN 'declined' END AS code
    FROM action_cards o LEFT JOIN chat_messages g
      ON g.space_id = o.space_id AND g.message_id = o.trigger_id AND g.deleted_at IS NOT NULL
    WHERE o.card_id = $1
) AS p
WHERE c.card_id = p.card_id AND c.requester_id = $2 AND c.space_id = $3 AND c.place_id = $4 AND c.state = 'open'
RETURNING {_COLUMNS}
"""


async def press(
    conn: Db,
    card_id: int,
    *,
    by: UserId,
    scope: Scope,
    message_id: MessageId,
    state: Literal["used", "cancelled"],
    lease_s: float,
) -> Card | None:
    """Use the card, or decline it; None where this press does not count. The caller holds its lease."""
    row = await conn.fetchrow(PRESS_SQL, card_id, by, scope.space_id, scope.place_id, message_id, state, lease_s)
    return None if row is None else Card(**dict(row))


# A card as it stands.
CARD_SQL: Final = f"SELECT {_COLUMNS} FROM action_cards c WHERE c.card_id = $1 AND c.space_id = $2"


async def get(conn: Db, card_id: int, space_id: SpaceId) -> Card | None:
    """The card of that id in this space."""
    row = await conn.fetchrow(CARD_SQL, card_id, space_id)
    return None if row is None else Card(**dict(row))


# What came of what was confirmed, once.
FINISH_CARD_SQL: Final = """
UPDATE action_cards SET code = $3, told = $4
WHERE card_id = $1 AND lease_no = $2 AND state = 'used' AND code IS NULL
RETURNING true
"""


async def finish(conn: Db, card: Card, code: str, told: str) -> bool:
    """Record what came of it; False if somebody else holds the card by now."""
    return bool(await conn.fetchval(FINISH_CARD_SQL, card.card_id, card.lease_no, code, told))


# It was found out later what came of it: the card's message is to say it, and whoever shows the older words meanwhile
# has not shown these.
CORRECT_CARD_SQL: Final = """
UPDATE action_cards SET code = $3, told = $4, shown = 'open', lease_no = lease_no + 1, lease_until = NULL, attempts = 0
WHERE card_id = $1 AND space_id = $2 AND state = 'used' AND code IS NOT NULL AND (code, told) IS DISTINCT FROM ($3, $4)
"""


async def correct(conn: Db, card_id: int, space_id: SpaceId, code: str, told: str) -> None:
    """Let the card say something else of what came of it, the next time that closed cards are shown."""
    await conn.execute(CORRECT_CARD_SQL, card_id, space_id, code, told)


# The card's message shows its state, as far as it can be shown.
SHOWN_SQL: Final = """
UPDATE action_cards SET shown = state, lease_until = NULL WHERE card_id = $1 AND lease_no = $2
"""


async def shown(conn: Db, card: Card) -> None:
    """The message says how the card ended, or never will."""
    await conn.execute(SHOWN_SQL, card.card_id, card.lease_no)


# Close cards whose time is up or whose trigger is gone.
CLOSE_CARDS_SQL: Final = """
UPDATE action_cards c SET
    state = CASE WHEN c.expires_at <= now() THEN 'expired' ELSE 'cancelled' END,
    code = CASE WHEN c.expires_at <= now() THEN 'expired' ELSE 'trigger_gone' END,
    closed_at = now()
WHERE c.state = 'open' AND (c.expires_at <= now() OR (
    SELECT m.deleted_at FROM chat_messages m WHERE m.space_id = c.space_id AND m.message_id = c.trigger_id) IS NOT NULL)
"""

# Claim closed cards that do not show it yet, those whose holder fell silent included. Where the card's message is may
# be known by its receipt alone.
CLAIM_CARDS_SQL: Final = f"""
WITH due AS (
    SELECT card_id FROM action_cards
    WHERE state <> 'open' AND shown IS DISTINCT FROM state AND (lease_until IS NULL OR lease_until < now())
    ORDER BY lease_until NULLS FIRST LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE action_cards c SET
    lease_no = c.lease_no + 1, lease_until = now() + make_interval(secs => $2), attempts = c.attempts + 1,
    message_id = coalesce(c.message_id, (SELECT r.external_id FROM action_receipts r WHERE r.nonce = c.nonce))
FROM due WHERE c.card_id = due.card_id
RETURNING {_COLUMNS}
"""


async def claim(conn: Db, *, lease_s: float) -> tuple[Card, ...]:
    """Close what is over, and take in hand what is closed and does not show it."""
    await conn.execute(CLOSE_CARDS_SQL)
    rows = await conn.fetch(CLAIM_CARDS_SQL, BATCH, lease_s)
    return tuple(Card(**dict(row)) for row in rows)
