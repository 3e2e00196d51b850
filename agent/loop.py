"""The bounded loop: ask the model, run what it calls, until it answers or a limit ends it.

    ask -> plan -> save (reply and plan, one transaction) -> dispatch -> settle -> ask -> ... -> answer | limit

What must hold here, each shown by a test:
- Nothing is dispatched before its plan is saved, and nothing over a limit is dispatched at all (I10).
- Every planned call ends in exactly one result, in the model's order, whatever finished first.
- The last request offers no tools and has a time reserve that nothing else may use.
- A resumed run never asks again for what is stored, and runs only the calls that have no result.
- A cancellation from outside leaves at once, with no last step; what is stored can be resumed.
"""

import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import structlog

from agent.contracts import (
    CallEnd,
    EndReason,
    ModelReply,
    PromptMessage,
    RunOutcome,
    StoredCall,
    StoredStep,
    ToolResult,
    ToolSpec,
    Usage,
    ValidCall,
)
from agent.deadline import bounded
from agent.errors import DeadlinePassed, ModelFault, ModelRefused, ModelUnavailable, StoreStalled
from agent.execute import Batch, ReadyCall, Settled
from agent.limits import Limits
from agent.plan import UNFINISHED, Ledger, checked, normalised, plan_calls, without_calls
from agent.ports import Clock, Model, RunStore, Toolbox
from agent.tokens import Gauge, of_tools
from agent.transcript import is_empty, repaired
from agent.window import Fitted, fitted

T = TypeVar("T")
LimitReason: TypeAlias = Literal["limit_steps", "limit_calls", "limit_time"]

_SHRINKS = 2
"""How often a request that the model refuses as too long is made shorter within one step."""

_SHRINK = 0.6

_CLOSE_S = 0.1
"""The model's own timer and ours end the same wait; which one is first must make no difference."""

_log = structlog.get_logger(__name__)


async def run(
    prompt: Sequence[PromptMessage],
    *,
    model: Model,
    toolbox: Toolbox,
    store: RunStore,
    limits: Limits,
    gauge: Gauge | None = None,
    clock: Clock = time.monotonic,
) -> RunOutcome:
    """Answer `prompt`, or say why not, within `limits`; continue where `store` says that an earlier attempt stood.

    `gauge` is what the process knows about the model's tokens, and learns from this run.
    The final reply is not saved: it is in the outcome, for the caller to commit together with the composed answer.
    Raises what the store raises (LeaseLost, StoreStalled); a model's fault is an outcome.
    """
    started = clock()
    this = _Run(
        prompt=prompt,
        model=model,
        toolbox=toolbox,
        store=store,
        limits=limits,
        gauge=gauge or Gauge(),
        clock=clock,
        tools_until=started + limits.run_s - limits.final_reserve_s,
        ends=started + limits.run_s,
        steps=[],
    )
    return await this.to_the_end()


