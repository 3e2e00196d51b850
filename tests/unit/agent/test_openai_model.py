"""The adapter, with the real openai client, against a model on loopback."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from agent.contracts import (
    AssistantMessage,
    Message,
    ModelReply,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from agent.errors import ModelFault, ModelRefused, ModelUnavailable
from agent.openai_model import OpenAIModel
from sandbox.model import (
    Failure,
    Model,
    Scripted,
    arguments_before_name,
    call,
    calls,
    content_filter,
    context_length_exceeded,
    cut_stream,
    empty_answer,
    empty_ids,
    failure,
    finished_as,
    gateway_page,
    malformed_arguments,
    one_index,
    quota_exhausted,
    rate_limited,
    reasoned,
    refusal,
    repeated_ids,
    reset_connection,
    say,
    server_error,
    slow,
    stall,
    stall_stream,
    stream_error,
    truncated,
    without_index,
)

HELLO: list[Message] = [SystemMessage("You are Muninn."), UserMessage("Hello")]
TOO_LONG = (
    "This model's maximum context length is 4096 tokens.",
    "the request exceeds the available context size, try increasing it",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
)
"""Of vLLM, llama.cpp, Anthropic, Gemini and Mistral, which have no code for it."""
SPEC = ToolSpec("find", "Finds.", {"type": "object", "properties": {"q": {"type": "integer"}}}, "read")
Opened = Callable[..., AbstractAsyncContextManager[OpenAIModel]]


@pytest.fixture
async def server() -> AsyncGenerator[Model]:
    async with Model.start(check_at_exit=False) as running:
        yield running


@asynccontextmanager
async def adapter(server: Model, *, stream: bool, **options: object) -> AsyncGenerator[OpenAIModel]:
    """The adapter on `server`; options are the constructor's."""
    chosen = {"base_url": server.base_url, "api_key": server.api_key, "model": server.name} | options
    model = OpenAIModel(stream=stream, **chosen)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        await model.aclose()


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def ask(server: Model, stream: bool, *script: Scripted, within_s: float = 5.0, **options: object) -> ModelReply:
    server.script(*script)
    async with adapter(server, stream=stream, **options) as model:
        return await model.complete(HELLO, [SPEC], within_s=within_s)


async def test_an_answer_with_its_usage(server: Model, stream: bool) -> None:
    reply = await ask(server, stream, say("Good evening."))
    assert reply.message == AssistantMessage("Good evening.")
    assert (reply.finish, reply.model) == ("stop", server.name)
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0
    request = server.requests[0]
    assert request.stream is stream
    assert [tool.name for tool in request.tools] == ["find"]


async def test_the_first_token_and_the_last_are_timed(server: Model) -> None:
    """A streamed reply has begun long before it ends; a plain one comes all at once."""
    streamed = await ask(server, True, stall_stream("Slowly it comes", seconds=0.3))
    assert 0 < streamed.first_s < streamed.took_s - 0.1
    plain = await ask(server, False, stall_stream("Slowly it comes", seconds=0.3))
    assert 0.3 <= plain.first_s <= plain.took_s


async def test_without_tools_the_request_offers_none(server: Model, stream: bool) -> None:
    """I10: the last step; an empty list would be refused by providers."""
    server.script(say("Done."))
    async with adapter(server, stream=stream) as model:
        await model.complete(HELLO, (), within_s=5)
    assert "tools" not in server.requests[0].body


