"""Turns: one answer each, one running at a time in a place, fenced by a lease (I3, I14).

    queued -> running -> composed -> delivering -> answered | failed_told
    running -> answered (a route has shown a card)
    queued, running -> cancelled | expired        composed, delivering -> cancelled (the place is gone)

Recovery is part of claiming: a turn whose lease ran out is claimed like a queued one, with the next lease number.
All times are the database's.
"""

from base64 import b32encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

from bot.arrivals.items import TurnReason
from bot.errors import TurnLost
from bot.metrics import TURN_SECONDS, TURNS
from bot.receipts import Receipt
from memory.database import Db
from memory.ids import MessageId, PlaceId, RunId, SpaceId, TurnId, UserId
from memory.scope import Scope

TurnState = Literal["queued", "running", "composed", "delivering", "answered", "failed_told", "cancelled", "expired"]
EndState = Literal["answered", "failed_told", "cancelled", "expired"]
Outcome = Literal["answer", "error"]
Beat = Literal["keep", "cancel", "give_back"]
"""Go on; end it without an answer; stop and give it back, since everything is switched off."""

TRANSITIONS: Final[Mapping[TurnState, frozenset[TurnState]]] = {
    "queued": frozenset({"running", "cancelled"}),
    "running": frozenset({"composed", "answered", "cancelled", "expired"}),
    "composed": frozenset({"delivering", "answered", "failed_told", "cancelled"}),
    "delivering": frozenset({"answered", "failed_told", "cancelled"}),
    "answered": frozenset(),
    "failed_told": frozenset(),
    "cancelled": frozenset(),
    "expired": frozenset(),
}

NONCE_CHARACTERS: Final = 25
"""Discord's limit for a nonce."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A claimed turn.

    Where nothing was composed yet, it may be `overdue`, its trigger older than the answer window, or `unwanted`, its
    trigger deleted or the turn stopped. `run_id` is the number set aside for its run, where it has none yet.
    """

    turn_id: TurnId
    space_id: SpaceId
    place_id: PlaceId
    author_id: UserId
    trigger_id: MessageId
    state: TurnState
    outcome: Outcome | None
    notice: str | None
    lease_no: int
    attempts: int
    overdue: bool
    unwanted: bool = False
    reason: TurnReason = "mention"
    route: str | None = None
    run_id: RunId | None = None

    @property
    def scope(self) -> Scope:
        """Where it happens (I6)."""
        return Scope(self.space_id, self.place_id)


@dataclass(frozen=True, slots=True)
class Part:
    """One message of a composed answer, and its receipt; `attached` is the text of the file that comes with it."""

    part: int
    content: str
    receipt: Receipt
    attached: str | None = None


