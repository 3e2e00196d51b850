"""Research on the web by Firecrawl: one search that brings the main content of the pages it found.

Only Firecrawl opens addresses; none is ever opened from here. The library is loaded at the first search (it takes about
a second), in a thread. It has neither a deadline nor retries of ours, so it gets both here.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, Protocol, TypeAlias

import structlog
from pydantic import SecretStr

from agent.deadline import bounded
from agent.errors import DeadlinePassed
from bot.metrics import WEB_SEARCHES
from bot.payloads import clean, moment
from bot.settings import Settings
from memory.database import Pool
from memory.ids import SpaceId
from memory.web_documents import MOST_TEXT, MOST_TITLE, Fetched, canonical, keep, kept
from tools.errors import Refused
from tools.ports import WebPage

log = structlog.get_logger(__name__)

PUBLIC_API: Final = "https://api.firecrawl.dev"

SEARCH_S: Final = 17.0
"""Seconds for one research, retries included: less than a tool may take, so that what went wrong can be said."""

GRACE_S: Final = 0.5
ATTEMPTS: Final = 3
BACKOFF_FIRST_S: Final = 0.5
RETRY_AFTER_S: Final = 1.0
"""How long the service is left alone when it takes no requests and does not say for how long."""

LEAST_S: Final = 2.0
"""With less than this left, nothing is tried again."""

MAX_AGE_MS: Final = 3_600_000
"""How old a page of Firecrawl's own cache may be; each says when it was fetched."""

Code: TypeAlias = Literal["web_timeout", "web_rate_limited", "web_refused", "web_unavailable"]

_FAILED: Final = (
    "Live research failed: {}. Nothing was looked up on the web. Say so, and do not answer as if it had been."
)
_WHY: Final[dict[Code, str]] = {
    "web_timeout": "the search took too long",
    "web_rate_limited": "the search service takes no more requests for now",
    "web_refused": "the search service does not accept our requests; the person who runs me finds the reason in my log",
    "web_unavailable": "the search service could not be reached or gave no usable answer",
}


class SearchFailed(Exception):
    """One request failed. `retry_after_s`: when the service wants to be asked again; None where it would not help."""

    def __init__(self, code: Code, retry_after_s: float | None) -> None:
        super().__init__(code)
        self.code: Code = code
        self.retry_after_s = retry_after_s


