"""The embedded model as benchmarks use it: a process a core, since nobody waits for anything else meanwhile.

With `KEEP=1` in the environment, vectors are kept in bench/out by model and text, and a second run takes them from
there; without it everything is embedded anew.
"""

import asyncio
import hashlib
import os
import tempfile
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import orjson

from bench.figures import OUT, progress
from bot.remembering.embedded import DIMENSIONS, MODEL, EmbeddedEmbeddings
from memory import embedding
from memory.database import Pool
from memory.ports import Embedder, Vectors

_PROCESSES: Final = min(os.cpu_count() or 1, 4)
_AT_ONCE: Final = 256
_REQUEST: Final = 16
"""Texts of one request: it has to be answered in time on a machine with other things to do, too."""


class ManyModels:
    """The same model in several processes, which share the texts."""

    name = MODEL
    dimensions = DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self._models = [EmbeddedEmbeddings(folder / str(number)) for number in range(_PROCESSES)]

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """As the port says."""
        # Texts of one length go together: a group takes as long as its longest.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        groups = deque(order[at : at + _REQUEST] for at in range(0, len(order), _REQUEST))
        made: dict[int, Sequence[float]] = {}

        async def work(model: EmbeddedEmbeddings) -> None:
            while groups:
                ours = groups.pop()
                found = await model.embed([texts[at] for at in ours], within_s=within_s)
                made.update(zip(ours, found.vectors, strict=True))

        async with asyncio.TaskGroup() as group:
            for model in self._models:
                group.create_task(work(model))
        return Vectors([made[at] for at in range(len(texts))])

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """As the port says."""
        return await self._models[0].embed_query(text, within_s=within_s)

    async def aclose(self) -> None:
        """Stop the processes."""
        await asyncio.gather(*(model.aclose() for model in self._models))


class KeptVectors:
    """A model behind a file of vectors that it made before. Save it when done."""

    def __init__(self, model: Embedder, path: Path) -> None:
        self._model = model
        self._path = path
        self._kept: dict[str, Sequence[float]] = orjson.loads(path.read_bytes()) if path.exists() else {}

    @property
    def name(self) -> str:
        """As the port says."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """As the port says."""
        return self._model.dimensions

    async def embed(self, texts: Sequence[str], *, within_s: float) -> Vectors:
        """As the port says."""
        missing = [text for text in texts if self._digest("passage", text) not in self._kept]
        if missing:
            made = await self._model.embed(missing, within_s=within_s)
            for text, vector in zip(missing, made.vectors, strict=True):
                self._kept[self._digest("passage", text)] = list(vector)
        return Vectors([self._kept[self._digest("passage", text)] for text in texts])

    async def embed_query(self, text: str, *, within_s: float) -> Sequence[float]:
        """As the port says."""
        digest = self._digest("query", text)
        if digest not in self._kept:
            self._kept[digest] = list(await self._model.embed_query(text, within_s=within_s))
        return self._kept[digest]

    def save(self) -> None:
        """Write what was made to the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(orjson.dumps(self._kept))

    def _digest(self, purpose: str, text: str) -> str:
        made_of = "\0".join((self.name, str(self.dimensions), purpose, text))
        return hashlib.sha256(made_of.encode()).hexdigest()


@asynccontextmanager
async def open_model() -> AsyncGenerator[Embedder]:
    """The embedded model while the block runs, started with the first text that it has to embed."""
    with tempfile.TemporaryDirectory(prefix="muninn-bench-model-") as folder:
        model = ManyModels(Path(folder))
        kept = KeptVectors(model, OUT / "vectors.json") if os.environ.get("KEEP") == "1" else None
        try:
            yield model if kept is None else kept
        finally:
            if kept is not None:
                kept.save()
            await model.aclose()


async def embed_all(pool: Pool, model: Embedder, bench: str) -> int:
    """Give every memory its vector by the worker's own statements; gives how many there were. Shows its progress."""
    async with pool.acquire() as conn:
        adopted = await embedding.adopt(conn, model.name, model.dimensions)
        done = 0
        while jobs := await embedding.claim(conn, adopted, most=_AT_ONCE, lease_s=900):
            found = await model.embed([job.text for job in jobs], within_s=900)
            done += await embedding.store_vectors(conn, adopted, jobs, found.vectors)
            waiting = await conn.fetchval("SELECT count(*) FROM embedding_jobs")
            progress(f"{bench}: {done:,} memories embedded, {waiting:,} wait")
        await conn.execute("ANALYZE")
    return done
