"""The log of what the bot asked over REST."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import Payload


@dataclass(slots=True)
class Request:
    """One REST request. ``status`` is 0 until it is answered, and -1 when the connection was reset instead.

    ``path`` is without ``/api/v10``; ``at`` in seconds on the sandbox's clock; ``accepted`` says whether Discord did
    what was asked, whatever the client was told. ``items`` is the body where it is a list, ``body`` where an object.
    """

    method: str
    path: str
    at: float
    query: dict[str, str] = field(default_factory=dict[str, str])
    body: Payload | None = None
    items: list[object] | None = None
    files: tuple[str, ...] = ()
    reason: str | None = None
    status: int = 0
    answer: object = None
    accepted: bool = False
    fault: str | None = None

    def __str__(self) -> str:
        told = {0: "no answer yet", -1: "reset"}.get(self.status, str(self.status))
        fault = f" [fault: {self.fault}]" if self.fault else ""
        return f"{self.method} {self.path} -> {told}{fault}"
