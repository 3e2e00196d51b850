-- Guilds that were joined, and what they were told.
SELECT;  -- nothing yet
