"""The parts of a page that are about the question, quoted (I12)."""

from hypothesis import given
from hypothesis import strategies as st

from tools.excerpts import quoted_excerpt

PARAGRAPHS = [f"Paragraph {n} speaks of nothing in particular, at some length." for n in range(40)]


def test_what_fits_is_shown_whole() -> None:
    assert quoted_excerpt("# Title\n\nText <b>\nand more", "any", limit=60) == "# Title / Text ‹b› / and more"  # noqa: RUF001


def test_what_answers_the_question_is_found_however_late_it_stands() -> None:
    page = [*PARAGRAPHS]
    page[33] = "The moon landing took place on 20 July 1969."
    shown = quoted_excerpt("\n\n".join(page), "When was the moon landing?", limit=300)
    assert "20 July 1969" in shown
    assert shown.startswith("Paragraph 0 ")
    assert "[...]" in shown
    assert len(shown) <= 300


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    page = ["Intro."] + ["The release of the day is about the release."] * 20 + ["Zanzibar has one."]
    assert "Zanzibar" in quoted_excerpt("\n\n".join(page), "the release in Zanzibar", limit=100)


def test_a_page_without_breaks_is_cut_in_pieces() -> None:
    page = "filler " * 1000 + "needle " + "filler " * 1000
    assert "needle" in quoted_excerpt(page, "needle", limit=2_000)


@given(st.text(alphabet="ab< \n#`", max_size=400), st.text(alphabet="ab ", max_size=10), st.integers(1, 200))
def test_it_is_one_line_and_never_longer_than_asked(text: str, query: str, limit: int) -> None:
    shown = quoted_excerpt(text, query, limit=limit)
    assert len(shown) <= limit
    assert not set(shown) & set("\n<`")
