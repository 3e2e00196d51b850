"""What a message asks of memory, read without a model: is there anything to look for, by which words, of which time?

small talk   "ok", "thanks", a lone emoji: nothing is looked for
vague        "ok, and what do you think?": looked for by what the conversation is about
plain        everything else: by its own words
"""

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal

from memory.candidates import Span
from memory.dates import resolve
from memory.ids import UserId, time_snowflake

QUESTION_CHARS: Final = 500
"""What is looked for at once; of a longer message its beginning and its end."""

Sort = Literal["small_talk", "vague", "plain"]

# Words that ask for nothing by themselves: assent, thanks and greetings.
_CHAT: Final = frozenset(
    (
        "ok okay k kk yes yep yeah no nope nah thanks thank thx ty cheers cool nice great good lol lmao haha hehe "
        "hi hello hey morning evening night bye please well sure right fine hmm wow awesome perfect amazing done "
        "sorry welcome everyone guys much very so oh ah danke ja nein hallo gut guten tag morgen bitte klar super "
        "alles spasibo спасибо да нет привет хорошо ладно ок пожалуйста пока gracias si sí hola bueno merci oui "
        "non salut bonjour obrigado شكرا نعم لا مرحبا حسنا تمام ありがとう ありがとうございます はい いいえ うん こんにちは おはよう 了解 谢谢 謝謝 好的 "
        "好 你好 嗯 是的 收到 감사합니다 고마워 고마워요 네 아니요 안녕 안녕하세요 ㅋㅋ ㅎㅎ "
        "धन्यवाद शुक्रिया नमस्ते ठीक हाँ नहीं अच्छा ধন্যবাদ নমস্কার হ্যাঁ না ঠিক আছে நன்றி வணக்கம் சரி ఆమ్ ధన్యవాదాలు "
        "ขอบคุณ ขอบคุณครับ ขอบคุณค่ะ สวัสดี โอเค ครับ ค่ะ תודה רבה שלום כן לא בסדר אוקיי ευχαριστώ ναι όχι γεια "
        "καλημέρα οκ εντάξει მადლობა გამარჯობა კი არა შენ շնորհակալություն բարեւ այո ոչ አመሰግናለሁ ሰላም እሺ አዎ "
        "ممنون مرسی سلام بله باشه شکریہ جی дякую привіт так ні добре teşekkürler tamam evet hayır merhaba cảm ơn "
        "vâng chào dziękuję tak cześć hvala tack ja nej grazie ciao sì obrigada olá sim não terima kasih iya"
    ).split()
)

