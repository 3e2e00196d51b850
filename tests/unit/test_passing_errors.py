"""Which errors of the database pass: what is tried again, and what is a fault."""

import asyncpg

from memory.database import is_passing


def test_a_group_passes_where_all_in_it_do() -> None:
    """What failed side by side is judged by each failure, however deep it stands in groups of groups."""
    away, fault = OSError(), TypeError()
    assert is_passing(ExceptionGroup("both", [away, ExceptionGroup("inner", [asyncpg.AdminShutdownError("")])]))
    assert not is_passing(ExceptionGroup("both", [away, ExceptionGroup("inner", [fault])]))
    assert not is_passing(ExceptionGroup("one", [fault]))
