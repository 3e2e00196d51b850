"""What a guild is told when Muninn joins it: what is kept, when it answers, and how to change that."""

from typing import Final

_HOW: Final = (
    "**How to change it:** take View Channel away from my role to keep me out of a channel. Delete or edit a message, "
    "and what I know from it alone goes with it. Tell me to forget what I remember of you (`forget that ...`). "
    "Removing me ends it; what was kept until then stays with whoever runs me, who can delete it."
)

NOTICE: Final = (
    "Hello, I am Muninn, a bot that remembers.\n\n"
    "**What I keep:** in the channels that I can see, what is written, edited and deleted, and who reacts with what; "
    "and facts that people plainly state, each with the message that it rests on. **When I answer:** when somebody "
    "mentions me, replies to me, or writes to me directly. A language model then reads that message and what was said "
    "around it; it reads what is said here for those facts, too.\n\n"
) + _HOW

NOTICE_OF_LITTLE: Final = (
    "Hello, I am Muninn, a bot that remembers.\n\n"
    "**What I keep:** what is written to me: messages that mention me, reply to me, or come to me directly, and facts "
    "that people plainly state in them. Of other messages I see that they are there, and not what they say. "
    "**When I answer:** when I am written to. A language model then reads that message and what was said to me "
    "before.\n\n"
) + _HOW
"""Where the Message Content intent is not asked for."""
