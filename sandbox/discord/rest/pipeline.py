"""What every REST request passes through: log, faults, token, rate limit, form, handler, answer."""

from __future__ import annotations

import asyncio
import math
import mimetypes
import re
import socket
import struct
from collections.abc import Mapping
from email.utils import formatdate
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import unquote

import orjson
from aiohttp import BodyPartReader, hdrs, web

from sandbox.discord.audit import MAX_REASON
from sandbox.discord.errors import Refusal, invalid_form
from sandbox.discord.events import Payload, encode
from sandbox.discord.faults import Faults, RestFault
from sandbox.discord.messages import File
from sandbox.discord.rates import Rates
from sandbox.discord.requests import Request

from . import (
    attachments,
    audit,
    bans,
    channels,
    commands,
    expressions,
    guilds,
    interactions,
    members,
    messages,
    overwrites,
    pins,
    polls,
    reactions,
    roles,
    threads,
    users,
    webhook_management,
    webhooks,
)
from .forms import Form
from .router import UPLOAD, Call, Reply, Route, Router

if TYPE_CHECKING:
    from sandbox.discord.gateway import Gateway
    from sandbox.discord.world import World

PREFIX: Final = "/api/v10"
_MODULES: Final = (
    attachments,
    audit,
    bans,
    channels,
    commands,
    expressions,
    guilds,
    interactions,
    members,
    messages,
    overwrites,
    pins,
    polls,
    reactions,
    roles,
    threads,
    users,
    webhook_management,
    webhooks,
)
_FILE_FIELD: Final = re.compile(r"files\[(\d{1,2})\]")
_JSON: Final = {"Content-Type": "application/json"}
Body = tuple[Payload | list[object], dict[int, File]]


