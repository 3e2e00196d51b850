-- Actions: settings of authority, and cards that only their requester can press.
SELECT;  -- nothing yet
