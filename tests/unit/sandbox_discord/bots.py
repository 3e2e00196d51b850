"""A real discord.py client that talks to the sandbox, redirected per instance so that tests cannot meet."""

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord as dpy
import orjson
from discord.http import HTTPClient, Route

from sandbox.discord import Channel, Discord, Message, Place


class LoopbackHttp(HTTPClient):
    """discord.py's own HTTP client; only the addresses are turned to the sandbox."""

    api_url = ""
    gateway_url = ""

    async def request(self, route: Route, **kwargs: Any) -> Any:
        if not route.url.startswith(self.api_url):  # a route may be used again
            route.url = self.api_url + route.url.removeprefix(Route.BASE)
        return await super().request(route, **kwargs)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        # Whatever the class attribute says: a Muninn that ran in this process has turned it to its own sandbox.
        query = url.partition("?")[2]
        return await super().ws_connect(f"{self.gateway_url}?{query}", compress=compress)


class Bot(dpy.Client):
    """Records what it sees; waits by a condition."""

    def __init__(self, discord: Discord, intents: dpy.Intents | None = None, **options: Any) -> None:
        super().__init__(
            intents=intents or dpy.Intents.all(), guild_ready_timeout=0.05, chunk_guilds_at_startup=False, **options
        )
        self.http.__class__ = LoopbackHttp
        assert isinstance(self.http, LoopbackHttp)
        self.http.api_url, self.http.gateway_url = discord.api_url, discord.gateway_url
        self.seen: list[dpy.Message] = []
        self.events: list[str] = []
        self.payloads: list[tuple[str, Any]] = []
        self._changed = asyncio.Condition()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Without the library's five seconds before a second IDENTIFY."""

    async def on_socket_event_type(self, name: str) -> None:
        await self._note(self.events, name)

    async def on_message(self, message: dpy.Message) -> None:
        await self._note(self.seen, message)

    async def on_raw_message_edit(self, payload: dpy.RawMessageUpdateEvent) -> None:
        await self._note(self.payloads, ("edit", payload))

    async def on_raw_message_delete(self, payload: dpy.RawMessageDeleteEvent) -> None:
        await self._note(self.payloads, ("delete", payload))

    async def on_raw_bulk_message_delete(self, payload: dpy.RawBulkMessageDeleteEvent) -> None:
        await self._note(self.payloads, ("bulk", payload))

    async def on_raw_reaction_add(self, payload: dpy.RawReactionActionEvent) -> None:
        await self._note(self.payloads, ("react", payload))

    async def on_raw_typing(self, payload: dpy.RawTypingEvent) -> None:
        await self._note(self.payloads, ("typing", payload))

    async def on_thread_create(self, thread: dpy.Thread) -> None:
        await self._note(self.payloads, ("thread", thread))

    async def _note(self, where: list[Any], what: Any) -> None:
        async with self._changed:
            where.append(what)
            self._changed.notify_all()

    async def until(self, n: int, where: list[Any] | None = None) -> list[Any]:
        """Until at least ``n`` were recorded (messages, unless another list is given)."""
        found = self.seen if where is None else where
        async with asyncio.timeout(5), self._changed:
            await self._changed.wait_for(lambda: len(found) >= n)
        return found

    async def until_event(self, name: str, n: int = 1) -> None:
        async with asyncio.timeout(5), self._changed:
            await self._changed.wait_for(lambda: self.events.count(name) >= n)

    def place(self, place: Channel) -> dpy.PartialMessageable:
        return self.get_partial_messageable(place.id)

    def message(self, message: Message) -> dpy.PartialMessage:
        return self.place(message.channel).get_partial_message(message.id)

    @property
    def contents(self) -> list[str]:
        return [message.content for message in self.seen]


