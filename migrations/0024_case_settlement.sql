-- Cases of which nobody knows yet what came of them. The table is small, and each migration is one transaction.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX mod_cases_open ON mod_cases (case_id) WHERE state IN ('acting', 'unknown');
