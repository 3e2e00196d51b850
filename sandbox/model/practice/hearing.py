"""Reading Muninn's prompt: who asks for what, in answer to which message, after which others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.model.request import ChatRequest, Message

_HEADING = re.compile(
    r"^\[message (?P<id>\d+), (?P<at>[^,\]]+ UTC)(?:, edited)?, "
    r"(?:(?P<own>Muninn \(you\))|\"(?P<name>[^\]\"]*)\" \(id (?P<user>\d+)\))"
    r"[^\]]*?(?:, in reply to message (?P<reply>\d+))?\]$",
    re.MULTILINE,
)
_OWN_MENTION = re.compile(r"@muninn\b", re.IGNORECASE)
_MENTION = re.compile(r"<@[!&]?\d+>")
_NOTICE = re.compile(r"\(.*\)", re.DOTALL)  # what Muninn itself adds for the model stands in round brackets


@dataclass(frozen=True, slots=True)
class Line:
    """A message of the conversation. `own`: the bot's; `user` is the author's id where it is another's."""

    message_id: str
    name: str
    user: str | None
    own: bool
    reply_to: str | None
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said to the model: the words without labels and mentions, and the speaker's name where it is told.

    `raw` still has the mentions of others. `message_id` and `reply_to` are those of the message that is answered, None
    where the prompt has no headings; `lines` is what was said before it, oldest first.
    """

    words: str
    speaker: str | None
    raw: str = ""
    message_id: str | None = None
    reply_to: str | None = None
    at: str | None = None
    lines: Sequence[Line] = ()

    @property
    def earlier(self) -> Line | None:
        """The message before the one that is answered."""
        return self.lines[-1] if self.lines else None

    @property
    def last_own(self) -> Line | None:
        """The newest of the bot's own messages that are shown."""
        return next((line for line in reversed(self.lines) if line.own), None)

    def line(self, message_id: str | None) -> Line | None:
        """The message with that id, if it is shown."""
        return next((line for line in self.lines if line.message_id == message_id), None)

    def user_named(self, name: str) -> str | None:
        """The id of somebody who spoke, by the beginning of their name."""
        folded = name.casefold()
        return next((one.user for one in self.lines if one.user and one.name.casefold().startswith(folded)), None)


def heard(request: ChatRequest) -> Heard:
    """Read the last request of a person, with the labels, quotation marks and mentions taken off.

    Muninn puts a heading `[message 1, 2026-01-02 03:04 UTC, "Ada" (id 5)]` over each message and `> ` before each of
    its lines; the last one is to be answered. A plain text, as other clients send it, is taken as it is.
    """
    last = next((message for message in reversed(request.messages) if is_request(message)), None)
    if last is None:
        return Heard("", None)
    lines = _lines(last.text)
    if not lines:
        raw = " ".join(_OWN_MENTION.sub(" ", last.text).split())
        return Heard(_without_mentions(raw), last.name, raw)
    *before, asked = lines
    raw = " ".join(_OWN_MENTION.sub(" ", asked.text).split())
    return Heard(_without_mentions(raw), asked.name, raw, asked.message_id, asked.reply_to, asked.at, tuple(before))


def is_request(message: Message) -> bool:
    """Whether a person said it, and not Muninn itself to the model."""
    return message.role == "user" and _NOTICE.fullmatch(message.text.strip()) is None


def fresh_results(request: ChatRequest) -> list[Message]:
    """The results of the calls made last for the request that is being answered, notices after them left out."""
    results: list[Message] = []
    for message in reversed(request.messages):
        if message.role == "tool":
            results.insert(0, message)
        elif results or message.role != "user" or is_request(message):
            break
    return results


def results_so_far(request: ChatRequest) -> list[Message]:
    """All results since the request that is being answered, oldest first."""
    since = max((n for n, message in enumerate(request.messages) if is_request(message)), default=0)
    return [message for message in request.messages[since:] if message.role == "tool"]


def _lines(text: str) -> list[Line]:
    headings = list(_HEADING.finditer(text))
    if not headings:
        return []
    lines: list[Line] = []
    for found, following in zip(headings, [*headings[1:], None], strict=True):
        body = text[found.end() : following.start() if following is not None else len(text)]
        said = "\n".join(line[1:].strip() for line in body.splitlines() if line.startswith(">"))
        lines.append(
            Line(
                found["id"],
                found["name"] or "Muninn",
                found["user"],
                found["own"] is not None,
                found["reply"],
                found["at"],
                "" if said == "(no text)" else said,
            )
        )
    return lines


def _without_mentions(text: str) -> str:
    return " ".join(_MENTION.sub(" ", text).split())
