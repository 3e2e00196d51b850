"""Tools that do something in Discord. What they may touch is given by the turn, not by the model (I5, I6)."""

import re
from typing import Annotated

from pydantic import Field

from tools.actions import React
from tools.declaration import Arguments, Payload, Tool
from tools.errors import Refused
from tools.ports import TurnContext

_CUSTOM = re.compile(r"<?(?:a?:)?(?P<name>[A-Za-z0-9_]{2,32}):(?P<id>[0-9]{15,20})>?")


class ReactArguments(Arguments):
    """Which reaction."""

    emoji: Annotated[
        str, Field(min_length=1, max_length=64, description="One emoji, or a custom one of this guild as <:name:id>.")
    ]


def reaction(emoji: str) -> str:
    """The emoji as Discord's reaction routes name it: itself, or `name:id`. Raises Refused for what is none."""
    asked = emoji.strip()
    if custom := _CUSTOM.fullmatch(asked):
        return f"{custom['name']}:{custom['id']}"
    # Keycaps begin with an ASCII digit, # or *, so one sign beyond ASCII is asked for and no letter or space.
    if asked.isascii() or any(each.isspace() or (each.isascii() and each.isalpha()) for each in asked):
        raise Refused("not_an_emoji", "Give the emoji itself, such as 👍, or a custom one as <:name:id>.")
    return asked


async def react(context: TurnContext, arguments: ReactArguments) -> Payload:
    """React to the message that triggered the turn."""
    report = await context.actions.perform(React(reaction(arguments.emoji)))
    match report.state:
        case "applied":
            return {"state": "applied"}
        case "refused":
            raise Refused(report.code or "refused", report.message or "Discord refused the reaction.")
        case "asked":
            raise Refused(report.code or "confirmation_needed", report.message or "The member was asked to confirm it.")
        case "unknown":
            raise Refused("unknown", report.message or "It is not certain whether the reaction was added.")


DISCORD_REACT = Tool(
    name="discord_react",
    description="Add one emoji reaction to the message that you are answering.",
    arguments=ReactArguments,
    function=react,
    effect="write",
    promise="idempotent",
)
