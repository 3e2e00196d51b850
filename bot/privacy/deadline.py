"""Until when a button that deletes can be pressed: it says so itself, so that it holds through every restart."""

import time
from typing import Final

HOLDS_S: Final = 600
OTHERS: Final = "This is somebody else's. Use the command yourself."


def deadline() -> int:
    """The second, since 1970, until which a button that is made now holds."""
    return int(time.time()) + HOLDS_S


def is_over(written: str) -> bool:
    """Whether the deadline that a button says has passed, or is none."""
    return not (written.isascii() and written.isdecimal()) or int(written) < time.time()
