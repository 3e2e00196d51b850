"""What is kept of a person, table by table, and how it goes.

Every statement takes the erasure alone, and finds in its row whom it is about and where. They run in this order, each
in a transaction of its own, and any number of times: the journal's keys stay, so that what Discord sends again comes
to nothing (I2); words, names and ids go. What a bot's answer repeats of somebody's lines goes with them.
"""

from dataclasses import dataclass
from typing import Final

_E: Final = "erasures e WHERE e.erasure_id = $1"
_HERE: Final = "(e.space_id IS NULL OR t.space_id = e.space_id)"
_OURS: Final = "(SELECT m.message_id FROM erasure_messages m WHERE m.erasure_id = $1 AND m.space_id = t.space_id)"
_PLACES: Final = "(SELECT m.place_id FROM erasure_messages m WHERE m.erasure_id = $1)"
_ENDED: Final = "('answered', 'failed_told', 'cancelled', 'expired')"

# The messages that they wrote.
COLLECT_MESSAGES_SQL: Final = f"""
INSERT INTO erasure_messages (erasure_id, space_id, message_id, place_id)
SELECT e.erasure_id, t.space_id, t.message_id, t.place_id
FROM chat_messages t, {_E} AND t.author_id = e.subject_id AND {_HERE}
ON CONFLICT DO NOTHING
"""

# By what their words are known again where an answer of ours repeats them: whole lines, long words, five words in a
# row, and their name as we would call them.
COLLECT_LINES_SQL: Final = """
WITH said AS MATERIALIZED (
    SELECT lower(t.content) AS words, lower(t.author_name) AS name
    FROM erasure_messages m JOIN chat_messages t USING (space_id, message_id) WHERE m.erasure_id = $1
    UNION
    SELECT lower(t.content), NULL FROM erasure_messages m JOIN chat_message_revisions t USING (space_id, message_id)
    WHERE m.erasure_id = $1
    UNION
    SELECT lower(i.content), NULL FROM memory_items i, erasures e
    WHERE e.erasure_id = $1 AND i.scope = 'user' AND i.owner_id = e.subject_id
      AND (e.space_id IS NULL OR i.space_id = e.space_id)
), pieces AS (
    SELECT DISTINCT string_to_array(btrim(regexp_replace(line, '\\s+', ' ', 'g')), ' ') AS words, btrim(line) AS line
    FROM said, regexp_split_to_table(said.words, E'\\n') AS line
), marks AS (
    SELECT left(line, 500) AS mark FROM pieces WHERE length(line) >= 12
    UNION SELECT left(word, 500) FROM pieces, unnest(words) AS word WHERE length(word) >= 12
    UNION SELECT left(array_to_string(words[at:at + 4], ' '), 500)
    FROM pieces, generate_series(1, least(cardinality(words), 400) - 4) AS at
    UNION SELECT '@' || name FROM said WHERE length(name) >= 2
)
INSERT INTO erasure_lines (erasure_id, line)
SELECT $1, mark FROM marks ORDER BY length(mark) DESC LIMIT 20000
ON CONFLICT DO NOTHING
"""

# Our own messages that answer them, that name them or repeat them, and those of a conversation with them.
COLLECT_ANSWERS_SQL: Final = f"""
INSERT INTO erasure_messages (erasure_id, space_id, message_id, place_id)
SELECT e.erasure_id, t.space_id, t.message_id, t.place_id
FROM chat_messages t, {_E} AND t.author_kind = 'self' AND {_HERE}
  AND (t.turn_id IN (SELECT u.turn_id FROM turns u WHERE u.author_id = e.subject_id)
       OR t.reply_to_id IN {_OURS}
       OR erasure_touches(e.erasure_id, e.subject_id, t.content || t.extras::text)
       OR (t.space_id = t.place_id AND t.place_id IN {_PLACES}
           AND NOT EXISTS (SELECT FROM audience_guilds g WHERE g.space_id = t.space_id)
           AND NOT EXISTS (SELECT FROM guild_joinings j WHERE j.space_id = t.space_id)))
ON CONFLICT DO NOTHING
"""

