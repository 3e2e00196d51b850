"""Hours in which nothing is said unasked: over midnight, in a zone, and never by mistake."""

from datetime import UTC, datetime

import pytest

from bot.quiet_hours import QuietHours


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ("22-7", {22, 23, 0, 1, 2, 3, 4, 5, 6}),
        ("1-3", {1, 2}),
        ("9-9", set[int]()),
        ("", set[int]()),
        ("none", set[int]()),
        ("22-7 Asia/Tokyo", {13, 14, 15, 16, 17, 18, 19, 20, 21}),
        ("0-2 Asia/Kolkata", {18, 19}),  # half past, there
    ],
)
def test_they_hold_from_the_first_hour_to_the_last(written: str, held: set[int]) -> None:
    """By the clock of their zone; what is looked at is half past each hour of the day, UTC."""
    hours = QuietHours.of(written)
    assert {h for h in range(24) if hours.hold(datetime(2026, 1, 2, h, 30, tzinfo=UTC))} == held


@pytest.mark.parametrize(
    "written", ["22", "24-7", "a-b", "22-7 Nowhere/Else", "22-7 ../../etc/passwd", "1-2" + " " * 60]
)
def test_what_is_written_wrong_is_refused_in_words(written: str) -> None:
    """The sentence says how it is written."""
    with pytest.raises(ValueError, match=r"such as 22-7|written like Europe/Berlin"):
        QuietHours.of(written)
