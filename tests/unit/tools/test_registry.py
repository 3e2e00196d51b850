"""The toolbox of a turn: what the model is shown, what it is refused, and what a tool can never be told by it."""

import json
from typing import Any

import pytest
from pydantic import Field

from agent.contracts import PlannedCall, ToolCall, ToolResult, ValidCall
from tests.unit.tools.turn import called, context, direct, refused
from tools.declaration import Arguments, Payload, Tool
from tools.errors import ToolMisdeclared
from tools.ports import TurnContext
from tools.registry import AnyTool, Registry


class Nothing(Arguments):
    """No arguments."""


class Rows(Arguments):
    """How many rows, of how many characters."""

    rows: int
    chars: int


async def nothing(context: TurnContext, arguments: Nothing) -> Payload:
    return {}


async def rows(context: TurnContext, arguments: Rows) -> Payload:
    return {"how": "words", "found": ['"' * arguments.chars] * arguments.rows}


def tool(**how: Any) -> AnyTool:
    fields: dict[str, Any] = {"name": "t", "description": "T.", "arguments": Nothing, "function": nothing}
    fields |= {"effect": "read", **how}
    return Tool(**fields)


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{"query": ""}',
        '{"query": 5}',
        '{"query": null}',
        '{"query": "a", "limit": 0}',
        '{"query": "a", "limit": 11}',
        '{"query": "a", "limit": "5"}',
        '{"query": "a", "limit": true}',
        '{"query": "a", "limit": 1.5}',
        '{"query": "a", "place_id": 4}',
        '{"query": "' + "x" * 501 + '"}',
    ],
)
def test_arguments_that_do_not_fit_are_told_and_not_repaired(arguments: str) -> None:
    """Stable code, the field's name, and nothing of what was given."""
    code, message = refused(Registry().for_turn(context()), "memory_search", arguments)
    assert code == "invalid_arguments"
    assert message.startswith("The call was not run. ")
    assert "xxx" not in message


def test_an_unknown_tool_is_told_what_there_is() -> None:
    toolbox = Registry().for_turn(context())
    code, message = refused(toolbox, "forget_everything", "{}")
    assert code == "unknown_tool"
    assert all(spec.name in message for spec in toolbox.specs())


@pytest.mark.parametrize("need", ["guild", "discord", "web", "activity"])
def test_a_tool_whose_need_is_not_met_is_not_there(need: Any) -> None:
    """Not shown, and not run either when a model calls it all the same."""
    registry = Registry([tool(needs=frozenset({need})), tool(name="always")])
    bare = context() if need != "guild" else direct(context())
    toolbox = registry.for_turn(bare)
    assert [spec.name for spec in toolbox.specs()] == ["always"]
    code, message = refused(toolbox, "t", "{}")
    assert code == "unknown_tool"
    assert message == "There is no tool of that name. There are: always."
    ports: dict[str, Any] = {need: object()} if need != "guild" else {}
    met = context(**ports)
    assert {spec.name for spec in registry.for_turn(met).specs()} == {"t", "always"}


def test_two_tools_of_one_name_are_a_mistake_of_ours() -> None:
    with pytest.raises(ToolMisdeclared):
        Registry([tool(), tool()])


@pytest.mark.parametrize(
    "how",
    [
        {"effect": "write"},
        {"effect": "write", "promise": "key", "parallel_safe": True},
        {"effect": "read", "promise": "key"},
        {"name": "Shout"},
        {"name": ""},
        {"name": "x" * 65},
        {"description": ""},
        {"description": "x" * 701},
        {"result_chars": 0},
        {"result_chars": 262_145},
        {"timeout_s": 0},
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(how: dict[str, Any]) -> None:
    """A write names what it can promise and is never parallel-safe; names and bounds are what a provider takes."""
    with pytest.raises(ToolMisdeclared):
        tool(**how)


async def test_a_fault_of_a_tool_is_not_hidden_from_the_executor() -> None:
    """Only Refused becomes a result here: everything else must reach the one place that knows what it means."""

    async def breaks(context: TurnContext, arguments: Nothing) -> Payload:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        await called(Registry([tool(function=breaks)]).for_turn(context()), "t")


async def test_arguments_reach_the_function_as_what_they_are() -> None:
    class Typed(Arguments):
        n: int = Field(ge=1)

    seen: list[int] = []

    async def see(context: TurnContext, arguments: Typed) -> Payload:
        seen.append(arguments.n)
        return {"n": arguments.n}

    made = tool(arguments=Typed, function=see)
    assert await called(Registry([made]).for_turn(context()), "t", n=3) == {"ok": True, "n": 3}
    assert seen == [3]


@pytest.mark.parametrize(("count", "chars"), [(1, 0), (3, 10), (40, 10), (400, 10), (3, 480), (1, 490), (2, 600)])
async def test_a_result_is_cut_at_one_place(count: int, chars: int) -> None:
    """Whole rows go from the end until the result is within the tool's bound, and what is left says so (I9)."""
    made = tool(arguments=Rows, function=rows, result_chars=1_000, rows="found")
    result = await result_of(Registry([made]), {"rows": count, "chars": chars})
    content = json.loads(result.content)
    assert result.ok
    assert len(result.content) <= 1_000
    assert (result.whole is None) == (content.get("left_out") is None), "the whole is kept beside what is shown"
    assert content["how"] == "words"
    kept = len(content["found"])
    assert kept + content.get("left_out", 0) == count
    if content.get("left_out"):
        one_more = {**content, "found": [*content["found"], '"' * chars]}
        assert len(json.dumps(one_more, separators=(",", ":"))) > 1_000 - 40


async def test_a_result_without_rows_is_left_to_the_loop() -> None:
    """Which knows the bound from the tool's declaration, and shortens what it must."""
    made = tool(arguments=Rows, function=rows, result_chars=1_000)
    result = await result_of(Registry([made]), {"rows": 3, "chars": 400})
    assert (result.ok, result.whole, len(result.content) > 1_000) == (True, None, True)
    assert (made.spec().result_chars, made.spec().audit) == (1_000, "counts")


async def result_of(registry: Registry, arguments: dict[str, Any]) -> ToolResult:
    toolbox = registry.for_turn(context())
    call = ToolCall("a", "t", json.dumps(arguments))
    valid = toolbox.validate(call)
    assert isinstance(valid, ValidCall)
    return await toolbox.invoke(valid, PlannedCall(0, 0, call, valid.spec.effect))
