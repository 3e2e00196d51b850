"""All tools, collected from the modules of this package, and the toolbox that a turn gets of them."""

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import ValidationError

import tools
from agent.contracts import PlannedCall, ToolCall, ToolResult, ToolSpec, ValidCall
from agent.results import compact, failure, success
from tools.declaration import Arguments, Need, Payload, Tool
from tools.errors import Refused, ToolMisdeclared
from tools.ports import TurnContext

AnyTool = Tool[Any]  # arguments differ from tool to tool; each is validated by its own model before its function runs

_SHOWN_FAULTS = 5
_NOTE_CHARS = 40  # what the note on rows that were left out takes


def collect() -> tuple[AnyTool, ...]:
    """Every tool that stands at the top of a module of this package, by name. Nothing registers."""
    found: dict[int, AnyTool] = {}  # by identity: a tool that one module imports from another is still one tool
    for module in pkgutil.iter_modules(tools.__path__):
        for value in vars(importlib.import_module(f"{tools.__name__}.{module.name}")).values():
            if isinstance(value, Tool):
                tool = cast("AnyTool", value)
                found[id(tool)] = tool
    return tuple(sorted(found.values(), key=lambda tool: tool.name))


class Registry:
    """The declared tools with their schemas, made once. Raises ToolMisdeclared if a name stands twice."""

    def __init__(self, declared: Sequence[AnyTool] | None = None) -> None:
        self.all = collect() if declared is None else tuple(declared)
        if len({tool.name for tool in self.all}) != len(self.all):
            raise ToolMisdeclared("two tools have one name")
        self.spec_of = {tool.name: tool.spec() for tool in self.all}

    def for_turn(self, context: TurnContext) -> "TurnToolbox":
        """The tools bound to the facts of one turn: those whose needs are met."""
        offered = [tool for tool in self.all if all(_is_met(need, context) for need in tool.needs)]
        return TurnToolbox(offered, self.spec_of, context)


class TurnToolbox:
    """An agent.ports.Toolbox: every call of the turn runs with the same trusted context (I5, I6)."""

    def __init__(self, offered: Sequence[AnyTool], spec_of: dict[str, ToolSpec], context: TurnContext) -> None:
        self._tools = {tool.name: tool for tool in offered}
        self._spec_of = spec_of
        self._specs = tuple(spec_of[name] for name in self._tools)
        self._context = context

    def specs(self) -> Sequence[ToolSpec]:
        """What the model may call."""
        return self._specs

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        """The call with its arguments read, or a failure: unknown_tool, invalid_arguments."""
        tool = self._tools.get(call.tool)
        if tool is None:
            return failure("unknown_tool", f"There is no tool of that name. There are: {', '.join(self._tools)}.")
        try:
            arguments: Arguments = tool.arguments.model_validate_json(call.arguments)
        except ValidationError as fault:
            return failure("invalid_arguments", _faults(fault))
        return ValidCall(self._spec_of[call.tool], arguments)

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """Run the tool. A refusal is a structured failure; anything else that it raises is for the executor."""
        tool = self._tools[planned.call.tool]
        try:
            return capped(await tool.function(self._context, valid.arguments), tool)
        except Refused as refusal:
            return failure(refusal.code, refusal.message)


def capped(payload: Payload, tool: AnyTool) -> ToolResult:
    """The payload as a result within the tool's bound, the whole beside it; `left_out` counts what did not fit.

    What has no rows to leave out is for the loop to shorten.
    """
    whole = success(payload)
    if len(whole.content) <= tool.result_chars:
        return whole
    rows: object = payload.get(tool.rows) if tool.rows is not None else None
    if tool.rows is None or not isinstance(rows, list | tuple):
        return whole
    kept: list[object] = []
    room = tool.result_chars - len(success({**payload, tool.rows: kept}).content) - _NOTE_CHARS
    for row in cast("Sequence[object]", rows):
        room -= len(compact({"": row})) - 4  # its braces and name are not there in a list, a comma is
        if room < 0:
            break
        kept.append(row)
    cut = success({**payload, tool.rows: kept, "left_out": len(cast("Sequence[object]", rows)) - len(kept)})
    return replace(cut, whole=whole.content)


def _is_met(need: Need, context: TurnContext) -> bool:
    match need:
        case "guild":
            return not context.is_direct
        case "discord":
            return context.discord is not None
        case "web":
            return context.web is not None
        case "activity":
            return context.activity is not None


def _faults(fault: ValidationError) -> str:
    """What is wrong with which argument, without repeating what was given."""
    faults = fault.errors(include_url=False, include_context=False, include_input=False)
    shown = "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in faults[:_SHOWN_FAULTS]
    )
    return f"The call was not run. {shown}."