@asynccontextmanager
async def connected(
    discord: Discord, *, intents: dpy.Intents | None = None, sessions: int = 1, **options: Any
) -> AsyncGenerator[Bot]:
    """A bot that has its session; it is closed at the end, and an error of its connection is raised."""
    bot = Bot(discord, intents, **options)
    async with bot:
        await bot.login(discord.token)
        task = asyncio.create_task(bot.connect())
        waiting = asyncio.create_task(discord.wait_for_session(sessions))
        done, _ = await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            waiting.cancel()
            await task
        await waiting
        async with asyncio.timeout(5):
            await bot.wait_until_ready()
        try:
            yield bot
        finally:
            await bot.close()
            await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def rest_only(discord: Discord) -> AsyncGenerator[Bot]:
    """A bot that is logged in but has no gateway."""
    bot = Bot(discord)
    async with bot:
        await bot.login(discord.token)
        yield bot


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def code(self) -> int:
        return int(self.body["code"])


class Wire:
    """REST without a library, for what a library would not send."""

    def __init__(self, discord: Discord, session: aiohttp.ClientSession) -> None:
        self._discord = discord
        self._session = session

    async def send(
        self, method: str, path: str, body: object = None, *, auth: str | None = None, **options: Any
    ) -> Answer:
        headers = {"Authorization": f"Bot {self._discord.token}" if auth is None else auth}
        if body is not None:
            headers["Content-Type"] = "application/json"
            options["data"] = orjson.dumps(body)
        async with self._session.request(
            method, self._discord.api_url + path, headers=headers, timeout=aiohttp.ClientTimeout(5), **options
        ) as answer:
            raw = await answer.read()
            return Answer(answer.status, orjson.loads(raw) if raw[:1] in (b"{", b"[") else raw, answer.headers)

    async def post(self, place: Place, **body: object) -> Answer:
        return await self.send("POST", f"/channels/{place.as_channel().id}/messages", body)


class Socket:
    """A gateway connection without a library."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._inflate = zlib.decompressobj()

    async def frame(self) -> dict[str, Any]:
        """The next frame. Raises ConnectionError with the code when it is a close."""
        message = await self._socket.receive(timeout=5)
        if message.type is aiohttp.WSMsgType.TEXT:
            return orjson.loads(message.data)
        if message.type is aiohttp.WSMsgType.BINARY:
            return orjson.loads(self._inflate.decompress(message.data))
        raise ConnectionError(self._socket.close_code)

    async def until(self, name: str) -> list[dict[str, Any]]:
        """All dispatches up to the first of that name."""
        found: list[dict[str, Any]] = []
        while not found or found[-1]["t"] != name:
            frame = await self.frame()
            if frame["op"] == 0:
                found.append(frame)
        return found

    async def raw_until(self, mark: bytes) -> dict[str, Any]:
        """The first frame with a mark in it, read by the standard library, which allows lone surrogates."""
        while True:
            message = await self._socket.receive(timeout=5)
            assert message.type is aiohttp.WSMsgType.TEXT
            if mark in message.data.encode():
                return json.loads(message.data)

    async def send(self, op: int, d: object) -> None:
        await self._socket.send_str(orjson.dumps({"op": op, "d": d}).decode())

    async def send_raw(self, text: str) -> None:
        await self._socket.send_str(text)

    async def identify(self, token: str, **fields: object) -> None:
        await self.send(2, {"token": token, "properties": {}, "intents": dpy.Intents.all().value, **fields})

    async def close(self, code: int) -> None:
        await self._socket.close(code=code)

    async def close_code(self) -> int:
        """The code with which the sandbox closes, whatever it says before."""
        while True:
            try:
                await self.frame()
            except ConnectionError as closed:
                return closed.args[0]


@asynccontextmanager
async def wire(discord: Discord) -> AsyncGenerator[Wire]:
    async with aiohttp.ClientSession() as session:
        yield Wire(discord, session)


@asynccontextmanager
async def socket(discord: Discord, query: str = "?v=10&encoding=json") -> AsyncGenerator[Socket]:
    """A connection that has been told HELLO."""
    async with aiohttp.ClientSession() as session, session.ws_connect(discord.gateway_url + query) as opened:
        made = Socket(opened)
        if "v=10" in query:
            assert (await made.frame())["op"] == 10
        yield made
