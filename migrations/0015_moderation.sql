-- Moderation: cases with a number a guild, what comes to its end by itself, and turns that a route serves.

-- Which deterministic route claimed the message; no route: the model answers.
ALTER TABLE turns ADD COLUMN route text;

-- The last case number of each guild.
CREATE TABLE mod_counters (
    space_id  bigint PRIMARY KEY,
    last_no   integer NOT NULL
);

-- What was done to whom, by whom, why, and on which evidence. `case_no` is given when it begins to be done: what was
-- refused at the press has none. `object_id` is the member, or the channel, that it is done to; `asked` is the order for
-- that one, `before` what undoing brings back; `reason_by` gave it another reason later. `told_member`: whether a direct message reached them.
CREATE TABLE mod_cases (
    case_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id        bigint NOT NULL,
    place_id        bigint NOT NULL,
    case_no         integer,
    deed            text NOT NULL,
    object_id       bigint NOT NULL,
    subject_id      bigint,
    subject_name    text NOT NULL DEFAULT '',
    requester_id    bigint NOT NULL,
    requester_name  text NOT NULL DEFAULT '',
    trigger_id      bigint NOT NULL,
    card_id         bigint,
    asked           jsonb NOT NULL,
    reason          text,
    reason_by       bigint,
    evidence        text[] NOT NULL DEFAULT '{}',
    state           text NOT NULL DEFAULT 'acting'
                      CHECK (state IN ('acting', 'done', 'refused', 'unknown', 'undone')),
    code            text,
    told            text,
    before          jsonb,
    told_member     boolean,
    undoes          bigint,
    undone_by       bigint,
    ends_at         timestamptz,
    made_at         timestamptz NOT NULL DEFAULT now(),
    settled_at      timestamptz,
    UNIQUE (space_id, case_no),
    UNIQUE (space_id, trigger_id, deed, object_id)
);
CREATE INDEX mod_cases_subject ON mod_cases (space_id, subject_id, case_no DESC) WHERE case_no IS NOT NULL;
CREATE INDEX mod_cases_object ON mod_cases (space_id, object_id, deed);

-- What ends by itself: the case whose deed is undone when its time is up.
CREATE TABLE mod_timers (
    case_id      bigint PRIMARY KEY REFERENCES mod_cases ON DELETE CASCADE,
    space_id     bigint NOT NULL,
    due_at       timestamptz NOT NULL,
    lease_no     bigint NOT NULL DEFAULT 0,
    lease_until  timestamptz,
    attempts     integer NOT NULL DEFAULT 0,
    closed_at    timestamptz,
    outcome      text
);
CREATE INDEX mod_timers_due ON mod_timers (due_at) WHERE closed_at IS NULL;
