"""What of a text must stay together in Discord: code blocks, inline code, spoilers, links, mentions, emoji, emphasis.

Pure. A text is looked over once; what is found says where it may be cut, and what a cut has to close and open again.
"""

import bisect
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

FENCE: Final = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)$", re.MULTILINE)
"""A line that can begin or end a code block, however far indented: Discord takes it there, and lists hold blocks."""

_MARKS: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})")

# Discord's own forms of mentions, custom emoji, timestamps, commands and links; each is one thing to a reader.
_ATOM: Final = re.compile(
    r"""
      \\[^\w\s]                                                          # an escaped mark
    | <(?:@[!&]?\d+|\#\d+|a?:\w{2,32}:\d+|t:-?\d+(?::[a-zA-Z])?|/[^:>\n]{1,100}:\d+|id:\w+|https?://[^\s>]+)>
    | (?P<ticks>(?<!`)`++)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)    # inline code, within its paragraph
    | \|\|(?:(?!\|\|).)++\|\|                                                  # a spoiler
    | !?\[[^\[\]\n]{0,500}\]\((?:[^\s()]|\([^\s()]*+\))++(?:[ ]"[^"\n]*")?\)  # a masked link
    | https?://[^\s<>`|]++
    | (?P<emphasis>\*{1,3}|__|~~)(?=\S)[^\n*_~`|]{1,500}?(?<=\S)(?P=emphasis)
    """,
    re.VERBOSE | re.DOTALL,
)

_JOINER: Final = "\u200d"
_VARIANTS: Final = range(0xFE00, 0xFE10)
_SKINS: Final = range(0x1F3FB, 0x1F400)
_FLAGS: Final = range(0x1F1E6, 0x1F200)
_TAGS: Final = range(0xE0020, 0xE0080)


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch `[start, end)` that may be cut if `suffix` is put behind the cut's left and `prefix` before its right.

    `block` is where the whole begins and ends, its marks included. A code block (`is_code`) that nobody closed is
    closed by its suffix.
    """

    start: int
    end: int
    prefix: str
    suffix: str
    block: tuple[int, int]
    is_code: bool
    is_closed: bool = True


@dataclass(slots=True)
class Markup:
    """What was found in `text`, for parts of at most `limit` characters."""

    text: str
    limit: int
    regions: list[Region] = field(default_factory=list[Region])
    blocked: bytearray = field(default_factory=bytearray)
    _starts: list[int] = field(default_factory=list[int])

    def region_at(self, at: int) -> Region | None:
        """The region that a cut at `at` would divide."""
        index = bisect.bisect_right(self._starts, at) - 1
        if index < 0:
            return None
        region = self.regions[index]
        inside = region.start <= at < region.end or (at == region.end and not region.is_closed)
        return region if inside else None

    def may_cut(self, at: int) -> bool:
        """Whether nothing that belongs together is on both sides of `at`."""
        return not self.blocked[at]


def read_markup(text: str, limit: int) -> Markup:
    """Look over `text`, whose lines end in a newline alone."""
    found = Markup(text, limit, blocked=bytearray(len(text) + 1))
    at = 0
    for block in _code_blocks(text, limit):
        _read_prose(found, at, block.block[0], limit)
        found.regions.append(block)
        _block_lines(found.blocked, block, text)
        at = block.block[1]
    _read_prose(found, at, len(text), limit)
    _block_marks(found)
    found.regions.sort(key=lambda region: region.start)
    found._starts = [region.start for region in found.regions]  # pyright: ignore[reportPrivateUsage]
    return found


def next_atom(text: str, at: int, end: int) -> tuple[int, int] | None:
    """Where the next thing that stays together begins and ends, between `at` and `end` of what is not code."""
    found = _ATOM.search(text, at, end)
    return None if found is None else found.span()


def is_joined(text: str, at: int) -> bool:
    """Whether a cut at `at` would fall inside what a reader sees as one character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    code = ord(after)
    if after == _JOINER or before == _JOINER or code in _VARIANTS or code in _SKINS or code in _TAGS:
        return True
    if code in _FLAGS and ord(before) in _FLAGS:
        flags = 0
        while flags < at and ord(text[at - 1 - flags]) in _FLAGS:
            flags += 1
        return flags % 2 == 1
    return unicodedata.combining(after) != 0


