-- Erasing what is kept of a person, a channel or a guild (I15), and what a choice hides beside memories.

-- One request each. `space_id` null: everywhere. `subject_id` is whom or what it is about, and null for a person once it
-- is done: the receipt keeps a keyed hash. `removed` counts what went, by kind.
CREATE TABLE erasures (
    erasure_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    receipt       text NOT NULL UNIQUE CHECK (length(receipt) BETWEEN 8 AND 40),
    kind          text NOT NULL CHECK (kind IN ('member', 'place', 'space')),
    space_id      bigint,
    subject_id    bigint,
    subject_hash  bytea NOT NULL CHECK (length(subject_hash) = 32),
    asked_hash    bytea NOT NULL CHECK (length(asked_hash) = 32),
    state         text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'swept', 'done', 'called_off')),
    removed       jsonb NOT NULL DEFAULT '{}',
    lease_no      bigint NOT NULL DEFAULT 0,
    lease_until   timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    asked_at      timestamptz NOT NULL DEFAULT now(),
    available_at  timestamptz NOT NULL DEFAULT now(),
    swept_at      timestamptz,
    done_at       timestamptz,
    CHECK (kind = 'member' OR space_id IS NOT NULL)
);
CREATE UNIQUE INDEX erasures_open ON erasures (kind, coalesce(space_id, 0), subject_id) WHERE state IN ('queued', 'swept');
CREATE INDEX erasures_due ON erasures (available_at) WHERE state IN ('queued', 'swept');

-- While an erasure runs: the messages that it is about, our own among them, and the lines that were said in them.
CREATE TABLE erasure_messages (
    erasure_id  bigint NOT NULL REFERENCES erasures ON DELETE CASCADE,
    space_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    place_id    bigint NOT NULL,
    PRIMARY KEY (erasure_id, space_id, message_id)
);
CREATE TABLE erasure_lines (
    erasure_id  bigint NOT NULL REFERENCES erasures ON DELETE CASCADE,
    line        text NOT NULL,
    PRIMARY KEY (erasure_id, line)
);

-- Whether a text names the subject of an erasure by its id, or repeats a line of what is erased.
CREATE FUNCTION erasure_touches(of_erasure bigint, who bigint, said text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, public
AS $$
    SELECT strpos(said, who::text) > 0
        OR EXISTS (SELECT FROM erasure_lines l WHERE l.erasure_id = of_erasure AND strpos(lower(said), l.line) > 0)
$$;

-- The episodes that may be shown to anybody at all; as before, and not what somebody asked who chose not to be remembered.
CREATE OR REPLACE VIEW live_episodes AS
SELECT e.episode_id, e.space_id, e.place_id, e.asker_id, e.asker_name, e.question, e.answer, e.content_hash,
       e.said_at, e.said_id, e.kept_at, e.model_id, e.embedding
FROM memory_episodes e
WHERE NOT EXISTS (
    SELECT FROM episode_messages s JOIN chat_messages m ON m.space_id = s.space_id AND m.message_id = s.message_id
    WHERE s.episode_id = e.episode_id AND (m.deleted_at IS NOT NULL OR m.version_at <> s.read_version))
  AND NOT EXISTS (
    SELECT FROM member_choices c WHERE c.user_id = e.asker_id AND NOT (c.remembered AND c.read_by_model));

-- What somebody wrote, wherever; what they asked.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX chat_messages_author ON chat_messages (author_id, message_id DESC);
