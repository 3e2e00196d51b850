"""Files that people attach, fetched over the one door to Discord's CDN: bounded in size, time and number.

Only addresses of the CDN are opened, whatever a message says, and no redirect is followed. Addresses expire after a
day; those that have are renewed by Discord, which tells for each file a fresh one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs, urlsplit

import aiohttp
import structlog

from bot.seeing.unread import Item, Unreadable

log = structlog.get_logger(__name__)

FETCH_S: Final = 8.0
"""Seconds for one file, its renewal included."""

CHUNK: Final = 64 * 1024
MARGIN_S: Final = 60
"""An address that is good for less than this is renewed at once."""

Renew = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]


class Files:
    """The door. `origins`: scheme and host of what may be opened; `renew`: fresh addresses for those that expired."""

    def __init__(self, origins: Sequence[str], renew: Renew) -> None:
        self._origins = frozenset(map(_origin, origins))
        self._renew = renew

    async def fetch(self, item: Item, *, most: int) -> bytes:
        """The bytes of an attachment. Raises Unreadable, and nothing of the library's."""
        size, url = item.get("size"), item.get("url")
        if not isinstance(url, str):
            raise Unreadable("its address is not known")
        if isinstance(size, int) and size > most:
            raise Unreadable("too large")
        if _origin(url) not in self._origins:
            raise Unreadable("not on Discord's own servers")
        try:
            async with asyncio.timeout(FETCH_S):
                if _expires_in_s(url) < MARGIN_S:
                    url = await self._renewed(url)
                try:
                    return await self._get(url, most)
                except _Stale:
                    return await self._get(await self._renewed(url), most)
        except _Stale:
            raise Unreadable("no longer there") from None
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            log.info("files.unread", error=type(error).__name__)
            raise Unreadable("it could not be fetched in time") from error

    async def _renewed(self, url: str) -> str:
        fresh = (await self._renew([url])).get(url, url)
        return fresh if _origin(fresh) in self._origins else url

    async def _get(self, url: str, most: int) -> bytes:
        async with (
            aiohttp.ClientSession(trust_env=True) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status in (403, 404):
                raise _Stale
            if response.status != 200:
                raise Unreadable("Discord did not give it")
            body = bytearray()
            async for chunk in response.content.iter_chunked(CHUNK):
                body += chunk
                if len(body) > most:
                    raise Unreadable("too large")
            return bytes(body)


class _Stale(Exception):
    """The address is no longer good, or the file is gone."""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _expires_in_s(url: str) -> float:
    """Seconds for which a signed address is good, by its own word; plenty for one that says nothing."""
    value = parse_qs(urlsplit(url).query).get("ex", [""])[0]
    try:
        return int(value, 16) - time.time()
    except ValueError:
        return float("inf")
