"""The one small line that says what is done meanwhile, and since when, in the language that a guild wants.

The languages are those in which plain words are understood (bot.phrasings); any other is told in English.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Doing: TypeAlias = Literal["web", "remembering", "noting", "forgetting", "looking_back", "acting", "looking", "reading"]

# What the tools of a family do, by how their names begin; the longest that fits counts.
DOING: Final[Mapping[str, Doing]] = {
    "web_": "web",
    "memory_": "remembering",
    "memory_remember": "noting",
    "memory_forget": "forgetting",
    "recall_": "looking_back",
    "discord_": "acting",
    "discord_get_": "looking",
    "discord_list_": "looking",
    "discord_read_": "reading",
}


@dataclass(frozen=True, slots=True)
class Words:
    """How a language says it. `working` stands alone, or before what is done; `s` and `min` are short for the units."""

    working: str
    web: str
    remembering: str
    noting: str
    forgetting: str
    looking_back: str
    acting: str
    looking: str
    reading: str
    s: str = "s"
    min: str = "min"

    def of(self, doing: Doing) -> str:
        """The words for what is done."""
        said: str = getattr(self, doing)
        return said


ENGLISH: Final = Words(
    "Working on it",
    "searching the web",
    "looking through what I remember",
    "noting something",
    "forgetting something",
    "looking up what I did before",
    "doing something here",
    "looking around here",
    "reading messages",
)

WORDS: Final[Mapping[str, Words]] = {
    "en": ENGLISH,
    "de": Words(
        "Ich arbeite daran",
        "ich suche im Web",
        "ich sehe nach, woran ich mich erinnere",
        "ich merke mir etwas",
        "ich vergesse etwas",
        "ich sehe nach, was ich früher getan habe",
        "ich tue hier etwas",
        "ich sehe mich hier um",
        "ich lese Nachrichten",
    ),
    "es": Words(
        "Estoy en ello",
        "busco en la web",
        "repaso lo que recuerdo",
        "tomo nota",
        "olvido algo",
        "miro lo que hice antes",
        "hago algo aquí",
        "miro qué hay aquí",
        "leo mensajes",
    ),
    "fr": Words(
        "J'y travaille",
        "je cherche sur le web",
        "je parcours mes souvenirs",
        "je note quelque chose",
        "j'oublie quelque chose",
        "je regarde ce que j'ai fait avant",
        "je fais quelque chose ici",
        "je regarde ce qu'il y a ici",
        "je lis des messages",
    ),
    "it": Words(
        "Ci sto lavorando",
        "cerco sul web",
        "scorro quello che ricordo",
        "prendo nota",
        "dimentico qualcosa",
        "guardo che cosa ho fatto prima",
        "faccio qualcosa qui",
        "mi guardo intorno qui",
        "leggo i messaggi",
    ),
    "nl": Words(
        "Ik ben ermee bezig",
        "ik zoek op het web",
        "ik kijk na wat ik me herinner",
        "ik noteer iets",
        "ik vergeet iets",
        "ik kijk na wat ik eerder deed",
        "ik doe hier iets",
        "ik kijk hier rond",
        "ik lees berichten",
    ),
    "pt": Words(
        "Estou a tratar disso",
        "procuro na web",
        "vejo o que recordo",
        "tomo nota",
        "esqueço algo",
        "vejo o que fiz antes",
        "faço algo aqui",
        "vejo o que há aqui",
        "leio mensagens",
    ),
    "ru": Words(
        "Работаю над этим",
        "ищу в интернете",
        "просматриваю, что помню",
        "записываю",
        "забываю",
        "смотрю, что делал раньше",
        "делаю кое-что здесь",
        "осматриваюсь здесь",
        "читаю сообщения",
        "сек",
        "мин",
    ),
    "ja": Words(
        "作業中です",
        "ウェブを検索しています",
        "覚えていることを調べています",
        "書き留めています",
        "忘れるようにしています",
        "以前にしたことを調べています",
        "ここで作業しています",
        "ここの様子を見ています",
        "メッセージを読んでいます",
        "秒",
        "分",
    ),
    "zh": Words(
        "正在处理",
        "正在搜索网页",
        "正在查看我记得的内容",
        "正在记下",
        "正在忘记",
        "正在查看我之前做过的事",
        "正在这里操作",
        "正在查看这里的情况",
        "正在阅读消息",
        "秒",
        "分钟",
    ),
}


def status_line(tool: str | None, seconds: float, language: str | None = None) -> str:
    """One small line: what is done, and since when. `language` is a BCP 47 tag; its first part counts."""
    words = WORDS.get((language or "en").partition("-")[0].lower(), ENGLISH)
    since = f"{seconds:.0f} {words.s}" if seconds < 120 else f"{seconds / 60:.0f} {words.min}"
    fitting = [prefix for prefix in DOING if tool is not None and tool.startswith(prefix)]
    doing = f": {words.of(DOING[max(fitting, key=len)])}" if fitting else ""
    return f"-# {words.working}{doing} ({since})"
