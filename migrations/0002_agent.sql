-- Runs: limits, audit, budgets, and what a run leaves behind.

-- Why a turn was asked to end; null where its trigger was deleted.
ALTER TABLE turns ADD COLUMN cancel_reason text;

-- Whose run it was and where, how long it took, what it cost, and what is left of it when its transcript has expired.
-- first_token_at and last_token_at are those of the last reply.
ALTER TABLE agent_runs
    ADD COLUMN place_id        bigint,
    ADD COLUMN member_id       bigint,
    ADD COLUMN trigger_id      bigint,
    ADD COLUMN queued_at       timestamptz,
    ADD COLUMN first_token_at  timestamptz,
    ADD COLUMN last_token_at   timestamptz,
    ADD COLUMN fallback_steps  integer NOT NULL DEFAULT 0,
    ADD COLUMN cost            numeric(14, 6),
    ADD COLUMN error_code      text,
    ADD COLUMN summary         text,
    ADD COLUMN keywords        text[] NOT NULL DEFAULT '{}',
    ADD COLUMN expired_at      timestamptz;
UPDATE agent_runs r
SET place_id = t.place_id, member_id = t.author_id, trigger_id = t.trigger_id, queued_at = t.queued_at
FROM turns t WHERE t.turn_id = r.turn_id;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX agent_runs_place ON agent_runs (space_id, place_id, run_id DESC);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX agent_runs_unexpired ON agent_runs (ended_at) WHERE expired_at IS NULL AND ended_at IS NOT NULL;

-- Milliseconds from asking to the first and to the last token, and whether the fallback model said it.
ALTER TABLE agent_steps
    ADD COLUMN first_ms  integer,
    ADD COLUMN took_ms   integer,
    ADD COLUMN fallback  boolean NOT NULL DEFAULT false;

-- `whole` is set where `result`, which the model saw, was made shorter. The previews are what is left of arguments and
-- result when the transcript has expired.
ALTER TABLE agent_tool_calls
    ADD COLUMN whole              json,
    ADD COLUMN from_record        boolean NOT NULL DEFAULT false,
    ADD COLUMN took_ms            integer,
    ADD COLUMN arguments_preview  text NOT NULL DEFAULT '',
    ADD COLUMN result_preview     text NOT NULL DEFAULT '';

-- Each request to a provider, whatever asked for it. No part of a run: a row that could not be written breaks nothing,
-- so there are no foreign keys.
CREATE TABLE ai_events (
    ai_event_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id           bigint NOT NULL,
    place_id           bigint,
    member_id          bigint,
    run_id             bigint,
    purpose            text NOT NULL,
    model              text NOT NULL,
    fallback           boolean NOT NULL DEFAULT false,
    status             text NOT NULL CHECK (status IN ('ok', 'failed', 'cancelled')),
    error_code         text,
    messages           integer NOT NULL DEFAULT 0,
    prompt_tokens      integer NOT NULL DEFAULT 0,
    completion_tokens  integer NOT NULL DEFAULT 0,
    cost               numeric(14, 6),
    asked_at           timestamptz NOT NULL,
    first_ms           integer,
    took_ms            integer NOT NULL
);
CREATE INDEX ai_events_asked ON ai_events (asked_at);
CREATE INDEX ai_events_run ON ai_events (run_id) WHERE run_id IS NOT NULL;

-- Tokens of a day (UTC), which the daily budgets compare with.
CREATE TABLE token_spend (
    space_id   bigint NOT NULL,
    day        date NOT NULL,
    member_id  bigint NOT NULL,
    tokens     bigint NOT NULL,
    PRIMARY KEY (space_id, day, member_id)
);
CREATE INDEX token_spend_day ON token_spend (day);

-- What an operator switches while Muninn runs; no row means off.
CREATE TABLE operator_switches (
    name        text PRIMARY KEY CHECK (name IN ('stop')),
    is_on       boolean NOT NULL,
    reason      text,
    changed_at  timestamptz NOT NULL DEFAULT now()
);
