-- Durable memory: items, links, evidence, vectors, summaries and their jobs.
-- Words and invariant numbers: docs/reference/architecture.md.

-- What is known, one row a fact. Whose it is: owner_id is the member (user), the place (channel) or the guild (guild).
-- place_id is where the present words come from, which decides where they may show (I7). version counts changes of the
-- words: evidence, links and vectors name the one that they belong to. asserted is the confidence of one mention,
-- confidence grows from it with each further message that says so.
CREATE TABLE memory_items (
    memory_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id      bigint NOT NULL,
    scope         text NOT NULL CHECK (scope IN ('user', 'channel', 'guild')),
    owner_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN
                    ('profile', 'preference', 'fact', 'decision', 'project', 'relationship', 'commitment', 'event', 'skill', 'correction')),
    key           text CHECK (length(key) <= 120 AND key ~ '^[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+(_[a-z0-9]+)*){1,4}$'),
    content       text NOT NULL CHECK (length(content) BETWEEN 1 AND 2000),
    content_hash  bytea NOT NULL CHECK (length(content_hash) = 32),
    version       integer NOT NULL DEFAULT 1,
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'superseded', 'forgotten', 'revoked')),
    source        text NOT NULL CHECK (source IN ('told', 'extracted')),
    rests_on      text NOT NULL CHECK (rests_on IN ('messages', 'author')),
    author_id     bigint NOT NULL,
    author_name   text NOT NULL,
    said_at       timestamptz NOT NULL,
    said_id       bigint NOT NULL,
    importance    real NOT NULL CHECK (importance >= 0 AND importance <= 1),
    asserted      real NOT NULL CHECK (asserted >= 0 AND asserted <= 1),
    confidence    real NOT NULL CHECK (confidence >= 0 AND confidence <= 1),
    pinned        boolean NOT NULL DEFAULT false,
    expires_at    timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    changed_at    timestamptz NOT NULL DEFAULT now()
);
-- One active value a key, and one active row for the same words without a key.
CREATE UNIQUE INDEX memory_items_key ON memory_items (space_id, scope, owner_id, key)
    WHERE state = 'active' AND key IS NOT NULL;
CREATE UNIQUE INDEX memory_items_words ON memory_items (space_id, scope, owner_id, content_hash)
    WHERE state = 'active' AND key IS NULL;
CREATE INDEX memory_items_owner ON memory_items (space_id, scope, owner_id, state, content_hash);

-- Values that were replaced or taken away, as they were.
CREATE TABLE memory_item_revisions (
    memory_id    bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    version      integer NOT NULL,
    space_id     bigint NOT NULL,
    place_id     bigint NOT NULL,
    kind         text NOT NULL,
    key          text,
    content      text NOT NULL,
    source       text NOT NULL,
    author_id    bigint NOT NULL,
    author_name  text NOT NULL,
    said_at      timestamptz NOT NULL,
    importance   real NOT NULL,
    confidence   real NOT NULL,
    reason       text NOT NULL CHECK (reason IN ('revised', 'corrected', 'superseded', 'forgotten', 'revoked')),
    by_id        bigint,
    ended_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (memory_id, version)
);

-- The messages that a value rests on, each at the version that was read (I8).
CREATE TABLE memory_evidence (
    memory_id      bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    version        integer NOT NULL,
    space_id       bigint NOT NULL,
    message_id     bigint NOT NULL,
    place_id       bigint NOT NULL,
    author_id      bigint NOT NULL,
    read_version   timestamptz NOT NULL,
    added_at       timestamptz NOT NULL DEFAULT now(),
    revoked_at     timestamptz,
    revoked_why    text CHECK (revoked_why IN ('edited', 'deleted')),
    aged_out_at    timestamptz,
    PRIMARY KEY (memory_id, version, message_id)
);
CREATE INDEX memory_evidence_message ON memory_evidence (space_id, message_id);

