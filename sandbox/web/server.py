"""Firecrawl as a server on loopback, and the handle by which a test fills its web and questions it."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import struct
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import orjson
from aiohttp import web

from sandbox.patience import WITHIN_S

from .errors import ApiRefusal, NoRoute, WrongKey
from .faults import Broken, Failure, Fault, Reset, Stall
from .pages import Page, found
from .requests import Scrape, Search, read_scrape, read_search

_SHUTDOWN = 0.05  # seconds a request may go on when the server stops; stalled ones are cut then
_LARGEST_BODY = 1024 * 1024
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Web:
    """A web on 127.0.0.1 behind Firecrawl's API; make one by `Web.start()`."""

    def __init__(self, api_key: str) -> None:
        self.api_key = api_key
        self.port = 0
        self.pages: list[Page] = []
        self.searches: list[Search] = []
        self.scrapes: list[Scrape] = []
        self.refusals: list[str] = []
        self._script: deque[Fault | tuple[Page, ...]] = deque()
        self._changed = asyncio.Condition()

    @classmethod
    @asynccontextmanager
    async def start(
        cls, *, port: int = 0, api_key: str | None = None, pages: Sequence[Page] = (), check_at_exit: bool = True
    ) -> AsyncGenerator[Web]:
        """A running web; `port` 0 takes a free one, `api_key` None makes one up.

        On leaving without another exception it raises AssertionError if a request was refused as invalid.
        """
        served = cls(api_key or f"fc-{secrets.token_hex(16)}")
        served.pages.extend(pages)
        runner = web.AppRunner(
            served._application(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            served.port = int(runner.addresses[0][1])
            yield served
        finally:
            await runner.cleanup()
        if check_at_exit and served.refusals:
            raise AssertionError("the loopback web refused: " + "; ".join(served.refusals))

    # --- where it is, and what is there

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The settings by which Muninn uses this web."""
        return {"MUNINN_FIRECRAWL_API_URL": self.api_url, "MUNINN_FIRECRAWL_API_KEY": self.api_key}

    def page(self, url: str, title: str, markdown: str, *, description: str = "") -> Page:
        """Put a page into the web."""
        made = Page(url, title, markdown, description)
        self.pages.append(made)
        return made

    # --- what it shall do

    def answers(self, *pages: Page) -> None:
        """The next request finds these pages, whatever it asks for."""
        self._script.append(pages)

    def script(self, *faults: Fault) -> None:
        """The next requests meet these faults, one each."""
        self._script.extend(faults)

    async def wait_for_searches(self, count: int, *, within: float = WITHIN_S) -> list[Search]:
        """The searches so far, as soon as there are so many; AssertionError after `within` seconds."""
        try:
            async with asyncio.timeout(within), self._changed:
                await self._changed.wait_for(lambda: len(self.searches) >= count)
        except TimeoutError:
            raise AssertionError(f"{len(self.searches)} searches within {within} s, not {count}") from None
        return list(self.searches)

    # --- HTTP

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._guard], client_max_size=_LARGEST_BODY)
        application.router.add_post("/v2/search", self._search)
        application.router.add_post("/v2/scrape", self._scrape)
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """The key first, then the handler; whatever is refused goes out as Firecrawl's error body."""
        try:
            self._check_key(request)
            return await handler(request)
        except ApiRefusal as refusal:
            return self._refused(request, refusal)
        except web.HTTPException as error:
            if error.status not in (404, 405):
                raise
            return self._refused(request, NoRoute(f"Cannot {request.method} {request.path}"))

    def _refused(self, request: web.Request, refusal: ApiRefusal) -> web.Response:
        if refusal.status != 401:
            self.refusals.append(f"{request.method} {request.path}: {refusal.message} {refusal.details}")
        return _json(refusal.body, status=refusal.status)

    def _check_key(self, request: web.Request) -> None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not hmac.compare_digest(key.encode(errors="replace"), self.api_key.encode()):
            raise WrongKey("Unauthorized: Invalid token")

    async def _search(self, request: web.Request) -> web.StreamResponse:
        asked = read_search(await request.read())
        async with self._changed:
            self.searches.append(asked)
            self._changed.notify_all()
        scripted = self._script.popleft() if self._script else None
        if isinstance(scripted, Failure | Stall | Reset):
            return await _spoiled(request, scripted)
        pages = scripted if isinstance(scripted, tuple) else found(self.pages, asked.query, asked.limit)
        results = [_result(page, asked, number) for number, page in enumerate(pages[: asked.limit], start=1)]
        whole = {
            "success": True,
            "data": {"web": results},
            "creditsUsed": 2 + len(results),
            "id": secrets.token_hex(16),
        }
        return _half(whole) if isinstance(scripted, Broken) else _json(whole)

    async def _scrape(self, request: web.Request) -> web.StreamResponse:
        asked = read_scrape(await request.read())
        self.scrapes.append(asked)
        scripted = self._script.popleft() if self._script else None
        if isinstance(scripted, Failure | Stall | Reset):
            return await _spoiled(request, scripted)
        page = next((page for page in self.pages if page.url == asked.url and page.readable), None)
        if page is None:
            return _json(
                {"success": False, "code": "SCRAPE_DNS_RESOLUTION_ERROR", "error": "DNS resolution failed."}, status=500
            )
        whole = {"success": True, "data": {"markdown": page.markdown, "metadata": _metadata(page)}}
        return _half(whole) if isinstance(scripted, Broken) else _json(whole)


def _result(page: Page, asked: Search, position: int) -> dict[str, object]:
    """A result of a search: with what was scraped, or, where nothing could be, the bare find."""
    bare: dict[str, object] = {
        "url": page.url,
        "title": page.title,
        "description": page.description,
        "position": position,
    }
    if not asked.formats or not page.readable or page.status >= 400:
        return bare
    return bare | {"markdown": page.markdown, "metadata": _metadata(page)}


def _metadata(page: Page) -> dict[str, object]:
    metadata: dict[str, object] = {
        "title": page.title,
        "description": page.description,
        "sourceURL": page.url,
        "url": page.url,
        "statusCode": page.status,
        "contentType": "text/html; charset=utf-8",
        "scrapeId": secrets.token_hex(16),
        "proxyUsed": "basic",
        "cacheState": "miss" if page.cached_s is None else "hit",
        "creditsUsed": 1,
    }
    if page.cached_s is not None:
        cached_at = datetime.now(UTC) - timedelta(seconds=page.cached_s)
        metadata["cachedAt"] = cached_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return metadata


async def _spoiled(request: web.Request, fault: Failure | Stall | Reset) -> web.StreamResponse:
    match fault:
        case Failure():
            headers = {**fault.headers, "Content-Type": fault.content_type}
            return web.Response(status=fault.status, body=fault.body, headers=headers)
        case Stall():
            await asyncio.sleep(fault.seconds)
            if request.transport is not None:
                request.transport.close()
            return web.Response()
        case Reset():
            if request.transport is not None:
                connection = request.transport.get_extra_info("socket")
                # Lingering for zero seconds makes the kernel send RST.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                request.transport.abort()
            return web.Response()


def _json(value: object, *, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), headers={"Content-Type": "application/json"})


def _half(value: object) -> web.Response:
    body = orjson.dumps(value)
    return web.Response(body=body[: len(body) // 2], headers={"Content-Type": "application/json"})
