-- Pages that web research brought.
SELECT;  -- nothing yet
