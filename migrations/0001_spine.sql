-- The spine: event ledger, message journal, cursors and gaps, inbox, turns, runs, receipts.
-- Words and invariant numbers: docs/reference/architecture.md.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Every gateway dispatch that changes something, once (I1, I2).
-- space_id is the guild, else the DM channel, else 0 for what belongs to the application itself (READY, RESUMED).
-- payload is json, not jsonb: it is kept as it came and seldom looked into, and is cheaper to take in.
CREATE TABLE discord_events (
    event_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id     bigint NOT NULL,
    place_id     bigint,
    kind         text NOT NULL,
    event_key    text NOT NULL,
    message_id   bigint,
    subject_ids  bigint[] NOT NULL DEFAULT '{}',
    source       text NOT NULL CHECK (source IN ('gateway', 'backfill', 'action')),
    payload      json,
    received_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (space_id, event_key)
);

-- Dispatches that could not be stored as they were: kept as text, with the reason, for an operator to see.
CREATE TABLE parked_events (
    parked_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL,
    event_key   text NOT NULL UNIQUE,
    payload     text NOT NULL,
    reason      text NOT NULL,
    parked_at   timestamptz NOT NULL DEFAULT now()
);

-- The newest words of each message. A row whose author_id is null was heard of (deleted) before it was seen.
CREATE TABLE chat_messages (
    space_id     bigint NOT NULL,
    message_id   bigint NOT NULL,
    place_id     bigint NOT NULL,
    author_id    bigint,
    author_kind  text CHECK (author_kind IN ('member', 'self', 'bot', 'webhook', 'system')),
    author_name  text,
    content      text NOT NULL DEFAULT '',
    reply_to_id  bigint,
    extras       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL,
    version_at   timestamptz NOT NULL,
    edited_at    timestamptz,
    deleted_at   timestamptz,
    turn_id      bigint,
    words        tsvector GENERATED ALWAYS AS (to_tsvector('simple', content)) STORED,
    PRIMARY KEY (space_id, message_id)
);
CREATE INDEX chat_messages_place ON chat_messages (space_id, place_id, message_id DESC);
CREATE INDEX chat_messages_words ON chat_messages USING gin (words);

-- Words that a newer edit replaced, one row a version.
CREATE TABLE chat_message_revisions (
    space_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    version_at  timestamptz NOT NULL,
    content     text NOT NULL,
    PRIMARY KEY (space_id, message_id, version_at)
);

-- Who reacted with what, now. An event is journalled only where this changes (I2).
CREATE TABLE message_reactions (
    space_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    user_id     bigint NOT NULL,
    emoji       text NOT NULL,
    place_id    bigint NOT NULL,
    reacted_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, message_id, user_id, emoji)
);

-- Where each place's journal stands. backfill_after is set while messages after it may be missing.
CREATE TABLE place_cursors (
    space_id        bigint NOT NULL,
    place_id        bigint NOT NULL,
    newest_id       bigint NOT NULL,
    backfill_after  bigint,
    gone_at         timestamptz,
    PRIMARY KEY (space_id, place_id)
);
CREATE INDEX place_cursors_behind ON place_cursors (space_id, place_id) WHERE backfill_after IS NOT NULL;

-- The newest message of each place that memory has yet to read; only ever raised (the outbox of the memory worker).
CREATE TABLE ingestion_targets (
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    target        bigint NOT NULL,
    done_target   bigint NOT NULL DEFAULT 0,
    lease_no      bigint NOT NULL DEFAULT 0,
    lease_until   timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    available_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id)
);
CREATE INDEX ingestion_targets_waiting ON ingestion_targets (available_at) WHERE done_target < target;

-- Spans in which Discord may have sent what was not committed (I1).
CREATE TABLE gateway_gaps (
    gap_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shard_id     integer NOT NULL,
    reason       text NOT NULL CHECK (reason IN ('start', 'identify', 'overflow')),
    since        timestamptz NOT NULL,
    opened_at    timestamptz NOT NULL DEFAULT now(),
    dropped      integer NOT NULL DEFAULT 0,
    closed_at    timestamptz,
    recovered    integer NOT NULL DEFAULT 0,
    incomplete   integer NOT NULL DEFAULT 0
);
CREATE INDEX gateway_gaps_open ON gateway_gaps (shard_id) WHERE closed_at IS NULL;

-- Addressed messages that wait for the router; one row a message, whatever path it came by.
CREATE TABLE discord_inbox (
    inbox_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id    bigint NOT NULL,
    place_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    author_id   bigint NOT NULL,
    reason      text NOT NULL CHECK (reason IN ('mention', 'reply', 'dm')),
    state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'routed', 'ignored')),
    arrived_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (space_id, message_id)
);
CREATE INDEX discord_inbox_waiting ON discord_inbox (inbox_id) WHERE state = 'waiting';

