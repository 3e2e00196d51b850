"""Channels and roles that messages name: what people see instead of their numbers, as far as it may be seen here."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.seeing.quotation import label
from memory.ids import PlaceId

MOST_NAMED: Final = 8
"""Channels of which is asked what they are called, for one prompt: those named last."""

_MENTION: Final = re.compile(r"<(?P<kind>@!?|#|@&)(?P<id>\d{1,19})>")


@dataclass(frozen=True, slots=True)
class Called:
    """What those are called whom, or which, a message names by its id."""

    people: Mapping[int, str] = field(default_factory=dict[int, str])
    places: Mapping[int, str] = field(default_factory=dict[int, str])
    roles: Mapping[int, str] = field(default_factory=dict[int, str])

    def named(self, text: str) -> str:
        """The text with mentions by name, where the name is known. Channels and roles keep their mark beside it: it is
        what tools take, and what an answer needs in order to name them in its turn."""
        if "<" not in text:
            return text

        def name(found: re.Match[str]) -> str:
            about = int(found["id"])
            match found["kind"]:
                case "#":
                    known = self.places.get(about)
                    return f"#{label(known)} ({found[0]})" if known else found[0]
                case "@&":
                    known = self.roles.get(about)
                    return f"@{label(known)} ({found[0]})" if known else found[0]
                case _:
                    known = self.people.get(about)
                    return f"@{label(known)}" if known else found[0]

        return _MENTION.sub(name, text)


def named_in(texts: Iterable[str]) -> tuple[list[PlaceId], bool]:
    """The channels and threads that the texts name, those of the first text first and at most MOST_NAMED, and whether
    any of them names a role."""
    places: dict[int, None] = {}
    with_roles = False
    for text in texts:
        for kind, about in _MENTION.findall(text) if "<" in text else ():
            if kind == "#" and int(about) < 2**63:
                places[int(about)] = None
            with_roles = with_roles or kind == "@&"
    return [PlaceId(each) for each in places][:MOST_NAMED], with_roles
