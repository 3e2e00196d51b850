"""Documents are read within bounds by a process of their own, and what is not read says why."""

import asyncio
import io
import os
import time
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from pypdf import PdfReader, PdfWriter

from bot.seeing.documents import Document, Kind, Reading
from bot.seeing.unread import Unreadable

_WORD: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_COMPATIBLE: Final = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF with a line of words on each page, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[str] = []
    for words in pages:
        drawn = f"BT /F1 12 Tf 72 700 Td ({words}) Tj ET"
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {len(objects)} 0 R >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} /MediaBox [0 0 600 800] >>"
    body, at = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, 1):
        at.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in at)
    size, start = len(objects) + 1, len(body)
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def encrypted(body: bytes, password: str) -> bytes:
    """The same behind a password."""
    writer, out = PdfWriter(PdfReader(io.BytesIO(body))), io.BytesIO()
    writer.encrypt(password, "the owner's", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


def docx(markup: str, *, before: str = "", name: str = "word/document.xml") -> bytes:
    """A DOCX that holds this body."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, f"{before}<w:document {_WORD} {_COMPATIBLE}><w:body>{markup}</w:body></w:document>")
    return out.getvalue()


def paragraph(words: str) -> str:
    return f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"


def swollen() -> bytes:
    """A DOCX of some kilobytes that unpacks to forty million."""
    return docx(f"<w:p>{' ' * 40_000_000}</w:p>")


def endless() -> bytes:
    """A PDF whose one page is drawn by a stream of some kilobytes that unpacks to twenty million."""
    drawn = zlib.compress(b"(a) Tj " * 3_000_000, 1)
    head = f"4 0 obj\n<< /Length {len(drawn)} /Filter /FlateDecode >>\nstream\n".encode()
    before, _, rest = pdf(["a"]).partition(b"4 0 obj")
    return before + head + drawn + b"\nendstream\nendobj\n" + rest[rest.index(b"5 0 obj") :]


async def test_the_words_of_a_pdf_and_of_a_docx_are_read() -> None:
    """As they stand: pages after one another; paragraphs, breaks, rows and cells; what is said twice, once."""
    reading = Reading()
    assert await reading.text("pdf", pdf(["Hello there", "Page two"])) == Document("Hello there\n\nPage two", 2, 2)
    row = "<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>"
    stop = "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>left</w:t><w:tab/><w:t>right</w:t></w:r></w:p>"
    twice = f"<mc:Fallback>{paragraph('said already')}</mc:Fallback>"
    removed = "<w:p><w:del><w:r><w:delText>removed</w:delText></w:r></w:del></w:p>"
    read = await reading.text(
        "docx", docx(paragraph("One &amp; two") + stop + f"<w:tbl>{row}</w:tbl>" + twice + removed)
    )
    assert read == Document("One & two\nleft\tright\na\tb", 0, 0)


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("pdf", encrypted(pdf(["secret"]), "swordfish"), "encrypted PDF"),
        ("pdf", b"%PDF-1.7\nnothing of it", "broken PDF"),
        ("pdf", pdf([""]), "no text in it, perhaps only pictures of text"),
        ("docx", b"PK\x03\x04 no more", "broken DOCX"),
        ("docx", docx("", name="xl/workbook.xml"), "broken DOCX"),
        ("docx", docx(paragraph("&x;"), before='<!DOCTYPE x [<!ENTITY x "y">]>'), "broken DOCX"),
        ("docx", docx("<w:p><w:r>"), "broken DOCX"),
        ("docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted document"),
        ("docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 WordDocument", "document of an old kind"),
        ("docx", swollen(), "broken DOCX"),
    ],
)
async def test_what_cannot_be_read_says_why(kind: Kind, body: bytes, why: str) -> None:
    """Encrypted, broken, empty, or made to be more than it looks: one short reason each, and no error of a library."""
    with pytest.raises(Unreadable) as unread:
        await Reading().text(kind, body)
    assert unread.value.why == why


async def test_a_pdf_that_only_its_owner_may_copy_is_read() -> None:
    """It is encrypted with an empty password, and every program shows it."""
    assert (await Reading().text("pdf", encrypted(pdf(["Minutes"]), ""))).text == "Minutes"


async def test_a_document_that_takes_too_long_is_ended_and_holds_nobody() -> None:
    """The loop goes on meanwhile; when the time is up, or nobody waits any more, no process is left."""
    body, late_s, others = endless(), list[float](), _children()

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            late_s.append(time.perf_counter() - began)

    ticking = asyncio.create_task(tick())
    with pytest.raises(Unreadable) as unread:
        await Reading(within_s=0.8).text("pdf", body)
    assert unread.value.why == "it takes too long to read"
    waiting = asyncio.create_task(Reading().text("pdf", body))
    while not _children() - others:  # noqa: ASYNC110 - the kernel tells of no event
        await asyncio.sleep(0.005)
    waiting.cancel()
    await asyncio.wait([waiting])
    ticking.cancel()
    assert waiting.cancelled()
    assert _children() <= others
    assert len(late_s) > 5


def _children() -> set[str]:
    """The processes that this one has started and that still run."""
    own = os.getpid()
    return set(Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split())
