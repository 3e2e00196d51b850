-- Settings that a guild makes for itself, and who made them when.

-- What was set, for the whole space (place_id 0) or for one place of it; no row: what holds around it, at last the
-- deployment's own. Each value's type is that of its name (bot.guild_settings).
CREATE TABLE guild_settings (
    space_id  bigint NOT NULL,
    place_id  bigint NOT NULL,
    name      text NOT NULL CHECK (name ~ '^[a-z_]{2,40}$'),
    value     jsonb NOT NULL,
    version   integer NOT NULL,
    set_by    bigint NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id, name)
);

-- Every change of them; a null value: taken back to what holds around it.
CREATE TABLE guild_setting_changes (
    space_id  bigint NOT NULL,
    place_id  bigint NOT NULL,
    name      text NOT NULL,
    version   integer NOT NULL,
    value     jsonb,
    set_by    bigint NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space_id, place_id, name, version)
);
CREATE INDEX guild_setting_changes_newest ON guild_setting_changes (space_id, set_at DESC);

-- What was set for a place: its own, else its parent's (a thread's channel, a channel's category), else that one's, else
-- the space's.
CREATE FUNCTION settings_of(in_space bigint, in_place bigint) RETURNS TABLE (name text, value jsonb)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, public
AS $$
    SELECT DISTINCT ON (s.name) s.name, s.value
    FROM (SELECT 1) AS one
    LEFT JOIN places p ON p.space_id = in_space AND p.place_id = in_place
    LEFT JOIN places q ON q.space_id = in_space AND q.place_id = p.parent_id
    JOIN guild_settings s ON s.space_id = in_space AND s.place_id IN (0, in_place, p.parent_id, q.parent_id)
    ORDER BY s.name, CASE s.place_id WHEN in_place THEN 0 WHEN p.parent_id THEN 1 WHEN q.parent_id THEN 2 ELSE 3 END
$$;

-- The same, of one name.
CREATE FUNCTION setting_of(in_space bigint, in_place bigint, called text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, public
AS $$
    SELECT s.value FROM settings_of(in_space, in_place) s WHERE s.name = called
$$;

-- What was switched before there were others.
INSERT INTO guild_settings (space_id, place_id, name, value, version, set_by, set_at)
SELECT space_id, 0, 'actions', to_jsonb(enabled), 1, set_by, set_at FROM action_settings;
INSERT INTO guild_setting_changes (space_id, place_id, name, version, value, set_by, set_at)
SELECT space_id, place_id, name, version, value, set_by, set_at FROM guild_settings;
-- squawk-ignore ban-drop-table
DROP TABLE action_settings;

-- What a person chose for themselves, in every guild and conversation: whether they are remembered, whether the model is
-- shown what they write, and where they live (a name of the tz database).
CREATE TABLE member_choices (
    user_id        bigint PRIMARY KEY,
    remembered     boolean NOT NULL DEFAULT true,
    read_by_model  boolean NOT NULL DEFAULT true,
    time_zone      text CHECK (length(time_zone) <= 64),
    chosen_at      timestamptz NOT NULL DEFAULT now()
);
