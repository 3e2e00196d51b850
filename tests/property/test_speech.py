"""What an answer becomes: parts that add up to it and break nothing, and snapshots of one that is still being written.

The texts are made of what models write, and of this repository's own pages, cut and mixed.
"""

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.speech.parts import MOST_CHARACTERS, cut, is_blank, snapshot, split
from tests.harness.fences import FENCE, open_block

PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
ATOMS = [
    "`let x = 1;`",
    "``a ` b``",
    "||the butler did it||",
    "<@123456789012345678>",
    "<@&42>",
    "<#77>",
    "<a:party_duck:1234567890>",
    "<t:1700000000:R>",
    "</help:99>",
    "[the manual](https://example.com/a_(b)?q=1#frag)",
    "https://example.com/path/very/long/indeed",
    "<https://example.com/quiet>",
    "**very bold words**",
    "~~gone for good~~",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "é",
    "👍🏽",
]
BITS = [
    *ATOMS,
    "word",
    "internationalisation",
    " ",
    " ",
    " ",
    ". ",
    "\n",
    "\n\n",
    "\n```py\nprint('||')\n    x = `1`\n```\n",
    "\n    ```sh\n    ls <@1>\n    ```\n",
    "\n~~~\ncode ```\n~~~\n",
    "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\n- item one\n  - item two\n",
    "\n> quoted\n",
    "\n# Title\n",
    "你好世界。",
    "x" * 45,
]
TEXTS = st.lists(st.sampled_from(BITS), max_size=60).map(" ".join)
OPEN = st.sampled_from(["`", "||", "**", "[", "<@", "```", "```py\n", "\n```", "(", "|", "<a:x", "~~", "\\", "_"])
WILD = st.lists(st.one_of(st.sampled_from(BITS), OPEN), max_size=60).map("".join)
LIMITS = st.sampled_from([90, 150, 400, 2000])


def prose(part: str) -> str:
    """The part without its code blocks."""
    kept: list[str] = []
    mark: str | None = None
    for line in part.split("\n"):
        found = FENCE.match(line)
        if found is not None and mark is None:
            mark = found[1]
        elif found is not None and mark is not None and found[1][0] == mark[0] and len(found[1]) >= len(mark):
            mark = mark if found[2].strip() else None
        elif mark is None:
            kept.append(line)
    return "\n".join(kept)


@given(WILD, LIMITS)
@example("`\n``` ", 90)  # words before a block that shows nothing
@settings(max_examples=150, deadline=None)
def test_the_pieces_add_up_to_the_source(text: str, limit: int) -> None:
    """Join equals source: between the pieces, in order, nothing is left out but what shows nothing."""
    at = 0
    for piece in cut(text, limit):
        between = re.sub(r"^[ \t]*(`{3,}|~{3,})[^\n`]*$", "", text[at : piece.start], flags=re.MULTILINE)
        assert is_blank(between)
        assert piece.start >= at
        assert len(piece.part(text)) <= limit
        at = piece.end
    assert is_blank(re.sub(r"^[ \t]*(`{3,}|~{3,})[^\n`]*$", "", text[at:], flags=re.MULTILINE))


@given(TEXTS, LIMITS)
@settings(max_examples=150, deadline=None)
def test_nothing_that_belongs_together_is_cut(text: str, limit: int) -> None:
    """Each link, mention, emoji, spoiler and inline code is whole in some part, as often as in the source, and each
    part is balanced."""
    parts = split(text, limit)
    for part in parts:
        assert open_block(part) is None
        assert prose(part).count("||") % 2 == 0
        assert re.sub(r"`{2}[^\n]*?`{2}", "", prose(part)).count("`") % 2 == 0
    for atom in ATOMS:
        assert sum(part.count(atom) for part in parts) == text.count(atom)
    assert sum(part.count("internationalisation") for part in parts) == text.count("internationalisation")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_real_pages_are_cut_well_at_any_size(page: Path) -> None:
    """Pages as people write them: each part fits and is balanced, and put together they are the page."""
    text = page.read_text(encoding="utf-8")
    for limit in (120, 333, 1000, 2000):
        at = 0
        for piece in cut(text, limit):
            part = piece.part(text)
            assert len(part) <= limit
            assert open_block(part) is None
            assert not text[at : piece.start].strip()
            at = piece.end
        assert not text[at:].strip()


