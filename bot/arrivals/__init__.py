"""What becomes of messages that concern the bot: which are answered, which are not, and which wait a little."""
