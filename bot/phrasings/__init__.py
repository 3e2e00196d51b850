"""How people ask for actions, in the languages that the table knows. In every other one they are asked back."""

import re
from typing import Final

from bot.phrasings.de import GERMAN
from bot.phrasings.en import ENGLISH
from bot.phrasings.es import SPANISH
from bot.phrasings.fr import FRENCH
from bot.phrasings.it import ITALIAN
from bot.phrasings.ja import JAPANESE
from bot.phrasings.language import Language
from bot.phrasings.nl import DUTCH
from bot.phrasings.pt import PORTUGUESE
from bot.phrasings.ru import RUSSIAN
from bot.phrasings.zh import CHINESE

LANGUAGES: Final[tuple[Language, ...]] = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    DUTCH,
    RUSSIAN,
    JAPANESE,
    CHINESE,
)

# Words of reporting that mean nothing else in any of these languages: they count in every sentence.
REPORTS: Final = re.compile(
    r"(?<!\w)(?:said|says|saying that|told|wrote|writes|asked|asks|wants|wanted|suggested|suggests|claims|claimed|ordered|"
    r"according to|quote|quoting|gesagt|sagte|sagt|meinte|meint|schrieb|schreibt|laut|zufolge|"
    r"a dit|a ecrit|a demande|disait|disent|selon|d' apres|dijo|dice que|decia|segun|escribio|pidio|"
    r"disse|diz que|pediu|ha detto|ha scritto|ha chiesto|dice che|secondo|zei|zegt|volgens|schreef|vroeg|"
    r"сказал\w*|говорит|написал\w*|попросил\w*|велел\w*|powiedzial\w*|mowi|napisal\w*|dedi|soyledi|diyor)(?!\w)"
    r"|(?:と|って)(?:言い?|いい?|書き?|頼み?|聞き?)(?:っ|い|ん|か)?(?:た|まし|てい|てた)|らしい|そうです"
    r"|(?:他|她|他们|她们|有人)(?:说|說|要|让|讓|叫)|라고 |다고 (?:했|말)"
)