# Claim at most $1 turns: those whose worker fell silent or gave them back, and of each free lane the author served
# longest ago; those first that have waited longest, so that what comes back again and again holds up nobody. One more
# row tells that others wait still.
CLAIM_TURNS_SQL: Final = """
WITH stale AS (
    SELECT turn_id, lease_until AS due FROM turns
    WHERE state IN ('running', 'composed', 'delivering') AND lease_until < now()
    ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED
), free AS (
    SELECT DISTINCT ON (q.space_id, q.place_id) q.turn_id, q.available_at AS due
    FROM (SELECT turn_id, space_id, place_id, author_id, available_at,
                 count(*) OVER (PARTITION BY space_id, place_id) > 1 AS is_one_of_several
          FROM turns WHERE state = 'queued' AND available_at <= now()) AS q
    LEFT JOIN LATERAL (
        SELECT s.started_at FROM turns s
        WHERE q.is_one_of_several AND s.space_id = q.space_id AND s.place_id = q.place_id
          AND s.author_id = q.author_id AND s.started_at IS NOT NULL
        ORDER BY s.started_at DESC LIMIT 1
    ) AS served ON true
    WHERE NOT EXISTS (  -- one look at the index of lanes for each: OFFSET keeps it from being joined
        SELECT FROM turns busy
        WHERE busy.space_id = q.space_id AND busy.place_id = q.place_id
          AND busy.state IN ('running', 'composed', 'delivering') OFFSET 0)
    ORDER BY q.space_id, q.place_id, served.started_at NULLS FIRST, q.turn_id
), picked AS (
    SELECT turn_id FROM (SELECT * FROM stale UNION ALL SELECT * FROM free) AS waiting
    ORDER BY due, turn_id LIMIT $1
), claimed AS (
    UPDATE turns t SET
        state = CASE t.state WHEN 'queued' THEN 'running' ELSE t.state END,
        lease_no = t.lease_no + 1,
        lease_until = now() + make_interval(secs => $2),
        attempts = t.attempts + 1,
        started_at = coalesce(t.started_at, now())
    FROM picked
    WHERE t.turn_id = picked.turn_id
      AND (t.state = 'queued' OR (t.state IN ('running', 'composed', 'delivering') AND t.lease_until < now()))
    RETURNING t.turn_id, t.space_id, t.place_id, t.author_id, t.trigger_id, t.state, t.outcome, t.notice, t.lease_no,
        t.attempts, t.state = 'running' AND t.triggered_at < now() - make_interval(secs => $3) AS overdue,
        t.state = 'running' AND t.cancel_requested_at IS NOT NULL AS unwanted, t.reason, t.route,
        CASE WHEN t.lease_no = 1 THEN nextval('agent_runs_run_id_seq') END AS run_id
)
SELECT * FROM claimed
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, 'queued', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE EXISTS (SELECT FROM turns q WHERE q.state = 'queued' AND q.turn_id NOT IN (SELECT turn_id FROM picked))
   OR EXISTS (SELECT FROM turns s WHERE s.state IN ('running', 'composed', 'delivering') AND s.lease_until < now()
                AND s.turn_id NOT IN (SELECT turn_id FROM picked))
"""


async def claim(conn: Db, *, most: int, lease_s: float, window_s: float) -> tuple[tuple[Turn, ...], bool]:
    """Claim at most `most` turns for `lease_s` seconds, and tell whether others wait still. `window_s`: the
    answer window.

    Raises asyncpg.UniqueViolationError where another process took the same lane in the same instant; claim again.
    """
    rows = await conn.fetch(CLAIM_TURNS_SQL, most, lease_s, window_s)
    claimed = tuple(Turn(**dict(row)) for row in rows if row["state"] != "queued")
    return claimed, len(claimed) < len(rows)


# Say that these turns are still worked on; a row that does not come back is lost.
HEARTBEAT_SQL: Final = """
UPDATE turns t SET lease_until = now() + make_interval(secs => $3)
FROM unnest($1::bigint[], $2::bigint[]) AS h (turn_id, lease_no)
WHERE t.turn_id = h.turn_id AND t.lease_no = h.lease_no AND t.state IN ('running', 'composed', 'delivering')
RETURNING t.turn_id, CASE
    WHEN t.state <> 'running' THEN 'keep'
    WHEN t.cancel_requested_at IS NOT NULL THEN 'cancel'
    WHEN EXISTS (SELECT FROM operator_switches WHERE name = 'stop' AND is_on) THEN 'give_back'
    ELSE 'keep' END AS beat
"""


# Which of these turns came to their end under the lease that is ours.
ENDED_SQL: Final = """
SELECT t.turn_id FROM unnest($1::bigint[], $2::bigint[]) AS h (turn_id, lease_no)
JOIN turns t ON t.turn_id = h.turn_id AND t.lease_no = h.lease_no
WHERE t.state NOT IN ('queued', 'running', 'composed', 'delivering')
"""


