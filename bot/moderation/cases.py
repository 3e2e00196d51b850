"""Cases: what was done to whom, by whom, why and on which evidence, numbered in each guild.

    acting -> done | refused | unknown        unknown -> done | refused        done -> undone

A case is begun when its card is pressed, before the facts are looked at again, so that of two moderators who do the
same at once one is turned away. It gets its number when it is about to be done. All times are the database's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

import orjson

from bot.moderation.deeds import DEEDS, DeedName
from bot.moderation.orders import Order, load_text
from memory.database import Db
from memory.ids import MessageId, PlaceId, SpaceId, UserId
from memory.scope import Scope

CaseState = Literal["acting", "done", "refused", "unknown", "undone"]

BUSY_S: Final = 120.0
"""After so many seconds what is still being done was left behind, and keeps nobody away."""

PAGE: Final = 10

_COLUMNS: Final = """
c.case_id, c.space_id, c.place_id, c.case_no, c.deed, c.object_id, c.subject_id, c.subject_name, c.requester_id,
c.requester_name, c.trigger_id, c.asked::text AS stored_order, c.reason, c.evidence, c.state, c.code, c.told,
c.before::text AS stored_before, c.told_member, c.undoes, c.ends_at, c.made_at, u.case_no AS undone_by_no
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A case as it stands. `case_no` is None where it was refused before it began; `ends_at`: when it ends itself."""

    case_id: int
    space_id: SpaceId
    place_id: PlaceId
    case_no: int | None
    deed: str
    object_id: int
    subject_id: int | None
    subject_name: str
    requester_id: UserId
    requester_name: str
    trigger_id: MessageId
    stored_order: str
    reason: str | None
    evidence: Sequence[str]
    state: CaseState
    code: str | None
    told: str | None
    stored_before: str | None
    told_member: bool | None
    undoes: int | None
    ends_at: datetime | None
    made_at: datetime
    undone_by_no: int | None

    @property
    def order(self) -> Order:
        """What was asked, for the one that it is about."""
        return load_text(self.stored_order)

    @property
    def before(self) -> Mapping[str, Any]:
        """What undoing brings back."""
        return cast("Mapping[str, Any]", orjson.loads(self.stored_before)) if self.stored_before else {}

    @property
    def scope(self) -> Scope:
        """Where it was asked for."""
        return Scope(self.space_id, self.place_id)


@dataclass(frozen=True, slots=True)
class Opening:
    """A case that is about to begin. `object_id`: the member or place; `subject_id`: the member, if it is one."""

    scope: Scope
    trigger_id: MessageId
    requester_id: UserId
    order: Order
    object_id: int
    card_id: int | None = None


# One at a time begins something on the same member or place; who comes second sees the first one's case.
HOLD_OBJECT_SQL: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mod:' || $1::text || ':' || $2::text, 0))"

# Begin a case, or find the one that this very asking began before; nothing where somebody else is doing the same, or
# has done it since the card was put.
OPEN_CASE_SQL: Final = f"""
WITH made AS (
    INSERT INTO mod_cases AS c (space_id, place_id, trigger_id, card_id, requester_id, deed, object_id, subject_id,
                                asked, reason, evidence, undoes)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::text::jsonb, $10, $11, $12
    WHERE NOT EXISTS (
        SELECT 1 FROM mod_cases b
        WHERE b.space_id = $1 AND b.object_id = $7 AND b.deed = $6 AND b.trigger_id <> $3
          AND (b.state = 'acting' AND b.made_at > now() - make_interval(secs => $13)
               OR b.state = 'done' AND b.deed NOT IN ('note', 'purge')
                  AND b.settled_at > (SELECT asked_at FROM action_cards WHERE card_id = $4)))
    ON CONFLICT (space_id, trigger_id, deed, object_id) DO NOTHING
    RETURNING c.*
)
SELECT {_COLUMNS} FROM made c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
UNION ALL
SELECT {_COLUMNS} FROM mod_cases c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE c.space_id = $1 AND c.trigger_id = $3 AND c.deed = $6 AND c.object_id = $7 AND NOT EXISTS (SELECT 1 FROM made)
"""


async def open_case(conn: Db, opening: Opening) -> Case | None:
    """The case, new or as an earlier attempt left it; None where somebody else does the same to the same, or just did.

    Inside the caller's transaction.
    """
    order = opening.order
    await conn.execute(HOLD_OBJECT_SQL, str(opening.scope.space_id), str(opening.object_id))
    row = await conn.fetchrow(
        OPEN_CASE_SQL,
        opening.scope.space_id,
        opening.scope.place_id,
        opening.trigger_id,
        opening.card_id,
        opening.requester_id,
        order.deed,
        opening.object_id,
        opening.object_id if order.users else None,
        orjson.dumps(order.for_one(opening.object_id).dump()).decode(),
        order.reason,
        list(order.evidence),
        order.case_id,
        BUSY_S,
    )
    return None if row is None else Case(**dict(row))


# The next number of the guild.
NEXT_NUMBER_SQL: Final = """
INSERT INTO mod_counters AS n (space_id, last_no) VALUES ($1, 1)
ON CONFLICT (space_id) DO UPDATE SET last_no = n.last_no + 1 RETURNING last_no
"""

# It is about to be done: its number, who they are by name, and what undoing brings back.
BEGIN_CASE_SQL: Final = """
UPDATE mod_cases SET case_no = $2, requester_name = $3, subject_name = $4, before = $5::text::jsonb
WHERE case_id = $1 AND case_no IS NULL AND state = 'acting'
RETURNING case_no
"""


async def begin_case(conn: Db, case: Case, *, requester: str, subject: str, before: Mapping[str, object]) -> int:
    """Give the case its number, inside the caller's transaction; the one that it has where it was begun before."""
    if case.case_no is not None:
        return case.case_no
    number = int(await conn.fetchval(NEXT_NUMBER_SQL, case.space_id))
    stored = orjson.dumps(dict(before)).decode()
    await conn.execute(BEGIN_CASE_SQL, case.case_id, number, requester, subject, stored)
    return number


