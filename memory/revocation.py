"""Taking back what rested on edited or deleted messages, by a job that the event's own transaction made (I8).

From the commit of the event on nothing shows it any more: the views live_evidence, live_memories and live_links look at
the message itself. What is done here follows: marks on the evidence, the end of what has none left, and reading again
what the messages say now. One worker at a time does it in a place, the same that reads the place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.database import Db
from memory.episodes import take_back_episodes
from memory.errors import LeaseGone
from memory.ids import MessageId, SpaceId
from memory.ingestion import Claim
from memory.owners import Owner, lock_owners
from memory.taking_back import Ended, end_items, end_links
from memory.values import DOUBT_LEFT

MOST_AT_ONCE: Final = 500
ENDS: Final[tuple[tuple[Ended, bool], ...]] = (("superseded", True), ("revoked", False))
"""What becomes of what has nothing left to rest on, by whether an edit took any of it."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """How many messages were dealt with, how many memories and links ended, and whether there are more messages."""

    messages: int
    memories: int
    links: int
    more: bool


# What changed in a place, oldest first.
READ_CHANGES_SQL: Final = """
SELECT revocation_id, message_id FROM memory_revocations
WHERE space_id = $1 AND place_id = $2 ORDER BY revocation_id LIMIT $3
"""

# Whose memories rest on these messages, links included.
OWNERS_RESTING_SQL: Final = """
SELECT i.scope, i.owner_id
FROM memory_evidence e JOIN memory_items i USING (memory_id)
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[])
UNION
SELECT i.scope, i.owner_id
FROM memory_link_evidence e JOIN memory_links l USING (link_id)
JOIN memory_items i ON i.memory_id IN (l.from_id, l.to_id)
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[])
"""

# Mark the evidence that no longer stands.
REVOKE_EVIDENCE_SQL: Final = """
UPDATE memory_evidence e SET
    revoked_at = now(), revoked_why = CASE WHEN m.deleted_at IS NULL THEN 'edited' ELSE 'deleted' END
FROM chat_messages m
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[]) AND e.revoked_at IS NULL
  AND m.space_id = e.space_id AND m.message_id = e.message_id
  AND (m.deleted_at IS NOT NULL OR m.version_at <> e.read_version)
"""

# The active values that rested on these messages, and whether an edit took any of it.
TOUCHED_SQL: Final = """
SELECT i.memory_id AS id, bool_or(e.revoked_why = 'edited') AS edited
FROM memory_evidence e JOIN memory_items i USING (memory_id, version)
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[]) AND e.revoked_at IS NOT NULL AND i.state = 'active'
GROUP BY i.memory_id
"""

# The same of links.
REVOKE_LINK_EVIDENCE_SQL: Final = """
UPDATE memory_link_evidence e SET
    revoked_at = now(), revoked_why = CASE WHEN m.deleted_at IS NULL THEN 'edited' ELSE 'deleted' END
FROM chat_messages m
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[]) AND e.revoked_at IS NULL
  AND m.space_id = e.space_id AND m.message_id = e.message_id
  AND (m.deleted_at IS NOT NULL OR m.version_at <> e.read_version)
"""

# The active links that rested on these messages.
TOUCHED_LINKS_SQL: Final = """
SELECT l.link_id AS id, bool_or(e.revoked_why = 'edited') AS edited
FROM memory_link_evidence e JOIN memory_links l USING (link_id, version)
WHERE e.space_id = $1 AND e.message_id = ANY($2::bigint[]) AND e.revoked_at IS NOT NULL AND l.state = 'active'
GROUP BY l.link_id
"""

# Which of these values have anything left to rest on.
STILL_RESTING_SQL: Final = """
SELECT i.memory_id FROM memory_items i
WHERE i.memory_id = ANY($1::bigint[])
  AND (i.rests_on = 'author'
       OR EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = i.memory_id AND e.version = i.version))
"""

# Which of these links have.
STILL_LINKED_SQL: Final = """
SELECT DISTINCT l.link_id FROM memory_links l JOIN memory_link_evidence e USING (link_id, version)
WHERE l.link_id = ANY($1::bigint[]) AND e.revoked_at IS NULL
"""

# Values with less to rest on are less sure.
LOWER_CONFIDENCE_SQL: Final = """
UPDATE memory_items i SET
    confidence = greatest(i.asserted, 1 - (1 - i.asserted) * power($2::float8, greatest(said.messages - 1, 0)))