@dataclass(slots=True)
class _Run:
    prompt: Sequence[PromptMessage]
    model: Model
    toolbox: Toolbox
    store: RunStore
    limits: Limits
    gauge: Gauge
    clock: Clock
    tools_until: float
    ends: float
    steps: list[StoredStep]
    ledger: Ledger = field(default_factory=Ledger)
    room: int | None = None  # estimated tokens, once the model has refused more

    async def to_the_end(self) -> RunOutcome:
        self.steps = list(await self._stored(self.store.load(), "load"))
        self.ledger = Ledger.of(self.steps)
        await self._finish_cut_off_calls()
        while True:
            limit = self._limit()
            if len(self.steps) >= self.limits.max_steps:
                return self._failed("limit_steps")
            try:
                reply = await self._ask(last=limit is not None)
            except DeadlinePassed:
                if limit is not None:
                    return self._failed("limit_time")
                self.tools_until = self.clock()  # all of it went by while the model was asked: the reserve is for this
                continue
            except ModelFault as fault:
                _log.warning("model_failed", code=fault.code, step=len(self.steps), error=fault.message)
                return self._failed(
                    "model_unavailable" if isinstance(fault, ModelUnavailable) else "model_refused", code=fault.code
                )
            outcome = self._ending(reply, limit)
            if outcome is not None:
                return outcome
            await self._act(reply)

    def _limit(self) -> LimitReason | None:
        """The limit that makes the next step the last one."""
        if len(self.steps) >= self.limits.max_steps - 1:
            return "limit_steps"
        if self.ledger.calls >= self.limits.max_calls:
            return "limit_calls"
        if self.clock() >= self.tools_until:
            return "limit_time"
        return None

    async def _ask(self, *, last: bool) -> ModelReply:
        """One reply; DeadlinePassed once the time for it is up, by our clock or by the model's own.

        A request that the model refuses as too long is made shorter, and once more. That is no step: nothing was said.
        """
        tools: Sequence[ToolSpec] = () if last else self.toolbox.specs()
        until = self.ends if last else self.tools_until
        offered = of_tools(tools)
        most = int(self.limits.request_tokens / self.gauge.factor)
        request = self._request(min(most, self.room or most) - offered, last=last)
        for shrinks_left in range(_SHRINKS, -1, -1):
            try:
                reply = await self._complete(request, tools, until)
            except ModelRefused as fault:
                if fault.code != "too_long" or not shrinks_left:
                    raise
                self.room = fault.room or int((request.tokens + offered) * _SHRINK)
                shorter = self._request(self.room - offered, last=last)
                if shorter.tokens >= request.tokens:
                    raise
                _log.warning("request_too_long", tokens=request.tokens, again_with=shorter.tokens)
                request = shorter
                continue
            self.gauge.learn(reply.model, estimated=request.tokens + offered, counted=reply.usage.prompt_tokens)
            return normalised(reply)
        raise AssertionError("the last try returns or raises")

    def _request(self, room: int, *, last: bool) -> Fitted:
        return fitted(self.prompt, self.steps, room, last=last)

    async def _complete(self, request: Fitted, tools: Sequence[ToolSpec], until: float) -> ModelReply:
        within_s = until - self.clock()
        if within_s <= 0:
            raise DeadlinePassed(abandoned=False)
        asked = self.model.complete(request.messages, tools, within_s=within_s)
        try:
            return await bounded(asked, within_s, grace_s=self.limits.grace_s, name="model")
        except ModelUnavailable as fault:
            if fault.code == "timeout" and self.clock() >= until - _CLOSE_S:
                raise DeadlinePassed(abandoned=False) from fault
            raise

    def _ending(self, reply: ModelReply, limit: LimitReason | None) -> RunOutcome | None:
        """How the run ends with this reply; None if it goes on."""
        words = reply.message.text
        if reply.finish == "content_filter":
            return self._failed("content_filter", reply)
        if reply.message.calls and limit is None:
            return None
        if words is None or is_empty(words):
            if reply.message.calls and limit is not None:
                return self._failed(limit, reply)
            nudged = any(not step.calls and is_empty(step.reply.message.text) for step in self.steps)
            return self._failed("empty_answer", reply) if nudged or limit is not None else None
        reason: EndReason = "truncated" if reply.finish == "length" else limit or "answered"
        return self._outcome("answered", words, reason, reply)

    async def _act(self, reply: ModelReply) -> None:
        """Plan, save, dispatch and settle the calls of one reply; an empty answer is a step without any."""
        step = len(self.steps)
        planned = plan_calls(step, reply, self.toolbox, self.ledger, self.limits)
        await self._stored(self.store.save_step(step, reply, [each for each, _ in planned]), "save a step")
        calls = tuple(StoredCall(each, each.rejection) for each, _ in planned)
        self.steps.append(StoredStep(step, reply, calls))
        await self._dispatch([ReadyCall(each, valid) for each, valid in planned if valid is not None])

    async def _finish_cut_off_calls(self) -> None:
        """Run what an earlier attempt had planned and not settled: the same calls under the same names.

        Only the last step can have any. What can no longer be run gets a result that says what is known of it.
        """
        if not self.steps:
            return
        ready: list[ReadyCall] = []
        lost: list[Settled] = []
        for each, told in zip(self.steps[-1].calls, repaired(self.steps[-1]).calls, strict=True):
            if each.result is not None:
                continue
            valid = checked(self.toolbox, each.planned.call)
            if isinstance(valid, ValidCall) and valid.spec.effect == each.planned.effect:
                ready.append(ReadyCall(each.planned, valid))
            elif told.result is not None:
                lost.append((each.planned, told.result))
        if lost:
            await self._settle(lost)
            self._note(lost)
        await self._dispatch(ready)

    async def _dispatch(self, ready: Sequence[ReadyCall]) -> None:
        if ready:
            batch = Batch(self.toolbox, self._settle, self.limits, self.tools_until, self.clock)
            self._note(await batch.run(ready))

    async def _settle(self, settled: Sequence[Settled]) -> None:
        await self._stored(self.store.settle_calls(settled), "settle calls")

    def _note(self, settled: Sequence[Settled]) -> None:
        """Put results into the last step."""
        results: dict[int, ToolResult] = {planned.ordinal: result for planned, result in settled}
        last = self.steps[-1]
        calls = tuple(StoredCall(each.planned, results.get(each.planned.ordinal, each.result)) for each in last.calls)
        self.steps[-1] = StoredStep(last.step, last.reply, calls)

    async def _stored(self, work: Coroutine[Any, Any, T], what: str) -> T:
        within_s = self.limits.store_s
        try:
            return await bounded(work, within_s, grace_s=self.limits.grace_s, name="run store")
        except DeadlinePassed:
            raise StoreStalled(what, within_s) from None

    def _outcome(
        self,
        kind: Literal["answered", "failed"],
        text: str | None,
        reason: EndReason,
        reply: ModelReply | None,
        code: str | None = None,
    ) -> RunOutcome:
        """The outcome with what the whole run came to, `reply` included; what it still calls is not run any more."""
        usage = sum((step.reply.usage for step in self.steps), start=Usage())
        calls = [each for step in self.steps for each in step.calls if each.result is not None]
        ends = [(each.planned.call.tool, each.result) for each in calls]
        left = [tool for tool, result in ends if result is not None and result.error_code in UNFINISHED]
        return RunOutcome(
            kind,
            text,
            reason,
            None if reply is None else without_calls(reply),
            len(self.steps),
            self.ledger.calls,
            usage + (reply.usage if reply is not None else Usage()),
            ends=tuple(CallEnd(tool, r.error_code, r.from_record) for tool, r in ends if r is not None),
            unfinished=(*left, *(each.tool for each in (reply.message.calls if reply is not None else ()))),
            error_code=code,
        )

    def _failed(self, reason: EndReason, reply: ModelReply | None = None, *, code: str | None = None) -> RunOutcome:
        return self._outcome("failed", None, reason, reply, code)
