"""From the journal to memory: one worker at a time reads a place, under a lease (I14).

claim      a place with something to read or to take back; the lease number only grows, and a claim whose worker
           died is free again when its lease is over
take back  what rested on edited or deleted messages (memory.revocation), before anything is read
read       a bounded stretch after the checkpoint (memory.batches), for a model and for memory.checks
write      values, links and the checkpoint in one transaction, if the lease is still ours
release    after a failure: later, shorter, or past a message that no attempt could read
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.batches import BATCH_MESSAGES, Batch
from memory.checks import Verdict, still_there
from memory.choices import PLACE_REMEMBERS, REMEMBERED
from memory.database import Db
from memory.errors import LeaseGone, MemoryRefused
from memory.ids import MessageId, PlaceId, SpaceId
from memory.links import Link, store_links
from memory.owners import Caps, Owner, lock_owners
from memory.values import store

RETRY_FIRST_S: Final = 5.0
RETRY_MOST_S: Final = 600.0
TRIES_ALONE: Final = 3
"""Attempts at a single message before it is parked."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A place that is ours to read until its lease is over.

    `due`: there is something to read now; else there is only something to take back. `limit`: messages to read at once.
    """

    space_id: SpaceId
    place_id: PlaceId
    lease_no: int
    target: MessageId
    done: MessageId
    attempts: int
    limit: int
    due: bool


# One place that nobody reads, the longest waiting first: something was taken back in it, or what was said in it has
# settled ($2 seconds without a message, or $3 since the first unread one), or something is to be read again.
CLAIM_PLACE_SQL: Final = """
WITH stop AS MATERIALIZED (
    SELECT $4 OR EXISTS (SELECT FROM operator_switches WHERE name = 'stop' AND is_on) AS is_on
), asked AS (
    SELECT space_id, place_id, false AS due FROM memory_revocations GROUP BY space_id, place_id
    UNION ALL
    SELECT space_id, place_id, true FROM ingestion_targets
    WHERE NOT (SELECT is_on FROM stop) AND done_target < target AND available_at <= now()
      AND (raised_at <= now() - make_interval(secs => $2) OR waiting_at <= now() - make_interval(secs => $3))
    UNION ALL
    SELECT r.space_id, r.place_id, true
    FROM ingestion_rereads r JOIN ingestion_targets t USING (space_id, place_id)
    WHERE NOT (SELECT is_on FROM stop) AND t.available_at <= now()
      AND r.asked_at <= now() - make_interval(secs => $2) AND r.message_id <= t.done_target
    GROUP BY r.space_id, r.place_id
), picked AS MATERIALIZED (
    SELECT t.space_id, t.place_id, (SELECT bool_or(a.due) FROM asked a
                                    WHERE a.space_id = t.space_id AND a.place_id = t.place_id) AS due
    FROM ingestion_targets t
    WHERE (t.space_id, t.place_id) IN (SELECT space_id, place_id FROM asked)
      AND (t.lease_until IS NULL OR t.lease_until < now())
    ORDER BY t.available_at, t.space_id, t.place_id
    LIMIT 1 FOR UPDATE OF t SKIP LOCKED
)
UPDATE ingestion_targets t SET lease_no = t.lease_no + 1, lease_until = now() + make_interval(secs => $1)
FROM picked p WHERE t.space_id = p.space_id AND t.place_id = p.place_id
RETURNING t.space_id, t.place_id, t.lease_no, t.target, t.done_target, t.attempts, t.batch_limit, p.due
"""


async def claim(conn: Db, *, lease_s: float, quiet_s: float, longest_s: float, stopped: bool = False) -> Claim | None:
    """Claim one place for `lease_s` seconds; None where there is nothing to do.

    `quiet_s`: so long a place must be silent before it is read; `longest_s`: so long the first unread message waits.
    With `stopped`, or while the operator's switch says so, nothing is read; taking back goes on.
    """
    row = await conn.fetchrow(CLAIM_PLACE_SQL, lease_s, quiet_s, longest_s, stopped)
    if row is None:
        return None
    return Claim(
        row["space_id"],
        row["place_id"],
        row["lease_no"],
        row["target"],
        row["done_target"],
        row["attempts"],
        row["batch_limit"] or BATCH_MESSAGES,
        row["due"],
    )


# Which of these messages are there and may be kept in mind, and at which version.
VERSIONS_SQL: Final = f"""
SELECT message_id, version_at FROM chat_messages
WHERE space_id = $1 AND message_id = ANY($2::bigint[]) AND deleted_at IS NULL AND author_id IS NOT NULL
  AND {REMEMBERED.format(author="author_id")} AND (SELECT {PLACE_REMEMBERS.format(space="$1", place="$3")})
