"""Typed relations between memories: which two active values, how, and on what messages it rests.

A link holds between the very versions that it was said of; where one of them is revised, it no longer shows. The caller
holds the locks of both ends' owners.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.database import Db
from memory.ids import PlaceId, SpaceId
from memory.kinds import Relation
from memory.values import DOUBT_LEFT, Witness


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to be stored, between two memories of one space."""

    space_id: SpaceId
    place_id: PlaceId
    from_id: int
    to_id: int
    relation: Relation
    confidence: float
    evidence: tuple[Witness, ...]


# The present versions of those of these memories that are active.
VERSIONS_SQL: Final = """
SELECT memory_id, version FROM memory_items
WHERE space_id = $1 AND memory_id = ANY($2::bigint[]) AND state = 'active'
"""

# Links that are there already between the two, said of whatever versions.
FIND_LINK_SQL: Final = """
SELECT link_id, from_version, to_version, version FROM memory_links
WHERE from_id = $1 AND to_id = $2 AND relation = $3 AND state = 'active'
"""

# A new link.
CREATE_LINK_SQL: Final = """
INSERT INTO memory_links (space_id, place_id, from_id, from_version, to_id, to_version, relation, asserted, confidence)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
RETURNING link_id
"""

# Keep a link as it was, before it is said of newer versions.
KEEP_LINK_SQL: Final = """
INSERT INTO memory_link_revisions (link_id, version, space_id, from_version, to_version, confidence, reason)
SELECT link_id, version, space_id, from_version, to_version, confidence, 'revised' FROM memory_links WHERE link_id = $1
"""

# The same relation, said of the present versions.
REVISE_LINK_SQL: Final = """
UPDATE memory_links SET version = version + 1, place_id = $2, from_version = $3, to_version = $4, asserted = $5,
                        confidence = $5, changed_at = now()
WHERE link_id = $1 RETURNING version
"""

# Let a link rest on these messages too, and be surer with each that is new to it.
LINK_EVIDENCE_SQL: Final = """
INSERT INTO memory_link_evidence (link_id, version, space_id, message_id, place_id, author_id, read_version)
SELECT $1, $2, $3, message_id, place_id, author_id, read_version
FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::timestamptz[])
  AS w (message_id, place_id, author_id, read_version)
ON CONFLICT (link_id, version, message_id) DO UPDATE SET
    read_version = EXCLUDED.read_version, revoked_at = NULL, revoked_why = NULL
WHERE memory_link_evidence.read_version <> EXCLUDED.read_version
"""

# A link is surer with each message that says so.
CONFIRM_LINK_SQL: Final = """
UPDATE memory_links l SET confidence = 1 - (1 - l.asserted) * power($2::float8, greatest(said.messages - 1, 0))
FROM (SELECT count(*) AS messages FROM memory_link_evidence e JOIN memory_links o USING (link_id, version)
      WHERE e.link_id = $1 AND e.revoked_at IS NULL) AS said
WHERE l.link_id = $1
"""


async def store_links(conn: Db, links: Sequence[Link]) -> int:
    """Bring in relations between active memories; gives how many were left out, an end of them being none.

    The same relation again, from new messages, is surer; from the same ones, nothing changes.
    """
    if not links:
        return 0
    ends = {end for link in links for end in (link.from_id, link.to_id)}
    rows = await conn.fetch(VERSIONS_SQL, links[0].space_id, sorted(ends))
    versions: Mapping[int, int] = {row["memory_id"]: row["version"] for row in rows}
    left_out = 0
    for link in links:
        if link.from_id == link.to_id or link.from_id not in versions or link.to_id not in versions:
            left_out += 1
        else:
            await _store(conn, link, versions[link.from_id], versions[link.to_id])
    return left_out


async def _store(conn: Db, link: Link, from_version: int, to_version: int) -> None:
    row = await conn.fetchrow(FIND_LINK_SQL, link.from_id, link.to_id, link.relation)
    version = 1
    if row is None:
        link_id = await conn.fetchval(
            CREATE_LINK_SQL,
            link.space_id,
            link.place_id,
            link.from_id,
            from_version,
            link.to_id,
            to_version,
            link.relation,
            link.confidence,
        )
    else:
        link_id, version = row["link_id"], row["version"]
        if (row["from_version"], row["to_version"]) != (from_version, to_version):
            await conn.execute(KEEP_LINK_SQL, link_id)
            version = await conn.fetchval(
                REVISE_LINK_SQL, link_id, link.place_id, from_version, to_version, link.confidence
            )
    await conn.execute(
        LINK_EVIDENCE_SQL,
        link_id,
        version,
        link.space_id,
        [witness.message_id for witness in link.evidence],
        [witness.place_id for witness in link.evidence],
        [witness.author_id for witness in link.evidence],
        [witness.read_version for witness in link.evidence],
    )
    await conn.execute(CONFIRM_LINK_SQL, link_id, DOUBT_LEFT)
