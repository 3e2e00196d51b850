-- Durable memory: items, links, evidence, vectors, summaries and their jobs.
SELECT;  -- nothing yet