# Stop what is being worked on for them; gives what runs.
STOP_TURNS_SQL: Final = f"""
UPDATE turns t SET
    cancel_requested_at = coalesce(t.cancel_requested_at, now()), cancel_reason = coalesce(t.cancel_reason, 'erased'),
    state = CASE t.state WHEN 'queued' THEN 'cancelled' ELSE t.state END,
    ended_at = CASE t.state WHEN 'queued' THEN now() ELSE t.ended_at END
FROM {_E} AND t.author_id = e.subject_id AND {_HERE} AND t.state IN ('queued', 'running', 'composed', 'delivering')
RETURNING CASE WHEN t.state = 'cancelled' THEN NULL ELSE t.turn_id END AS turn_id
"""

# Whether something is under way that has their words in hand: a turn of theirs, or one where they wrote that began
# before they were swept away; and before it is done, messages of before that are still being fetched, and cards about
# them that somebody may press yet.
BUSY_SQL: Final = f"""
SELECT EXISTS (SELECT FROM turns t, {_E} AND t.author_id = e.subject_id AND {_HERE} AND t.state NOT IN {_ENDED})
    OR EXISTS (SELECT FROM turns t, {_E} AND {_HERE} AND t.state IN ('running', 'composed', 'delivering')
               AND t.started_at <= coalesce(e.swept_at, now()) AND t.place_id IN {_PLACES})
    OR EXISTS (SELECT FROM agent_runs t, {_E} AND {_HERE} AND t.state = 'running'
               AND t.started_at <= coalesce(e.swept_at, now()) AND t.place_id IN {_PLACES})
    OR EXISTS (SELECT FROM gateway_gaps t, {_E} AND t.closed_at IS NULL AND t.opened_at <= e.swept_at)
    OR EXISTS (SELECT FROM action_cards t, {_E} AND {_HERE} AND t.state = 'open' AND t.asked_at <= e.swept_at
               AND erasure_touches(e.erasure_id, e.subject_id, t.question || t.asked_action::text))
"""

# The transcripts of runs in places where they wrote, and of those that name or repeat them; the counts of a run stay.
WIPE_CALLS_SQL: Final = f"""
UPDATE agent_tool_calls c SET arguments = '', result = NULL, whole = NULL, arguments_preview = '', result_preview = ''
FROM agent_runs t, {_E} AND c.run_id = t.run_id AND {_HERE} AND t.state <> 'running'
  AND (t.place_id IN {_PLACES}
       OR erasure_touches(e.erasure_id, e.subject_id, t.prompt::text)
       OR erasure_touches(e.erasure_id, e.subject_id, c.arguments || coalesce(c.result::text, '')
                          || coalesce(c.whole::text, '') || c.arguments_preview || c.result_preview))
"""
WIPE_STEPS_SQL: Final = f"""
UPDATE agent_steps s SET reply = s.reply - 'text' - 'calls'
FROM agent_runs t, {_E} AND s.run_id = t.run_id AND {_HERE} AND t.state <> 'running'
  AND (t.place_id IN {_PLACES}
       OR erasure_touches(e.erasure_id, e.subject_id, t.prompt::text)
       OR erasure_touches(e.erasure_id, e.subject_id, s.reply::text))
"""
WIPE_RUNS_SQL: Final = f"""
UPDATE agent_runs t SET prompt = '[]', summary = NULL, keywords = '{{}}', expired_at = coalesce(t.expired_at, now())
FROM {_E} AND {_HERE} AND t.state <> 'running'
  AND (t.place_id IN {_PLACES}
       OR erasure_touches(e.erasure_id, e.subject_id,
                          t.prompt::text || coalesce(t.summary, '') || array_to_string(t.keywords, ' ')))
"""

# What answers to others said of them.
WIPE_PARTS_SQL: Final = f"""
UPDATE turn_parts p SET content = '', attached = NULL
FROM turns t, {_E} AND p.turn_id = t.turn_id AND {_HERE} AND t.state IN {_ENDED}
  AND erasure_touches(e.erasure_id, e.subject_id, p.content || coalesce(p.attached, ''))
"""

