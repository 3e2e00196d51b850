"""Pictures for a model that sees: which ones, and in which form. Pure but for fetching.

Models take still pictures only: of an animated one its first frame is shown, and said to be that. It is cut out of the
file as it stands, for nothing here decodes pictures.

Sources: the GIF89a specification; the WebP container specification; the APNG specification (chunks acTL, fcTL, fdAT).
"""

import asyncio
import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.seeing.files import Files
from bot.seeing.unread import Item, Unreadable

MOST_PICTURES: Final = 4
PICTURE_BYTES: Final = 8 * 1024 * 1024
ALL_BYTES: Final = 16 * 1024 * 1024

_PNG: Final = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Picture:
    """A still picture. `file_id` and `name` are the attachment's."""

    file_id: str
    name: str
    kind: str
    body: bytes
    was_animated: bool = False

    @property
    def url(self) -> str:
        """The picture itself as an address, as chat APIs take it."""
        return f"data:{self.kind};base64,{base64.b64encode(self.body).decode()}"


@dataclass(frozen=True, slots=True)
class Gallery:
    """The pictures of a request, and what became of each file that might be one."""

    pictures: tuple[Picture, ...]
    outcomes: Mapping[str, str]


def is_picture(item: Item) -> bool:
    """Whether a file calls itself a picture."""
    kind = str(item.get("content_type") or "").lower()
    suffix = str(item.get("filename") or "").rpartition(".")[2].lower()
    return kind.startswith("image") or suffix in ("png", "jpg", "jpeg", "gif", "webp")


async def gather(files: Files, items: Sequence[Item]) -> Gallery:
    """The pictures among the first MOST_PICTURES of `items`, within the bounds."""
    async with asyncio.TaskGroup() as group:
        fetching = [(item, group.create_task(_fetched(files, item))) for item in items[:MOST_PICTURES]]
    pictures: list[Picture] = []
    outcomes = {str(item.get("id")): f"not shown, only {MOST_PICTURES} pictures are" for item in items}
    room = ALL_BYTES
    for item, task in fetching:
        name, picture = str(item.get("id")), task.result()
        if isinstance(picture, Picture) and len(picture.body) > room:
            picture = "too large together with the others"
        if isinstance(picture, str):
            outcomes[name] = f"not shown, {picture}"
            continue
        room -= len(picture.body)
        pictures.append(picture)
        frame = ", its first frame alone" if picture.was_animated else ""
        outcomes[name] = f"shown as picture {len(pictures)}{frame}"
    return Gallery(tuple(pictures), outcomes)


async def _fetched(files: Files, item: Item) -> Picture | str:
    """The picture, or why it is not shown."""
    try:
        body = await files.fetch(item, most=PICTURE_BYTES)
        return still(str(item.get("id")), str(item.get("filename") or ""), body)
    except Unreadable as unreadable:
        return unreadable.why


def still(file_id: str, name: str, body: bytes) -> Picture:
    """A picture as a model takes it, by what the bytes are and not by what they are called. Raises Unreadable."""
    try:
        if body.startswith(_PNG):
            calm, moved = _still_png(body)
            return Picture(file_id, name, "image/png", calm, moved)
        if body.startswith(b"\xff\xd8\xff"):
            return Picture(file_id, name, "image/jpeg", body)
        if body[:6] in (b"GIF87a", b"GIF89a"):
            calm, moved = _still_gif(body)
            return Picture(file_id, name, "image/gif", calm, moved)
        if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
            calm, moved = _still_webp(body)
            return Picture(file_id, name, "image/webp", calm, moved)
    except (IndexError, struct.error) as error:
        raise Unreadable("it is broken") from error
    raise Unreadable("no picture of a kind that models take")


def _still_png(body: bytes) -> tuple[bytes, bool]:
    """An APNG without its further frames is the PNG that old programs show."""
    kept, at, moved = bytearray(_PNG), len(_PNG), False
    while at < len(body):
        (length,) = struct.unpack_from(">I", body, at)
        name = body[at + 4 : at + 8]
        end = at + 12 + length
        if end > len(body):
            raise IndexError
        if name in (b"acTL", b"fcTL", b"fdAT"):
            moved = True
        else:
            kept += body[at:end]
        at = end
    return bytes(kept), moved


def _still_gif(body: bytes) -> tuple[bytes, bool]:
    """Up to the end of the first frame."""
    at = 13 + _table(body[10])
    while True:
        mark = body[at]
        if mark == 0x21:  # an extension: label, then blocks
            at = _past_blocks(body, at + 2)
        elif mark == 0x2C:  # the frame: descriptor, its colours, the code size, then blocks
            at = _past_blocks(body, at + 10 + _table(body[at + 9]) + 1)
            break
        else:
            raise IndexError
    rest = body[at:]
    return body[:at] + b"\x3b", len(rest) > 1


def _table(packed: int) -> int:
    return 3 * 2 ** ((packed & 7) + 1) if packed & 0x80 else 0


def _past_blocks(body: bytes, at: int) -> int:
    while body[at]:
        at += 1 + body[at]
    return at + 1


def _still_webp(body: bytes) -> tuple[bytes, bool]:
    """The first frame of an animated one has a picture of its own inside."""
    at = 12
    while at + 8 <= len(body):
        name = body[at : at + 4]
        (length,) = struct.unpack_from("<I", body, at + 4)
        if name == b"ANMF":
            return _framed(body[at + 8 + 16 : at + 8 + length]), True
        at += 8 + length + (length & 1)
    return body, False


def _framed(frame: bytes) -> bytes:
    """A frame's chunks as a file: simple where it is one picture, extended where it has its own transparency."""
    if frame[:4] != b"ALPH":
        return b"RIFF" + struct.pack("<I", 4 + len(frame)) + b"WEBP" + frame
    at = 8 + struct.unpack_from("<I", frame, 4)[0]
    at += at & 1
    # A lossy picture says its size behind its start code: 14 bits each.
    width, height = struct.unpack_from("<HH", frame, at + 8 + 6)
    sizes = struct.pack("<I", (width & 0x3FFF) - 1)[:3] + struct.pack("<I", (height & 0x3FFF) - 1)[:3]
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x10\0\0\0" + sizes
    return b"RIFF" + struct.pack("<I", 4 + len(extended) + len(frame)) + b"WEBP" + extended + frame
