"""Memories in words, for people: one line, one memory whole, how it came to be, and all of them as a file."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson

from bot.links import message_link
from bot.memories.eyes import NAMES
from memory.ids import SpaceId
from memory.inventory import Entry, Evidence, Former, Item

LINE_CHARS: Final = 150
WHOLE_CHARS: Final = 900
MOST_LINKS: Final = 8
MOST_CHARACTERS: Final = 2000
_FORMER_CHARS: Final = 120

_REASONS: Final = {
    "revised": "replaced by something newer that was said",
    "corrected": "changed by hand",
    "superseded": "gone: the message was edited",
    "forgotten": "forgotten",
    "revoked": "gone: the message was deleted",
}


def one_line(text: str, most: int) -> str:
    """The words on one line, within `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def day(moment: datetime) -> str:
    """A day, as Discord's clients show it in the reader's own form."""
    return f"<t:{int(moment.timestamp())}:d>"


def line_of(entry: Entry) -> str:
    """A memory in a list."""
    key = f" `{entry.key}`" if entry.key else ""
    pin = "📌 " if entry.pinned else ""
    return f"`#{entry.memory_id}` {pin}{one_line(entry.content, LINE_CHARS)} ({entry.kind}{key}, {day(entry.said_at)})"


def suggestion_of(entry: Entry) -> tuple[str, str]:
    """A memory as a suggestion: what is shown, and what is meant."""
    return one_line(f"#{entry.memory_id} {entry.content}", 100), str(entry.memory_id)


def why(item: Item, evidence: Sequence[Evidence], former: int, guild_id: SpaceId | None) -> str:
    """Why a memory is there: what it rests on, how sure it is, and where it comes from."""
    told = "was told to me" if item.source == "told" else "came up in conversation"
    lines = [
        f"**Memory `#{item.memory_id}`** ({NAMES[item.scope]}, {item.kind}"
        + (f", `{item.key}`" if item.key else "")
        + (", 📌 pinned)" if item.pinned else ")"),
        f"> {one_line(item.content, WHOLE_CHARS)}",
        f"It {told} by {one_line(item.author_name, 60)} on {day(item.said_at)}; first kept {day(item.created_at)}, "
        f"last changed {day(item.changed_at)}. Confidence {item.confidence:.0%}, importance {item.importance:.2f}.",
    ]
    if evidence:
        shown = [each for each in evidence if each.shown]
        links = [
            f"{message_link(guild_id, each.place_id, each.message_id)} by <@{each.author_id}>"
            + (" (aged out of my journal)" if each.aged_out else "")
            for each in shown[:MOST_LINKS]
        ]
        confirmed = f", confirmed {len(evidence) - 1} times" if len(evidence) > 1 else ""
        lines.append(f"**Evidence**: {len(evidence)} message{'s' if len(evidence) > 1 else ''}{confirmed}")
        lines.extend(f"- {link}" for link in links)
        if len(evidence) > len(links):
            lines.append(f"- and {len(evidence) - len(links)} more, here or where they cannot be shown here")
    else:
        lines.append("**Evidence**: no message; it rests on the word of who said so.")
    if former:
        lines.append(f"It had {former} former version{'s' if former > 1 else ''}: see `/memory history`.")
    return within("\n".join(lines))


def version_line(former: Former) -> str:
    """A former value of a memory."""
    words = "(its words went with the message)" if former.content is None else one_line(former.content, _FORMER_CHARS)
    by = f" by <@{former.by_id}>" if former.by_id is not None else ""
    return (
        f"`v{former.version}` {words} (said by {one_line(former.author_name, 40)} on {day(former.said_at)}; "
        f"{_REASONS[former.reason]}{by} on {day(former.ended_at)})"
    )


def standing_line(item: Item) -> str:
    """The present value of a memory, above its former ones."""
    state = "" if item.state == "active" else f", {item.state}"
    return f"**Memory `#{item.memory_id}`** now (`v{item.version}`{state}): {one_line(item.content, 200)}"


def as_file(entries: Sequence[Entry]) -> bytes:
    """All of them as JSON."""
    return orjson.dumps(
        [
            {
                "memory": each.memory_id,
                "whose": each.scope,
                "kind": each.kind,
                "key": each.key,
                "content": each.content,
                "pinned": each.pinned,
                "said_by": each.author_name,
                "said_at": each.said_at.isoformat(),
            }
            for each in entries
        ],
        option=orjson.OPT_INDENT_2,
    )


def within(text: str) -> str:
    """The text, within what Discord takes."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
