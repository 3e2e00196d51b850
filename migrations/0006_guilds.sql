-- Guilds that were joined, and what they were told.

-- Each joining of a guild, by when Discord says that it was joined. It is told once what is kept there: the words, and the
-- place for them (the system channel, else a conversation with the owner), stand here before anything is sent.
CREATE TABLE guild_joinings (
    space_id        bigint NOT NULL,
    joined_at       timestamptz NOT NULL,
    seen_at         timestamptz NOT NULL DEFAULT now(),
    left_at         timestamptz,
    notice_state    text NOT NULL DEFAULT 'owed' CHECK (notice_state IN ('owed', 'told', 'refused', 'waived')),
    notice          text,
    composed_at     timestamptz,
    channel_id      bigint,
    owner_place_id  bigint,
    told_at         timestamptz,
    PRIMARY KEY (space_id, joined_at)
);
