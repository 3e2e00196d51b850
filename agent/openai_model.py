"""A model behind any OpenAI-compatible endpoint: OpenAI, OpenRouter, vLLM, llama.cpp, Ollama and others.

The loop's only module that imports the library. Its own retries are off: ours know the time that is left, and honour
what the server asks for. Every error of the library becomes one of ours, and none of them holds the key (I13).
"""

import asyncio
import email.utils
import json
import math
import random
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import httpx2
import openai
import orjson
import structlog
from openai import AsyncOpenAI, AsyncStream

from agent.contracts import Message, ModelReply, ToolSpec
from agent.errors import ModelFault, ModelRefused, ModelUnavailable
from agent.openai_wire import Assembly, BadReply, CutReply, read_completion, write_message, write_tool
from agent.ports import Listener
from agent.spoken_calls import recognised

_NO_KEY = "no-key"  # the library insists on one; local servers ask for none
_SHOWN_CHARS = 200
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 4.0
_TOO_LONG = re.compile(
    r"context (length|window|size)|maximum model length|exceeds the (available|maximum)[^.]{0,40}(context|tokens)"
    r"|(prompt|input|request) (is )?too (long|large)|too many (input )?tokens|too large for model"
    r"|tokens[^.]*must be <=",
    re.IGNORECASE,
)
"""How servers say, where they have no code for it, that a request does not fit into the model's window."""
_FAULTS = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, aiohttp.ClientError)
"""What a request may raise: the library's errors, its client's, and those that aiohttp's transport lets through."""

_log = structlog.get_logger(__name__)


