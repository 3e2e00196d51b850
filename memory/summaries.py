"""The running summary of each place: what it holds, what is added to it, and when it starts anew.

It only moves forward, message by message; where something that it may hold was edited, deleted or forgotten, it is
hidden from that commit on (memory.tombstones) and written again from what still stands.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson

from memory.batches import WITHHELD
from memory.beginnings import SINCE_START
from memory.choices import PLACE_REMEMBERS, REMEMBERED
from memory.credentials import caught_by
from memory.database import Db
from memory.errors import QuestionRefused
from memory.ids import MessageId, PlaceId, SpaceId
from memory.ingestion import pause_after
from memory.items import clean
from memory.ports import Answer, Question
from memory.prompts import SUMMARIZE, instructions
from memory.scope import Scope, fetch_scoped

_INSTRUCTIONS: Final = instructions(SUMMARIZE)
SUMMARY_CHARS: Final = 8_000
MESSAGES_AT_ONCE: Final = 60
CHARS_AT_ONCE: Final = 12_000
OLDEST_AGAIN: Final = 400
"""A summary that starts anew goes back so many messages."""

_SHOWN_CHARS: Final = 1_500
_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Summary:
    """What was said in a place up to `through_id`. `written_at`: when it was last added to."""

    content: str
    through_id: MessageId
    written_at: datetime


# The place's summary, unless something that it may hold is gone.
READ_SUMMARY_SQL: Final = f"""
SELECT content, through_id, written_at FROM conversation_summaries
WHERE space_id = $1 AND place_id = $2 AND stale_at IS NULL AND content <> '' AND written_at IS NOT NULL
  AND {PLACE_REMEMBERS.format(space="$1", place="$2")}
"""


async def read_summary(db: Db, scope: Scope) -> Summary | None:
    """The summary of the scope's own place; None where there is none, or where it is being written again."""
    rows = await fetch_scoped(db, READ_SUMMARY_SQL, scope)
    return Summary(**dict(rows[0])) if rows else None


@dataclass(frozen=True, slots=True)
class SummaryClaim:
    """A place whose summary is ours to write until the lease is over; `content` is empty where it starts anew."""

    space_id: SpaceId
    place_id: PlaceId
    lease_no: int
    epoch: int
    content: str
    through_id: MessageId
    target: MessageId
    anew: bool
    attempts: int


# One place with messages that were not looked at, or with a summary that is to start anew or whose writer fell silent,
# the longest waiting first.
# What is read until `target` is noted before it is read, so that an edit meanwhile is known by it.
CLAIM_SUMMARY_SQL: Final = """
WITH picked AS MATERIALIZED (
    SELECT t.space_id, t.place_id, t.target
    FROM ingestion_targets t LEFT JOIN conversation_summaries s USING (space_id, place_id)
    WHERE (s.stale_at IS NOT NULL OR s.lease_until < now() OR t.target > coalesce(s.seen_target, 0) AND (
            t.done_target > coalesce(s.seen_target, 0)
            OR t.raised_at <= now() - make_interval(secs => $2) OR t.waiting_at <= now() - make_interval(secs => $3)))
      AND NOT $4 AND NOT EXISTS (SELECT FROM operator_switches WHERE name = 'stop' AND is_on)
      AND coalesce(s.available_at, t.raised_at) <= now() AND (s.lease_until IS NULL OR s.lease_until < now())
    ORDER BY s.available_at NULLS FIRST, t.space_id, t.place_id LIMIT 1
)
INSERT INTO conversation_summaries AS s (space_id, place_id, reading_id, seen_target, lease_no, lease_until)
SELECT space_id, place_id, target, target, 1, now() + make_interval(secs => $1) FROM picked
ON CONFLICT (space_id, place_id) DO UPDATE SET
    reading_id = EXCLUDED.reading_id, seen_target = EXCLUDED.seen_target, lease_no = s.lease_no + 1,
    lease_until = EXCLUDED.lease_until
WHERE s.lease_until IS NULL OR s.lease_until < now()
RETURNING s.space_id, s.place_id, s.lease_no, s.epoch, s.content, s.through_id, s.reading_id AS target,
    s.stale_at IS NOT NULL AS anew, s.attempts
"""


