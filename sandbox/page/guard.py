"""Who may talk to the page's server: the person whom the address with the key was given to, on this machine.

Other pages in the same browser can send requests to loopback, and a name that they own can be made to point at it
(DNS rebinding). So the Host must be a name of loopback with our port, the Origin (which a browser names for sockets and
for everything that changes something) must be ourselves, and a cookie that other sites cannot send must hold the key.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import hdrs, web

NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)


class Guard:
    """Decides on each request, by its headers alone. `port` is known once the server listens."""

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)
        self.port = 0

    @property
    def _cookie(self) -> str:
        # A cookie is sent to every port of a host, so each page has a name of its own for it.
        return f"muninn_page_{self.port}"

    def admits(self, request: web.Request) -> bool:
        """Whether it comes from this machine under a name of it and, where it could do something, from the page."""
        hosts = {f"{name}:{self.port}" for name in NAMES}
        host, origin = request.headers.get(hdrs.HOST, ""), request.headers.get(hdrs.ORIGIN)
        if host not in hosts:
            return False
        acts = request.method not in ("GET", "HEAD") or request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"
        return origin == f"http://{host}" if acts or origin is not None else True

    def knows(self, request: web.Request) -> bool:
        """Whether its cookie holds the key."""
        return self._is_key(request.cookies.get(self._cookie, ""))

    def opens(self, request: web.Request) -> bool:
        """Whether its address holds the key."""
        return self._is_key(request.query.get("key", ""))

    def _is_key(self, offered: str) -> bool:
        return hmac.compare_digest(offered.encode(), self.key.encode())

    def hand_over(self, response: web.StreamResponse) -> None:
        """Give the browser the cookie."""
        response.set_cookie(self._cookie, self.key, httponly=True, samesite="Strict", path="/")

    @web.middleware
    async def middleware(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Turn away what is not admitted, and forbid the browser to load or to tell anything elsewhere."""
        if not self.admits(request):
            raise web.HTTPForbidden(text="This page is served to its own machine only.")
        try:
            response = await handler(request)
        except web.HTTPException as answer:
            _forbid(answer, request)
            raise
        _forbid(response, request)
        return response


def _forbid(response: web.StreamResponse, request: web.Request) -> None:
    response.headers["Content-Security-Policy"] = POLICY.format(host=request.headers[hdrs.HOST])
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