class OpenAIModel:
    """An agent.ports.Model. Close it with aclose(); one instance serves any number of runs at once.

    connect_s  seconds to reach the endpoint
    silence_s  seconds without a byte until a request counts as stalled (a plain answer is silent until it is whole)
    tries      requests a reply may take: 429, 408, 409, 5xx, broken and stalled connections are tried again
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        model: str,
        stream: bool = False,
        connect_s: float = 5.0,
        silence_s: float = 90.0,
        tries: int = 3,
    ) -> None:
        self.model = model
        self._key = api_key or ""
        self._stream = stream
        self._tries = tries
        timeout = httpx2.Timeout(silence_s, connect=connect_s, pool=connect_s)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or _NO_KEY,
            max_retries=0,
            timeout=timeout,
            http_client=_http_client(base_url or ""),
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        within_s: float,
        form: Mapping[str, Any] | None = None,
        listener: Listener | None = None,
    ) -> ModelReply:
        """One reply within `within_s` seconds, retries and their pauses included. `form`: the API's response_format.
        A `listener` has the reply streamed.

        Raises ModelUnavailable (code timeout once the time is up) or ModelRefused.
        """
        body: dict[str, Any] = {"model": self.model, "messages": [write_message(each) for each in messages]}
        if tools:
            body["tools"] = [write_tool(each) for each in tools]
        if form is not None:
            body["response_format"] = form
        began = time.monotonic()
        try:
            async with asyncio.timeout(within_s):
                reply, first = await self._try(body, began + within_s, listener)
        except TimeoutError:
            raise ModelUnavailable("timeout", f"the model did not reply within {within_s:.0f} s") from None
        timed = replace(reply, first_s=first - began, took_s=time.monotonic() - began)
        return recognised(timed, [each.name for each in tools])

    async def _try(self, body: dict[str, Any], ends: float, listener: Listener | None) -> tuple[ModelReply, float]:
        """The reply, and when its first token came."""
        for attempt in range(1, self._tries + 1):
            try:
                if self._stream or listener is not None:
                    return await self._streamed(body, listener)
                return await self._plain(body)
            except (*_FAULTS, ValueError) as raised:
                fault = self._fault(raised)
                pause_s = _pause_s(raised, attempt)
                if not fault.retryable or attempt == self._tries or time.monotonic() + pause_s >= ends:
                    raise fault from None
                _log.info("model_retry", code=fault.code, attempt=attempt, pause_s=round(pause_s, 3))
                await asyncio.sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    async def _plain(self, body: dict[str, Any]) -> tuple[ModelReply, float]:
        answer = await self._client.post("/chat/completions", content=orjson.dumps(body), cast_to=object)
        return read_completion(answer, self.model), time.monotonic()

    async def _streamed(self, body: dict[str, Any], listener: Listener | None) -> tuple[ModelReply, float]:
        asked = body | {"stream": True, "stream_options": {"include_usage": True}}
        assembly = Assembly()
        first: float | None = None
        if listener is not None:
            listener.begins()
        chunks = await self._client.post(
            "/chat/completions",
            content=orjson.dumps(asked),
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        async with chunks:
            async for chunk in chunks:
                said = len(assembly.text)
                assembly.add(chunk)
                if listener is not None and len(assembly.text) > said:
                    listener.hears("".join(assembly.text[said:]))
                if first is None and assembly.has_begun:
                    first = time.monotonic()
        return assembly.reply(self.model), first or time.monotonic()

    async def probe(self, within_s: float = 10.0) -> None:
        """Return if the endpoint answers at all and takes the key; it need not be able to list models.

        Raises ModelUnavailable or ModelRefused whose message is one plain sentence for the operator.
        """
        try:
            async with asyncio.timeout(within_s):
                await self._client.get("/models", cast_to=httpx2.Response)
        except TimeoutError:
            raise ModelUnavailable("timeout", f"The model endpoint did not answer within {within_s:.0f} s.") from None
        except openai.APIStatusError as raised:
            if raised.status_code in (401, 403) or raised.status_code >= 500:
                raise self._fault(raised) from None
        except _FAULTS as raised:
            raise self._fault(raised) from None

    def _fault(self, raised: Exception) -> ModelFault:
        """Ours for theirs."""
        if isinstance(raised, openai.APIError) and _is_too_long(raised):
            return ModelRefused("too_long", "The conversation is too long for the model.")
        match raised:
            case openai.APITimeoutError() | httpx2.TimeoutException() if not _is_broken_off(raised):
                return ModelUnavailable(
                    "timeout", "The model endpoint accepted the connection or the request too slowly."
                )
            case openai.APIStatusError():
                return self._status_fault(raised)
            case openai.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | aiohttp.ClientError():
                return ModelUnavailable(
                    "connection", "The model endpoint could not be reached or broke the connection."
                )
            case CutReply():
                return ModelUnavailable("cut", "The model's reply was cut off.")
            case BadReply():
                return ModelUnavailable("bad_reply", f"The model endpoint sent no chat completion: {raised}.")
            case json.JSONDecodeError():
                return ModelUnavailable("bad_reply", "The model endpoint sent something that is not JSON.")
            case _:
                return ModelUnavailable("server_error", f"The model endpoint reported a fault{self._told(raised)}.")

    def _status_fault(self, raised: openai.APIStatusError) -> ModelFault:
        status = raised.status_code
        if status == 402 or (status == 429 and raised.code in ("insufficient_quota", "billing_hard_limit_reached")):
            return ModelRefused("quota", "The account at the model endpoint has no quota left.")
        if status in (408, 409, 429) or status >= 500:
            code = "busy" if status in (408, 409, 429, 503) else "server_error"
            retryable = raised.response.headers.get("x-should-retry") != "false"
            return ModelUnavailable(code, f"The model endpoint answered with status {status}.", retryable=retryable)
        if status in (401, 403):
            # What the server says here often quotes part of the key.
            return ModelRefused("unauthorized", f"The model endpoint refused the API key (status {status}).")
        if status == 404:
            return ModelRefused(
                "no_such_model", f"The model endpoint does not know {self.model!r}{self._told(raised)}."
            )
        return ModelRefused("bad_request", f"The model endpoint refused the request ({status}){self._told(raised)}.")

    def _told(self, raised: Exception) -> str:
        """What the server says, in one short line and without the key."""
        told = " ".join(raised.message.split()) if isinstance(raised, openai.APIError) else ""
        if self._key:
            told = told.replace(self._key, "[key]")
        return f": {told[:_SHOWN_CHARS].rstrip('.')}" if told else ""


def _is_too_long(raised: openai.APIError) -> bool:
    """Whether the request itself is the trouble, by its size: the same one would be refused again."""
    if raised.code == "context_length_exceeded" or raised.type == "exceed_context_size_error":
        return True
    status = raised.status_code if isinstance(raised, openai.APIStatusError) else 400
    return status == 413 or (status in (400, 422) and _TOO_LONG.search(raised.message) is not None)


def _is_broken_off(raised: BaseException) -> bool:
    """Whether the connection broke or never stood, which the transport reports as a timeout too."""
    cause: BaseException | None = raised
    while cause is not None:
        if isinstance(cause, aiohttp.ClientConnectionError):
            return not isinstance(cause, aiohttp.ServerTimeoutError)
        cause = cause.__cause__
    return False


def _http_client(base_url: str) -> httpx2.AsyncClient:
    """A client whose transport is aiohttp's: a request costs half of what it does with the library's own.

    For http alone it does not read the system's certificate authorities, which takes a while.
    """
    if base_url.startswith("http://"):
        return openai.DefaultAioHttpClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    return openai.DefaultAioHttpClient()


def _pause_s(raised: Exception, attempt: int) -> float:
    """Seconds until the next try: what the server asks for, else longer each time, spread so that callers part."""
    if isinstance(raised, openai.APIStatusError) and (asked := _asked_pause_s(raised.response.headers)) is not None:
        return asked
    longest = min(_FIRST_PAUSE_S * 2 ** (attempt - 1), _LONGEST_PAUSE_S)
    return random.uniform(longest / 2, longest)  # noqa: S311 - spreads retries, guards nothing


def _asked_pause_s(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds or as a date (RFC 9110, 10.2.3), or OpenAI's retry-after-ms; None if unreadable."""
    milliseconds, asked = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None or asked is not None:
            pause_s = float(asked or "") if milliseconds is None else float(milliseconds) / 1000
            return max(pause_s, 0.0) if math.isfinite(pause_s) else None  # a timer of "nan" upsets all others
        return None
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(asked or "").timestamp() - time.time(), 0.0)
    except ValueError:
        return None
