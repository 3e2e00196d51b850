"""What the model does with one request: a turn. Answers, calls of tools, and everything that goes wrong with providers.

A turn is plain data made by the functions below; the server performs it. The functions that take a `Completion`
change how it is delivered and can be put around one another: `slow(without_index(calls(...)), between=0.1)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import orjson

from sandbox.model.fields import Json
from sandbox.model.request import ChatRequest
from sandbox.patience import WITHIN_S

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model makes. `arguments` is sent as it stands; `id` None: the server makes a fresh one."""

    name: str
    arguments: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """How a completion travels. Counts are chunks of the stream (the first one carries the role and no text)."""

    piece: int = 24
    """Characters of text or of arguments in a chunk."""
    between: float = 0.0
    """Seconds before each chunk after the first."""
    comments: bool = False
    """SSE comment lines between the chunks, as some routers send to keep a connection."""
    cut_after: int | None = None
    """The connection ends after so many chunks; unstreamed, in the middle of the body."""
    stall_after: int | None = None
    stall_for: float = 0.0
    error_after: int | None = None
    """An error event in the stream after so many chunks, then the end; unstreamed, a plain 500."""
    indexed: bool = True
    """Tool call deltas carry `index`."""
    whole_calls: bool = False
    """Each tool call comes in one delta."""
    arguments_first: bool = False
    """A call's arguments come before its name and id."""
    one_index: bool = False
    """Every call has index 0."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion with status 200. `finish_reason` None means the honest one (`tool_calls` or `stop`).

    `reported` is said in its place, in another vendor's words. `reasoning` is what the model thinks aloud, sent before
    the text in the field `reasoning_field`.
    """

    text: str | None = None
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish_reason: FinishReason | None = None
    reported: str | None = None
    reasoning: str | None = None
    reasoning_field: str = "reasoning_content"
    usage: Usage | None = None
    delay: float = 0.0
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is no completion: status, headers and body as given."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = "application/json"
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Stall:
    """Not a byte for so many seconds, then `then`, or the connection closed."""

    seconds: float
    then: Completion | Failure | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset before a byte of the answer (the client sees ECONNRESET)."""

    delay: float = 0.0


class Gate:
    """A turn that waits until the test releases it.

    `reached()` waits for the request to arrive, `release(turn)` lets it be answered. A gate serves one request; when
    the client goes away in between, the gate is spent.
    """

    def __init__(self) -> None:
        self._request: ChatRequest | None = None
        self._reached = asyncio.Event()
        self._turn: Turn | None = None
        self._released = asyncio.Event()

    @property
    def request(self) -> ChatRequest:
        """The request that waits here. Raises AssertionError before it has arrived."""
        if self._request is None:
            raise AssertionError("no request has reached this gate yet")
        return self._request

    async def reached(self, *, within: float = WITHIN_S) -> ChatRequest:
        """The request, as soon as it waits here. Raises AssertionError after `within` seconds."""
        try:
            async with asyncio.timeout(within):
                await self._reached.wait()
        except TimeoutError:
            raise AssertionError(f"no request reached the gate within {within} s") from None
        return self.request

    @property
    def is_released(self) -> bool:
        """Whether the test has let through what comes here."""
        return self._released.is_set()

    def release(self, turn: Turn) -> None:
        """Answer the request by `turn`, now or as soon as it comes. Raises AssertionError for a second release."""
        if self._released.is_set():
            raise AssertionError("this gate has been released before")
        self._turn = turn
        self._released.set()

    async def passed(self, request: ChatRequest) -> Turn:
        """For the server: hold `request` here until the test releases it."""
        self._request = request
        self._reached.set()
        await self._released.wait()
        if self._turn is None:
            raise AssertionError("a gate was opened without a turn")
        return self._turn


Turn: TypeAlias = Completion | Failure | Stall | Reset | Gate
Scripted: TypeAlias = "Turn | Callable[[ChatRequest], Turn | Awaitable[Turn]]"


# --- answers ---------------------------------------------------------------------------------------------------------


def say(text: str, *, delay: float = 0.0, usage: Usage | None = None) -> Completion:
    """The model answers `text`, after `delay` seconds."""
    return Completion(text=text, delay=delay, usage=usage)


def say_json(value: Json, *, delay: float = 0.0, usage: Usage | None = None) -> Completion:
    """The model answers `value` as JSON text (for requests with a response_format)."""
    return say(orjson.dumps(value).decode(), delay=delay, usage=usage)


def call(name: str, /, **arguments: Json) -> Completion:
    """The model calls one tool: `call("memory_search", query="atlas")`."""
    return Completion(calls=(Call(name, orjson.dumps(arguments).decode()),))


def calls(*completions: Completion, text: str | None = None) -> Completion:
    """All these calls in one answer, in this order: `calls(call("a"), call("b", x=1), text="A moment")`."""
    return Completion(text=text, calls=tuple(made for completion in completions for made in completion.calls))


def empty_answer() -> Completion:
    """An answer with neither text nor calls, finished by `stop`: `content` is null."""
    return Completion()


def refusal(text: str) -> Completion:
    """The model declines in the field made for it: `refusal` is set and `content` is null."""
    return Completion(refusal=text)


def truncated(turn: Completion | str = "An answer that was cut off by its len") -> Completion:
    """The answer stops at the token limit: finish_reason `length`. Its calls are sent as they are."""
    return replace(_completion(turn), finish_reason="length")


def content_filter(text: str = "") -> Completion:
    """The provider's filter stopped the answer: finish_reason `content_filter`, with what had come so far."""
    return Completion(text=text or None, finish_reason="content_filter")


