"""The worker that gives memories their vectors, in small batches, and never in anybody's way."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from bot.crash import crash_point
from bot.metrics import EMBEDDED
from bot.remembering.courtesy import Courtesy
from bot.remembering.episodes import EpisodeEmbedding
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from memory import embedding
from memory.database import BORROW_S, Connection, Pool, is_passing
from memory.embedding import Job, Model
from memory.errors import ModelAway, ModelTrouble, QuestionRefused
from memory.ids import SpaceId
from memory.ingestion import pause_after
from memory.ports import Embedder

log = structlog.get_logger(__name__)

ANSWER_S: Final = 60.0
GIVE_BACK_S: Final = 2.0
INDEX_S: Final = 3_600.0
INDEXES_EVERY_S: Final = 3_600.0


class Embedding:
    """Embeds what waits, with one model, for as long as that is the current one."""

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        ledger: Ledger,
        connect: Callable[[], Awaitable[Connection]],
        *,
        batch: int,
        pace: Pace,
        courtesy: Courtesy | None = None,
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._ledger = ledger
        self._connect = connect
        self._batch = batch
        self._pace = pace
        self._courtesy = courtesy or Courtesy()
        self._episodes = EpisodeEmbedding(pool, embedder, ledger, batch=batch, pace=pace)
        self._model: Model | None = None
        self._after = 0
        self._rested_until = 0.0
        self._indexes_due = 0.0

    async def run(self) -> None:
        """Embed for ever. This process's model becomes the current one as soon as there is anything to embed."""
        while True:
            if not await self.step():
                await asyncio.sleep(self._pace.poll_s)

    async def step(self) -> bool:
        """Embed one batch, or queue some of what lacks a vector; False where there was nothing to do."""
        model = self._model
        if model is None:
            if not await self._needed():
                return False
            model = self._model = await self._adopt()
        queued = not model.filled and await self._fill(model)
        if time.monotonic() < self._rested_until:
            return False
        await self._courtesy.job().give_way()
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            jobs = await embedding.claim(conn, model, most=self._batch, lease_s=self._pace.lease_s)
            if not jobs and not queued:
                await embedding.drop_former(conn, model)
        if not jobs:
            if not queued:
                await self._make_indexes(model)
            return queued or await self._step_episodes(model)
        crash_point("after_embedding_claim")
        try:
            async with asyncio.timeout(self._pace.work_s):
                await self._embed(model, jobs)
        except BaseException as error:
            await self._give_back(jobs, None if _is_no_fault(error) else "broken")
            raise
        return True

    async def _step_episodes(self, model: Model) -> bool:
        pause_s = await self._episodes.step(model)
        if pause_s:
            self._rested_until = time.monotonic() + pause_s
        return pause_s is not None

    async def _needed(self) -> bool:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await embedding.anything_to_embed(conn)

    async def _adopt(self) -> Model:
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            model = await embedding.adopt(conn, self._embedder.name, self._embedder.dimensions)
        self._after = 0
        return model

    async def _make_indexes(self, model: Model) -> None:
        """Look whether a space has grown so large that it wants an index of its own; now and then is enough."""
        if time.monotonic() < self._indexes_due:
            return
        self._indexes_due = time.monotonic() + INDEXES_EVERY_S
        # A connection of its own: the server waits for others while it makes an index beside their writes.
        conn = await self._connect()
        try:
            async with asyncio.timeout(INDEX_S):
                for space_id in await embedding.make_indexes(conn, model):
                    log.info("memory.vectors_indexed", model=model.name, space_id=space_id)
        except Exception as error:
            # Without it, vectors are compared one by one: slower, and as right.
            log.warning("memory.vectors_not_indexed", model=model.name, error=f"{type(error).__name__}: {error}")
        finally:
            conn.terminate()

    async def _fill(self, model: Model) -> bool:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            last = await embedding.fill(conn, model, self._after)
        if last is not None:
            self._after = last
            return True
        self._model = Model(model.model_id, model.name, model.dimensions, filled=True)
        return False

    async def _embed(self, model: Model, jobs: Sequence[Job]) -> None:
        try:
            async with self._ledger.request(
                "embedding", model.name, space_id=_space_of(jobs), place_id=None, items=len(jobs)
            ) as request:
                found = await self._embedder.embed([job.text for job in jobs], within_s=ANSWER_S)
                request.prompt_tokens = found.prompt_tokens
        except QuestionRefused as refusal:
            await self._split(model, jobs, refusal)
            return
        except ModelTrouble as trouble:
            # Wrong vectors are no vectors: nothing is stored, and nothing is done.
            asked_s = trouble.after_s if isinstance(trouble, ModelAway) else None
            pause_s = max(pause_after(max(job.attempts for job in jobs) + 1), asked_s or 0.0)
            await self._give_back(jobs, trouble.code, pause_s)
            # The next batch would meet the same.
            self._rested_until = time.monotonic() + pause_s
            log.warning("memory.not_embedded", code=trouble.code, reason=trouble.message, retry_in_s=pause_s)
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            kept = await embedding.store_vectors(conn, model, jobs, found.vectors)
            crash_point("before_vectors_commit")
        crash_point("after_vectors_commit")
        EMBEDDED.inc(kept)
        log.debug("memory.embedded", memories=kept, of=len(jobs))

    async def _split(self, model: Model, jobs: Sequence[Job], refusal: QuestionRefused) -> None:
        """Find the text that is refused, by halves; alone, it is tried again later, and later."""
        if len(jobs) > 1:
            middle = len(jobs) // 2
            await self._embed(model, jobs[:middle])
            await self._embed(model, jobs[middle:])
            return
        pause_s = pause_after(jobs[0].attempts + 1)
        await self._give_back(jobs, refusal.code, pause_s)
        log.warning("memory.text_not_embedded", memory_id=jobs[0].memory_id, code=refusal.code, retry_in_s=pause_s)

    async def _give_back(self, jobs: Sequence[Job], failure: str | None, after_s: float | None = None) -> None:
        pause_s = pause_after(max(job.attempts for job in jobs) + 1) if after_s is None and failure else after_s or 0.0
        try:
            async with asyncio.timeout(GIVE_BACK_S), self._pool.acquire(timeout=GIVE_BACK_S) as conn:
                await embedding.give_back(conn, jobs, after_s=pause_s, failure=failure)
        except Exception as error:
            # The leases run out by themselves.
            log.warning("memory.not_given_back", jobs=len(jobs), error=type(error).__name__)


def _is_no_fault(error: BaseException) -> bool:
    return not isinstance(error, Exception) or is_passing(error)


def _space_of(jobs: Sequence[Job]) -> SpaceId:
    """The space of a batch; 0, which is the application's own, where it is of several."""
    spaces = {job.space_id for job in jobs}
    return spaces.pop() if len(spaces) == 1 else SpaceId(0)
