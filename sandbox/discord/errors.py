"""What can go wrong in the sandbox.

SandboxError
├── Refusal          what the REST API answers to the client: status, code, message, nested form errors
├── GatewayClose     the gateway closes the socket with this code
└── Misuse           the test asked for something that cannot happen on Discord
    └── NotPermitted a member of the world lacks the permission for what the test made it do
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .permissions import Permission

# Codes of https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN: Final[Mapping[str, int]] = {
    "Channel": 10003,
    "Guild": 10004,
    "Member": 10007,
    "Message": 10008,
    "Role": 10011,
    "User": 10013,
    "Emoji": 10014,
    "Permission Overwrite": 10009,
    "Webhook": 10015,
    "Ban": 10026,
    "Sticker": 10060,
    "Tag": 10087,
    "interaction": 10062,
    "application command": 10063,
}


class SandboxError(Exception):
    """The root of the tree."""


class Refusal(SandboxError):
    """An HTTP error answer with Discord's JSON body."""

    def __init__(
        self, status: int, code: int, message: str, errors: Mapping[str, object] | None = None, *, hint: str = ""
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.hint = hint
        """What Discord does not say, for whoever reads a failed test."""

    @property
    def words(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def body(self) -> dict[str, object]:
        body: dict[str, object] = {"message": self.message, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


class GatewayClose(SandboxError):
    """Close codes of https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway"""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class Misuse(SandboxError):
    """The test's mistake, said in a sentence."""


class NotPermitted(Misuse):
    """Discord would not have let that member do it."""


def unknown(what: str) -> Refusal:
    """404 for a missing resource; ``what`` is a key of UNKNOWN."""
    return Refusal(404, UNKNOWN[what], f"Unknown {what}")


def missing_access() -> Refusal:
    return Refusal(403, 50001, "Missing Access")


def missing_permissions(need: Permission | None = None) -> Refusal:
    return Refusal(403, 50013, "Missing Permissions", hint="" if need is None else str(need.name))


def invalid_form(field: str, code: str, message: str) -> Refusal:
    """400/50035 with one error at a dotted path, nested as Discord nests it."""
    errors: dict[str, object] = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(field.split(".")):
        errors = {part: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors)