async def claim_summary(
    conn: Db, *, lease_s: float, quiet_s: float, longest_s: float, stopped: bool = False
) -> SummaryClaim | None:
    """Claim one place for `lease_s` seconds; None where nothing is to be summed up (I14).

    What was said is looked at when it was read for memory, or when it has settled by the same measures: a place that
    cannot be read is summed up all the same. With `stopped`, or while the operator's switch says so, nothing is.
    """
    row = await conn.fetchrow(CLAIM_SUMMARY_SQL, lease_s, quiet_s, longest_s, stopped)
    if row is None:
        return None
    anew = row["anew"]
    return SummaryClaim(
        row["space_id"],
        row["place_id"],
        row["lease_no"],
        row["epoch"],
        "" if anew else row["content"],
        MessageId(0) if anew else row["through_id"],
        row["target"],
        anew,
        row["attempts"],
    )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages to add to a summary, up to `through_id`; `more` follow."""

    lines: tuple[dict[str, str], ...]
    since_id: MessageId
    through_id: MessageId
    more: bool


# The next messages for a summary; what somebody had forgotten is left out, and what is older than the newest $6 too.
READ_STRETCH_SQL: Final = f"""
SELECT m.message_id, m.author_kind, m.author_name, m.content, m.created_at
FROM chat_messages m
WHERE m.space_id = $1 AND m.place_id = $2 AND m.message_id > $3 AND m.message_id <= $4
  AND {SINCE_START.format(message="m.message_id", space="$1", place="$2")}
  AND m.message_id >= coalesce((
      SELECT o.message_id FROM chat_messages o
      WHERE o.space_id = $1 AND o.place_id = $2 AND o.message_id <= $4
      ORDER BY o.message_id DESC OFFSET $6 LIMIT 1), 0)
  AND m.deleted_at IS NULL AND m.author_id IS NOT NULL AND {REMEMBERED.format(author="m.author_id")}
  AND (SELECT {PLACE_REMEMBERS.format(space="$1", place="$2")})
  AND NOT EXISTS (
      SELECT FROM memory_evidence e JOIN memory_items i USING (memory_id)
      WHERE e.space_id = m.space_id AND e.message_id = m.message_id AND e.read_version = m.version_at
        AND i.state = 'forgotten')
ORDER BY m.message_id LIMIT $5
"""


async def read_stretch(db: Db, claimed: SummaryClaim) -> Stretch:
    """What to add next: fewer messages after each failed attempt."""
    limit = max(MESSAGES_AT_ONCE >> claimed.attempts, 1)
    rows = await db.fetch(
        READ_STRETCH_SQL,
        claimed.space_id,
        claimed.place_id,
        claimed.through_id,
        claimed.target,
        limit + 1,
        OLDEST_AGAIN,
    )
    lines: list[dict[str, str]] = []
    room, last = CHARS_AT_ONCE, claimed.through_id
    for row in rows[:limit]:
        room -= len(row["content"])
        if lines and room < 0:
            break
        last = row["message_id"]
        text = row["content"][:_SHOWN_CHARS]
        lines.append(
            {
                "at": row["created_at"].strftime("%Y-%m-%d %H:%M UTC"),
                "name": row["author_name"] or "",
                "by": "assistant" if row["author_kind"] == "self" else row["author_kind"],
                "text": WITHHELD if caught_by(row["content"]) else text,
            }
        )
    more = len(lines) < len(rows)
    first = rows[0]["message_id"] if rows else claimed.target
    return Stretch(tuple(lines), first, last if more else claimed.target, more)


def summary_question(claimed: SummaryClaim, stretch: Stretch) -> Question:
    """What to ask: the summary so far, and what was said since, as data (I12)."""
    data = {"summary": claimed.content, "messages": stretch.lines}
    return Question("summary", _INSTRUCTIONS, orjson.dumps(data).decode())


def read_answer(answer: Answer) -> str:
    """The new summary. Raises QuestionRefused where there is none that may be kept."""
    content = clean(answer.text)
    if not answer.whole or not content:
        raise QuestionRefused("cut", "The model's summary was cut off, filtered or empty.")
    if len(content) > SUMMARY_CHARS:
        raise QuestionRefused("too_long", "The model's summary is too long.")
    rule = caught_by(content)
    if rule is not None:
        raise QuestionRefused("secret", f"The model's summary holds {rule.what}.")
    return content


# Add to the summary, if it is still ours and nothing under it changed since it was claimed.
WRITE_SUMMARY_SQL: Final = """
UPDATE conversation_summaries SET
    content = $5, since_id = CASE WHEN $6 OR since_id = 0 THEN $7 ELSE since_id END,
    through_id = CASE WHEN $6 THEN $8 ELSE greatest(through_id, $8) END, reading_id = 0,
    seen_target = CASE WHEN $9 THEN 0 ELSE seen_target END, version = version + 1, stale_at = NULL, lease_until = NULL,
    attempts = 0, available_at = now(), failure = NULL, written_at = now()
