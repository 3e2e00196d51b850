"""All tools, and the toolbox that a turn gets of them."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from agent.contracts import PlannedCall, ToolCall, ToolResult, ToolSpec, ValidCall
from agent.results import failure, success
from tools.declaration import Arguments, Tool
from tools.discord import DISCORD_REACT
from tools.errors import Refused, ToolMisdeclared
from tools.memory import MEMORY_SEARCH
from tools.ports import TurnContext

AnyTool = Tool[Any]  # arguments differ from tool to tool; each is validated by its own model before its function runs

TOOLS: tuple[AnyTool, ...] = (MEMORY_SEARCH, DISCORD_REACT)

_SHOWN_FAULTS = 5


class Registry:
    """The declared tools with their schemas, made once. Raises ToolMisdeclared if a name stands twice."""

    def __init__(self, tools: Sequence[AnyTool] = TOOLS) -> None:
        self.tools = {tool.name: tool for tool in tools}
        if len(self.tools) != len(tools):
            raise ToolMisdeclared("two tools have one name")
        self.specs = tuple(tool.spec() for tool in tools)
        self.spec_of = {spec.name: spec for spec in self.specs}

    def for_turn(self, context: TurnContext) -> "TurnToolbox":
        """The tools bound to the facts of one turn."""
        return TurnToolbox(self, context)


class TurnToolbox:
    """An agent.ports.Toolbox: every call of the turn runs with the same trusted context (I5, I6)."""

    def __init__(self, registry: Registry, context: TurnContext) -> None:
        self._registry = registry
        self._context = context

    def specs(self) -> Sequence[ToolSpec]:
        """What the model may call."""
        return self._registry.specs

    def validate(self, call: ToolCall) -> ValidCall | ToolResult:
        """The call with its arguments read, or a failure: unknown_tool, invalid_arguments."""
        tool = self._registry.tools.get(call.tool)
        if tool is None:
            known = ", ".join(self._registry.tools)
            return failure("unknown_tool", f"There is no tool of that name. There are: {known}.")
        try:
            arguments: Arguments = tool.arguments.model_validate_json(call.arguments)
        except ValidationError as fault:
            return failure("invalid_arguments", _faults(fault))
        return ValidCall(self._registry.spec_of[call.tool], arguments)

    async def invoke(self, valid: ValidCall, planned: PlannedCall) -> ToolResult:
        """Run the tool. A refusal is a structured failure; anything else that it raises is for the executor."""
        tool = self._registry.tools[planned.call.tool]
        try:
            return success(await tool.function(self._context, valid.arguments))
        except Refused as refusal:
            return failure(refusal.code, refusal.message)


def _faults(fault: ValidationError) -> str:
    """What is wrong with which argument, without repeating what was given."""
    faults = fault.errors(include_url=False, include_context=False, include_input=False)
    shown = "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in faults[:_SHOWN_FAULTS]
    )
    return f"The call was not run. {shown}."
