"""The loopback model refuses what a strict hosted provider refuses, in OpenAI's error shape."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from sandbox.model import Model, say
from tests.unit.sandbox_model.wire import SEARCH, ask, user

CALL = {"id": "c1", "type": "function", "function": {"name": "memory_search", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "{}"}
USER = {"role": "user", "content": "hi"}


@dataclass(frozen=True)
class Case:
    name: str
    says: str
    messages: list[Any] = field(default_factory=lambda: [USER])
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    param: str | None = None


def _calling(**changes: Any) -> dict[str, Any]:
    return {**CALLING, "tool_calls": [{**CALL, **changes}]}


def _picture(url: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


def _tool(**changes: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "t", "parameters": {"type": "object"}, **changes}}


OPEN_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
UNREQUIRED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": [],
    "additionalProperties": False,
}
CASES = [
    Case("no messages", "empty array", messages=[], param="messages"),
    Case("unknown role", "Supported values are", [{"role": "bot", "content": "x"}], param="messages[0].role"),
    Case("old function role", "Supported values are", [{"role": "function", "name": "f", "content": "x"}]),
    Case("null content of a user", "got null", [{"role": "user", "content": None}], param="messages[0].content"),
    Case("null content without calls", "got null", [USER, {"role": "assistant", "content": None}]),
    Case("no content at all", "Missing required parameter", [{"role": "user"}], param="messages[0].content"),
    Case("empty parts", "empty array", [{"role": "user", "content": []}]),
    Case("picture that is none", "unsupported image", [_picture("data:image/png;base64,AA==")]),
    Case("picture of another kind than it says", "unsupported image", [_picture("data:image/gif;base64,iVBORw0KGgo=")]),
    Case("unknown part", "Supported values are", [{"role": "user", "content": [{"type": "video", "video": "x"}]}]),
    Case("unknown field", "Unknown parameter", [{**USER, "author": "x"}], param="messages[0].author"),
    Case("name with spaces", "does not match pattern", [{**USER, "name": "Ada Lovelace"}]),
    Case("call without a result", "did not have response messages: c1", [USER, CALLING]),
    Case("call answered too late", "did not have response messages: c1", [USER, CALLING, USER, RESULT]),
    Case("result without a call", "must be a response", [USER, RESULT]),
    Case("result given twice", "has not been answered yet", [USER, CALLING, RESULT, RESULT]),
    Case("result of another call", "must be a response", [USER, CALLING, {**RESULT, "tool_call_id": "c2"}]),
    Case("result without an id", "Missing required parameter", [USER, CALLING, {"role": "tool", "content": "x"}]),
    Case("null result", "got null", [USER, CALLING, {**RESULT, "content": None}]),
    Case("broken arguments", "holds a JSON object", [USER, _calling(function={"name": "f", "arguments": "{"}), RESULT]),
    Case(
        "arguments no object", "holds a JSON object", [USER, _calling(function={"name": "f", "arguments": "1"}), RESULT]
    ),
    Case("arguments no string", "expected a string", [USER, _calling(function={"name": "f", "arguments": {}}), RESULT]),
    Case("empty call id", "empty string", [USER, _calling(id=""), {**RESULT, "tool_call_id": ""}]),
    Case("long call id", "maximum length 40", [USER, _calling(id="c" * 41), RESULT]),
    Case("repeated call id", "Duplicate value", [USER, {**CALLING, "tool_calls": [CALL, CALL]}, RESULT]),
    Case("no calls in the list", "empty array", [USER, {**CALLING, "tool_calls": []}]),
    Case("no tools in the list", "empty array", more={"tools": []}, param="tools"),
    Case("tool name with a dot", "does not match pattern", more={"tools": [_tool(name="memory.search")]}),
    Case("two tools of a name", "must be unique", more={"tools": [_tool(), _tool()]}),
    Case("schema no object", 'type: "object"', more={"tools": [_tool(parameters={"type": "string"})]}),
    Case("strict, open schema", "additionalProperties", more={"tools": [_tool(strict=True, parameters=OPEN_SCHEMA)]}),
    Case("strict, not required", "'required'", more={"tools": [_tool(strict=True, parameters=UNREQUIRED)]}),
    Case("choice without tools", "only allowed when 'tools'", more={"tool_choice": "auto"}),
    Case("parallel without tools", "only allowed when 'tools'", more={"parallel_tool_calls": True}),
    Case(
        "choice of no tool",
        "not found",
        more={"tools": [_tool()], "tool_choice": {"type": "function", "function": {"name": "z"}}},
    ),
    Case("options without stream", "only allowed when 'stream'", more={"stream_options": {"include_usage": True}}),
    Case("json without the word", "must contain the word 'json'", more={"response_format": {"type": "json_object"}}),
    Case("both limits", "at the same time", more={"max_tokens": 5, "max_completion_tokens": 5}),
    Case("zero tokens", "below minimum", more={"max_tokens": 0}),
    Case("hot", "above maximum", more={"temperature": 2.5}, param="temperature"),
    Case("several choices", "above maximum", more={"n": 2}),
    Case("unknown argument", "Unknown parameter: 'top_k'", more={"top_k": 5}, param="top_k"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_refused_with_a_reason(model: Model, client: AsyncOpenAI, case: Case) -> None:
    """A broken request is a 400 that names the rule, uses up no turn, and is seen by the test at the end."""
    model.script(say("never said"))
    with pytest.raises(openai.BadRequestError) as caught:
        await client.post(
            "/chat/completions", body={"model": model.name, "messages": case.messages, **case.more}, cast_to=object
        )
    assert case.says in caught.value.message
    assert caught.value.type == "invalid_request_error"
    assert case.param is None or caught.value.param == case.param
    assert model.requests == []
    with pytest.raises(AssertionError, match="refused"):
        model.assert_sound()


async def test_a_whole_transcript_is_accepted(model: Model, client: AsyncOpenAI) -> None:
    """Calls with contiguous results in any order, a name, an empty answer and a later question are all right."""
    both = {**CALLING, "tool_calls": [CALL, {**CALL, "id": "c2"}]}
    messages = [
        {"role": "developer", "content": "x"},
        {**USER, "name": "Ada"},
        both,
        {**RESULT, "tool_call_id": "c2"},
        RESULT,
        {"role": "assistant", "content": ""},
        CALLING,  # ids repeat across answers with many servers; only within one they must differ
        RESULT,
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}],
        },
    ]
    model.script(say("fine"))
    await client.post(
        "/chat/completions", body={"model": model.name, "messages": messages, "tools": [SEARCH]}, cast_to=object
    )
    model.assert_complete()


async def test_a_wrong_or_missing_key(model: Model) -> None:
    """401 in OpenAI's shape, and the key that was sent is not repeated."""
    async with AsyncOpenAI(base_url=model.base_url, api_key="sk-wrong-0123", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError) as caught:
            await ask(stranger, model)
        assert caught.value.code == "invalid_api_key"
        assert "sk-wrong" not in str(caught.value)
        with pytest.raises(openai.AuthenticationError):
            await stranger.models.list()
    assert [entry.error.status for entry in model.refusals] == [401, 401]


