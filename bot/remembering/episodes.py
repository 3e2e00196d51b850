"""Gives episodes their vectors, when no memory waits for one."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from bot.metrics import EMBEDDED
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from memory.database import BORROW_S, Pool, is_passing
from memory.embedding import Model
from memory.episode_vectors import EpisodeJob, claim_episodes, give_back_episodes, store_episode_vectors
from memory.errors import ModelAway, ModelTrouble, QuestionRefused
from memory.ids import SpaceId
from memory.ingestion import pause_after
from memory.ports import Embedder

log = structlog.get_logger(__name__)

ANSWER_S: Final = 60.0
GIVE_BACK_S: Final = 2.0


class EpisodeEmbedding:
    """Embeds episodes with the model that the caller holds to be the current one."""

    def __init__(self, pool: Pool, embedder: Embedder, ledger: Ledger, *, batch: int, pace: Pace) -> None:
        self._pool = pool
        self._embedder = embedder
        self._ledger = ledger
        self._batch = batch
        self._pace = pace

    async def step(self, model: Model) -> float | None:
        """Embed one batch. Gives how many seconds to leave the model alone, 0 after a batch that went well, and None
        where nothing waits."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            jobs = await claim_episodes(conn, model, most=self._batch, lease_s=self._pace.lease_s)
        if not jobs:
            return None
        try:
            async with asyncio.timeout(self._pace.work_s):
                return await self._embed(model, jobs)
        except BaseException as error:
            no_fault = not isinstance(error, Exception) or is_passing(error)
            await self._give_back(jobs, 0.0 if no_fault else _pause(jobs), failed=not no_fault)
            raise

    async def _embed(self, model: Model, jobs: Sequence[EpisodeJob]) -> float:
        spaces = {job.space_id for job in jobs}
        space_id = spaces.pop() if len(spaces) == 1 else SpaceId(0)
        try:
            async with self._ledger.request(
                "embedding", model.name, space_id=space_id, place_id=None, items=len(jobs)
            ) as request:
                found = await self._embedder.embed([job.text for job in jobs], within_s=ANSWER_S)
                request.prompt_tokens = found.prompt_tokens
        except QuestionRefused as refusal:
            if len(jobs) > 1:
                middle = len(jobs) // 2
                return max(await self._embed(model, jobs[:middle]), await self._embed(model, jobs[middle:]))
            await self._give_back(jobs, _pause(jobs), failed=True)
            log.warning("memory.episode_not_embedded", episode_id=jobs[0].episode_id, code=refusal.code)
            return 0.0
        except ModelTrouble as trouble:
            asked_s = trouble.after_s if isinstance(trouble, ModelAway) else None
            pause_s = max(_pause(jobs), asked_s or 0.0)
            await self._give_back(jobs, pause_s, failed=True)
            log.warning("memory.episodes_not_embedded", code=trouble.code, reason=trouble.message, retry_in_s=pause_s)
            return pause_s
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await store_episode_vectors(conn, model, jobs, found.vectors)
        EMBEDDED.inc(len(jobs))
        return 0.0

    async def _give_back(self, jobs: Sequence[EpisodeJob], after_s: float, *, failed: bool) -> None:
        try:
            async with asyncio.timeout(GIVE_BACK_S), self._pool.acquire(timeout=GIVE_BACK_S) as conn:
                await give_back_episodes(conn, jobs, after_s=after_s, failed=failed)
        except Exception as error:
            # They come due by themselves.
            log.warning("memory.not_given_back", jobs=len(jobs), error=type(error).__name__)


def _pause(jobs: Sequence[EpisodeJob]) -> float:
    return pause_after(max(job.attempts for job in jobs) + 1)