-- How two values relate. It holds between the very versions that it was said of.
CREATE TABLE memory_links (
    link_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    from_id       bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    from_version  integer NOT NULL,
    to_id         bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    to_version    integer NOT NULL,
    relation      text NOT NULL CHECK (relation IN
                    ('supports', 'contradicts', 'updates', 'part_of', 'caused_by', 'related_to')),
    version       integer NOT NULL DEFAULT 1,
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'superseded', 'forgotten', 'revoked')),
    asserted      real NOT NULL CHECK (asserted >= 0 AND asserted <= 1),
    confidence    real NOT NULL CHECK (confidence >= 0 AND confidence <= 1),
    created_at    timestamptz NOT NULL DEFAULT now(),
    changed_at    timestamptz NOT NULL DEFAULT now(),
    CHECK (from_id <> to_id)
);
CREATE UNIQUE INDEX memory_links_ends ON memory_links (from_id, to_id, relation) WHERE state = 'active';
CREATE INDEX memory_links_to ON memory_links (to_id);

-- Links that were replaced or taken away, as they were.
CREATE TABLE memory_link_revisions (
    link_id       bigint NOT NULL REFERENCES memory_links ON DELETE CASCADE,
    version       integer NOT NULL,
    space_id      bigint NOT NULL,
    from_version  integer NOT NULL,
    to_version    integer NOT NULL,
    confidence    real NOT NULL,
    reason        text NOT NULL CHECK (reason IN ('revised', 'superseded', 'forgotten', 'revoked')),
    ended_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (link_id, version)
);

-- The messages that a link rests on, as for values.
CREATE TABLE memory_link_evidence (
    link_id       bigint NOT NULL REFERENCES memory_links ON DELETE CASCADE,
    version       integer NOT NULL,
    space_id      bigint NOT NULL,
    message_id    bigint NOT NULL,
    place_id      bigint NOT NULL,
    author_id     bigint NOT NULL,
    read_version  timestamptz NOT NULL,
    added_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at    timestamptz,
    revoked_why   text CHECK (revoked_why IN ('edited', 'deleted')),
    aged_out_at   timestamptz,
    PRIMARY KEY (link_id, version, message_id)
);
CREATE INDEX memory_link_evidence_message ON memory_link_evidence (space_id, message_id);

-- What an owner wrote in the running window, for the rate limit.
CREATE TABLE memory_owners (
    space_id   bigint NOT NULL,
    scope      text NOT NULL CHECK (scope IN ('user', 'channel', 'guild')),
    owner_id   bigint NOT NULL,
    window_at  timestamptz NOT NULL DEFAULT now(),
    writes     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (space_id, scope, owner_id)
);

-- The embedding models that were ever used; the newest is_current one embeds. Vectors of two models are never compared.
CREATE TABLE embedding_models (
    model_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL,
    dimensions  integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    is_current  boolean NOT NULL DEFAULT false,
    filled_at   timestamptz,
    known_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (name, dimensions)
);
CREATE UNIQUE INDEX embedding_models_current ON embedding_models (is_current) WHERE is_current;

-- One vector a memory and model, of the version that it says. Each model has an index of its own, made with its row.
CREATE TABLE memory_vectors (
    memory_id    bigint NOT NULL REFERENCES memory_items ON DELETE CASCADE,
    model_id     integer NOT NULL REFERENCES embedding_models,
    version      integer NOT NULL,
    space_id     bigint NOT NULL,
    embedding    halfvec NOT NULL,
    embedded_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (memory_id, model_id)
);
CREATE INDEX memory_vectors_model ON memory_vectors (model_id, memory_id);

-- Memories that wait for a vector; the newest version wins.
CREATE TABLE embedding_jobs (
    memory_id     bigint PRIMARY KEY REFERENCES memory_items ON DELETE CASCADE,
    space_id      bigint NOT NULL,
    version       integer NOT NULL,
    lease_no      bigint NOT NULL DEFAULT 0,
    lease_until   timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    available_at  timestamptz NOT NULL DEFAULT now(),
    failure       text,
    queued_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX embedding_jobs_due ON embedding_jobs (available_at, memory_id);
CREATE INDEX embedding_jobs_failing ON embedding_jobs (failure) WHERE failure IS NOT NULL;

-- Messages that were edited or deleted, for the memory worker to take back what rested on them (I8).
CREATE TABLE memory_revocations (
    revocation_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id       bigint NOT NULL,
    place_id       bigint NOT NULL,
    message_id     bigint NOT NULL,
    why            text NOT NULL CHECK (why IN ('edited', 'deleted')),
    noted_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX memory_revocations_place ON memory_revocations (space_id, place_id, revocation_id);

-- Messages to be read out of turn: changed after they were read, or fetched late.
CREATE TABLE ingestion_rereads (
    space_id    bigint NOT NULL,
    place_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id, message_id)
);

-- How the reading of each place stands: since when something waits, how much is read at once after a failure, and why.
ALTER TABLE ingestion_targets
    ADD COLUMN raised_at    timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN waiting_at   timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN batch_limit  integer,
    ADD COLUMN failure      text;

-- Messages that no attempt could read, for an operator to see; the words stay in the journal.
CREATE TABLE parked_ingestions (
    space_id    bigint NOT NULL,
    place_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    failure     text NOT NULL,
    parked_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, message_id)
);

