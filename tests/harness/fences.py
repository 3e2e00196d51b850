"""Code blocks as a line-by-line reader sees them, for tests of what is cut into parts."""

import re
from typing import Final

FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)$")


def open_block(part: str) -> str | None:
    """The mark of the code block that is open after `part`."""
    mark: str | None = None
    for line in part.split("\n"):
        found = FENCE.match(line)
        if found is None:
            continue
        if mark is None:
            mark = found[1]
        elif found[1][0] == mark[0] and len(found[1]) >= len(mark) and not found[2].strip():
            mark = None
    return mark
