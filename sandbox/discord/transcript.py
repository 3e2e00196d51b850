"""What happened, for a human who reads a failed test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from .components import names
from .messages import Message
from .places import Channel
from .requests import Request


def of_place(place: Channel) -> str:
    """Every message of a place, oldest first, with edits, deletions, reactions and who was pinged."""
    said = [*place.shelf.everything(), *place.world.interactions.all_hidden(place)]
    lines = [_line(message) for message in sorted(said, key=lambda message: message.id)]
    title = str(place) if place.guild is None else f"{place} in {place.guild.name}"
    return "\n".join([title, *(f"  {line}" for line in lines or ["(nothing was said)"])])


def of_requests(requests: Sequence[Request], *, last: int = 12) -> str:
    shown = requests[-last:]
    omitted = len(requests) - len(shown)
    lines = [f"last REST requests ({omitted} before them)" if omitted else "REST requests"]
    return "\n".join([*lines, *(f"  {_clock(r.at)} {r}" for r in shown or ()), *([] if shown else ["  (none)"])])


def _line(message: Message) -> str:
    marks: list[str] = []
    if message.referenced is not None:
        marks.append(f"replies to {_short(str(message.referenced))!r}")
    if message.past:
        marks.append("edited from " + ", ".join(repr(_short(text)) for text in message.past))
    if message.attachments:
        marks.append("files " + ", ".join(a.file.filename for a in message.attachments))
    if message.reactions:
        marks.append("reactions " + " ".join(f"{r.emoji}x{len(r.users)}" for r in message.reactions.values()))
    if message.pings:
        marks.append(f"pings {message.pings}")
    if message.seen_by is not None:
        marks.append(f"only {message.seen_by.display_name} sees it")
    if message.loading:
        marks.append("is thinking")
    held = names(message.components)
    if held:
        marks.append("components " + ", ".join(held))
    if message.deleted:
        marks.append("deleted")
    kind = "" if message.kind in (0, 19) else f" <system message {message.kind}>"
    bot = " [bot]" if message.author.bot else ""
    tail = f"  ({'; '.join(marks)})" if marks else ""
    text = message.displayed.replace("\n", "\n      ")
    return f"{_clock(message.created_at)} {message.author.display_name}{bot}{kind}: {text}{tail}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S.%f")[:-3]
