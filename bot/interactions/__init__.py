"""Interactions: what people do with commands, buttons and forms, how it reaches its handler, and how it is answered."""

from bot.interactions.dispatch import EXPIRED_BUTTON, Interactions
from bot.interactions.payloads import Command, Interaction, Press, Submission, TargetMessage, Typing
from bot.interactions.replies import Reply

__all__ = [
    "EXPIRED_BUTTON",
    "Command",
    "Interaction",
    "Interactions",
    "Press",
    "Reply",
    "Submission",
    "TargetMessage",
    "Typing",
]