# What came of it, once, or as it was found out later; where it holds for a time, its end is noted. What it does away
# with (an older timeout, the ban that it lifts) no longer ends by itself, and counts as undone.
SETTLE_CASE_SQL: Final = """
WITH settled AS (
    UPDATE mod_cases SET state = $2, code = $3, told = $4, told_member = coalesce($5, told_member),
        before = CASE WHEN $6::text IS NULL THEN before ELSE coalesce(before, '{}') || $6::text::jsonb END,
        ends_at = CASE WHEN $2 = 'done' AND $7::float8 IS NOT NULL
                       THEN CASE WHEN state = 'unknown' THEN made_at ELSE now() END + make_interval(secs => $7) END,
        settled_at = now()
    WHERE case_id = $1 AND state IN ('acting', 'unknown')
    RETURNING case_id, space_id, object_id, asked ->> 'role_id' AS role_id, undoes, ends_at, state
), timed AS (
    INSERT INTO mod_timers (case_id, space_id, due_at)
    SELECT case_id, space_id, ends_at FROM settled WHERE ends_at IS NOT NULL
    ON CONFLICT (case_id) DO NOTHING
), undone AS (
    UPDATE mod_cases u SET state = 'undone', undone_by = s.case_id
    FROM settled s WHERE s.state = 'done' AND u.state = 'done' AND u.case_id <> s.case_id
      AND (u.case_id = s.undoes
           OR u.space_id = s.space_id AND u.object_id = s.object_id AND u.deed = ANY($9::text[])
              AND u.asked ->> 'role_id' IS NOT DISTINCT FROM s.role_id AND (u.ends_at IS NULL OR u.ends_at > now()))
    RETURNING u.case_id
), replaced AS (
    UPDATE mod_timers t SET closed_at = now(), outcome = 'replaced'
    FROM settled s JOIN mod_cases o ON o.space_id = s.space_id AND o.object_id = s.object_id
    WHERE t.case_id = o.case_id AND t.closed_at IS NULL AND o.case_id <> s.case_id AND s.state = 'done'
      AND o.deed = ANY($8::text[]) AND o.asked ->> 'role_id' IS NOT DISTINCT FROM s.role_id
)
SELECT case_id FROM settled
"""


@dataclass(frozen=True, slots=True)
class End:
    """What came of a case. `made`: more that undoing needs; `holds_s`: after how many seconds it ends by itself."""

    state: Literal["done", "refused", "unknown"]
    code: str
    told: str
    told_member: bool | None = None
    made: Mapping[str, object] | None = None
    holds_s: int | None = None


async def settle_case(conn: Db, case: Case, end: End) -> bool:
    """Record what came of it; False where it was settled before."""
    made = None if end.made is None else orjson.dumps(dict(end.made)).decode()
    held = None if end.holds_s is None else float(end.holds_s)
    deed = case.order.deed
    lifted = [each.name for each in DEEDS.values() if each.undo == deed and each.span is not None]
    args = (case.case_id, end.state, end.code, end.told, end.told_member, made, held, _kin(deed), lifted)
    return await conn.fetchval(SETTLE_CASE_SQL, *args) is not None


def _kin(deed: DeedName) -> list[str]:
    """The deeds whose end by itself is done away with by this one: itself, and what it undoes."""
    return [deed, *(each.name for each in DEEDS.values() if each.undo == deed)]


# Somebody undid by hand what it did: it does not end by itself any more.
LAPSE_CASE_SQL: Final = """
WITH lapsed AS (
    UPDATE mod_cases SET state = 'undone', code = 'by_hand' WHERE case_id = $1 AND state = 'done' RETURNING case_id
)
UPDATE mod_timers t SET closed_at = now(), outcome = 'by_hand' FROM lapsed l
WHERE t.case_id = l.case_id AND t.closed_at IS NULL
"""


