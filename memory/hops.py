"""One hop along evidence-backed links from the strongest memories of a recall, under the same filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory.arms import OURS, WANTED
from memory.candidates import Candidate, Looked, looked_args
from memory.database import Borrowed, Connection
from memory.kinds import Relation
from memory.places import SHOWN_PLACES
from memory.ranking import Ranked
from memory.scope import Scope, fetch_scoped

SEEDS: Final = 3
MOST_HOPS: Final = 6
CARRIED: Final = 0.6
"""What a link carries of its seed's score, times how sure it is."""


@dataclass(frozen=True, slots=True)
class Hop:
    """How a memory was reached: from the memory `seed_id`; `direction` is out where the link leads from the seed."""

    seed_id: int
    direction: Literal["out", "in"]
    relation: Relation
    confidence: float
    ranked: Ranked


# The other ends of live links of the seeds, the surest first: links and ends that may show here.
HOPS_SQL: Final = f"""
WITH {SHOWN_PLACES}, ends AS MATERIALIZED (
    SELECT link_id, from_id AS seed_id, to_id AS memory_id, 'out' AS direction FROM memory_links
    WHERE space_id = $1 AND state = 'active' AND from_id = ANY($10::bigint[])
    UNION ALL
    SELECT link_id, to_id, from_id, 'in' FROM memory_links
    WHERE space_id = $1 AND state = 'active' AND to_id = ANY($10::bigint[])
)
SELECT e.seed_id, e.direction, k.relation, k.confidence AS link_confidence, l.memory_id, l.version, l.scope, l.owner_id,
       l.place_id, l.kind, l.key, l.content, l.content_hash, l.author_id, l.author_name, l.said_at, l.said_id,
       l.importance, l.confidence, l.pinned
FROM ends e
JOIN live_links k ON k.link_id = e.link_id AND k.place_id IN (SELECT place_id FROM shown_places)
JOIN live_memories l ON l.memory_id = e.memory_id AND l.space_id = $1
    AND l.place_id IN (SELECT place_id FROM shown_places) AND {OURS.format(row="l")} AND {WANTED}
WHERE $4::text IS NOT NULL
ORDER BY k.confidence DESC, k.link_id LIMIT {MOST_HOPS}
"""


async def hops_from(
    conn: Borrowed | Connection, scope: Scope, looked: Looked, ranked: Sequence[Ranked]
) -> Mapping[int, Hop]:
    """What the strongest of the ranked lead to, by memory; what is ranked itself is not in it."""
    seeds = {each.candidate.memory_id: each for each in ranked[:SEEDS]}
    known = {each.candidate.memory_id for each in ranked}
    if not seeds:
        return {}
    hops: dict[int, Hop] = {}
    for row in await fetch_scoped(conn, HOPS_SQL, scope, *looked_args(looked), list(seeds)):
        fields = dict(row)
        seed = seeds[fields.pop("seed_id")]
        direction, relation = fields.pop("direction"), fields.pop("relation")
        sure = fields.pop("link_confidence")
        end = Candidate(**fields, uses=0, cosine=None, words=0.0, terms=0.0, before_ids=(), after_ids=(), found=False)
        score = seed.score * CARRIED * sure
        if end.memory_id not in known and end.memory_id not in hops:
            reached = Ranked(end, score, score, "unscored")
            hops[end.memory_id] = Hop(seed.candidate.memory_id, direction, relation, sure, reached)
    return hops
