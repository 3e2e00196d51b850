"""What goes wrong with providers, as the real openai client meets it."""

import asyncio

import openai
import pytest
from openai import AsyncOpenAI

from sandbox.model import (
    Failure,
    Model,
    Reset,
    Stall,
    arguments_before_name,
    call,
    calls,
    context_length_exceeded,
    cut_stream,
    empty_ids,
    gateway_page,
    malformed_arguments,
    quota_exhausted,
    rate_limited,
    repeated_ids,
    reset_connection,
    say,
    server_error,
    slow,
    stall,
    stall_stream,
    stream_error,
    truncated,
    with_ids,
    without_index,
)
from tests.unit.sandbox_model.wire import Streamed, ask, stream_into, streamed

TWO = calls(call("memory_search", query="atlas"), call("discord_react", emoji="👍"))


@pytest.mark.parametrize(
    ("turn", "error", "code"),
    [
        (rate_limited(retry_after=0.5), openai.RateLimitError, "rate_limit_exceeded"),
        (quota_exhausted(), openai.RateLimitError, "insufficient_quota"),
        (server_error(503), openai.InternalServerError, None),
        (server_error(500), openai.InternalServerError, None),
        (gateway_page(502), openai.InternalServerError, None),
        (context_length_exceeded(), openai.BadRequestError, "context_length_exceeded"),
    ],
)
async def test_errors_have_the_providers_shape(
    model: Model, client: AsyncOpenAI, turn: Failure, error: type[openai.APIStatusError], code: str | None
) -> None:
    """Each error is the client's own class with OpenAI's code, and the next request succeeds."""
    model.script(turn, say("well again"))
    with pytest.raises(error) as caught:
        await ask(client, model)
    assert caught.value.code == code
    assert (await ask(client, model)).choices[0].message.content == "well again"


async def test_retry_after_is_sent_and_obeyed(model: Model) -> None:
    """The client's own retry waits as long as the header says, and takes the next turn."""
    model.script(rate_limited(retry_after=0.01), say("second try"))
    async with AsyncOpenAI(base_url=model.base_url, api_key=model.api_key, max_retries=1) as patient:
        assert (await ask(patient, model)).choices[0].message.content == "second try"
    assert len(model.requests) == 2


async def test_a_cut_stream_keeps_what_came_before(model: Model, client: AsyncOpenAI) -> None:
    """The connection ends after the chunks that were asked for, without a finish reason."""
    model.script(cut_stream("abcdefgh" * 4, after_chunks=3))
    got = Streamed()
    with pytest.raises(openai.APIConnectionError):
        await stream_into(got, client, model)
    assert got.text == "abcdefgh" * 2
    assert got.finish_reason is None


async def test_a_cut_after_the_last_chunk_loses_only_the_end_mark(model: Model, client: AsyncOpenAI) -> None:
    """All text and the finish reason are there, yet the stream does not end as it should."""
    model.script(cut_stream("short", after_chunks=99))
    got = Streamed()
    with pytest.raises(openai.APIConnectionError):
        await stream_into(got, client, model)
    assert (got.text, got.finish_reason) == ("short", "stop")


async def test_an_unstreamed_answer_is_cut_in_its_body(model: Model, client: AsyncOpenAI) -> None:
    """Half a body is a connection error, not a short answer."""
    model.script(cut_stream())
    with pytest.raises(openai.APIConnectionError):
        await ask(client, model)


async def test_a_reset_connection(model: Model, client: AsyncOpenAI) -> None:
    """The request is recorded, the client sees the connection fail."""
    model.script(reset_connection())
    with pytest.raises(openai.APIConnectionError):
        await ask(client, model)
    assert len(model.requests) == 1


async def test_an_error_in_the_stream(model: Model, client: AsyncOpenAI) -> None:
    """An error event raises APIError after the text that came; unstreamed it is a 500."""
    model.script(stream_error("abcdefgh" * 4, after_chunks=2), stream_error())
    got = Streamed()
    with pytest.raises(openai.APIError):
        await stream_into(got, client, model)
    assert got.text == "abcdefgh"
    with pytest.raises(openai.InternalServerError):
        await ask(client, model)


@pytest.mark.parametrize("turn", [stall(30), stall(30, say("too late"))], ids=["then closed", "then an answer"])
async def test_a_stall_ends_by_the_clients_timeout(model: Model, client: AsyncOpenAI, turn: Stall) -> None:
    """Nothing comes, so the client's own deadline decides; the server goes on for others meanwhile."""
    model.script(turn, say("another"))
    hasty = client.with_options(timeout=0.2)
    with pytest.raises(openai.APITimeoutError):
        await ask(hasty, model)
    assert (await ask(client, model)).choices[0].message.content == "another"


