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
from bot.outages import SETTLE_S
from bot.payloads import moment
from memory.database import BORROW_S, Pool
from memory.gaps import (
    Behind,
    Known,
    OpenGap,
    add_cursors,
    caught_up,
    close_gaps,
    known_after,
    known_before,
    open_gaps,
    places_behind,
    still_behind,
)
from memory.ids import MessageId, PlaceId, SpaceId, time_snowflake

log = structlog.get_logger(__name__)

PAGE: Final = 100
"""Discord's limit for one page of history."""

MOST_PAGES: Final = 100
"""Pages of one place, however little in them is new."""

UNKNOWN_MESSAGE: Final = 10008
AT_ONCE: Final = 4
REQUEST_S: Final = 60.0
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
        is_guild: Callable[[int], bool],
        shard_id: int,
        most_messages: int,
        most_places: int,
    ) -> None:
        self._pool = pool
        self._http = http
        self._offer = offer
        self._is_guild = is_guild
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
                results.append(await self._fetch(place, max(gap.opened_at for gap in gaps)))

        async with asyncio.TaskGroup() as group:
            for place in behind:
                group.create_task(fetch(place))
        recovered = sum(result.recovered for result in results)
        if any(result.again for result in results):
            return False
        incomplete = sum(result.incomplete for result in results)
        crash_point("before_gap_closed")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            if len(behind) == self._most_places:
                # Those beyond the bound stay frozen, and are fetched with the next gap.
                incomplete += await still_behind(conn)
            await close_gaps(conn, gaps, recovered=recovered, incomplete=incomplete)
        GAPS.labels("closed").inc(len(gaps))
        log.info("backfill.done", places=len(behind), recovered=recovered, incomplete=incomplete)
        return True

    async def _guilds_settled(self) -> None:
        """Wait until the guilds that a new session lists have come, as far as they come."""
        while True:
            self._guilds_changed.clear()
            try:
                async with asyncio.timeout(SETTLE_S):
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

    async def _fetch(self, place: Behind, opened_at: datetime) -> "_Fetched":
        """Fetch one place, oldest page first, and wait for each page's commit."""
        after, recovered, pages = place.after, 0, 0
        try:
            await self._look_back(place)
            while recovered < self._most_messages and pages < MOST_PAGES:
                async with self._pool.acquire(timeout=BORROW_S) as conn:
                    known = await known_after(conn, place, after, until=opened_at, limit=PAGE)
                page = await self._page(place, after=after)
                recovered += await self._journal(place, page)
                await self._compare(place, known, page, low=after, whole=len(page) < PAGE)
                crash_point("after_page")
                if len(page) < PAGE:
                    async with self._pool.acquire(timeout=BORROW_S) as conn:
                        await caught_up(conn, place)
                    return _Fetched(recovered)
                after, pages = MessageId(max(page)), pages + 1
        except (discord.Forbidden, discord.NotFound) as error:
            log.warning("backfill.unreadable", place_id=place.place_id, code=error.code)
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await caught_up(conn, place, gone=True)
            return _Fetched(recovered, incomplete=1)
        except (
            discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError, EventDropped,
            # What is no page of messages.
            KeyError, TypeError, ValueError,
        ) as error:  # fmt: skip
            log.warning("backfill.failed", place_id=place.place_id, error=type(error).__name__, retry_in_s=RETRY_S)
            return _Fetched(recovered, again=True)
        log.warning("backfill.bounded", place_id=place.place_id, messages=recovered)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await caught_up(conn, place)
        return _Fetched(recovered, incomplete=1)

    async def _page(self, place: Behind, **bound: int) -> dict[int, dict[str, Any]]:
        """A page of history by message id, oldest first. Raises what discord.py raises, and TypeError, ValueError or
        KeyError for what is no page."""
        async with asyncio.timeout(REQUEST_S):
            page = cast("list[dict[str, Any]]", await self._http.logs_from(place.place_id, PAGE, **bound))
        return {int(message["id"]): message for message in sorted(page, key=lambda m: int(m["id"]))}

    async def _look_back(self, place: Behind) -> None:
        """Find what was deleted or edited meanwhile among the last messages before the cursor: one page (I1)."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            known = await known_before(conn, place, place.after, limit=PAGE)
        if known:
            page = await self._page(place, before=place.after + 1)
            await self._compare(place, known, page, low=0, whole=len(page) < PAGE, back=True)

    async def _compare(
        self,
        place: Behind,
        known: Sequence[Known],
        page: Mapping[int, dict[str, Any]],
        *,
        low: int,
        whole: bool,
        back: bool = False,
    ) -> None:
        """Put to ingress what became of messages that were `known` before the page was asked for.

        `whole`: it shows everything there is after `low`, or (`back`) before the cursor; else it ends somewhere.
        """
        if known and not page and not await self._is_deleted(place, known[0].message_id):
            return
        high = max(page) if page and not whole and not back else 2**63
        low = min(page) if page and not whole and back else low
        waiting: list[asyncio.Future[Ack]] = []
        for message in known:
            now = page.get(message.message_id)
            if now is not None:
                edited = now.get("edited_timestamp")
                if edited is not None and moment(edited) > message.version_at:
                    waiting += await self._put(place, "MESSAGE_UPDATE", now)
            elif low <= message.message_id <= high:
                gone = {"id": str(message.message_id), "channel_id": str(place.place_id)}
                waiting += await self._put(place, "MESSAGE_DELETE", gone)
        for committed in waiting:
            await committed

    async def _is_deleted(self, place: Behind, message_id: MessageId) -> bool:
        """Whether Discord says so: to who may not read a place's history it shows an empty page."""
        try:
            async with asyncio.timeout(REQUEST_S):
                await self._http.get_message(place.place_id, message_id)
        except discord.NotFound as error:
            if error.code == UNKNOWN_MESSAGE:
                return True
            raise
        except discord.Forbidden:
            return False
        return False

    async def _journal(self, place: Behind, page: Mapping[int, dict[str, Any]]) -> int:
        """Put a page to ingress in order; gives how many messages were new. Raises EventDropped."""
        waiting: list[asyncio.Future[Ack]] = []
        for message in page.values():
            waiting += await self._put(place, "MESSAGE_CREATE", message)
        new = sum([await committed == "committed" for committed in waiting])
        BACKFILLED.inc(new)
        return new

    async def _put(self, place: Behind, kind: str, data: dict[str, Any]) -> "list[asyncio.Future[Ack]]":
        """Put what was fetched to ingress, as the gateway would have sent it."""
        # REST leaves the guild out; without it a message would look like a DM's. Old guilds' first channel has the
        # guild's own id.
        if place.space_id != place.place_id or self._is_guild(place.space_id):
            data = {**data, "guild_id": str(place.space_id)}
        committed = await self._offer(Dispatch(kind, data, "rest", 0, "backfill"))
        return [committed] if committed is not None else []


@dataclass(frozen=True, slots=True)
class _Fetched:
    recovered: int
    incomplete: int = 0
    again: bool = False
