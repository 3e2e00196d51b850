"""Still pictures out of what people attach: by the bytes, first frames of animations, and nothing that is broken."""

import struct
import zlib

import pytest

from bot.seeing.pictures import still
from bot.seeing.unread import Unreadable


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\0\0"))
    + chunk(b"IEND", b"")
)
APNG = PNG[:33] + chunk(b"acTL", struct.pack(">II", 2, 0)) + PNG[33:-12] + chunk(b"fdAT", b"\0\0\0\1x") + PNG[-12:]
FRAME = b"\x2c" + struct.pack("<HHHH", 0, 0, 1, 1) + b"\0" + b"\x02" + b"\x02\x44\x01" + b"\0"
CONTROL = b"\x21\xf9\x04\0\0\0\0\0"
HEAD = b"GIF89a" + struct.pack("<HH", 1, 1) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
GIF, MOVING = HEAD + FRAME + b"\x3b", HEAD + CONTROL + FRAME + CONTROL + FRAME + b"\x3b"
LOSSY = b"VP8 " + struct.pack("<I", 10) + b"\x30\x01\0\x9d\x01\x2a" + struct.pack("<HH", 1, 1)


def riff(body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def anmf(frame: bytes) -> bytes:
    return b"ANMF" + struct.pack("<I", 16 + len(frame)) + bytes(16) + frame


@pytest.mark.parametrize("body", [PNG, GIF, b"\xff\xd8\xff\xe0rest", riff(LOSSY)])
def test_a_still_picture_stays_as_it_is(body: bytes) -> None:
    shown = still("1", "a.txt", body)
    assert (shown.body, shown.was_animated) == (body, False)
    assert shown.url.startswith(f"data:{shown.kind};base64,")


@pytest.mark.parametrize(
    ("body", "frame"),
    [
        (APNG, PNG),
        (MOVING, HEAD + CONTROL + FRAME + b"\x3b"),
        (riff(b"VP8X" + struct.pack("<I", 10) + bytes(10) + anmf(LOSSY) + anmf(LOSSY)), riff(LOSSY)),
    ],
)
def test_of_an_animation_the_first_frame_is_kept(body: bytes, frame: bytes) -> None:
    shown = still("1", "a.gif", body)
    assert (shown.body, shown.was_animated) == (frame, True)


@pytest.mark.parametrize("body", [b"", b"<svg/>", PNG[:20], MOVING[:20], b"RIFF\0\0\0\0WEB", b"PK\x03\x04"])
def test_what_is_no_picture_is_said_to_be_none(body: bytes) -> None:
    """Cut off, of another kind, or nothing at all; whatever its name says."""
    with pytest.raises(Unreadable):
        still("1", "a.png", body)
