"""Which faults of the database pass by themselves."""

import asyncpg
import pytest

from memory.database import is_passing

PASSING, LASTING = asyncpg.ConnectionDoesNotExistError("away"), TypeError("a fault of ours")


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (PASSING, True),
        (LASTING, False),
        (ExceptionGroup("one", [PASSING]), True),
        (ExceptionGroup("nested", [ExceptionGroup("inner", [PASSING, TimeoutError()])]), True),
        (ExceptionGroup("nested", [PASSING, ExceptionGroup("inner", [LASTING])]), False),
    ],
)
def test_a_group_passes_if_all_in_it_pass(error: BaseException, passing: bool) -> None:
    """Whatever is in a group, and however deep, it is said and not a fault of its own."""
    assert is_passing(error) is passing
