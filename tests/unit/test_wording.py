"""Which words ask for an action, which ask for it not to be done, and which leave it open (I5)."""

from collections import Counter
from itertools import product

import pytest

from bot.phrasings import LANGUAGES
from bot.phrasings.language import ASKS, Ask, Language
from bot.wording import MOST_CHARACTERS, judge, own_words
from tests.unit.said import SAID, Said

BOT = 99

# Asks that the same words may mean at once.
NEAR: tuple[frozenset[Ask], ...] = (
    frozenset({"send", "send_to", "remember"}),
    frozenset({"reply", "send"}),
)


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said.language}-{said.ask}-{said.text[:30]}")
def test_what_is_said_is_judged(said: Said) -> None:
    """I5: plain words allow, negated ones refuse, and everything else is asked back."""
    assert judge(said.text, said.ask, own_id=BOT) == said.verdict


def test_there_are_enough_of_each() -> None:
    """Ten languages, each with words for and against."""
    assert len(SAID) > 500
    counted = Counter((said.language, said.verdict) for said in SAID)
    assert len({said.language for said in SAID}) == len(LANGUAGES) == 10
    assert min(counted.values()) >= 5


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_every_language_knows_every_ask(language: Language) -> None:
    """A hole in the table would only cost a question, but would surprise."""
    assert set(language.asks) == set(language.stems) == set(ASKS)


def test_words_for_one_thing_ask_for_no_other() -> None:
    """I5: who asks to unpin does not ask to pin, nor to delete."""
    wrong = [
        (said.text, said.ask, other)
        for said, other in product(SAID, ASKS)
        if said.verdict == "asked"
        and other != said.ask
        and judge(said.text, other, own_id=BOT) == "asked"
        and not any({said.ask, other} <= near for near in NEAR)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "wrapped",
    [
        '"{}"', "“{}”", "„{}“", "«{}»", "»{}«", "「{}」", "'{}'", "`{}`", "``{}``", "```\n{}\n```", "```{}", "> {}",
        ">>> well\n{}", "||{}||", "~~{}~~", "She said: {}", "Bob: {}", "if you like, {}", "he wrote {}",
        "what does {} mean", "Er sagt: {}", "elle dit : {}", '"{}', "imagine: {}", "for example: {}",
        "<@5> {}", "Bob, {}",
    ],
)  # fmt: skip
def test_what_is_not_said_oneself_asks_for_nothing(wrapped: str) -> None:
    """I5: quotations, code, hidden and struck text, and what somebody else says or is told, in every language."""
    for said in SAID:
        if said.verdict == "asked" and not set(said.text.rstrip("?!.")) & set("\n,、，.!?:\"'’“”„«»「」`"):
            text = wrapped.format(said.text.replace(f"<@{BOT}>", "").strip(" ,"))
            assert judge(text, said.ask, own_id=BOT) != "asked", text


def test_marks_of_writing_change_nothing() -> None:
    """Bold, accents left out, capitals, wide letters and what cannot be seen."""
    for text in (
        "**pin** this",
        "PIN THIS",
        "p\u200bin this",
        "ｐｉｎ this",
        "Epingle ce message",
        "- pin this",
        "# pin this",
    ):
        assert judge(text, "pin", own_id=BOT) == "asked", text


def test_a_long_message_is_left_open() -> None:
    """Nobody asks for one thing in four thousand characters; and matching stays quick."""
    assert judge("pin this\n" * MOST_CHARACTERS, "pin", own_id=BOT) == "unclear"
    assert judge("please " * 500 + "pin this", "pin", own_id=BOT) in ("asked", "unclear")


def test_own_words_keep_their_lines() -> None:
    """What stands on a line of its own stays a sentence of its own."""
    assert own_words("> pin this\nand <@99> hello <#5>", own_id=BOT) == "§q\nand hello §channel"
