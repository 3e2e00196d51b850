"""What a reader sees of a message beside its words, as the journal keeps it with the message (`chat_messages.extras`).

Pure, and cheap for the many messages that have nothing of it: this runs for every message that comes in. Texts are
bounded here, so that nobody can fill the journal by an embed. Raises as the readers of bot.payloads do.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from bot.payloads import Payload, clean, listed

VOICE: Final = 1 << 13
"""Discord's flag of a voice message."""

SUPPRESSED: Final = 1 << 2
"""Discord's flag of a message whose embeds its author, or a moderator, took away."""

MOST_ATTACHMENTS: Final = 10
MOST_EMBEDS: Final = 10
MOST_FIELDS: Final = 25
MOST_SNAPSHOTS: Final = 3
EMBED_CHARS: Final = 6_000
"""Discord's own limit for the texts of all embeds of a message."""

NAME_CHARS: Final = 300
URL_CHARS: Final = 2_000

TEXT_DISPLAY: Final = 10
"""Discord's type of a component that is nothing but text."""

PICTURES: Final = frozenset({"image", "gifv"})
"""Discord's types of embeds that are what a link to a picture, or to a short moving one, becomes."""

# Where there is nothing of these, there is nothing beside the words.
_BESIDE: Final = (
    "flags", "mentions", "attachments", "embeds", "sticker_items", "components", "message_snapshots", "poll",
)  # fmt: skip

_NESTED: Final = ("components", "accessory", "component")
_DEPTH: Final = 5


def extras(data: Payload) -> dict[str, object]:
    """What a reader needs beside the words of a message object; empty for most."""
    if not any(map(data.get, _BESIDE)):
        return {}
    found = _shown(data)
    names = {str(user["id"]): user.get("global_name") or user.get("username") for user in listed(data.get("mentions"))}
    if names:
        found["mentions"] = names
    if data.get("message_snapshots"):
        found["snapshots"] = [
            _snapshot(cast("Payload", each.get("message") or {}))
            for each in listed(data["message_snapshots"])[:MOST_SNAPSHOTS]
        ]
    if poll := data.get("poll"):
        found["poll"] = _poll(cast("Payload", poll))
    return found


def _shown(data: Payload) -> dict[str, object]:
    """What a message and a forwarded one have in common."""
    found: dict[str, object] = {}
    flags = int(data.get("flags") or 0)
    if data.get("attachments"):
        found["attachments"] = [_attachment(item) for item in listed(data["attachments"])[:MOST_ATTACHMENTS]]
        if flags & VOICE:
            found["voice"] = True
    if flags & SUPPRESSED:
        # Said outright, since embeds that came earlier are kept where a later version does not mention any.
        found["embeds"] = []
    elif data.get("embeds") and (embeds := _embeds(listed(data["embeds"]))):
        found["embeds"] = embeds
    if data.get("sticker_items"):
        found["stickers"] = [_line(each.get("name")) for each in listed(data["sticker_items"])[:3]]
    if data.get("components") and (written := _written(data, _DEPTH)):
        found["components"] = clean("\n".join(written))[:EMBED_CHARS]
    return found


def _attachment(item: Payload) -> dict[str, object]:
    kept: dict[str, object] = {key: item.get(key) for key in ("id", "filename", "size", "content_type")}
    for key in ("width", "height", "duration_secs"):
        if isinstance(item.get(key), int | float):
            kept[key] = item[key]
    if item.get("description"):
        kept["description"] = _line(item["description"])
    if isinstance(item.get("url"), str):
        kept["url"] = clean(item["url"])[:URL_CHARS]
    return kept


def _embeds(given: Sequence[Payload]) -> list[dict[str, object]]:
    room, kept = EMBED_CHARS, list[dict[str, object]]()
    for each in given[:MOST_EMBEDS]:
        embed, used = _embed(each, room)
        room -= used
        if embed:
            kept.append(embed)
        if room <= 0:
            break
    return kept


def _embed(data: Payload, room: int) -> tuple[dict[str, object], int]:
    """The texts of an embed in at most `room` characters, and how many they have. Its pictures are only named."""
    given: dict[str, object] = {
        "title": data.get("title"),
        "description": data.get("description"),
        "author": cast("Payload", data.get("author") or {}).get("name"),
        "footer": cast("Payload", data.get("footer") or {}).get("text"),
        "site": cast("Payload", data.get("provider") or {}).get("name"),
        "url": data.get("url"),
    }
    embed: dict[str, object] = {}
    used = 0
    for name, value in given.items():
        if isinstance(value, str) and value and used < room:
            embed[name] = clean(value)[: room - used]
            used += len(value)
    fields: list[list[str]] = []
    for each in listed(data.get("fields"))[:MOST_FIELDS]:
        pair = [clean(str(each.get("name") or "")), clean(str(each.get("value") or ""))]
        used += len(pair[0]) + len(pair[1])
        if used > room:
            break
        fields.append(pair)
    if fields:
        embed["fields"] = fields
    if data.get("image") or data.get("video") or (data.get("thumbnail") and not embed):
        embed["picture"] = True
    if data.get("type") in PICTURES and (shown := _proxied(data)):
        embed |= {"picture": True, "image": shown}
    return embed, used


def _proxied(data: Payload) -> dict[str, object] | None:
    """The picture of a link that leads to nothing but a picture, as a file: where Discord itself keeps it for readers.

    Its address is its id, since Discord gives it none.
    """
    for name in ("image", "thumbnail"):
        url = cast("Payload", data.get(name) or {}).get("proxy_url")
        if isinstance(url, str) and len(url) <= URL_CHARS:
            return {"id": clean(url), "url": clean(url), "filename": "the embed's picture", "content_type": "image"}
    return None


def _poll(data: Payload) -> dict[str, object]:
    results = cast("Payload", data.get("results") or {})
    counts = {str(each.get("id")): int(each.get("count") or 0) for each in listed(results.get("answer_counts"))}
    answers: list[list[object]] = []
    for each in listed(data.get("answers"))[:MOST_FIELDS]:
        media = cast("Payload", each.get("poll_media") or {})
        answers.append([_media(media), counts.get(str(each.get("answer_id")), 0)])
    return {
        "question": _line(cast("Payload", data.get("question") or {}).get("text")),
        "answers": answers,
        "several": bool(data.get("allow_multiselect")),
        "over": bool(results.get("is_finalized")),
    }


def _media(media: Payload) -> str:
    emoji = cast("Payload", media.get("emoji") or {}).get("name")
    return _line(" ".join(str(part) for part in (emoji, media.get("text")) if part))


def _snapshot(message: Payload) -> dict[str, object]:
    """What was forwarded. Discord does not say whose words they are, so nothing here does."""
    return {"content": clean(str(message.get("content") or ""))[: EMBED_CHARS * 2], **_shown(message)}


def _written(data: Payload, depth: int) -> list[str]:
    """The texts of components, in order."""
    found: list[str] = []
    if data.get("type") == TEXT_DISPLAY and isinstance(data.get("content"), str):
        found.append(data["content"])
    for name in _NESTED if depth else ():
        inner = data.get(name)
        many = cast("Sequence[object]", inner) if isinstance(inner, list) else (inner,)
        for each in many:
            if isinstance(each, Mapping):
                found += _written(cast("Payload", each), depth - 1)
    return found


def _line(value: object) -> str:
    return clean(str(value or ""))[:NAME_CHARS]
