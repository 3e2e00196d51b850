"""Episodes: what a finished turn asked and answered, kept whole for a time, and gone with its question or answer (I8).

An episode is kept in the transaction that ends its turn, once for the same words in the same place. Its words never
change: an edited or deleted message, a memory of it that is forgotten, or its age takes it away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from asyncpg import Record

from memory.credentials import caught_by
from memory.database import Db
from memory.ids import MessageId, SpaceId, TurnId
from memory.keys import content_hash

QUESTION_CHARS: Final = 4_000
ANSWER_CHARS: Final = 8_000
CUT: Final = " […]"
"""Ends what was longer than is kept."""

KEPT_DAYS: Final = 90
MOST_OF_SPACE: Final = 5_000

# What a turn asked and answered, message by message in order: only of a turn whose answer is out whole, with none of it
# edited since it was read, not of who does not want to be remembered, nor where nothing is, and not where the turn had
# something forgotten.
EXCHANGE_SQL: Final = """
WITH turn AS MATERIALIZED (
    SELECT t.turn_id, t.space_id, t.place_id, t.author_id, t.trigger_id, t.started_at FROM turns t
    WHERE t.turn_id = $1 AND t.state = 'answered' AND t.outcome = 'answer'
      AND NOT EXISTS (SELECT FROM member_choices c WHERE c.user_id = t.author_id AND NOT c.remembered)
      AND setting_of(t.space_id, t.place_id, 'memory') IS DISTINCT FROM 'false'::jsonb
      AND NOT EXISTS (
        SELECT FROM action_receipts r
        WHERE r.turn_id = t.turn_id AND r.action = 'forget' AND r.state <> 'refused')
), part AS (
    SELECT 'question' AS side, q.message_id, q.message_id AS at, t.space_id
    FROM turn t JOIN turn_triggers q USING (turn_id)
    UNION ALL
    SELECT 'answer', r.external_id, p.part, t.space_id
    FROM turn t JOIN turn_parts p USING (turn_id)
    LEFT JOIN action_receipts r ON r.nonce = p.nonce AND r.state = 'applied'
)
SELECT t.space_id, t.place_id, t.author_id AS asker_id, t.trigger_id AS said_id, p.side, p.message_id, m.version_at,
       m.content, m.author_name, m.created_at,
       m.message_id IS NOT NULL AND m.deleted_at IS NULL
         AND (p.side = 'answer' OR m.edited_at IS NULL OR m.edited_at < t.started_at) AS stands
FROM turn t CROSS JOIN part p LEFT JOIN chat_messages m ON m.space_id = p.space_id AND m.message_id = p.message_id
ORDER BY p.side DESC, p.at
"""

# An episode of the same words that lost one of its messages makes room.
DROP_DEAD_COPY_SQL: Final = """
DELETE FROM memory_episodes e
WHERE e.space_id = $1 AND e.place_id = $2 AND e.content_hash = $3
  AND NOT EXISTS (SELECT FROM live_episodes l WHERE l.episode_id = e.episode_id)
"""

# Keep an episode with the messages that it is made of, unless the same words were kept in its place already.
KEEP_SQL: Final = """
WITH kept AS (
    INSERT INTO memory_episodes (space_id, place_id, asker_id, asker_name, question, answer, content_hash, terms,
                                 said_at, said_id)
    SELECT $1, $2, $3, $4, $5, $6, $7,
           ARRAY(SELECT hashtextextended(term, $1) FROM memory_terms_of($5 || ' ' || $6) ORDER BY 1), $8, $9
    ON CONFLICT (space_id, place_id, content_hash) DO NOTHING
    RETURNING episode_id, space_id
), made_of AS (
    INSERT INTO episode_messages (episode_id, space_id, message_id, read_version)
    SELECT episode_id, space_id, message_id, read_version
    FROM kept CROSS JOIN unnest($10::bigint[], $11::timestamptz[]) AS m (message_id, read_version)
)
SELECT episode_id FROM kept
"""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Both sides of a turn as they are kept, and the messages that they come from."""

    question: str
    answer: str
    messages: tuple[Record, ...]

    @property
    def digest(self) -> bytes:
        """The same words on both sides are the same episode."""
        return content_hash(f"{self.question}\n\x1f\n{self.answer}")


