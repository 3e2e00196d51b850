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
from bot.ingress.outages import SETTLE_S
from bot.metrics import BACKFILLED, GAPS
from bot.payloads import moment
from bot.standing import UNKNOWN_MESSAGE
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
)
from memory.ids import MessageId, PlaceId, SpaceId, time_snowflake
from memory.incoming import Ack

log = structlog.get_logger(__name__)

PAGE: Final = 100
"""Discord's limit for one page of history."""

MOST_PAGES: Final = 100
"""Pages of one place, however little in them is new."""

AT_ONCE: Final = 4
REQUEST_S: Final = 60.0
RETRY_S: Final = 10.0

# Channel types that hold threads.
WITH_THREADS: Final = frozenset({0, 5, 15, 16})

MOST_PARENTS: Final = 50
"""Channels of a guild of which the archived threads are listed after a gap, those with the newest messages."""

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
    parents: tuple[_Place, ...]


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
        found = [(int(item.get("type") or 0), _place(item)) for item in listed]
        self._guilds[int(data["id"])] = _Guild(
            datetime.fromisoformat(data["joined_at"]),
            tuple(place for kind, place in found if kind not in WITHOUT_MESSAGES),
            tuple(place for kind, place in found if kind in WITH_THREADS),
        )
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
        results: list[_Fetched] = []
        places = 0
        while behind := await self._next_behind(results):
            places += len(behind)
            await self._fetch_all(behind, max(gap.opened_at for gap in gaps), results)
            if any(result.again for result in results):
                return False
        recovered = sum(result.recovered for result in results)
        incomplete = sum(result.incomplete for result in results)
        crash_point("before_gap_closed")
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            # Those that a newer gap froze meanwhile are its own.
            await close_gaps(conn, gaps, recovered=recovered, incomplete=incomplete)
        GAPS.labels("closed").inc(len(gaps))
        log.info("backfill.done", places=places, recovered=recovered, incomplete=incomplete)
        return True

    async def _next_behind(self, results: "Sequence[_Fetched]") -> tuple[Behind, ...]:
        """The places to be fetched next, the most recently active first; a place is fetched once for a gap."""
        done = {result.place_id for result in results}
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            behind = await places_behind(conn, limit=self._most_places + len(done))
        return tuple(place for place in behind if place.place_id not in done)[: self._most_places]

    async def _fetch_all(self, behind: Sequence[Behind], opened_at: datetime, results: "list[_Fetched]") -> None:
        """Fetch from all of these side by side, a page at a time in turn, so that a busy place delays no other."""
        slots = asyncio.Semaphore(AT_ONCE)

        async def fetch(place: Behind) -> None:
            results.append(await self._fetch(place, opened_at, slots))

        async with asyncio.TaskGroup() as group:
            for place in behind:
                group.create_task(fetch(place))

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
            found += await self._archived(SpaceId(guild_id), guild, after)
        if found:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await add_cursors(conn, found)

    async def _archived(self, space_id: SpaceId, guild: _Guild, after: MessageId) -> list[Behind]:
        """Threads that began and were archived meanwhile: a guild lists only those that are active.

        They are looked for where something was said since; one that was opened on an older message of a channel that
        was silent is not found, nor is a private one. What cannot be listed now is left out.
        """
        parents = sorted(guild.parents, key=lambda each: each.last_message_id, reverse=True)[:MOST_PARENTS]
        found: list[Behind] = []
        for parent in parents:
            if parent.last_message_id <= after:
                break
            try:
                async with asyncio.timeout(REQUEST_S):
                    answer = await self._http.get_public_archived_threads(parent.place_id, limit=PAGE)
                threads = [_place(each) for each in cast("Mapping[str, Any]", answer)["threads"]]
            except (
                discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError,
                # What is no list of threads.
                KeyError, TypeError, ValueError,
            ) as error:  # fmt: skip
                log.warning("backfill.archived_unread", place_id=parent.place_id, error=type(error).__name__)
                continue
            found += [Behind(space_id, each.place_id, after) for each in threads if each.last_message_id > after]
        return found

    async def _fetch(self, place: Behind, opened_at: datetime, slots: asyncio.Semaphore) -> "_Fetched":
        """Fetch one place, oldest page first, and wait for each page's commit. A page holds a slot, not the place."""
        after, recovered, pages = place.after, 0, 0
        try:
            async with slots:
                await self._look_back(place)
            while recovered < self._most_messages and pages < MOST_PAGES:
                async with slots:
                    async with self._pool.acquire(timeout=BORROW_S) as conn:
                        known = await known_after(conn, place, after, until=opened_at, limit=PAGE)
                    page = await self._page(place, after=after)
                    recovered += await self._journal(place, page)
                    await self._compare(place, known, page, low=after, whole=len(page) < PAGE)
                crash_point("after_page")
                if len(page) < PAGE:
                    async with self._pool.acquire(timeout=BORROW_S) as conn:
                        await caught_up(conn, place)
                    return _Fetched(place.place_id, recovered)
                after, pages = MessageId(max(page)), pages + 1
        except (discord.Forbidden, discord.NotFound) as error:
            log.warning("backfill.unreadable", place_id=place.place_id, code=error.code)
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                await caught_up(conn, place, gone=True)
            return _Fetched(place.place_id, recovered, incomplete=1)
        except (
            discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError, EventDropped,
            # What is no page of messages.
            KeyError, TypeError, ValueError,
        ) as error:  # fmt: skip
            log.warning("backfill.failed", place_id=place.place_id, error=type(error).__name__, retry_in_s=RETRY_S)
            return _Fetched(place.place_id, recovered, again=True)
        log.warning("backfill.bounded", place_id=place.place_id, messages=recovered)
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await caught_up(conn, place)
        return _Fetched(place.place_id, recovered, incomplete=1)

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


def _place(item: Mapping[str, Any]) -> _Place:
    return _Place(PlaceId(int(item["id"])), int(item.get("last_message_id") or 0))


@dataclass(frozen=True, slots=True)
class _Fetched:
    place_id: PlaceId
    recovered: int
    incomplete: int = 0
    again: bool = False
