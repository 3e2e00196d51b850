"""What may be shown of a reply while it is still being written: never a thought, nor a call that stands as text."""

import re
from typing import Final

from agent.spoken_calls import OPENINGS
from agent.thoughts import without_thoughts

_TAG: Final = re.compile(r"<[|/a-zA-Z_=]{0,20}\Z")
_DATA: Final = re.compile(r"[\[{]|```(?:json|tool_calls?|tool_code)?[ \t]*(?:\n|\Z)|`{1,3}\Z")
"""How a text begins that may turn out to be nothing but calls."""


def sayable(text: str) -> str:
    """What of the unfinished `text` is surely said: nothing, as long as it may yet be a thought or a call."""
    said = without_thoughts(text).lstrip()
    if said.startswith(OPENINGS) or _TAG.match(said) or _DATA.match(said):
        return ""
    return "" if any(opening.startswith(said) for opening in OPENINGS) else said
