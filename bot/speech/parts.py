"""Cutting an answer into messages that Discord takes: at most 2,000 characters each, and each can stand alone.

Discord counts code points, as len() does, and trims white space around a message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.speech.markup import Markup, Region, is_joined, next_atom, read_markup

MOST_CHARACTERS: Final = 2000
"""Discord's limit for the content of one message."""

PATIENCE: Final = 300
"""Characters for which a snapshot waits for the end of something that has begun; then it is no mark but a character."""

# What the eye does not see: a message of nothing else is empty to Discord, or to its reader.
_INVISIBLE: Final = re.compile(r"[\s\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]+")

_SENTENCE: Final = re.compile(r"[.!?\u2026:;]['\")\]*_]*(?=\s)|[\u3002\uff01\uff1f]")
_SPACE: Final = re.compile(r"\s")

# What a text that is still being written may have begun and not ended.
_BEGUN: Final = re.compile(r"\|\||`+|\*{1,3}(?=\S)|~~(?=\S)|__(?=\S)|!?\[|<(?=[@#:at/ih]|$)")
_MARK_BEGUN: Final = re.compile(r"(?:^|\n)[ \t]*(?:`+|~+)[^\n`]{0,100}\Z")
_NO_SPACES: Final = 0x2E80  # where the scripts of East Asia begin
_TABLE_BEGUN: Final = re.compile(r"(?:^|\n)[ ]{0,3}\|[^\n]*(?:\n[ ]{0,3}\|[ \t|:-]*)?\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """One part: `text[start:end]` of the source between what closes and opens again what the cut went through."""

    start: int
    end: int
    prefix: str
    suffix: str

    def part(self, text: str) -> str:
        """The part as it is sent."""
        return (self.prefix + text[self.start : self.end] + self.suffix).strip()


def is_blank(text: str) -> bool:
    """Whether nothing of `text` would be seen."""
    return not _INVISIBLE.sub("", text)


def split(text: str, limit: int = MOST_CHARACTERS) -> tuple[str, ...]:
    """Cut `text` into parts of at most `limit` characters, each of which can stand alone.

    Cuts fall between paragraphs where that wastes little, else between lines, sentences, words, characters as a reader
    sees them. None falls within inline code, a link, a spoiler, a mention or an emoji that fits into a part. A part
    that ends inside a code block closes it, and the next opens it again with its info string; so do inline code and
    spoilers that are longer than a part. Parts are trimmed as Discord would trim them; a text without anything visible
    has no parts.
    """
    source = text.replace("\r\n", "\n")
    return tuple(piece.part(source) for piece in cut(source, limit))


def cut(text: str, limit: int = MOST_CHARACTERS) -> Sequence[Piece]:
    """The pieces of `text`, in order: all of it but white space at the cuts, and stretches that show nothing."""
    if len(text) <= limit and "```" not in text and "~~~" not in text:
        return () if is_blank(text) else (Piece(0, len(text), "", ""),)
    markup = read_markup(text, limit)
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        piece = _next(markup, at)
        if not _shows_nothing(markup, piece):
            pieces.append(piece)
        at = _resumed(markup, piece.end)
    return pieces


def snapshot(text: str, limit: int = MOST_CHARACTERS) -> str:
    """What to show of an answer of which `text` was written so far: its first part, without what has only begun.

    It is balanced like any part, and holds no half word, link, mention or emoji; a spoiler shows once it has its end.
    """
    source = text.replace("\r\n", "\n")
    pieces = cut(_settled(source), limit)
    return pieces[0].part(source) if pieces else ""


def _next(markup: Markup, at: int) -> Piece:
    text, limit = markup.text, markup.limit
    inside = markup.region_at(at)
    prefix = "" if inside is None else inside.prefix
    most = min(at + max(limit - len(prefix), 1), len(text))
    if most == len(text):
        suffix = _suffix(markup.region_at(most))
        if len(prefix) + len(text) - at + len(suffix) <= limit:
            return Piece(at, len(text), prefix, suffix)
    end = _end(markup, at, most, limit - len(prefix))
    return Piece(at, end, prefix, _suffix(markup.region_at(end)))


def _end(markup: Markup, at: int, most: int, room: int) -> int:
    """Where the part that begins at `at` ends best."""
    text = markup.text

    def fits(end: int) -> bool:
        suffix = _suffix(markup.region_at(end))
        return at < end and end - at + len(suffix) <= room and markup.may_cut(end) and not is_joined(text, end)

    def last(mark: str, least: int) -> int | None:
        end = text.rfind(mark, max(least, at + 1), most + 1)
        while end > at and not fits(end):
            end = text.rfind(mark, max(least, at + 1), end)
        return end if end > at else None

    def visible(end: int | None) -> bool:
        return end is not None and not is_blank(text[at:end])

    paragraph = last("\n\n", at + room * 2 // 3)
    if paragraph is not None and visible(paragraph) and markup.region_at(paragraph) is None:
        return paragraph
    line = last("\n", at)
    whole = _before_block(markup, at, line or most, room)
    if whole is not None and fits(whole) and visible(whole):
        return whole
    if line is not None and line - at >= room // 3 and visible(line):
        return line
    sentences = [found.end() for found in _SENTENCE.finditer(text, at + room // 2, most) if fits(found.end())]
    if sentences:
        return sentences[-1]
    spaces = [found.start() for found in _SPACE.finditer(text, at + 1, min(most + 1, len(text)))]
    space = next((end for end in reversed(spaces) if fits(end) and visible(end)), None)
    if space is not None:
        return space
    if line is not None:
        return line
    suffix = len(_suffix(markup.region_at(most)))
    hard = next((end for end in range(most, at, -1) if fits(end)), None)
    return hard if hard is not None else max(min(most, at + room - suffix), at + 1)


def _before_block(markup: Markup, at: int, end: int, room: int) -> int | None:
    """The beginning of the block that `end` divides, where the whole block has room in the next part."""
    region = markup.region_at(end)
    if region is None or not region.is_code:
        return None
    start, until = region.block
    if start - at >= room // 3 and until - start <= markup.limit and region.is_closed:
        return start
    return None


def _suffix(region: Region | None) -> str:
    return "" if region is None else region.suffix


def _resumed(markup: Markup, end: int) -> int:
    """Where the next part begins: behind the line break or the white space at the cut."""
    text, region = markup.text, markup.region_at(end)
    if region is not None:
        return end + 1 if region.prefix.endswith("\n") and text[end : end + 1] == "\n" else end
    while end < len(text) and text[end].isspace():
        end += 1
    return end


def _shows_nothing(markup: Markup, piece: Piece) -> bool:
    text = markup.text
    if is_blank(text[piece.start : piece.end]):
        return True
    shown = (piece.prefix + text[piece.start : piece.end] + piece.suffix).strip("\n")
    region = markup.region_at(piece.end) or markup.region_at(piece.start)
    if region is None or not region.is_code or not is_blank(text[piece.start : region.block[0]]):
        return False
    return is_blank(shown[len(region.prefix) : -len(region.suffix)])


def _settled(text: str) -> str:
    """The beginning of `text` that will stay as it is, whatever is written next."""
    if (mark := _MARK_BEGUN.search(text)) is not None:
        return text[: mark.start()]
    markup = read_markup(text, MOST_CHARACTERS)
    code = markup.region_at(len(text))
    if code is not None:
        line = text.rfind("\n", code.start)
        return text[: line if line >= 0 else code.block[0]]
    table = _TABLE_BEGUN.search(text)
    end = len(text) if table is None else table.start()
    while end > 0 and not (_ends_word(text, end) and markup.may_cut(end)):
        end -= 1
    at = max((region.block[1] for region in markup.regions if region.is_code and region.block[1] <= end), default=0)
    recent = max(text.rfind("\n\n", 0, end), end - PATIENCE)
    while (begun := _BEGUN.search(text, at, end)) is not None:
        atom = next_atom(text, at, end)
        if atom is not None and atom[0] <= begun.start():
            at = atom[1]
        elif begun[0] == "||" or begun.start() >= recent:
            return text[: begun.start()]
        else:
            at = begun.end()
    return text[:end]


def _ends_word(text: str, end: int) -> bool:
    """Whether a word has ended: by white space, or in a script that puts none."""
    return text[end - 1].isspace() or (ord(text[end - 1]) >= _NO_SPACES and not is_joined(text, end))
