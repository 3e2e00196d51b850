"""Erasing what is kept of a person, a channel or a guild, everywhere, as a durable job with a receipt (I15)."""
