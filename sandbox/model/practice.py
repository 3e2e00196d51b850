"""The practice model: fixed rules instead of a language model, so that Muninn can be tried out without a key.

It says of itself what it is, uses Muninn's tools like a real model would, and reports what they answer. The same
request always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.model.fields import Json
from sandbox.model.request import ChatRequest, Message
from sandbox.model.specimen import specimen
from sandbox.model.turn import Completion, call, say, say_json

STAND_IN = "I am the practice model: a stand-in with a few fixed rules, not a language model."
HOW_TO_REPLACE = (
    "For a real one set OPENAI_API_KEY, or MUNINN_OPENAI_BASE_URL, MUNINN_MODEL and MUNINN_MODEL_CONTEXT "
    "(Ollama, vLLM, llama.cpp, OpenRouter), and start again."
)
_CAN = (
    "I can: greet you, search what was said here (`what did we say about atlas?` or `search atlas`) "
    "and the web (`search the web for herons`), "
    "react to your message (`react with 👍`), tell who you are to me (`who am I?`), and show this (`help`)."
)
_LONGEST_QUOTE = 200
_MOST_FOUND = 5


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said to the model: the words without labels and mentions, and the speaker's name where it is told."""

    words: str
    speaker: str | None


def practice(request: ChatRequest) -> Completion:
    """The practice model's turn for `request`: a tool call, a report on tool results, or a plain answer."""
    if request.response_format.kind == "json_schema":
        return say_json(specimen(request.response_format.schema or {}))
    if request.response_format.kind == "json_object":
        return say_json({})
    results = _fresh_results(request)
    if results:
        return say("\n".join(_report(request, result) for result in results))
    said = heard(request)
    for pattern, rule in _RULES:
        found = pattern.search(said.words)
        if found is not None:
            return rule(request, said, found)
    return _fallback(said)


def heard(request: ChatRequest) -> Heard:
    """Read the last request of a person, with the labels, quotation marks and mentions taken off.

    Muninn puts a heading `[message 1, 2026-01-02 03:04 UTC, "Ada" (id 5)]` over the message that is to be answered and
    `> ` before each of its lines; a plain text, as other clients send it, is taken as it is.
    """
    last = next((message for message in reversed(request.messages) if _is_request(message)), None)
    if last is None:
        return Heard("", None)
    text, speaker = last.text, last.name
    headings = list(_HEADING.finditer(text))
    if headings:
        speaker = headings[-1]["name"]
        lines = text[headings[-1].end() :].splitlines()
        text = "\n".join(line[1:].strip() for line in lines if line.startswith(">"))
        text = "" if text == "(no text)" else text
    return Heard(" ".join(_MENTION.sub(" ", text).split()), speaker)


_HEADING = re.compile(
    r"^\[message \d+, [^,\]]+ UTC, \"(?P<name>[^\]\"]*)\" \(id \d+\)[^\]]*\]$",
    re.MULTILINE,
)
_MENTION = re.compile(r"<@[!&]?\d+>|@muninn\b", re.IGNORECASE)
_NOTICE = re.compile(r"\(.*\)", re.DOTALL)  # what Muninn itself adds for the model stands in round brackets


def _is_request(message: Message) -> bool:
    return message.role == "user" and _NOTICE.fullmatch(message.text.strip()) is None


def _fresh_results(request: ChatRequest) -> list[Message]:
    """The results of the calls made last for the request that is being answered, notices after them left out."""
    results: list[Message] = []
    for message in reversed(request.messages):
        if message.role == "tool":
            results.insert(0, message)
        elif results or message.role != "user" or _is_request(message):
            break
    return results


# --- what it does with words -----------------------------------------------------------------------------------------


