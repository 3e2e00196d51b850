"""Thinking: from what a turn finds in its place, by the prompt and the loop, to how the run ended. Nothing is said
here."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agent.contracts import PromptMessage, RunOutcome
from agent.limits import Limits
from agent.loop import run
from agent.ports import SpeakingModel
from agent.prices import Prices
from agent.store import Fence, PgRunStore, StoredRun, as_stored, begin_run
from agent.tokens import Gauge
from bot.addressing import Identity
from bot.ai_events import AiEvent, AiEvents
from bot.crash import crash_point
from bot.guild_settings import GuildSettingsDoor
from bot.logs import bind
from bot.metering import MarkedStore, MeteredModel, MeteredToolbox
from bot.outlook import Outlook
from bot.progress import Progress
from bot.prompt import ASKED, render
from bot.seeing.eyes import NOTHING, Eyes
from bot.seeing.pictures import Picture
from bot.seeing.sighted import Sighted
from bot.seeing.surroundings import Surroundings
from bot.turns import Turn
from bot.unasked import REQUEST as UNASKED
from memory.assembly import assemble
from memory.context import Line, WorkingSet, names_of
from memory.database import BORROW_S, Pool
from memory.ids import RunId
from memory.places import is_direct
from memory.recall import Recall, Recalled
from tools.ports import TurnContext
from tools.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Budgets:
    """What one run may use. `context_tokens` and `messages` bound the working set; `stopped`: no run may begin at
    all. After `progress_s` seconds (0: never) the place sees that it is worked on."""

    limits: Limits
    context_tokens: int
    messages: int
    progress_s: float = 0.0
    stopped: bool = False
    prices: Prices | None = None
    vision_model: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a turn finds in its place: the message, what was said before it, and the rules that hold there."""

    trigger: Line
    recent: WorkingSet
    rules: Sequence[str]

    @property
    def names(self) -> Mapping[int, str]:
        """Who speaks here."""
        return names_of([*self.recent.lines, self.trigger])