# What was done for them, or says something of them: that it was stays, under its key. What is still open is not known
# any more, and nobody looks it up.
WIPE_RECEIPTS_SQL: Final = f"""
UPDATE action_receipts t SET
    args = '{{}}', requester_id = NULLIF(t.requester_id, e.subject_id),
    state = CASE t.state WHEN 'intended' THEN 'unknown' ELSE t.state END,
    failure = CASE WHEN t.state IN ('intended', 'unknown') THEN 'unreadable:erased' ELSE t.failure END,
    settled_at = coalesce(t.settled_at, now())
FROM {_E} AND {_HERE}
  AND (t.requester_id = e.subject_id OR t.trigger_id IN {_OURS}
       OR t.turn_id IN (SELECT u.turn_id FROM turns u WHERE u.author_id = e.subject_id)
       OR erasure_touches(e.erasure_id, e.subject_id, t.args::text))
"""
DROP_CARDS_SQL: Final = f"""
DELETE FROM action_cards t USING {_E} AND {_HERE}
  AND (t.requester_id = e.subject_id
       OR (t.state <> 'open' AND erasure_touches(e.erasure_id, e.subject_id,
                                                 t.question || coalesce(t.told, '') || t.asked_action::text)))
"""

DROP_TURNS_SQL: Final = f"DELETE FROM turns t USING {_E} AND t.author_id = e.subject_id AND {_HERE}"
DROP_INBOX_SQL: Final = f"DELETE FROM discord_inbox t USING {_E} AND t.author_id = e.subject_id AND {_HERE}"

# Memories that are theirs, that they told, or that rest on anything they wrote; vectors, postings, jobs, links, uses
# and the record of recalls go with each.
DROP_MEMORIES_SQL: Final = f"""
DELETE FROM memory_items t USING {_E} AND {_HERE}
  AND ((t.scope = 'user' AND t.owner_id = e.subject_id) OR t.author_id = e.subject_id
       OR EXISTS (SELECT FROM memory_evidence v WHERE v.memory_id = t.memory_id AND v.author_id = e.subject_id)
       OR EXISTS (SELECT FROM memory_item_revisions r WHERE r.memory_id = t.memory_id AND r.author_id = e.subject_id)
       OR erasure_touches(e.erasure_id, e.subject_id, t.content || coalesce(t.key, '')))
"""
DROP_LINKS_SQL: Final = f"""
DELETE FROM memory_links t USING {_E} AND {_HERE}
  AND EXISTS (SELECT FROM memory_link_evidence v WHERE v.link_id = t.link_id AND v.author_id = e.subject_id)
"""
DROP_REVISIONS_OF_MEMORIES_SQL: Final = f"""
DELETE FROM memory_item_revisions t USING {_E} AND {_HERE}
  AND erasure_touches(e.erasure_id, e.subject_id, t.content || coalesce(t.key, ''))
"""
UNNAME_REVISIONS_SQL: Final = f"""
UPDATE memory_item_revisions t SET by_id = NULL FROM {_E} AND {_HERE} AND t.by_id = e.subject_id
"""
DROP_OWNERS_SQL: Final = f"""
DELETE FROM memory_owners t USING {_E} AND {_HERE} AND t.scope = 'user' AND t.owner_id = e.subject_id
"""
DROP_EPISODES_SQL: Final = f"""
DELETE FROM memory_episodes t USING {_E} AND {_HERE}
  AND (t.asker_id = e.subject_id
       OR EXISTS (SELECT FROM episode_messages s WHERE s.episode_id = t.episode_id AND s.message_id IN {_OURS})
       OR erasure_touches(e.erasure_id, e.subject_id, t.question || t.answer))
"""
DROP_RECALLS_SQL: Final = f"DELETE FROM recalls t USING {_E} AND t.asker_id = e.subject_id AND {_HERE}"

# Summaries of places where they wrote start anew from what still stands; one that is being written is written in vain.
RESET_SUMMARIES_SQL: Final = f"""
UPDATE conversation_summaries t SET
    content = '', since_id = 0, through_id = 0, epoch = t.epoch + 1, stale_at = coalesce(t.stale_at, now())
FROM {_E} AND {_HERE} AND (t.content <> '' OR t.lease_until IS NOT NULL)
  AND (t.place_id IN {_PLACES} OR erasure_touches(e.erasure_id, e.subject_id, t.content))
"""

