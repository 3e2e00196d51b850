"""Cutting an answer into messages that Discord takes: at most 2,000 characters each, code fences closed and reopened.

Discord counts code points, as len() does, and trims white space around a message.
"""

import re
from typing import Final

MOST_CHARACTERS: Final = 2000
"""Discord's limit for the content of one message."""

_FENCE: Final = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)$")

_MARK: Final = re.compile(r" {0,3}(?:`{3}|~{3})")

# What the eye does not see: a message of nothing else is empty to Discord, or to its reader.
_INVISIBLE: Final = re.compile(r"[\s\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]+")


def is_blank(text: str) -> bool:
    """Whether nothing of `text` would be seen."""
    return not _INVISIBLE.sub("", text)


def split(text: str, limit: int = MOST_CHARACTERS) -> tuple[str, ...]:
    """Cut `text` into parts of at most `limit` characters, each of which can stand alone.

    Cuts fall between lines where they can, else between words, else between characters. A part that ends inside a code
    block closes it, and the next opens it again with its info string. Parts are trimmed as Discord would trim them; a
    text without anything visible has no parts.
    """
    parts: list[str] = []
    lines: list[str] = []
    size = 0
    fence: tuple[str, str] | None = None  # the mark and the whole opening line of the block that we are in

    def close_part() -> None:
        nonlocal lines, size
        body = "\n".join([*lines, fence[0]] if fence else lines)
        if not is_blank(body) and body.strip("\n") != _empty_block(fence):
            parts.append(body.strip())
        lines = [fence[1]] if fence else []
        size = len(fence[1]) + 1 if fence else 0

    for line in text.replace("\r\n", "\n").split("\n"):
        rest: str | None = line
        while rest is not None:
            opens = _fence_after(fence, rest, limit)
            closing = (fence or opens or ("", ""))[0]
            room = limit - size - (len(closing) + 1 if closing else 0)
            if len(rest) <= room:
                lines.append(rest)
                size += len(rest) + 1
                fence = opens
                rest = None
            elif len(lines) > (1 if fence else 0):
                close_part()
            else:
                head, rest = _cut(rest, max(room, 1))
                lines.append(head)
                size += len(head) + 1
                close_part()
    close_part()
    return tuple(parts)


def _empty_block(fence: tuple[str, str] | None) -> str | None:
    return f"{fence[1]}\n{fence[0]}" if fence else None


def _fence_after(fence: tuple[str, str] | None, line: str, limit: int) -> tuple[str, str] | None:
    """The open block after `line`, as CommonMark sees it: closed only by a mark of its kind, as long and bare.

    A line that is long for a fence is none: each part would have to repeat it, and nothing else would fit.
    """
    found = _FENCE.match(line) if len(line) * 4 <= limit else None
    if found is None:
        return fence
    mark = found["mark"]
    if fence is None:
        return mark, line
    closes = mark[0] == fence[0][0] and len(mark) >= len(fence[0]) and not found["info"].strip()
    return None if closes else fence


def _cut(line: str, room: int) -> tuple[str, str]:
    """Cut one overlong line after the last space that fits, unless that would leave less than half a part."""
    at = line.rfind(" ", room // 2, room + 1)
    if at > 0 and not _MARK.match(line, at + 1):
        return line[:at], line[at + 1 :]
    # What was in the middle of a line must not become a fence by standing at the beginning of one.
    at = room
    while at > room // 2 and _MARK.match(line, at):
        at -= 1
    at = at if at > room // 2 else room  # nothing but marks
    return line[:at], line[at:]
