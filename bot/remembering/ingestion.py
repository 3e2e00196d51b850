"""The worker that reads places for durable memory: claims one, takes back, asks the model, checks, stores (I8, I14)."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import structlog

from bot.crash import crash_point
from bot.metrics import MEMORY_ENTRIES, MEMORY_TAKEN_BACK
from bot.remembering.courtesy import Courtesy, Patience
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from memory import ingestion
from memory.batches import Batch, read_batch
from memory.checks import check
from memory.database import BORROW_S, Borrowed, Pool, is_passing
from memory.errors import LeaseGone, ModelAway, QuestionRefused
from memory.extraction import question, read
from memory.ingestion import Claim
from memory.owners import Caps
from memory.ports import TextModel
from memory.revocation import take_back

log = structlog.get_logger(__name__)

ANSWER_S: Final = 180.0
LET_GO_S: Final = 2.0


class Reader:
    """Reads places one after the other. Any number may run, here and in other processes."""

    def __init__(
        self,
        pool: Pool,
        model: TextModel,
        model_name: str,
        ledger: Ledger,
        caps: Caps,
        pace: Pace,
        courtesy: Courtesy | None = None,
    ) -> None:
        self._pool = pool
        self._model = model
        self._model_name = model_name
        self._ledger = ledger
        self._caps = caps
        self._pace = pace
        self._courtesy = courtesy or Courtesy()

    async def run(self) -> None:
        """Read for ever."""
        while True:
            if not await self.step():
                await asyncio.sleep(self._pace.poll_s)

    async def step(self) -> bool:
        """Deal with one place; False where there was none to deal with."""
        patience = self._courtesy.job()
        await patience.give_way()
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            claimed = await ingestion.claim(
                conn,
                lease_s=self._pace.lease_s,
                quiet_s=self._pace.quiet_s,
                longest_s=self._pace.longest_s,
                stopped=self._pace.stopped,
            )
        if claimed is None:
            return False
        crash_point("after_memory_claim")
        try:
            async with asyncio.timeout(self._pace.work_s):
                await self._serve(claimed, patience)
        except LeaseGone:
            log.warning("memory.lease_gone", space_id=claimed.space_id, place_id=claimed.place_id)
        except TimeoutError:
            log.warning("memory.slow", space_id=claimed.space_id, place_id=claimed.place_id)
            await self._give_up(claimed, "slow")
        except BaseException as error:
            await self._give_up(claimed, "broken" if isinstance(error, Exception) and not is_passing(error) else None)
            raise
        return True

    async def _serve(self, claimed: Claim, patience: Patience) -> None:
        while await self._take_back(claimed):
            pass
        if not claimed.due:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await ingestion.let_go(conn, claimed)
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            batch = await read_batch(
                conn,
                claimed.space_id,
                claimed.place_id,
                after=claimed.done,
                target=claimed.target,
                limit=claimed.limit,
            )
        if not batch.says_something:
            async with self._transaction() as conn:
                await ingestion.finish(conn, claimed, batch, Counter())
            return
        try:
            await self._extract(claimed, batch, patience)
        except ModelAway as away:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                pause_s = await ingestion.postpone(conn, claimed, code=away.code, after_s=away.after_s)
            log.warning("memory.model_away", code=away.code, place_id=claimed.place_id, retry_in_s=pause_s)
        except QuestionRefused as refusal:
            async with self._transaction() as conn:
                parked = await ingestion.split(conn, claimed, batch, code=refusal.code)
            if parked:
                log.error("memory.parked", code=refusal.code, place_id=claimed.place_id, message_ids=list(parked))
            else:
                log.info("memory.split", code=refusal.code, place_id=claimed.place_id, messages=len(batch.messages))

    async def _take_back(self, claimed: Claim) -> bool:
        """Deal with what was edited and deleted; True if there is more of it."""
        async with self._transaction() as conn:
            taken = await take_back(conn, claimed)
            crash_point("before_taken_back")
        if taken.messages:
            crash_point("after_taken_back")
            MEMORY_TAKEN_BACK.inc(taken.memories)
            log.info(
                "memory.taken_back",
                place_id=claimed.place_id,
                messages=taken.messages,
                memories=taken.memories,
                links=taken.links,
            )
        return taken.more

    async def _extract(self, claimed: Claim, batch: Batch, patience: Patience) -> None:
        asked = question(batch)
        async with self._ledger.request(
            "extraction",
            self._model_name,
            space_id=claimed.space_id,
            place_id=claimed.place_id,
            items=len(batch.messages),
        ) as request:
            answer = await self._model.ask(asked, within_s=ANSWER_S)
            request.prompt_tokens, request.completion_tokens = answer.prompt_tokens, answer.completion_tokens
            extracted = await asyncio.to_thread(read, answer)
        crash_point("after_extraction")
        verdict = await asyncio.to_thread(check, batch, extracted)
        await patience.give_way()
        async with self._transaction() as conn:
            counts = await ingestion.write(conn, claimed, batch, verdict, self._caps, between=patience.give_way)
            crash_point("before_memory_commit")
        crash_point("after_memory_commit")
        for outcome, count in counts.items():
            MEMORY_ENTRIES.labels(outcome).inc(count)
        log.info("memory.read", place_id=claimed.place_id, messages=len(batch.messages), **_named(counts))

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Borrowed]:
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            yield conn

    async def _give_up(self, claimed: Claim, code: str | None) -> None:
        """Give the place back: as it was where this process ends or PostgreSQL is away, else after a pause."""
        try:
            async with asyncio.timeout(LET_GO_S), self._pool.acquire(timeout=LET_GO_S) as conn:
                if code is not None:
                    await ingestion.postpone(conn, claimed, code=code)
                else:
                    await ingestion.let_go(conn, claimed)
        except Exception as fault:
            # The lease runs out by itself.
            log.warning("memory.not_given_back", place_id=claimed.place_id, error=type(fault).__name__)


def _named(counts: Counter[str]) -> dict[str, int]:
    return {outcome.replace(":", "_"): count for outcome, count in counts.items() if count}