def reasoned(turn: Completion | str, thoughts: str, *, field: str = "reasoning_content") -> Completion:
    """The model thinks aloud first, in a field of its own (`reasoning_content` or `reasoning`, by vendor)."""
    return replace(_completion(turn), reasoning=thoughts, reasoning_field=field)


def finished_as(turn: Completion | str, reason: str) -> Completion:
    """The same answer with a finish reason in another vendor's words, such as `end_turn`, `MAX_TOKENS` or `error`."""
    return replace(_completion(turn), reported=reason)


# --- faults in the calls of an answer --------------------------------------------------------------------------------


def malformed_arguments(name: str, arguments: str = '{"query": "atl') -> Completion:
    """One call whose arguments are sent exactly as given; by default JSON that breaks off."""
    return Completion(calls=(Call(name, arguments),))


def with_ids(turn: Completion, *ids: str) -> Completion:
    """The same calls with these ids, one for each. Raises AssertionError when their number differs."""
    if len(ids) != len(turn.calls):
        raise AssertionError(f"{len(ids)} ids for {len(turn.calls)} calls")
    return replace(turn, calls=tuple(replace(made, id=name) for made, name in zip(turn.calls, ids, strict=True)))


def repeated_ids(turn: Completion, name: str = "call_same") -> Completion:
    """All calls of the answer carry one id."""
    return with_ids(turn, *[name] * len(turn.calls))


def empty_ids(turn: Completion) -> Completion:
    """The calls of the answer carry an empty id."""
    return repeated_ids(turn, "")


def without_index(turn: Completion, *, whole: bool = True) -> Completion:
    """Streamed tool call deltas have no `index`. `whole`: one delta a call; else its arguments follow in pieces."""
    return replace(turn, pace=replace(turn.pace, indexed=False, whole_calls=whole))


def one_index(turn: Completion) -> Completion:
    """Streamed tool call deltas all have `index` 0."""
    return replace(turn, pace=replace(turn.pace, one_index=True))


def arguments_before_name(turn: Completion) -> Completion:
    """Streamed: a call's arguments come first; its id and name come in the call's last delta."""
    return replace(turn, pace=replace(turn.pace, arguments_first=True))


# --- faults of the connection ----------------------------------------------------------------------------------------


def slow(turn: Completion | str, *, between: float = 0.05, piece: int = 4, comments: bool = False) -> Completion:
    """The answer comes in small pieces with `between` seconds before each (unstreamed: it all comes late)."""
    turn = _completion(turn)
    return replace(turn, pace=replace(turn.pace, between=between, piece=piece, comments=comments))


def cut_stream(
    turn: Completion | str = "An answer of which only the beginning arrives", *, after_chunks: int = 2
) -> Completion:
    """The connection closes after so many chunks, the stream unfinished; unstreamed, in the middle of the body."""
    turn = _completion(turn)
    return replace(turn, pace=replace(turn.pace, cut_after=after_chunks, piece=min(turn.pace.piece, 8)))


def stall_stream(turn: Completion | str, *, after_chunks: int = 2, seconds: float = 60.0) -> Completion:
    """The stream pauses for `seconds` after so many chunks, then goes on; unstreamed, the whole answer does."""
    turn = _completion(turn)
    return replace(turn, pace=replace(turn.pace, stall_after=after_chunks, stall_for=seconds))


def stream_error(turn: Completion | str = "An answer that breaks", *, after_chunks: int = 2) -> Completion:
    """An error event in the middle of the stream; unstreamed, a plain 500."""
    turn = _completion(turn)
    return replace(turn, pace=replace(turn.pace, error_after=after_chunks, piece=min(turn.pace.piece, 8)))


def stall(seconds: float, then: Completion | Failure | None = None) -> Stall:
    """Not a byte, headers included, for `seconds`; then `then`, or the connection is closed."""
    return Stall(seconds, then)


def reset_connection(*, delay: float = 0.0) -> Reset:
    """The connection is reset after the request was read."""
    return Reset(delay)


# --- errors that a provider answers ----------------------------------------------------------------------------------


def failure(
    status: int,
    message: str,
    *,
    kind: str,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
    delay: float = 0.0,
) -> Failure:
    """Any error in OpenAI's shape."""
    error = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Failure(status, orjson.dumps(error), headers or {}, delay=delay)


def rate_limited(*, retry_after: float | None = 1.0) -> Failure:
    """429 `rate_limit_exceeded`, with Retry-After in seconds (decimals allowed, as providers send) unless None."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return failure(
        429,
        "Rate limit reached for requests. Please try again later.",
        kind="requests",
        code="rate_limit_exceeded",
        headers=headers,
    )


def quota_exhausted() -> Failure:
    """429 `insufficient_quota`: waiting does not help."""
    return failure(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    )


def server_error(status: int = 503) -> Failure:
    """A 5xx in OpenAI's shape."""
    return failure(status, "The server is currently overloaded. Please try again later.", kind="server_error")


def gateway_page(status: int = 502) -> Failure:
    """A proxy's HTML page instead of JSON; with status 200 it passes for a success until it is parsed."""
    page = b"<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"
    return Failure(status, page, content_type="text/html")


def context_length_exceeded(window: int = 8192, tokens: int = 9000) -> Failure:
    """400 `context_length_exceeded`: the prompt is longer than the model's window."""
    return failure(
        400,
        f"This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} "
        "tokens. Please reduce the length of the messages.",
        kind="invalid_request_error",
        code="context_length_exceeded",
        param="messages",
    )


def _completion(turn: Completion | str) -> Completion:
    return say(turn) if isinstance(turn, str) else turn
