"""Stream chunks of several vendors, put together: the same two calls, however they come.

Written as data because the loopback model sends only some of these, and no vendor's server is at hand.
"""

from typing import Any

import pytest

from agent.contracts import AssistantMessage, ModelReply, ToolCall, Usage
from agent.openai_wire import Assembly, BadReply, CutReply, read_completion

TWO_CALLS = (ToolCall("a", "find", '{"q":1}'), ToolCall("b", "mark", '{"q":2}'))


def piece(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function: dict[str, Any] = {
        key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None
    }
    made: dict[str, Any] = {"function": function}
    return made | {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"model": "m", "choices": [{"delta": delta, "finish_reason": finish}]}


def streamed(*pieces: dict[str, Any], finish: str | None = "tool_calls") -> ModelReply:
    """Each piece in a chunk of its own, and a last chunk with the finish reason."""
    assembly = Assembly()
    for each in pieces:
        assembly.add(chunk({"tool_calls": [each]}))
    assembly.add(chunk({}, finish))
    assembly.add({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    return assembly.reply("asked")


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [piece(0, "a", "find", ""), piece(0, arguments='{"q"'), piece(0, arguments=":1}"),
             piece(1, "b", "mark", ""), piece(1, arguments='{"q":2}')],
            id="as OpenAI does",
        ),
        pytest.param(
            [piece(0, "a", "find", '{"q"'), piece(1, "b", "mark", '{"q"'), piece(0, arguments=":1}"),
             piece(1, arguments=":2}")],
            id="interleaved",
        ),
        pytest.param(
            [piece(None, "a", "find", '{"q":1}'), piece(None, "b", "mark", '{"q":2}')], id="no index, whole calls"
        ),
        pytest.param(
            [piece(None, "a", "find", ""), piece(None, arguments='{"q":1'), piece(None, arguments="}"),
             piece(None, "b", "mark", ""), piece(None, arguments='{"q":2}')],
            id="no index, in pieces",
        ),
        pytest.param(
            [piece(0, arguments='{"q"'), piece(0, arguments=":1}"), piece(0, "a", "find"),
             piece(1, arguments='{"q":2}'), piece(1, "b", "mark")],
            id="arguments before the name",
        ),
        pytest.param(
            [piece(0, "a", "find", '{"q":1}'), piece(0, "b", "mark", '{"q":2}')], id="index 0 for every call"
        ),
        pytest.param(
            [piece(0, "a", "find", '{"q"'), piece(0, "a", "find", ":1}"), piece(1, "b", "mark", '{"q"'),
             piece(1, "b", "mark", ":2}")],
            id="id and name in each piece",
        ),
        pytest.param(
            [piece(None, "a", "find", '{"q"'), piece(None, "a", "find", ":1}"), piece(None, "b", "mark", '{"q":2}')],
            id="id in each piece, no index",
        ),
        pytest.param([piece(0, "a", "fi"), piece(0, name="nd", arguments='{"q":1}'), piece(1, "b", "mark", '{"q":2}')],
                     id="a name in pieces"),
    ],
)  # fmt: skip
def test_two_calls_come_out_whole_however_they_were_cut(pieces: list[dict[str, Any]]) -> None:
    assert streamed(*pieces).message.calls == TWO_CALLS


@pytest.mark.parametrize("index", [None, 0])
def test_calls_with_neither_id_nor_index_of_their_own_are_not_merged(index: int | None) -> None:
    """Reading a missing index as 0 would make one call with the arguments of both."""
    first, second = piece(index, None, "find", '{"q":1}'), piece(index, None, "mark", '{"q":2}')
    assert [(each.tool, each.arguments) for each in streamed(first, second).message.calls] == [
        ("find", '{"q":1}'),
        ("mark", '{"q":2}'),
    ]


