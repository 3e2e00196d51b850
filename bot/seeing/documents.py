"""PDF and DOCX files, read by a process of their own, within bounds: bytes, pages, characters, memory and seconds.

Such files come from anybody, and reading them is work without end where somebody wants it to be. So the reading
(bot.seeing.document_text) has no part in this process: it has its own memory and processor time, an empty environment,
and is killed when its time is up or nobody waits for it any more.
"""

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, cast

import orjson
import structlog
from pydantic import BaseModel, Field, ValidationError

from bot.seeing.unread import Item, Unreadable

log = structlog.get_logger(__name__)

DOCUMENT_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a document that are fetched."""

READ_S: Final = 8.0
"""Seconds from the start of its process to its end."""

SIDE_BY_SIDE: Final = 2
"""Documents that are read at the same time in all; others wait, within their own READ_S."""

ANSWER_BYTES: Final = 256 * 1024
PROGRAM: Final = Path(__file__).with_name("document_text.py")

Kind = Literal["pdf", "docx"]
_KINDS: Final[dict[str, Kind]] = {
    "pdf": "pdf",
    "docx": "docx",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
}


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says. `pages` of `of` pages were read; 0 of 0 where it has none."""

    text: str
    pages: int
    of: int


class _Told(BaseModel):
    """What the process writes: it has read what somebody sent, and is believed no further than that."""

    text: Annotated[str, Field(max_length=100_000)] = ""
    pages: Annotated[int, Field(ge=0)] = 0
    of: Annotated[int, Field(ge=0)] = 0
    why: Annotated[str, Field(max_length=80)] = ""


def kind_of(item: Item) -> Kind | None:
    """Which kind of document a file calls itself; None for every other."""
    suffix = str(item.get("filename") or "").rpartition(".")[2].lower()
    said = str(item.get("content_type") or "").partition(";")[0].strip().lower()
    return _KINDS.get(suffix) or _KINDS.get(said)


class Reading:
    """Reads documents, SIDE_BY_SIDE of them at a time."""

    def __init__(self, *, within_s: float = READ_S) -> None:
        self._within_s = within_s
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def text(self, kind: Kind, body: bytes) -> Document:
        """What the document says. Raises Unreadable: encrypted, broken, without text, or too much work."""
        try:
            async with asyncio.timeout(self._within_s), self._room:
                told = await _read(kind, body)
        except TimeoutError:
            log.info("documents.too_slow", kind=kind, bytes=len(body))
            raise Unreadable("it takes too long to read") from None
        if told.why or not told.text:
            raise Unreadable(told.why or "too much in it to be read")
        return Document(told.text, told.pages, told.of)


async def _read(kind: Kind, body: bytes) -> _Told:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(PROGRAM),
        kind,
        env={},
        cwd="/",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_give(cast("asyncio.StreamWriter", process.stdin), body))
            answering = group.create_task(_take(cast("asyncio.StreamReader", process.stdout)))
    finally:
        # Also where nobody waits any more: it ends now, and is not left to its own bounds.
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    try:
        return _Told.model_validate(orjson.loads(answering.result()))
    except (orjson.JSONDecodeError, ValidationError):
        # It ran out of its own bounds, and was ended before it could say so.
        return _Told(why="too much in it to be read")


async def _take(stdout: asyncio.StreamReader) -> bytes:
    """All that it writes, up to ANSWER_BYTES: more is no answer of ours, and will not parse."""
    answer = bytearray()
    while len(answer) < ANSWER_BYTES and (chunk := await stdout.read(ANSWER_BYTES - len(answer))):
        answer += chunk
    return bytes(answer)


async def _give(stdin: asyncio.StreamWriter, body: bytes) -> None:
    """The file to the process, which may be gone before it has all."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(body)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()
