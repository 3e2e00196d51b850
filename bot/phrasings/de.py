"""German."""

from bot.phrasings.language import Language

_THIS = r"(?:das|dies(?:e[nsrm]?)?|es|ihn|sie|den|die|meine?n?|deine?n?|eure?n?|unsere?n?|§link)"
_SO = r"(?: (?:bitte|mal|doch|jetzt|auch|hier|mir|uns|fur mich|fur uns|gleich|sofort|schnell))*"
_MSG = r"(?:nachricht|antwort|beitrag|text|post|kommentar)(?:en|s)?"
_END = r"(?: bitte| danke| mal)*"
_SLOW = r"(?:slow ?mode|langsam\w*[ -]?modus)"


def _bring(imperatives: str, infinitives: str, seconds: str = r"(?!)") -> str:
    """An action on this one: `pinne das`, `das bitte anpinnen` (after `kannst du`), `dass du das anpinnst`."""
    return (
        rf"(?:{imperatives}){_SO} (?:{_THIS}\b|§channel).*|{_THIS}\b.*(?<!\w)(?:{infinitives}){_END}|"
        rf"dass du {_THIS}\b.*(?<!\w)(?:{seconds}){_END}"
    )


GERMAN = Language(
    code="de",
    leads=(
        r"bitte|mal|doch|hey|hi|hallo|moin|ok|okay|ja|danke|super|toll|gut|prima|jetzt|nun|und|dann|also|auch|muninn|"
        r"(?:kannst|konntest|wurdest|magst|willst|koenntest|wuerdest) du|konnt ihr|"
        r"ich (?:mochte|will|wunsche mir|hatte gern(?:e)?|bitte dich)(?=$| dass)|sei so (?:nett|gut|lieb)(?: und)?|schnell"
    ),
    polite=r"bitte|(?:kannst|konntest|wurdest|magst|willst|koenntest|wuerdest) du",
    joints=r"\b(?:und dann|und|dann|aber|sondern)\b",
    frames=(
        r"wenn|falls|sobald|bevor|nachdem|ob|angenommen|stell dir vor|tu so|zum beispiel|z\.? ?b\.?|was passiert|"
        r"soll ich|sollen wir|sollte ich|sollten wir|vielleicht|er|jemand|hatte|hattest|wurde ich"
    ),
    negations=r"\b(?:nicht|kein\w*|nie(?:mals)?|ohne|hor auf|statt|anstatt|nirgends)\b",
    postponed=r"\b(?:nicht|nie(?:mals)?|kein\w*|nichts|nirgends)\b",
    content=r"dass|:",
    retracts=(
        r"(?:nein|ne|nee|no|nicht|doch nicht|lieber nicht|besser nicht|halt|stopp?|warte|vergiss es|schon gut|egal|"
        r"abbrechen|nur spass|war(?: nur)?(?: ein)? (?:spass|scherz|witz)|lass (?:es|das)|mach(?:s| es)? nicht|"
        r"tu(?:s| es)? nicht)(?: (?:bitte|doch|nicht|lieber))*"
    ),
    keeps=r"vergiss (?:bitte |es |das )*nicht",
    harmless=r"was (?:ich|du|wir) (?:da )?(?:gesagt|geschrieben)",
    others=(
        r"fasse?|ubersetz\w*|erklar\w*|such\w*|finde?|pruf\w*|zeig\w*|lies|hilf|gib|schau|zahl\w*|sag\w*|beschreib\w*|"
        r"vergleich\w*|schreib\w*|nenn\w*"
    ),
    asks={
        "pin": _bring(
            "pinne?|pin|hefte?|fixiere?",
            "an(?:zu)?pinnen|pinnen|an(?:zu)?heften|fixieren|festpinnen",
            "anpinnst|pinnst|anheftest",
        )
        + r"|(?:an)?pinnen bitte|pinne?(?: bitte)? an",
        "unpin": _bring("(?:ent|un|ab)pinne?", "(?:ent|un|ab|los)(?:zu)?pinnen", "(?:ent|un|ab)pinnst")
        + rf"|(?:lose?|entferne?|nimm|losche?){_SO} (?:den|die|diesen|deren) pin\b.*|"
        rf"(?:lose?|nimm){_SO} {_THIS}\b.*(?:von|aus) den (?:pins|angepinnten).*",
        "react": (
            rf"reagiere?{_SO}(?: (?:auf {_THIS}\b.*|mit .+|darauf.*))?|(?:gib|setze?|mache?|hinterlasse?|fuge?){_SO} "
            rf".*(?:reaktion|daumen|herz|§emoji|emoji).*|auf {_THIS}\b.*reagieren.*|(?:darauf )?mit .*reagieren.*|"
            r"(?:eine |die )?reaktion .*(?:hinzufugen|hinterlassen|geben|setzen).*"
        ),
        "unreact": (
            rf"(?:entferne?|nimm|losche?|ziehe?){_SO} (?:deine|die|diese)\b.*reaktion.*|"
            r"(?:deine|die|diese)\b.*reaktion.*(?:entfernen|loschen|zurucknehmen|wegnehmen).*"
        ),
        "send": (
            rf"(?:schreibe?|schicke?|sende?|poste?|sage?|verkunde?|melde?|teile?){_SO} \S.*|"
            r"\S.* (?:schreiben|schicken|senden|posten|sagen|verkunden)"
        ),
        "send_to": (
            rf"(?:schreibe?|schicke?|sende?|poste?|sage?|verkunde?|melde?|teile?|frage?|grusse?){_SO} "
            r"(?:.*\b)?(?:in|im|nach|an|auf)(?: (?:den|dem|die|das))?(?: (?:kanal|channel|thread))? §channel.*|"
            r"(?:\w+ ){0,2}(?:in|im|nach|an|auf)(?: (?:den|dem))?(?: (?:kanal|channel|thread))? §channel "
            r".*(?:schreiben|schicken|senden|posten|sagen|verkunden|mitteilen).*|"
            rf"(?:informiere?|grusse?|frage?){_SO} (?:die leute in |alle in )?§channel.*"
        ),
        "reply": (
            rf"(?:antworte?|erwidere?){_SO} (?:(?:auf )?(?:{_THIS}|ihm|ihr|ihnen|§user)\b.*|darauf.*)|"
            rf"(?:auf )?(?:{_THIS}|ihm|ihr|ihnen|§user)\b.*antworten.*"
        ),
        "thread": (
            rf"(?:erstelle?|mache?|eroffne?|offne?|starte?|lege?|beginne?|fange?){_SO}"
            r"(?: (?:dazu|daraus|hierzu|dafur|hier))* (?:einen|nen|ein)(?: \w+){0,2} thread\b.*|"
            r"(?:(?:dazu|daraus|hier|hierzu|dafur) )?(?:einen|ein|nen)(?: \w+)? thread\b"
            r".*(?:erstellen|machen|eroffnen|offnen|starten|anlegen|aufmachen|beginnen).*"
        ),
        "rename": (
            rf"(?:benenne?|nenne?){_SO} (?:{_THIS}|§channel)(?: thread)?\b.*|"
            rf"(?:andere?|setze?){_SO} (?:den|die) (?:namen?|titel|thread-?namen|thread-?titel)\b.*|"
            rf"{_THIS}(?: thread)?\b.*(?:umbenennen|umzubenennen|nennen).*"
        ),
        "archive": _bring("archiviere?|schliesse?", "archivieren|schliessen|zumachen", "archivierst|schliesst")
        + rf"|mach{_SO} (?:den|diesen) thread zu\b.*",
        "unarchive": (
            rf"(?:offne?|eroffne?|mache?){_SO} {_THIS}(?: thread)?\b.*(?:wieder|erneut).*|"
            rf"(?:reaktiviere?|entarchiviere?){_SO} {_THIS}\b.*|{_THIS}\b.*(?:wieder ?(?:offnen|eroffnen|aufmachen)|reaktivieren).*"
        ),
        "lock": _bring("sperre?|verriegle|locke?", r"(?<!ent)sperren|(?<!ent)verriegeln|abschliessen", "sperrst"),
        "unlock": _bring("entsperre?|entriegle|unlocke?", "entsperren|entriegeln", "entsperrst"),
        "slowmode": (
            rf"(?:stelle?|schalte?|setze?|aktiviere?|deaktiviere?|mache?|andere?|entferne?){_SO} (?:.*\b)?{_SLOW}\b.*|"
            rf"(?:den )?{_SLOW}\b.*(?:einschalten|ausschalten|aktivieren|deaktivieren|setzen|stellen|andern).*"
        ),
        "edit": (
            rf"(?:bearbeite?|andere?|andre|korrigiere?|editiere?|uberarbeite?|verbessere?|kurze?){_SO} "
            rf"(?:deine?n?|die|diese?n?|das|§link)\b(?: \w+){{0,3}} {_MSG}\b.*|(?:bearbeite?|editiere?){_SO} (?:das|es|sie|die|diese)\b.*|"
            rf"(?:deine|die|diese)\b(?: \w+){{0,2}} {_MSG}\b.*(?:bearbeiten|andern|korrigieren|editieren|kurzen).*"
        ),
        "delete": (
            rf"(?:losche?|entferne?|nimm){_SO} (?:deine?n?|die|diese?n?|das|§link)\b(?: \w+){{0,3}} {_MSG}\b.*|"
            rf"losche?{_SO} (?:das|es|sie|die|diese|§link)(?: wieder| bitte| sofort| mal)*|"
            rf"(?:deine|die|diese|das|es|sie)\b(?:(?: \w+)* {_MSG}\b.*)? (?:bitte )?(?:loschen|entfernen){_END}"
        ),
        "remember": (
            rf"(?:merke?|notiere?|speichere?|behalte?|schreibe?)(?:{_SO}(?: dir)?){_SO}"
            r"(?: (?:das|dies|es|den|die|auf|dass|§q|meine?n?|ich|wir)\b.*|:.*)?|"
            rf"vergiss (?:bitte |es |das )*nicht\b.*|{_THIS}\b.*(?:merken|notieren|speichern|behalten){_END}|denke? daran.*"
        ),
        "forget": (
            r"vergiss(?: bitte| wieder)* (?:dass|was|alles|mein\w*|unser\w*|den|die|das uber|diese\w*)\b.*|vergiss(?: bitte)?|"
            rf"(?:losche?|entferne?){_SO} (?:deine|die|alle|meine|diese)\b.*(?:erinnerung|notiz)\w*.*|"
            r"(?:alles|meine?n?|deine|die)\b.*vergessen"
        ),
    },
    stems={
        "pin": r"(?:an|fest)?(?:ge)?pinn?|(?:an)?(?:zu)?heft|fixier",
        "unpin": r"(?:ent|un|ab|los)(?:zu)?pinn|(?:los|entfern|nimm|losch).*\bpin",
        "react": r"reagier|(?:gib|setz|mach|hinterlass|fug).*(?:reaktion|daumen|herz|emoji)",
        "unreact": r"(?:entfern|nimm|losch|zieh).*reaktion|reaktion.*(?:entfern|losch|nehm)",
        "send": r"(?:ge)?schr(?:ei|ie)b|schick|send|post|sag|verkund|meld|teil",
        "send_to": r"(?:ge)?schr(?:ei|ie)b|schick|send|post|sag|verkund|meld|teil|frag|gruss|informier",
        "reply": r"antwort|erwider",
        "thread": r"thread",
        "rename": r"(?:um)?benenn|nenn|name|titel",
        "archive": r"archiv|schliess|zumach|mach",
        "unarchive": r"offn|eroffn|reaktiv|entarchiv|aufmach",
        "lock": r"(?:ge)?sperr|verriegel|lock|abschliess",
        "unlock": r"entsperr|entriegel|unlock",
        "slowmode": _SLOW,
        "edit": r"bearbeit|ander|andre|korrigier|editier|uberarbeit|verbesser|kurz",
        "delete": r"(?:ge)?losch|entfern|nimm",
        "remember": r"(?:ge)?merk|notier|speicher|behalt|schreib|denk|vergiss",
        "forget": r"vergiss|vergess|(?:losch|entfern).*(?:erinnerung|notiz)",
    },
)
