"""What a language's table holds, and what it becomes.

A phrase is written in words with slots; `(a|b)` chooses and `[a]` may be left out:

    {members}  one or more mentions or ids, or who wrote the message that is replied to ("him", "this user")
    {channel}  a mention of a channel, or "this channel"      {role}  a mention of a role
    {message}  the message that is replied to ("this message")
    {count}    a number      {span}  a time      {name}  words to the end, or a quotation

After a phrase nothing may follow but a time (where its deed has one), a reason, and politeness.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.moderation import spans
from bot.moderation.deeds import DEEDS, DeedName

_SLOT: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Grammar:
    """One language.

    `phrases`: how each deed is asked for. `openings`: what may stand before a request, `asking` those of them that may
    end with a question mark. `pronouns`: who wrote the message that is replied to; `here`: this channel; `this`: that
    message. `and_`: between members. `lasting`: before a time. `because`: before a reason. `polite`: what may stand
    behind. `doubts`: in a reason, they leave open whether it is asked for. `retractions`: in what follows, they take
    it back. `forms`: other forms of a first verb, after an opening that asks for them ("would you mind banning").
    """

    name: str
    phrases: Sequence[tuple[DeedName, str]]
    openings: Sequence[str]
    asking: Sequence[str]
    pronouns: Sequence[str]
    here: Sequence[str]
    this: Sequence[str]
    and_: Sequence[str]
    lasting: Sequence[str]
    because: Sequence[str]
    polite: Sequence[str]
    doubts: Sequence[str]
    retractions: Sequence[str]

    @cached_property
    def compiled(self) -> tuple[tuple[DeedName, re.Pattern[str]], ...]:
        """The phrases as patterns of a whole sentence without its opening."""
        return tuple((deed, re.compile(self._phrase(deed, phrase))) for deed, phrase in self.phrases)

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """One opening at the beginning, with what separates it."""
        return re.compile(rf"(?:{_any([*self.asking, *self.openings])})(?=[\s,!:]|$)[\s,!:]*")

    @cached_property
    def asks(self) -> re.Pattern[str]:
        """An opening that may end with a question mark."""
        return re.compile(rf"(?:{_any(self.asking)})(?=[\s,!:]|$)")

    @cached_property
    def doubt(self) -> re.Pattern[str]:
        """What leaves it open."""
        return re.compile(rf"(?<!\w)(?:{_any(self.doubts)})(?!\w)")

    @cached_property
    def retraction(self) -> re.Pattern[str]:
        """What takes it back."""
        return re.compile(rf"(?<!\w)(?:{_any(self.retractions)})(?!\w)")

    @cached_property
    def politeness(self) -> re.Pattern[str]:
        """What may stand at the end."""
        return re.compile(rf"(?:[\s,!]*(?<!\w)(?:{_any(self.polite)})(?!\w))+[\s!]*$")

    def _phrase(self, deed: DeedName, phrase: str) -> str:
        pattern = phrase.replace("[", "(?:").replace("]", ")?")
        pattern = re.sub(r"\((?!\?)", "(?:", pattern)
        pattern = re.sub(r" ", r"\\s+", pattern)
        pattern = _SLOT.sub(lambda slot: self._slots[slot[1]], pattern)
        lasts = DEEDS[deed].span is not None
        span = rf"(?:[\s,]+(?:(?:{_any(self.lasting)})\s+)?(?P<lasts>{spans.SPAN}))?" if lasts else ""
        reason = rf"(?:[\s,;:-]+(?:{_any(self.because)})[\s:]+(?P<reason>.+?))?"
        late = span.replace("<lasts>", "<lasts_late>")
        return rf"^{pattern}{span}{reason}{late}$"

    @property
    def _slots(self) -> Mapping[str, str]:
        user = rf"(?:§u\d+|\d{{15,20}}|{_any(self.pronouns)})"
        joined = rf"(?:\s*,\s*|\s+(?:{_any(self.and_)})\s+|\s*,\s*(?:{_any(self.and_)})\s+|\s+)"
        return {
            "members": rf"(?P<members>{user}(?:{joined}{user})*)(?!\w)",
            "channel": rf"(?P<channel>§c\d+|{_any(self.here)})(?!\w)",
            "role": r"(?P<role>§r\d+)",
            "message": rf"(?P<message>{_any(self.this)})(?!\w)",
            "count": r"(?P<count>\d{1,4})",
            "span": rf"(?P<span>{spans.SPAN}|0)",
            "name": r"(?P<name>§q\d+|[^§\s](?:[^§]*[^§\s])?)",
        }


def _any(words: Sequence[str]) -> str:
    """One of these, the longest first; blanks are any white space."""
    return (
        "|".join(re.sub(r"\\? ", r"\\s+", re.escape(word)) for word in sorted(words, key=len, reverse=True)) or "(?!)"
    )
