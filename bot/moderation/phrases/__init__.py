"""How people ask for moderation in plain words, a table a language. To add one, write its Grammar and list it here."""

from typing import Final

from bot.moderation.phrases.english import ENGLISH
from bot.moderation.phrases.grammar import Grammar

GRAMMARS: Final[tuple[Grammar, ...]] = (ENGLISH,)

for _each in GRAMMARS:
    _ = _each.compiled  # now, and not while somebody waits
