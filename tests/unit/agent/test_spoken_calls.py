"""Tool calls that a small model writes into its content: read strictly, and only where nothing else was said."""

import json

import pytest

from agent.arguments import MalformedArguments, parse_arguments
from agent.contracts import AssistantMessage, Finish, ModelReply, ToolCall, Usage
from agent.spoken_calls import recognised

OFFERED = ("find", "mark")


def reading(text: str, *, offered: tuple[str, ...] = OFFERED, finish: Finish = "stop") -> ModelReply:
    return recognised(ModelReply(AssistantMessage(text), finish, Usage(), "small"), offered)


FIND = '{"name": "find", "arguments": {"q": 1}}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{FIND}</tool_call>",
        f"\n<tool_call>\n{FIND}\n</tool_call>\n",
        f"```json\n{FIND}\n```",
        f"```tool_call\n{FIND}\n```",
        FIND,
        '{"name": "find", "parameters": {"q": 1}}',
        '{"type": "function", "function": {"name": "find", "arguments": {"q": 1}}}',
        '{"type": "function", "name": "find", "parameters": {"q": 1}}',
        '{"name": "find", "arguments": "{\\"q\\": 1}"}',
        f"[{FIND}]",
        f"[TOOL_CALLS] [{FIND}]",
        '<function=find>{"q": 1}</function>',
    ],
)
def test_a_call_that_is_all_there_is(text: str) -> None:
    """Each of the formats in which models were seen to write it; the words are gone from the answer."""
    reply = reading(text)
    assert (reply.message, reply.finish) == (AssistantMessage(None, (ToolCall("", "find", '{"q": 1}'),)), "tool_calls")


def test_several_calls_keep_their_order() -> None:
    mark = '{"name": "mark", "arguments": {}}'
    for text in (f"<tool_call>{FIND}</tool_call>\n<tool_call>{mark}</tool_call>", f"```json\n[{FIND}, {mark}]\n```"):
        assert [each.tool for each in reading(text).message.calls] == ["find", "mark"]


@pytest.mark.parametrize(
    "text",
    [
        f"I would call {FIND}",
        f"{FIND}\nThat is how.",
        f"Look:\n```json\n{FIND}\n```",
        f"```json\n{FIND}\n```\n```json\n{FIND}\n```",
        f"<tool_call>{FIND}</tool_call> I have called it.",
        '{"name": "rm", "arguments": {}}',
        '[{"name": "find", "arguments": {}}, {"name": "rm", "arguments": {}}]',
        '{"name": "find"}',
        '{"name": "find", "arguments": {}, "why": "because"}',
        '{"name": "find", "arguments": [1]}',
        '{"name": "find", "arguments": {"q": 1}',
        '{"name": "find", "name": "mark", "arguments": {}}',
        "[]",
        "[1]",
        "find(q=1)",
        "",
    ],
)
def test_anything_else_is_an_answer(text: str) -> None:
    """Words beside it, a tool that was not offered, another shape: nothing is guessed."""
    assert reading(text).message == AssistantMessage(text)


def test_plain_json_calls_nothing_where_no_tools_were_offered() -> None:
    """In the last step; a tagged call is still one there, since nobody wants to read its markup."""
    assert reading(FIND, offered=()).message.text == FIND
    assert reading(f"<tool_call>{FIND}</tool_call>", offered=()).message.text is None


@pytest.mark.parametrize(
    ("text", "finish", "tool"),
    [
        ('<tool_call>{"name": "find", "arguments": {"q": </tool_call>', "stop", "find"),
        ('<tool_call>{"name": "find", "args": {"q": 1}}</tool_call>', "stop", "find"),
        ("<tool_call>find</tool_call>", "stop", ""),
        ('<tool_call>{"name": "find", "argum', "length", "find"),
        ("[TOOL_CALLS] [1]", "stop", ""),
    ],
)
def test_a_malformed_call_is_one_that_cannot_be_run(text: str, finish: Finish, tool: str) -> None:
    """Its arguments are no JSON whatever happens, so that the model is told and nothing is dispatched."""
    reply = reading(text, finish=finish)
    (call,) = reply.message.calls
    assert (call.tool, reply.message.text) == (tool, None)
    with pytest.raises(MalformedArguments):
        parse_arguments(call.arguments)
    assert reply.finish == ("length" if finish == "length" else "tool_calls")


def test_calls_of_the_proper_kind_leave_the_words_beside_them_alone() -> None:
    said = ModelReply(AssistantMessage(FIND, (ToolCall("a", "mark", "{}"),)), "tool_calls", Usage(), "m")
    assert recognised(said, OFFERED) is said


def test_no_text_makes_it_raise() -> None:
    """Whatever a model writes."""
    for text in (
        "[" * 5_000,
        "<tool_call>" * 500,
        json.dumps({"name": "find", "arguments": {"a": "\0"}}),
        "```json\n```",
    ):
        reading(text)
