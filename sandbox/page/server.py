"""The page's server: its files, its socket, what is attached to messages, and uploads."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote, unquote

from aiohttp import WSCloseCode, web

from sandbox.discord import Discord, File, Guild

from .feed import Feed
from .guard import Guard
from .marks import Marks
from .records import Records
from .uploads import MOST_BYTES, Uploads

STATIC: Final = Path(__file__).parent / "static"
_SHOWN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_LONGEST_FRAME: Final = 1 << 20
_HEARTBEAT_S: Final = 30.0


class Page:
    """A running page; see serve_page."""

    def __init__(self, discord: Discord, guild: Guild, *, records: Records | None, about: str) -> None:
        self._discord = discord
        self._guild = guild
        self._records = records
        self._about = about
        self._guard = Guard()
        self._marks = Marks()
        self._uploads = Uploads()
        self._files = {path.name: path.read_bytes() for path in STATIC.iterdir() if path.is_file()}
        self._sockets: set[web.WebSocketResponse] = set()
        app = web.Application(client_max_size=MOST_BYTES + 1, middlewares=[self._guard.middleware])
        app.router.add_get("/", self._index)
        app.router.add_get("/feed", self._feed)
        app.router.add_post("/uploads", self._upload)
        app.router.add_get("/files/{place}/{message}/{attachment}", self._attachment)
        app.router.add_get("/{name}", self._file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handle_signals=False)

    @property
    def url(self) -> str:
        """The address to open in a browser. Whoever has it may speak as anybody on the loopback Discord."""
        return f"http://127.0.0.1:{self._guard.port}/?key={self._guard.key}"

    async def open(self, port: int) -> None:
        """Listen on 127.0.0.1. Raises OSError when the port is taken."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self._guard.port = cast("tuple[str, int]", self._runner.addresses[0])[1]

    async def close(self) -> None:
        """Stop listening; open pages are told."""
        for socket in list(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY)
        await self._runner.cleanup()

    # --- files -------------------------------------------------------------------------------------------------------

    async def _index(self, request: web.Request) -> web.StreamResponse:
        opened = self._guard.opens(request)
        if not opened and not self._guard.knows(request):
            return web.Response(
                status=401, text="Open this page by the link that `muninn sandbox` printed: it carries a key."
            )
        index = self._static("index.html")
        if opened:
            # No redirection: a browser that came from another site would not send a strict cookie along with it. The
            # page itself takes the key out of the address bar.
            self._guard.hand_over(index)
        return index

    async def _file(self, request: web.Request) -> web.Response:
        return self._static(request.match_info["name"])

    def _static(self, name: str) -> web.Response:
        body = self._files.get(name)
        if body is None:
            raise web.HTTPNotFound
        kind = {".js": "text/javascript", ".svg": "image/svg+xml"}.get(Path(name).suffix) or mimetypes.guess_type(name)[
            0
        ]
        return web.Response(body=body, content_type=kind or "application/octet-stream", charset="utf-8")

    async def _attachment(self, request: web.Request) -> web.Response:
        self._must_know(request)
        try:
            place_id, message_id, attachment_id = (
                int(request.match_info[key]) for key in ("place", "message", "attachment")
            )
        except ValueError:
            raise web.HTTPNotFound from None
        place = self._discord.world.channels.get(place_id)
        message = None if place is None else place.shelf.get(message_id)
        found = next((a for a in message.attachments if a.id == attachment_id), None) if message is not None else None
        if found is None:
            raise web.HTTPNotFound
        kind = (found.file.content_type or "").split(";")[0].strip().lower()
        name = quote(found.file.filename)
        # Only what a browser draws without running any of it is shown; all else is saved.
        headers = {"Cache-Control": "private, max-age=3600"}
        if kind not in _SHOWN:
            kind = "application/octet-stream"
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
        return web.Response(body=found.file.content, content_type=kind, headers=headers)

    async def _upload(self, request: web.Request) -> web.Response:
        """A file that a message will carry; the body is the file, its name and size are in headers."""
        self._must_know(request)
        name = unquote(request.headers.get("X-File-Name", "")) or "file"
        sides = [request.headers.get(f"X-Image-{side}", "") for side in ("Width", "Height")]
        width, height = (int(side) if side.isascii() and side.isdigit() and len(side) < 6 else None for side in sides)
        content = await request.read()
        kind = request.content_type if request.content_type != "application/octet-stream" else None
        return web.json_response({"id": self._uploads.keep(File(name, content, kind, None, width, height))})

    def _must_know(self, request: web.Request) -> None:
        if not self._guard.knows(request):
            raise web.HTTPUnauthorized

    # --- the socket --------------------------------------------------------------------------------------------------

    async def _feed(self, request: web.Request) -> web.StreamResponse:
        self._must_know(request)
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=_LONGEST_FRAME)
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            await Feed(
                self._discord,
                self._guild,
                socket,
                marks=self._marks,
                uploads=self._uploads,
                records=self._records,
                about=self._about,
            ).serve()
        finally:
            self._sockets.discard(socket)
        return socket


@asynccontextmanager
async def serve_page(
    discord: Discord, guild: Guild, *, port: int = 0, records: Records | None = None, about: str = ""
) -> AsyncGenerator[Page]:
    """A page on 127.0.0.1 for the people of `guild`, until the block ends.

    `port` 0 is a free one. `records` shows what the bot has on record; without it that panel says that there is
    nothing to look into. `about` is a sentence for the welcome. Raises OSError when the port is taken.
    """
    page = Page(discord, guild, records=records, about=about)
    await page.open(port)
    try:
        yield page
    finally:
        await page.close()
