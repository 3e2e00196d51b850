"""What goes wrong with a request instead of its answer. Plain data, made by the functions below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import orjson


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer with this status, headers and body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Stall:
    """Not a byte for so many seconds, then the connection is closed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset before a byte of the answer."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Status 200 and half of the true answer."""


Fault: TypeAlias = Failure | Stall | Reset | Broken


def _error(status: int, error: str, **headers: str) -> Failure:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Failure(status, orjson.dumps({"success": False, "error": error}), named)


def rate_limited(retry_after: float | None = None) -> Failure:
    """429; with `retry_after` seconds as its header says."""
    headers = {} if retry_after is None else {"retry_after": f"{retry_after:g}"}
    return _error(429, "Rate limit exceeded. Please retry later.", **headers)


def server_error(status: int = 500) -> Failure:
    """A 5xx with Firecrawl's own body."""
    return _error(status, "An unexpected error occurred. Please contact support.")


def html_page(status: int = 502) -> Failure:
    """A 5xx of whatever stands before Firecrawl."""
    return Failure(status, b"<html><body>Bad gateway</body></html>", content_type="text/html")


def out_of_credits() -> Failure:
    """402."""
    return _error(402, "Insufficient credits to perform this request.")


def forbidden() -> Failure:
    """403."""
    return _error(403, "This team may not use the search endpoint.")


def timed_out() -> Failure:
    """408: Firecrawl's own deadline passed."""
    return _error(408, "The request timed out.")


def unsuccessful() -> Failure:
    """Status 200 and `success: false`."""
    return _error(200, "The search failed.")


def broken_json() -> Broken:
    """Status 200, and a body that ends in the middle."""
    return Broken()


def stall(seconds: float) -> Stall:
    return Stall(seconds)


def reset_connection() -> Reset:
    return Reset()