async def keep_episode(conn: Db, turn_id: TurnId) -> int | None:
    """Keep what the turn, which just ended, asked and answered, in the caller's transaction; gives the episode's id.

    None where nothing is kept: the turn failed, one side has no words, a message was edited or deleted meanwhile, the
    member is not to be remembered, the words hold a credential (I13), or the same was kept before.
    """
    exchange = _exchange(await conn.fetch(EXCHANGE_SQL, turn_id))
    if exchange is None:
        return None
    first = exchange.messages[0]
    place = (first["space_id"], first["place_id"])
    await conn.execute(DROP_DEAD_COPY_SQL, *place, exchange.digest)
    kept: int | None = await conn.fetchval(
        KEEP_SQL,
        *place,
        first["asker_id"],
        first["author_name"] or "",
        exchange.question,
        exchange.answer,
        exchange.digest,
        first["created_at"],
        first["said_id"],
        [each["message_id"] for each in exchange.messages],
        [each["version_at"] for each in exchange.messages],
    )
    return kept


def _exchange(rows: Sequence[Record]) -> Exchange | None:
    sides = {
        side: "\n".join(row["content"] for row in rows if row["side"] == side and row["content"])
        for side in ("question", "answer")
    }
    if not all(row["stands"] for row in rows) or not all(map(_has_words, sides.values())):
        return None
    if any(caught_by(words) is not None for words in sides.values()):
        return None
    return Exchange(cut(sides["question"], QUESTION_CHARS), cut(sides["answer"], ANSWER_CHARS), tuple(rows))


def cut(text: str, chars: int) -> str:
    """At most so many characters of a text, marked where more was there."""
    return text if len(text) <= chars else text[: chars - len(CUT)] + CUT


def _has_words(text: str) -> bool:
    """Whether anything was said: a lone mention or emoji is no word."""
    return any(each.isalpha() for word in text.split() if not word.startswith("<") for each in word)


# Episodes that any of these messages is part of, and that do not stand any more.
TAKE_BACK_SQL: Final = """
DELETE FROM memory_episodes e USING episode_messages s
WHERE s.space_id = $1 AND s.message_id = ANY($2::bigint[]) AND e.episode_id = s.episode_id
  AND NOT EXISTS (SELECT FROM live_episodes l WHERE l.episode_id = e.episode_id)
"""


async def take_back_episodes(conn: Db, space_id: SpaceId, message_ids: Sequence[MessageId]) -> None:
    """Remove what was made of messages that were edited or deleted; recall left it out from their commit on."""
    await conn.execute(TAKE_BACK_SQL, space_id, message_ids)


# Episodes of the messages that these memories rest on.
FORGET_WITH_SQL: Final = """
DELETE FROM memory_episodes e USING episode_messages s, memory_evidence v
WHERE v.memory_id = ANY($1::bigint[]) AND s.space_id = v.space_id AND s.message_id = v.message_id
  AND e.episode_id = s.episode_id
"""


async def forget_episodes_with(conn: Db, memory_ids: Sequence[int]) -> None:
    """Who has a memory forgotten does not want to hear it from an episode either."""
    await conn.execute(FORGET_WITH_SQL, memory_ids)


# Episodes past their time, the oldest first.
EXPIRE_EPISODES_SQL: Final = """
WITH dropped AS (
    DELETE FROM memory_episodes WHERE episode_id IN (
        SELECT episode_id FROM memory_episodes WHERE kept_at < now() - make_interval(days => $1)
        ORDER BY kept_at LIMIT $2)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# Of spaces with more than $1 episodes the oldest ones beyond that, a bounded number of each. Spaces are found by
# stepping through the index, so that no episode is read for it.
CROWD_OUT_SQL: Final = """
WITH RECURSIVE spaces AS (
    (SELECT space_id FROM memory_episodes ORDER BY space_id LIMIT 1)
    UNION ALL
    SELECT (SELECT e.space_id FROM memory_episodes e WHERE e.space_id > s.space_id ORDER BY e.space_id LIMIT 1)
    FROM spaces s WHERE s.space_id IS NOT NULL
), beyond AS (
    SELECT b.episode_id FROM spaces s CROSS JOIN LATERAL (
        SELECT e.episode_id FROM memory_episodes e WHERE e.space_id = s.space_id
        ORDER BY e.episode_id DESC OFFSET $1 LIMIT $2) AS b
), dropped AS (
    DELETE FROM memory_episodes WHERE episode_id IN (SELECT episode_id FROM beyond) RETURNING 1
)
SELECT count(*) FROM dropped
"""
