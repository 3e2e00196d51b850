"""The shape of a language's phrasings: how people ask for an action in plain words, and how they take it back.

A table may only allow. What it does not know is no refusal: the requester is asked back.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

Ask = Literal[
    "react",
    "unreact",
    "send",
    "send_to",
    "reply",
    "thread",
    "rename",
    "archive",
    "unarchive",
    "lock",
    "unlock",
    "slowmode",
    "edit",
    "delete",
    "pin",
    "unpin",
    "remember",
    "forget",
]
"""What can be asked for. `send` is to say something here, `send_to` in another channel, which must be named."""

ASKS: Final[tuple[Ask, ...]] = get_args(Ask)


@dataclass(frozen=True, slots=True)
class Language:
    """Patterns are regular expressions over bot.wording's form of a text (lower case, Latin letters without marks, a
    space after an elision); alternations need no brackets of their own.

    leads      what may stand before an ask in its clause: greetings, please, can you
    polite     leads that make a question a request; a question without one asks nobody to do anything
    joints     words between clauses
    frames     words that make a sentence a report, a condition or a supposition
    negations  what negates a verb that follows; word boundaries are its own
    postponed  what negates the verb before it; likewise
    content    where the content of an ask begins: what is negated there is not the ask
    retracts   whole clauses that take back what was asked
    keeps      asks to remember that are worded as negations: do not forget
    harmless   what looks like a frame and is none: what you said
    others     beginnings of other things that are asked of the bot in the same breath
    asks       what an ask looks like from its first word to the end of its clause
    stems      how the verb of an ask is recognised in whatever form
    spaced     whether words are separated by spaces
    """

    code: str
    leads: str
    polite: str
    joints: str
    frames: str
    negations: str
    postponed: str
    content: str
    retracts: str
    keeps: str
    others: str
    asks: Mapping[Ask, str]
    stems: Mapping[Ask, str]
    harmless: str = ""
    spaced: bool = True
    compiled: "Compiled" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", Compiled.of(self))


@dataclass(frozen=True, slots=True)
class Compiled:
    """The same, ready to be used."""

    leads: re.Pattern[str]
    polite: re.Pattern[str]
    joints: re.Pattern[str]
    frames: re.Pattern[str]
    negations: re.Pattern[str]
    postponed: re.Pattern[str]
    content: re.Pattern[str]
    retracts: re.Pattern[str]
    keeps: re.Pattern[str]
    harmless: re.Pattern[str]
    others: re.Pattern[str]
    asks: Mapping[Ask, re.Pattern[str]]
    stems: Mapping[Ask, re.Pattern[str]]

    @classmethod
    def of(cls, language: Language) -> "Compiled":
        """Words are matched whole where the language separates them."""
        edge = (r"(?<!\w)", r"(?!\w)") if language.spaced else ("", "")

        def whole(pattern: str) -> re.Pattern[str]:
            return re.compile(f"{edge[0]}(?:{pattern}){edge[1]}") if pattern else _NOTHING

        return cls(
            leads=whole(language.leads),
            polite=whole(language.polite),
            joints=whole(language.joints),
            frames=whole(language.frames),
            negations=re.compile(language.negations or r"(?!)"),
            postponed=re.compile(language.postponed or r"(?!)"),
            content=whole(language.content),
            retracts=re.compile(language.retracts) if language.retracts else _NOTHING,
            keeps=whole(language.keeps),
            harmless=whole(language.harmless),
            others=whole(language.others),
            asks={ask: re.compile(pattern) for ask, pattern in language.asks.items()},
            stems={ask: re.compile(f"{edge[0]}(?:{stem})") for ask, stem in language.stems.items()},
        )


_NOTHING: Final = re.compile(r"(?!)")
