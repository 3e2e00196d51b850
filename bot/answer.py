"""Answering: what a worker does with one claimed turn, from what stands in its place to a composed answer (I3).

bot.thinking runs the loop, bot.delivery says what was composed.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final, Literal

import structlog

from agent.contracts import RunOutcome
from agent.ending import Ending, abandon_run, finish_run
from bot import turns
from bot.addressing import Identity
from bot.allowance import Forbidden, budget_of, forbidden
from bot.commitment import compose
from bot.composing import FAILURES, shape_of, worded
from bot.crash import crash_point
from bot.delivery import Delivery
from bot.drafts import Draft, Drafts
from bot.events import Dispatch
from bot.guild_rules import RulesDoor
from bot.guild_settings import GuildSettingsDoor
from bot.progress import Progress
from bot.routes import Routes, Shown, Told
from bot.thinking import Budgets, Scene, Thinker
from bot.turns import Outcome, Part, Turn
from bot.unasked import spoken
from bot.writes import Writes
from memory.context import WorkingSet, working_set
from memory.database import BORROW_S, Borrowed, Pool
from memory.ids import RunId
from memory.recall import note_references

log = structlog.get_logger(__name__)

TYPING_AFTER_S: Final = 0.25
"""An answer that is quicker than this needs no announcement."""

MOST_ATTEMPTS: Final = 6
"""How often a turn is taken up before its member is told that it does not work."""

EXPIRED_MARK: Final = "⌛"

_CITED: Final = re.compile(r"\b(memory|episode) (\d{1,18})\b", re.IGNORECASE)


# What kind of author a message has.
ASKER_KIND_SQL: Final = "SELECT author_kind FROM chat_messages WHERE space_id = $1 AND message_id = $2"


class Answerer:
    """Serves claimed turns. Raises TurnLost or LeaseLost where a turn is no longer ours."""

    def __init__(
        self,
        pool: Pool,
        thinker: Thinker,
        settings: GuildSettingsDoor,
        rules: RulesDoor,
        writes: Writes,
        me: Identity,
        budgets: Budgets,
        drafts: Drafts,
        routes: Routes,
        accept: Callable[[Dispatch], Awaitable[object] | None] | None = None,
    ) -> None:
        """`accept` is the door of the journal's writer, in a process that has one."""
        self._pool = pool
        self._thinker = thinker
        self._settings = settings
        self._rules = rules
        self._writes = writes
        self._budgets = budgets
        self._drafts = drafts
        self._routes = routes
        self._delivery = Delivery(pool, writes, me, drafts, settings, accept)

    async def serve(self, turn: Turn) -> None:
        """Bring the turn to its end, from wherever an earlier attempt left it."""
        if turn.state in ("composed", "delivering"):
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                committed = await turns.composed_parts(conn, turn)
            begun = bool(committed) and committed[0].receipt.state == "applied"
            draft = None if begun else await self._drafts.left_by(turn)
            await self._delivery.deliver(turn, committed, draft)
        elif turn.unwanted:
            await self.cancelled(turn)
        elif turn.overdue:
            await self._expire(turn)
        elif turn.attempts > MOST_ATTEMPTS:
            await self._tell(turn, FAILURES["broken"], "broken")
        elif turn.route is not None and await self._routed(turn):
            pass
        elif turn.notice is not None:
            await self._tell(turn, turn.notice, "notice")
        else:
            with contextlib.ExitStack() as at_last:
                await self._answer(turn, at_last)

    async def _routed(self, turn: Turn) -> bool:
        """Let the route that claimed the turn bring it to its end; False where it passes after all."""
        match await self._routes.serve(turn):
            case None:
                return False
            case Told(text, reason):
                await self._tell(turn, text, reason, outcome="answer")
            case Shown(reason):
                async with self._pool.acquire(timeout=BORROW_S) as conn:
                    await turns.end(conn, turn, "answered", reason=reason)
        return True

    async def cancelled(self, turn: Turn) -> None:
        """The trigger was deleted, or the turn stopped, before an answer was composed: nothing is said (I3)."""
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            reason = await turns.cancel_reason(conn, turn)
            await turns.end(conn, turn, "cancelled", reason=reason)
            await self._abandon(conn, turn, "cancelled", reason)
        await self._drafts.clear(turn)

    async def _expire(self, turn: Turn) -> None:
        """Mark a message that came too long ago to be answered with one reaction, and end its turn and run."""
        marked = await self._delivery.react(turn, EXPIRED_MARK)
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await turns.end(conn, turn, "expired", reason=None if marked == "applied" else f"unmarked:{marked}")
            await self._abandon(conn, turn, "cancelled", "expired")

    async def _abandon(self, conn: Borrowed, turn: Turn, state: Literal["failed", "cancelled"], reason: str) -> None:
        """End the run that an earlier attempt may have begun."""
        await abandon_run(conn, turn.turn_id, state=state, reason=reason, prices=self._budgets.prices)

    async def _answer(self, turn: Turn, at_last: contextlib.ExitStack) -> None:
        """`at_last` is for what nobody has to wait for."""
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(self._forbidden(turn))
            ruling = group.create_task(self._rules.of(turn.space_id, turn.place_id))
            recent = await self._recent(turn)
        why = looking.result()
        scene = None if recent.trigger is None else Scene(recent.trigger, recent, ruling.result())
        if turn.reason == "ambient":
            await self._speak_up(turn, scene, at_last, quiet=why is not None)
            return
        if why is not None:
            log.warning("turn.forbidden", why=why)
            await self._tell(turn, FAILURES[why], why)
            return
        if scene is None:
            # Deleted between the claim and now.
            await self.cancelled(turn)
            return
        settings = await self._settings.of(turn.space_id, turn.place_id)
        names = scene.names
        progress = Progress(
            self._drafts,
            turn,
            self._budgets.progress_s,
            settings.streaming,
            names,
            settings.language,
            settings.reply_ping,
        )
        async with self._shown(turn, progress, settings.ack_reaction):
            outcome, run_id = await self._thinker.think(turn, scene, progress)
            at_last.callback(_log_end, outcome, run_id)
            told, composed = await self._compose(turn, outcome, run_id, names)
            draft = await progress.finish()
            if draft is None and (progress.is_open or turn.lease_no > 1):
                draft = await self._drafts.left_by(turn)
        if composed:
            await self._deliver(turn, composed, told, draft)
        else:
            await self._drafts.clear(turn)

    async def _speak_up(self, turn: Turn, scene: Scene | None, at_last: contextlib.ExitStack, *, quiet: bool) -> None:
        """Say something unasked, or nothing: no typing, no error, no trace of a thought that led to nothing."""
        outcome, run_id, said = None, 0, None
        if scene is not None and not quiet:
            outcome, run_id = await self._thinker.think(turn, scene, Progress(self._drafts, turn, 0.0))
            at_last.callback(_log_end, outcome, run_id)
            said = spoken(outcome.text) if outcome.kind == "answered" else None
        if scene is not None and outcome is not None and said is not None:
            heard = replace(outcome, text=said, reason="answered")
            told, composed = await self._compose(turn, heard, run_id, scene.names)
            await self._deliver(turn, composed, told)
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            await turns.end(conn, turn, "cancelled", reason="silent")
            if outcome is not None:
                await finish_run(conn, Ending(run_id, "cancelled", outcome, "silent", self._budgets.prices))

    async def _forbidden(self, turn: Turn) -> Forbidden | None:
        settings = await self._settings.of(turn.space_id, turn.place_id)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await forbidden(conn, turn, budget_of(settings), switched_off=self._budgets.stopped)

    async def _recent(self, turn: Turn) -> WorkingSet:
        settings = await self._settings.of(turn.space_id, turn.place_id)
        return await working_set(
            self._pool,
            turn.scope,
            turn.trigger_id,
            most_messages=self._budgets.messages,
            most_tokens=self._budgets.context_tokens,
            only=None if settings.context_of_others else turn.author_id,
        )

    async def _compose(
        self, turn: Turn, outcome: RunOutcome, run_id: int, names: Mapping[int, str]
    ) -> tuple[Outcome, tuple[Part, ...]]:
        """Commit to what will be said, with the run's end, before anything is said."""
        text = await worded(self._pool, turn.scope, turn.author_id, outcome.text or "", names)
        shape, reason = shape_of(outcome, text)
        told: Outcome = "answer" if outcome.kind == "answered" and reason != "empty_answer" else "error"
        state = "answered" if told == "answer" else "failed"
        ending = Ending(run_id, state, outcome, reason, self._budgets.prices)
        memories, episodes = (_cited(outcome, what) for what in ("memory", "episode"))
        composed: tuple[Part, ...] = ()
        async with self._pool.acquire(timeout=BORROW_S) as conn, contextlib.AsyncExitStack() as stack:
            if told == "error" or memories or episodes:
                await stack.enter_async_context(conn.transaction())
            if told == "error" and await _ended_untold(conn, turn, reason):
                await finish_run(conn, ending)
            else:
                composed = await compose(
                    conn, turn, shape.parts, outcome=told, reason=reason, attached=shape.attached, ending=ending
                )
            await note_references(conn, turn.scope, RunId(run_id), memories, episodes)
        crash_point("after_composed")
        return told, composed

    async def _tell(self, turn: Turn, sentence: str, reason: str, *, outcome: Outcome = "error") -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            composed: tuple[Part, ...] = ()
            if not await _ended_untold(conn, turn, reason):
                composed = await compose(conn, turn, (sentence,), outcome=outcome, reason=reason)
            await self._abandon(conn, turn, "failed", reason)
        if composed:
            await self._deliver(turn, composed, outcome)

    async def _deliver(
        self, turn: Turn, composed: tuple[Part, ...], outcome: Outcome, draft: Draft | None = None
    ) -> None:
        await self._delivery.deliver(replace(turn, state="composed", outcome=outcome), composed, draft)

    @contextlib.asynccontextmanager
    async def _shown(self, turn: Turn, progress: Progress, reaction: str | None) -> AsyncGenerator[None]:
        """Typing, and what shows how far we are, while we work; over on every way out."""
        tasks = [asyncio.create_task(self._writes.keep_typing(turn.place_id, after_s=TYPING_AFTER_S))]
        if progress.is_wanted:
            tasks.append(asyncio.create_task(progress.run(), name="progress"))
        if reaction is not None:
            tasks.append(asyncio.create_task(self._acknowledge(turn, reaction), name="acknowledge"))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _acknowledge(self, turn: Turn, reaction: str) -> None:
        """React to the message, so that its author knows that it was heard. Where it fails, the answer comes all the
        same."""
        try:
            await self._delivery.react(turn, reaction)
        except Exception as error:
            log.warning("turn.not_acknowledged", turn_id=turn.turn_id, error=type(error).__name__)


def _log_end(outcome: RunOutcome, run_id: int) -> None:
    """Say how a run ended, when its answer is out, or failed to get out: nobody has to wait for a log."""
    log.info(
        "run.ended",
        run_id=run_id,
        reason=outcome.reason,
        steps=outcome.step + 1,
        calls=outcome.calls,
        prompt_tokens=outcome.usage.prompt_tokens,
        completion_tokens=outcome.usage.completion_tokens,
    )


async def _ended_untold(conn: Borrowed, turn: Turn, reason: str) -> bool:
    """Whether the turn has ended here, and nobody is told why there is no answer: another bot asked, and would only
    answer that."""
    if await conn.fetchval(ASKER_KIND_SQL, turn.space_id, turn.trigger_id) != "bot":
        return False
    await turns.end(conn, turn, "cancelled", reason=f"untold:{reason}")
    return True


def _cited(outcome: RunOutcome, what: Literal["memory", "episode"]) -> list[int]:
    """The memories, or episodes, that an answer names by their numbers."""
    found = _CITED.findall(outcome.text or "")
    return sorted({int(number) for word, number in found if word.lower() == what})