WHERE space_id = $1 AND place_id = $2 AND lease_no = $3 AND epoch = $4
RETURNING true
"""


async def write_summary(conn: Db, claimed: SummaryClaim, stretch: Stretch, content: str) -> bool:
    """Keep the new summary; False, and nothing is kept, if something under it changed or somebody else has it."""
    kept = await conn.fetchval(
        WRITE_SUMMARY_SQL,
        claimed.space_id,
        claimed.place_id,
        claimed.lease_no,
        claimed.epoch,
        content,
        claimed.anew,
        stretch.since_id,
        stretch.through_id,
        stretch.more,
    )
    return kept is not None


# Give a summary back: as it was, to be looked at when more was said, or to be tried again after a pause.
GIVE_BACK_SUMMARY_SQL: Final = """
UPDATE conversation_summaries SET
    lease_until = NULL, reading_id = 0, attempts = $4, available_at = now() + make_interval(secs => $5), failure = $6,
    seen_target = CASE WHEN $7 THEN seen_target ELSE 0 END
WHERE space_id = $1 AND place_id = $2 AND lease_no = $3
"""


async def wait_for_more(conn: Db, claimed: SummaryClaim) -> None:
    """Too little was said: look again when somebody says more."""
    await conn.execute(GIVE_BACK_SUMMARY_SQL, claimed.space_id, claimed.place_id, claimed.lease_no, 0, 0.0, None, True)


async def try_later(conn: Db, claimed: SummaryClaim, *, failure: str | None, shorter: bool, after_s: float = 0) -> None:
    """Try again after a pause, with less to read if it was `shorter` that was wanted."""
    attempts = min(claimed.attempts + 1, _TRIES) if shorter else claimed.attempts
    pause_s = max(after_s, pause_after(attempts + 1)) if failure else 0.0
    await conn.execute(
        GIVE_BACK_SUMMARY_SQL, claimed.space_id, claimed.place_id, claimed.lease_no, attempts, pause_s, failure, False
    )


# Every message of the stretch is read, and nothing of it can be summed up: go on after it.
SKIP_STRETCH_SQL: Final = """
UPDATE conversation_summaries SET
    content = CASE WHEN $6 THEN '' ELSE content END, stale_at = CASE WHEN $6 THEN NULL ELSE stale_at END,
    through_id = CASE WHEN $6 THEN $4 ELSE greatest(through_id, $4) END, reading_id = 0, lease_until = NULL,
    attempts = 0, available_at = now(), seen_target = 0, failure = $5
WHERE space_id = $1 AND place_id = $2 AND lease_no = $3 AND epoch = $7
"""


async def skip(conn: Db, claimed: SummaryClaim, stretch: Stretch, *, failure: str) -> None:
    """Leave out a message that no attempt could sum up."""
    await conn.execute(
        SKIP_STRETCH_SQL,
        claimed.space_id,
        claimed.place_id,
        claimed.lease_no,
        stretch.through_id,
        failure,
        claimed.anew,
        claimed.epoch,
    )


def is_last_try(claimed: SummaryClaim) -> bool:
    """Whether less cannot be read at once, and it was refused all the same."""
    return claimed.attempts >= _TRIES
