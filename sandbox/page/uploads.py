"""Files on their way into a message: uploaded first, named by the message that carries them, kept only so long."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from sandbox.discord import File

MOST_BYTES: Final = 10 * 1024 * 1024
"""What Discord takes without Nitro."""

_MOST_WAITING: Final = 40


class Uploads:
    """At most forty wait; the oldest are forgotten."""

    def __init__(self) -> None:
        self._waiting: dict[str, File] = {}

    def keep(self, file: File) -> str:
        """Gives the name by which `take` hands it out, once."""
        name = secrets.token_urlsafe(12)
        self._waiting[name] = file
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return name

    def take(self, names: Sequence[str]) -> list[File]:
        """Raises KeyError for one that is not there (any more); then none is taken."""
        files = [self._waiting[name] for name in names]
        for name in names:
            self._waiting.pop(name, None)
        return files
