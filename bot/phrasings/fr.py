"""French."""

from bot.phrasings.language import Language

_THIS = (
    r"(?:ce(?:t(?:te)?)?|ca|cela|ceci|ces|le|la|les|l'|mon|ma|mes|ton|ta|tes|votre|vos|notre|celui-ci|celle-ci|§link)"
)
_MSG = r"(?:message|reponse|post|texte|commentaire|note)s?"
_YOURS = rf"(?:ton|ta|tes|votre|ce|cette|le|la|les|§link)(?: \w+){{0,3}} {_MSG}"
_END = r"(?:(?: s' il (?:te|vous) plait| stp| svp| merci).*)?"
_THREAD = r"(?:fil|sujet|thread|discussion)"


def _bring(verbs: str) -> str:
    """An action on this one: `épingle ce message`, `épingle-le`, `l'épingler` (after `peux-tu`)."""
    return (
        rf"(?:{verbs})(?:-(?:moi|nous))?(?: (?:donc|vite|aussi|bien|maintenant|ici))? (?:{_THIS}(?!\w)|§channel).*|(?:{verbs})-(?:moi-)?(?:le|la|les|ca)\b.*|"
        rf"(?:le|la|les|l') ?(?:{verbs})\b.*"
    )


FRENCH = Language(
    code="fr",
    leads=(
        r"s' il (?:te|vous) plait|stp|svp|merci d[e']|merci|he|hey|salut|bonjour|ok|d' accord|oui|maintenant|alors|et|puis|ensuite|"
        r"bon|bien|super|parfait|muninn|(?:est-ce que )?tu (?:peux|pourrais|veux)(?: bien)?|"
        r"(?:est-ce que )?vous (?:pouvez|pourriez|voulez)(?: bien)?|(?:peux|pourrais|veux)-tu(?: bien)?|"
        r"(?:pouvez|pourriez|voulez)-vous(?: bien)?|j' aimerais(?: bien)? que tu|je (?:veux|voudrais|souhaite) que tu|"
        r"je te demande d[e']|aussi|juste|vite|tu pourrais"
    ),
    polite=(
        r"s' il (?:te|vous) plait|stp|svp|tu (?:peux|pourrais|veux)|vous (?:pouvez|pourriez|voulez)|"
        r"(?:peux|pourrais|veux)-tu|(?:pouvez|pourriez|voulez)-vous"
    ),
    joints=r"\b(?:et puis|et|puis|ensuite|mais)\b",
    frames=(
        r"si(?= \w)|s' (?:il|elle|ils|elles)(?! (?:te|vous) plait)|quand|lorsque|des que|une fois|avant|apres|imagine|suppose|"
        r"par exemple|que se passe|dois-je|devons-nous|est-ce que je|peut-etre|(?<!s' )(?:il|elle|ils|elles)|quelqu' un"
    ),
    negations=r"\b(?:ne|n'|pas|jamais|sans|aucun\w*|arrete|evite|surtout pas|non)(?!\w)",
    postponed=r"\b(?:pas|jamais|rien|aucun\w*|plus)\b(?! tard)",
    content=r"que|qu'|:",
    retracts=(
        r"(?:non|pas|surtout pas|ne le fais pas|fais pas ca|stop|attends|laisse tomber|annule|oublie|oublie ca|finalement non|"
        r"en fait non|je (?:rigole|plaisante)|c' etait une blague|peu importe|plutot pas)(?: (?:non|pas|merci))*"
    ),
    keeps=r"n' oublie(?:z)? pas|oublie pas|ne pas oublier",
    harmless=r"ce que (?:tu as|j' ai) (?:dit|ecrit)",
    others=r"resume\w*|tradui\w*|explique\w*|cherche\w*|trouve\w*|montre\w*|lis|aide\w*|donne\w*|compte\w*|dis|decris|ecris",
    asks={
        "pin": _bring(r"epingl(?:e|ez|er|es|iez)|punais(?:e|ez|er)")
        + rf"|epingler?{_END}|(?:mets|mettre|mettez|ajoute[rz]?) {_THIS}(?: \w+)? (?:en |dans les |aux )(?:messages )?epingl\w*.*",
        "unpin": _bring(r"desepingl(?:e|ez|er|es)|detach(?:e|ez|er)")
        + r"|(?:retire[rz]?|enleve[rz]?|enlever) (?:l' ?epingle|le pin|ce message des)\b.*",
        "react": (
            rf"reagi(?:s|r|ssez|sses)(?: (?:a|sur|au|avec|par) \S.*|{_END})|(?:ajoute[rz]?|mets|mettre|laisse[rz]?|donne[rz]?) "
            r".*(?:reaction|pouce|coeur|§emoji|emoji).*"
        ),
        "unreact": r"(?:retire[rz]?|enleve[rz]?|supprime[rz]?|annule[rz]?) (?:ta|la|cette|votre)\b.*reaction.*",
        "send": r"(?:envoie[sz]?|envoyer|envoyez|poste[rz]?|ecris|ecrire|dis|dire|publie[rz]?|annonce[rz]?|partage[rz]?) \S.*",
        "send_to": (
            r"(?:envoie[sz]?|envoyer|envoyez|poste[rz]?|ecris|ecrire|ecrivez|dis|dire|dites|publie[rz]?|annonce[rz]?|partage[rz]?) "
            r"(?:.*\b)?(?:dans|sur|a|vers|en)(?: (?:le|la))?(?: (?:salon|canal|channel|fil))? §channel.*|"
            r"(?:previens|prevenir|informe[rz]?) (?:les gens de )?§channel.*"
        ),
        "reply": (
            rf"repon(?:ds|dre|dez|des)(?:-(?:lui|leur|moi))?(?: (?:a|au|aux) (?:{_THIS}|§user|§link).*|-?(?:lui|leur)\b.*)|"
            r"repon(?:ds|dez)-(?:lui|leur)\b.*|(?:lui|leur) repondre.*"
        ),
        "thread": (
            rf"(?:cree[rz]?|ouvre|ouvrir|ouvrez|lance[rz]?|demarre[rz]?|commence[rz]?|fais|faire)(?:-(?:nous|moi))? "
            rf"(?:(?:un|une|le|nouveau|nouvelle) )*(?:\S+ ){{0,1}}{_THREAD}\b.*"
        ),
        "rename": (
            rf"renomm(?:e|er|ez)(?:-le)?(?: (?:{_THIS}(?!\w)|§channel).*|\b.*)|(?:change[rz]?|modifie[rz]?) (?:le|ce) (?:nom|titre)\b.*|"
            rf"appelle (?:ce|le) {_THREAD} .*"
        ),
        "archive": _bring(r"archiv(?:e|er|ez|es)|ferm(?:e|er|ez|es)|clotur(?:e|er|ez)"),
        "unarchive": _bring(r"desarchiv(?:e|er|ez)|rouvr(?:e|ir|ez)|reouvr(?:e|ir|ez)"),
        "lock": _bring(r"verrouill(?:e|er|ez|es)|bloqu(?:e|er|ez)"),
        "unlock": _bring(r"deverrouill(?:e|er|ez|es)|debloqu(?:e|er|ez)"),
        "slowmode": (
            r"(?:active[rz]?|desactive[rz]?|mets|mettre|regle[rz]?|change[rz]?|enleve[rz]?) (?:.*\b)?(?:slow ?mode|mode lent)\b.*"
        ),
        "edit": (
            rf"(?:modifie[rz]?|edite[rz]?|corrige[rz]?|change[rz]?|reformule[rz]?|raccourci[rst]?) {_YOURS}\b.*|"
            r"(?:modifie|edite|corrige)(?:[rz]| ca| cela|-le|-la)\b.*|(?:corrige|change) ce que tu as (?:dit|ecrit)\b.*"
        ),
        "delete": (
            rf"(?:supprime[rz]?|efface[rz]?|enleve[rz]?|retire[rz]?) {_YOURS}\b.*|(?:supprime|efface)[rz]?(?: ca| cela| §link|-le|-la|-les)\b.*|"
            r"(?:le|la|les|l') ?(?:supprimer|effacer)\b.*|(?:supprime|efface) ce que tu as (?:dit|ecrit)\b.*"
        ),
        "remember": (
            r"(?:souviens-toi|rappelle-toi|retiens|retenir|note[rz]?|memorise[rz]?|enregistre[rz]?|garde en memoire|te souvenir)"
            r"(?:-(?:le|la))?(?: (?:que|qu'|de|du|des|ca|ceci|cela|ce|cette|mon|ma|mes|bien|le|la|les|§q)(?!\w).*| ?:.*)?|"
            r"(?:n' )?oublie(?:z)? pas\b.*|ne pas oublier .*"
        ),
        "forget": (
            r"oubli(?:e|er|ez) (?:que|qu'|ce que|tout|mon|ma|mes|notre|nos|le fait|cette information|tout ce que)(?!\w).*|"
            r"(?:supprime[rz]?|efface[rz]?) (?:tes|les|ce|cette|mes|tout)\b.*(?:souvenir|memoire|note)s?.*"
        ),
    },
    stems={
        "pin": r"epingl|punais",
        "unpin": r"desepingl|detach|(?:retir|enlev).*(?:epingl|pin)",
        "react": r"reagi|(?:ajout|met|laiss|donn).*(?:reaction|pouce|coeur|emoji)",
        "unreact": r"(?:retir|enlev|supprim|annul).*reaction",
        "send": r"envo|post|ecri|di[st]|dire|publi|annonc|partag",
        "send_to": r"envo|post|ecri|di[st]|dire|publi|annonc|partag|previen|inform",
        "reply": r"repon",
        "thread": _THREAD,
        "rename": r"renomm|nom\b|titre|appell",
        "archive": r"archiv|ferm|clotur",
        "unarchive": r"desarchiv|rouvr|reouvr",
        "lock": r"verrouill|bloqu",
        "unlock": r"deverrouill|debloqu",
        "slowmode": r"slow ?mode|mode lent",
        "edit": r"modifi|edit|corrig|chang|reformul|raccourci",
        "delete": r"supprim|effac|enlev|retir",
        "remember": r"souvien|souven|rappell|retien|reten|note|memoris|enregistr|garde|oubli",
        "forget": r"oubli|(?:supprim|effac).*(?:souvenir|memoire|note)",
    },
)