class Thinker:
    """Runs the loop for a turn, with what there is to see and to remember in its place."""

    def __init__(
        self,
        pool: Pool,
        models: Mapping[str, SpeakingModel],
        settings: GuildSettingsDoor,
        me: Identity,
        budgets: Budgets,
        outlook: Outlook,
        ai_events: AiEvents,
        recall: Recall,
        eyes: Eyes,
    ) -> None:
        self._pool = pool
        self._models = models
        self._settings = settings
        self._me = me
        self._budgets = budgets
        self._outlook = outlook
        self._ai_events = ai_events
        self._recall = recall
        self._eyes = eyes
        self._gauge = Gauge()
        self._registry = Registry()
        self._surroundings = Surroundings(pool, outlook.reads, me)

    async def think(self, turn: Turn, scene: Scene, progress: Progress) -> tuple[RunOutcome, int]:
        """How the turn's run ended, and its number. The caller commits to its answer, and logs its end.

        The model is asked while the run is begun: until the first step of it is saved, or its end, nothing was done
        that would have to be known after a crash.
        """
        trigger, recent = scene.trigger, scene.recent
        settings = await self._settings.of(turn.space_id, turn.place_id)
        model_name = settings.model
        async with asyncio.TaskGroup() as group:
            remembering = group.create_task(
                assemble(
                    self._pool,
                    self._recall,
                    turn.scope,
                    turn.author_id,
                    recent,
                    remembers=settings.memory,
                    others=settings.context_of_others,
                )
            )
            around = await self._surroundings.look(turn.scope, recent)
        beside = remembering.result()
        if not settings.context_of_others:
            around = replace(around, starter=None)
        looked = NOTHING
        if turn.reason != "ambient":
            looked = await self._eyes.look(_pointed_at(trigger, recent, around.answered), pictures=settings.images)
            around = replace(around, looked=looked)
        if looked.pictures:
            model_name = self._budgets.vision_model
        request = UNASKED if turn.reason == "ambient" else ASKED
        prompt = render(
            recent,
            trigger,
            own_id=self._me.user_id,
            beside=beside,
            around=around,
            request=request,
            rules=scene.rules,
            language=settings.language,
        )
        prompt = as_stored(prompt)
        begun = asyncio.create_task(self._begin(turn, model_name, prompt, beside.recalled), name="begin-run")
        stored = await begun if turn.run_id is None else StoredRun(turn.run_id, prompt, resumed=False)
        asking = self._ask(turn, trigger, stored, begun, model_name, looked.pictures, progress)
        outcome = await _while_begun(begun, asking)
        crash_point("after_reply")
        return outcome, stored.run_id

    async def _begin(
        self, turn: Turn, model_name: str, prompt: Sequence[PromptMessage], recalled: Recalled | None
    ) -> StoredRun:
        """Begin the turn's run, or take up the one that it has, and write down what was recalled for it."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            stored = await begin_run(conn, _fence(turn), model=model_name, prompt=prompt, run_id=turn.run_id)
        if recalled is not None:
            await self._recall.note(recalled, RunId(stored.run_id))
        return stored

    async def _context(self, turn: Turn, trigger: Line) -> TurnContext:
        """The trusted facts of the turn, and what its tools may use."""
        return TurnContext(
            scope=turn.scope,
            trigger_id=turn.trigger_id,
            author_id=turn.author_id,
            author_name=trigger.author_name,
            db=self._pool,
            actions=self._outlook.actions(turn, trigger.author_name),
            is_direct=await is_direct(self._pool, turn.scope),
            discord=self._outlook.discord(turn),
            web=self._outlook.web(turn),
            activity=self._outlook.activity(turn),
            recall=self._recall,
        )

    async def _ask(
        self,
        turn: Turn,
        trigger: Line,
        stored: StoredRun,
        begun: "asyncio.Task[StoredRun]",
        model_name: str,
        pictures: Sequence[Picture],
        progress: Progress,
    ) -> RunOutcome:
        """Run the loop. Pictures, and what nobody asked for, are for one reply without tools."""
        with bind(run_id=stored.run_id):
            metered = self._metered(turn, RunId(stored.run_id), model_name, progress)
            context = await self._context(turn, trigger)
            single = turn.reason == "ambient" or bool(pictures)
            toolbox = MeteredToolbox(self._registry.for_turn(context), progress)
            worded = [spec.name for spec in toolbox.specs() if spec.audit == "words"]
            store = PgRunStore(
                self._pool, stored.run_id, _fence(turn), resumed=stored.resumed, worded=worded, begun=begun
            )
            return await run(
                stored.prompt,
                model=Sighted(metered, pictures) if pictures else metered,
                toolbox=toolbox,
                store=MarkedStore(store),
                limits=replace(self._budgets.limits, max_steps=1) if single else self._budgets.limits,
                gauge=self._gauge,
            )

    def _metered(self, turn: Turn, run_id: RunId, model_name: str, progress: Progress) -> MeteredModel:
        blank = AiEvent(
            turn.space_id,
            "ambient" if turn.reason == "ambient" else "answer",
            model_name,
            "ok",
            0.0,
            place_id=turn.place_id,
            member_id=turn.author_id,
            run_id=run_id,
        )
        listener = progress if progress.streams else None
        return MeteredModel(self._models[model_name], self._ai_events.note, blank, self._budgets.prices, listener)


async def _while_begun(begun: "asyncio.Task[StoredRun]", asking: Coroutine[Any, Any, T]) -> T:
    """What `asking` gives, once the run stands too. Where one of them fails, the other is cut off; both are over when
    this is."""
    task = asyncio.create_task(asking, name="ask")
    try:
        await asyncio.wait([begun, task], return_when=asyncio.FIRST_EXCEPTION)
        if begun.done():
            begun.result()
        return task.result()
    finally:
        begun.cancel()
        task.cancel()
        await asyncio.wait([begun, task])
        for each in (begun, task):
            if not each.cancelled():
                each.exception()  # the first failure is the one to be raised


def _fence(turn: Turn) -> Fence:
    return Fence(turn.turn_id, turn.lease_no)


def _pointed_at(trigger: Line, recent: WorkingSet, answered: Line | None) -> list[Line]:
    """The message, and what it replies to, wherever that is known from."""
    replied = answered or next((e for e in recent.lines if e.message_id == trigger.reply_to_id), None)
    return [trigger, *([replied] if replied is not None else [])]
