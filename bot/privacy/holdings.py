"""What is kept of a person: counted for them to see, and collected for them to take along."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from memory.choices import choices_of
from memory.database import Db
from memory.ids import UserId

MOST_BYTES: Final = 8_000_000
"""What a file may have that goes by an interaction, with room to spare: Discord takes 10 MiB."""

MOST_ROWS: Final = 20_000
_STATEMENT_S: Final = 60.0

# How much is kept of a person, by kind.
HOLDINGS_SQL: Final = """
SELECT (SELECT count(*) FROM chat_messages WHERE author_id = $1 AND deleted_at IS NULL) AS messages,
       (SELECT count(*) FROM message_reactions WHERE user_id = $1) AS reactions,
       (SELECT count(*) FROM memory_items WHERE scope = 'user' AND owner_id = $1 AND state = 'active') AS memories,
       (SELECT count(*) FROM memory_items
        WHERE author_id = $1 AND state = 'active' AND NOT (scope = 'user' AND owner_id = $1)) AS told,
       (SELECT count(*) FROM memory_episodes WHERE asker_id = $1) AS episodes,
       (SELECT count(*) FROM mod_cases WHERE subject_id = $1) AS cases
"""


async def holdings(db: Db, user_id: UserId) -> Mapping[str, int]:
    """Counts: messages, reactions, memories (their own), told (others that rest on them), episodes, cases."""
    row = await db.fetchrow(HOLDINGS_SQL, user_id, timeout=_STATEMENT_S)
    return {name: int(count) for name, count in (dict(row) if row is not None else {}).items()}


# What a person wrote, as it reads now, the newest first.
EXPORT_MESSAGES_SQL: Final = """
SELECT jsonb_build_object('guild_or_conversation', m.space_id::text, 'channel', m.place_id::text,
           'message', m.message_id::text, 'written_at', m.created_at, 'edited_at', m.edited_at,
           'deleted_at', m.deleted_at, 'content', m.content, 'beside', m.extras,
           'earlier_versions', (SELECT jsonb_agg(r.content ORDER BY r.version_at) FROM chat_message_revisions r
                                WHERE r.space_id = m.space_id AND r.message_id = m.message_id))::text AS row
FROM chat_messages m WHERE m.author_id = $1 ORDER BY m.message_id DESC LIMIT $2
"""

# What they reacted with.
EXPORT_REACTIONS_SQL: Final = """
SELECT jsonb_build_object('message', message_id::text, 'channel', place_id::text, 'emoji', emoji,
           'at', reacted_at)::text AS row
FROM message_reactions WHERE user_id = $1 ORDER BY reacted_at DESC LIMIT $2
"""

# What is remembered of them, or because they said it; with earlier values.
EXPORT_MEMORIES_SQL: Final = """
SELECT jsonb_build_object('guild_or_conversation', i.space_id::text, 'scope', i.scope, 'kind', i.kind, 'key', i.key,
           'content', i.content, 'state', i.state, 'said_at', i.said_at, 'importance', i.importance,
           'confidence', i.confidence, 'expires_at', i.expires_at,
           'rests_on', (SELECT jsonb_agg(DISTINCT e.message_id::text) FROM memory_evidence e
                        WHERE e.memory_id = i.memory_id AND e.author_id = $1),
           'earlier_values', (SELECT jsonb_agg(r.content ORDER BY r.version) FROM memory_item_revisions r
                              WHERE r.memory_id = i.memory_id))::text AS row
FROM memory_items i
WHERE (i.scope = 'user' AND i.owner_id = $1) OR i.author_id = $1
ORDER BY i.memory_id DESC LIMIT $2
"""

# What they asked, and were answered.
EXPORT_EPISODES_SQL: Final = """
SELECT jsonb_build_object('channel', place_id::text, 'asked_at', said_at, 'question', question, 'answer', answer)::text
    AS row
FROM memory_episodes WHERE asker_id = $1 ORDER BY episode_id DESC LIMIT $2
"""

# What was done for them.
EXPORT_ACTIONS_SQL: Final = """
SELECT jsonb_build_object('channel', place_id::text, 'asked_by', trigger_id::text, 'action', action, 'state', state,
           'at', intended_at)::text AS row
FROM action_receipts WHERE requester_id = $1 ORDER BY receipt_id DESC LIMIT $2
"""

# What their questions used, a row a day.
EXPORT_SPEND_SQL: Final = """
SELECT jsonb_build_object('guild_or_conversation', space_id::text, 'day', day, 'tokens', tokens)::text AS row
FROM token_spend WHERE member_id = $1 ORDER BY day DESC LIMIT $2
"""

SECTIONS: Final[Mapping[str, str]] = {
    "memories": EXPORT_MEMORIES_SQL,
    "questions_and_answers": EXPORT_EPISODES_SQL,
    "reactions": EXPORT_REACTIONS_SQL,
    "actions": EXPORT_ACTIONS_SQL,
    "spent": EXPORT_SPEND_SQL,
    "messages": EXPORT_MESSAGES_SQL,
}


async def export(db: Db, user_id: UserId) -> bytes:
    """All of it as JSON of at most MOST_BYTES; a section that did not fit whole says how many rows it has."""
    choices = await choices_of(db, user_id)
    made: dict[str, Any] = {
        "user": str(user_id),
        "choices": {
            "remembered": choices.remembered,
            "read_by_model": choices.read_by_model,
            "time_zone": choices.time_zone,
        },
        "cut": {},
    }
    room = MOST_BYTES
    for section, statement in SECTIONS.items():
        rows = await db.fetch(statement, user_id, MOST_ROWS + 1, timeout=_STATEMENT_S)
        taken: list[Any] = []
        for row in rows[:MOST_ROWS]:
            room -= len(row["row"].encode()) + 80
            if room < 0:
                break
            taken.append(orjson.loads(row["row"]))
        made[section] = taken
        if len(taken) < len(rows):
            made["cut"][section] = f"the newest {len(taken)} of more are here; ask who runs the bot for the rest"
    return orjson.dumps(made, option=orjson.OPT_INDENT_2)
