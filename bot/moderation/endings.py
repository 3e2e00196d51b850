"""What a card says when all that was confirmed is over: one line for each, then the details. Pure.

It is made when the last one is done, and once more when it was found out later what became of one.
"""

from collections.abc import Sequence

from bot.moderation import wording
from bot.moderation.orders import Order
from tools.ports import ActionReport

_MARKS = ("✅", "❔", "⚠️")


def report_on(order: Order, ends: Sequence[tuple[str, str]]) -> ActionReport:
    """The report on what came of each: a stable code (`done` where it was), and one line."""
    lines = [line if line.startswith(_MARKS) else f"⚠️ {line}" for _, line in ends]
    codes = [code for code, _ in ends]
    said = "\n".join([*dict.fromkeys(lines), *(f"-# {line}" for line in wording.details(order))])
    said = said[: wording.CARD_MOST]
    if "done" in codes:
        return ActionReport("applied", None, said)
    if "unknown" in codes or wording.UNKNOWABLE in codes:
        return ActionReport("unknown", "unknown", said)
    return ActionReport("refused", codes[0], said)
