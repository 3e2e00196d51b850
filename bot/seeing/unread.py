"""A file that is not read, and why."""

from collections.abc import Mapping
from typing import Any

Item = Mapping[str, Any]
"""An attachment, as bot.extras keeps it."""


class Unreadable(Exception):
    """A file that is not fetched, or not understood. `why`: a few words, for the note that stands in its place."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
