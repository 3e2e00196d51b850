"""A browser tab without a browser: it speaks to the page's server as the page does, and keeps what it is sent."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import aiohttp
from yarl import URL

from sandbox.discord import Channel, Member

_PATIENCE = 5.0


class Refused(Exception):
    """What the page would tell its person."""


class Tab:
    """`messages`, `places` and so on are what the page would show now."""

    def __init__(self, session: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.session = session
        self.frames: list[dict[str, Any]] = []
        self.hello: dict[str, Any] = {}
        self.directory: dict[str, Any] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.typing: list[dict[str, Any]] = []
        self.offered: dict[str, Any] = {}
        self.closed = False
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Event()

    async def read(self) -> None:
        """Take what comes, until the socket ends."""
        async for frame in self._socket:
            self._take(frame.json())
        self.closed = True
        self._changed.set()
        for waiting in self._waiting.values():
            waiting.cancel()

    def _take(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        match frame["op"]:
            case "hello":
                self.hello = frame
            case "directory":
                self.directory = frame
            case "messages":
                kept = {} if frame["all"] else {k: v for k, v in self.messages.items() if k not in frame["gone"]}
                self.messages = dict(
                    sorted({**kept, **{m["id"]: m for m in frame["put"]}}.items(), key=lambda m: int(m[0]))
                )
            case "typing":
                self.typing = frame["who"]
            case "commands":
                self.offered = frame["offered"]
            case "done":
                self._settle(frame)
            case _:
                pass
        self._changed.set()

    def _settle(self, frame: dict[str, Any]) -> None:
        waiting = self._waiting.pop(frame["n"], None)
        if waiting is None or waiting.done():
            return
        if "error" in frame:
            waiting.set_exception(Refused(frame["error"]))
        else:
            waiting.set_result(frame["result"])

    async def ask(self, do: str, **arguments: Any) -> Any:
        """What came of it. Raises Refused."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({**arguments, "n": number, "do": do})
        async with asyncio.timeout(_PATIENCE):
            return await self._waiting[number]

    async def send(self, text: str) -> None:
        """Anything at all."""
        await self._socket.send_str(text)

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for what the tab shows."""
        async with asyncio.timeout(_PATIENCE):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def enters(self, who: Member, place: Channel) -> None:
        await self.ask("be", who=str(who.id))
        await self.ask("open", place=str(place.id))

    @property
    def texts(self) -> list[str]:
        """What stands in the place, oldest first."""
        return [message["content"] for message in self.messages.values()]

    @property
    def places(self) -> dict[str, dict[str, Any]]:
        """By name."""
        return {place["name"]: place for place in self.directory["places"]}


class Linked(Protocol):
    """A page, or what else knows its link."""

    @property
    def url(self) -> str: ...


@asynccontextmanager
async def tab(page: Linked) -> AsyncGenerator[Tab]:
    """A tab that has opened the page's link."""
    jar = aiohttp.CookieJar(unsafe=True)  # for addresses without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        async with session.get(page.url) as answer:
            assert answer.status == 200
        home = str(URL(page.url).origin())
        async with session.ws_connect(f"{home}/feed", headers={"Origin": home}) as socket:
            made = Tab(session, socket)
            reading = asyncio.create_task(made.read())
            try:
                await made.until(lambda: made.hello)
                yield made
            finally:
                await socket.close()
                await asyncio.wait([reading])
