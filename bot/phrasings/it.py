"""Italian."""

from bot.phrasings.language import Language

_THIS = r"(?:quest[oaie]|quell[oaie]|quel|cio|il|lo|la|l'|i|gli|le|mi[oa]|miei|mie|tu[oa]|tuoi|tue|nostr[oa]|§link)"
_MSG = r"(?:messaggio|messaggi|risposta|post|testo|commento)"
_YOURS = rf"(?:(?:il|la|i|le|l') ?)?(?:tu[oa]|tuoi|tue|quest[oa]|quel|quella|il|la|l'|§link)(?: \w+){{0,3}} {_MSG}"
_THREAD = r"(?:thread|discussione|filo)"


def _bring(verbs: str, stems: str) -> str:
    """An action on this one: `fissa questo`, `fissalo`, `fissarlo` (after `puoi`)."""
    return (
        rf"(?:{verbs})(?: (?:pure|qui|ora|subito|anche|per favore))* (?:{_THIS}(?!\w)|§channel).*|"
        rf"(?:{stems})(?:[ai]r?)?(?:me|ce)?(?:lo|la|li|le)\b.*"
    )


ITALIAN = Language(
    code="it",
    leads=(
        r"per favore|per piacere|per cortesia|ti prego(?: di)?|ciao|ehi|hey|ok|okay|va bene|si|certo|grazie|adesso|ora|allora|poi|bene|ottimo|"
        r"perfetto|muninn|(?:mi |ci )?(?:puoi|potresti|vuoi|riesci a)|vorrei che(?: tu)?|voglio che(?: tu)?|ti chiedo di|e|anche|solo"
    ),
    polite=r"per favore|per piacere|per cortesia|(?:mi |ci )?(?:puoi|potresti)",
    joints=r"\b(?:e poi|e|poi|ma)\b",
    frames=(
        r"se(?= \w)|quando|appena|prima|dopo|immagina|supponi|per esempio|ad esempio|cosa succede|devo|dobbiamo|forse|lui|lei|loro|"
        r"qualcuno|dice|dicono"
    ),
    negations=r"\b(?:non|mai|senza|smetti di|evita|nessun\w*)\b",
    postponed=r"\b(?:mai|niente|nulla|nessun\w*)\b",
    content=r"che|:",
    retracts=(
        r"(?:no|meglio di no|anzi no|non farlo|ferma|fermo|aspetta|lascia (?:stare|perdere)|annulla|scherzavo|sto scherzando|"
        r"dimenticalo|non importa|alla fine no)(?: (?:no|grazie))*"
    ),
    keeps=r"non (?:ti )?dimentica(?:re|rti)|non scordare",
    harmless=r"(?:quello|cio) che (?:hai|ho) (?:detto|scritto)|cosa (?:hai|ho) (?:detto|scritto)",
    others=r"riassum\w*|traduc\w*|spieg\w*|cerca\w*|trova\w*|mostra\w*|leggi|aiuta\w*|dammi|conta|descrivi|scrivi",
    asks={
        "pin": _bring(r"fiss(?:a|i|are)|appunt(?:a|are)|pinn(?:a|are)", r"fiss|appunt|pinn")
        + rf"|(?:metti|mettere) {_THIS}\b.*(?:in evidenza|tra i (?:messaggi )?fissati).*|(?:fissa|fissare)(?: per favore)?",
        "unpin": _bring(
            r"sblocca il pin di|rimuovi il pin d[ai]|togli il pin d[ai]|sfiss(?:a|are)|spinn(?:a|are)", r"sfiss|spinn"
        )
        + r"|(?:togli|rimuovi) il pin\b.*",
        "react": (
            r"reagisci(?: (?:a|al|con) \S.*)?|reagire (?:a|al|con) \S.*|(?:metti|mettere|aggiungi|aggiungere|lascia|dai) "
            r".*(?:reazione|pollice|cuore|§emoji|emoji).*"
        ),
        "unreact": r"(?:togli|togliere|rimuovi|rimuovere|cancella|elimina) (?:la )?(?:tua|quella|questa)\b.*reazione.*",
        "send": r"(?:invia|inviare|manda|mandare|pubblica|pubblicare|scrivi|scrivere|di'|dire|annuncia|annunciare|posta|postare) \S.*",
        "send_to": (
            r"(?:invia|inviare|manda|mandare|pubblica|pubblicare|scrivi|scrivere|di'?|dire|annuncia|annunciare|posta|postare|condividi) "
            r"(?:.*\b)?(?:in|su|nel|nella|sul|a|al)(?: (?:canale|thread))? §channel.*|(?:avvisa|informa) (?:quelli di )?§channel.*"
        ),
        "reply": rf"(?:rispondi|rispondere)(?:gli|le)?(?: (?:a|al|alla) (?:{_THIS}|§user|§link).*| (?:{_THIS}|§user)\b.*)|rispondi(?:gli|le)\b.*",
        "thread": (
            rf"(?:crea|creare|apri|aprire|inizia|iniziare|avvia|avviare|fai|fare)(?:ci|mi)? "
            rf"(?:(?:un|una|il|la|nuovo|nuova|un') ?)*{_THREAD}\b.*"
        ),
        "rename": (
            rf"(?:rinomina|rinominare)(?:lo)?(?: (?:{_THIS}(?!\w)|§channel).*|\b.*)|(?:cambia|cambiare|modifica|modificare) il (?:nome|titolo)\b.*"
        ),
        "archive": _bring(r"archivi(?:a|are)|chiud(?:i|ere)", r"archivi|chiud|chiuder"),
        "unarchive": _bring(r"riapr(?:i|ire)|disarchivi(?:a|are)", r"riapr|disarchivi"),
        "lock": _bring(r"blocc(?:a|are)", r"blocc"),
        "unlock": _bring(r"sblocc(?:a|are)", r"sblocc"),
        "slowmode": (
            r"(?:attiva|attivare|disattiva|disattivare|metti|imposta|impostare|cambia|togli) (?:.*\b)?(?:slow ?mode|modalita lenta)\b.*"
        ),
        "edit": (
            rf"(?:modifica|modificare|correggi|correggere|cambia|cambiare|accorcia) {_YOURS}\b.*|(?:modifica|modificar|correggi|correggil)(?:lo|la| quello| questo)\b.*|"
            r"(?:correggi|cambia) (?:quello|cio) che hai (?:detto|scritto)\b.*"
        ),
        "delete": (
            rf"(?:cancella|cancellare|elimina|eliminare|rimuovi|rimuovere|togli) {_YOURS}\b.*|(?:cancella|cancellar|elimina|eliminar|rimuovi)(?:lo|la|li|le| quello| questo| §link)\b"
            r"(?! (?:file|canale)).*|(?:cancella|elimina) (?:quello|cio) che hai (?:detto|scritto)\b.*"
        ),
        "remember": (
            r"(?:ricorda|ricordare|ricordati|ricordarti|annota|annotare|segna|segnati|salva|salvare|memorizza|memorizzare|tieni a mente|prendi nota)(?:lo)?"
            r"(?: (?:che|di|questo|quest[ao]|il|lo|la|l'|i|le|mio|mia|§q)(?!\w).*| ?:.*)?|non (?:ti )?dimentica(?:re|rti)\b.*|non scordare\b.*"
        ),
        "forget": (
            r"(?:dimentica|dimenticare|dimenticati)(?: di)? (?:che|quello che|cio che|tutto|il mio|la mia|i miei|le mie|mio|mia|il nostro)\b.*|"
            r"(?:cancella|elimina) (?:i tuoi|la|le|il|i|quel|quella|questa|questo)\b.*(?:ricord[oi]|memori[ae]|not[ae]).*"
        ),
    },
    stems={
        "pin": r"fiss|appunt|pinn|(?:mett).*evidenza",
        "unpin": r"sfiss|spinn|(?:togl|rimuov|sblocca).*pin",
        "react": r"reagi|(?:mett|aggiung|lasc|dai|dare).*(?:reazion|pollice|cuore|emoji)",
        "unreact": r"(?:togl|rimuov|cancell|elimin).*reazion",
        "send": r"invi|mand|pubblic|scriv|di'|dire|annunc|post",
        "send_to": r"invi|mand|pubblic|scriv|di'|dire|di\b|annunc|post|condivid|avvis|inform",
        "reply": r"rispond",
        "thread": _THREAD,
        "rename": r"rinomin|nome|titolo",
        "archive": r"archivi|chiud",
        "unarchive": r"riapr|disarchivi",
        "lock": r"blocc",
        "unlock": r"sblocc",
        "slowmode": r"slow ?mode|modalita lenta",
        "edit": r"modific|corregg|cambi|accorc",
        "delete": r"cancell|elimin|rimuov|togl",
        "remember": r"ricord|annot|segn|salv|memori|tieni a mente|prendi nota|dimentic|scord",
        "forget": r"dimentic|(?:cancell|elimin).*(?:ricord|memori|not)",
    },
)