-- What was extracted and what was refused and why, a row a day, so that a silent failure shows.
CREATE TABLE extraction_counts (
    day       date NOT NULL,
    outcome   text NOT NULL,
    how_many  bigint NOT NULL,
    PRIMARY KEY (day, outcome)
);

-- The longer thread of each place, up to through_id. seen_target is the newest message when it was last looked at,
-- reading_id the newest that is being summarised now. An edit or delete at or before either raises epoch, so that
-- words in flight are not written, and where they were summarised already sets stale_at, which hides them at once (I8).
CREATE TABLE conversation_summaries (
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    content       text NOT NULL DEFAULT '' CHECK (length(content) <= 8000),
    since_id      bigint NOT NULL DEFAULT 0,
    through_id    bigint NOT NULL DEFAULT 0,
    reading_id    bigint NOT NULL DEFAULT 0,
    seen_target   bigint NOT NULL DEFAULT 0,
    version       integer NOT NULL DEFAULT 0,
    epoch         bigint NOT NULL DEFAULT 0,
    stale_at      timestamptz,
    lease_no      bigint NOT NULL DEFAULT 0,
    lease_until   timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    available_at  timestamptz NOT NULL DEFAULT now(),
    failure       text,
    written_at    timestamptz,
    PRIMARY KEY (space_id, place_id)
);

-- Evidence that still stands: the message was neither deleted nor edited since it was read. The message's own row is the
-- tombstone, so that this is true from the commit of the event on. A row that aged out is no deletion.
CREATE VIEW live_evidence AS
SELECT e.memory_id, e.version, e.space_id, e.message_id, e.place_id, e.author_id, e.read_version, e.added_at, e.aged_out_at
FROM memory_evidence e
WHERE e.revoked_at IS NULL AND NOT EXISTS (
    SELECT FROM chat_messages m
    WHERE m.space_id = e.space_id AND m.message_id = e.message_id
      AND (m.deleted_at IS NOT NULL OR m.version_at <> e.read_version));

-- The memories that may be shown to anybody at all: active, unexpired, and with something to rest on.
CREATE VIEW live_memories AS
SELECT i.memory_id, i.space_id, i.scope, i.owner_id, i.place_id, i.kind, i.key, i.content, i.content_hash, i.version,
       i.source, i.rests_on, i.author_id, i.author_name, i.said_at, i.said_id, i.importance, i.confidence, i.pinned,
       i.expires_at, i.created_at, i.changed_at
FROM memory_items i
WHERE i.state = 'active' AND (i.expires_at IS NULL OR i.expires_at > now())
  AND (i.rests_on = 'author'
       OR EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = i.memory_id AND e.version = i.version));

-- The links that may be followed: active, with something to rest on, between the very values that they were said of.
CREATE VIEW live_links AS
SELECT l.link_id, l.space_id, l.place_id, l.from_id, l.to_id, l.relation, l.confidence, l.created_at
FROM memory_links l
JOIN live_memories f ON f.memory_id = l.from_id AND f.version = l.from_version
JOIN live_memories t ON t.memory_id = l.to_id AND t.version = l.to_version
WHERE l.state = 'active' AND EXISTS (
    SELECT FROM memory_link_evidence e
    WHERE e.link_id = l.link_id AND e.version = l.version AND e.revoked_at IS NULL AND NOT EXISTS (
        SELECT FROM chat_messages m
        WHERE m.space_id = e.space_id AND m.message_id = e.message_id
          AND (m.deleted_at IS NOT NULL OR m.version_at <> e.read_version)));
