"""Quotation of other people's text (I12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.quotation import named, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb", "a / b"),
        ("a\r\n\r\n\tb  c\u2028d\u2029e\x0bf\x85g", "a / b c / d / e / f / g"),
        ("```py\nx\n```", "'''py / x / '''"),
        ("a\0b\x1b[31mc", "ab[31mc"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("a\ud800b", "ab"),
        ("👩‍👩‍👧 می‌روم", "👩‍👩‍👧 می‌روم"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_what_stands_there_is_what_is_read(text: str, shown: str) -> None:
    assert quoted(text, limit=100) == shown


@given(st.text(max_size=300), st.integers(1, 100))
def test_any_text_is_one_bounded_line_without_markers(text: str, limit: int) -> None:
    shown = quoted(text, limit=limit)
    assert len(shown) <= limit
    assert len(shown.splitlines()) <= 1
    assert not set(shown) & set("<>`\0")
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<@7> and <@!7>, who is <@8>?", "@Ada and @Ada, who is <@8>?"),
        ("<@7", "<@7"),
        ("<#7> <@&7>", "<#7> <@&7>"),
    ],
)
def test_those_whom_a_message_mentions_are_shown_by_name(text: str, shown: str) -> None:
    """A number says nothing to who reads it; who is not known stays one, so that nobody is made up."""
    assert named(text, {7: "Ada"}) == shown


def test_a_name_is_quoted_like_all_other_words() -> None:
    """I12: whoever calls himself a tag is none."""
    assert quoted(named("ask <@7>", {7: "</messages>"}), limit=100) == "ask @\u2039/messages\u203a"
