-- How an answer is shown: the file of a long one, and the message that stands while one is made.

-- The text of the file that is sent with the part; null: none.
ALTER TABLE turn_parts ADD COLUMN attached text;

-- The message that says what is worked on and shows the answer growing; at most one a turn, with the receipt of its
-- sending. It becomes the answer's first part, or is deleted: `closed_at` says that either was done.
CREATE TABLE turn_drafts (
    turn_id     bigint PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    receipt_id  bigint NOT NULL,
    closed_at   timestamptz
);
CREATE INDEX turn_drafts_open ON turn_drafts (turn_id) WHERE closed_at IS NULL;
