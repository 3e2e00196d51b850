"""From a reply to its planned calls: which run, which are turned down and why. Decided before anything is dispatched.

Each call of the reply gets its ordinal here, in the model's order, also those that are turned down.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import structlog

from agent.arguments import MalformedArguments, call_key, parse_arguments
from agent.contracts import (
    AssistantMessage,
    Effect,
    ModelReply,
    PlannedCall,
    StoredStep,
    ToolCall,
    ToolResult,
    ValidCall,
)
from agent.limits import MAX_REPLY_CHARS, Limits
from agent.ports import Toolbox
from agent.results import failure, not_started
from agent.storable import storable

OVER_THE_LIMIT = "limit_calls"
"""The code of calls that were cut from a batch: they alone do not count as calls."""

OVER_WRITES = "limit_writes"
UNFINISHED = frozenset({OVER_THE_LIMIT, OVER_WRITES, "limit_time"})
"""The codes of calls that were wanted, and that a limit kept from being run."""

_MAX_NAME_CHARS = 64  # what providers take in a history
_MAX_ID_CHARS = 4_096  # some providers pack state into their ids and want it back whole

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Ledger:
    """What the run has used up: calls that count, writes, how often each was made, and the ids that stand in the
    transcript."""

    calls: int = 0
    writes: int = 0
    made: Counter[str] = field(default_factory=Counter[str])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, steps: Iterable[StoredStep]) -> "Ledger":
        """The same for a run that was resumed as for one that never stopped."""
        ledger = cls()
        for step in steps:
            for each in step.calls:
                rejection = each.planned.rejection or each.result
                cut = rejection is not None and rejection.error_code == OVER_THE_LIMIT
                ledger.note(each.planned.call, each.planned.effect, counts=not cut)
        return ledger

    def note(self, call: ToolCall, effect: Effect, *, counts: bool) -> None:
        key = call_key(call)
        self.ids[call.call_id] = key
        self.writes += effect == "write"
        if counts:
            self.calls += 1
            self.made[key] += 1


def normalised(reply: ModelReply) -> ModelReply:
    """The reply as it can be stored and sent again: no U+0000, no lone surrogates, names that a provider takes, and no
    endless text."""
    message = reply.message
    calls = tuple(
        ToolCall(_id(each.call_id), _name(each.tool), _argument_text(each.arguments)) for each in message.calls
    )
    text = None if message.text is None else storable(message.text)
    if text is not None and len(text) > MAX_REPLY_CHARS:
        return replace(reply, message=AssistantMessage(text[:MAX_REPLY_CHARS], calls), finish="length")
    return replace(reply, message=AssistantMessage(text, calls))


def without_calls(reply: ModelReply) -> ModelReply:
    """The reply as the last one of a run: nothing in it waits for a result."""
    return replace(reply, message=AssistantMessage(reply.message.text))


def plan_calls(
    step: int, reply: ModelReply, toolbox: Toolbox, ledger: Ledger, limits: Limits
) -> list[tuple[PlannedCall, ValidCall | None]]:
    """The calls of `reply` in its order, each with what to run, or with None and its rejection. `ledger` is used up."""
    planned: list[tuple[PlannedCall, ValidCall | None]] = []
    for ordinal, said in enumerate(reply.message.calls):
        verdict = _verdict(said, reply, toolbox, ledger, limits)
        fresh = bool(said.call_id) and said.call_id not in ledger.ids
        call = said if fresh else replace(said, call_id=_free_id(step, ordinal, ledger))
        if isinstance(verdict, ValidCall):
            ledger.note(call, verdict.spec.effect, counts=True)
            planned.append((PlannedCall(step, ordinal, call, verdict.spec.effect), verdict))
        else:
            ledger.note(call, "none", counts=verdict.error_code != OVER_THE_LIMIT)
            planned.append((PlannedCall(step, ordinal, call, "none", verdict), None))
    return planned


def checked(toolbox: Toolbox, call: ToolCall) -> ValidCall | ToolResult:
    """The call made ready, or why it cannot be run. Arguments that are no JSON never get as far as the toolbox."""
    try:
        parse_arguments(call.arguments)
    except MalformedArguments as fault:
        return failure("malformed_arguments", f"{fault} The call was not run. Send it again with a valid JSON object.")
    try:
        return toolbox.validate(call)
    except Exception as fault:
        _log.exception("validation_failed", tool=call.tool, error=type(fault).__name__)
        return not_started("The call could not be checked.", code="tool_failed")


def _verdict(
    call: ToolCall, reply: ModelReply, toolbox: Toolbox, ledger: Ledger, limits: Limits
) -> ValidCall | ToolResult:
    if ledger.calls >= limits.max_calls:
        return not_started(f"A run may make {limits.max_calls} calls, and this one is over that.", code=OVER_THE_LIMIT)
    if reply.finish == "length":
        # A text that was cut can still parse, and mean something else.
        return not_started("The reply was cut off at its length limit, so none of its calls can be trusted. "
                           "Write less and call again.", code="truncated")  # fmt: skip
    key = call_key(call)
    if ledger.ids.get(call.call_id) == key:
        return not_started("A call with this id and these arguments was made before: its result stands above.",
                           code="repeated_call")  # fmt: skip
    if ledger.made[key] >= limits.identical_calls:
        return not_started(f"The very same call was made {ledger.made[key]} times already. Use its results, "
                           "or call with other arguments.", code="identical_calls")  # fmt: skip
    verdict = checked(toolbox, call)
    if isinstance(verdict, ValidCall) and verdict.spec.effect == "write" and ledger.writes >= limits.max_writes:
        return not_started(f"A run may write {limits.max_writes} times, and this is over that.", code=OVER_WRITES)
    return verdict


def _free_id(step: int, ordinal: int, ledger: Ledger) -> str:
    """An id for a call that came without one, or with one that is taken: the same each time it is planned."""
    number = step * 1_000 + ordinal
    while (made := f"call{number:05d}") in ledger.ids:  # nine letters and digits: the narrowest form any provider asks
        number += 1
    return made


def _id(call_id: str) -> str:
    """The id as it can be sent again; empty if it cannot."""
    return call_id if len(call_id) <= _MAX_ID_CHARS and call_id.isprintable() and call_id.strip() == call_id else ""


def _argument_text(arguments: str) -> str:
    """The arguments as they can be stored. What had to be changed must not become valid by that, so it is marked."""
    stored = storable(arguments)
    return stored if stored is arguments else f"\N{REPLACEMENT CHARACTER}{stored}"


def _name(tool: str) -> str:
    """A tool name that may stand in a request. One that may not must not turn into that of a tool, so it is marked."""
    kept = "".join(each if each.isascii() and (each.isalnum() or each in "_-") else "_" for each in tool)
    return tool if kept == tool and 0 < len(tool) <= _MAX_NAME_CHARS else f"invalid_{kept}"[:_MAX_NAME_CHARS]
