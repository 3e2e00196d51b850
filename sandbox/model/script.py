"""What the model will do, in the order the test wrote it, and what it has been asked."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.model.errors import ApiRefusal, ScriptFault
from sandbox.model.request import ChatRequest, EmbeddingRequest
from sandbox.model.turn import Completion, Failure, Gate, Reset, Scripted, Stall, Turn

Match = Callable[[ChatRequest], bool]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was answered by an error before the script was asked."""

    path: str
    error: ApiRefusal


@dataclass(slots=True)
class _Rule:
    match: Match
    turns: deque[Scripted]


@dataclass(slots=True)
class Script:
    """The queues of turns and the record of requests. `keep` bounds how many requests are kept (None: all)."""

    keep: int | None = None
    queue: deque[Scripted] = field(default_factory=deque[Scripted])
    rules: list[_Rule] = field(default_factory=list[_Rule])
    fallback: Scripted | None = None
    embedding_faults: deque[Failure | Stall | Reset] = field(default_factory=deque["Failure | Stall | Reset"])
    requests: deque[ChatRequest] = field(init=False)
    embedding_requests: deque[EmbeddingRequest] = field(init=False)
    refusals: deque[Refusal] = field(init=False)
    mistakes: list[str] = field(default_factory=list[str])
    count: int = 0
    embedding_count: int = 0
    _waiters: list[asyncio.Future[None]] = field(default_factory=list["asyncio.Future[None]"])

    def __post_init__(self) -> None:
        self.requests = deque(maxlen=self.keep)
        self.embedding_requests = deque(maxlen=self.keep)
        self.refusals = deque(maxlen=self.keep)

    def add_rule(self, match: Match, turns: tuple[Scripted, ...]) -> None:
        self.rules.append(_Rule(match, deque(turns)))

    def record(self, request: ChatRequest) -> None:
        """Remember an accepted request and wake whoever waits for one."""
        self.requests.append(request)
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def turn_for(self, request: ChatRequest) -> Completion | Failure | Stall | Reset:
        """The turn for `request`: first rule that matches and has one left, then the queue, then the default.

        Raises ScriptFault when there is none, or when the function that makes it raised; both are kept as mistakes.
        """
        try:
            turn = await _made(self._next(request), request)
        except ScriptFault as fault:
            self.mistakes.append(fault.message)
            raise
        except Exception as error:
            fault = ScriptFault(f"the turn for request {request.number} raised {type(error).__name__}: {error}")
            self.mistakes.append(fault.message)
            raise fault from error
        return turn

    def _next(self, request: ChatRequest) -> Scripted:
        for rule in self.rules:
            if rule.turns and rule.match(request):
                return rule.turns.popleft()
        if self.queue:
            return self.queue.popleft()
        if self.fallback is not None:
            return self.fallback
        raise ScriptFault(
            f"nothing is scripted for request {request.number}: its last user message is "
            f"{request.last_user_text[-200:]!r}, it offers {sorted(request.tool_names)} "
            f"and brings {len(request.tool_results)} tool results"
        )

    async def wait_for(self, match: Match, what: str, within: float) -> ChatRequest:
        """The first kept request that matches, now or within so many seconds; else AssertionError saying `what`."""
        try:
            async with asyncio.timeout(within):
                while True:
                    found = next((request for request in self.requests if match(request)), None)
                    if found is not None:
                        return found
                    waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiters.append(waiter)
                    await waiter
        except TimeoutError:
            raise AssertionError(f"{what} did not arrive within {within} s; {self.count} requests have") from None

    def unfinished(self) -> list[str]:
        """What was scripted and never asked for."""
        left = [f"{len(self.queue)} scripted turns were not used: {list(self.queue)!r}"] if self.queue else []
        left += [
            f"{len(rule.turns)} turns of a rule were not used: {list(rule.turns)!r}"
            for rule in self.rules
            if rule.turns
        ]
        if self.embedding_faults:
            left.append(f"{len(self.embedding_faults)} embedding faults were not used")
        return left

    def faults(self) -> list[str]:
        """What went wrong, whatever else is left: no turn, a turn that raised, a request refused as invalid, a gate
        that was released and held nothing."""
        refused = [
            f"refused {entry.path}: {entry.error.message}" for entry in self.refusals if entry.error.status == 400
        ]
        scripted = [*self.queue, *(turn for rule in self.rules for turn in rule.turns)]
        idle = sum(isinstance(turn, Gate) and turn.is_released for turn in scripted)
        missed = [f"{idle} gates were released that no request had reached"] if idle else []
        return [*self.mistakes, *refused, *missed]


async def _made(scripted: Scripted, request: ChatRequest) -> Completion | Failure | Stall | Reset:
    turn: Turn
    if callable(scripted):
        result = scripted(request)
        turn = await result if inspect.isawaitable(result) else result
    else:
        turn = scripted
    return await _made(await turn.passed(request), request) if isinstance(turn, Gate) else turn
