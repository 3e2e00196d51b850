-- Only what looks for leases that ran out is to read the index of leases. With the predicate of turns_lane it was taken
-- for that one while the table was small, and it holds what vacuum has not removed yet of every turn that ended.
-- Few turns have a lease, and each migration is one transaction.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX turns_leased;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX turns_leased ON turns (lease_until) WHERE lease_until IS NOT NULL;

-- These change state with every message: their small partial indexes are cleaned, and their statistics read again,
-- after a fiftieth has changed, not after a fifth.
ALTER TABLE turns SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE discord_inbox SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE action_receipts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
