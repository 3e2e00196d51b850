"""What attached files say in words: files of text, and documents, within one budget for an answer."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.seeing.documents import DOCUMENT_BYTES, Kind, Reading, kind_of
from bot.seeing.files import Files
from bot.seeing.unread import Item, Unreadable

READ_BYTES: Final = 512 * 1024
"""Bytes of a text file that are fetched."""

FILE_CHARS: Final = 6_000
ALL_CHARS: Final = 16_000
MOST_FILES: Final = 4

TEXTS: Final = frozenset(
    "txt md markdown rst csv tsv json jsonl yaml yml toml ini cfg conf env log xml html htm css js ts tsx jsx py rb rs "
    "go java kt c h cpp hpp cs php sh bash zsh ps1 sql lua swift diff patch tex srt vtt properties gradle".split()
)


@dataclass(frozen=True, slots=True)
class Read:
    """Texts of files, by the file's id, and what became of each: a few words for its note."""

    texts: Mapping[str, str]
    outcomes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Whole:
    """What a file says, and how much of it that is where it is not all of it."""

    text: str
    extent: str = ""


async def read_texts(files: Files, reading: Reading, items: Sequence[Item]) -> Read:
    """What the first MOST_FILES files with words in them say; each that is not read, or not all, has a reason."""
    wordy = [item for item in items if is_text(item) or kind_of(item) is not None]
    async with asyncio.TaskGroup() as group:
        fetching = {_id(item): group.create_task(_whole(files, reading, item)) for item in wordy[:MOST_FILES]}
    texts: dict[str, str] = {}
    outcomes = {_id(item): "skipped, no text" for item in items}
    outcomes |= {_id(item): "skipped, too many files" for item in wordy}
    room = ALL_CHARS
    for name, task in fetching.items():
        whole = task.result()
        if isinstance(whole, str):
            outcomes[name] = f"skipped, {whole}"
            continue
        shown = whole.text[: min(FILE_CHARS, room)]
        if not shown:
            outcomes[name] = "skipped, too much text in all"
            continue
        room -= len(shown)
        texts[name] = shown
        cut = f"its first {len(shown)} characters" if len(shown) < len(whole.text) else whole.extent
        outcomes[name] = f"{cut} below" if cut else "shown below"
    return Read(texts, outcomes)


def is_text(item: Item) -> bool:
    """Whether a file is one of text, by its name or by what its sender's client says."""
    suffix = str(item.get("filename") or "").rpartition(".")[2].lower()
    kind = str(item.get("content_type") or "").partition(";")[0].strip().lower()
    return suffix in TEXTS or kind.startswith("text/") or kind in ("application/json", "application/xml")


async def _whole(files: Files, reading: Reading, item: Item) -> _Whole | str:
    """What the file says, or why it is not read."""
    kind = kind_of(item)
    try:
        body = await files.fetch(item, most=READ_BYTES if kind is None else DOCUMENT_BYTES)
        return _Whole(_decoded(body)) if kind is None else await _document(reading, kind, body)
    except Unreadable as unreadable:
        return unreadable.why


async def _document(reading: Reading, kind: Kind, body: bytes) -> _Whole:
    read = await reading.text(kind, body)
    return _Whole(read.text, f"its first {read.pages} of {read.of} pages" if read.pages < read.of else "")


def _id(item: Item) -> str:
    return str(item.get("id"))


def _decoded(body: bytes) -> str:
    """UTF-8, or UTF-16 with its mark. Raises Unreadable for what is no text."""
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = body.decode("utf-16", "replace")
    else:
        text = body.decode("utf-8-sig", "replace")
    strange = text.count("\ufffd") + text.count("\0")
    if strange > len(text) // 20:
        raise Unreadable("no text in it")
    return text
