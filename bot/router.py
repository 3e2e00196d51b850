"""The router: claims what the journal left in the inbox, and makes each addressed message a turn (I3).

What was decided is one statement, which claims the item by its row lock and makes its turn, so that a crash leaves the
message in the inbox, and of two routers that looked at the same moment one makes the turn.
Rate limits act here; a message over a limit is a turn too, told so once a window and else ended in silence.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog

from bot.crash import crash_point
from bot.guild_settings import GuildSettingsDoor
from bot.limiter import Limiter
from memory.choices import READ
from memory.database import BORROW_S, Db, Pool
from memory.ids import MessageId, PlaceId, SpaceId, UserId, snowflake_time

log = structlog.get_logger(__name__)

BATCH: Final = 64


_UNREAD: Final = (
    "You chose that my language model does not read what you write, so I have no answer for you. `/privacy` changes it."
)


@dataclass(frozen=True, slots=True)
class Item:
    """An addressed message in the inbox. `gone`: it was deleted before it was looked at; `unread`: its author chose
    that no model reads it."""

    inbox_id: int
    space_id: SpaceId
    place_id: PlaceId
    message_id: MessageId
    author_id: UserId
    gone: bool
    unread: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an item: a turn that waits, or one that has ended; `notice`: said instead of an answer."""

    item: Item
    cancelled: str | None = None
    notice: str | None = None

    @property
    def triggered_at(self) -> datetime:
        """When it was said, by Discord's clock: the answer window counts from there."""
        return snowflake_time(self.item.message_id)


# What waits in the inbox, to be decided on.
WAITING_INBOX_SQL: Final = f"""
SELECT i.inbox_id, i.space_id, i.place_id, i.message_id, i.author_id, m.deleted_at IS NOT NULL AS gone,
       NOT {READ.format(author="i.author_id")} AS unread
FROM discord_inbox i LEFT JOIN chat_messages m USING (space_id, message_id)
WHERE i.state = 'waiting' ORDER BY i.inbox_id LIMIT $1
"""

# Claim what still waits, make a turn of each item with its trigger, and mark it routed; one notification wakes the
# workers. The commit need not wait for the disk: lost with a crash of the server, the items wait in the inbox again,
# and the claim of a turn, which does wait, takes this with it.
ADD_TURNS_SQL: Final = """
WITH held AS MATERIALIZED (
    SELECT g.*, set_config('synchronous_commit', 'off', true)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[])
      AS d (inbox_id, cancelled, notice, triggered_at)
    CROSS JOIN LATERAL (
        SELECT i.inbox_id, i.space_id, i.place_id, i.author_id, i.message_id, d.cancelled, d.notice, d.triggered_at
        FROM discord_inbox i WHERE i.inbox_id = d.inbox_id AND i.state = 'waiting'
        FOR UPDATE SKIP LOCKED
    ) AS g
), added AS (
    INSERT INTO turns (space_id, place_id, author_id, trigger_id, state, end_reason, notice, triggered_at, ended_at)
    SELECT space_id, place_id, author_id, message_id, CASE WHEN cancelled IS NULL THEN 'queued' ELSE 'cancelled' END,
           cancelled, notice, triggered_at, CASE WHEN cancelled IS NULL THEN NULL ELSE now() END
    FROM held ORDER BY inbox_id
    ON CONFLICT (space_id, trigger_id) DO NOTHING
    RETURNING turn_id, space_id, trigger_id
), triggers AS (
    INSERT INTO turn_triggers (space_id, message_id, turn_id) SELECT space_id, trigger_id, turn_id FROM added
), routed AS (
    UPDATE discord_inbox i SET state = 'routed' FROM held WHERE i.inbox_id = held.inbox_id
)
SELECT count(*) AS turns, pg_notify('muninn_turns', '') AS woken FROM added
"""


class Router:
    """Routes the inbox whenever it is woken, and at least every `poll_s` seconds."""

    def __init__(
        self,
        pool: Pool,
        limiter: Limiter,
        settings: GuildSettingsDoor,
        woken: asyncio.Event,
        on_turns: Callable[[], None],
        *,
        poll_s: float,
    ) -> None:
        self._pool = pool
        self._limiter = limiter
        self._settings = settings
        self._woken = woken
        self._on_turns = on_turns
        self._poll_s = poll_s

    async def run(self) -> None:
        """Route for ever. Raises what PostgreSQL raises; whoever runs it starts it again."""
        while True:
            while await self.route() == BATCH:
                pass
            try:
                async with asyncio.timeout(self._poll_s):
                    await self._woken.wait()
            except TimeoutError:
                continue
            self._woken.clear()

    async def route(self) -> int:
        """Route one batch; gives how many items it had."""
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            items = [Item(**dict(row)) for row in await conn.fetch(WAITING_INBOX_SQL, BATCH)]
            if items:
                decisions = [await self._decide(item) for item in items]
                crash_point("before_route")
                await _add_turns(conn, decisions)
        if items:
            crash_point("after_route")
            self._on_turns()
        return len(items)

    async def _decide(self, item: Item) -> Decision:
        """The deterministic routes go first, in a fixed order; what none of them claims is a turn for the model."""
        if item.gone:
            return Decision(item, cancelled="trigger_deleted")
        if (await self._settings.of(item.space_id, item.place_id)).listening == "off":
            return Decision(item, cancelled="not_listening")
        verdict = await self._limiter.admit(item.space_id, item.place_id, item.author_id, item.message_id)
        if verdict == "go":
            return Decision(item, notice=_UNREAD if item.unread else None)
        log.info("router.held_back", space_id=item.space_id, place_id=item.place_id, told=verdict == "tell")
        if verdict == "tell":
            return Decision(item, notice=_slow_down(self._limiter.window_s))
        return Decision(item, cancelled="rate_limited")


async def _add_turns(conn: Db, decisions: Sequence[Decision]) -> None:
    columns: list[list[Any]] = [
        [d.item.inbox_id for d in decisions],
        [d.cancelled for d in decisions],
        [d.notice for d in decisions],
        [d.triggered_at for d in decisions],
    ]
    await conn.execute(ADD_TURNS_SQL, *columns)


def _slow_down(window_s: float) -> str:
    return (
        "That is more than I may answer at once. Everything you wrote is kept; "
        f"please ask again in {round(window_s)} seconds."
    )
