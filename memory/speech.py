"""What in a message is its author's own, and whether it can carry a fact.

Quotes, pasted logs, code blocks and text that somebody else said before are nobody's facts here, whoever posts them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_QUOTED_REST: Final = re.compile(r"^>>> .*", re.MULTILINE | re.DOTALL)
_QUOTED: Final = re.compile(r"^\s*>+(?: .*)?$", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP: Final = re.compile(r"<(?:@[!&]?|#|a?:\w+:|t:)\d+(?::\w)?>|https?://\S+|\bwww\.\S+")
# A line out of a log or of another chat: begins with a time or a level, or with a name and a time.
_LOGGED: Final = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AP]M)?\]\s|"
    r"\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b|Traceback \(most recent|\s+at \S+\(.*\)$|File \"|"
    r".{1,40}\s[\u2014-]\s(?:today|yesterday|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})\b)",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(r"^\s*(?:/[a-z][\w-]*(?:\s|$)|[!?$%.;+-]{1,2}[a-z][\w-]*(?:\s|$))", re.IGNORECASE)
_ECHO_CHARS: Final = 20
"""A line shorter than this may be said by two people without one repeating the other."""

UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""Scripts without spaces between words, and Hangul, whose words carry their particles."""

_WORD: Final = re.compile(r"[^\W_]+")
_STEM_CHARS: Final = 4
# "I", "my", "we" and the like: a question without any of them states nothing about its author.
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|my|mine|me|we|our|us|ich|mein\w*|mir|mich|wir|unser\w*|uns|yo|mi|je|j'|moi|mon|ma|nous|"
    r"я|мой|моя|моё|мои|меня|мне|мы|наш\w*|нас|أنا|نحن)\b|私|僕|俺|我|わたし|ぼく|うち|나는|내가|저는|제가|우리|나|저|لي\b|ني\b",
    re.IGNORECASE,
)
_QUESTION_END: Final = ("?", "\uff1f", "؟")


def own_words(content: str, said_before: Iterable[str] = ()) -> str:
    """The words of a message that are its author's: no quotes, code, pasted lines, links, mentions or commands.

    `said_before` are lines (by `lines_of`) of others, which nobody makes theirs by repeating them.
    """
    if _COMMAND.match(content):
        return ""
    text = _QUOTED_REST.sub("", content)
    text = _CODE.sub("\n", text)
    text = _QUOTED.sub("", text)
    known = set(said_before)
    kept = [line for line in text.splitlines() if not _LOGGED.match(line) and _folded(line) not in known]
    return " ".join(_MARKUP.sub(" ", "\n".join(kept)).split())


def lines_of(content: str) -> set[str]:
    """The lines of a message by which a repetition is known."""
    return {line for line in map(_folded, content.splitlines()) if len(line) >= _ECHO_CHARS}


def states_something(own: str) -> bool:
    """Whether own words can carry a fact: they have letters, and are not one question about others."""
    if not any(each.isalpha() for each in own):
        return False
    return not (_is_one_question(own) and _FIRST_PERSON.search(own) is None)


def _is_one_question(own: str) -> bool:
    if not own.endswith(_QUESTION_END):
        return False
    body = own.rstrip("".join(_QUESTION_END) + "! ")
    return not re.search(r"[.!?\uff1f\u061f。\uff01]\s*\S", body)


def supports(own: str, content: str, *, without: Iterable[str] = ()) -> bool:
    """Whether own words have anything to do with `content`: a stem, a number or a pair of characters in common.

    `without`: names, which stand in both anyway. Weak on purpose: it refuses what was made up or translated, and lets
    paraphrases pass.
    """
    names = {piece for name in without for piece in _pieces(name)}
    said, claimed = _pieces(own) - names, _pieces(content) - names
    return bool(said & claimed) or not claimed


def _pieces(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    pieces: set[str] = set()
    for run in UNSPACED.findall(folded):
        pieces.update([run] if len(run) < 2 else [run[at : at + 2] for at in range(len(run) - 1)])
    for word in _WORD.findall(UNSPACED.sub(" ", folded)):
        # Short words are mostly grammar; numbers are not.
        if len(word) >= _STEM_CHARS or word.isdigit() or any(each.isdigit() for each in word):
            pieces.add(word[:_STEM_CHARS])
        elif len(word) >= 3:
            pieces.add(word)
    return pieces


_SCRIPTS: Final = (
    "LATIN",
    "CYRILLIC",
    "ARABIC",
    "HEBREW",
    "GREEK",
    "DEVANAGARI",
    "THAI",
    "HANGUL",
    "HIRAGANA",
    "KATAKANA",
    "CJK",
)


def scripts_in(text: str) -> dict[str, float]:
    """The share of each script in the letters of a text; Chinese characters and kana count as one, named CJK."""
    counts: dict[str, int] = {}
    for each, times in Counter(text).items():
        if each.isalpha():
            script = _script_of(each)
            # One of these says as much as a few letters of an alphabet.
            counts[script] = counts.get(script, 0) + times * (3 if script in ("CJK", "HANGUL") else 1)
    letters = sum(counts.values())
    return {script: count / letters for script, count in counts.items()}


@lru_cache(maxsize=4_096)
def _script_of(letter: str) -> str:
    name = unicodedata.name(letter, "")
    script = next((known for known in _SCRIPTS if known in name), "OTHER")
    return "CJK" if script in ("HIRAGANA", "KATAKANA") else script


def _folded(line: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", line).casefold().split())
