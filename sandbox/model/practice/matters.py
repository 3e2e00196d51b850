"""What a sentence is about, by a few patterns: its kind, and a key that stays when the value changes."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_MOST_WORDS = 4
_DROPPED = frozenset("a an the my our your to of in on at with for and is are am be i we that very really".split())


@dataclass(frozen=True, slots=True)
class Matter:
    """`kind` is one of Muninn's kinds of memory. `key` is None where no word is left to name it by."""

    kind: str
    key: str | None


_PATTERNS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind, key)
    for pattern, kind, key in (
        (r"\bmy name is\b|\b(?:call me|i am called)\b", "profile", "profile.name"),
        (r"\b(?:i live|i am living|i moved) (?:in|to)\b", "profile", "profile.city"),
        (r"\bi (?:work|am working) (?:as|at|for|in)\b", "profile", "profile.work"),
        (r"\b(?:i am|i'm) allergic to\b", "profile", "profile.allergy"),
        (r"\b(?:my|our) favou?rite (?P<what>[\w -]{2,40}?) (?:is|are)\b", "preference", "preference.{}"),
        (r"\bi (?:prefer|like|love|enjoy|hate|dislike|can't stand) (?P<what>.+)", "preference", "preference.{}"),
        (r"\b(?:we|they) (?:decided|agreed|settled)\b (?P<what>.+)", "decision", "decision.{}"),
        (r"\b(?:i will|i'll|i promise|we will|we'll) (?P<what>.+)", "commitment", "commitment.{}"),
        (r"\bi (?:can|know how to) (?P<what>.+)", "skill", "skill.{}"),
        (r"\bmy (?P<what>[\w -]{2,40}?) (?:is|are)\b", "fact", "fact.{}"),
        (r"^(?:the |our )?(?P<what>[\w -]{2,40}?) (?:is|are|moves?|runs?|uses?|has)\b", "fact", "fact.{}"),
    )
)


def matter_of(sentence: str) -> Matter:
    """The matter of a sentence; what fits no pattern is a fact, named by its first words."""
    for pattern, kind, key in _PATTERNS:
        found = pattern.search(sentence)
        if found is not None:
            name = _name(found["what"]) if "what" in pattern.groupindex else ""
            return Matter(kind, _filled(key, name))
    return Matter("fact", _filled("fact.{}", _name(sentence)))


def states_something(sentence: str) -> bool:
    """Whether it is one of the sentences about their author that a pattern knows."""
    return any(
        kind != "fact" and pattern.search(sentence) is not None for pattern, kind, _ in _PATTERNS
    ) and not sentence.rstrip().endswith("?")


def _filled(key: str, name: str) -> str | None:
    if "{}" not in key:
        return key
    return key.format(name) if name else None


def _name(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.findall(r"[a-z0-9]+", plain) if word not in _DROPPED]
    return "_".join(words[:_MOST_WORDS])
