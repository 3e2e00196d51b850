"""Retention: what a guild keeps no longer goes, once a day and in bounded steps.

Raw events, messages with their edits and reactions, turns with their runs, receipts, cards, the record of recalls,
former values of memories, the record of settings and what owners of the bot looked into go when they are older than
the guild's setting says. Memories stay, and what they rest on is marked as aged out: that is no deletion (I8). Cases
of moderation stay, what holds now of settings with who set it, and the versions of a guild's rules.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from bot.guild_settings import GuildSettingsDoor
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, SpaceId, time_snowflake
from memory.revocation import age_out

log = structlog.get_logger(__name__)

EVERY_S: Final = 86_400.0
FIRST_S: Final = 300.0
"""Starting is busy enough without it."""

BATCH: Final = 500
EVENTS_AT_ONCE: Final = 5_000
MOST_BATCHES: Final = 400
"""For each guild and kind in one go: what is left waits for the next day."""

PAUSE_S: Final = 0.05
STATEMENT_S: Final = 120.0

# The spaces of which anything is kept.
SPACES_SQL: Final = "SELECT space_id FROM place_cursors UNION SELECT space_id FROM operator_audit ORDER BY space_id"

# The oldest messages of a space that are older than a snowflake.
OLD_MESSAGES_SQL: Final = """
SELECT message_id FROM chat_messages WHERE space_id = $1 AND message_id < $2 ORDER BY message_id LIMIT $3
"""

# Messages with their edits and reactions.
DROP_MESSAGES_SQL: Final = """
WITH edits AS (
    DELETE FROM chat_message_revisions WHERE space_id = $1 AND message_id = ANY($2::bigint[])
), reactions AS (
    DELETE FROM message_reactions WHERE space_id = $1 AND message_id = ANY($2::bigint[])
)
DELETE FROM chat_messages WHERE space_id = $1 AND message_id = ANY($2::bigint[])
"""

# The oldest turns of a space, with their runs, that ended before a moment.
DROP_TURNS_SQL: Final = """
WITH old AS (
    SELECT turn_id FROM turns WHERE space_id = $1 AND trigger_id < $2 AND ended_at < $3 ORDER BY trigger_id LIMIT $4
), inbox AS (
    DELETE FROM discord_inbox i USING turns t, old
    WHERE t.turn_id = old.turn_id AND i.space_id = t.space_id AND i.message_id = t.trigger_id
), dropped AS (
    DELETE FROM turns t USING old WHERE t.turn_id = old.turn_id RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest receipts of a space of which it is known what came of them; what was sent stands in some of them.
DROP_RECEIPTS_SQL: Final = """
WITH dropped AS (
    DELETE FROM action_receipts WHERE receipt_id IN (
        SELECT receipt_id FROM action_receipts
        WHERE space_id = $1 AND trigger_id < $2 AND state IN ('applied', 'refused') AND settled_at < $3
        ORDER BY trigger_id LIMIT $4)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest cards of a space that nobody can press any more.
DROP_CARDS_SQL: Final = """
WITH dropped AS (
    DELETE FROM action_cards WHERE card_id IN (
        SELECT card_id FROM action_cards
        WHERE space_id = $1 AND trigger_id < $2 AND state <> 'open' AND expires_at < $3 ORDER BY trigger_id LIMIT $4)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest recalls of a space.
DROP_RECALLS_SQL: Final = """
WITH dropped AS (
    DELETE FROM recalls WHERE recall_id IN (
        SELECT recall_id FROM recalls WHERE space_id = $1 AND made_at < $2 ORDER BY made_at LIMIT $3)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest former values of memories of a space; what holds now stays.
DROP_FORMER_VALUES_SQL: Final = """
WITH dropped AS (
    DELETE FROM memory_item_revisions WHERE (memory_id, version) IN (
        SELECT memory_id, version FROM memory_item_revisions
        WHERE space_id = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest former links of a space.
DROP_FORMER_LINKS_SQL: Final = """
WITH dropped AS (
    DELETE FROM memory_link_revisions WHERE (link_id, version) IN (
        SELECT link_id, version FROM memory_link_revisions
        WHERE space_id = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest changes of settings of a space, but the newest of each: it says who set what holds now, and numbers go on.
DROP_SETTING_CHANGES_SQL: Final = """
WITH dropped AS (
    DELETE FROM guild_setting_changes c USING (
        SELECT place_id, name, version FROM guild_setting_changes o
        WHERE space_id = $1 AND set_at < $2 AND EXISTS (
            SELECT FROM guild_setting_changes n WHERE n.space_id = o.space_id AND n.place_id = o.place_id
              AND n.name = o.name AND n.version > o.version)
        ORDER BY set_at LIMIT $3) AS old
    WHERE c.space_id = $1 AND c.place_id = old.place_id AND c.name = old.name AND c.version = old.version
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

# The oldest rows of audit of what owners of the bot did in a space.
DROP_AUDIT_SQL: Final = """
WITH dropped AS (
    DELETE FROM operator_audit WHERE audit_id IN (
        SELECT audit_id FROM operator_audit WHERE space_id = $1 AND at < $2 ORDER BY audit_id LIMIT $3)
    RETURNING 1
)
SELECT count(*) FROM dropped
"""

OF_MESSAGES: Final = (("turns", DROP_TURNS_SQL), ("receipts", DROP_RECEIPTS_SQL), ("cards", DROP_CARDS_SQL))
"""What was made for a message, and ended: it takes the oldest message that is kept, and since when things are kept."""

OF_A_MOMENT: Final = (
    ("recalls", DROP_RECALLS_SQL),
    ("former_values", DROP_FORMER_VALUES_SQL),
    ("former_links", DROP_FORMER_LINKS_SQL),
    ("setting_changes", DROP_SETTING_CHANGES_SQL),
    ("audit", DROP_AUDIT_SQL),
)
"""What has a moment of its own."""

# Of the next events in order, drop those that are older than their space keeps them; a space that is not named keeps
# its own as long as $4 says.
DROP_EVENTS_SQL: Final = """
WITH stretch AS (
    SELECT event_id, space_id, received_at FROM discord_events WHERE event_id > $1 ORDER BY event_id LIMIT $5
), dropped AS (
    DELETE FROM discord_events e USING stretch s
    LEFT JOIN unnest($2::bigint[], $3::timestamptz[]) AS k (space_id, since) ON k.space_id = s.space_id
    WHERE e.event_id = s.event_id AND s.received_at < coalesce(k.since, $4)
    RETURNING 1
)
SELECT coalesce(max(event_id), $1) AS through, min(received_at) AS oldest, (SELECT count(*) FROM dropped) AS dropped
FROM stretch
"""


@dataclass(frozen=True, slots=True)
class Retention:
    """Lets go. `event_days`: for which raw events are kept at most; `rest`: waits so many seconds. Any number of
    processes may do this at once."""

    pool: Pool
    settings: GuildSettingsDoor
    event_days: int
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self) -> None:
        """Go on for ever, once a day. Raises what PostgreSQL raises; whoever runs it starts it again."""
        await self.rest(FIRST_S)
        while True:
            await self.sweep()
            await self.rest(EVERY_S)

    async def sweep(self) -> None:
        """Let go of what is due, a bounded part of it."""
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            rows = await conn.fetch(SPACES_SQL, timeout=STATEMENT_S)
        now = datetime.now(UTC)
        since: dict[SpaceId, datetime] = {}
        for row in rows:
            space_id = SpaceId(row["space_id"])
            days = (await self.settings.of(space_id)).retention_days
            since[space_id] = now - timedelta(days=min(days or self.event_days, self.event_days))
            if days:
                await self._space(space_id, now - timedelta(days=days))
        await self._events(since, now - timedelta(days=self.event_days))

    async def _space(self, space_id: SpaceId, since: datetime) -> None:
        before = MessageId(time_snowflake(since))
        gone = {"messages": await self._messages(space_id, before)}
        for what, statement in OF_MESSAGES:
            gone[what] = await self._drop(statement, space_id, before, since)
        for what, statement in OF_A_MOMENT:
            gone[what] = await self._drop(statement, space_id, since)
        if any(gone.values()):
            log.info("retention.done", space_id=space_id, **gone)

    async def _drop(self, statement: str, *bounds: object) -> int:
        gone = 0
        for _ in range(MOST_BATCHES):
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                count = int(await conn.fetchval(statement, *bounds, BATCH, timeout=STATEMENT_S))
            gone += count
            if count < BATCH:
                break
            await asyncio.sleep(PAUSE_S)
        return gone

    async def _messages(self, space_id: SpaceId, before: MessageId) -> int:
        gone = 0
        for _ in range(MOST_BATCHES):
            async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
                rows = await conn.fetch(OLD_MESSAGES_SQL, space_id, before, BATCH)
                ids = [MessageId(row["message_id"]) for row in rows]
                if ids:
                    await age_out(conn, space_id, ids)
                    await conn.execute(DROP_MESSAGES_SQL, space_id, ids)
            gone += len(ids)
            if len(ids) < BATCH:
                break
            await asyncio.sleep(PAUSE_S)
        return gone

    async def _events(self, since: Mapping[SpaceId, datetime], otherwise: datetime) -> None:
        latest = max([*since.values(), otherwise])
        after, gone = 0, 0
        for _ in range(MOST_BATCHES * 10):
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                row = await conn.fetchrow(
                    DROP_EVENTS_SQL,
                    after,
                    list(since),
                    list(since.values()),
                    otherwise,
                    EVENTS_AT_ONCE,
                    timeout=STATEMENT_S,
                )
            if row is None or row["oldest"] is None or row["oldest"] >= latest:
                break
            after, gone = row["through"], gone + row["dropped"]
            await asyncio.sleep(PAUSE_S)
        if gone:
            log.info("retention.events", events=gone)
