"""A connection pooler in transaction mode, as PgBouncer is often set up: enough of it to show what it does to sessions.

Each transaction of a client is served by whatever server connection is free; whatever a session would keep between two
transactions (locks, LISTEN, prepared statements) is somebody else's the next time.
"""

import asyncio
import contextlib
import struct
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

_REFUSED_CODES = frozenset({80877103, 80877104})  # SSLRequest, GSSENCRequest
_CANCEL = 80877102


@dataclass(eq=False, slots=True)
class _Server:
    """One connection to PostgreSQL. `to` takes its frames while a client has it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    greeting: bytes = b""
    to: asyncio.StreamWriter | None = None
    pump: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Pooler:
    """Listens on a unix socket in `folder`; the server connection that was given back last is the next to be used."""

    server_socket: Path
    folder: Path
    _free: list[_Server] = field(default_factory=list[_Server])
    _all: list[_Server] = field(default_factory=list[_Server])

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}&port=5432"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, from its startup packet to its end."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            startup = await _startup(reader, writer)
            if startup is not None:
                await self._serve(startup, reader, writer)
        writer.close()

    async def _serve(self, startup: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        spare = await self._take(startup)
        writer.write(spare.greeting)
        self._free.append(spare)
        held: _Server | None = None

        def given_back() -> None:
            nonlocal held
            held = None

        while True:
            kind, frame = await _frame(reader)
            if kind == b"X":
                return
            if held is None:
                held = await self._take(startup)
                held.to = writer
                held.pump = asyncio.create_task(self._forward(held, given_back))
            held.writer.write(frame)

    async def _take(self, startup: bytes) -> _Server:
        if self._free:
            return self._free.pop()
        server = _Server(*await asyncio.open_unix_connection(str(self.server_socket)))
        server.writer.write(startup)
        kind = b""
        while kind != b"Z":
            kind, frame = await _frame(server.reader)
            server.greeting += frame
        self._all.append(server)
        return server

    async def _forward(self, server: _Server, given_back: Callable[[], None]) -> None:
        """The server's answers, until it is outside of a transaction; then it is free for anybody."""
        while True:
            kind, frame = await _frame(server.reader)
            assert server.to is not None
            if kind == b"Z" and frame[-1:] == b"I":
                given_back()
                self._free.append(server)
                server.to.write(frame)
                return
            server.to.write(frame)

    async def close(self) -> None:
        for server in self._all:
            if server.pump is not None:
                server.pump.cancel()
                await asyncio.wait([server.pump])
            server.writer.close()


async def _startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes | None:
    while True:
        (length,) = struct.unpack("!i", await reader.readexactly(4))
        rest = await reader.readexactly(length - 4)
        (code,) = struct.unpack("!i", rest[:4])
        if code == _CANCEL:
            return None
        if code not in _REFUSED_CODES:
            return struct.pack("!i", length) + rest
        writer.write(b"N")


async def _frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    (length,) = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(length - 4)


@contextlib.asynccontextmanager
async def open_pooler(server_socket: Path, folder: Path) -> AsyncGenerator[Pooler]:
    """A pooler before the server of that socket, while the block runs."""
    pooler = Pooler(server_socket, folder)
    listening = await asyncio.start_unix_server(pooler.handle, str(folder / ".s.PGSQL.5432"))
    try:
        yield pooler
    finally:
        listening.close()
        await pooler.close()
