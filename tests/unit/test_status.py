"""What is said while somebody waits, in the languages in which plain words are understood."""

import pytest

from bot.phrasings import LANGUAGES
from bot.speech.status import DOING, WORDS, status_line


def test_it_says_what_is_done_and_since_when() -> None:
    """The longest beginning of a tool's name that fits counts; of an unknown tool nothing is claimed."""
    assert status_line(None, 7.4) == "-# Working on it (7 s)"
    assert status_line("discord_read_messages", 130.0) == "-# Working on it: reading messages (2 min)"
    assert status_line("discord_react", 1.0) == "-# Working on it: doing something here (1 s)"
    assert status_line("strange", 1.0) == "-# Working on it (1 s)"


@pytest.mark.parametrize("language", sorted(each.code for each in LANGUAGES))
def test_each_language_that_is_understood_has_words_of_its_own(language: str) -> None:
    """By its first part, however a guild writes it; what is not known is told in English."""
    lines = {status_line(prefix + "x", 5.0, f"{language}-XX") for prefix in DOING}
    assert len(lines) == len(set(DOING.values()))
    assert all(line.startswith(f"-# {WORDS[language].working}: ") for line in lines)
    assert (status_line(None, 5.0, language) == status_line(None, 5.0)) == (language == "en")
    assert status_line(None, 5.0, "tlh") == "-# Working on it (5 s)"