@given(WILD)
@settings(max_examples=60, deadline=None)
def test_every_snapshot_is_balanced_and_a_beginning_of_the_answer(text: str) -> None:
    """Whatever was written so far: what is shown fits, closes what it opens, and is how the answer begins."""
    for end in range(0, len(text) + 1, max(1, len(text) // 40)):
        shown = snapshot(text[:end])
        assert len(shown) <= MOST_CHARACTERS
        assert open_block(shown) is None
        body = shown
        while body and not text.lstrip().startswith(body):
            body = body[: body.rfind("\n")] if "\n" in body else ""
        closers = shown[len(body) :].strip()
        assert closers == "" or set(closers) <= {"`", "~"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_real_pages_grow_well(page: Path) -> None:
    """Snapshots of pages as people write them, cut off anywhere: balanced, within the limit, and a beginning."""
    text = page.read_text(encoding="utf-8")[:6_000]
    for end in range(0, len(text) + 1, max(1, len(text) // 8)):
        shown = snapshot(text[:end])
        assert len(shown) <= MOST_CHARACTERS
        assert open_block(shown) is None
        body = re.sub(r"\n(`{3,}|~{3,})\Z", "", shown)
        assert text.lstrip().startswith(body)


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_no_snapshot_shows_half_of_anything(text: str) -> None:
    """Inline code, spoilers, links, mentions and emoji show once they have their ends; a spoiler leaks nothing."""
    for end in range(0, len(text) + 1, max(1, len(text) // 40)):
        shown = prose(snapshot(text[:end]))
        assert shown.count("||") % 2 == 0
        assert re.sub(r"`{2}[^\n]*?`{2}", "", shown).count("`") % 2 == 0
        assert "butler" not in re.sub(r"\|\|.*?\|\|", "", shown)
        assert not re.search(r"<(?:@|a?:|#|t:)[^>]*$", shown)
        assert not re.search(r"\[[^\]]*$|\]\([^)]*$", shown)


def test_an_overlong_spoiler_and_inline_code_are_closed_and_opened_again() -> None:
    """What is longer than a part stays hidden, or code, in each of them."""
    spoiler = "||" + "secret words " * 400 + "||"
    parts = split(spoiler)
    assert len(parts) > 2
    assert all(part.startswith("||") and part.endswith("||") and len(part) <= 2000 for part in parts)
    code = "`" + "x + y " * 500 + "`"
    assert all(part.startswith("`") and part.endswith("`") for part in split(code))


def test_a_block_that_fits_into_a_part_is_not_divided() -> None:
    """The cut falls before it, where the part before is not left nearly empty."""
    block = "```py\n" + "\n".join(f"line_{n} = {n}" for n in range(60)) + "\n```"
    text = "words and more words. " * 60 + "\n" + block + "\nafter"
    first, second = split(text)
    assert "```" not in first
    assert second == block + "\nafter"


def test_paragraphs_and_sentences_are_where_cuts_fall() -> None:
    """Between paragraphs where that wastes little, else behind a sentence, else between words."""
    paragraph = "One sentence here. " * 90
    assert split(paragraph.strip() + "\n\n" + paragraph.strip())[0].endswith("here.")
    assert split("One sentence here. " * 300)[0].endswith("here.")
    assert split("word " * 900)[0].endswith("word")
    assert all(part.endswith("。") for part in split("这是一个句子。" * 600))


@pytest.mark.parametrize("size", range(1990, 2011))
@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
def test_the_closing_mark_fits_at_every_size_around_the_limit(size: int, mark: str) -> None:
    """A closer must not push a part over the limit."""
    text = f"{mark}rust\n" + "y" * (size - 60) + "\n" + "z" * 60 + f"\n{mark}\nend"
    for part in split(text):
        assert len(part) <= 2000
        assert open_block(part) is None


def test_splitting_is_quick_for_hostile_texts() -> None:
    """Marks that never end cost no more than reading the text a few times."""
    for bit in ("[", "`", "||", "**", "<@", "(", "` ", "[a](", "https://", "```\n", "\\", "|| `", "[x](("):
        began = time.process_time()
        split(bit * (40_000 // len(bit)))
        snapshot(bit * (40_000 // len(bit)))
        assert time.process_time() - began < 3.0, bit
