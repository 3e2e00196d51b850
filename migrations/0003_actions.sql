-- Actions: settings of authority, and cards that only their requester can press.

-- Whether agent-driven actions are on in a space; no row: as the deployment's setting says.
CREATE TABLE action_settings (
    space_id  bigint PRIMARY KEY,
    enabled   boolean NOT NULL,
    set_by    bigint NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now()
);

-- For whom an effect is made; under which lease it was last taken in hand; how often it was answered from the record
-- instead of being done again; and the card that confirmed it.
ALTER TABLE action_receipts
    ADD COLUMN requester_id  bigint,
    ADD COLUMN lease_no      bigint NOT NULL DEFAULT 0,
    ADD COLUMN served        integer NOT NULL DEFAULT 0,
    ADD COLUMN card_id       bigint;

-- An action that its requester is asked about, once for each trigger: `asked_action` is the action as data, `digest` its
-- canonical digest, `question` what the card says. `shown` is the state that the card's message shows. The lease is of
-- whoever does what was confirmed, and `code` and `told` say what came of it.
CREATE TABLE action_cards (
    card_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    trigger_id    bigint NOT NULL,
    turn_id       bigint,
    requester_id  bigint NOT NULL,
    action        text NOT NULL,
    digest        bytea NOT NULL,
    asked_action  jsonb NOT NULL,
    question      text NOT NULL,
    state         text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'used', 'expired', 'cancelled')),
    nonce         text NOT NULL UNIQUE,
    message_id    bigint,
    shown         text CHECK (shown IN ('open', 'used', 'expired', 'cancelled')),
    code          text,
    told          text,
    lease_no      bigint NOT NULL DEFAULT 0,
    lease_until   timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    asked_at      timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    closed_at     timestamptz,
    UNIQUE (space_id, trigger_id, action, digest)
);
CREATE INDEX action_cards_open ON action_cards (expires_at) WHERE state = 'open';
CREATE INDEX action_cards_stale ON action_cards (lease_until)
    WHERE state <> 'open' AND shown IS DISTINCT FROM state;

-- The application commands that Discord was last told of, so that it is told again only when they change.
CREATE TABLE application_commands (
    application_id  bigint PRIMARY KEY,
    digest          bytea NOT NULL,
    synced_at       timestamptz NOT NULL DEFAULT now()
);