"""

# Which of these memories are whose, for relations to what was known before.
OWNERS_SQL: Final = """
SELECT memory_id, scope, owner_id FROM memory_items
WHERE space_id = $1 AND memory_id = ANY($2::bigint[]) AND state = 'active'
"""


async def write(
    conn: Db,
    claimed: Claim,
    batch: Batch,
    verdict: Verdict,
    caps: Caps,
    *,
    between: Callable[[], Awaitable[None]] | None = None,
) -> Counter[str]:
    """Store what is believed of a batch and move the checkpoint, inside the caller's transaction.

    Gives how many of what: created, confirmed, revised, unchanged, linked, refused:<reason>. What rests on messages
    that were edited or deleted since they were read is left out; they are read again. Raises LeaseGone where somebody
    else has the place, and nothing may be committed. `between` is awaited before each value, so that others go first
    for a bounded time; what is held meanwhile are the locks of the owners concerned.
    """
    known = await _known_ends(conn, batch, verdict)
    await lock_owners(conn, {one.value.owner for one in verdict.memories} | set(known.values()))
    verdict = still_there(verdict, await _versions(conn, batch, verdict))
    counts: Counter[str] = Counter({f"refused:{reason}": count for reason, count in verdict.refused.items()})
    ends: dict[str, int] = {str(memory_id): memory_id for memory_id in known}
    for one in verdict.memories:
        if between is not None:
            await between()
        try:
            stored = await store(conn, one.value, caps)
        except MemoryRefused as refusal:
            counts[f"refused:{refusal.code}"] += 1
            continue
        counts[stored.outcome] += 1
        ends[one.ref] = stored.memory_id
    links = [
        Link(batch.space_id, batch.place_id, ends[link.from_ref], ends[link.to_ref], link.relation, link.confidence,
             link.evidence)
        for link in verdict.links
        if link.from_ref in ends and link.to_ref in ends
    ]  # fmt: skip
    left_out = len(verdict.links) - len(links) + await store_links(conn, links)
    counts["linked"] += len(verdict.links) - left_out
    counts["refused:unknown_end"] += left_out
    await finish(conn, claimed, batch, counts)
    return counts


async def _versions(conn: Db, batch: Batch, verdict: Verdict) -> Mapping[MessageId, datetime]:
    cited = {witness.message_id for one in verdict.memories for witness in one.value.evidence}
    cited |= {witness.message_id for link in verdict.links for witness in link.evidence}
    rows = await conn.fetch(VERSIONS_SQL, batch.space_id, sorted(cited), batch.place_id) if cited else ()
    return {MessageId(row["message_id"]): row["version_at"] for row in rows}


async def _known_ends(conn: Db, batch: Batch, verdict: Verdict) -> Mapping[int, Owner]:
    """The memories known before, and shown to the model, that its relations name."""
    shown = {str(known.memory_id): known.memory_id for known in batch.known}
    named = {shown[ref] for link in verdict.links for ref in (link.from_ref, link.to_ref) if ref in shown}
    rows = await conn.fetch(OWNERS_SQL, batch.space_id, sorted(named)) if named else ()
    return {row["memory_id"]: Owner(batch.space_id, row["scope"], row["owner_id"]) for row in rows}


# The batch is done: move the checkpoint, if the lease is still ours. A full batch has more behind it, which is due at
# once; a success doubles what is read at once after a failure.
FINISH_SQL: Final = """
UPDATE ingestion_targets SET
    done_target = greatest(done_target, $4), lease_until = NULL, attempts = 0, available_at = now(), failure = NULL,
    waiting_at = CASE WHEN $5 THEN to_timestamp(0) ELSE now() END,
    batch_limit = CASE WHEN batch_limit * 2 < $6 THEN batch_limit * 2 END
WHERE space_id = $1 AND place_id = $2 AND lease_no = $3
RETURNING true
"""

# These messages were read; those before the checkpoint wait no longer to be read again.
DROP_REREADS_SQL: Final = """
DELETE FROM ingestion_rereads WHERE space_id = $1 AND place_id = $2 AND message_id = ANY($3::bigint[])
"""

# Count what became of entries, a row a day and outcome, in one order.
COUNT_OUTCOMES_SQL: Final = """
INSERT INTO extraction_counts AS c (day, outcome, how_many)
SELECT (now() AT TIME ZONE 'UTC')::date, outcome, how_many
FROM unnest($1::text[], $2::bigint[]) AS n (outcome, how_many) ORDER BY outcome
ON CONFLICT (day, outcome) DO UPDATE SET how_many = c.how_many + EXCLUDED.how_many
"""


async def finish(conn: Db, claimed: Claim, batch: Batch, counts: Mapping[str, int]) -> None:
    """Say that a batch is read, inside the caller's transaction. Raises LeaseGone."""
    counted = sorted((outcome, count) for outcome, count in counts.items() if count)
    if counted:
        await conn.execute(COUNT_OUTCOMES_SQL, [outcome for outcome, _ in counted], [count for _, count in counted])
    read = batch.rereads | {heard.message_id for heard in batch.messages}
    if read:
        await conn.execute(DROP_REREADS_SQL, claimed.space_id, claimed.place_id, sorted(read))
    ours = await conn.fetchval(
        FINISH_SQL,
        claimed.space_id,
        claimed.place_id,
        claimed.lease_no,
        batch.through_id,
        batch.full,
        BATCH_MESSAGES,
    )
    if ours is None:
        raise LeaseGone(f"place {claimed.place_id} is no longer held under lease {claimed.lease_no}")


