"""Answers of the loopback model, plain and streamed, as the real openai client reads them."""

import asyncio
import json

import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from sandbox.model import (
    ChatRequest,
    Completion,
    Model,
    Usage,
    call,
    calls,
    content_filter,
    empty_answer,
    refusal,
    say,
    say_json,
    truncated,
)
from tests.unit.sandbox_model.wire import ask, streamed, user


async def test_answers_come_in_the_order_of_the_script(model: Model, client: AsyncOpenAI) -> None:
    """The queue is first in, first out, and its texts and usage reach the client unchanged."""
    model.script(say("one"), say("zwei 🦅\n\x00", usage=Usage(11, 7, cached_tokens=3)))
    first, second = await ask(client, model), await ask(client, model)
    assert first.choices[0].message.content == "one"
    assert first.choices[0].finish_reason == "stop"
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens > 0
    assert second.choices[0].message.content == "zwei 🦅\n\x00"
    assert second.usage is not None
    assert (second.usage.prompt_tokens, second.usage.completion_tokens, second.usage.total_tokens) == (11, 7, 18)
    assert second.usage.prompt_tokens_details is not None
    assert second.usage.prompt_tokens_details.cached_tokens == 3
    assert first.id != second.id
    model.assert_complete()


async def test_a_streamed_answer_adds_up_to_the_text(model: Model, client: AsyncOpenAI) -> None:
    """Chunks share one id, end with a finish reason, and the usage comes last in a chunk without choices."""
    text = "A streamed answer of several chunks, with ümläuts and 🦅 in it. " * 3
    model.script(say(text))
    got = await streamed(client, model)
    assert got.text == text
    assert got.finish_reason == "stop"
    assert len({chunk.id for chunk in got.chunks}) == 1
    assert len(got.chunks) > 5
    assert got.chunks[-1].choices == []
    assert got.usage is got.chunks[-1].usage
    assert got.chunks[0].choices[0].delta.role == "assistant"


async def test_usage_is_streamed_only_when_asked_for(model: Model, client: AsyncOpenAI) -> None:
    """Without stream_options.include_usage no chunk carries usage and each has a choice."""
    model.script(say("hello"))
    stream = await client.chat.completions.create(model=model.name, messages=[user("hi")], stream=True)
    async with stream:
        chunks = [chunk async for chunk in stream]
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


async def test_tool_calls_carry_ids_and_json_arguments(model: Model, client: AsyncOpenAI) -> None:
    """Several calls come in order with different ids, `content` null unless text was scripted beside them."""
    model.script(
        calls(call("memory_search", query="atlas"), call("memory_search", query="muninn")),
        calls(call("discord_react", emoji="👍"), text="One moment"),
    )
    plain = (await ask(client, model, tools=True)).choices[0]
    made = [item for item in plain.message.tool_calls or [] if isinstance(item, ChatCompletionMessageFunctionToolCall)]
    assert [json.loads(item.function.arguments)["query"] for item in made] == ["atlas", "muninn"]
    assert len({item.id for item in made}) == 2
    assert plain.finish_reason == "tool_calls"
    assert plain.message.content is None
    beside = (await ask(client, model, tools=True)).choices[0]
    assert beside.message.content == "One moment"


async def test_streamed_tool_calls_are_assembled_by_index(model: Model, client: AsyncOpenAI) -> None:
    """Each call's first delta has id and name, the arguments follow in pieces under the same index."""
    model.script(calls(call("memory_search", query="a" * 60), call("discord_react", emoji="🦅")))
    got = await streamed(client, model, tools=True)
    arguments = ["", ""]
    for delta in got.deltas:
        assert delta.function is not None
        arguments[delta.index] += delta.function.arguments or ""
    assert [json.loads(text) for text in arguments] == [{"query": "a" * 60}, {"emoji": "🦅"}]
    assert [delta.function.name for delta in got.deltas if delta.id and delta.function] == [
        "memory_search",
        "discord_react",
    ]
    assert got.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("turn", "reason", "text"),
    [
        (empty_answer(), "stop", None),
        (truncated("half a sen"), "length", "half a sen"),
        (content_filter("It beg"), "content_filter", "It beg"),
        (content_filter(), "content_filter", None),
    ],
)
async def test_answers_that_end_otherwise(
    model: Model, client: AsyncOpenAI, turn: Completion, reason: str, text: str | None
) -> None:
    """Empty, truncated and filtered answers keep their finish reason, plain and streamed."""
    model.script(turn, turn)
    choice = (await ask(client, model)).choices[0]
    assert (choice.finish_reason, choice.message.content) == (reason, text)
    got = await streamed(client, model)
    assert (got.finish_reason, got.text) == (reason, text or "")