-- One answer each (I3). A notice is said instead of asking the model (a rate limit that is being told).
CREATE TABLE turns (
    turn_id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id             bigint NOT NULL,
    place_id             bigint NOT NULL,
    author_id            bigint NOT NULL,
    trigger_id           bigint NOT NULL,
    state                text NOT NULL DEFAULT 'queued' CHECK (state IN
                           ('queued', 'running', 'composed', 'delivering', 'answered', 'failed_told', 'cancelled', 'expired')),
    outcome              text CHECK (outcome IN ('answer', 'error')),
    end_reason           text,
    notice               text,
    lease_no             bigint NOT NULL DEFAULT 0,
    lease_until          timestamptz,
    attempts             integer NOT NULL DEFAULT 0,
    available_at         timestamptz NOT NULL DEFAULT now(),
    cancel_requested_at  timestamptz,
    triggered_at         timestamptz NOT NULL,
    queued_at            timestamptz NOT NULL DEFAULT now(),
    started_at           timestamptz,
    composed_at          timestamptz,
    ended_at             timestamptz,
    UNIQUE (space_id, trigger_id)
);
CREATE INDEX turns_queued ON turns (space_id, place_id, turn_id) WHERE state = 'queued';
CREATE UNIQUE INDEX turns_lane ON turns (space_id, place_id) WHERE state IN ('running', 'composed', 'delivering');
CREATE INDEX turns_served ON turns (space_id, place_id, author_id, started_at DESC) WHERE started_at IS NOT NULL;
CREATE INDEX turns_leased ON turns (lease_until) WHERE state IN ('running', 'composed', 'delivering');

-- The messages that a turn answers; the key makes "every addressed message belongs to one turn" a fact (I3).
CREATE TABLE turn_triggers (
    space_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    turn_id     bigint NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (space_id, message_id)
);

-- The composed answer, in order, committed before the first POST and never made again (I3).
CREATE TABLE turn_parts (
    turn_id  bigint NOT NULL REFERENCES turns ON DELETE CASCADE,
    part     integer NOT NULL,
    content  text NOT NULL,
    nonce    text NOT NULL,
    PRIMARY KEY (turn_id, part)
);

-- One row for each external effect, committed before it (I4).
CREATE TABLE action_receipts (
    receipt_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id     bigint NOT NULL,
    place_id     bigint NOT NULL,
    trigger_id   bigint NOT NULL,
    action       text NOT NULL,
    args_digest  bytea NOT NULL,
    args         jsonb NOT NULL,
    turn_id      bigint,
    state        text NOT NULL DEFAULT 'intended' CHECK (state IN ('intended', 'applied', 'refused', 'unknown')),
    nonce        text,
    external_id  bigint,
    failure      text,
    attempts     integer NOT NULL DEFAULT 0,
    intended_at  timestamptz NOT NULL DEFAULT now(),
    settled_at   timestamptz,
    UNIQUE (space_id, trigger_id, action, args_digest)
);
CREATE UNIQUE INDEX action_receipts_nonce ON action_receipts (nonce) WHERE nonce IS NOT NULL;
CREATE INDEX action_receipts_turn ON action_receipts (turn_id);
CREATE INDEX action_receipts_open ON action_receipts (settled_at) WHERE state IN ('intended', 'unknown');

-- An attempt at a turn, with the prompt that a resumed attempt must see again.
CREATE TABLE agent_runs (
    run_id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id           bigint NOT NULL,
    turn_id            bigint NOT NULL REFERENCES turns ON DELETE CASCADE,
    state              text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'answered', 'failed', 'cancelled')),
    model              text NOT NULL,
    prompt             jsonb NOT NULL,
    end_reason         text,
    steps              integer NOT NULL DEFAULT 0,
    calls              integer NOT NULL DEFAULT 0,
    prompt_tokens      integer NOT NULL DEFAULT 0,
    completion_tokens  integer NOT NULL DEFAULT 0,
    started_at         timestamptz NOT NULL DEFAULT now(),
    ended_at           timestamptz
);
CREATE UNIQUE INDEX agent_runs_running ON agent_runs (turn_id) WHERE state = 'running';
CREATE INDEX agent_runs_turn ON agent_runs (turn_id);

-- What the model said at each step, as it goes back to the model.
CREATE TABLE agent_steps (
    run_id             bigint NOT NULL REFERENCES agent_runs ON DELETE CASCADE,
    step               integer NOT NULL,
    reply              jsonb NOT NULL,
    prompt_tokens      integer NOT NULL DEFAULT 0,
    completion_tokens  integer NOT NULL DEFAULT 0,
    said_at            timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, step)
);

-- The calls of a step, numbered in the model's order when they are planned.
CREATE TABLE agent_tool_calls (
    run_id      bigint NOT NULL,
    step        integer NOT NULL,
    ordinal     integer NOT NULL,
    call_id     text NOT NULL,
    tool        text NOT NULL,
    arguments   text NOT NULL,
    effect      text NOT NULL CHECK (effect IN ('read', 'write', 'none')),
    state       text NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'done', 'failed')),
    result      json,   -- not jsonb: a resumed run sends the very bytes again
    error_code  text,
    planned_at  timestamptz NOT NULL DEFAULT now(),
    settled_at  timestamptz,
    PRIMARY KEY (run_id, step, ordinal),
    FOREIGN KEY (run_id, step) REFERENCES agent_steps (run_id, step) ON DELETE CASCADE
);
