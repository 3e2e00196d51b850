"""What a member may know, choose, take along and delete of what is kept of them; and what admins may purge."""