async def test_a_stall_in_the_stream_and_slow_tokens_arrive_whole(model: Model, client: AsyncOpenAI) -> None:
    """Pauses and comment lines between chunks change nothing in the text."""
    model.script(
        stall_stream("first and last", after_chunks=1, seconds=0.05),
        slow("a slow answer", between=0.001, comments=True),
        slow("a slow answer", between=0.001),
        stall(0.01, say("after a while")),
    )
    assert (await streamed(client, model)).text == "first and last"
    assert (await streamed(client, model)).text == "a slow answer"
    assert (await ask(client, model)).choices[0].message.content == "a slow answer"
    assert (await ask(client, model)).choices[0].message.content == "after a while"


@pytest.mark.parametrize("whole", [True, False])
async def test_deltas_without_index(model: Model, client: AsyncOpenAI, whole: bool) -> None:
    """No delta carries an index (the client gives None); two calls are told apart by id only."""
    model.script(without_index(TWO, whole=whole))
    got = await streamed(client, model, tools=True)
    assert [delta.index for delta in got.deltas] == [None] * len(got.deltas)
    assert len({delta.id for delta in got.deltas if delta.id}) == 2
    assert (len(got.deltas) == 2) is whole


async def test_arguments_before_the_name(model: Model, client: AsyncOpenAI) -> None:
    """The call's name and id come in its last delta."""
    model.script(arguments_before_name(call("memory_search", query="a" * 40)))
    got = await streamed(client, model, tools=True)
    named = [bool(delta.function and delta.function.name) for delta in got.deltas]
    assert named == [False] * (len(named) - 1) + [True]


async def test_ids_as_the_script_wants_them(model: Model, client: AsyncOpenAI) -> None:
    """Repeated, empty and chosen ids reach the client."""
    model.script(repeated_ids(TWO), empty_ids(TWO), with_ids(TWO, "call_a", "call_b"))
    seen = [
        [made.id for made in (await ask(client, model, tools=True)).choices[0].message.tool_calls or []] for _ in "123"
    ]
    assert seen == [["call_same", "call_same"], ["", ""], ["call_a", "call_b"]]
    with pytest.raises(AssertionError, match="1 ids for 2 calls"):
        with_ids(TWO, "one")


async def test_malformed_and_truncated_arguments(model: Model, client: AsyncOpenAI) -> None:
    """Broken arguments are sent as they are; a truncated call has finish reason `length`."""
    model.script(malformed_arguments("memory_search"), truncated(call("memory_search", query="x")))
    broken = (await ask(client, model, tools=True)).choices[0]
    assert broken.message.tool_calls is not None
    assert '"arguments":"{\\"query\\": \\"atl"' in broken.message.model_dump_json()
    assert (await ask(client, model, tools=True)).choices[0].finish_reason == "length"


async def test_a_held_turn_waits_for_its_release(model: Model, client: AsyncOpenAI) -> None:
    """The test sees the request while it waits, other requests pass, and the release answers it."""
    gate = model.hold()
    model.script(say("passed by"))
    held = asyncio.create_task(ask(client, model))
    assert (await gate.reached()).number == 1
    assert (await ask(client, model)).choices[0].message.content == "passed by"
    assert not held.done()
    gate.release(say("at last"))
    assert (await held).choices[0].message.content == "at last"
    with pytest.raises(AssertionError):
        gate.release(say("again"))


async def test_a_gate_may_be_released_by_a_fault(model: Model, client: AsyncOpenAI) -> None:
    """A rule's gate holds only what matches, and what it is released by may be an error."""
    gate = model.hold(lambda request: request.stream is False)
    held = asyncio.create_task(ask(client, model))
    await gate.reached()
    gate.release(server_error())
    with pytest.raises(openai.InternalServerError):
        await held


async def test_embeddings_meet_faults_of_their_own(model: Model, client: AsyncOpenAI) -> None:
    """Faults for embeddings come in order and leave the chat's script alone."""
    faults: list[Failure | Reset] = [rate_limited(), reset_connection()]
    model.fail_embeddings(*faults)
    model.script(say("untouched"))
    with pytest.raises(openai.RateLimitError):
        await client.embeddings.create(model=model.embedding_name, input="x")
    with pytest.raises(openai.APIConnectionError):
        await client.embeddings.create(model=model.embedding_name, input="x")
    assert len((await client.embeddings.create(model=model.embedding_name, input="x")).data) == 1
    assert (await ask(client, model)).choices[0].message.content == "untouched"


async def test_stopping_cuts_what_is_held() -> None:
    """A server that stops with a stalled and a held request does so at once."""
    async with asyncio.timeout(5):
        async with (
            Model.start() as model,
            AsyncOpenAI(base_url=model.base_url, api_key=model.api_key, max_retries=0) as client,
        ):
            model.script(stall(600))
            gate = model.hold()
            waiting = [asyncio.create_task(ask(client, model)) for _ in range(2)]
            await gate.reached()
        results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, openai.APIConnectionError) for result in results)