# Give a place back, to be claimed again after a pause.
RELEASE_PLACE_SQL: Final = """
UPDATE ingestion_targets SET
    lease_until = NULL, attempts = $4, available_at = now() + make_interval(secs => $5), batch_limit = $6, failure = $7
WHERE space_id = $1 AND place_id = $2 AND lease_no = $3
"""


# Give a place back as it was.
LET_GO_SQL: Final = """
UPDATE ingestion_targets SET lease_until = NULL WHERE space_id = $1 AND place_id = $2 AND lease_no = $3
"""


async def let_go(conn: Db, claimed: Claim) -> None:
    """Give the place back as it was; a pause after a failure goes on."""
    await conn.execute(LET_GO_SQL, claimed.space_id, claimed.place_id, claimed.lease_no)


async def postpone(conn: Db, claimed: Claim, *, code: str, after_s: float | None = None) -> float:
    """Try again later: the model is away. Gives the seconds until then, which grow with each attempt."""
    pause_s = max(pause_after(claimed.attempts + 1), after_s or 0.0)
    await _release(conn, claimed, claimed.attempts + 1, pause_s, claimed.limit, code)
    return pause_s


def pause_after(attempts: int) -> float:
    """Seconds until the next attempt at a job: doubled each time, up to ten minutes."""
    return min(RETRY_FIRST_S * 2 ** min(max(attempts - 1, 0), 10), RETRY_MOST_S)


async def _release(conn: Db, claimed: Claim, attempts: int, after_s: float, limit: int, failure: str | None) -> None:
    await conn.execute(
        RELEASE_PLACE_SQL,
        claimed.space_id,
        claimed.place_id,
        claimed.lease_no,
        attempts,
        after_s,
        limit if limit < BATCH_MESSAGES else None,
        failure,
    )


# Keep which message could not be read, and why; its words stay in the journal.
PARK_SQL: Final = """
INSERT INTO parked_ingestions (space_id, place_id, message_id, failure)
SELECT $1, $2, message_id, $4 FROM unnest($3::bigint[]) AS message_id
ON CONFLICT (space_id, message_id) DO UPDATE SET failure = EXCLUDED.failure, parked_at = now()
"""


async def split(conn: Db, claimed: Claim, batch: Batch, *, code: str) -> Sequence[MessageId]:
    """A batch that the model refuses: read half as much at once; a message that is refused alone, a few times, is
    parked, and reading goes on after it. Inside the caller's transaction; gives what was parked. Raises LeaseGone.
    """
    size = len(batch.messages)
    if size > 1:
        await _release(conn, claimed, 0, 0.0, max(size // 2, 1), code)
        return ()
    # Attempts before it stood alone were about others, or about a model that was away.
    tries = claimed.attempts + 1 if claimed.limit == 1 else 1
    if tries < TRIES_ALONE:
        await _release(conn, claimed, tries, pause_after(tries), 1, code)
        return ()
    parked = [heard.message_id for heard in batch.messages]
    await conn.execute(PARK_SQL, claimed.space_id, claimed.place_id, parked, code)
    await finish(conn, claimed, batch, Counter({"parked": len(parked)}))
    return parked


# Read parked messages again: somebody mended what was wrong.
UNPARK_SQL: Final = """
WITH again AS (
    DELETE FROM parked_ingestions WHERE $1::bigint IS NULL OR space_id = $1 RETURNING space_id, place_id, message_id
), asked AS (
    INSERT INTO ingestion_rereads (space_id, place_id, message_id) SELECT space_id, place_id, message_id FROM again
    ON CONFLICT DO NOTHING
)
SELECT count(*) FROM again
"""


async def unpark(conn: Db, space_id: SpaceId | None = None) -> int:
    """Let what was parked, in a space or everywhere, be read again; gives how many messages."""
    return int(await conn.fetchval(UNPARK_SQL, space_id))
