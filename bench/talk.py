"""Talk that durable memory has to read: places in which members state facts, put into the journal as Muninn would."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import asyncpg

from memory.ids import MessageId, PlaceId, SpaceId, UserId, snowflake_time, time_snowflake
from memory.incoming import Incoming, MessageSeen
from memory.journal import write_group

SPACE: Final = SpaceId(4_000)
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MEMBERS: Final = 200
_SUBJECTS: Final = ("editor", "tea", "city", "language", "keyboard", "bicycle", "band", "dish")


@dataclass
class Talk:
    """Makes places and messages, each once, in order."""

    pool: asyncpg.Pool
    _places: int = 0
    _said: int = 0

    async def places(self, number: int, messages: int) -> Sequence[PlaceId]:
        """So many new places with so many messages each, due to be read at once."""
        made: list[PlaceId] = []
        for _ in range(number):
            self._places += 1
            place_id = PlaceId(500_000 + self._places)
            async with self.pool.acquire() as conn, conn.transaction():
                await write_group(conn, [self._event(place_id) for _ in range(messages)])
            made.append(place_id)
        await self.pool.execute(
            "UPDATE ingestion_targets SET waiting_at = to_timestamp(0) WHERE place_id = ANY($1::bigint[])", made
        )
        return made

    def _event(self, place_id: PlaceId) -> Incoming:
        self._said += 1
        member = UserId(7_000 + self._said % _MEMBERS)
        message_id = MessageId(time_snowflake(_START + timedelta(milliseconds=100 * self._said)) + 1)
        said_at = snowflake_time(message_id)
        subject = _SUBJECTS[self._said % len(_SUBJECTS)]
        content = f"For what it is worth, my favourite {subject} is number {self._said % 1_000} of the list"
        seen = MessageSeen(
            SPACE,
            place_id,
            message_id,
            member,
            "member",
            f"Member{member}",
            content,
            None,
            "{}",
            said_at,
            said_at,
            None,
        )
        key = f"create:{message_id}"
        return Incoming("MESSAGE_CREATE", key, SPACE, place_id, message_id, (member,), "gateway", "{}", seen)
