-- What a guild wants of the bot in its own words: every version, for the guild (place_id 0) or one of its places. The newest
-- counts; empty words take it back.
CREATE TABLE guild_rules (
    space_id  bigint NOT NULL,
    place_id  bigint NOT NULL,
    version   integer NOT NULL,
    content   text NOT NULL CHECK (length(content) <= 4000),
    set_by    bigint NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id, version)
);
