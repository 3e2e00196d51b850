"""What can go wrong in memory, by who must act.

MemoryFault
├── ScopeMissing      (developer) a statement that does not carry its scope
├── ScopeUnknown      (developer) a write that says nowhere, or another place than it comes from
├── SchemaFault       (operator) the database is not what this version needs
├── MemoryRefused     (member, model) a write that memory does not take (I16)
├── RecallRefused     (member, model) a search that cannot be made as it stands
├── LeaseGone         (worker) somebody else has the job: write nothing more (I14)
└── ModelTrouble      a model gave nothing that can be used
    ├── ModelAway         (wait) it could not be reached, was busy, or does not serve us; trying later may help
    ├── QuestionRefused   (split, then park) it refuses this very input: too long, filtered, no usable answer
    └── WrongVectors      (operator) the vectors are not what the settings say
"""

from collections.abc import Sequence


class MemoryFault(Exception):
    """The base of all of them."""


class ScopeMissing(MemoryFault):
    """A memory statement was about to run without comparing its scope (I6)."""

    def __init__(self, statement: str, missing: Sequence[str]) -> None:
        super().__init__(f"statement lacks {' and '.join(missing)}: {statement.strip()[:120]!r}")
        self.missing = tuple(missing)


class ScopeUnknown(MemoryFault):
    """A memory was about to be written whose owner does not follow from where it was said (I6)."""


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


class RecallRefused(MemoryFault):
    """A search that cannot be made as it stands: `blank` or `too_long`. `message` is one sentence for the model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class LeaseGone(MemoryFault):
    """A worker's write matched no row: its lease ran out, and somebody else has the job (I14)."""


class ModelTrouble(MemoryFault):
    """`code` is stable; the message is one plain sentence without secrets and without anybody's words (I13)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ModelAway(ModelTrouble):
    """Trying later may help. `after_s`: how long the endpoint wants to be left alone."""

    def __init__(self, code: str, message: str, *, after_s: float | None = None) -> None:
        super().__init__(code, message)
        self.after_s = after_s


class QuestionRefused(ModelTrouble):
    """This input will not do: too_long, filtered, cut, bad_json."""


class WrongVectors(ModelTrouble):
    """wrong_dimension, wrong_count or not_numbers. What came is not stored, and the job is not done."""