class Pipeline:
    """Handles ``/api/v10/...``. ``log`` holds each request in the order of arrival."""

    def __init__(self, world: World, gateway: Gateway, faults: Faults, rates: Rates, token: str) -> None:
        self._world = world
        self._gateway = gateway
        self._faults = faults
        self._rates = rates
        self._authorization = f"Bot {token}"
        self._router = Router(route for module in _MODULES for route in module.routes.all)
        self.log: list[Request] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path.removeprefix(PREFIX)
        entry = Request(request.method, unquote(path), self._world.clock.now(), dict(request.query))
        self.log.append(entry)
        try:
            body: Body | Refusal = await _read(request, entry)
        except Refusal as unreadable:
            body = unreadable
        self._world.changes.happened()
        fault = self._faults.on_request(request.method, entry.path)
        if fault is None:
            answer = self._answer(request, path, entry, body)
            self._world.changes.happened()
            return answer
        entry.fault = fault.action
        return await self._spoiled(request, path, entry, body, fault)

    async def _spoiled(
        self, request: web.Request, path: str, entry: Request, body: Body | Refusal, fault: RestFault
    ) -> web.StreamResponse:
        answer = self._answer(request, path, entry, body) if fault.accept else None
        entry.status = 0
        self._world.changes.happened()
        if fault.action in ("stall", "hold"):
            await self._faults.wait_out(fault)
        if fault.action == "reset":
            entry.status = -1
            reset(request.transport)
            answer = web.Response(status=500)
        elif fault.action == "answer":
            answer = web.Response(status=fault.code, body=fault.body, headers=dict(fault.headers))
        elif answer is None:
            answer = self._answer(request, path, entry, body)
        if fault.action != "reset":
            entry.status = answer.status
        self._world.changes.happened()
        return await _drip(request, answer, fault.seconds) if fault.action == "slow_body" else answer

    def _answer(self, request: web.Request, path: str, entry: Request, body: Body | Refusal) -> web.Response:
        headers = {**_JSON, hdrs.DATE: formatdate(self._world.clock.now(), usegmt=True)}
        try:
            route, params = self._router.find(request.method, path)
            if not route.public and request.headers.get(hdrs.AUTHORIZATION) != self._authorization:
                raise Refusal(401, 0, "401: Unauthorized")
            verdict = self._rates.count(request.method, route.template, entry.path, by_bot=not route.public)
            headers.update(verdict.headers())
            if verdict.retry_after is not None:
                headers["Via"] = "1.1 google"
                return self._send(entry, 429, _slow_down(verdict.retry_after, verdict.is_global), headers)
            if isinstance(body, Refusal):
                raise body
            reply = self._run(request, route, params, entry, body)
        except Refusal as refused:
            return self._send(entry, refused.status, refused.body(), headers)
        except Exception:
            entry.status = 500  # a fault of the sandbox itself; aiohttp logs it and answers so
            raise
        entry.accepted = True
        return self._send(entry, reply.status, reply.payload, headers)

    def _run(self, request: web.Request, route: Route, params: Mapping[str, str], entry: Request, body: Body) -> Reply:
        data, files = body
        if entry.reason is not None and len(entry.reason) > MAX_REASON:
            raise invalid_form("reason", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_REASON} or fewer in length.")
        items: list[object] = []
        if isinstance(data, list):
            items, data = data, {}
            if not route.takes_list:
                raise _not_this_shape("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        elif route.takes_list:
            raise _not_this_shape("LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
        form = Form(data)
        return route.handler(Call(self._world, self._gateway, params, request.query, form, files, items, entry.reason))

    def _send(self, entry: Request, status: int, payload: object, headers: Mapping[str, str]) -> web.Response:
        entry.status, entry.answer = status, payload
        if payload is None:
            bare = {name: value for name, value in headers.items() if name != "Content-Type"}
            return web.Response(status=status, headers=bare)
        return web.Response(status=status, body=encode(payload), headers=headers)


def _slow_down(retry_after: float, is_global: bool) -> Payload:
    wait = math.ceil(retry_after * 1000) / 1000
    return {"message": "You are being rate limited.", "retry_after": wait, "global": is_global}


async def _read(request: web.Request, entry: Request) -> Body:
    """The JSON object and the files. Raises 400/50109 for what is no JSON, 50035 for JSON of another shape."""
    reason = request.headers.get("X-Audit-Log-Reason")
    entry.reason = None if reason is None else unquote(reason)
    if not request.body_exists:
        return {}, {}
    files: dict[int, File] = {}
    if request.content_type == "multipart/form-data":
        raw = await _read_parts(request, files)
        entry.files = tuple(file.filename for file in files.values())
    elif request.content_type == "application/json":
        raw = await request.read()
    else:
        await request.read()
        raise Refusal(400, 50035, "Invalid Form Body", {"_errors": [_wrong_type(request.content_type)]})
    try:
        parsed = cast("object", orjson.loads(raw or b"{}"))
    except orjson.JSONDecodeError as broken:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from broken
    if isinstance(parsed, list):
        entry.items = cast("list[object]", parsed)
        return entry.items, files
    if not isinstance(parsed, dict):
        raise _not_this_shape("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    entry.body = cast("Payload", parsed)
    return entry.body, files


def _not_this_shape(code: str, message: str) -> Refusal:
    return Refusal(400, 50035, "Invalid Form Body", {"_errors": [{"code": code, "message": message}]})


def _wrong_type(content_type: str) -> dict[str, str]:
    return {"code": "CONTENT_TYPE_INVALID", "message": f'Expected "Content-Type" header to be JSON, not {content_type}'}


async def _read_parts(request: web.Request, files: dict[int, File]) -> bytes:
    """The JSON of the body: ``payload_json``, or the plain fields of a form. A file named ``file`` is number -1."""
    raw, fields = b"{}", dict[str, str]()
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        content = bytes(await part.read(decode=False))
        named = _FILE_FIELD.fullmatch(part.name or "")
        if part.name == "payload_json":
            raw = content
        elif named is not None:
            filename = part.filename or f"file{named[1]}"
            files[int(named[1])] = File(filename, content, mimetypes.guess_type(filename)[0])
        elif part.name == "file":
            filename = part.filename or "file"
            files[UPLOAD] = File(filename, content, mimetypes.guess_type(filename)[0])
        elif part.name is not None:
            fields[part.name] = content.decode(errors="replace")
    return encode(fields) if fields else raw


async def _drip(request: web.Request, answer: web.StreamResponse, seconds: float) -> web.StreamResponse:
    """Headers at once, then the body in ten pieces."""
    body = answer.body if isinstance(answer, web.Response) and isinstance(answer.body, bytes) else b""
    slow = web.StreamResponse(status=answer.status, headers=answer.headers)
    slow.content_length = len(body)
    await slow.prepare(request)
    size = max(1, len(body) // 10 + 1)
    for start in range(0, len(body), size):
        await asyncio.sleep(seconds / 10)
        await slow.write(body[start : start + size])
    await slow.write_eof()
    return slow


def reset(transport: asyncio.BaseTransport | None) -> None:
    """End the connection with a TCP RST: linger of zero, then abort."""
    if transport is None:
        return
    raw = cast("socket.socket | None", transport.get_extra_info("socket"))
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    cast("asyncio.Transport", transport).abort()
