-- Memories of, and by, somebody who chose not to be remembered are nobody's to see, from the commit of the choice on.
CREATE OR REPLACE VIEW live_memories AS
SELECT i.memory_id, i.space_id, i.scope, i.owner_id, i.place_id, i.kind, i.key, i.content, i.content_hash, i.version,
       i.source, i.rests_on, i.author_id, i.author_name, i.said_at, i.said_id, i.importance, i.confidence, i.pinned,
       i.expires_at, i.created_at, i.changed_at
FROM memory_items i
WHERE i.state = 'active' AND (i.expires_at IS NULL OR i.expires_at > now())
  AND (i.rests_on = 'author'
       OR EXISTS (SELECT FROM live_evidence e WHERE e.memory_id = i.memory_id AND e.version = i.version))
  AND NOT EXISTS (
      SELECT FROM member_choices c
      WHERE c.user_id IN (i.author_id, CASE WHEN i.scope = 'user' THEN i.owner_id END)
        AND NOT (c.remembered AND c.read_by_model));
