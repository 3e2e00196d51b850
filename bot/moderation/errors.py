"""What can go wrong in moderation, by who must act.

ModerationFault
└── NotAsked    (the requester) the words or options do not make an order; the message says what is missing
"""

from bot.errors import BotFault


class ModerationFault(BotFault):
    """The base of them."""


class NotAsked(ModerationFault):
    """The words or options make no order; the message is one plain sentence for who used them."""