async def test_unknown_models_and_paths(model: Model, client: AsyncOpenAI) -> None:
    """404 with `model_not_found` for both endpoints, and a plain one for paths that are not served."""
    with pytest.raises(openai.NotFoundError) as caught:
        await client.chat.completions.create(model="gpt-none", messages=[user("hi")])
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        await client.embeddings.create(model=model.name, input="x")
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-none")
    with pytest.raises(openai.NotFoundError):
        await client.completions.create(model=model.name, prompt="x")


async def test_a_prompt_longer_than_the_window() -> None:
    """The window is counted: 400 `context_length_exceeded` with both numbers in the message."""
    async with (
        Model.start(context_window=100, check_at_exit=False) as model,
        AsyncOpenAI(base_url=model.base_url, api_key=model.api_key, max_retries=0) as client,
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            await ask(client, model, user("long " * 200))
        assert caught.value.code == "context_length_exceeded"
        assert "100 tokens" in caught.value.message


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "\\ud800"}', b"\xff"])
async def test_a_body_that_is_no_json_object(model: Model, client: AsyncOpenAI, body: bytes) -> None:
    """Broken JSON, lone surrogates and other than objects are a 400."""
    with pytest.raises(openai.BadRequestError):
        await client.post("/chat/completions", content=body, cast_to=object)


async def test_nothing_scripted_is_told_to_client_and_test() -> None:
    """The client gets a 500 that says so, and leaving the model raises AssertionError with the same words."""
    stack = AsyncExitStack()
    model = await stack.enter_async_context(Model.start())
    async with AsyncOpenAI(base_url=model.base_url, api_key=model.api_key, max_retries=0) as client:
        with pytest.raises(openai.InternalServerError, match="nothing is scripted"):
            await ask(client, model)
    with pytest.raises(AssertionError, match="nothing is scripted for request 1"):
        await stack.aclose()


async def test_a_turn_that_raises_is_told(model: Model, client: AsyncOpenAI) -> None:
    """A scripted function's own exception is not lost in the server."""
    model.script(lambda request: say(request.headers["absent"]))
    with pytest.raises(openai.InternalServerError):
        await ask(client, model)
    with pytest.raises(AssertionError, match="KeyError"):
        model.assert_sound()


async def test_a_gate_that_held_nothing_is_told(model: Model, client: AsyncOpenAI) -> None:
    """Another rule took its request, say: the test only seems to hold something."""
    model.script_for(lambda request: True, say("at once"))
    gate = model.hold(lambda request: True)
    await ask(client, model)
    model.assert_sound()
    gate.release(say("too late"))
    with pytest.raises(AssertionError, match="1 gates were released that no request had reached"):
        model.assert_sound()
    await ask(client, model)
    model.assert_sound()


async def test_what_is_left_of_the_script_is_named(model: Model) -> None:
    """`assert_complete` names turns that nobody asked for; `assert_sound` lets them be."""
    model.script(say("left over"))
    model.script_for(lambda _: True, say("rule left"))
    model.assert_sound()
    with pytest.raises(AssertionError, match=r"left over.*rule left"):
        model.assert_complete()


async def test_waiting_for_a_request_gives_up_with_words(model: Model) -> None:
    """A request that does not come is an AssertionError that says what was waited for."""
    with pytest.raises(AssertionError, match=r"request 2 did not arrive within 0\.01 s; 0 requests have"):
        await model.wait_for_request(2, within=0.01)