FROM (
    SELECT o.memory_id, count(e.message_id) + (o.rests_on = 'author')::int AS messages
    FROM memory_items o LEFT JOIN live_evidence e USING (memory_id, version)
    WHERE o.memory_id = ANY($1::bigint[]) GROUP BY o.memory_id
) AS said
WHERE i.memory_id = said.memory_id
"""

# Read again what the changed messages say now, if they were read before, and what earlier values rested on that an
# ended one had replaced: with the correction gone, they are what was said.
ASK_AGAIN_SQL: Final = """
INSERT INTO ingestion_rereads (space_id, place_id, message_id)
SELECT m.space_id, m.place_id, m.message_id
FROM chat_messages m JOIN ingestion_targets t USING (space_id, place_id)
WHERE m.space_id = $1 AND m.message_id = ANY($2::bigint[]) AND m.deleted_at IS NULL AND m.message_id <= t.done_target
UNION
SELECT e.space_id, e.place_id, e.message_id
FROM live_evidence e JOIN memory_items i ON i.memory_id = e.memory_id AND e.version < i.version
WHERE e.memory_id = ANY($3::bigint[])
ON CONFLICT (space_id, place_id, message_id) DO UPDATE SET asked_at = now()
"""

# Messages that could not be read, and now say something else or nothing.
DROP_PARKED_SQL: Final = "DELETE FROM parked_ingestions WHERE space_id = $1 AND message_id = ANY($2::bigint[])"

# These changes are dealt with.
DROP_CHANGES_SQL: Final = "DELETE FROM memory_revocations WHERE revocation_id = ANY($1::bigint[])"

# Nothing may be committed unless the place is still ours.
HOLD_LEASE_SQL: Final = """
SELECT true FROM ingestion_targets WHERE space_id = $1 AND place_id = $2 AND lease_no = $3 FOR UPDATE
"""


async def take_back(conn: Db, claimed: Claim) -> TakenBack:
    """Deal with what changed in a claimed place, inside the caller's transaction. Raises LeaseGone."""
    rows = await conn.fetch(READ_CHANGES_SQL, claimed.space_id, claimed.place_id, MOST_AT_ONCE)
    if not rows:
        return TakenBack(0, 0, 0, more=False)
    space_id, messages = claimed.space_id, sorted({MessageId(row["message_id"]) for row in rows})
    owners = await conn.fetch(OWNERS_RESTING_SQL, space_id, messages)
    await lock_owners(conn, [Owner(space_id, row["scope"], row["owner_id"]) for row in owners])
    ended = await _end_memories(conn, space_id, messages)
    links = await _end_links(conn, space_id, messages)
    await take_back_episodes(conn, space_id, messages)
    await conn.execute(ASK_AGAIN_SQL, space_id, messages, ended)
    await conn.execute(DROP_PARKED_SQL, space_id, messages)
    await conn.execute(DROP_CHANGES_SQL, [row["revocation_id"] for row in rows])
    if await conn.fetchval(HOLD_LEASE_SQL, space_id, claimed.place_id, claimed.lease_no) is None:
        raise LeaseGone(f"place {claimed.place_id} is no longer held under lease {claimed.lease_no}")
    return TakenBack(len(messages), len(ended), len(links), more=len(rows) == MOST_AT_ONCE)


async def _end_memories(conn: Db, space_id: SpaceId, messages: Sequence[MessageId]) -> list[int]:
    await conn.execute(REVOKE_EVIDENCE_SQL, space_id, messages)
    touched = {row["id"]: row["edited"] for row in await conn.fetch(TOUCHED_SQL, space_id, messages)}
    if not touched:
        return []
    resting = {row["memory_id"] for row in await conn.fetch(STILL_RESTING_SQL, sorted(touched))}
    for state, edited in ENDS:
        await end_items(
            conn, [one for one, was in touched.items() if was is edited and one not in resting], state=state
        )
    if resting:
        await conn.execute(LOWER_CONFIDENCE_SQL, sorted(resting), DOUBT_LEFT)
    return sorted(set(touched) - resting)


async def _end_links(conn: Db, space_id: SpaceId, messages: Sequence[MessageId]) -> list[int]:
    await conn.execute(REVOKE_LINK_EVIDENCE_SQL, space_id, messages)
    touched = {row["id"]: row["edited"] for row in await conn.fetch(TOUCHED_LINKS_SQL, space_id, messages)}
    if not touched:
        return []
    linked = {row["link_id"] for row in await conn.fetch(STILL_LINKED_SQL, sorted(touched))}
    for state, edited in ENDS:
        await end_links(conn, [one for one, was in touched.items() if was is edited and one not in linked], state=state)
    return sorted(set(touched) - linked)


# Raw rows that a guild's retention removes are no deletions: what rests on them stays, with a mark.
AGE_EVIDENCE_SQL: Final = """
WITH links AS (
    UPDATE memory_link_evidence SET aged_out_at = now()
    WHERE space_id = $1 AND message_id = ANY($2::bigint[]) AND aged_out_at IS NULL AND revoked_at IS NULL
)
UPDATE memory_evidence SET aged_out_at = now()
WHERE space_id = $1 AND message_id = ANY($2::bigint[]) AND aged_out_at IS NULL AND revoked_at IS NULL
"""


async def age_out(conn: Db, space_id: SpaceId, message_ids: Sequence[MessageId]) -> None:
    """Mark evidence whose messages are about to leave the journal for their age; call it before, in one transaction.

    What an edit or a deletion took, and nobody has dealt with yet, is marked so first: it must not come back.
    """
    await conn.execute(REVOKE_EVIDENCE_SQL, space_id, message_ids)
    await conn.execute(REVOKE_LINK_EVIDENCE_SQL, space_id, message_ids)
    await conn.execute(AGE_EVIDENCE_SQL, space_id, message_ids)