def test_the_same_tool_twice_without_id_and_index_is_two_calls() -> None:
    made = streamed(piece(None, None, "find", '{"q":1}'), piece(None, None, "find", '{"q":2}')).message.calls
    assert [each.arguments for each in made] == ['{"q":1}', '{"q":2}']


def test_arguments_that_come_as_an_object_become_text() -> None:
    assert streamed(piece(None, "a", "find", {"q": "ä"})).message.calls[0].arguments == '{"q": "ä"}'


def test_text_usage_and_model_are_taken_from_where_they_come() -> None:
    reply = streamed(piece(0, "a", "find", "{}"))
    assert (reply.usage, reply.model, reply.finish) == (Usage(7, 3), "m", "tool_calls")


def test_a_stream_without_an_end_is_cut() -> None:
    """Half an answer must not pass for one."""
    with pytest.raises(CutReply):
        streamed(piece(0, "a", "find", "{}"), finish=None)
    with pytest.raises(BadReply, match="nothing"):
        Assembly().reply("asked")


@pytest.mark.parametrize(
    ("said", "has_calls", "ours"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("tool_calls", True, "tool_calls"),
        ("function_call", True, "tool_calls"),
        ("length", True, "length"),
        ("max_tokens", False, "length"),
        ("MAX_TOKENS", False, "length"),
        ("content_filter", True, "content_filter"),
        ("SAFETY", False, "content_filter"),
        ("end_turn", False, "stop"),
        ("something new", False, "stop"),
        (None, False, "stop"),
        (None, True, "tool_calls"),
        (7, False, "stop"),
    ],
)
def test_finish_reasons_of_several_vendors(said: object, has_calls: bool, ours: str) -> None:
    made = [{"id": "a", "function": {"name": "find", "arguments": "{}"}}] if has_calls else None
    body = {"choices": [{"message": {"content": "x", "tool_calls": made}, "finish_reason": said}]}
    assert read_completion(body, "asked").finish == ours


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": None}, AssistantMessage(None)),
        ({"content": ""}, AssistantMessage(None)),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, AssistantMessage("ab")),
        (
            {"content": [{"type": "thinking", "thinking": "so", "text": "hm"}, {"type": "text", "text": "a"}]},
            AssistantMessage("a"),
        ),
        (
            {"content": None, "function_call": {"name": "find", "arguments": "{}"}},
            AssistantMessage(None, (ToolCall("", "find", "{}"),)),
        ),
        ({"content": None, "refusal": "I will not."}, AssistantMessage("I will not.")),
        ({"content": "x", "tool_calls": [{"function": None}, "junk"]}, AssistantMessage("x", (ToolCall("", "", ""),))),
        (
            {"tool_calls": [{"id": None, "function": {"name": "find", "arguments": {"q": 1}}}]},
            AssistantMessage(None, (ToolCall("", "find", '{"q": 1}'),)),
        ),
    ],
)
def test_messages_of_several_vendors(message: dict[str, Any], expected: AssistantMessage) -> None:
    reply = read_completion({"choices": [{"message": message, "finish_reason": "stop"}]}, "asked")
    assert reply.message == expected
    assert (reply.usage, reply.model) == (Usage(), "asked")


NO_COMPLETIONS: list[object] = ["<html>", None, {}, {"choices": []}, {"choices": [{}]}, {"choices": "x"}, [1]]


@pytest.mark.parametrize("body", NO_COMPLETIONS)
def test_what_is_no_completion_is_said_to_be_none(body: object) -> None:
    with pytest.raises(BadReply):
        read_completion(body, "asked")


def test_junk_in_a_chunk_is_no_crash() -> None:
    assembly = Assembly()
    assembly.add({"choices": [{"delta": None}], "usage": 3})
    assembly.add({"choices": [{"delta": {"tool_calls": [None], "content": 5}, "finish_reason": "stop"}]})
    assert assembly.reply("asked") == ModelReply(AssistantMessage(None), "stop", Usage(), "asked")
    with pytest.raises(BadReply):
        assembly.add("text")
