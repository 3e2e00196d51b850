"""Which failures of the database are worth trying again, and which are faults of ours."""

import pytest

from memory.database import is_passing


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (ConnectionResetError(), True),
        (TypeError(), False),
        (ExceptionGroup("tasks", [ConnectionResetError(), TimeoutError()]), True),
        (ExceptionGroup("tasks", [ConnectionResetError(), TypeError()]), False),
        (ExceptionGroup("tasks", [ExceptionGroup("inner", [TypeError()])]), False),
        (ExceptionGroup("tasks", [ExceptionGroup("inner", [ConnectionResetError()])]), True),
    ],
)
def test_a_group_passes_if_all_in_it_do(error: Exception, *, passes: bool) -> None:
    """A fault inside a group of tasks is found out, however deep it is, and not looked for without end."""
    assert is_passing(error) is passes
