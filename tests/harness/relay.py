"""A line to PostgreSQL that can be cut: for tests in which the server is away, and the other tests' server is not."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit


@dataclass(slots=True)
class Relay:
    """Passes everything on while it is not cut. `url` is what to connect to instead."""

    url: str
    _server: Path
    _here: Path
    _listening: asyncio.Server | None = None
    _passing: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def mend(self) -> None:
        """Listen, from the beginning or again."""
        self._listening = await asyncio.start_unix_server(self._pass_on, str(self._here))

    async def cut(self) -> None:
        """End every connection, and let nobody in: the socket is gone, as with a server that is down."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
            self._here.unlink(missing_ok=True)
        for task in self._passing:
            task.cancel()
        if self._passing:
            await asyncio.wait(self._passing)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            theirs, to_them = await asyncio.open_unix_connection(str(self._server))
            try:
                await asyncio.wait(
                    [asyncio.create_task(_copy(reader, to_them)), asyncio.create_task(_copy(theirs, writer))],
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                to_them.close()
        finally:
            self._passing.discard(task)
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


@contextlib.asynccontextmanager
async def open_relay(database_url: str, folder: Path) -> AsyncGenerator[Relay]:
    """A relay to the server of `database_url`, with its socket in `folder`, while the block runs."""
    parts = urlsplit(database_url)
    server = Path(parse_qs(parts.query)["host"][0]) / ".s.PGSQL.5432"
    url = f"postgresql://postgres@{parts.path}?host={quote(str(folder))}&port=5432"
    relay = Relay(url, server, folder / ".s.PGSQL.5432")
    await relay.mend()
    try:
        yield relay
    finally:
        await relay.cut()
