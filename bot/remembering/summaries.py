"""The worker that keeps a running summary of each place."""

import asyncio
from typing import Final

import structlog

from bot.crash import crash_point
from bot.remembering.ledger import Ledger
from bot.remembering.pace import Pace
from memory import summaries
from memory.database import BORROW_S, Pool
from memory.errors import ModelAway, QuestionRefused
from memory.ids import MessageId
from memory.ports import TextModel
from memory.summaries import Stretch, SummaryClaim

log = structlog.get_logger(__name__)

ANSWER_S: Final = 120.0
GIVE_BACK_S: Final = 2.0
AWAY_S: Final = 60.0


class Summaries:
    """Sums up places one after the other. `every`: messages that make a summary worth writing again."""

    def __init__(
        self, pool: Pool, model: TextModel, model_name: str, ledger: Ledger, *, every: int, pace: Pace
    ) -> None:
        self._pool = pool
        self._model = model
        self._model_name = model_name
        self._ledger = ledger
        self._every = every
        self._pace = pace

    async def run(self) -> None:
        """Sum up for ever."""
        while True:
            if not await self.step():
                await asyncio.sleep(self._pace.poll_s)

    async def step(self) -> bool:
        """Look at one place; False where nothing was said anywhere."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            claimed = await summaries.claim_summary(
                conn,
                lease_s=self._pace.lease_s,
                quiet_s=self._pace.quiet_s,
                longest_s=self._pace.longest_s,
                stopped=self._pace.stopped,
            )
            if claimed is None:
                return False
            crash_point("after_summary_claim")
            stretch = await summaries.read_stretch(conn, claimed)
        try:
            async with asyncio.timeout(self._pace.work_s):
                await self._serve(claimed, stretch)
        except BaseException as error:
            await self._give_up(claimed, failed=isinstance(error, Exception))
            raise
        return True

    async def _serve(self, claimed: SummaryClaim, stretch: Stretch) -> None:
        if len(stretch.lines) < self._every and not stretch.more:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                if claimed.anew:
                    # What is left is not worth a summary, and what there was may not be shown.
                    await summaries.write_summary(conn, claimed, Stretch((), MessageId(0), MessageId(0), False), "")
                else:
                    await summaries.wait_for_more(conn, claimed)
            return
        try:
            async with self._ledger.request(
                "summary",
                self._model_name,
                space_id=claimed.space_id,
                place_id=claimed.place_id,
                items=len(stretch.lines),
            ) as request:
                answer = await self._model.ask(summaries.summary_question(claimed, stretch), within_s=ANSWER_S)
                request.prompt_tokens, request.completion_tokens = answer.prompt_tokens, answer.completion_tokens
                content = summaries.read_answer(answer)
        except ModelAway as away:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await summaries.try_later(
                    conn, claimed, failure=away.code, shorter=False, after_s=away.after_s or AWAY_S
                )
            log.warning("memory.summary_postponed", code=away.code, place_id=claimed.place_id)
            return
        except QuestionRefused as refusal:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                if summaries.is_last_try(claimed):
                    await summaries.skip(conn, claimed, stretch, failure=refusal.code)
                else:
                    await summaries.try_later(conn, claimed, failure=refusal.code, shorter=True)
            log.warning("memory.summary_refused", code=refusal.code, place_id=claimed.place_id)
            return
        crash_point("after_summary")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            kept = await summaries.write_summary(conn, claimed, stretch, content)
            if not kept:
                await summaries.try_later(conn, claimed, failure=None, shorter=False)
        log.info("memory.summed_up", place_id=claimed.place_id, messages=len(stretch.lines), kept=kept)

    async def _give_up(self, claimed: SummaryClaim, *, failed: bool) -> None:
        try:
            async with asyncio.timeout(GIVE_BACK_S), self._pool.acquire(timeout=GIVE_BACK_S) as conn:
                await summaries.try_later(conn, claimed, failure="broken" if failed else None, shorter=False)
        except Exception as error:
            # The lease runs out by itself.
            log.warning("memory.not_given_back", place_id=claimed.place_id, error=type(error).__name__)