async def test_refusals_come_in_their_own_field(model: Model, client: AsyncOpenAI) -> None:
    """A refusal leaves `content` null, plain and streamed."""
    model.script(refusal("I will not."), refusal("I will not."))
    message = (await ask(client, model)).choices[0].message
    assert (message.refusal, message.content) == ("I will not.", None)
    got = await streamed(client, model)
    assert "".join(chunk.choices[0].delta.refusal or "" for chunk in got.chunks if chunk.choices) == "I will not."


async def test_json_schema_answers_parse(model: Model, client: AsyncOpenAI) -> None:
    """A request in strict JSON is seen with its schema, and `say_json` answers it."""
    model.script(say_json({"facts": []}))
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
        "required": ["facts"],
        "additionalProperties": False,
    }
    answer = await client.chat.completions.create(
        model=model.name,
        messages=[user("extract")],
        response_format={"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": schema}},
    )
    assert json.loads(answer.choices[0].message.content or "") == {"facts": []}
    wanted = model.requests[0].response_format
    assert (wanted.kind, wanted.name, wanted.strict, wanted.schema) == ("json_schema", "facts", True, schema)


async def test_a_turn_may_be_made_from_the_request(model: Model, client: AsyncOpenAI) -> None:
    """Functions, plain and async, get the parsed request; `script_for` rules come before the queue."""

    async def later(request: ChatRequest) -> Completion:
        await asyncio.sleep(0)
        return say(f"late {request.number}")

    model.script(lambda request: say(request.last_user_text.upper()), later)
    model.script_for(lambda request: "atlas" in request.last_user_text, say("about atlas"))
    assert (await ask(client, model, user("loud"))).choices[0].message.content == "LOUD"
    assert (await ask(client, model, user("the atlas"))).choices[0].message.content == "about atlas"
    assert (await ask(client, model, user("the atlas"))).choices[0].message.content == "late 3"
    model.assert_complete()


async def test_concurrent_requests_get_the_turns_of_their_rule(model: Model, client: AsyncOpenAI) -> None:
    """Rules keep concurrent places apart whatever the order in which they arrive."""
    for place in ("red", "blue", "green"):
        model.script_for(lambda request, place=place: place in request.last_user_text, say(f"{place} answer"))
    places = ["green", "red", "blue"]
    answers = await asyncio.gather(*(ask(client, model, user(place)) for place in places))
    assert [answer.choices[0].message.content for answer in answers] == [f"{place} answer" for place in places]


async def test_the_request_is_seen_whole_and_without_the_key(model: Model, client: AsyncOpenAI) -> None:
    """Messages, tools, results and headers are there; the key is nowhere in what the test sees (I13)."""
    model.script(say("done"))
    await client.chat.completions.create(
        model=model.name,
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "find"}, {"type": "text", "text": "atlas"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "memory_search", "arguments": '{"query":"a"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '{"ok":true}'},
        ],
        tools=[{"type": "function", "function": {"name": "memory_search", "parameters": {"type": "object"}}}],
        temperature=0.5,
        max_completion_tokens=90,
        extra_headers={"x-trace": "t1"},
    )
    request = model.requests[0]
    assert request.system_text == "Be brief."
    assert request.last_user_text == "find\natlas"
    assert request.tool_names == {"memory_search"}
    assert (request.tool_choice, request.temperature, request.max_tokens) == ("auto", 0.5, 90)
    (result,) = request.tool_results
    assert result.json == {"ok": True}
    assert request.call_of(result).arguments == {"query": "a"}
    assert request.headers["x-trace"] == "t1"
    assert model.api_key not in repr(request)


async def test_models_are_listed(model: Model, client: AsyncOpenAI) -> None:
    """GET /v1/models names both models, and each can be asked for."""
    assert {card.id async for card in client.models.list()} == {model.name, model.embedding_name}
    assert (await client.models.retrieve(model.name)).id == model.name
