"""Guilds that the bot joins and leaves. Each joining is told once what is kept there and how to change it.

The notice goes to the guild's system channel where the bot may write there, else to the owner. It is an effect like any
other: its words are on record before it is sent, under a receipt, and sent once through crashes (I3, I4). A restart or
an outage is no joining: Discord tells when the bot joined, and that has not changed.
"""

import asyncio
import contextlib
import time
from base64 import b32encode
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final, Literal

import structlog

from bot import joinings
from bot.addressing import Identity
from bot.crash import crash_point
from bot.erasure import requests
from bot.erasure.requests import Seal
from bot.errors import EventDropped, ReadFault, WriteInDoubt, WriteRefused
from bot.facts import Facts
from bot.joinings import ACTION, Joined, Standing, State
from bot.outgoing import Outcome, Outgoing
from bot.own_messages import journal_own
from bot.payloads import moment, snowflake
from bot.receipts import Intent, Receipt, claimed_messages, intend, settle_as
from bot.rest import Reads
from bot.turns import NONCE_CHARACTERS
from bot.writes import Writes
from memory.database import BORROW_S, Pool
from memory.departures import end_with_guilds
from memory.ids import MessageId, PlaceId, SpaceId, UserId, time_snowflake
from memory.incoming import Ack

log = structlog.get_logger(__name__)

SEND_S: Final = 20.0
BETWEEN_S: Final = 2.0
"""Seconds between two notices: Discord distrusts bots that open many conversations at once."""

