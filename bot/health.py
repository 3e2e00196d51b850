"""HTTP for those who run Muninn: `/healthz`, `/readyz` and `/metrics`. No secret and nobody's words are in any of them.

`/healthz` answers while the event loop turns; who answers nothing within seconds hangs. `/readyz` says whether a
message would be answered now. On its own it listens on loopback only: whoever may connect may read it.
"""

import asyncio
import time
from importlib.metadata import version
from typing import Final

import orjson
import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.backlog import Backlog
from bot.metrics import BUILD, LOOP_LAG
from bot.readiness import Readiness

log = structlog.get_logger(__name__)

RETRY_S: Final = 5.0
STOP_S: Final = 0.5
LAG_EVERY_S: Final = 1.0


class Health:
    """The server. `run` it for ever, from before the rest is started until after it has stopped."""

    def __init__(self, readiness: Readiness, *, host: str, port: int) -> None:
        self._readiness = readiness
        self._backlog = Backlog()
        self._host = host
        self._port = port
        BUILD.labels(version("muninn")).set(1)

    async def run(self) -> None:
        """Listen until cancelled. A port that another process has is tried again: a second Muninn that stands by on
        one machine takes it over with the shard."""
        said = False
        while True:
            runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=STOP_S, handle_signals=False)
            await runner.setup()
            try:
                await web.TCPSite(runner, self._host, self._port).start()
                log.info("health.listening", host=self._host, port=self._port)
                await self._watch_lag()
            except OSError as error:
                if not said:
                    log.warning(
                        "health.not_listening",
                        host=self._host,
                        port=self._port,
                        reason=error.strerror,
                        next_step="Set MUNINN_HTTP_PORT to a free port, or to 0 for none.",
                    )
                said = True
            finally:
                await runner.cleanup()
            await asyncio.sleep(RETRY_S)

    async def _watch_lag(self) -> None:
        """Measure by how much the loop is late for ever: what blocks it delays heartbeats and everybody's answers."""
        while True:
            asked = time.monotonic()
            await asyncio.sleep(LAG_EVERY_S)
            LOOP_LAG.observe(max(time.monotonic() - asked - LAG_EVERY_S, 0.0))

    def _application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        application.router.add_get("/metrics", self._metrics)
        return application

    async def _healthz(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _request: web.Request) -> web.Response:
        reasons = await self._readiness.reasons()
        body = {"ready": not reasons, "reasons": [{"part": each.part, "says": each.says} for each in reasons]}
        return web.Response(
            status=503 if reasons else 200,
            body=orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE),
            content_type="application/json",
        )

    async def _metrics(self, _request: web.Request) -> web.Response:
        await self._backlog.refresh(self._readiness.pool)
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
