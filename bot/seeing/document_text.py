"""The text of a PDF or DOCX file: the program of a process of its own, that a file may break without breaking Muninn.

`python -I document_text.py KIND` takes the file on standard input and writes a line of JSON: `{"text", "pages", "of"}`
(`of` pages, or 0 where the kind has none, and how many of them were read), or `{"why"}`, a few words. It imports
nothing of ours, knows no secret (its environment is empty), and bounds its own memory and time; bot.seeing.documents
starts it, and ends it where that is not enough.

Sources: ISO 32000 by way of pypdf; ECMA-376 part 1, chapter 17 (w:p, w:r, w:t, w:tab, w:br, w:tr, w:tc) and part 3
(mc:Fallback).
"""

import io
import json
import resource
import sys
import zipfile
import zlib
from typing import Final
from xml.parsers import expat

MEMORY_BYTES: Final = 640 * 1024 * 1024
CPU_S: Final = 5
MOST_CHARS: Final = 20_000
MOST_PAGES: Final = 50
XML_BYTES: Final = 16 * 1024 * 1024
"""Of a DOCX's text with its markup, unpacked."""

ZIP_ENTRIES: Final = 2_000
ZIP_RATIO: Final = 300
"""Unpacked to packed: markup packs ten to thirtyfold; what is made to unpack without end, a thousandfold."""

CHUNK: Final = 64 * 1024

_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
_STRICT_WORD: Final = "http://purl.oclc.org/ooxml/wordprocessingml/main "
_FALLBACK: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006 Fallback"


_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    KeyError,
    NotImplementedError,
    EOFError,
    OSError,
    ValueError,
)


class Unreadable(Exception):
    """No text comes of it. Its words say why, to stand behind "skipped"."""


class _Enough(Exception):
    """There is more text than anybody is shown."""


def pdf_text(body: bytes) -> tuple[str, int, int]:
    """The text of the first pages, how many of them were read, and how many there are. Raises Unreadable."""
    # Imported here: no other kind needs it, and it takes its time.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(body), root_object_recovery_limit=1_000, xref_stream_maximum_entries=200_000)
        # Many are locked against copying with an empty password, which every reader tries.
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("encrypted PDF")
        of = len(reader.pages)
        texts: list[str] = []
        for number in range(min(of, MOST_PAGES)):
            texts.append(reader.pages[number].extract_text().strip())
            if sum(map(len, texts)) > MOST_CHARS:
                break
    except (DependencyError, FileNotDecryptedError):
        raise Unreadable("encrypted PDF") from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, ArithmeticError) as error:
        raise Unreadable("broken PDF") from error
    return "\n\n".join(text for text in texts if text), len(texts), of


class _Words:
    """Takes a document's text out of its markup as that is parsed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._chars = 0
        self._is_text = False
        self._runs = 0
        self._replaced = 0

    def doctype(self, *_: object) -> None:
        """No such file has one, and what entities are for is to make much of little."""
        raise Unreadable("broken DOCX")

    def start(self, name: str, _: object) -> None:
        match _local(name):
            case "t":
                self._is_text = True
            case "r":
                self._runs += 1
            case "tab" if self._runs:  # elsewhere it is a stop on the ruler
                self._put("\t")
            case "br" | "cr":
                self._put("\n")
            case "Fallback":
                # What it holds stands beside it, in a newer form.
                self._replaced += 1
            case _:
                pass

    def end(self, name: str) -> None:
        match _local(name):
            case "t":
                self._is_text = False
            case "r":
                self._runs -= 1
            case "p":
                self._put("\n")
            case "tc":
                # A cell ends with its paragraph's end; what follows stands beside it.
                if self.parts and self.parts[-1] == "\n":
                    self.parts[-1] = "\t"
            case "tr":
                self._put("\n")
            case "Fallback":
                self._replaced -= 1
            case _:
                pass

    def words(self, data: str) -> None:
        if self._is_text:
            self._put(data)

    def _put(self, data: str) -> None:
        if self._replaced:
            return
        self.parts.append(data)
        self._chars += len(data)
        if self._chars > MOST_CHARS:
            raise _Enough


def _local(name: str) -> str:
    """An element's name where it is one of those that are looked for, else nothing."""
    if name == _FALLBACK:
        return "Fallback"
    for space in (_WORD, _STRICT_WORD):
        if name.startswith(space):
            return name[len(space) :]
    return ""


def docx_text(body: bytes) -> tuple[str, int, int]:
    """The text of the document itself, without headers and notes. Raises Unreadable."""
    if body.startswith(_OLE):
        raise Unreadable("encrypted document" if _ENCRYPTED_PACKAGE in body else "document of an old kind")
    words = _Words()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = words.doctype
    parser.StartElementHandler = words.start
    parser.EndElementHandler = words.end
    parser.CharacterDataHandler = words.words
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            entry = archive.getinfo("word/document.xml")
            if entry.flag_bits & 1:
                raise Unreadable("encrypted document")
            if len(archive.infolist()) > ZIP_ENTRIES or entry.file_size > ZIP_RATIO * max(entry.compress_size, 1):
                raise Unreadable("broken DOCX")
            with archive.open(entry) as file:
                left = XML_BYTES
                while chunk := file.read(CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise Unreadable("too large when unpacked")
                    parser.Parse(chunk, False)
                parser.Parse(b"", True)
    except _Enough:
        pass
    except (
        zipfile.BadZipFile,
        KeyError,
        NotImplementedError,
        expat.ExpatError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise Unreadable("broken DOCX") from error
    return "".join(words.parts).strip(), 0, 0


def told(kind: str, body: bytes) -> dict[str, object]:
    """What is written of a file. Raises nothing for what stands in it, but for want of memory or time."""
    try:
        text, pages, of = pdf_text(body) if kind == "pdf" else docx_text(body)
    except Unreadable as unreadable:
        return {"why": str(unreadable)}
    except (MemoryError, RecursionError):
        return {"why": "too much in it to be read"}
    if not text.strip():
        return {"why": "no text in it, perhaps only pictures of text" if kind == "pdf" else "no text in it"}
    return {"text": text.encode("utf-8", "replace").decode()[:MOST_CHARS], "pages": pages, "of": of}


def main() -> None:
    """Read standard input, within bounds that cannot be raised again."""
    if sys.argv[1] == "pdf":
        # Before the bounds: it is no file of anybody's, and is compiled, and kept so, the first time.
        import pypdf  # noqa: F401  # pyright: ignore[reportUnusedImport]
    for limit, most in ((resource.RLIMIT_CPU, CPU_S), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    if sys.platform == "linux":  # elsewhere it is not kept, or refused
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.stdout.write(json.dumps(told(sys.argv[1], sys.stdin.buffer.read())) + "\n")


if __name__ == "__main__":
    main()
