-- What people manage by commands: where a conversation begins anew, and what operators did to others' memories.

-- Where the conversation of a place begins: what was said before is no part of its working set and summary any more.
CREATE TABLE conversation_starts (
    space_id  bigint NOT NULL,
    place_id  bigint NOT NULL,
    after_id  bigint NOT NULL,
    begun_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id)
);

-- What owners of the bot looked into or deleted in any space; kept though the memory is gone, without its words.
CREATE TABLE operator_audit (
    audit_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operator_id  bigint NOT NULL,
    space_id     bigint NOT NULL,
    action       text NOT NULL CHECK (action IN ('list_memories', 'delete_memory', 'list_runs', 'show_run')),
    target_id    bigint,
    at           timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_audit_space ON operator_audit (space_id, audit_id);
