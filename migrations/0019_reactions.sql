-- Reactions that do something: roles, shortcuts, and marks on the bot's own answers.

-- Who reacts so to that message has that role, for as long as the reaction stands.
CREATE TABLE reaction_roles (
    space_id    bigint NOT NULL,
    place_id    bigint NOT NULL,
    message_id  bigint NOT NULL,
    emoji       text NOT NULL,
    role_id     bigint NOT NULL,
    PRIMARY KEY (space_id, message_id, emoji)
);

-- What an emoji does on any message of the guild.
CREATE TABLE reaction_shortcuts (
    space_id  bigint NOT NULL,
    emoji     text NOT NULL,
    deed      text NOT NULL CHECK (deed IN ('remember', 'pin')),
    PRIMARY KEY (space_id, emoji)
);

-- Reactions that a route claimed, until it is through with them; made in the transaction that journals the reaction.
CREATE TABLE reaction_tasks (
    task_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id      bigint NOT NULL,
    place_id      bigint NOT NULL,
    message_id    bigint NOT NULL,
    user_id       bigint NOT NULL,
    emoji         text NOT NULL,
    claim         text NOT NULL CHECK (claim IN ('own', 'role', 'shortcut')),
    lease_no      bigint NOT NULL DEFAULT 0,
    attempts      integer NOT NULL DEFAULT 0,
    available_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX reaction_tasks_due ON reaction_tasks (available_at, task_id);
