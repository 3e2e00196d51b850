"""Instructions for models, each a file with its version in its name. A changed instruction is a new version."""

from functools import cache
from importlib.resources import files
from typing import Final

EXTRACT: Final = "extract.v1"
SUMMARIZE: Final = "summarize.v1"


@cache
def instructions(name: str) -> str:
    """The text of that version."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()
