"""Where a person types and reads: a terminal, or lines on a pipe or in a file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import termios
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from sandbox.terminal.editor import CLEAR_ROW, Editor

_CHUNK = 4096
_COLUMNS = 80  # where the terminal does not say
_LOCAL_FLAGS = 3  # where termios.tcgetattr keeps them


class Console:
    """Lines in and text out. Use as an async context manager; a terminal is given back as it was.

    `source` is what is typed, a file descriptor that nobody else reads meanwhile; `sink` is where text goes.
    When `source` is a terminal, the prompt and the line under way stay below everything that is shown.
    """

    def __init__(self, source: int, sink: TextIO) -> None:
        self.interactive = os.isatty(source)
        self.prompt = ""
        self._source = source
        self._sink = sink
        self._editor = Editor()
        self._rest = b""
        self._gone = False
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._reader: _Reader | None = None
        self._saved: list[int | list[bytes | int]] | None = None

    async def __aenter__(self) -> Self:
        if self.interactive:
            self._saved = termios.tcgetattr(self._source)
            changed = termios.tcgetattr(self._source)
            changed[_LOCAL_FLAGS] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._source, termios.TCSADRAIN, changed)
        self._reader = _Reader(self._source, self._take)
        self._draw()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader is not None:
            await self._reader.stop()
        if self._saved is not None:
            self._write(CLEAR_ROW)
            with contextlib.suppress(termios.error):  # a terminal that has closed needs nothing back
                termios.tcsetattr(self._source, termios.TCSADRAIN, self._saved)

    async def line(self) -> str | None:
        """The next line without its end, None when there are no more."""
        return await self._lines.get()

    def show(self, text: str) -> None:
        """Print whole lines above the one that is being typed."""
        self._write(f"{CLEAR_ROW if self.interactive else ''}{text}\n")
        self._draw()

    def ask(self, prompt: str) -> None:
        """Set the prompt; pipes show none."""
        self.prompt = prompt
        self._draw()

    def dim(self, text: str) -> str:
        """Text in the background of the talk, where the terminal can."""
        return f"\x1b[2m{text}\x1b[0m" if self.interactive and "NO_COLOR" not in os.environ else text

    def _draw(self) -> None:
        if self.interactive:
            self._write(self._editor.row(self.prompt, self._columns()))

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._source).columns or _COLUMNS
        except OSError:  # it has closed; the next write will say so
            return _COLUMNS

    def _write(self, text: str) -> None:
        """Write and flush. Where nobody reads any more, that ends the input too: the chat is over."""
        if self._gone:
            return
        try:
            self._sink.write(text)
            self._sink.flush()
        except OSError:
            self._gone = True
            self._lines.put_nowait(None)

    def _take(self, data: bytes) -> None:
        """Bytes from the reader; none means the end."""
        if self.interactive:
            for line in self._editor.feed(data):
                self._lines.put_nowait(line)
            if not data or self._editor.ended:
                self._lines.put_nowait(None)
            self._draw()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._lines.put_nowait(line.decode(errors="replace").removesuffix("\r"))
        if not data:
            self._lines.put_nowait(None)


class _Reader:
    """A thread that reads, since neither every event loop nor every file can be waited for otherwise.

    It waits for the source and for a pipe of its own at once, so that it ends when it is told to.
    """

    def __init__(self, source: int, take: Callable[[bytes], None]) -> None:
        self._source = source
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._read, name="console", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._source, self._woken], [], [])
            if self._woken in ready:
                return
            try:
                data = os.read(self._source, _CHUNK)
            except OSError:  # a terminal whose other side has closed
                data = b""
            self._loop.call_soon_threadsafe(self._take, data)
            if not data:
                return

    async def stop(self) -> None:
        os.write(self._wake, b"x")
        await asyncio.to_thread(self._thread.join)
        os.close(self._wake)
        os.close(self._woken)
