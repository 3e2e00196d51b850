"""In which order the calls of one reply run: a write is a wall that nothing passes in either direction."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def segments(calls: Sequence[T], is_barrier: Callable[[T], bool]) -> list[list[T]]:
    """`calls` cut into runs that go one after the other, in the given order.

    A barrier is a segment of one. Neighbouring calls that are none share a segment, whose calls may run together.
    """
    cut: list[list[T]] = []
    open_segment: list[T] | None = None
    for call in calls:
        if is_barrier(call):
            cut.append([call])
            open_segment = None
        elif open_segment is None:
            open_segment = [call]
            cut.append(open_segment)
        else:
            open_segment.append(call)
    return cut