# Their messages and our answers are as if they had been deleted before they were seen, and at a version that nothing is
# newer than: what is fetched again comes to nothing.
BLANK_MESSAGES_SQL: Final = f"""
UPDATE chat_messages t SET
    author_id = NULL, author_kind = NULL, author_name = NULL, content = '', reply_to_id = NULL, extras = '{{}}',
    version_at = 'infinity', deleted_at = coalesce(t.deleted_at, now()), turn_id = NULL
FROM {_E} AND {_HERE} AND t.message_id IN {_OURS}
  AND t.version_at <> 'infinity'
"""
DROP_EDITS_SQL: Final = f"""
DELETE FROM chat_message_revisions t USING {_E} AND {_HERE} AND t.message_id IN {_OURS}
"""
DROP_REACTIONS_SQL: Final = f"""
DELETE FROM message_reactions t USING {_E} AND {_HERE} AND (t.user_id = e.subject_id OR t.message_id IN {_OURS})
"""
DROP_REACTION_TASKS_SQL: Final = f"""
DELETE FROM reaction_tasks t USING {_E} AND {_HERE} AND (t.user_id = e.subject_id OR t.message_id IN {_OURS})
"""

# Where others name them.
UNNAME_MESSAGES_SQL: Final = f"""
UPDATE chat_messages t SET
    content = replace(regexp_replace(t.content, '<@!?' || e.subject_id || '>', '@someone', 'g'),
                      e.subject_id::text, 'someone'),
    extras = replace((t.extras #- ARRAY['mentions', e.subject_id::text])::text, e.subject_id::text, '0')::jsonb
FROM {_E} AND {_HERE} AND strpos(t.content || t.extras::text, e.subject_id::text) > 0
"""
UNNAME_EDITS_SQL: Final = f"""
UPDATE chat_message_revisions t SET
    content = replace(regexp_replace(t.content, '<@!?' || e.subject_id || '>', '@someone', 'g'),
                      e.subject_id::text, 'someone')
FROM {_E} AND {_HERE} AND strpos(t.content, e.subject_id::text) > 0
"""

# Raw events that they are a subject of, that name them, or that are of what they wrote; keys stay. A stretch of the
# ledger at a time: after $2, at most $3 events.
BLANK_EVENTS_SQL: Final = f"""
UPDATE discord_events t SET payload = NULL, subject_ids = array_remove(t.subject_ids, e.subject_id)
FROM {_E} AND {_HERE} AND t.event_id > $2 AND t.event_id <= $2 + $3
  AND (e.subject_id = ANY(t.subject_ids)
       OR (t.payload IS NOT NULL
           AND (strpos(t.payload::text, e.subject_id::text) > 0 OR t.message_id IN {_OURS})))
"""

# The newest event.
NEWEST_EVENT_SQL: Final = "SELECT coalesce(max(event_id), 0) FROM discord_events"

DROP_PARKED_SQL: Final = f"""
DELETE FROM parked_events t USING {_E} AND strpos(t.payload || t.reason, e.subject_id::text) > 0
"""
DROP_PARKED_READING_SQL: Final = f"""
DELETE FROM parked_ingestions t USING {_E} AND {_HERE} AND t.message_id IN {_OURS}
"""
DROP_REREADING_SQL: Final = f"""
DELETE FROM ingestion_rereads t USING {_E} AND {_HERE} AND t.message_id IN {_OURS}
"""

# What was spent stays, as nobody's.
UNNAME_AI_EVENTS_SQL: Final = f"""
UPDATE ai_events t SET member_id = NULL FROM {_E} AND t.member_id = e.subject_id AND {_HERE}
"""
UNNAME_SPEND_SQL: Final = f"""
WITH theirs AS (
    DELETE FROM token_spend t USING {_E} AND t.member_id = e.subject_id AND {_HERE}
    RETURNING t.space_id, t.day, t.tokens
)
INSERT INTO token_spend AS s (space_id, day, member_id, tokens)
SELECT space_id, day, 0, tokens FROM theirs ORDER BY space_id, day
ON CONFLICT (space_id, day, member_id) DO UPDATE SET tokens = s.tokens + EXCLUDED.tokens
"""