# Words that point at what was said before, or only hold a question together.
_POINTING: Final = frozenset(
    (
        "a an the and or but then also now just again still more else other i me my we us our you your he him his "
        "she her it its they them their this that these those is are was were be do does did have has had can "
        "could would should will shall what which who whom whose why how where when if of to in on at for from "
        "with about as not any some one ones there here think thoughts mean say said recommend suggest advise "
        "tell explain elaborate continue go let lets know like want need s m re ve ll d t was wie wer wo warum "
        "wieso und oder aber dann du ich er sie es wir ihr das die der dem den ein eine dazu davon meinst denkst "
        "empfiehlst sagst mehr noch mal doch auch что как кто где почему а и но тогда ты вы он она оно мы они это "
        "то об этом думаешь посоветуешь ещё еще qué que cómo quién por y o pero tú piensas esto eso それで どう どう思う "
        "どう思いますか なんで なぜ それ これ あれ もっと 那 那么 你觉得呢 怎么样 为什么 这个 那个 그래서 어떻게 어떻게생각해 왜 그거 이거 ماذا لماذا كيف وما رأيك هذا "
        "ذلك happened happen happens decide decided agree agreed"
    ).split()
)
_ASKING: Final = re.compile(
    r"[?\uff1f\u061f]|\b(?:what|which|why|how|who|recommend|suggest|tell|explain|continue|elaborate|go on|was|wie|"
    r"warum|erzähl|weiter|что|как|почему|расскажи|qué|cómo|pourquoi|comment)\b|どう|なぜ|怎么|为什么|어떻게|왜|ماذا|كيف|رأيك",
    re.IGNORECASE,
)
_MARKS: Final = "".join(chr(code) for code in range(0x300, 0x3100) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
_WORD: Final = re.compile(rf"[\w{_MARKS}]+")
"""With the marks that are part of a word in Devanagari, Bengali, Tamil, Thai and others."""

_MARKUP: Final = re.compile(r"<(?:@[!&]?|#|a?:\w+:)(\d+)>|https?://\S+")
_MENTION: Final = re.compile(r"<@!?(\d+)>")

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january januar janvier enero январе января январь",
            "february februar février febrero феврале февраля февраль",
            "march märz mars marzo марте марта март",
            "april avril abril апреле апреля апрель",
            "may mai mayo мае мая май",
            "june juni juin junio июне июня июнь",
            "july juli juillet julio июле июля июль",
            "august août agosto августе августа август",
            "september septembre septiembre сентябре сентября сентябрь",
            "october oktober octobre octubre октябре октября октябрь",
            "november novembre noviembre ноябре ноября ноябрь",
            "december dezember décembre diciembre декабре декабря декабрь",
        ),
        start=1,
    )
    for name in names.split()
}
_IN: Final = "in|during|of|since|from|by|im|seit|en|au|в|с|за"
_BY_NAME: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_SPANS: Final = re.compile(
    r"(?P<since>\d{4}-\d\d-\d\d)/(?P<until>\d{4}-\d\d-\d\d)"
    r"|(?P<day>\d{4}-\d\d-\d\d)"
    r"|(?P<month>(?:19|20)\d\d-\d\d)\b"
    rf"|\b(?P<dom>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<dom_month>{_BY_NAME})\b(?:,?\s+(?P<dom_year>(?:19|20)\d\d))?"
    rf"|\b(?P<mdo_month>{_BY_NAME})\s+(?P<mdo>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<mdo_year>(?:19|20)\d\d))?"
    rf"|\b(?P<named>{_BY_NAME})\b,?\s+(?P<named_year>(?:19|20)\d\d)\b"
    rf"|\b(?:{_IN})\s+(?P<bare>{_BY_NAME})\b(?!,?\s+\d)"
    r"|(?:(?P<cjk_year>(?:19|20)\d\d)年)?(?P<cjk>\d{1,2})(?:月|월)"
    r"|\b(?P<ago>\d{1,3}|a|an|one|two|three|four|five|six)\s+(?P<unit>day|week|month|year)s?\s+ago\b"
    rf"|\b(?:{_IN})\s+(?P<year>(?:19|20)\d\d)\b|\b(?P<year_ends>(?:19|20)\d\d)\b(?=\s*\?|年)",
    re.IGNORECASE,
)
_NUMBERS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_UNITS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_BEFORE_THAT: Final = re.compile(
    r"\b(?:before (?:that|this|then)|earlier than that|davor|vorher|до этого|antes de eso|avant cela)\b"
    r"|その前|在那之前|그 전에",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Read:
    """A message as memory is asked by it. `text` is looked for; `mentioned` are whom it mentions; `span` is the time
    that it names, and `only_span` whether it names nothing else; `words` are its words in lower case."""

    sort: Sort
    text: str
    words: tuple[str, ...]
    mentioned: tuple[UserId, ...]
    span: Span | None
    only_span: bool


def read(message: str, now: datetime, *, about: str = "") -> Read:
    """Read a message at `now` (UTC). `about`: what the conversation was about before it, for one that is vague."""
    own = shortened(_MARKUP.sub(" ", message))
    mentioned = tuple(dict.fromkeys(UserId(int(found)) for found in _MENTION.findall(message)))
    span, rest = span_in(own, now.date())
    if _BEFORE_THAT.search(own) and (named := span_in(about, now.date())[0]) is not None:
        span = Span(0, named.since)
    content = content_words(rest)
    asks = _ASKING.search(own) is not None
    sort: Sort = "plain" if content or span or mentioned else "vague" if asks and about.strip() else "small_talk"
    text = shortened(_MARKUP.sub(" ", about)) if sort == "vague" else own
    return Read(sort, text, tuple(words_of(text)), mentioned, span, span is not None and not content and not mentioned)


def content_words(text: str) -> list[str]:
    """The words of a text that are more than small talk, pointing or grammar."""
    said = words_of(_MARKUP.sub(" ", text))
    return [word for word in said if word not in _CHAT and word not in _POINTING]


def words_of(text: str) -> list[str]:
    """The words of a text in their order, in lower case, each once."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def shortened(text: str) -> str:
    """At most so much as is looked for: a long message says what it wants at its beginning or at its end."""
    flat = " ".join(text.split())
    if len(flat) <= QUESTION_CHARS:
        return flat
    return f"{flat[: QUESTION_CHARS // 2 - 1]} {flat[-(QUESTION_CHARS // 2) :]}"


def span_in(text: str, today: date) -> tuple[Span | None, str]:
    """The span of time that a text names, as seen from `today` in UTC, and the text without it."""
    resolved = resolve(text, today)
    found = _SPANS.search(resolved)
    days = None if found is None else _days(found, today)
    if found is None or days is None:
        return None, resolved
    first, last = days
    since, until = (datetime.combine(day, time(), UTC) for day in (first, last + timedelta(days=1)))
    return Span(time_snowflake(since), time_snowflake(until)), resolved[: found.start()] + " " + resolved[found.end() :]


def _days(found: re.Match[str], today: date) -> tuple[date, date] | None:
    """The first and last day of what was found; None for a date that there is not."""
    given = {name: value for name, value in found.groupdict().items() if value is not None}
    try:
        match given:
            case {"since": since, "until": until}:
                return date.fromisoformat(since), date.fromisoformat(until)
            case {"day": day}:
                return _one(date.fromisoformat(day))
            case {"month": month}:
                return _month(int(month[:4]), int(month[5:]))
            case {"dom": day, "dom_month": name}:
                return _day(given.get("dom_year"), _MONTHS[name.lower()], int(day), today)
            case {"mdo": day, "mdo_month": name}:
                return _day(given.get("mdo_year"), _MONTHS[name.lower()], int(day), today)
            case {"named": name, "named_year": year}:
                return _month(int(year), _MONTHS[name.lower()])
            case {"bare": name}:
                return _past_month(_MONTHS[name.lower()], today)
            case {"cjk": month}:
                number, year = int(month), given.get("cjk_year")
                return _month(int(year), number) if year else _past_month(number, today)
            case {"ago": number, "unit": unit}:
                return _ago(_NUMBERS.get(number.lower()) or int(number), _UNITS[unit.lower()], today)
            case _:
                year = int(given.get("year") or given["year_ends"])
                return date(year, 1, 1), date(year, 12, 31)
    except (ValueError, OverflowError):
        return None


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _past_month(month: int, today: date) -> tuple[date, date]:
    """The last time that there was this month, or the one that it is."""
    return _month(today.year if month <= today.month else today.year - 1, month)


def _day(year: str | None, month: int, day: int, today: date) -> tuple[date, date]:
    if year:
        return _one(date(int(year), month, day))
    found = date(today.year, month, day)
    return _one(found if found <= today else date(today.year - 1, month, day))


def _one(day: date) -> tuple[date, date]:
    return day, day


def _ago(number: int, unit: int, today: date) -> tuple[date, date]:
    """Who says "two weeks ago" does not mean the very day: half a unit around it."""
    middle, around = today - timedelta(days=number * unit), timedelta(days=unit // 2)
    return middle - around, middle + around
