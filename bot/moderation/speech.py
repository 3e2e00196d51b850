"""Plain words as an order: read by a table (bot.moderation.phrases), in whole sentences, from the beginning.

Only the author's own words count: what is quoted, coded, struck or hidden is no request, and a name is none, whatever
it says. What is negated, supposed, conditional or reported does not begin as a request, or does not end as one: then
there is no order, and the message goes on to whoever answers it. A quotation may be a name or a reason, and no more.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from bot.moderation import spans
from bot.moderation.deeds import PURGE_MOST
from bot.moderation.office import PurgeWish
from bot.moderation.orders import REASON_MOST, Order
from bot.moderation.phrases import GRAMMARS
from bot.moderation.phrases.grammar import Grammar
from bot.moderation.slash import links, shaped
from bot.wording import plain_latin

MOST_CHARACTERS: Final = 600
"""Nobody asks for one thing in more."""

_HIDDEN: Final = re.compile(
    r"```.*?(?:```|\Z)|``.*?(?:``|\Z)|`[^`]*(?:`|\Z)|^[ \t]*>>>[ ].*\Z|^[ \t]*>[^\n]*"
    r"|\|\|.*?(?:\|\||\Z)|~~.*?(?:~~|\Z)",
    re.DOTALL | re.MULTILINE,
)
_QUOTED: Final = re.compile(r"\"([^\"\n]*)\"|“([^”\n]*)”|«([^»\n]*)»|(?<!\w)'([^'\n]*)'(?!\w)")
_OPEN: Final = re.compile(r"[\"“”«»]")
_MENTIONS: Final = (
    (re.compile(r"<@!?(\d{1,20})>"), r" §u\1 "),
    (re.compile(r"<#(\d{1,20})>"), r" §c\1 "),
    (re.compile(r"<@&(\d{1,20})>"), r" §r\1 "),
)
_URL: Final = re.compile(r"<?https?://\S+")
_DECORATION: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_SENTENCE: Final = re.compile(r"[^.!?\n]*[.!?\n]*")
_APOSTROPHES: Final = str.maketrans({"\u2018": "'", "\u2019": "'"})
_ID: Final = re.compile(r"\d{15,20}")


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody wrote to the bot. `reply_author`: who wrote the message that they reply to, `reply_link` where."""

    text: str
    own_id: int
    place_id: int
    reply_author: int | None = None
    reply_to: int | None = None
    reply_link: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """The order that was asked for; `listing`: which messages a purge is to list."""

    order: Order
    listing: PurgeWish | None = None


def hear(said: Said) -> Heard | None:
    """The order that the words ask for; None where they ask for none, or not plainly."""
    if len(said.text) > MOST_CHARACTERS or "§" in said.text:
        return None
    text, quotations = _own_words(said)
    for grammar in GRAMMARS:
        heard = _in_language(text, quotations, said, grammar)
        if heard is not None:
            return heard
    return None


def _own_words(said: Said) -> tuple[str, list[str]]:
    """The words with marks for mentions and quotations, without the first mention of the bot, which addresses it."""
    quotations: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quotations.append(next((each for each in found.groups() if each is not None), ""))
        return f" §q{len(quotations) - 1} "

    text = said.text.translate(_APOSTROPHES)
    text = _HIDDEN.sub(" §x ", text)
    text = _QUOTED.sub(keep, text)
    text = _OPEN.sub(" §x ", text)
    text = _URL.sub(" ", text)
    for pattern, mark in _MENTIONS:
        text = pattern.sub(mark, text)
    text = re.sub(rf"§u{said.own_id}(?!\d)", " ", text, count=1)
    text = plain_latin(_DECORATION.sub("", text)).strip(" \t\n,:;-")
    text = re.sub(r"[ \t]+", " ", text)
    # What hangs on a mention belongs to it.
    return re.sub(r"(§[ucr]\d+) (?=[:,;.!?]|'s\b)", r"\1", text), quotations


