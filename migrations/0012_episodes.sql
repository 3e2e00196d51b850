-- Episodes: what was asked and answered, kept whole for a time.

-- One finished turn with words on both sides. It belongs to its place and shows where its place may (I7). Its words
-- never change. terms are the words of both sides as recall compares them, each hashed with the space, so that the index
-- leads to no other space. model_id is null until it has a vector; available_at is when that may be tried (again).
CREATE TABLE memory_episodes (
    episode_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    asker_id      bigint NOT NULL,
    asker_name    text NOT NULL,
    question      text NOT NULL CHECK (length(question) BETWEEN 1 AND 4000),
    answer        text NOT NULL CHECK (length(answer) BETWEEN 1 AND 8000),
    content_hash  bytea NOT NULL CHECK (length(content_hash) = 32),
    terms         bigint[] NOT NULL,
    said_at       timestamptz NOT NULL,
    said_id       bigint NOT NULL,
    kept_at       timestamptz NOT NULL DEFAULT now(),
    model_id      integer REFERENCES embedding_models,
    embedding     halfvec STORAGE MAIN,
    attempts      integer NOT NULL DEFAULT 0,
    available_at  timestamptz NOT NULL DEFAULT now(),
    CHECK ((model_id IS NULL) = (embedding IS NULL)),
    UNIQUE (space_id, place_id, content_hash)
);
CREATE INDEX memory_episodes_space ON memory_episodes (space_id, episode_id);
CREATE INDEX memory_episodes_terms ON memory_episodes USING gin (terms) WITH (fastupdate = off);
CREATE INDEX memory_episodes_said ON memory_episodes (space_id, place_id, said_id);
CREATE INDEX memory_episodes_asker ON memory_episodes (space_id, asker_id);
CREATE INDEX memory_episodes_kept ON memory_episodes (kept_at);
CREATE INDEX memory_episodes_model ON memory_episodes (coalesce(model_id, 0), available_at);
CREATE INDEX memory_episodes_embedded ON memory_episodes (model_id);

-- The messages that an episode is made of, each at the version that was read (I8).
CREATE TABLE episode_messages (
    episode_id    bigint NOT NULL REFERENCES memory_episodes ON DELETE CASCADE,
    space_id      bigint NOT NULL,
    message_id    bigint NOT NULL,
    read_version  timestamptz NOT NULL,
    PRIMARY KEY (episode_id, message_id)
);
CREATE INDEX episode_messages_message ON episode_messages (space_id, message_id);

-- The episodes that may be shown to anybody at all: no message of theirs was edited or deleted. A message that left the
-- journal for its age takes nothing with it.
CREATE VIEW live_episodes AS
SELECT e.episode_id, e.space_id, e.place_id, e.asker_id, e.asker_name, e.question, e.answer, e.content_hash,
       e.said_at, e.said_id, e.kept_at, e.model_id, e.embedding
FROM memory_episodes e
WHERE NOT EXISTS (
    SELECT FROM episode_messages s JOIN chat_messages m ON m.space_id = s.space_id AND m.message_id = s.message_id
    WHERE s.episode_id = e.episode_id AND (m.deleted_at IS NOT NULL OR m.version_at <> s.read_version));

-- The episodes that a recall surfaced, ranked after its memories; as recall_items otherwise.
CREATE TABLE recall_episodes (
    recall_id      bigint NOT NULL REFERENCES recalls ON DELETE CASCADE,
    rank           integer NOT NULL,
    space_id       bigint NOT NULL,
    episode_id     bigint NOT NULL REFERENCES memory_episodes ON DELETE CASCADE,
    reason         text NOT NULL CHECK (reason IN ('semantic', 'keyword', 'both', 'keyword_fallback', 'unscored')),
    score          real,
    cosine         real,
    tokens         integer NOT NULL,
    referenced_at  timestamptz,
    PRIMARY KEY (recall_id, rank)
);
CREATE INDEX recall_episodes_episode ON recall_episodes (episode_id);

-- What a turn answers.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX turn_triggers_turn ON turn_triggers (turn_id);
