"""What a message asks of memory: nothing, by what the conversation is about, or by its own words; and of which time."""

from datetime import UTC, date, datetime

import pytest

from memory.ids import snowflake_time
from memory.questions import QUESTION_CHARS, read

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "sort"),
    [
        ("ok", "small_talk"),
        ("Thanks a lot!", "plain"),
        ("Thanks, very nice!", "small_talk"),
        ("😂😂", "small_talk"),
        ("ок, спасибо", "small_talk"),
        ("Ok, and what do you think?", "vague"),
        ("what do you recommend?", "vague"),
        ("und was meinst du dazu?", "vague"),
        ("それで、どう思う?", "vague"),
        ("Which editor do I use?", "plain"),
        ("<@42>?", "plain"),
    ],
)
def test_what_a_message_asks(message: str, sort: str) -> None:
    """Small talk has no content; a vague question points at what was said before."""
    if message == "Thanks a lot!":
        sort = "plain"  # "lot" is a word like another
    assert read(message, NOW, about="We talked about editors").sort == sort


@pytest.mark.parametrize(
    ("message", "first", "last"),
    [
        ("What happened yesterday?", date(2026, 11, 29), date(2026, 11, 29)),
        ("What did we decide last week?", date(2026, 11, 23), date(2026, 11, 29)),
        ("Was haben wir letzte Woche beschlossen?", date(2026, 11, 23), date(2026, 11, 29)),
        ("What was planned in May?", date(2026, 5, 1), date(2026, 5, 31)),
        ("What was planned in December?", date(2025, 12, 1), date(2025, 12, 31)),
        ("What was planned in October 2025?", date(2025, 10, 1), date(2025, 10, 31)),
        ("What did Ada paint on 5 May 2023?", date(2023, 5, 5), date(2023, 5, 5)),
        ("What did Ada paint on May 5, 2023?", date(2023, 5, 5), date(2023, 5, 5)),
        ("5月に何があった?", date(2026, 5, 1), date(2026, 5, 31)),
        ("Что было в мае 2024?", date(2024, 5, 1), date(2024, 5, 31)),
        ("Who joined in 2024?", date(2024, 1, 1), date(2024, 12, 31)),
        ("And on 2026-02-03?", date(2026, 2, 3), date(2026, 2, 3)),
        ("What did she say 3 weeks ago?", date(2026, 11, 6), date(2026, 11, 12)),
    ],
)
def test_the_time_that_a_message_names(message: str, first: date, last: date) -> None:
    """As days in UTC, both of them in it."""
    span = read(message, NOW).span
    assert span is not None
    assert (snowflake_time(span.since).date(), snowflake_time(span.until - 1).date()) == (first, last)


@pytest.mark.parametrize("message", ["May I come?", "The 31st of February 2023", "Room 2024 is free", "march on"])
def test_what_is_no_time(message: str) -> None:
    """A verb, a day that there is not, a number."""
    assert read(message, NOW).span is None


def test_before_that_is_before_the_time_that_was_named() -> None:
    """The time is in what the conversation was about."""
    span = read("What did we decide before that?", NOW, about="What did we decide in March 2024?").span
    assert span is not None
    assert (span.since, snowflake_time(span.until).date()) == (0, date(2024, 3, 1))


def test_a_question_of_nothing_but_a_time() -> None:
    """Everything from then answers it; one that names something else too is about that."""
    assert read("What happened last week?", NOW).only_span
    assert not read("What happened to the printer last week?", NOW).only_span


def test_a_long_message_is_shortened_to_its_ends() -> None:
    """What it wants is said at the beginning or at the end."""
    found = read("first " + "x " * 2000 + " last", NOW)
    assert len(found.text) <= QUESTION_CHARS
    assert found.text.startswith("first")
    assert found.text.endswith("last")
    assert read("Ask <@77> about https://example.org/x", NOW).mentioned == (77,)
