"""One port of loopback: REST under /api/v10, the gateway under /gateway/, files under /attachments/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from urllib.parse import unquote

from aiohttp import web

from .cdn import Cdn
from .rest.pipeline import PREFIX

if TYPE_CHECKING:
    from .gateway import Gateway
    from .rest.pipeline import Pipeline

_MAX_BODY: Final = 110 * 1024 * 1024


class Server:
    """Listens; ``start`` and ``stop`` are its life."""

    def __init__(self, pipeline: Pipeline, gateway: Gateway, cdn: Cdn) -> None:
        self._cdn = cdn
        app = web.Application(client_max_size=_MAX_BODY)
        app.router.add_route("*", PREFIX + "/{tail:.*}", pipeline.handle)
        app.router.add_get("/gateway", gateway.handle)
        app.router.add_get("/gateway/", gateway.handle)
        app.router.add_get("/attachments/{channel_id}/{attachment_id}/{filename}", self._file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handle_signals=False)
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Raises OSError when the port is taken."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, backlog=512)
        await site.start()
        self.port = cast("tuple[str, int]", self._runner.addresses[0])[1]

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _file(self, request: web.Request) -> web.Response:
        info = request.match_info
        try:
            channel_id, attachment_id = int(info["channel_id"]), int(info["attachment_id"])
        except ValueError:
            return web.Response(status=404)
        name = unquote(info["filename"])
        found = self._cdn.find(channel_id, attachment_id, name, dict(request.query))
        if found is None:
            return web.Response(status=404, text="This content is no longer available.")
        kind = found.file.content_type or "application/octet-stream"
        return web.Response(body=found.file.content, content_type=kind.split(";")[0])
