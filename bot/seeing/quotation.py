"""Other people's text as data (I12): every line marked, names on one line without the marks that ours are made of."""

import re
from functools import lru_cache
from typing import Final

_PLAIN: Final = str.maketrans('[]<>"', "()()'")
_INVISIBLE: Final = re.compile(r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

NAME_CHARS: Final = 64


def quote(text: str) -> str:
    """Text as data: control characters gone, each line marked."""
    if text.isprintable():  # neither a line break nor anything invisible
        return f"> {text}"
    return "\n".join("> " + line for line in _INVISIBLE.sub(" ", text.replace("\r\n", "\n")).split("\n"))


@lru_cache(maxsize=512)
def label(name: str, most: int = NAME_CHARS) -> str:
    """A name on one line, short, without the brackets and quotation marks that our own marks are made of."""
    flat = " ".join(_INVISIBLE.sub(" ", name).split())
    return flat.translate(_PLAIN)[:most] or "(no name)"
