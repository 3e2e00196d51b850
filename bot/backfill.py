"""Backfill: after a start or a gap, what Discord still shows is fetched and goes through the same claims (I1, I2).

Known places are fetched from their frozen cursors. Places that are new, or that were silent so far, are those that a
guild lists with a last message after the gap began.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import aiohttp
import discord
import structlog
from discord.http import HTTPClient

from bot.crash import crash_point
from bot.errors import EventDropped
from bot.events import Dispatch
from bot.ingress import Ack
from bot.metrics import BACKFILLED, GAPS
from memory.database import BORROW_S, Pool
from memory.gaps import Behind, OpenGap, add_cursors, caught_up, close_gaps, open_gaps, places_behind
from memory.ids import MessageId, PlaceId, SpaceId, time_snowflake

log = structlog.get_logger(__name__)

PAGE: Final = 100
"""Discord's limit for one page of history."""

AT_ONCE: Final = 4
REQUEST_S: Final = 60.0
GUILDS_SETTLE_S: Final = 1.0
RETRY_S: Final = 10.0

# Channel types that hold no messages of their own: categories, directories, forums and media channels.
WITHOUT_MESSAGES: Final = frozenset({4, 14, 15, 16})


@dataclass(frozen=True, slots=True)
class _Place:
    place_id: PlaceId
    last_message_id: int


@dataclass(frozen=True, slots=True)
class _Guild:
    joined_at: datetime
    places: tuple[_Place, ...]


class Backfill:
    """Fetches what gaps may hide. `note_guild` tells it what there is, `wake` that a gap was opened."""

    def __init__(
        self,
        pool: Pool,
        http: HTTPClient,
        offer: Callable[[Dispatch], Awaitable["asyncio.Future[Ack] | None"]],
        *,
        shard_id: int,
        most_messages: int,
        most_places: int,
    ) -> None:
        self._pool = pool
        self._http = http
        self._offer = offer
        self._shard_id = shard_id
        self._most_messages = most_messages
        self._most_places = most_places
        self._guilds: dict[int, _Guild] = {}
        self._guilds_changed = asyncio.Event()
        self._woken = asyncio.Event()
        self.idle = asyncio.Event()

    def note_guild(self, data: Mapping[str, Any]) -> None:
        """Remember which places a GUILD_CREATE lists: channels with messages, and active threads."""
        listed = [*cast("Sequence[Mapping[str, Any]]", data.get("channels") or ()), *(data.get("threads") or ())]
        places = tuple(
            _Place(PlaceId(int(item["id"])), int(item.get("last_message_id") or 0))
            for item in listed
            if int(item.get("type") or 0) not in WITHOUT_MESSAGES
        )
        self._guilds[int(data["id"])] = _Guild(datetime.fromisoformat(data["joined_at"]), places)
        self._guilds_changed.set()

    def wake(self) -> None:
        """A gap was opened."""
        self.idle.clear()
        self._woken.set()

    async def run(self) -> None:
        """Close gaps for ever. Raises what PostgreSQL raises; whoever runs it starts it again.

        It begins when the first session has opened its gap: those that an earlier process left open are closed with
        it, for only a session's GUILD_CREATEs tell of the places that are new.
        """
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                done = await self._close_all()
            except BaseException:
                # The gaps are still open, for the next run.
                self._woken.set()
                raise
            if not done:
                await asyncio.sleep(RETRY_S)
                self._woken.set()
            elif not self._woken.is_set():
                self.idle.set()

    async def _close_all(self) -> bool:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            gaps = await open_gaps(conn, self._shard_id)
        return not gaps or await self._close(gaps)

    async def _close(self, gaps: Sequence[OpenGap]) -> bool:
        """Fetch what `gaps` may hide; False if something has to be tried again."""
        await self._guilds_settled()
        await self._find_new_places(min(gap.since for gap in gaps))
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            behind = await places_behind(conn, limit=self._most_places)
        slots = asyncio.Semaphore(AT_ONCE)
        results: list[_Fetched] = []

        async def fetch(place: Behind) -> None:
            async with slots:
                results.append(await self._fetch(place))

        async with asyncio.TaskGroup() as group:
            for place in behind:
                group.create_task(fetch(place))
        recovered = sum(result.recovered for result in results)
        if any(result.again for result in results):
            return False
        incomplete = sum(result.incomplete for result in results)
        crash_point("before_gap_closed")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await close_gaps(conn, gaps, recovered=recovered, incomplete=incomplete)
        GAPS.labels("closed").inc(len(gaps))
        log.info("backfill.done", places=len(behind), recovered=recovered, incomplete=incomplete)
        return True

    async def _guilds_settled(self) -> None:
        """Wait until the guilds that a new session lists have come, as far as they come."""
        while True:
            self._guilds_changed.clear()
            try:
                async with asyncio.timeout(GUILDS_SETTLE_S):
                    await self._guilds_changed.wait()
            except TimeoutError:
                return

    async def _find_new_places(self, since: datetime) -> None:
        found: list[Behind] = []
        for guild_id, guild in self._guilds.items():
            after = MessageId(time_snowflake(max(since, guild.joined_at)))
            found += [
                Behind(SpaceId(guild_id), place.place_id, after)
                for place in guild.places
                if place.last_message_id > after
            ]
        if found:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await add_cursors(conn, found)

    async def _fetch(self, place: Behind) -> "_Fetched":
        """Fetch one place, oldest page first, and wait for each page's commit."""
        after, recovered = place.after, 0
        try:
            while recovered < self._most_messages:
                async with asyncio.timeout(REQUEST_S):
                    page = await self._http.logs_from(place.place_id, PAGE, after=after)
                recovered += await self._journal(place, cast("list[dict[str, Any]]", page))
                crash_point("after_page")
                if len(page) < PAGE:
                    async with self._pool.acquire(timeout=BORROW_S) as conn:
                        await caught_up(conn, place)
                    return _Fetched(recovered)
                after = MessageId(max(int(message["id"]) for message in page))
        except (discord.Forbidden, discord.NotFound) as error:
            log.warning("backfill.unreadable", place_id=place.place_id, code=error.code)
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await caught_up(conn, place, gone=True)
            return _Fetched(recovered, incomplete=1)
        except (discord.HTTPException, aiohttp.ClientError, OSError, EventDropped) as error:
            log.warning("backfill.failed", place_id=place.place_id, error=type(error).__name__, retry_in_s=RETRY_S)
            return _Fetched(recovered, again=True)
        log.warning("backfill.bounded", place_id=place.place_id, messages=recovered)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await caught_up(conn, place)
        return _Fetched(recovered, incomplete=1)

    async def _journal(self, place: Behind, page: Sequence[dict[str, Any]]) -> int:
        """Put a page to ingress in order; gives how many messages were new. Raises EventDropped."""
        waiting: list[asyncio.Future[Ack]] = []
        for message in sorted(page, key=lambda m: int(m["id"])):
            # REST leaves the guild out; without it a message would look like a DM's.
            data = message if place.space_id == place.place_id else {**message, "guild_id": str(place.space_id)}
            committed = await self._offer(Dispatch("MESSAGE_CREATE", data, "rest", 0, "backfill"))
            if committed is not None:
                waiting.append(committed)
        new = sum([await committed == "committed" for committed in waiting])
        BACKFILLED.inc(new)
        return new


@dataclass(frozen=True, slots=True)
class _Fetched:
    recovered: int
    incomplete: int = 0
    again: bool = False