async def test_a_history_with_calls_is_one_that_a_strict_provider_takes(server: Model, stream: bool) -> None:
    """The loopback model refuses what OpenAI refuses."""
    server.script(say("Done."))
    history = [
        *HELLO,
        AssistantMessage(None, (ToolCall("a", "find", "{}"), ToolCall("b", "find", "{}"))),
        ToolMessage("a", '{"ok":true}'),
        ToolMessage("b", '{"ok":true}'),
    ]
    async with adapter(server, stream=stream) as model:
        await model.complete(history, [SPEC], within_s=5)
    server.assert_complete()


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (calls(call("find", q=1), call("find", q=2)), [("find", '{"q":1}'), ("find", '{"q":2}')]),
        (without_index(calls(call("find", q=1), call("mark", q=2))), [("find", '{"q":1}'), ("mark", '{"q":2}')]),
        (
            without_index(calls(call("find", q=1), call("mark", q=2)), whole=False),
            [("find", '{"q":1}'), ("mark", '{"q":2}')],
        ),
        (
            arguments_before_name(calls(call("find", q=1), call("mark", q=2))),
            [("find", '{"q":1}'), ("mark", '{"q":2}')],
        ),
        (empty_ids(calls(call("find", q=1), call("mark", q=2))), [("find", '{"q":1}'), ("mark", '{"q":2}')]),
        (repeated_ids(calls(call("find", q=1), call("mark", q=2))), [("find", '{"q":1}'), ("mark", '{"q":2}')]),
        (malformed_arguments("find", '{"q": 1'), [("find", '{"q": 1')]),
        (one_index(calls(call("find", q=1), call("mark", q=2))), [("find", '{"q":1}'), ("mark", '{"q":2}')]),
        (without_index(empty_ids(calls(call("find", q=1), call("find", q=2)))),
         [("find", '{"q":1}'), ("find", '{"q":2}')]),
        (say('<tool_call>{"name": "find", "arguments": {"q": 1}}</tool_call>'), [("find", '{"q": 1}')]),
        (say('<think>I need it.</think>\n{"name": "find", "arguments": {"q": 1}}'), [("find", '{"q": 1}')]),
        (reasoned(call("find", q=1), "I need it."), [("find", '{"q":1}')]),
        (finished_as(call("find", q=1), "tool_use"), [("find", '{"q":1}')]),
        (finished_as(call("find", q=1), "stop"), [("find", '{"q":1}')]),
    ],
    ids=["two", "no index", "no index, pieces", "arguments first", "empty ids", "repeated ids", "malformed", "index 0",
         "no index, no ids", "as text", "as text, thought before", "thought before", "tool_use", "stop"],
)  # fmt: skip
async def test_calls_as_several_vendors_send_them(
    server: Model, stream: bool, turn: Scripted, expected: list[tuple[str, str]]
) -> None:
    reply = await ask(server, stream, turn)
    assert [(each.tool, each.arguments) for each in reply.message.calls] == expected
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    ("turn", "text", "finish"),
    [
        (empty_answer(), None, "stop"),
        (refusal("I will not."), "I will not.", "stop"),
        (truncated("It was a dark and"), "It was a dark and", "length"),
        (content_filter("Partly"), "Partly", "content_filter"),
        (slow("Slowly it comes", comments=True, between=0.001), "Slowly it comes", "stop"),
        (reasoned("Hello.", "Ada asks."), "Hello.", "stop"),
        (reasoned("Hello.", "Ada asks.", field="reasoning"), "Hello.", "stop"),
        (say("<think>Ada asks.</think>Hello."), "Hello.", "stop"),
        (reasoned(empty_answer(), "I only think."), None, "stop"),
        (truncated("<think>It goes on and"), None, "length"),
        (finished_as("Hello.", "end_turn"), "Hello.", "stop"),
        (finished_as("It was a dark and", "MAX_TOKENS"), "It was a dark and", "length"),
        (finished_as("", "SAFETY"), None, "content_filter"),
    ],
)
async def test_other_ways_to_end(server: Model, stream: bool, turn: Scripted, text: str | None, finish: str) -> None:
    reply = await ask(server, stream, turn)
    assert (reply.message.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    "fault",
    [
        rate_limited(retry_after=0.01),
        rate_limited(retry_after=None),
        rate_limited(retry_after=float("nan")),
        server_error(500),
        server_error(503),
        gateway_page(502),
        gateway_page(200),
        reset_connection(),
        cut_stream(),
        stream_error(),
        finished_as("Half of", "error"),
    ],
    ids=["429", "429 bare", "429 nan", "500", "503", "502 html", "200 html", "reset", "cut", "stream error", "error"],
)
async def test_a_passing_fault_is_tried_again(server: Model, stream: bool, fault: Scripted) -> None:
    reply = await ask(server, stream, fault, say("Here."))
    assert reply.message.text == "Here."