def _code_blocks(text: str, limit: int) -> Iterator[Region]:
    """The code blocks, as CommonMark sees them: closed only by a mark of its kind, as long and bare.

    A line that is long for a fence is none: each part would have to repeat it, and nothing else would fit.
    """
    opened: re.Match[str] | None = None
    for found in FENCE.finditer(text):
        if len(found[0]) * 4 > limit:
            continue
        if opened is None:
            opened = found
            continue
        mark, own = found["mark"], opened["mark"]
        if mark[0] == own[0] and len(mark) >= len(own) and not found["info"].strip():
            yield _code_region(opened, found.start(), found.end())
            opened = None
    if opened is not None:
        yield _code_region(opened, len(text), len(text), closed=False)


def _code_region(opening: re.Match[str], end: int, block_end: int, *, closed: bool = True) -> Region:
    # The newline before the closing line belongs to that line; an empty block has none of its own.
    start = min(opening.end() + 1, end)
    body_end = max(start, end - 1) if closed else end
    block = (opening.start(), block_end)
    return Region(start, body_end, opening[0] + "\n", "\n" + opening["mark"], block, is_code=True, is_closed=closed)


def _block_lines(blocked: bytearray, block: Region, text: str) -> None:
    """No cut within the opening line, nor within the closing one."""
    start, end = block.block
    _block(blocked, start, block.start)
    if block.is_closed:
        _block(blocked, block.end, end)
    # Right behind the opening line, and right before the closing one, a cut would leave an empty block.
    if block.start <= len(text):
        blocked[block.start] = 1
    if block.is_closed:
        blocked[block.end] = 1


def _read_prose(found: Markup, start: int, end: int, limit: int, within: Region | None = None) -> None:
    """Note what stays together between `start` and `end`; what is longer than a part is cut, and opened again."""
    overhead = 0 if within is None else len(within.prefix) + len(within.suffix)
    at = start
    while (each := _ATOM.search(found.text, at, end)) is not None:
        at = each.end()
        if at - each.start() <= limit - overhead:
            _block(found.blocked, each.start(), at)
            continue
        mark = each["ticks"] or ("||" if each[0].startswith("||") else None)
        if mark is None or within is not None or 6 * len(mark) > limit:
            at = at if each[0].startswith("http") else each.start() + 1
            continue
        # Discord takes a word behind three backticks, where a line ends with it, for a language, and does not show it.
        prefix = mark + "\n" if mark.startswith("```") else mark
        inner = Region(each.start() + len(mark), at - len(mark), prefix, mark, each.span(), is_code=False)
        found.regions.append(inner)
        _block(found.blocked, each.start(), inner.start)
        _block(found.blocked, inner.end, at)
        found.blocked[inner.start] = found.blocked[inner.end] = 1
        if mark == "||":
            _read_prose(found, inner.start, inner.end, limit, inner)


def _block(blocked: bytearray, start: int, end: int) -> None:
    """Forbid cuts between `start` and `end`, which themselves stay allowed."""
    if end - start > 1:
        blocked[start + 1 : end] = b"\1" * (end - start - 1)


def _block_marks(found: Markup) -> None:
    """What stands within a line must not become a fence by standing at the beginning of one."""
    text = found.text
    for each in _MARKS.finditer(text):
        if each.start() == 0 or text[each.start() - 1] == "\n":
            continue
        found.blocked[each.start() : max(each.end() - 2, each.start() + 1)] = b"\1" * max(
            each.end() - 2 - each.start(), 1
        )
