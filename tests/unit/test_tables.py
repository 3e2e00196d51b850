"""Tables are garbage in Discord: they arrive as aligned text, or as lists, and never from within code."""

import pytest

from bot.speech.tables import MOST_COLUMNS, width, without_tables


def test_a_small_table_becomes_aligned_text() -> None:
    """Columns line up, numbers to the right where the table says so, and emphasis leaves no marks."""
    said = without_tables("Prices:\n\n| Item | Price |\n|:-----|------:|\n| **Tea** | 3 |\n| `Cake` | 12 |\n\nBye")
    assert said == "Prices:\n\n```\nItem  Price\n----  -----\nTea       3\nCake     12\n```\n\nBye"


def test_wide_characters_count_twice() -> None:
    """Chinese, Japanese and Korean cells stay aligned."""
    said = without_tables("| 名前 | n |\n|---|---|\n| 東京 | 1 |\n| ab | 2 |")
    lines = said.split("\n")[1:-1]
    assert {width(line) for line in lines} == {7}


def test_a_wide_table_becomes_a_list() -> None:
    """What would wrap in a narrow window is told row by row."""
    long = "a sentence that goes on for quite some time, and further"
    said = without_tables(f"| Name | What | Since |\n|--|--|--|\n| Ada | {long} | 1843 |\n| Bob | - | |")
    assert said == f"- **Ada** — What: {long}; Since: 1843\n- **Bob** — What: -"


@pytest.mark.parametrize("cell", ["<@42>", "<:duck:1>", "https://example.com", "[here](https://e.com)", "||boo||"])
def test_what_a_code_block_would_kill_stays_alive(cell: str) -> None:
    """Mentions, emoji, links and spoilers go into a list."""
    assert without_tables(f"| Who | Where |\n|---|---|\n| Ada | {cell} |") == f"- **Ada** — Where: {cell}"


@pytest.mark.parametrize(
    "text",
    [
        "```md\n| a | b |\n|---|---|\n| 1 | 2 |\n```",
        "~~~\n| a | b |\n|---|---|\n~~~",
        "a | b\nis no table",
        "Either || or &&.\n---\nA rule.",
        "| only one |\n|---|",
        "a - b | c",
    ],
)
def test_what_is_no_table_stays(text: str) -> None:
    """Code, prose with bars, and a single column are left alone."""
    assert without_tables(text) == text


def test_bars_within_cells() -> None:
    """An escaped bar, or one in inline code, divides nothing; short rows are filled, long ones cut."""
    said = without_tables("| a | b |\n|---|---|\n| x \\| y | `p|q` |\n| lone |\n| 1 | 2 | 3 |")
    assert said.split("\n")[3:-1] == ["x | y  p|q", "lone", "1      2"]
    assert MOST_COLUMNS < 80
