-- Cases of which nobody knows yet what came of them.
CREATE INDEX mod_cases_open ON mod_cases (case_id) WHERE state IN ('acting', 'unknown');
