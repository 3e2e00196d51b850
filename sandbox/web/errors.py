"""What the loopback web answers when a request itself is wrong.

ApiRefusal            sent as Firecrawl's error body
├── BadRequest  400   the request breaks a rule of the API
├── WrongKey    401   no key, or not this server's key
└── NoRoute     404   there is no such path or method
"""

from __future__ import annotations

from collections.abc import Sequence


class ApiRefusal(Exception):
    """A request that is answered with an error."""

    status: int = 400

    def __init__(self, message: str, details: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)

    @property
    def body(self) -> dict[str, object]:
        body: dict[str, object] = {"success": False, "error": self.message}
        return body | ({"code": "BAD_REQUEST", "details": self.details} if self.details else {})


class BadRequest(ApiRefusal):
    """The request breaks a rule of the API; a client that sends it again gets the same answer."""


class WrongKey(ApiRefusal):
    """No bearer key, or another one than this server's."""

    status = 401


class NoRoute(ApiRefusal):
    """There is no such path, or not with this method."""

    status = 404
