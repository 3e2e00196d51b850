"""Splitting, for any text: every part fits, stands alone, and nothing is lost."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.speech.parts import MOST_CHARACTERS, is_blank, split
from tests.harness.fences import FENCE, open_block

BITS = st.sampled_from(
    [
        "word ",
        "\n",
        "\n\n",
        "```py\n",
        "```\n",
        "~~~\n",
        "````\n",
        "x" * 150,
        "é",
        "🦆",
        " ",
        "|a|b|\n",
        "* item\n",
        "\u200b",
    ]
)
TEXTS = st.one_of(st.lists(BITS, max_size=80).map("".join), st.text(max_size=500))
LIMITS = st.sampled_from([40, 100, 199, 2000])


@given(TEXTS, LIMITS)
@settings(max_examples=400, deadline=None)
def test_every_part_fits_and_is_not_blank(text: str, limit: int) -> None:
    """Discord refuses what is longer than 2,000 code points, or empty; it trims the rest."""
    for part in split(text, limit):
        assert len(part) <= limit
        assert part == part.strip()
        assert not is_blank(part)


@given(TEXTS, LIMITS)
@settings(max_examples=400, deadline=None)
def test_every_part_closes_its_code_blocks(text: str, limit: int) -> None:
    """A part that ends inside a code block closes it, and the next opens it again. Discord lets a block of backticks
    begin and end within a line, too: then they come in pairs."""
    parts = split(text, limit)
    for part in parts:
        assert open_block(part) is None or part.count("```") % 2 == 0


@given(TEXTS, LIMITS)
@settings(max_examples=400, deadline=None)
def test_no_visible_character_is_lost_or_made_up(text: str, limit: int) -> None:
    """Beside white space and fence lines, what goes in comes out, in order."""

    def visible(given: str) -> str:
        lines = [line for line in given.split("\n") if not FENCE.match(line)]
        # What stands between backticks within a line, and is longer than a part, is closed and opened again.
        bare = re.sub("`{3,}", "", "".join(lines))
        return "".join(character for character in bare if not is_blank(character))

    assert visible("\n".join(split(text, limit))) == visible(text.replace("\r\n", "\n"))


def test_words_in_backticks_within_a_line_are_not_taken_for_a_language() -> None:
    """Where the next part opens them again, a word that ends a line would be, and would not be shown."""
    parts = split("word ```py\n" + "x" * 150 + "\nword ```py\n", 40)
    assert len(parts) > 2
    assert all(part.startswith("```\n") and part[4] != "\n" for part in parts[1:])
    assert "".join(parts).count("x") == 150


def test_a_code_block_over_several_parts_keeps_its_language() -> None:
    """Each part opens with the block's info string."""
    text = "Look:\n```python\n" + "\n".join(f"print({n})" for n in range(600)) + "\n```\nDone."
    parts = split(text)
    assert len(parts) > 1
    assert all(len(part) <= MOST_CHARACTERS for part in parts)
    assert all(part.startswith("```python") for part in parts[1:])
    assert parts[-1].endswith("Done.")


def test_several_blocks_in_one_answer_stand_for_themselves() -> None:
    """Each is closed where it ends, and goes on in its own language where it is divided."""
    blocks = {"python": "print", "sh": "echo", "": "plain"}
    text = "\nAnd then:\n".join(
        f"```{language}\n" + "\n".join(f"{word} {n} {'x' * 40}" for n in range(60)) + "\n```"
        for language, word in blocks.items()
    )
    parts = split(text)
    assert len(parts) > len(blocks)
    for part in parts:
        assert open_block(part) is None
        fenced = re.findall(r"^```(\w*)\n(.*?)\n```$", part, re.MULTILINE | re.DOTALL)
        assert fenced
        for language, body in fenced:
            assert {line.split()[0] for line in body.split("\n")} == {blocks[language]}


def test_a_cut_makes_no_fence_of_what_stood_within_a_line() -> None:
    """Three backticks in the middle of a long line are no code block's end, wherever the cut falls."""
    for size in range(20, 160):
        for mark in ("```py", " ```", "~~~", "``````"):
            text = "```py\n" + "x" * size + mark + "y" * 50
            parts = split(text, 40)
            assert "".join(part.removeprefix("```py\n").removesuffix("\n```") for part in parts).replace(" ", "") == (
                "x" * size + mark.strip() + "y" * 50
            )


def test_a_fence_that_leaves_no_room_is_none() -> None:
    """An opening line or a mark of about a part's length: every part still fits, and the end is reached soon."""
    for size in (300, 500, 600, 999, 1985, 1993, 1996, 3000, 50_000):
        for opening in ("```" + "x" * size, "`" * size, "~" * size):
            parts = split(opening + "\n" + "y" * 300 + "\n```\ndone")
            assert all(len(part) <= MOST_CHARACTERS for part in parts)
            assert len(parts) <= 3 + 2 * size // MOST_CHARACTERS


def test_edges_around_the_limit() -> None:
    """Texts of just about 2,000 characters, with and without a fence that has to be closed."""
    for size in range(1985, 2015):
        for text in ("a" * size, "```\n" + "a" * size, "```\n" + "a " * (size // 2) + "\n```"):
            for part in split(text):
                assert len(part) <= MOST_CHARACTERS
                assert open_block(part) is None
