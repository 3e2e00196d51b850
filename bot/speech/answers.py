"""What a model's answer becomes in Discord: a few messages, or one with a file. It mentions nobody but its asker."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.speech.markup import FENCE
from bot.speech.parts import MOST_CHARACTERS, is_blank, split
from bot.speech.tables import without_tables
from memory.ids import UserId

MOST_PARTS: Final = 5
"""More messages than a handful are a file, and its beginning."""

OPENING_CHARACTERS: Final = 1200
MOST_ATTACHED: Final = 200_000
"""Characters of a file; an answer that is longer ends there, and says so."""

FILE_NAME: Final = "answer.md"
MANY_LINKS: Final = 3
"""From so many links on, previews would be longer than the answer."""

_CODE: Final = r"`{3}.*?(?:`{3}|\Z)|~{3}.*?(?:~{3}|\Z)|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_MENTION: Final = re.compile(rf"{_CODE}|<@!?(?P<user>\d{{1,20}})>", re.DOTALL)
_LINK: Final = re.compile(rf"{_CODE}|(?P<quiet><https?://[^\s>]+>)|(?P<url>https?://[^\s<>()`|]+)", re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,4}[ \t]+(.{1,80}?)[ \t#]*$", re.MULTILINE)
_MOST_HEADINGS: Final = 8
_ENDS_HERE: Final = "\n\n(The answer was longer than a file of mine may be, and ends here.)\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """The messages of an answer, in order; `attached` is the text of a file that comes with the first, if there is
    one."""

    parts: tuple[str, ...]
    attached: str | None = None


def shaped(text: str, notes: str = "") -> Shape:
    """The shape of an answer. `notes` stand behind it, and are said even where it becomes a file. An answer without
    anything visible has no parts."""
    if is_blank(text):
        return Shape(())
    if len(text) + len(notes) <= MOST_PARTS * MOST_CHARACTERS:
        parts = split(without_tables(text) + notes)
        if len(parts) <= MOST_PARTS:
            return Shape(parts)
    attached = text if len(text) <= MOST_ATTACHED else text[:MOST_ATTACHED] + _ENDS_HERE
    return Shape((_opening(text) + _contents(text) + notes,), attached)


def called(text: str, names: Mapping[int, str], answered: UserId) -> str:
    """The text with mentions of others than the member answered as plain names: what names somebody is for them.

    Code stays as it is. Who is not among `names` is "@member".
    """
    if "<@" not in text:
        return text

    def replaced(found: re.Match[str]) -> str:
        user = found["user"]
        if user is None or int(user) == answered:
            return found[0]
        return "@" + (_plain(names.get(int(user), "")) or "member")

    return _MENTION.sub(replaced, text)


def mentioned(text: str) -> frozenset[int]:
    """Whom the text mentions, outside of code."""
    return frozenset(int(found["user"]) for found in _MENTION.finditer(text) if found["user"] is not None)


def has_many_links(text: str) -> bool:
    """Whether Discord's previews of the links should be left out."""
    if text.count("://") < MANY_LINKS:
        return False
    return len({found["url"] for found in _LINK.finditer(text) if found["url"] is not None}) >= MANY_LINKS


def _opening(text: str) -> str:
    """How the answer begins, up to where a part would end."""
    return split(without_tables(text[: 4 * OPENING_CHARACTERS]), OPENING_CHARACTERS)[0]


def _contents(text: str) -> str:
    words = len(text.split())
    contents = f"\n\n-# My whole answer is in the file: about {words:,} words"
    outside: list[str] = []
    at = 0
    for block in FENCE.finditer(text):
        # Between an opening mark and a closing one is code; headings are looked for in the rest.
        outside.append(text[at : block.start()])
        at = block.end()
    headings = [found[1] for piece in (*outside[::2], text[at:]) for found in _HEADING.finditer(piece)]
    if not headings:
        return contents + "."
    shown = ", ".join(headings[:_MOST_HEADINGS]) + (", \u2026" if len(headings) > _MOST_HEADINGS else "")
    return f"{contents} on {shown}."


def _plain(name: str) -> str:
    """A name that is nothing but a name where it is put."""
    return re.sub(r"[`*_~|<>\[\]\\@#\x00-\x1f\u2028\u2029]", "", name).strip()[:64]
