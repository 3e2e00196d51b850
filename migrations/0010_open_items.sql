-- What is still to be done: commitments and projects, by whose they are.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX memory_items_open ON memory_items (space_id, scope, owner_id, said_id)
    WHERE state = 'active' AND kind IN ('commitment', 'project');
