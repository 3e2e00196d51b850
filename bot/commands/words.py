"""What Discord shows of the commands in other languages, by the command's path, or by the path and an option's name.

Discord picks by the language that a member's client is set to; what is not here shows in English. Names stay English,
so that what one member tells another can be typed.
"""

from collections.abc import Mapping
from typing import Final

GERMAN: Final[Mapping[str, str]] = {
    "memory": "Woran ich mich erinnere: von dir, von diesem Kanal und von diesem Server.",
    "memory show": "Zeige, woran ich mich erinnere.",
    "memory search": "Durchsuche, woran ich mich erinnere.",
    "memory add": "Lass mich mir etwas merken.",
    "memory edit": "Ändere eine Erinnerung.",
    "memory forget": "Lass mich eine Erinnerung vergessen.",
    "memory pin": "Hebe eine Erinnerung hervor, oder nicht mehr.",
    "memory why": "Warum ich mich daran erinnere: worauf es beruht.",
    "memory history": "Wie eine Erinnerung wurde, was sie ist.",
    "memory restore": "Hole eine vergessene Erinnerung oder eine frühere Fassung zurück.",
    "memory export": "Erhalte als Datei, woran ich mich erinnere.",
    "memory episodes": "Zeige, was du gefragt hast und ich eine Weile aufhebe.",
    "memory drop-episode": "Lass mich davon etwas endgültig löschen.",
    "help": "Was ich kann, und wie man darum bittet.",
    "new": "Beginne hier ein neues Gespräch; woran ich mich erinnere, bleibt.",
    "usage": "Was du heute und diese Woche von meinem Sprachmodell gebraucht hast, und was übrig ist.",
    "why": "Warum ich so geantwortet habe: woraus es gemacht ist, und was getan wurde.",
    "reactions": "Was Reaktionen hier tun.",
    "reactions show": "Zeige, was Reaktionen hier tun.",
    "stop": "Beende, woran ich hier für dich arbeite; dazu wird nichts mehr gesagt oder getan.",
}

LOCALES: Final[Mapping[str, Mapping[str, str]]] = {"de": GERMAN}


def localised(name: str) -> Mapping[str, str]:
    """The words of `name` by Discord's locale."""
    return {locale: words[name] for locale, words in LOCALES.items() if name in words}