def _search(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    query = found["query"].strip(" \t?!.\"'`“”„«»")
    if not query:
        return say(f"What shall I search for? Try `search atlas`. {STAND_IN}")
    if "memory_search" not in request.tool_names:
        return say(f"I would search for “{query}”, but I am not offered the search here. {STAND_IN}")
    return call("memory_search", query=query)


def _research(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    query = found["query"].strip(" \t?!.\"'`“”„«»")
    if not query:
        return say(f"What shall I search the web for? Try `search the web for herons`. {STAND_IN}")
    if "web_search" not in request.tool_names:
        return say(f"I would search the web for “{query}”, but I am not offered that here. {STAND_IN}")
    return call("web_search", query=query)


def _react(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    emoji = found["emoji"].strip("`\"'“”")
    if "discord_react" not in request.tool_names:
        return say(f"I would react with {emoji}, but I am not offered reactions here. {STAND_IN}")
    return call("discord_react", emoji=emoji)


def _who(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    if said.speaker is None:
        return say(f"I cannot tell who you are: your name did not reach me. {STAND_IN}")
    return say(f"You are {said.speaker}, as Discord tells it. {STAND_IN}")


def _help(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    return say(f"{STAND_IN}\n{_CAN}\n{HOW_TO_REPLACE}")


def _greet(request: ChatRequest, said: Heard, found: re.Match[str]) -> Completion:
    name = f", {said.speaker}" if said.speaker is not None else ""
    return say(f"Hello{name}! {STAND_IN} Say `help` to see what I can do.")


def _fallback(said: Heard) -> Completion:
    if not said.words:
        return say(f"I got no words from you. {STAND_IN} Say `help` to see what I can do.")
    quote = said.words if len(said.words) <= _LONGEST_QUOTE else f"{said.words[:_LONGEST_QUOTE]}…"
    return say(f"You said: “{quote}”. {STAND_IN} I have no rule for that; say `help` to see my rules. {HOW_TO_REPLACE}")


_Rule = Callable[[ChatRequest, Heard, "re.Match[str]"], Completion]
_RULES: tuple[tuple[re.Pattern[str], _Rule], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), rule)
    for pattern, rule in (
        (r"\breact(?: to (?:this|that|it|me|my message))?(?: with)?:? +(?P<emoji><a?:\w+:\d+>|\S+)", _react),
        (r"\bwhat (?:did|have|has) .{1,40}?\b(?:say|said|write|written|tell|told)\b.*?\babout\b(?P<query>.*)", _search),
        (
            r"\b(?:search|look|research)(?: up| it up)?(?: on| in)? the (?:web|internet)\b(?: for)?:?(?P<query>.*)",
            _research,
        ),
        (r"\b(?:do you )?(?:remember|recall)\b(?: anything)?(?: about)?(?P<query>.*)", _search),
        (r"\b(?:search|find|look up|look for)\b(?: for)?:?(?P<query>.*)", _search),
        (r"\bwho am i\b", _who),
        (r"^\W*(?:help|what can you do|commands)\b", _help),
        (r"^\W*(?:hi|hello|hey|hej|hallo|moin|good (?:morning|day|evening)|greetings)\b", _greet),
    )
)


# --- what it says of tool results ------------------------------------------------------------------------------------


def _report(request: ChatRequest, result: Message) -> str:
    try:
        made = request.call_of(result)
    except KeyError:
        return "I got a result for a call that I do not know."
    answer = result.json
    if not isinstance(answer, dict):
        return f"`{made.name}` answered something that I cannot read."
    if answer.get("ok") is not True:
        return f"`{made.name}` did not work: {_failure(answer)}"
    if made.name == "memory_search":
        return _report_found(str(made.arguments.get("query", "")), answer)
    if made.name == "web_search":
        return _report_pages(str(made.arguments.get("query", "")), answer)
    if made.name == "discord_react":
        return f"I reacted with {made.arguments.get('emoji', '')}."
    return f"`{made.name}` is done."


def _report_found(query: str, answer: dict[str, Json]) -> str:
    found = answer.get("found")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    where = answer.get("searched")
    place = where if isinstance(where, str) else "this place"
    if not rows:
        why = answer.get("why_empty")
        return f"I searched {place} for “{query}” and found nothing{f': {why}' if isinstance(why, str) else ''}."
    lines = [_quote(row) for row in rows[:_MOST_FOUND]]
    matched = answer.get("matched")
    total = matched if isinstance(matched, int) else len(rows)
    more = [f"and {total - len(lines)} more."] if total > len(lines) else []
    count = "1 message" if total == 1 else f"{total} messages"
    return "\n".join([f"I searched {place} for “{query}” and found {count}:", *lines, *more])


def _report_pages(query: str, answer: dict[str, Json]) -> str:
    pages = answer.get("pages")
    rows = [row for row in pages if isinstance(row, dict)] if isinstance(pages, list) else []
    if not rows:
        return f"I searched the web for “{query}” and found nothing."
    lines = [f"- {row.get('title')} (<{row.get('url')}>, fetched {row.get('fetched')}): {_short(row)}" for row in rows]
    return "\n".join([f"I searched the web for “{query}” and found:", *lines])


def _short(row: dict[str, Json]) -> str:
    flat = " ".join(str(row.get("text") or "?").split())
    return flat if len(flat) <= _LONGEST_QUOTE else f"{flat[:_LONGEST_QUOTE]}…"


def _quote(row: dict[str, Json]) -> str:
    author, at = (str(row.get(name) or "?") for name in ("author", "at"))
    return f"- {author}, {at[:16].replace('T', ' ')}: {_short(row)}"


def _failure(answer: dict[str, Json]) -> str:
    match answer.get("error"):
        case {"message": str(message)}:
            return message
        case {"code": str(code)}:
            return code
        case _:
            return "no reason was given."
