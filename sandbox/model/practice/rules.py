"""Two dozen everyday requests, each known by a few wordings.

The first rule that fits wins, so that the special stand before the general.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox.model.practice import deeds
from sandbox.model.practice.situation import Situation
from sandbox.model.turn import Completion

_Rule = Callable[[Situation, "re.Match[str]"], Completion | None]

_PLEASE = r"^\W*(?:(?:hey|ok|okay|now|then|and|please|muninn|can you|could you|would you|will you)\W+)*"
_OWN = r"(?:your|that|this|the)(?: (?:last|own|previous))* (?:message|answer|reply|post)"
_WHERE = r"(?P<where><#\d+>|#[\w-]+)"

RULES: tuple[tuple[str, re.Pattern[str], _Rule], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.DOTALL), rule)
    for name, pattern, rule in (
        (
            "react",
            r"\breact(?: to (?:this|it|me|my message)| (?:to|on) (?P<target>that|the|his|her|their)\b[^:]*?)?"
            r"(?: with)?:? +"
            r"(?P<emoji><a?:\w+:\d+>|\S+)",
            deeds.react,
        ),
        ("pin", rf"{_PLEASE}(?P<un>un-?)?pin\b", deeds.pin),
        (
            "edit own",
            rf"{_PLEASE}(?:edit|change|correct) {_OWN} (?:to|into|so that it says):? *(?P<words>.+)",
            deeds.edit_own,
        ),
        ("delete own", rf"{_PLEASE}(?:delete|remove|take back) {_OWN}", deeds.delete_own),
        (
            "unreact",
            r"\b(?:remove|take|undo|withdraw|delete)(?: back)? your (?:reaction )?"
            r"(?P<emoji><a?:\w+:\d+>|[^\sA-Za-z]+)?(?: reaction)?(?: back| away)?",
            deeds.unreact,
        ),
        (
            "thread",
            rf"{_PLEASE}(?:create|start|open|make|begin) (?:a |an |the )?(?:new )?thread"
            r"(?P<start> (?:from|on|for|under) (?:this|that|the)(?: message)?)?"
            r"(?:,? (?:called|named|about|with the name|:) ?(?P<name>.+))?",
            deeds.thread,
        ),
        ("rename thread", rf"{_PLEASE}rename (?:this |the )?thread (?:to|into|as)?:? *(?P<name>.+)", deeds.rename),
        (
            "shut thread",
            rf"{_PLEASE}(?P<what>archive|close|un-?archive|re-?open|lock|unlock) (?:this|the) thread",
            deeds.shut,
        ),
        ("threads", r"\b(?:list|show|which|what)\b.{0,20}?(?P<archived>archived )?\bthreads\b", deeds.threads),
        (
            "reply",
            rf"{_PLEASE}(?:reply|answer|respond) to (?:this|that|the|him|her|them|it|https?://\S+|\d{{15,20}})\b"
            r"(?: message)?"
            r"(?: with| saying|:|,)*:? +(?P<words>.+)",
            deeds.reply,
        ),
        (
            "send",
            rf"{_PLEASE}(?:send|post|write|say|announce)\b:? *(?P<words>.+?) (?:to|in|into|on) (?:the channel )?"
            rf"{_WHERE}",
            deeds.send,
        ),
        (
            "send there",
            rf"{_PLEASE}(?:tell|post in|write in|say in|send to) {_WHERE}(?: that|:)? *(?P<words>.+)",
            deeds.send,
        ),
        (
            "web",
            r"\b(?:(?:search|look|research)(?: up| it up)?(?: on| in)? the (?:web|internet)|search online|google)\b"
            r"(?: for)?:?(?P<query>.*)",
            deeds.web,
        ),
        ("web", r"\b(?:look up|research) (?P<query>.+?)(?: (?:online|on the web|on the internet))\b", deeds.web),
        (
            "activity",
            r"\bwhat (?:did|have|were) you (?:do|done|doing|find|found)\b"
            r"(?: (?:last|before|here|today|lately|earlier))*(?: about (?P<query>.+))?",
            deeds.activity,
        ),
        (
            "remember",
            rf"{_PLEASE}(?:remember|note|keep in mind|don'?t forget|make a note|save)(?: down)?(?: that|:)? "
            r"(?!(?:what|when|who|anything)\b)(?P<content>.+[^?])$",
            deeds.remember,
        ),
        ("forget", rf"{_PLEASE}forget(?: about| that|:)? (?!(?:it|that)\W*$)(?P<content>.+)", deeds.forget),
        (
            "summarise",
            r"\b(?:summari[sz]e|sum up|tl;?dr|catch me up)\b(?:.*?\b(?P<limit>\d{1,3}) messages)?"
            r"(?:.*?(?P<where><#\d+>|#[\w-]+))?",
            deeds.read,
        ),
        ("who said", r"\bwho (?:said|wrote|mentioned|told us|posted)\b(?: that)?(?P<query>.*)", deeds.search),
        (
            "search",
            r"\bwhat (?:did|have|has) .{1,40}?\b(?:say|said|write|written|tell|told)\b.*?\babout\b(?P<query>.*)",
            deeds.search,
        ),
        ("search", r"\bwhat do you (?:remember|know|recall)\b(?: about)?(?P<query>.*)", deeds.search),
        ("search", r"\b(?:what|where|which [\w ]{1,30}?) (?:do|did|is|are) (?:i|my)\b(?P<query>.*)", deeds.search),
        ("search", r"\b(?:do you )?(?:remember|recall)\b(?: anything)?(?: about)?(?P<query>.*)", deeds.search),
        (
            "read",
            r"\b(?:read|show me|what(?:'s| is)? (?:new|up|going on|happening))\b(?:.*?\b(?P<limit>\d{1,3}) messages)?"
            r"(?:.*?(?P<where><#\d+>|#[\w-]+)|.*?\b(?:this channel|here|messages))",
            deeds.read,
        ),
        ("show", r"\b(?:show|quote|get|read)\b (?:me )?(?:this|that|the)?\s*message\b", deeds.show),
        ("channels", r"\b(?:list|show|which|what)\b.{0,20}?\bchannels\b", deeds.channels),
        ("who am i", r"\bwho am i\b", deeds.who_am_i),
        ("self", r"\b(?:who|what) are you\b|\bare you (?:an? )?(?:ai|bot|human|real|language model)\b", deeds.self),
        ("member", r"\b(?:who is|who's|tell me about|when did)\b(?: (?P<name>@?[\w .-]+))?", deeds.member),
        ("search", r"\b(?:search|find|look up|look for)\b(?: for)?:?(?P<query>.*)", deeds.search),
        ("time", r"\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b|\bwhat time is it\b", deeds.time),
        ("help", r"^\W*(?:help|what can you do|commands)\b", deeds.help),
        ("thanks", r"^\W*(?:thanks?|thank you|thx|cheers)\b", deeds.thanks),
        ("greet", r"^\W*(?:hi|hello|hey|hej|hallo|moin|good (?:morning|day|evening)|greetings)\b", deeds.greet),
    )
)


def rule_for(words: str) -> str | None:
    """The name of the first rule whose pattern fits; for tests and for reports."""
    return next((name for name, pattern, _ in RULES if pattern.search(words)), None)


def decide(now: Situation) -> Completion:
    """What the first fitting rule makes of the request."""
    for _, pattern, rule in RULES:
        found = pattern.search(now.said.words)
        made = rule(now, found) if found is not None else None
        if made is not None:
            return made
    return deeds.fallback(now)
