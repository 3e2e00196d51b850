"""What can go wrong in memory, by who must act.

MemoryFault
├── ScopeMissing      (developer) a statement that does not carry its scope
└── SchemaFault       (operator) the database is not what this version needs
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
