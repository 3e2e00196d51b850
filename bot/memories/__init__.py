"""What people see and change of memory by commands: their own, and for who governs, the channel's and the guild's."""
