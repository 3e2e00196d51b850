-- Runs: limits, audit, budgets, and what a run leaves behind.
SELECT;  -- nothing yet
