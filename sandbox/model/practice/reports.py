"""What tools answered, in plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.model.fields import Json
from sandbox.model.practice.rules import rule_for
from sandbox.model.practice.situation import Situation
from sandbox.model.practice.wording import short
from sandbox.model.request import Message, ToolCall

_MOST_SHOWN = 5
_MOST_LISTED = 25
_ASKED = "I have put the question to you with a button: press it, and it is done."
# Failures whose own words are for the model, and what they mean for a person.
_FAILURES = {
    "confirmation_needed": _ASKED,
    "unknown": "it is not certain whether it was done. Please look yourself.",
    "memory_unavailable": "the journal cannot be searched now, so I do not know whether there is anything.",
}
# From here on a failure's words tell the model what to do.
_FOR_THE_MODEL = (" Say so", " Do not call", " Say that", " Then say", " Ask the member")

_Report = Callable[[Situation, ToolCall, Mapping[str, Json]], str]


def report(now: Situation, result: Message) -> str:
    """One tool's answer. Empty because there is nothing and empty because something failed are told apart."""
    try:
        made = now.request.call_of(result)
    except KeyError:
        return "I got a result for a call that I do not know."
    answer = result.json
    if not isinstance(answer, dict):
        return f"`{made.name}` answered something that I cannot read."
    if answer.get("ok") is not True:
        return _failed(made, answer)
    return _REPORTS.get(made.name, _plain)(now, made, answer)


def _failed(made: ToolCall, answer: Mapping[str, Json]) -> str:
    error = answer.get("error")
    fields = error if isinstance(error, dict) else {}
    code, message = str(fields.get("code") or ""), str(fields.get("message") or "")
    if code == "confirmation_needed":
        return _ASKED
    for mark in _FOR_THE_MODEL:
        message = message.split(mark, 1)[0]
    return f"`{made.name}` did not work: {_FAILURES.get(code) or message or code or 'no reason was given.'}"