def _in_language(text: str, quotations: list[str], said: Said, grammar: Grammar) -> Heard | None:
    first, rest = _sentences(text)
    lowered = first.casefold()
    ends = lowered.rstrip()
    words = ends.rstrip(".!? \n")
    asked, words = _without_openings(words, grammar)
    if ends.endswith("?") and not asked:
        return None
    if grammar.retraction.search(rest.casefold()) or "§x" in first or "§u" in rest:
        return None
    words = grammar.politeness.sub("", words).rstrip(" ,!")
    for deed, pattern in grammar.compiled:
        found = pattern.match(words)
        if found is None:
            continue
        # What was written, and not in lower case, where it is kept; the lengths are the same but for rare letters.
        parts = {name: value for name, value in found.groupdict().items() if value}
        reason = parts.get("reason")
        if reason is not None and (grammar.doubt.search(reason) or "§u" in reason):
            return None
        name = parts.get("name")
        if name is not None and deed != "note" and grammar.doubt.search(name):
            return None
        original = {each: _original(first, parts[each], quotations) for each in ("reason", "name") if each in parts}
        return _order(Order(deed), parts, original, rest.strip(), said, grammar)
    return None


def _sentences(text: str) -> tuple[str, str]:
    """The first sentence, and what follows it."""
    found = _SENTENCE.match(text)
    length = found.end() if found is not None else 0
    return text[:length], text[length:]


def _without_openings(words: str, grammar: Grammar) -> tuple[bool, str]:
    """Whether one of the openings asks, and the words behind all of them."""
    asked = False
    while True:
        asked = asked or grammar.asks.match(words) is not None
        found = grammar.opening.match(words)
        if found is None or not found[0]:
            return asked, words
        words = words[found.end() :]


def _original(sentence: str, part: str, quotations: list[str]) -> str:
    """The part as it was written: with its capitals, mentions and quotations."""
    at = sentence.casefold().find(part)
    written = sentence[at : at + len(part)] if at >= 0 else part
    written = re.sub(r"§q(\d+)", lambda mark: quotations[int(mark[1])], written)
    written = re.sub(r"§u(\d+)", r"<@\1>", written)
    written = re.sub(r"§c(\d+)", r"<#\1>", written)
    return re.sub(r"§r(\d+)", r"<@&\1>", written).strip(" .,!")


def _order(
    order: Order, parts: dict[str, str], original: dict[str, str], rest: str, said: Said, grammar: Grammar
) -> Heard | None:
    """What the parts of a phrase make of the order; None where one of them points at nothing."""
    users: tuple[int, ...] = ()
    if "members" in parts:
        users = _users(parts["members"], said, grammar)
        if not users:
            return None
    reason = (original.get("reason") or rest or "")[:REASON_MOST].strip() or None
    evidence = links(said.text)
    if said.reply_link is not None and order.declared.target in ("member", "user"):
        evidence = (said.reply_link, *(each for each in evidence if each != said.reply_link))
    order = replace(order, users=users, reason=reason, evidence=evidence, place_id=_place(parts.get("channel")))
    if "role" in parts:
        order = replace(order, role_id=int(parts["role"][2:]))
    lasts = parts.get("lasts") or parts.get("lasts_late") or parts.get("span")
    if lasts is not None:
        order = replace(order, seconds=spans.read(lasts) or 0)
    elif order.deed == "slowmode":
        order = replace(order, seconds=0)
    if order.deed == "note":
        order = replace(order, reason=original.get("name"))
    elif "name" in original:
        order = replace(order, name=original["name"])
    if order.deed == "purge":
        return _purge(order, parts, said)
    return Heard(shaped(order))


def _purge(order: Order, parts: dict[str, str], said: Said) -> Heard | None:
    if "message" in parts:
        return None if said.reply_to is None else Heard(replace(order, messages=(said.reply_to,)))
    count = min(int(parts["count"]), PURGE_MOST)
    author_id = order.users[0] if order.users else None
    return None if count == 0 else Heard(replace(order, users=()), PurgeWish(count, author_id))


def _users(written: str, said: Said, grammar: Grammar) -> tuple[int, ...]:
    """The members that are named; empty where one of them cannot be known."""
    found = [int(each) for each in re.findall(r"§u(\d+)", written)]
    found += [int(each) for each in _ID.findall(re.sub(r"§u\d+", " ", written))]
    left = re.sub(r"§u\d+|\d{15,20}", " ", written)
    if any(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", left) for each in grammar.pronouns):
        if said.reply_author is None or said.reply_author == said.own_id:
            return ()
        found.append(said.reply_author)
    return tuple(dict.fromkeys(found))


def _place(channel: str | None) -> int | None:
    return int(channel[2:]) if channel is not None and channel.startswith("§c") else None
