"""The parts of a long text that are about a question, quoted: what fits into a result is not simply its beginning."""

import re
from itertools import pairwise
from typing import Final

from tools.quotation import quoted

_WORD: Final = re.compile(r"\w+")
_PARAGRAPH: Final = re.compile(r"\n\s*\n|\n(?=#)")
_NEXT: Final = " / "
_GAP: Final = " / [...] / "
_LONGEST: Final = 800
"""Characters of a paragraph that are taken at once: a page without breaks must not crowd out its other parts."""


def quoted_excerpt(text: str, query: str, *, limit: int) -> str:
    """At most `limit` characters of `text`, as tools.quotation quotes (I12): a short beginning, and the paragraphs with
    most of the query's words.

    They stand in the text's order, with [...] between those that were apart. A word counts more the fewer paragraphs
    have it.
    """
    parts = [part for each in _cut(text) if (part := quoted(each, limit=_LONGEST))]
    whole = _NEXT.join(parts)
    if len(whole) <= limit:
        return whole
    kept = _chosen(parts, query, limit)
    if not kept:
        return quoted(text, limit=limit)
    shown = parts[kept[0]]
    for before, at in pairwise(kept):
        shown += (_NEXT if at == before + 1 else _GAP) + parts[at]
    return shown


def _chosen(parts: list[str], query: str, limit: int) -> list[int]:
    """Which parts to show, in their order."""
    asked = set(_WORD.findall(query.casefold()))
    words = [asked & set(_WORD.findall(part.casefold())) for part in parts]
    held = {word: sum(word in each for each in words) for word in asked}
    weight = [sum(1 / held[word] for word in each) for each in words]
    order = sorted(range(len(parts)), key=lambda at: (-weight[at], at))
    if len(parts[0]) <= limit // 4:
        order = [0, *order]
    kept: set[int] = set()
    room = limit + len(_GAP)
    for at in order:
        if at not in kept and len(parts[at]) + len(_GAP) <= room:
            kept.add(at)
            room -= len(parts[at]) + len(_GAP)
    return sorted(kept)


def _cut(text: str) -> list[str]:
    """Paragraphs, the longest of them in pieces."""
    paragraphs = [part.strip() for part in _PARAGRAPH.split(text)]
    return [part[at : at + _LONGEST] for part in paragraphs for at in range(0, len(part), _LONGEST)]
