"""Performing a turn on an HTTP connection, with all that can go wrong on it."""

from __future__ import annotations

import asyncio
import secrets
import socket
import struct

from aiohttp import web

from sandbox.model.request import ChatRequest
from sandbox.model.turn import Completion, Failure, Reset, Stall
from sandbox.model.wire import DONE, Identity, chunks, identity, settled, whole

_STREAM_ERROR = (
    b'data: {"error":{"message":"The server had an error while processing your request.",'
    b'"type":"server_error","param":null,"code":null}}\n\n'
)
_PLAIN_ERROR = _STREAM_ERROR.removeprefix(b"data: ").strip()


async def deliver(
    turn: Completion | Failure | Stall | Reset, request: ChatRequest, http: web.Request
) -> web.StreamResponse:
    """Answer `http` by `turn`. The returned response has been sent as far as the turn sends it at all."""
    match turn:
        case Completion():
            await asyncio.sleep(turn.delay)
            made = settled(turn)
            if request.stream:
                return await _streamed(made, request, http)
            return await _plain(made, request, http)
        case _:
            return await disturb(turn, request, http)


async def disturb(turn: Failure | Stall | Reset, request: ChatRequest | None, http: web.Request) -> web.StreamResponse:
    """Answer `http` by something that is no completion; `request` None for the endpoints that give none."""
    match turn:
        case Failure():
            await asyncio.sleep(turn.delay)
            headers = {**turn.headers, **_common_headers(), "Content-Type": turn.content_type}
            return web.Response(status=turn.status, body=turn.body, headers=headers)
        case Stall():
            await asyncio.sleep(turn.seconds)
            if isinstance(turn.then, Failure):
                return await disturb(turn.then, request, http)
            if turn.then is not None and request is not None:
                return await deliver(turn.then, request, http)
            return _closed(http)
        case Reset():
            await asyncio.sleep(turn.delay)
            return _reset(http)


async def _plain(turn: Completion, request: ChatRequest, http: web.Request) -> web.StreamResponse:
    pace = turn.pace
    body = whole(turn, request, identity(request))
    await asyncio.sleep(_lateness(turn, request))
    if pace.error_after is not None:
        return web.Response(status=500, body=_PLAIN_ERROR, headers=_json_headers())
    if pace.cut_after is None:
        return web.Response(body=body, headers=_json_headers())
    response = web.StreamResponse(headers={**_json_headers(), "Content-Length": str(len(body))})
    await response.prepare(http)
    await response.write(body[: len(body) // 2])
    _close(http)
    return response


def _lateness(turn: Completion, request: ChatRequest) -> float:
    """How many seconds later the whole answer is there when it comes at the turn's pace."""
    pace = turn.pace
    pauses = pace.between * sum(1 for _ in chunks(turn, request, identity(request))) if pace.between else 0.0
    return pauses + (pace.stall_for if pace.stall_after is not None else 0.0)


async def _streamed(turn: Completion, request: ChatRequest, http: web.Request) -> web.StreamResponse:
    pace = turn.pace
    who: Identity = identity(request)
    response = web.StreamResponse(
        headers={**_common_headers(), "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(http)
    for sent, chunk in enumerate(chunks(turn, request, who)):
        if sent == pace.cut_after:
            _close(http)
            return response
        if sent == pace.error_after:
            await response.write(_STREAM_ERROR)
            return response
        if sent == pace.stall_after:
            await asyncio.sleep(pace.stall_for)
        if sent and pace.comments:
            await response.write(b": processing\n\n")
        if sent and pace.between:
            await asyncio.sleep(pace.between)
        await response.write(chunk)
    if pace.cut_after is not None:  # more chunks were asked for than there are: cut before the end mark
        _close(http)
        return response
    await response.write(DONE)
    return response


def _common_headers() -> dict[str, str]:
    return {"x-request-id": f"req_{secrets.token_hex(12)}", "openai-version": "2020-10-01"}


def _json_headers() -> dict[str, str]:
    return {**_common_headers(), "Content-Type": "application/json"}


def _close(http: web.Request) -> None:
    """End the connection after what has been written, without the end of the response."""
    if http.transport is not None:
        http.transport.close()


def _closed(http: web.Request) -> web.Response:
    _close(http)
    return web.Response()


def _reset(http: web.Request) -> web.Response:
    """End the connection by RST: lingering for zero seconds makes the kernel send it."""
    transport = http.transport
    if transport is not None:
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()
