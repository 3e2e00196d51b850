"""Dutch."""

from bot.phrasings.language import Language

_THIS = r"(?:dit|dat|deze|die|het|de|hem|haar|mijn|m'n|je|jouw|uw|onze?|§link)"
_SO = r"(?: (?:alsjeblieft|alstublieft|aub|ajb|even|eens|maar|nu|ook|hier|voor (?:mij|me|ons)|meteen|graag))*"
_MSG = r"(?:bericht|antwoord|reactie|tekst|post|berichtje)(?:en|s)?"
_END = r"(?: (?:alsjeblieft|alstublieft|aub|ajb|even|graag))*"


def _bring(imperatives: str, infinitives: str) -> str:
    """An action on this one: `pin dit`, `dit bericht vastpinnen` (after `kun je`), `dat je dit vastpint`."""
    return rf"(?:{imperatives}){_SO} (?:{_THIS}\b|§channel).*|{_THIS}\b.*(?:{infinitives}){_END}"


DUTCH = Language(
    code="nl",
    leads=(
        r"alsjeblieft|alstublieft|aub|ajb|hey|hoi|hallo|he|ok|oke|okay|ja|bedankt|dank je|nu|dan|en|goed|mooi|top|muninn|"
        r"(?:kun|kan|zou|wil|kunt|zou je|zul) (?:je|jij|u)(?: (?:willen|kunnen))?|wil je|ik wil(?: graag)? dat je|ik zou graag willen dat je|"
        r"ook|even|wees zo goed om|gelieve"
    ),
    polite=r"alsjeblieft|alstublieft|aub|ajb|(?:kun|kan|zou|wil|kunt) (?:je|jij|u)|gelieve",
    joints=r"\b(?:en dan|en|dan|maar)\b(?! even)",
    frames=(
        r"als|indien|wanneer|zodra|voordat|nadat|of ik|stel|stel je voor|bijvoorbeeld|wat gebeurt|moet ik|moeten we|zal ik|misschien|"
        r"hij|zij|iemand"
    ),
    negations=r"\b(?:niet|geen|nooit|zonder|stop met|in plaats van|niks|niets)\b",
    postponed=r"\b(?:niet|geen|nooit|niets|niks|nergens)\b",
    content=r"dat (?:ik|we|wij|je|jij|hij|zij|ze|er|mijn|de|het|onze)|:",
    retracts=(
        r"(?:nee|niet|toch niet|liever niet|beter niet|doe (?:het|maar|dat) niet|stop|wacht|laat maar|annuleer|grapje|geintje|"
        r"vergeet het)(?: (?:maar|niet|toch))*"
    ),
    keeps=r"vergeet (?:dit |dat |het |alsjeblieft )*niet",
    harmless=r"wat (?:je|ik) (?:zei|schreef)",
    others=r"vat|vertaal|leg|zoek|vind|toon|laat|lees|help|geef|tel|beschrijf|vergelijk|schrijf|maak|zeg",
    asks={
        "pin": _bring(r"pin|prik", r"(?:vast|op)?(?:te )?pinnen|vast te pinnen|vastprikken|(?:vast)?pint")
        + rf"|zet{_SO} {_THIS}\b.* vast\b.*|maak{_SO} {_THIS}\b.* vast\b.*|vastpinnen(?: graag| aub)?",
        "unpin": _bring(r"ontpin|unpin", r"ontpinnen|unpinnen|losmaken|losprikken")
        + rf"|(?:haal|verwijder){_SO} (?:de|die|deze) (?:pin|speld)\b.*|maak{_SO} {_THIS}\b.* los\b.*",
        "react": (
            rf"reageer{_SO}(?: (?:op {_THIS}\b.*|met .+|hierop.*|daarop.*))?|(?:geef|zet|plaats|doe|laat){_SO} "
            rf".*(?:reactie|duim|hart|§emoji|emoji).*|op {_THIS}\b.*reageren.*|(?:hierop )?met .*reageren.*"
        ),
        "unreact": rf"(?:verwijder|haal|trek){_SO} (?:je|jouw|die|deze)\b.*reactie.*",
        "send": rf"(?:stuur|schrijf|post|plaats|zeg|meld|deel|verstuur){_SO} \S.*|\S.* (?:sturen|schrijven|posten|plaatsen|zeggen)",
        "send_to": (
            rf"(?:stuur|schrijf|post|plaats|zeg|meld|deel|zet|verstuur){_SO} (?:.*\b)?(?:in|naar|op|aan)(?: (?:het|de))?(?: (?:kanaal|thread))? §channel.*|"
            r"(?:\w+ ){0,2}(?:in|naar|op)(?: (?:het|de))?(?: kanaal)? §channel .*(?:sturen|schrijven|posten|plaatsen|zeggen|zetten|melden).*"
        ),
        "reply": rf"(?:antwoord|beantwoord){_SO} (?:(?:op )?(?:{_THIS}|§user)\b.*|hem\b.*|haar\b.*)|(?:op )?(?:{_THIS}|§user)\b.*(?:be)?antwoorden.*",
        "thread": (
            rf"(?:maak|open|start|begin){_SO}(?: (?:een|een nieuwe|de|nieuwe|aparte|hierover|hiervan))*(?: \S+)? (?:thread|draadje|draad)\b.*|"
            r"(?:hierover |hiervan )?een(?: \w+)? (?:thread|draadje|draad)\b.*(?:maken|openen|starten|aanmaken|beginnen).*"
        ),
        "rename": (
            rf"(?:hernoem|noem){_SO} (?:{_THIS}|§channel)(?: thread)?\b.*|(?:wijzig|verander|pas){_SO} de (?:naam|titel)\b.*|"
            rf"{_THIS}(?: thread)?\b.*hernoemen.*"
        ),
        "archive": _bring("archiveer|sluit", "archiveren|sluiten"),
        "unarchive": rf"(?:heropen|dearchiveer){_SO} {_THIS}\b.*|open{_SO} {_THIS}\b.*(?:weer|opnieuw).*|{_THIS}\b.*heropenen.*",
        "lock": _bring("vergrendel|lock", r"(?<!ont)vergrendelen|locken"),
        "unlock": _bring("ontgrendel|unlock", "ontgrendelen|unlocken"),
        "slowmode": (
            rf"(?:zet|stel|schakel|activeer|deactiveer|verander|wijzig){_SO} (?:.*\b)?(?:slow ?mode|langzame modus)\b.*|"
            r"(?:de )?(?:slow ?mode|langzame modus)\b.*(?:instellen|inschakelen|uitschakelen|aanzetten|uitzetten).*"
        ),
        "edit": (
            rf"(?:bewerk|wijzig|verander|corrigeer|verbeter|pas){_SO} (?:je|jouw|dit|dat|het|deze|die|§link)\b(?: \w+){{0,3}} {_MSG}\b.*|"
            rf"bewerk{_SO} (?:dit|dat|het)\b.*|(?:je|jouw|dit|dat)\b(?: \w+){{0,2}} {_MSG}\b.*(?:bewerken|wijzigen|veranderen|corrigeren|aanpassen).*"
        ),
        "delete": (
            rf"(?:verwijder|wis|haal){_SO} (?:je|jouw|dit|dat|het|deze|die|§link)\b(?: \w+){{0,3}} {_MSG}\b.*|(?:verwijder|wis){_SO} (?:dit|dat|het|§link){_END}|"
            rf"(?:je|jouw|dit|dat|het)\b(?:(?: \w+)* {_MSG}\b.*)? (?:verwijderen|wissen){_END}"
        ),
        "remember": (
            rf"(?:onthoud|noteer|bewaar|herinner je|schrijf op){_SO}(?: (?:dat|dit|het|de|mijn|deze|ik|§q)\b.*|:.*)?|"
            rf"vergeet (?:dit |dat |het |alsjeblieft )*niet\b.*|{_THIS}\b.*(?:onthouden|noteren|bewaren){_END}"
        ),
        "forget": (
            rf"vergeet{_SO} (?:dat ik|dat we|dat mijn|wat|alles|mijn|onze|het feit|deze?)\b.*|"
            rf"(?:verwijder|wis){_SO} (?:je|de|die|alle|mijn|deze)\b.*(?:herinnering|notitie)\w*.*|(?:mijn|alles|wat)\b.*vergeten"
        ),
    },
    stems={
        "pin": r"(?:vast|op|ge)*pin(?:t|nen)?\b|(?:vast)?prik|(?:zet|maak).* vast\b|vast te pinnen",
        "unpin": r"ontpin|unpin|(?:haal|verwijder).*pin|losmak",
        "react": r"reag|(?:geef|zet|plaats|doe|laat).*(?:reactie|duim|hart|emoji)",
        "unreact": r"(?:verwijder|haal|trek).*reactie",
        "send": r"stuur|stur|schrijf|schrijv|post|plaats|zeg|meld|deel",
        "send_to": r"stuur|stur|schrijf|schrijv|post|plaats|zeg|meld|deel|zet",
        "reply": r"(?:be)?antwoord",
        "thread": r"thread|draad",
        "rename": r"hernoem|noem|naam|titel",
        "archive": r"archiv|sluit",
        "unarchive": r"heropen|dearchiv|open",
        "lock": r"vergrendel|lock",
        "unlock": r"ontgrendel|unlock",
        "slowmode": r"slow ?mode|langzame modus",
        "edit": r"bewerk|wijzig|verander|corrig|verbeter|pas",
        "delete": r"verwijder|wis|haal",
        "remember": r"onthou|noteer|noter|bewaar|bewar|herinner|schrijf|vergeet",
        "forget": r"vergeet|vergeten|(?:verwijder|wis).*(?:herinnering|notitie)",
    },
)
