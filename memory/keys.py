"""Stable keys, and what makes two texts the same memory."""

import re
import unicodedata
from hashlib import sha256
from typing import Final

KEY_CHARS: Final = 120
_KEY: Final = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+(_[a-z0-9]+)*){1,4}")
_CLOSING: Final = ".!。\uff01\uff0e"


def is_key(text: str) -> bool:
    """Whether this is a key: two to five names of a-z, 0-9 and single underscores, joined by dots.

    `preference.editor`, `project.atlas.database`. The schema has the same rule.
    """
    return len(text) <= KEY_CHARS and _KEY.fullmatch(text) is not None


def content_hash(content: str) -> bytes:
    """SHA-256 of the words: case, width, spacing and a closing full stop do not make another memory."""
    folded = " ".join(unicodedata.normalize("NFKC", content).casefold().split()).rstrip(_CLOSING)
    return sha256(folded.encode()).digest()
