-- What retention asks for once a day: what is oldest of a space.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_item_revisions_ended ON memory_item_revisions (space_id, ended_at);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_link_revisions_ended ON memory_link_revisions (space_id, ended_at);
