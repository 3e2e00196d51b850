"""Whether a message asks for an action in plain words: what lets an action run without asking back (I5).

Only the requester's own words count: quotations, code, block quotes, struck and hidden text, and whatever a forward or
a reply brings along are no part of them. The table of phrasings (bot.phrasings) may only allow; nothing here tries to
understand. What is reported, supposed, conditional or addressed to somebody else is left undecided.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from bot.phrasings import LANGUAGES, REPORTS
from bot.phrasings.language import Ask, Compiled, Language

Verdict = Literal["asked", "negated", "unclear"]
_Finding = Literal["asked", "maybe", "negated"]
"""`maybe`: it is worded so, in a sentence that may not be the requester's own request."""

_WITH_CONTENT: Final[frozenset[Ask]] = frozenset({"send", "send_to", "reply", "edit", "remember", "forget"})

MOST_CHARACTERS: Final = 4000
"""What is longer is not read: nobody asks for one thing in so many words."""

# What is not the requester's own plain speech, and the mark that takes its place. An opening mark without its closing
# one takes the rest along.
_ASIDE: Final = re.compile(
    r"""
      ```.*?(?:```|\Z)            | ``.*?(?:``|\Z)              | `[^`]*(?:`|\Z)
    | ^[ \t]*>>>[ ].*\Z           | ^[ \t]*>[ ][^\n]*           | ^[ \t]*>[^\n]*
    | \|\|.*?(?:\|\||\Z)          | ~~.*?(?:~~|\Z)
    | "[^"]*(?:"|\Z)              | “[^”“]*(?:[”“]|\Z)          | „[^“”]*(?:[“”]|\Z)
    | «[^»]*(?:»|\Z)              | »[^«]*(?:«|\Z)              | ‹[^›]*(?:›|\Z)        | ›[^‹]*(?:‹|\Z)
    | 「[^」]*(?:」|\Z)            | 『[^』]*(?:』|\Z)            | 《[^》]*(?:》|\Z)
    | (?<!\w)'[^'\n]*'(?!\w)      | (?<!\w)‘[^’\n]*’(?!\w)      | ‚[^‘\n]*(?:‘|\Z)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
QUOTE: Final = "§q"
_LINK: Final = re.compile(r"<?https?://(?:\w+\.)?discord(?:app)?\.com/channels/\S+/\d+/\d+>?")
_URL: Final = re.compile(r"<?https?://\S+")
_MENTION: Final = re.compile(r"<@!?(\d+)>")
_CHANNEL: Final = re.compile(r"<#\d+>")
_EMOJI: Final = re.compile(r"<a?:\w+:\d+>")
_OTHER_MARKUP: Final = re.compile(r"<(?:@&|t:|/|id:)[^>]*>")
_DECORATION: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|^[ \t]*(?:#{1,3}|-#|[-*•])[ \t]+", re.MULTILINE)
_SENTENCE: Final = re.compile(r"[^.!?…。！？\n;；]*[.!?…。！？\n;；]*")
_ENDS: Final = ".!?…。！？\n;； "
_SOMEBODY: Final = re.compile(r"[:]|§user|(?<![§a-z])(?!pin|thread|slow|mode|message|post)[a-z]{2,}")
_SPEAKER: Final = re.compile(r"(?!§channel)\S+ ?:|§user|(?!§)[a-z]{2,} ")
_PAUSE: Final = re.compile(r"\s*[,，、]\s*")
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "¿": "", "¡": ""})
_ELISION: Final = re.compile(r"(?<!\w)((?:[cdjlmnst]|qu|un)')(?=\w)", re.IGNORECASE)
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co"})


def judge(text: str, ask: Ask, *, own_id: int) -> Verdict:
    """Whether `text` asks for it, asks for it not to be done, or leaves that open. `own_id`: the bot's user."""
    if len(text) > MOST_CHARACTERS:
        return "unclear"
    words = own_words(text, own_id=own_id)
    found: set[_Finding] = set()
    for language in LANGUAGES:
        found |= _findings(words, ask, language)
    if "negated" in found:
        return "negated" if not found & {"asked", "maybe"} else "unclear"
    return "asked" if "asked" in found else "unclear"


def unquoted(text: str) -> str:
    """`text` without quotations, code, hidden and struck text; mentions and links stand as they were written."""
    return _ASIDE.sub(f" {QUOTE} ", _seen(text))


def own_words(text: str, *, own_id: int) -> str:
    """What somebody says in their own words, in lower case, with marks for what stands there besides words."""
    said = unquoted(text).translate(_APOSTROPHES)
    said = _LINK.sub(" §link ", said)
    said = _URL.sub(" §url ", said)
    said = _MENTION.sub(lambda found: " " if int(found[1]) == own_id else " §user ", said)
    said = _CHANNEL.sub(" §channel ", said)
    said = _EMOJI.sub(" §emoji ", said)
    said = _OTHER_MARKUP.sub(" §other ", said)
    said = _ELISION.sub(r"\1 ", plain_latin(_DECORATION.sub("", said)))
    return "\n".join(" ".join(line.split()) for line in said.casefold().split("\n"))


def _seen(text: str) -> str:
    """Wide and joined letters in their plain form, and nothing that cannot be seen."""
    written = unicodedata.normalize("NFKC", text)
    return "".join(each for each in written if each in "\n\t" or unicodedata.category(each) not in _UNSEEN)


def plain_latin(text: str) -> str:
    """Latin letters without their marks, which people leave out as they like."""
    if text.isascii():
        return text
    return "".join(
        parts[0] if len(parts := unicodedata.normalize("NFD", each)) > 1 and parts[0].isascii() else each
        for each in text
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence by its clauses. `is_question`: it ends so."""

    whole: str
    clauses: tuple[str, ...]
    is_question: bool


def _findings(words: str, ask: Ask, language: Language) -> set[_Finding]:
    """What one language's table finds, in the order in which it stands there."""
    patterns = language.compiled
    pattern, stem = patterns.asks.get(ask), patterns.stems.get(ask)
    found: set[_Finding] = set()
    if pattern is None or stem is None or stem.search(words) is None:
        return found
    for sentence in _sentences(words, patterns):
        asks_nobody = sentence.is_question and patterns.polite.search(sentence.whole) is None
        for_us = not asks_nobody and not _is_framed(sentence.whole, ask, patterns)
        for clause in sentence.clauses:
            bare = _without_leads(clause, patterns)
            if found and patterns.retracts.fullmatch(bare or clause):
                found = {"negated"}
            elif _is_negated(clause, bare, ask, patterns, stem, pattern):
                if not sentence.is_question:
                    found.add("negated")
                for_us = False
            elif pattern.fullmatch(bare):
                found.add("asked" if for_us and (language.spaced or _is_own(bare, ask, stem)) else "maybe")
            for_us = for_us and (not bare or _is_for_us(bare, patterns))
    return found


def _is_framed(sentence: str, ask: Ask, patterns: Compiled) -> bool:
    """Whether the sentence is a report, a condition or a supposition. What is to be said or kept may be one."""
    if ask in _WITH_CONTENT and (cut := patterns.content.search(sentence)):
        sentence = sentence[: cut.start()]
    sentence = patterns.harmless.sub("", sentence)
    return REPORTS.search(sentence) is not None or patterns.frames.search(sentence) is not None


def _sentences(words: str, patterns: Compiled) -> Iterator[_Sentence]:
    for match in _SENTENCE.finditer(words):
        ending = match[0].rstrip()
        whole = match[0].strip(_ENDS)
        if whole:
            clauses = [part for piece in _PAUSE.split(whole) for part in patterns.joints.split(piece)]
            yield _Sentence(
                whole, tuple(part.strip() for part in clauses if part.strip()), ending.endswith(("?", "？"))
            )


def _without_leads(clause: str, patterns: Compiled) -> str:
    """The clause without what may stand before an ask."""
    while (lead := patterns.leads.match(clause)) and lead.end() > 0:
        clause = clause[lead.end() :].lstrip(" ,:")
    return clause


def _is_negated(
    clause: str, bare: str, ask: Ask, patterns: Compiled, stem: re.Pattern[str], pattern: re.Pattern[str]
) -> bool:
    """Whether the clause speaks of the action and negates it."""
    verb = stem.search(clause)
    if verb is None:
        return False
    if ask == "remember" and patterns.keeps.match(bare):
        return False
    if patterns.negations.search(clause, 0, verb.end()):
        return True
    rest = clause[verb.start() :]
    head = rest[: cut.start()] if (cut := patterns.content.search(rest)) else rest
    return patterns.postponed.search(head) is not None


def _is_own(bare: str, ask: Ask, stem: re.Pattern[str]) -> bool:
    """Whether nobody else's name or words stand before the verb, in languages that put everything before it."""
    if ask in ("reply", "send", "send_to"):
        return _SPEAKER.match(bare) is None
    verb = stem.search(bare)
    return _SOMEBODY.search(bare, 0, verb.start() if verb else len(bare)) is None


def _is_for_us(bare: str, patterns: Compiled) -> bool:
    """Whether a clause asks the bot for something, so that the next one goes on asking."""
    return patterns.others.match(bare) is not None or any(each.fullmatch(bare) for each in patterns.asks.values())