class _Searcher(Protocol):
    """What is used of AsyncFirecrawl."""

    async def search(self, query: str, **options: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """A page that was found; `text` is None where it could not be read, and then only described."""

    url: str
    title: str
    description: str
    text: str | None
    fetched_at: datetime | None


class Research:
    """The way to Firecrawl. `api_url` None is Firecrawl's own service."""

    def __init__(self, pool: Pool, *, api_url: str | None, api_key: SecretStr | None, keep_days: int) -> None:
        self._pool = pool
        self._api_url = api_url or PUBLIC_API
        self._api_key = api_key
        self._keep_days = keep_days
        self._client: _Searcher | None = None
        self._opening = asyncio.Lock()

    def of(self, space_id: SpaceId) -> "SpaceResearch":
        """Research for the turns of a space."""
        return SpaceResearch(self, space_id)

    async def search(self, space_id: SpaceId, query: str, *, limit: int) -> Sequence[WebPage]:
        """The pages found, best first, read ones kept for the space. Raises Refused: the codes of Code (I16)."""
        started = time.monotonic()
        try:
            found = _distinct(await self._ask(query, limit, until=started + SEARCH_S))
        except SearchFailed as failed:
            WEB_SEARCHES.labels(failed.code).inc()
            log.warning("web.search_failed", code=failed.code, after_s=round(time.monotonic() - started, 2))
            raise Refused(failed.code, _FAILED.format(_WHY[failed.code])) from failed
        WEB_SEARCHES.labels("ok").inc()
        log.info("web.searched", pages=len(found), after_s=round(time.monotonic() - started, 2))
        return await self._with_kept(space_id, found)

    async def _with_kept(self, space_id: SpaceId, found: Sequence[_Found]) -> list[WebPage]:
        """Keep what was read; where a page could not be read, what is kept of it stands in, with its own time."""
        read = [Fetched(each.url, each.title, each.text, each.fetched_at) for each in found if each.text is not None]
        await keep(self._pool, space_id, read, for_days=self._keep_days)
        stored = await kept(self._pool, space_id, [each.url for each in found])
        pages: list[WebPage] = []
        for each in found:
            known = stored.get(each.url)
            if known is not None:
                pages.append(WebPage(each.url, known.title, known.content, known.fetched_at))
            else:
                pages.append(WebPage(each.url, each.title, each.description, datetime.now(UTC), is_read=False))
        return pages

    async def _ask(self, query: str, limit: int, *, until: float) -> list[_Found]:
        """What Firecrawl found, tried a few times. Raises SearchFailed."""
        pause_s = BACKOFF_FIRST_S
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._ask_once(query, limit, within_s=until - time.monotonic())
            except SearchFailed as failed:
                if failed.retry_after_s is None or attempt == ATTEMPTS:
                    raise
                wait_s = max(pause_s, failed.retry_after_s)
                if time.monotonic() + wait_s + LEAST_S > until:
                    raise
                log.info("web.search_retried", code=failed.code, retry_in_s=round(wait_s, 2))
                await asyncio.sleep(wait_s)
                pause_s *= 2

    async def _ask_once(self, query: str, limit: int, *, within_s: float) -> list[_Found]:
        client = await self._opened()
        asked = client.search(
            query,
            limit=limit,
            timeout=max(int(within_s * 1000), 1000),
            scrape_options={"formats": ["markdown"], "only_main_content": True, "max_age": MAX_AGE_MS},
        )
        try:
            answer = await bounded(asked, within_s, grace_s=GRACE_S, name="web search")
        except DeadlinePassed as passed:
            raise SearchFailed("web_timeout", None) from passed
        except Exception as error:
            # Whatever the library raises: its own errors, those of its HTTP client, and what it makes of nonsense.
            raise _failed(error) from error
        try:
            return [made for each in answer.web or () if (made := _found(each)) is not None]
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise SearchFailed("web_unavailable", 0.0) from error

    async def _opened(self) -> _Searcher:
        async with self._opening:
            client = self._client
            if client is None:
                # An empty key, and not none: the library would look for one in the environment.
                key = self._api_key.get_secret_value() if self._api_key is not None else ""
                client = self._client = await asyncio.to_thread(_load, self._api_url, key)
            return client


def _load(api_url: str, api_key: str) -> _Searcher:
    """A client of Firecrawl's. It keeps no connection between requests, so there is nothing to close."""
    from firecrawl import AsyncFirecrawl  # pyright: ignore[reportMissingTypeStubs]

    return AsyncFirecrawl(api_key=api_key, api_url=api_url, timeout=SEARCH_S + 1, max_retries=1)


def open_research(settings: Settings, pool: Pool) -> Research | None:
    """Research as it is configured: with a key, or with a Firecrawl of the operator's own. None if with neither."""
    if settings.firecrawl_api_key is None and settings.firecrawl_api_url is None:
        return None
    return Research(
        pool,
        api_url=settings.firecrawl_api_url,
        api_key=settings.firecrawl_api_key,
        keep_days=settings.web_keep_days,
    )


class SpaceResearch:
    """A tools.ports.WebResearch: what is found is kept for one space."""

    def __init__(self, research: Research, space_id: SpaceId) -> None:
        self._research = research
        self._space_id = space_id

    async def search(self, query: str, *, limit: int) -> Sequence[WebPage]:
        """As the port says."""
        return await self._research.search(self._space_id, query, limit=limit)


def _failed(error: Exception) -> SearchFailed:
    """What an error of the library means, and whether asking again may help."""
    status: object = getattr(error, "status_code", None)
    if not isinstance(status, int):
        log.warning("web.no_answer", error=type(error).__name__)
        return SearchFailed("web_timeout" if "Timeout" in type(error).__name__ else "web_unavailable", 0.0)
    if status == 429:
        return SearchFailed("web_rate_limited", _retry_after_s(error))
    if status == 408:
        return SearchFailed("web_timeout", 0.0)
    if status in (400, 401, 402, 403, 404):
        log.error(
            "web.refused", status=status, hint="Look at MUNINN_FIRECRAWL_API_KEY, _API_URL, and the credits left."
        )
        return SearchFailed("web_refused", None)
    return SearchFailed("web_unavailable", 0.0)


def _retry_after_s(error: Exception) -> float:
    headers: Any = getattr(getattr(error, "response", None), "headers", {})
    try:
        asked = float(headers.get("Retry-After", ""))
    except (TypeError, ValueError):
        return RETRY_AFTER_S
    return max(asked, 0.0) if math.isfinite(asked) else RETRY_AFTER_S


def _found(result: Any) -> _Found | None:
    """A result of the library's: a Document where the page was scraped, else the bare find. None without an address."""
    metadata: Any = getattr(result, "metadata_typed", None)
    if metadata is None:
        url = canonical(str(result.url))
        title, description = str(result.title or ""), str(result.description or "")
        return None if url is None else _Found(url, _line(title), _text(description), None, None)
    url = canonical(str(metadata.url or metadata.source_url or ""))
    if url is None:
        return None
    status: int = metadata.status_code or 200
    markdown = str(result.markdown or "").strip()
    fetched_at = moment(metadata.cached_at) if metadata.cache_state == "hit" and metadata.cached_at else None
    title, description = _line(str(metadata.title or "")), _text(str(metadata.description or ""))
    read = _text(markdown) if markdown and status < 400 else None
    return _Found(url, title, description, read, fetched_at)


def _line(title: str) -> str:
    return " ".join(clean(title).split())[:MOST_TITLE]


def _text(text: str) -> str:
    return clean(text)[:MOST_TEXT]


def _distinct(found: Sequence[_Found]) -> list[_Found]:
    """Each address once, and each text once: mirrors and shortened links say nothing new."""
    by_url: dict[str, _Found] = {}
    for each in found:
        before = by_url.get(each.url)
        if before is None or (before.text is None and each.text is not None):
            by_url[each.url] = each
    seen: set[str] = set()
    kept_once: list[_Found] = []
    for each in by_url.values():
        if each.text is None or each.text not in seen:
            kept_once.append(each)
            seen.add(each.text or "")
    return kept_once
