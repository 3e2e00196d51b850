"""What stands beside the words of a message, as the model is shown it: quoted, labelled, and said to be whose (I12)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from bot.seeing.quotation import label, quote

BRIEF_CHARS: Final = 400
"""Characters of an embed or a forward in a message that is not the one to be answered."""

WHOLE_CHARS: Final = 6_000

MEGA: Final = 1_000_000

Extras = Mapping[str, Any]


def notes(extras: Extras, *, brief: bool = True, files: Mapping[str, str] | None = None) -> list[str]:
    """Each thing beside a message's words, in a note of its own. `files`: what became of attachments, by their id."""
    if not extras:
        return []
    most = BRIEF_CHARS if brief else WHOLE_CHARS
    return [*_beside(extras, most, files or {}), *_snapshots(extras, most, files or {})]


def _beside(extras: Extras, most: int, files: Mapping[str, str]) -> Iterator[str]:
    for item in cast("Sequence[Extras]", extras.get("attachments", ())):
        yield _attachment(item, files.get(str(item.get("id"))), voice=bool(extras.get("voice")))
    if isinstance(stickers := extras.get("stickers"), list):
        yield f"(sticker: {', '.join(_named(str(name)) for name in cast('Sequence[object]', stickers))})"
    if poll := extras.get("poll"):
        yield _poll(cast("Extras", poll))
    if written := extras.get("components"):
        yield f"(text in its layout, quoted:)\n{quote(_cut(str(written), most))}"
    for embed in cast("Sequence[Extras]", extras.get("embeds", ())):
        yield _embed(embed, most, files)


def _attachment(item: Extras, outcome: str | None, *, voice: bool) -> str:
    """A file, listed even where nobody read it."""
    facts = [_named(str(item.get("filename") or ""))]
    if item.get("content_type"):
        facts.append(label(str(item["content_type"])).partition(";")[0])
    if isinstance(item.get("duration_secs"), int | float):
        facts.append(f"{float(item['duration_secs']):.0f} s long")
    if item.get("width") and item.get("height"):
        facts.append(f"{item['width']} x {item['height']}")
    facts.append(size(item.get("size")))
    what = "voice message, not listened to" if voice else f"attached, {outcome or 'not read'}"
    described = f", described by its sender as {_named(str(item['description']))}" if item.get("description") else ""
    return f"({what}: {', '.join(facts)}{described})"


def size(count: object) -> str:
    """A file's size as people say it."""
    if not isinstance(count, int):
        return "of unknown size"
    if count >= MEGA:
        return f"{count / MEGA:.0f} MB" if count >= 10 * MEGA else f"{count / MEGA:.1f} MB"
    return f"{count // 1000} KB" if count >= 10_000 else f"{count} bytes"


def _poll(poll: Extras) -> str:
    over = ", over" if poll.get("over") else ""
    several = "several answers" if poll.get("several") else "one answer"
    lines = [str(poll.get("question") or "")]
    for text, count in poll.get("answers", ()):
        lines.append(f"- {text}" + (f" ({count} votes)" if count or poll.get("over") else ""))
    return f"(poll{over}, {several} allowed, quoted:)\n{quote(chr(10).join(lines))}"


def _embed(embed: Extras, most: int, files: Mapping[str, str]) -> str:
    """What an embed says. Its words are those of a page or of a program, not of who posted it."""
    heading = [str(embed[name]) for name in ("site", "author", "title") if embed.get(name)]
    fields = [f"{name}: {value}" for name, value in embed.get("fields", ())]
    body = [str(embed[name]) for name in ("description",) if embed.get(name)]
    after = [str(embed[name]) for name in ("footer", "url") if embed.get(name)]
    text = "\n".join([*heading, *body, *fields, *after])
    picture = " with a picture" if embed.get("picture") else ""
    if outcome := files.get(str(cast("Extras", embed.get("image") or {}).get("id"))):
        picture += f", {outcome}"
    return f"(embed{picture}, not the sender's own words, quoted:)\n{quote(_cut(text, most))}"


def _snapshots(extras: Extras, most: int, files: Mapping[str, str]) -> Iterator[str]:
    snapshots = cast("Sequence[Extras]", extras.get("snapshots", ()))
    for each in snapshots:
        said = quote(_cut(str(each["content"]), most)) if each.get("content") else "> (no text)"
        inner = "\n".join(_beside(each, most, files))
        yield "\n".join(
            part
            for part in (
                "(forwarded from somewhere else; whose words it is Discord does not say, and it is no request of the "
                "sender's, quoted:)",
                said,
                inner,
                "(end of what was forwarded)",
            )
            if part
        )
    if extras.get("forwards") and not snapshots:
        yield "(a forwarded message, not shown)"


def _named(name: str) -> str:
    return f'"{label(name)}"'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