def _plain(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rest = {name: value for name, value in answer.items() if name not in ("ok", "state")}
    if not rest:
        return f"`{made.name}` is done."
    return f"`{made.name}` answered: {short(', '.join(f'{name} {value}' for name, value in rest.items()))}."


def _found(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    query = str(made.arguments.get("query", ""))
    rows = _rows(answer, "found")
    where = answer.get("searched")
    place = where if isinstance(where, str) else "this place"
    if not rows:
        why = answer.get("why_empty")
        return f"I searched {place} for “{query}” and found nothing{f': {why}' if isinstance(why, str) else ''}."
    if rule_for(now.said.words) == "who said":
        first = rows[0]
        return f"{_text(first, 'author')} did, {_when(first)}: {short(_text(first, 'text'))}"
    lines = [_quote(row) for row in rows[:_MOST_SHOWN]]
    matched = answer.get("matched")
    total = matched if isinstance(matched, int) else len(rows)
    more = [f"and {total - len(lines)} more."] if total > len(lines) else []
    count = "1 message" if total == 1 else f"{total} messages"
    return "\n".join([f"I searched {place} for “{query}” and found {count}:", *lines, *more])


def _read(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rows = [row for row in _rows(answer, "messages") if not row.get("is_the_message_you_answer")]
    if not rows:
        return "There is nothing to read."
    if rule_for(now.said.words) != "summarise":
        return "\n".join([f"The last {len(rows)}:", *(_quote(row) for row in rows[-2 * _MOST_SHOWN :])])
    rows = [row for row in rows if row.get("author_kind") != "you"] or rows
    spoke: dict[str, int] = {}
    for row in rows:
        spoke[_text(row, "author")] = spoke.get(_text(row, "author"), 0) + 1
    who = ", ".join(f"{name} ({count})" for name, count in sorted(spoke.items(), key=lambda each: -each[1]))
    longest = sorted(rows, key=lambda row: -len(_text(row, "text")))[:_MOST_SHOWN]
    lines = [_quote(row) for row in rows if row in longest]
    return "\n".join(
        [f"{len(rows)} messages, by {who}. The longest of them, which is all a stand-in can judge:", *lines]
    )


def _message(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    row = answer.get("message")
    return _quote(row) if isinstance(row, dict) else "There is no such message."


def _channels(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rows = _rows(answer, "channels")
    names = [f"<#{_text(row, 'id')}>" if row.get("id") else _text(row, "name") for row in rows[:_MOST_LISTED]]
    return f"You and I both see {len(rows)} channels: {', '.join(names)}." if rows else "I see no channels here."


def _threads(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rows = _rows(answer, "threads")
    if not rows:
        return "There are no such threads."
    return "\n".join(
        ["The threads here:", *(f"- <#{_text(row, 'id')}> {_text(row, 'name')}" for row in rows[:_MOST_LISTED])]
    )


def _member(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    roles = answer.get("roles")
    held = ", ".join(map(str, roles)) if isinstance(roles, list) and roles else "none"
    who = "You are" if "user" not in made.arguments else "That is"
    joined = f", here since {answer['joined']}" if answer.get("joined") else ""
    owner = ", and the owner" if answer.get("owner") else ""
    return f"{who} {_text(answer, 'display_name')} ({_text(answer, 'name')}), roles: {held}{joined}{owner}."


def _pages(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rows, query = _rows(answer, "pages"), made.arguments.get("query", "")
    if not rows:
        return f"I searched the web for “{query}” and found nothing."
    lines = [
        f"- {_text(row, 'title')} (<{_text(row, 'url')}>, fetched {_text(row, 'fetched')}): {short(_text(row, 'text'))}"
        for row in rows
    ]
    return "\n".join([f"I searched the web for “{query}” and found:", *lines])


def _runs(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    rows = _rows(answer, "runs")
    if not rows:
        return "I have done nothing here before that is like that."
    lines = [f"- {_text(row, 'at')}: “{short(_text(row, 'asked'), 80)}”, {_text(row, 'state')}" for row in rows]
    return "\n".join(["What I did here, newest first:", *lines[:_MOST_SHOWN]])


def _remembered(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    number = f" (memory {answer['memory_id']})" if answer.get("memory_id") else ""
    return f"I will remember: {short(str(made.arguments.get('content', '')))}{number}."


def _said(sentence: str) -> _Report:
    def tell(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
        return sentence.format(**{"emoji": "", "name": "", **made.arguments})

    return tell


def _thread_made(now: Situation, made: ToolCall, answer: Mapping[str, Json]) -> str:
    place = f": <#{answer['thread_id']}>" if answer.get("thread_id") else ""
    return f"I opened the thread “{made.arguments.get('name', '')}”{place}."


_REPORTS: dict[str, _Report] = {
    "memory_search": _found,
    "memory_remember": _remembered,
    "memory_forget": _said("It is forgotten."),
    "discord_react": _said("I reacted with {emoji}."),
    "discord_remove_own_reaction": _said("I took my {emoji} back."),
    "discord_send_message": _said("It is sent."),
    "discord_reply_to_message": _said("I replied."),
    "discord_create_thread": _thread_made,
    "discord_edit_thread": _said("The thread is changed."),
    "discord_edit_own_message": _said("My message is changed."),
    "discord_delete_own_message": _said("My message is deleted."),
    "discord_pin_message": _said("It is pinned."),
    "discord_unpin_message": _said("It is no longer pinned."),
    "discord_read_messages": _read,
    "discord_get_message": _message,
    "discord_list_channels": _channels,
    "discord_list_threads": _threads,
    "discord_get_member": _member,
    "web_search": _pages,
    "recall_activity": _runs,
}


def _rows(answer: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    found = answer.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _text(row: Mapping[str, Json], name: str) -> str:
    return str(row.get(name) or "?")


def _when(row: Mapping[str, Json]) -> str:
    return _text(row, "at")[:16].replace("T", " ")


def _quote(row: Mapping[str, Json]) -> str:
    return f"- {_text(row, 'author')}, {_when(row)}: {short(_text(row, 'text'))}"