async def lapse(conn: Db, case: Case) -> None:
    """Note that it was undone by hand."""
    await conn.execute(LAPSE_CASE_SQL, case.case_id)


# A case by its number.
CASE_SQL: Final = f"""
SELECT {_COLUMNS} FROM mod_cases c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE c.space_id = $1 AND c.case_no = $2
"""


async def by_number(conn: Db, space_id: SpaceId, number: int) -> Case | None:
    """The case of that number in the guild."""
    row = await conn.fetchrow(CASE_SQL, space_id, number)
    return None if row is None else Case(**dict(row))


# A case by its id.
CASE_BY_ID_SQL: Final = f"""
SELECT {_COLUMNS} FROM mod_cases c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE c.space_id = $1 AND c.case_id = $2
"""


async def by_id(conn: Db, space_id: SpaceId, case_id: int) -> Case | None:
    """The case of that id in the guild."""
    row = await conn.fetchrow(CASE_BY_ID_SQL, space_id, case_id)
    return None if row is None else Case(**dict(row))


# What a card's message has to say now: the order that was confirmed, and its cases.
CASES_OF_CARD_SQL: Final = f"""
SELECT k.card_id, k.asked_action::text AS confirmed_order, {_COLUMNS}
FROM mod_cases o JOIN action_cards k ON k.card_id = o.card_id AND k.space_id = $1
JOIN mod_cases c ON c.card_id = k.card_id AND c.space_id = $1 LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE o.space_id = $1 AND o.case_id = $2
"""


async def of_same_card(conn: Db, case: Case) -> tuple[int, Order, Mapping[int, Case]] | None:
    """The card by which a case was confirmed, with its order and its cases by object; None where there was none."""
    rows = await conn.fetch(CASES_OF_CARD_SQL, case.space_id, case.case_id)
    found = [dict(row) for row in rows]
    if not found:
        return None
    orders = {each.pop("confirmed_order") for each in found}
    [card_id] = {each.pop("card_id") for each in found}
    beside = [Case(**each) for each in found]
    return card_id, load_text(orders.pop()), {each.object_id: each for each in beside}


# A member's cases, the newest first; one more than a page holds tells that there are others.
HISTORY_SQL: Final = f"""
SELECT {_COLUMNS} FROM mod_cases c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE c.space_id = $1 AND c.subject_id = $2 AND c.case_no IS NOT NULL AND c.case_no < $3
ORDER BY c.case_no DESC LIMIT $4
"""


async def history(
    conn: Db, space_id: SpaceId, user_id: UserId, *, below: int = 2**31 - 1, most: int = PAGE + 1
) -> tuple[Case, ...]:
    """Cases about a member with numbers under `below`."""
    rows = await conn.fetch(HISTORY_SQL, space_id, user_id, below, most)
    return tuple(Case(**dict(row)) for row in rows)


# The newest cases whose number begins so, or whose deed or member's name has these words.
SUGGEST_SQL: Final = f"""
SELECT {_COLUMNS} FROM mod_cases c LEFT JOIN mod_cases u ON u.case_id = c.undone_by
WHERE c.space_id = $1 AND c.case_no IS NOT NULL
  AND (starts_with(c.case_no::text, $2) OR strpos(lower(c.deed || ' ' || c.subject_name), lower($2)) > 0)
ORDER BY c.case_no DESC LIMIT $3
"""


async def like(conn: Db, space_id: SpaceId, typed: str, *, most: int) -> tuple[Case, ...]:
    """Cases that somebody may mean who has typed this so far."""
    return tuple(Case(**dict(row)) for row in await conn.fetch(SUGGEST_SQL, space_id, typed.strip(), most))


# How many cases of each kind a member has that still stand.
COUNTS_SQL: Final = """
SELECT deed, count(*)::int AS cases FROM mod_cases
WHERE space_id = $1 AND subject_id = $2 AND case_no IS NOT NULL AND state = 'done' GROUP BY deed ORDER BY deed
"""


async def counts(conn: Db, space_id: SpaceId, user_id: UserId) -> dict[DeedName, int]:
    """The same, by deed."""
    return {row["deed"]: row["cases"] for row in await conn.fetch(COUNTS_SQL, space_id, user_id)}


# Another reason for a case, by who gives it.
REASON_SQL: Final = """
UPDATE mod_cases SET reason = $3, reason_by = $4 WHERE space_id = $1 AND case_no = $2 RETURNING case_id
"""


async def give_reason(conn: Db, space_id: SpaceId, number: int, reason: str, *, by: UserId) -> bool:
    """Give a case another reason; False where there is no such case."""
    return await conn.fetchval(REASON_SQL, space_id, number, reason, by) is not None
