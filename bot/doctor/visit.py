"""The doctor's own way to Discord: reads over REST with the bot's token, and the difference of the clocks."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import discord
from discord.http import HTTPClient, Route

REQUEST_S: Final = 15.0

FAILURES: Final = (discord.DiscordException, aiohttp.ClientError, OSError, ValueError, LookupError, TypeError)
"""What a read may raise: TimeoutError is an OSError, and the last three come of a body that is not Discord's."""


@dataclass(slots=True)
class Visit:
    """A signed-in REST client. `user` is the bot's own user; `offset_s`, how far Discord's clock is ahead of ours, to
    about a second, None before the first answer."""

    http: HTTPClient
    user: dict[str, Any] = field(default_factory=dict[str, Any])
    offset_s: float | None = None

    async def get(self, path: str, **params: str | int) -> Any:
        """The JSON of a GET. Raises one of FAILURES."""
        async with asyncio.timeout(REQUEST_S):
            return await self.http.request(Route("GET", path), params=params)

    async def sign_in(self, token: str) -> None:
        """Raises discord.LoginFailure where the token is not accepted, else one of FAILURES."""
        async with asyncio.timeout(REQUEST_S):
            self.user = dict(await self.http.static_login(token))


@asynccontextmanager
async def open_visit() -> AsyncGenerator[Visit]:
    """A client that is not signed in yet; closed when the block ends."""
    trace = aiohttp.TraceConfig()
    visit = Visit(HTTPClient(asyncio.get_running_loop(), http_trace=trace))

    async def ended(
        _session: aiohttp.ClientSession, _context: SimpleNamespace, params: aiohttp.TraceRequestEndParams
    ) -> None:
        date = params.response.headers.get("Date")
        if date:
            # Discord tells whole seconds: half of one is the best guess at the rest.
            visit.offset_s = parsedate_to_datetime(date).timestamp() + 0.5 - time.time()

    trace.on_request_end.append(ended)
    try:
        yield visit
    finally:
        await visit.http.close()


def reason_of(error: BaseException) -> str:
    """One line that says what went wrong, for people."""
    if isinstance(error, discord.HTTPException):
        return f"status {error.status}, code {error.code}"
    return str(error).split("\n", 1)[0].rstrip(".") or "no answer in time"
