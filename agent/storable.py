"""Text that PostgreSQL and every JSON reader accept.

PostgreSQL's text has no U+0000, and a lone surrogate is no UTF-8; either fails the whole statement.
"""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """The same text with U+0000 dropped and lone surrogates replaced; the very same object if it was fine."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACEMENT if "\ud800" <= each <= "\udfff" else each for each in text)
    return text
