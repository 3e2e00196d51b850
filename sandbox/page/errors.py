"""What can go wrong between the page and its server.

Mistake                  the page asked for something that cannot be done; its text is a sentence for the person
└── RecordsUnavailable   what the bot has on record cannot be looked into now
"""

from sandbox.discord import SandboxError
from sandbox.discord.errors import Refusal


class Mistake(Exception):
    """The page asked for what cannot be done."""


class RecordsUnavailable(Mistake):
    """Raised by whoever looks into the bot's database for the page."""


def sentence(error: Mistake | SandboxError) -> str:
    """What a person is told of it."""
    return error.message if isinstance(error, Refusal) else str(error)
