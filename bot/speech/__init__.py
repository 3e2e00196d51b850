"""How an answer is worded and cut for Discord. Pure: text in, text out."""
