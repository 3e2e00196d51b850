"""Spanish."""

from bot.phrasings.language import Language

_THIS = r"(?:esto|eso|est[ea]|es[ea]|est[oa]s|es[oa]s|l[oa]s?|el|mis?|tus?|sus?|aquel(?:la|lo)?|nuestr[oa]|§link)"
_MSG = r"(?:mensaje|respuesta|publicacion|texto|comentario|nota)s?"
_YOURS = rf"(?:tus?|el|la|los|las|est[ea]|es[ea]|sus?|§link)(?: \w+){{0,3}} {_MSG}"
_IT = r"(?:me|nos)?(?:lo|la|los|las)"
_THREAD = r"(?:hilo|tema|thread)"


def _bring(verbs: str) -> str:
    """An action on this one: `fija esto`, `fíjalo`, `fijar este mensaje` (after `puedes`), `lo fijes` (after `quiero que`)."""
    return (
        rf"(?:{verbs})(?:me|nos)?(?: (?:aqui|ya|ahora|tambien|por favor))* (?:{_THIS}(?!\w)|§channel).*|"
        rf"(?:{verbs}){_IT}\b.*|(?:lo|la|los|las) (?:{verbs})\b.*"
    )


SPANISH = Language(
    code="es",
    leads=(
        r"por favor|porfa|porfavor|hola|oye|hey|ok|vale|si(?=$|,)|claro|gracias|ahora|luego|pues|bueno|bien|genial|perfecto|muninn|"
        r"(?:me |nos |lo )?(?:puedes|podrias|podes|puede|podria|quieres|querrias)|quiero que|necesito que|me gustaria que|te pido que|"
        r"haz el favor de|y|entonces|tambien|ya|solo"
    ),
    polite=r"por favor|porfa|porfavor|(?:puedes|podrias|podes|puede|podria|quieres|querrias)",
    joints=r"\b(?:y luego|y despues|y|luego|despues|pero)\b",
    frames=(
        r"si(?= \w)|cuando|en cuanto|una vez|antes|despues de|imagina|supon|supongamos|por ejemplo|que pasa|que pasaria|deberia|"
        r"debo|tal vez|quiza[s]?|el(?= (?:quiere|dice|dijo))|ella|ellos|alguien"
    ),
    negations=r"\b(?:no|nunca|jamas|sin|tampoco|deja de|evita|ningun\w*|nada de)\b",
    postponed=r"\b(?:nada|nunca|jamas|ningun\w*)\b",
    content=r"que|:",
    retracts=(
        r"(?:no|mejor no|no lo hagas|para|espera|olvidalo|dejalo|cancela(?:lo)?|es broma|era broma|da igual|al final no|"
        r"en realidad no)(?: (?:no|gracias|por favor))*"
    ),
    keeps=r"no (?:te )?olvides|no lo olvides|no olvidar",
    harmless=r"lo que (?:dijiste|dije|escribiste)",
    others=r"resum\w*|traduc\w*|explic\w*|busca\w*|encuentra|mira|muestra\w*|lee|ayuda\w*|dame|cuenta\w*|di|describe|escribe",
    asks={
        "pin": _bring(r"fij(?:a|e|ar|es)|ancl(?:a|e|ar|es)|pine(?:a|e|ar|es)|pinn?(?:ea|ear)")
        + r"|(?:fija|fijar|ancla)(?: por favor)?|"
        rf"(?:pon|poner|deja|dejar) {_THIS}\b.*(?:fijad|anclad)[oa]s?.*",
        "unpin": _bring(r"desfij(?:a|e|ar|es)|desancl(?:a|e|ar|es)|despine(?:a|ar)")
        + r"|(?:quita|quitar) (?:el|la) (?:pin|chincheta)\b.*",
        "react": (
            r"reaccion(?:a|ar|es|e)(?: (?:a|al|con) \S.*)?|(?:pon|ponle|poner|ponerle|anade|anadir|agrega|agregar|deja|dale|dar) "
            r".*(?:reaccion|pulgar|corazon|§emoji|emoji).*"
        ),
        "unreact": r"(?:quita|quitar|elimina|eliminar|borra|borrar|retira|retirar) (?:tu|la|esa|esta)\b.*reaccion.*",
        "send": r"(?:envia|enviar|manda|mandar|publica|publicar|escribe|escribir|di|decir|anuncia|anunciar|comparte|compartir) \S.*",
        "send_to": (
            r"(?:envia|enviar|manda|mandar|publica|publicar|publiques|escribe|escribir|escribas|di|decir|anuncia|anunciar|comparte|"
            r"compartir|pon|poner) (?:.*\b)?(?:en|a|al)(?: (?:el|la))?(?: (?:canal|hilo))? §channel.*|"
            r"(?:avisa|avisar|informa|informar) (?:a )?(?:la gente de )?§channel.*"
        ),
        "reply": rf"(?:responde|responder|contesta|contestar)(?:le|les)?(?: (?:a|al) (?:{_THIS}|§user|§link).*|(?<=e)\b(?= ?$).*)|"
        rf"(?:responde|contesta|responder|contestar)(?:le|les)\b.*|(?:responde|contesta) {_THIS}\b.*",
        "thread": (
            rf"(?:crea|crear|crees|abre|abrir|abras|inicia|iniciar|empieza|haz|hacer|comienza)(?:me|nos)? "
            rf"(?:(?:un|el|nuevo|otro) )*{_THREAD}\b.*"
        ),
        "rename": (
            rf"(?:renombra|renombrar|renombres)(?:lo)?(?: (?:{_THIS}(?!\w)|§channel).*|\b.*)|(?:cambia|cambiar|cambies)(?:le)? (?:el|este) "
            rf"(?:nombre|titulo)\b.*|llama (?:a )?est[ea] {_THREAD} .*"
        ),
        "archive": _bring(r"archiv(?:a|e|ar|es)|cierr(?:a|e|es)|cerrar"),
        "unarchive": _bring(r"desarchiv(?:a|e|ar|es)|reabr(?:e|ir|a|as)"),
        "lock": _bring(r"bloque(?:a|e|ar|es)"),
        "unlock": _bring(r"desbloque(?:a|e|ar|es)"),
        "slowmode": (
            r"(?:activa|activar|desactiva|desactivar|pon|poner|configura|configurar|cambia|cambiar|quita|quitar) "
            r"(?:.*\b)?(?:slow ?mode|modo lento|modo pausado)\b.*"
        ),
        "edit": (
            rf"(?:edita|editar|edites|modifica|modificar|corrige|corregir|cambia|cambiar|acorta|acortar) {_YOURS}\b.*|"
            r"(?:edita|editar|modifica|corrige|corregir)(?:lo|la| eso| esto)\b.*|(?:corrige|cambia) lo que (?:dijiste|escribiste)\b.*"
        ),
        "delete": (
            rf"(?:borra|borrar|borres|elimina|eliminar|elimines|quita|quitar) {_YOURS}\b.*|(?:borra|borrar|elimina|eliminar)(?:lo|la|los|las| eso| esto| §link)\b"
            r"(?! (?:archivo|canal|carpeta)).*|(?:borra|elimina) lo que (?:dijiste|escribiste)\b.*"
        ),
        "remember": (
            r"(?:recuerda|recordar|recuerdes|acuerdate|apunta|apuntar|anota|anotar|guarda|guardar|memoriza|memorizar|ten en cuenta)(?:lo|la|me)?"
            r"(?: (?:que|de|esto|eso|este|esta|mi|mis|el|la|los|las|§q)(?!\w).*| ?:.*)?|no (?:te )?olvides\b.*|no lo olvides\b.*|no olvidar .*"
        ),
        "forget": (
            r"(?:olvida|olvidar|olvidate|olvides)(?: de)? (?:que|lo que|todo|mis?|nuestr[oa]s?|el|la|los|las|este dato)\b.*|"
            r"(?:borra|borrar|elimina|eliminar) (?:tus|los|las|mis|el|la|ese|esa|todo)\b.*(?:recuerdo|memoria|nota)s?.*"
        ),
    },
    stems={
        "pin": r"fij|ancl|pine|pinn",
        "unpin": r"desfij|desancl|despine|quita.*(?:pin|chincheta)",
        "react": r"reaccion|(?:pon|anad|agreg|dej|dal).*(?:pulgar|corazon|emoji)",
        "unreact": r"(?:quit|elimin|borr|retir).*reaccion",
        "send": r"envi|mand|public|publiq|escrib|di\b|dig|decir|anunci|compart",
        "send_to": r"envi|mand|public|publiq|escrib|di\b|dig|decir|anunci|compart|pon|avis|inform",
        "reply": r"respond|contest",
        "thread": _THREAD,
        "rename": r"renombr|nombre|titulo|llam",
        "archive": r"archiv|cierr|cerr",
        "unarchive": r"desarchiv|reabr",
        "lock": r"bloque",
        "unlock": r"desbloque",
        "slowmode": r"slow ?mode|modo (?:lento|pausado)",
        "edit": r"edit|modific|modifiq|correg|corrij|corrig|cambi|acort",
        "delete": r"borr|elimin|quit",
        "remember": r"recuerd|record|acuerd|apunt|anot|guard|memori|ten en cuenta|olvid",
        "forget": r"olvid|(?:borr|elimin).*(?:recuerdo|memoria|nota)",
    },
)
