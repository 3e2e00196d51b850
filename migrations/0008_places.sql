-- Places and their audiences: where a memory may show (I7).

-- A guild whose roles and places are known. What is computed from them counts only while `computed` is `version`, and
-- while Discord has confirmed them in the present session; else each place shows what was said in it alone.
CREATE TABLE audience_guilds (
    space_id   bigint PRIMARY KEY,
    version    bigint NOT NULL DEFAULT 1,
    computed   bigint NOT NULL DEFAULT 0,
    confirmed  boolean NOT NULL DEFAULT false,
    told_at    timestamptz NOT NULL DEFAULT now()
);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX audience_guilds_waiting ON audience_guilds (space_id) WHERE computed < version;

CREATE TABLE guild_roles (
    space_id     bigint NOT NULL,
    role_id      bigint NOT NULL,
    permissions  bigint NOT NULL,
    PRIMARY KEY (space_id, role_id)
);

-- Channels and threads. class_id is that of who can read it; a thread's is its parent's, and own_only keeps what was
-- said in a private thread there.
CREATE TABLE places (
    space_id    bigint NOT NULL,
    place_id    bigint NOT NULL,
    kind        integer NOT NULL,
    parent_id   bigint,
    overwrites  text NOT NULL DEFAULT '[]',
    class_id    bigint,
    own_only    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (space_id, place_id)
);
CREATE INDEX places_class ON places (space_id, class_id);

-- A way in which a place of the guild can be read: equal rules are one class.
CREATE TABLE audience_classes (
    class_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id  bigint NOT NULL,
    digest    bytea NOT NULL,
    UNIQUE (space_id, digest)
);

-- What was said before readers of from_class may show before those of into_class, who could all have read it there.
CREATE TABLE audience_flow (
    space_id    bigint NOT NULL,
    into_class  bigint NOT NULL REFERENCES audience_classes ON DELETE CASCADE,
    from_class  bigint NOT NULL REFERENCES audience_classes ON DELETE CASCADE,
    PRIMARY KEY (space_id, into_class, from_class)
);
CREATE INDEX audience_flow_from ON audience_flow (from_class);
CREATE INDEX audience_flow_into ON audience_flow (into_class);