async def heartbeat(conn: Db, turns: Sequence[Turn], *, lease_s: float) -> Mapping[TurnId, Beat]:
    """Prolong the leases. Gives the turns that are still ours, and what is to become of each.

    A turn that its worker has just brought to its end is ours to the last: what is left to do after that is not cut
    off.
    """
    held = [t.turn_id for t in turns], [t.lease_no for t in turns]
    beats: dict[TurnId, Beat] = {
        TurnId(r["turn_id"]): r["beat"] for r in await conn.fetch(HEARTBEAT_SQL, *held, lease_s)
    }
    if len(beats) < len(turns):
        # Asked anew: the update may have waited for the very transaction that ended one.
        beats |= {TurnId(row["turn_id"]): "keep" for row in await conn.fetch(ENDED_SQL, *held)}
    return beats


# Why a turn is to be cancelled.
CANCEL_REASON_SQL: Final = """
SELECT coalesce(cancel_reason, 'trigger_deleted') FROM turns WHERE turn_id = $1
"""


async def cancel_reason(conn: Db, turn: Turn) -> str:
    """`trigger_deleted`, or what the one who stopped the turn gave."""
    return str(await conn.fetchval(CANCEL_REASON_SQL, turn.turn_id))


# Give a turn back, to be claimed again after a pause; its attempt counts, or ($4) was none.
RELEASE_SQL: Final = """
UPDATE turns SET lease_until = now() + make_interval(secs => $3), attempts = attempts - $4::int
WHERE turn_id = $1 AND lease_no = $2 AND state IN ('running', 'composed', 'delivering')
"""


async def release(conn: Db, turn: Turn, *, after_s: float, counts: bool = True) -> None:
    """Let anybody claim the turn after `after_s` seconds; what was done so far stays.

    `counts`: whether the attempt is one of those after which a turn is given up. It is not where the turn was cut off
    for no fault of its own: its process stops, or could not keep its lease.
    """
    await conn.execute(RELEASE_SQL, turn.turn_id, turn.lease_no, after_s, 0 if counts else 1)


# The parts of a composed answer with their receipts, in order.
PARTS_SQL: Final = """
SELECT p.part, p.content, p.attached, r.receipt_id, r.state, r.nonce, r.external_id, r.failure,
       extract(epoch FROM now() - r.intended_at)::float8 AS age_s
FROM turn_parts p JOIN action_receipts r ON r.nonce = p.nonce
WHERE p.turn_id = $1 ORDER BY p.part
"""


async def composed_parts(conn: Db, turn: Turn) -> tuple[Part, ...]:
    """What a turn that was cut off had committed to."""
    return tuple(
        Part(
            row["part"],
            row["content"],
            Receipt(
                row["receipt_id"],
                row["state"],
                row["nonce"],
                row["external_id"],
                row["failure"],
                row["age_s"],
                fresh=False,
            ),
            row["attached"],
        )
        for row in await conn.fetch(PARTS_SQL, turn.turn_id)
    )


# End a turn, once.
END_SQL: Final = """
UPDATE turns SET state = $3, end_reason = coalesce($4, end_reason), ended_at = now(), lease_until = NULL
WHERE turn_id = $1 AND lease_no = $2 AND state = ANY($5::text[])
RETURNING extract(epoch FROM now() - queued_at)::float8
"""


async def end(conn: Db, turn: Turn, state: EndState, *, reason: str | None = None) -> None:
    """End the turn. Raises TurnLost if it is no longer ours or ended already."""
    before = [name for name, after in TRANSITIONS.items() if state in after and name != "queued"]
    seconds = await conn.fetchval(END_SQL, turn.turn_id, turn.lease_no, state, reason, before)
    if seconds is None:
        raise TurnLost(turn.turn_id)
    note_end(state, seconds)


def note_end(state: EndState, seconds: float) -> None:
    """Count a turn that ended `seconds` after it was queued."""
    TURNS.labels(state).inc()
    TURN_SECONDS.observe(seconds)


def nonce(turn: Turn, part: int) -> str:
    """The nonce of a part: the same for every attempt at it, different from every other part's of every turn."""
    identity = f"{turn.space_id}:{turn.trigger_id}:{part}".encode()
    return b32encode(blake2b(identity, digest_size=15).digest()).decode().lower()[:NONCE_CHARACTERS]