@pytest.mark.parametrize(
    ("fault", "code"),
    [(server_error(500), "server_error"), (rate_limited(retry_after=0), "busy"), (reset_connection(), "connection"),
     (cut_stream(), None), (gateway_page(200), "bad_reply")],
    ids=["500", "429", "reset", "cut", "html"],
)  # fmt: skip
async def test_a_lasting_fault_ends_after_as_many_tries_as_allowed(
    server: Model, stream: bool, fault: Scripted, code: str | None
) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        await ask(server, stream, fault, fault, say("not reached"), tries=2)
    assert len(server.requests) == 2
    if code is not None:
        assert raised.value.code == code


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (quota_exhausted(), "quota"),
        (context_length_exceeded(), "too_long"),
        (failure(400, "Bad.", kind="invalid_request_error"), "bad_request"),
        (failure(401, "Incorrect API key provided: sk-ab***yz.", kind="invalid_request_error"), "unauthorized"),
        (failure(403, "No.", kind="invalid_request_error"), "unauthorized"),
        (failure(404, "No such model.", kind="invalid_request_error"), "no_such_model"),
        (Failure(413, b"too much", content_type="text/plain"), "too_long"),
        (failure(402, "Insufficient credits.", kind="invalid_request_error"), "quota"),
        *[(failure(400, said, kind="invalid_request_error"), "too_long") for said in TOO_LONG],
    ],
    ids=["quota", "context", "400", "401", "403", "404", "413", "402", *[said[:18] for said in TOO_LONG]],
)
async def test_what_trying_again_cannot_help_is_refused_at_once(
    server: Model, stream: bool, fault: Scripted, code: str
) -> None:
    with pytest.raises(ModelRefused) as raised:
        await ask(server, stream, fault)
    assert raised.value.code == code
    assert len(server.requests) == 1
    assert "sk-ab" not in str(raised.value)


async def test_the_key_is_never_in_an_error(server: Model, stream: bool) -> None:
    """I13: also where the server repeats it."""
    told = failure(400, f"Header was Bearer {server.api_key} and that is wrong", kind="invalid_request_error")
    with pytest.raises(ModelRefused) as raised:
        await ask(server, stream, told)
    fault: BaseException | None = raised.value
    while fault is not None:
        assert server.api_key not in f"{fault}{fault!r}"
        assert fault.__suppress_context__ or fault.__context__ is None
        fault = fault.__cause__


async def test_a_server_that_asks_for_more_time_than_there_is_gets_no_second_try(server: Model, stream: bool) -> None:
    """The caller learns it at once, and can still use what time it has."""
    began = time.monotonic()
    with pytest.raises(ModelUnavailable) as raised:
        await ask(server, stream, rate_limited(retry_after=60), within_s=5)
    assert raised.value.code == "busy"
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "turn", [stall(60), stall_stream("Half of it", seconds=60)], ids=["before the first byte", "in the stream"]
)
async def test_a_stall_ends_with_the_time_that_was_given(server: Model, stream: bool, turn: Scripted) -> None:
    began = time.monotonic()
    with pytest.raises(ModelUnavailable) as raised:
        await ask(server, stream, turn, within_s=0.3)
    assert raised.value.code == "timeout"
    assert time.monotonic() - began < 5


async def test_a_silent_connection_is_given_up_and_tried_again(server: Model, stream: bool) -> None:
    reply = await ask(server, stream, stall(60), say("Here."), silence_s=0.2)
    assert reply.message.text == "Here."


async def test_a_cancelled_request_is_gone(server: Model, stream: bool) -> None:
    gate = server.hold()
    async with adapter(server, stream=stream) as model:
        task = asyncio.create_task(model.complete(HELLO, (), within_s=30))
        await gate.reached()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_an_endpoint_that_is_not_there(stream: bool) -> None:
    model = OpenAIModel(base_url="http://127.0.0.1:9/v1", api_key=None, model="m", stream=stream, tries=1)
    try:
        with pytest.raises(ModelUnavailable) as raised:
            await model.complete(HELLO, (), within_s=5)
        assert raised.value.code == "connection"
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            await model.probe()
    finally:
        await model.aclose()


async def test_the_probe_says_in_a_sentence_what_is_wrong(server: Model) -> None:
    """A wrong key is told; an endpoint that cannot list models is reachable all the same."""
    async with adapter(server, stream=False) as model:
        await model.probe()
    async with adapter(server, stream=False, api_key="sk-wrong-key") as model:
        with pytest.raises(ModelFault, match=r"refused the API key \(status 401\)\.$") as raised:
            await model.probe()
        assert "sk-wrong" not in str(raised.value)
    async with adapter(server, stream=False, base_url=server.base_url.replace("/v1", "/nowhere")) as model:
        await model.probe()