RETRY_FIRST_S: Final = 15.0
RETRY_MOST_S: Final = 600.0
CLOCKS_S: Final = timedelta(minutes=1)
"""By so much the database's clock may be ahead of Discord's, by which a message of ours is looked for."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """Something about guilds that the gateway brought. `guilds` is who is (READY) or was (GUILD_DELETE) there."""

    kind: str
    committed: "asyncio.Future[Ack] | None"
    guilds: tuple[SpaceId, ...] = ()
    joined: Joined | None = None


@dataclass(slots=True)
class _Owed:
    """A notice that is yet to be given, at the earliest at `due` (of the loop's clock)."""

    joined: Joined
    due: float = 0.0
    pause_s: float = field(default_factory=lambda: RETRY_FIRST_S)


class _Later(Exception):
    """Nobody can say now; the notice waits. `after_s`: how long Discord wants to be left alone."""

    def __init__(self, cause: str, after_s: float | None = None) -> None:
        super().__init__(cause)
        self.after_s = after_s or 0.0


# Under which message a notice was settled meanwhile: the gateway brings our own messages back.
NOTICE_RECEIPT_SQL: Final = "SELECT state, external_id FROM action_receipts WHERE receipt_id = $1"


class Guilds:
    """Keeps `guild_joinings`, and tells. `note` is called by the gateway, in frame order; `run` does the work.

    `tells` off: joinings are noted, and nobody is told. `notice`: what is said, which stays as it is for a joining.
    `grace`: for how long the data of a guild that was left is kept; `seal` is of the receipt of its deletion.
    """

    def __init__(
        self,
        pool: Pool,
        writes: Writes,
        reads: Reads,
        me: Identity,
        *,
        shard: tuple[int, int],
        tells: bool,
        notice: str,
        seal: Seal,
        grace: timedelta,
    ) -> None:
        self._pool = pool
        self._seal = seal
        self._grace = grace
        self._writes = writes
        self._reads = reads
        self._me = me
        self._shard = shard
        self._tells = tells
        self._notice = notice
        self._heard: deque[_Heard] = deque()
        self._owed: dict[SpaceId, _Owed] = {}
        self._woken = asyncio.Event()

    def note(self, kind: str, data: Mapping[str, Any], committed: "asyncio.Future[Ack] | None") -> None:
        """Take what tells who is there. `committed`: when it is journalled. Raises what a malformed dispatch raises."""
        heard = _hear(kind, data, committed)
        if heard is not None:
            self._heard.append(heard)
            self._woken.set()

    async def run(self) -> None:
        """Go on for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            while self._heard:
                await self._take(self._heard[0])
                self._heard.popleft()
            for owed in [each for each in self._owed.values() if each.due <= time.monotonic()]:
                await self._tell(owed)
                if self._heard:
                    break
            if not self._heard:
                await self._rest()

    async def _rest(self) -> None:
        due = min((owed.due for owed in self._owed.values()), default=None)
        timeout = None if due is None else max(due - time.monotonic(), 0.0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._woken.wait()
        self._woken.clear()

    async def _take(self, heard: _Heard) -> None:
        """Note who joined and who left, once the event is committed (I1)."""
        if heard.committed is not None:
            # One that was dropped for want of room is noted all the same: it comes again only with a new session.
            with contextlib.suppress(EventDropped):
                await heard.committed
        if heard.joined is not None:
            standing = await self._standing(heard.joined)
            known = self._owed.get(heard.joined.space_id)
            if standing.notice_state == "owed" and (known is None or known.joined != heard.joined):
                self._owed[heard.joined.space_id] = _Owed(heard.joined)
        elif heard.kind == "READY":
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                present = await joinings.present(conn, self._shard)
            await self._left([space_id for space_id in present if space_id not in heard.guilds])
        else:
            await self._left(heard.guilds)

    async def _standing(self, joined: Joined) -> Standing:
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            if await requests.call_off(conn, joined.space_id):
                log.info("guild.back_in_time", guild_id=joined.space_id)
            return await joinings.join(conn, joined, owes=self._tells)

    async def _left(self, guilds: Sequence[SpaceId]) -> None:
        for space_id in guilds:
            self._owed.pop(space_id, None)
        if guilds:
            async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                await end_with_guilds(conn, guilds)
                for space_id in await joinings.leave(conn, guilds):
                    # What is kept of it goes after a time of grace, in which the bot may be brought back.
                    grace_s = self._grace.total_seconds()
                    await requests.ask(conn, self._seal, "space", space_id, space_id=space_id, after_s=grace_s)
                    log.info("guild.left", guild_id=space_id)

    async def _tell(self, owed: _Owed) -> None:
        """Give one notice, or put it off."""
        joined = owed.joined
        try:
            state = await self._give(joined)
        except _Later as later:
            log.info("guild.notice_later", guild_id=joined.space_id, cause=str(later))
            owed.due = time.monotonic() + max(owed.pause_s, later.after_s)
            owed.pause_s = min(owed.pause_s * 2, RETRY_MOST_S)
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await joinings.end(conn, joined, state)
        self._owed.pop(joined.space_id, None)
        log.info("guild.notice", guild_id=joined.space_id, state=state)
        if self._owed:
            await asyncio.sleep(BETWEEN_S)

    async def _give(self, joined: Joined) -> State:
        """The system channel, then the owner; the second only where the first is refused. Raises _Later."""
        standing = await self._standing(joined)
        if standing.notice_state != "owed":
            return standing.notice_state
        if standing.notice is None:
            standing = await self._compose(joined)
        if standing.channel_id is not None:
            outcome = await self._send(joined, standing, "channel", standing.channel_id)
            if outcome == "applied":
                return "told"
        place_id = standing.owner_place_id or await self._owner_place(joined)
        if place_id is None:
            return "refused"
        return "told" if await self._send(joined, standing, "owner", place_id) == "applied" else "refused"

    async def _compose(self, joined: Joined) -> Standing:
        channel_id = joined.system_channel_id if await self._may_write(joined) else None
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await joinings.compose(conn, joined, self._notice, channel_id)

    async def _may_write(self, joined: Joined) -> bool:
        if joined.system_channel_id is None:
            return False
        facts = Facts(self._reads, joined.space_id, self._me.user_id)
        try:
            granted = await facts.permissions(UserId(self._me.user_id), joined.system_channel_id)
        except ReadFault as fault:
            raise _Later(type(fault).__name__) from fault
        return granted.view_channel and granted.send_messages

    async def _owner_place(self, joined: Joined) -> PlaceId | None:
        """The conversation with the owner; None where they take none."""
        try:
            opened = await self._writes.open_direct(joined.owner_id)
        except WriteRefused:
            return None
        except WriteInDoubt as doubt:
            raise _Later(doubt.cause, doubt.retry_after_s) from doubt
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            return await joinings.fix_owner_place(conn, joined, opened)

    async def _send(
        self, joined: Joined, standing: Standing, to: Literal["channel", "owner"], place_id: PlaceId
    ) -> Literal["applied", "refused"]:
        """Send the notice there, once (I4). Raises _Later where it is not known whether it was."""
        intent = Intent(joined.space_id, place_id, joined.trigger_id, ACTION, {"to": to}, nonce=_nonce(joined, to))
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            receipt = await intend(conn, intent)
        crash_point("after_intended")
        if receipt.state in ("applied", "refused"):
            return "applied" if receipt.state == "applied" else "refused"
        assert standing.notice is not None and standing.composed_at is not None  # noqa: S101, PT018 - _compose sets both
        since = MessageId(time_snowflake(standing.composed_at - CLOCKS_S))
        outcome = await self._post(joined.space_id, Outgoing(place_id, standing.notice, since), receipt)
        await self._record(joined if to == "channel" else None, receipt, outcome)
        crash_point("after_settled")
        if outcome.state == "unknown":
            raise _Later(outcome.failure or "unknown", outcome.retry_after_s)
        return outcome.state

    async def _post(self, space_id: SpaceId, outgoing: Outgoing, receipt: Receipt) -> Outcome:
        async def known() -> MessageId | None:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                row = await conn.fetchrow(NOTICE_RECEIPT_SQL, receipt.receipt_id)
            settled = row is not None and row["state"] == "applied" and row["external_id"] is not None
            return MessageId(row["external_id"]) if row is not None and settled else None

        async def claimed(messages: list[int]) -> frozenset[int]:
            async with self._pool.acquire(timeout=BORROW_S) as conn:
                return await claimed_messages(conn, space_id, outgoing.place_id, messages, but=receipt.receipt_id)

        return await self._writes.send(outgoing, receipt, known=known, claimed=claimed, within_s=SEND_S)

    async def _record(self, guild: Joined | None, receipt: Receipt, outcome: Outcome) -> None:
        """Settle the receipt and journal what was said, in one transaction. `guild`: None for a conversation."""
        async with self._pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            if outcome.message is not None:
                # The message before its receipt, as everywhere.
                await journal_own(conn, outcome.message, None if guild is None else guild.space_id, self._me)
            await settle_as(conn, receipt.receipt_id, outcome)


def _hear(kind: str, data: Mapping[str, Any], committed: "asyncio.Future[Ack] | None") -> _Heard | None:
    match kind:
        case "READY":
            guilds = tuple(SpaceId(snowflake(guild["id"])) for guild in data["guilds"])
            return _Heard(kind, committed, guilds)
        case "GUILD_DELETE" if not data.get("unavailable"):
            return _Heard(kind, committed, (SpaceId(snowflake(data["id"])),))
        case "GUILD_CREATE" if not data.get("unavailable"):
            channel = data.get("system_channel_id")
            joined = Joined(
                SpaceId(snowflake(data["id"])),
                moment(data["joined_at"]),
                UserId(snowflake(data["owner_id"])),
                None if channel is None else PlaceId(snowflake(channel)),
            )
            return _Heard(kind, committed, joined=joined)
        case _:
            return None


def _nonce(joined: Joined, to: str) -> str:
    identity = f"{ACTION}:{joined.space_id}:{joined.trigger_id}:{to}".encode()
    return b32encode(blake2b(identity, digest_size=15).digest()).decode().lower()[:NONCE_CHARACTERS]
