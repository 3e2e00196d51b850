"""Other people's text on its way to a model: quoted as data, unable to look like anything else (I12)."""

import re
import unicodedata
from collections.abc import Mapping

ELLIPSIS = "…"

_MENTION = re.compile(r"<@!?(\d{1,19})>")

_MARKERS = str.maketrans(
    {
        "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
        ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
        "`": "'",
        "\N{LINE SEPARATOR}": "\n",
        "\N{PARAGRAPH SEPARATOR}": "\n",
    }
)
_JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")  # emoji and several scripts are spelt with them


def quoted(text: str, *, limit: int) -> str:
    """`text` in one line of at most `limit` characters, cut with an ellipsis.

    Line breaks become " / "; angle brackets and backticks, of which tags, mentions and fences are made, become their
    lookalikes; control and direction-changing characters go, so that what the model reads is what stands there.
    """
    lines = (" ".join(line.split()) for line in text.translate(_MARKERS).splitlines())
    line = " / ".join(each for each in lines if each)
    shown = "".join(each for each in line if each in _JOINERS or unicodedata.category(each) not in ("Cc", "Cf", "Cs"))
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + ELLIPSIS


def named(text: str, names: Mapping[int, str]) -> str:
    """`text` with those whom it mentions by their names, as a person reads it; who is in no `names` stays a number."""
    if "<@" not in text:
        return text
    return _MENTION.sub(lambda found: f"@{name}" if (name := names.get(int(found[1]))) else found[0], text)