# What they set for a guild holds on, as nobody's.
UNNAME_SETTINGS_SQL: Final = f"""
UPDATE guild_settings t SET set_by = 0 FROM {_E} AND t.set_by = e.subject_id AND {_HERE}
"""
UNNAME_CHANGES_SQL: Final = f"""
UPDATE guild_setting_changes t SET set_by = 0 FROM {_E} AND t.set_by = e.subject_id AND {_HERE}
"""
UNNAME_RULES_SQL: Final = f"""
UPDATE guild_rules t SET set_by = 0 FROM {_E} AND t.set_by = e.subject_id AND {_HERE}
"""

# What they did as owners of the bot stays, as nobody's.
UNNAME_AUDIT_SQL: Final = f"""
UPDATE operator_audit t SET operator_id = 0 FROM {_E} AND t.operator_id = e.subject_id AND {_HERE}
"""

# What they chose for themselves, but for a choice not to be remembered or read: that must hold on, and is told so.
DROP_CHOICES_SQL: Final = f"""
DELETE FROM member_choices t USING {_E} AND e.space_id IS NULL AND t.user_id = e.subject_id
  AND t.remembered AND t.read_by_model
"""
KEEP_CHOICES_SQL: Final = f"""
UPDATE member_choices t SET time_zone = NULL
FROM {_E} AND e.space_id IS NULL AND t.user_id = e.subject_id AND t.time_zone IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement. `what` it counts, for the summary; None where it only prepares, or counts no thing of its own."""

    what: str | None
    statement: str


COLLECTING: Final = (
    Step(None, COLLECT_MESSAGES_SQL),
    Step(None, COLLECT_LINES_SQL),
    Step(None, COLLECT_ANSWERS_SQL),
)
"""What must be known before anything goes."""

STEPS: Final = (
    Step(None, WIPE_CALLS_SQL),
    Step(None, WIPE_STEPS_SQL),
    Step("transcripts", WIPE_RUNS_SQL),
    Step(None, WIPE_PARTS_SQL),
    Step("receipts", WIPE_RECEIPTS_SQL),
    Step("cards", DROP_CARDS_SQL),
    Step("turns", DROP_TURNS_SQL),
    Step(None, DROP_INBOX_SQL),
    Step("memories", DROP_MEMORIES_SQL),
    Step("links", DROP_LINKS_SQL),
    Step(None, DROP_REVISIONS_OF_MEMORIES_SQL),
    Step(None, UNNAME_REVISIONS_SQL),
    Step(None, DROP_OWNERS_SQL),
    Step("episodes", DROP_EPISODES_SQL),
    Step("recalls", DROP_RECALLS_SQL),
    Step("summaries", RESET_SUMMARIES_SQL),
    Step("messages", BLANK_MESSAGES_SQL),
    Step(None, DROP_EDITS_SQL),
    Step("reactions", DROP_REACTIONS_SQL),
    Step(None, DROP_REACTION_TASKS_SQL),
    Step("mentions", UNNAME_MESSAGES_SQL),
    Step(None, UNNAME_EDITS_SQL),
    Step(None, DROP_PARKED_SQL),
    Step(None, DROP_PARKED_READING_SQL),
    Step(None, DROP_REREADING_SQL),
    Step(None, UNNAME_AI_EVENTS_SQL),
    Step(None, UNNAME_SPEND_SQL),
    Step(None, UNNAME_SETTINGS_SQL),
    Step(None, UNNAME_CHANGES_SQL),
    Step(None, UNNAME_RULES_SQL),
    Step(None, UNNAME_AUDIT_SQL),
    Step(None, DROP_CHOICES_SQL),
    Step(None, KEEP_CHOICES_SQL),
)
"""What goes, in order; the raw ledger comes last, a stretch at a time."""
