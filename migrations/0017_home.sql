-- When the bot answers: more ways to be addressed, and arrivals that wait a little.

-- squawk-ignore ban-drop-constraint
ALTER TABLE discord_inbox DROP CONSTRAINT discord_inbox_reason_check;
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE discord_inbox ADD CONSTRAINT discord_inbox_reason_check CHECK (reason IN
    ('mention', 'reply', 'dm', 'edit', 'thread', 'room', 'bot', 'proxy', 'joined', 'left'));

-- Not to be looked at before: the rest of a long paste, or what its author meant it for, may still be on its way.
ALTER TABLE discord_inbox ADD COLUMN due_at timestamptz NOT NULL DEFAULT now();

-- Whether the bot was brought into a thread, or put out of it, last.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX discord_inbox_membership ON discord_inbox (space_id, place_id, message_id DESC)
    WHERE reason IN ('joined', 'left');

-- What an author asked for lately in a place.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX discord_inbox_asked ON discord_inbox (space_id, place_id, author_id, message_id DESC);

-- How it came to a turn: `ambient` is one that nobody asked for.
ALTER TABLE turns ADD COLUMN reason text NOT NULL DEFAULT 'mention';
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE turns ADD CONSTRAINT turns_reason_check CHECK (reason IN
    ('mention', 'reply', 'dm', 'edit', 'thread', 'room', 'bot', 'proxy', 'ambient'));
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX turns_ambient ON turns (space_id, place_id, queued_at DESC) WHERE reason = 'ambient';

-- Whether the bot takes part in a thread: it was opened on a message that addressed the bot or that is the bot's own, or
-- somebody brought the bot in and nobody put it out since.
CREATE FUNCTION takes_part(in_space bigint, in_place bigint) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, public
AS $$
    SELECT CASE (SELECT i.reason FROM discord_inbox i
                 WHERE i.space_id = in_space AND i.place_id = in_place AND i.reason IN ('joined', 'left')
                 ORDER BY i.message_id DESC LIMIT 1)
        WHEN 'joined' THEN true
        WHEN 'left' THEN false
        ELSE EXISTS (SELECT FROM discord_inbox i WHERE i.space_id = in_space AND i.message_id = in_place
                       AND i.reason IN ('mention', 'reply', 'edit'))
          OR EXISTS (SELECT FROM chat_messages m WHERE m.space_id = in_space AND m.message_id = in_place
                       AND m.author_kind = 'self')
    END
$$;
