"""What Discord shows of the commands in other languages, by the command's path, or by the path and an option's name.

Discord picks by the language that a member's client is set to; what is not here shows in English. Names stay English,
so that what one member tells another can be typed.
"""

from collections.abc import Mapping
from typing import Final

GERMAN: Final[Mapping[str, str]] = {
    "stop": "Beende, woran ich hier für dich arbeite; dazu wird nichts mehr gesagt oder getan.",
}

LOCALES: Final[Mapping[str, Mapping[str, str]]] = {"de": GERMAN}


def localised(name: str) -> Mapping[str, str]:
    """The words of `name` by Discord's locale."""
    return {locale: words[name] for locale, words in LOCALES.items() if name in words}
