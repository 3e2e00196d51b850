"""Emoji as a model writes them, and as Discord's routes name them."""

import re
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from tools.errors import Refused

_CUSTOM: Final = re.compile(r"<?(?:a?:)?(?P<name>[A-Za-z0-9_]{2,32}):(?P<id>[0-9]{15,20})>?")

Emoji: TypeAlias = Annotated[
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
