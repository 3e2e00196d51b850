"""Tables, which Discord does not have: small ones become aligned text in a code block, others become lists."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.speech.markup import FENCE

MOST_COLUMNS: Final = 58
"""Width, in columns, up to which a code block is not wrapped in a narrow window."""

_ROW: Final = re.compile(r"^ {0,3}\|?.*\|.*$")
_RULE: Final = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_CODE: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SPOILER: Final = re.compile(r"\|\|(?=\S)[^|\n]+?(?<=\S)\|\|")
_EMPHASIS: Final = re.compile(r"(\*{1,3}|__|~~)(?=\S)([^*_~]+?)(?<=\S)\1")
_LIVE: Final = re.compile(r"<(?:[@#:/t]|a:)|https?://|\]\(|\|\|")
"""What would be dead in a code block: mentions, emoji, links, spoilers."""

_BAR: Final = "\x00"  # stands for a bar that divides no cells while a row is taken apart
_WIDE: Final = frozenset("WF")


@dataclass(frozen=True, slots=True)
class _Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool]
    """Which columns are aligned to the right."""


def without_tables(text: str) -> str:
    """The text with each table that stands outside of code as something that Discord shows well."""
    if "|" not in text or "-" not in text:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    at, mark = 0, None
    while at < len(lines):
        mark = _mark_after(mark, lines[at])
        end = at if mark is not None else _table_end(lines, at)
        if end > at:
            kept.extend(_shown(_read(lines[at:end])))
            at = end
        else:
            kept.append(lines[at])
            at += 1
    return "\n".join(kept)


def width(text: str) -> int:
    """Columns that the text takes in a fixed-width font: two for each wide East Asian character, none for marks."""
    return sum(
        2 if unicodedata.east_asian_width(each) in _WIDE else 0 if unicodedata.combining(each) else 1 for each in text
    )


def _mark_after(mark: str | None, line: str) -> str | None:
    """The mark of the code block that is open behind `line`."""
    found = FENCE.match(line)
    if found is None:
        return mark
    if mark is None:
        return found["mark"]
    closes = found["mark"].startswith(mark) and not found["info"].strip()
    return None if closes else mark


def _table_end(lines: Sequence[str], at: int) -> int:
    """Where the table that begins with line `at` ends; `at` where none does."""
    if at + 1 >= len(lines) or not _ROW.match(lines[at]) or not _RULE.match(lines[at + 1]):
        return at
    columns = len(_cells(lines[at]))
    if columns < 2 or columns != len(_cells(lines[at + 1])):
        return at
    end = at + 2
    while end < len(lines) and _ROW.match(lines[end]) and lines[end].strip():
        end += 1
    return end


def _read(lines: Sequence[str]) -> _Table:
    head, rule = _cells(lines[0]), _cells(lines[1])
    rows = [[*cells, *[""] * (len(head) - len(cells))][: len(head)] for cells in map(_cells, lines[2:])]
    return _Table(head, rows, [cell.endswith(":") and not cell.startswith(":") for cell in rule])


def _cells(line: str) -> list[str]:
    shielded = line.strip()
    for whole in (_CODE, _SPOILER):
        shielded = whole.sub(lambda found: found[0].replace("|", _BAR), shielded)
    shielded = shielded.removeprefix("|")
    if shielded.endswith("|") and not shielded.endswith("\\|"):
        shielded = shielded[:-1]
    return [cell.strip().replace(_BAR, "|").replace("\\|", "|") for cell in _CELL_END.split(shielded)]


def _shown(table: _Table) -> list[str]:
    cells = [*table.head, *(cell for row in table.rows for cell in row)]
    plain = not any(_LIVE.search(cell) or "```" in cell for cell in cells)
    if plain:
        rows = [[_bare(cell) for cell in row] for row in (table.head, *table.rows)]
        widths = [max(width(row[column]) for row in rows) for column in range(len(table.head))]
        if sum(widths) + 2 * (len(widths) - 1) <= MOST_COLUMNS:
            return _block(rows, widths, table.right)
    return _list(table)


def _block(rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (most - width(cell)) + cell if to_right else cell + " " * (most - width(cell))
            for cell, most, to_right in zip(cells, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * most for most in widths)
    return ["```", line(rows[0]), rule, *map(line, rows[1:]), "```"]


def _list(table: _Table) -> list[str]:
    lines: list[str] = []
    for row in table.rows:
        first, *rest = row
        named = [f"{name}: {cell}" if name else cell for name, cell in zip(table.head[1:], rest, strict=True) if cell]
        title = first if not first or first.startswith(("**", "`")) else f"**{first}**"
        lines.append("- " + " \u2014 ".join(each for each in (title, "; ".join(named)) if each))
    return lines or ["- " + "; ".join(table.head)]


def _bare(cell: str) -> str:
    """A cell without the marks that a code block would show."""
    return _EMPHASIS.sub(r"\2", _CODE.sub(r"\2", cell))
