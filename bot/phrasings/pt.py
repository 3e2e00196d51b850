"""Portuguese."""

from bot.phrasings.language import Language

_THIS = r"(?:ist[oa]|iss[oa]|est[ea]s?|ess[ea]s?|aquel[ea]|aquilo|o|a|os|as|meus?|minhas?|teus?|tuas?|seus?|suas?|noss[oa]|§link)"
_MSG = r"(?:mensagem|mensagens|resposta|publicacao|texto|comentario|post)s?"
_YOURS = rf"(?:(?:a|o|as|os) )?(?:tuas?|suas?|teus?|seus?|ess[ea]|est[ea]|a|o|§link)(?: \w+){{0,3}} {_MSG}"
_THREAD = r"(?:topico|thread|fio|conversa)"


def _bring(verbs: str) -> str:
    """An action on this one: `fixa isto`, `fixá-lo` and `fixe-a`, `fixar esta mensagem` (after `podes`)."""
    return (
        rf"(?:{verbs})(?: (?:ai|aqui|la|ja|agora|tambem|por favor))* (?:{_THIS}(?!\w)|§channel).*|"
        rf"(?:{verbs})-(?:l?[oa]s?)\b.*|(?:o|a|os|as) (?:{verbs})\b.*"
    )


PORTUGUESE = Language(
    code="pt",
    leads=(
        r"por favor|pf|faz favor|ola|oi|hey|ei|ok|sim|claro|obrigad[oa]|agora|entao|depois|bom|bem|otimo|perfeito|muninn|"
        r"(?:voce |tu )?(?:podes|pode|poderia|podias|consegues|consegue|quer)|quero que(?: (?:voce|tu))?|gostaria que(?: (?:voce|tu))?|"
        r"preciso que(?: (?:voce|tu))?|peco que|e|tambem|ja|so"
    ),
    polite=r"por favor|pf|faz favor|(?:voce |tu )?(?:podes|pode|poderia|podias|consegues|consegue)",
    joints=r"\b(?:e depois|e|depois|mas)\b",
    frames=(
        r"se(?= \w)|quando|assim que|antes|imagina|imagine|suponha|supoe|por exemplo|o que acontece|devo|devemos|talvez|ele|ela|eles|"
        r"elas|alguem|diz que"
    ),
    negations=r"\b(?:nao|nunca|jamais|sem|para de|evita|evite|nem|nenhum\w*)\b",
    postponed=r"\b(?:nao|nada|nunca|jamais|nenhum\w*)\b",
    content=r"que|:",
    retracts=(
        r"(?:nao|melhor nao|nao faca(?:s)? isso|para|espera|espere|esquece|deixa(?: pra la| estar)?|cancela|e brincadeira|"
        r"brincadeira|afinal nao|na verdade nao)(?: (?:nao|obrigad[oa]))*"
    ),
    keeps=r"nao (?:te |se )?esquecas?(?: de)?|nao (?:te |se )?esqueca",
    harmless=r"o que (?:disseste|disse|escreveste)(?= |$)",
    others=r"resum\w*|traduz\w*|explic\w*|procur\w*|encontr\w*|mostr\w*|le|leia|ajud\w*|conta|conte|descrev\w*|escrev\w*",
    asks={
        "pin": _bring(r"fix(?:a|e|ar|es)|afix(?:a|e|ar)|pin(?:a|e|ar)") + r"|(?:fixa|fixe|fixar)(?: por favor)?",
        "unpin": _bring(r"desafix(?:a|e|ar|es)|desfix(?:a|e|ar|es)|despin(?:a|e|ar)")
        + r"|(?:tira|tire|remove|remova) o pin\b.*",
        "react": (
            r"reag(?:e|ir|e|as?|ja)(?: (?:a|ao|com) \S.*)?|reaja(?:s)?(?: .*)?|(?:poe|ponha|coloca|coloque|adiciona|adicione|deixa|da|de) "
            r".*(?:reacao|polegar|coracao|§emoji|emoji).*"
        ),
        "unreact": r"(?:tira|tire|remove|remova|apaga|apague|retira|retire) (?:a )?(?:tua|sua|essa|esta)\b.*reacao.*",
        "send": r"(?:envia|envie|enviar|manda|mande|mandar|publica|publique|publicar|escreve|escreva|escrever|diz|diga|dizer|anuncia|anuncie) \S.*",
        "send_to": (
            r"(?:envia|envie|enviar|manda|mande|mandar|publica|publique|publicar|posta|poste|postar|escreve|escreva|escrever|diz|diga|dizer|"
            r"anuncia|anuncie|anunciar) (?:.*\b)?(?:em|no|na|para|ao|a)(?: (?:o|a))?(?: (?:canal|topico))? §channel.*|"
            r"(?:avisa|avise|informa|informe) (?:o )?(?:pessoal (?:do|em) )?§channel.*"
        ),
        "reply": rf"(?:responde|responda|responder)(?:-lhe|-lhes)?(?: (?:a|ao|para) (?:{_THIS}|§user|§link).*| (?:{_THIS}|§user)\b.*)|(?:responde|responda)-lhes?\b.*",
        "thread": (
            rf"(?:cria|crie|criar|abre|abra|abrir|inicia|inicie|iniciar|comeca|comece|faz|faca|fazer)(?:-nos|-me)? "
            rf"(?:(?:um|uma|o|a|novo|nova) )*{_THREAD}\b.*"
        ),
        "rename": (
            rf"(?:renomeia|renomeie|renomear)(?:-o)?(?: (?:{_THIS}(?!\w)|§channel).*|\b.*)|(?:muda|mude|mudar|altera|altere|alterar) o (?:nome|titulo)\b.*"
        ),
        "archive": _bring(r"arquiv(?:a|e|ar|es)|fech(?:a|e|ar|es)"),
        "unarchive": _bring(r"desarquiv(?:a|e|ar)|reabr(?:e|a|ir)"),
        "lock": _bring(r"tranc(?:a|ar)|tranque|bloque(?:ia|ie|ar)"),
        "unlock": _bring(r"destranc(?:a|ar)|destranque|desbloque(?:ia|ie|ar)"),
        "slowmode": (
            r"(?:ativa|ative|ativar|desativa|desative|desativar|poe|coloca|coloque|define|muda|tira) (?:.*\b)?(?:slow ?mode|modo lento)\b.*"
        ),
        "edit": (
            rf"(?:edita|edite|editar|altera|altere|alterar|corrige|corrija|corrigir|muda|mude|mudar|modifica) {_YOURS}\b.*|"
            r"(?:edita|edite|editar|corrige|corrija)(?:-[oa]| isso| isto)\b.*|(?:corrige|muda) o que (?:disseste|escreveste)\b.*"
        ),
        "delete": (
            rf"(?:apaga|apague|apagar|exclui|exclua|excluir|elimina|elimine|eliminar|remove|remova|remover|deleta|delete|deletar) {_YOURS}\b.*|"
            r"(?:apaga|apague|apagar|apaga|exclui|exclua|elimina|deleta|delete)(?:-[oa]s?| isso| isto| §link)\b.*|apaga-lo\b.*|"
            r"(?:apaga|apague) o que (?:disseste|escreveste)\b.*"
        ),
        "remember": (
            r"(?:lembra|lembre|lembrar|lembra-te|lembre-se|recorda|guarda|guarde|guardar|anota|anote|anotar|memoriza|memorize|regista|salva|salve)"
            r"(?: (?:que|de|disto|disso|isto|isso|est[ea]|ess[ea]|o|a|os|as|meu|minha|§q)(?!\w).*| ?:.*)?|nao (?:te |se )?esquecas?\b.*|"
            r"nao (?:te |se )?esqueca\b.*"
        ),
        "forget": (
            r"(?:esquece|esqueca|esquecer|esquece-te)(?: de)? (?:que|o que|tudo|o meu|a minha|os meus|as minhas|meu|minha|o nosso|a nossa|este facto)\b.*|"
            r"(?:apaga|apague|elimina) (?:as tuas|as suas|as|os|essa|a)\b.*(?:memoria|nota|recordaca?o)(?:s|es)?.*"
        ),
    },
    stems={
        "pin": r"fix|afix|pin(?:a|e)",
        "unpin": r"desafix|desfix|despin|(?:tir|remov).*pin",
        "react": r"reag|reaj|(?:poe|ponh|coloc|coloq|adicion|deix|da|de)\b.*(?:reacao|polegar|coracao|emoji)",
        "unreact": r"(?:tir|remov|apag|retir).*reacao",
        "send": r"envi|mand|public|publiq|escrev|diz|dig|anunci",
        "send_to": r"envi|mand|public|publiq|post|escrev|diz|dig|anunci|avis|inform",
        "reply": r"respond",
        "thread": r"topico|thread|fio",
        "rename": r"renome|nome|titulo",
        "archive": r"arquiv|fech",
        "unarchive": r"desarquiv|reabr",
        "lock": r"tranc|tranq|bloque",
        "unlock": r"destranc|destranq|desbloque",
        "slowmode": r"slow ?mode|modo lento",
        "edit": r"edit|alter|corri|mud|modific",
        "delete": r"apag|exclu|elimin|remov|delet",
        "remember": r"lembr|record|guard|anot|memori|regist|salv|esquec",
        "forget": r"esquec|(?:apag|elimin).*(?:memoria|nota|recorda)",
    },
)
