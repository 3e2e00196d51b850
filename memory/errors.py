"""What can go wrong in memory, by who must act.

MemoryFault
├── ScopeMissing      (developer) a statement that does not carry its scope
├── SchemaFault       (operator) the database is not what this version needs
└── MemoryRefused     (member, model) a write that memory does not take (I16)
"""

from collections.abc import Sequence


class MemoryFault(Exception):
    """The base of all of them."""


class ScopeMissing(MemoryFault):
    """A memory statement was about to run without comparing its scope (I6)."""

    def __init__(self, statement: str, missing: Sequence[str]) -> None:
        super().__init__(f"statement lacks {' and '.join(missing)}: {statement.strip()[:120]!r}")
        self.missing = tuple(missing)


class SchemaFault(MemoryFault):
    """The database's schema, version or extensions do not fit; the message is one plain sentence for the operator."""


class MemoryRefused(MemoryFault):
    """A write that memory does not take. `code` is stable; `message` is one sentence for the member and the model.

    Codes: empty, too_long, unknown_kind, unknown_scope, bad_key, bad_importance, secret, not_yours, not_found, gone,
    cap_reached, rate_limited; and of what was extracted also forgotten, outdated, told_by_hand.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
