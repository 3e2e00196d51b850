"""Words put straight into the journal, for tests of memory that need no Discord."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import asyncpg

from memory.ids import MessageId, PlaceId, SpaceId, UserId, snowflake_time, time_snowflake
from memory.incoming import AuthorKind, Incoming, MessageGone, MessageSeen
from memory.items import Author
from memory.journal import write_group
from memory.scope import Scope

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Talk:
    """A place of a guild and what is said in it, journalled as the bot would."""

    pool: asyncpg.Pool
    scope: Scope = field(default_factory=lambda: Scope(SpaceId(500), PlaceId(600)))
    start: datetime = NOON
    _count: int = 0

    def message_id(self, n: int) -> MessageId:
        """The id of the n-th message, a second after the one before."""
        return MessageId(time_snowflake(self.start + timedelta(seconds=n)) + self.scope.place_id % 1000)

    async def says(
        self,
        user: int,
        content: str,
        *,
        name: str | None = None,
        kind: AuthorKind = "member",
        reply_to: MessageId | None = None,
        extras: str = "{}",
        at: datetime | None = None,
    ) -> MessageId:
        """Somebody says something; gives the message's id."""
        self._count += 1
        message_id = self.message_id(self._count) if at is None else MessageId(time_snowflake(at) + self._count)
        await self.put(self.seen(message_id, user, content, name, kind, reply_to, extras))
        return message_id

    async def edits(self, message_id: MessageId, user: int, content: str, *, second: int = 1) -> None:
        """Its author changes its words, `second` seconds after noon of the next day."""
        at = self.start + timedelta(days=1, seconds=second)
        seen = self.seen(message_id, user, content, None, "member", None, "{}", edited_at=at)
        await self.put(seen, key=f"update:{message_id}:{at.isoformat()}", event="MESSAGE_UPDATE")

    async def deletes(self, *message_ids: MessageId) -> None:
        """One message, or several at once."""
        await self.write(self.gone(message_id) for message_id in message_ids)

    def gone(self, message_id: MessageId) -> Incoming:
        """A deletion as the journal takes it."""
        return Incoming(
            "MESSAGE_DELETE",
            f"delete:{message_id}",
            self.scope.space_id,
            self.scope.place_id,
            message_id,
            (),
            "gateway",
            "{}",
            MessageGone(self.scope.space_id, self.scope.place_id, message_id),
        )

    def author(self, user: int, message_id: MessageId | None = None, *, governs: bool = False) -> Author:
        """Who tells the bot to remember something here."""
        return Author(self.scope, UserId(user), f"user{user}", message_id, governs)

    def seen(
        self,
        message_id: MessageId,
        user: int,
        content: str,
        name: str | None,
        kind: AuthorKind,
        reply_to: MessageId | None,
        extras: str,
        edited_at: datetime | None = None,
    ) -> MessageSeen:
        """The message as the journal takes it."""
        created = snowflake_time(message_id)
        return MessageSeen(
            self.scope.space_id,
            self.scope.place_id,
            message_id,
            UserId(user),
            kind,
            name or f"user{user}",
            content,
            reply_to,
            extras,
            created,
            edited_at or created,
            edited_at,
        )

    async def put(self, seen: MessageSeen, *, key: str | None = None, event: str = "MESSAGE_CREATE") -> None:
        """Journal one message."""
        await self.write(
            [
                Incoming(
                    event,
                    key or f"create:{seen.message_id}",
                    seen.space_id,
                    seen.place_id,
                    seen.message_id,
                    (seen.author_id,),
                    "gateway",
                    "{}",
                    seen,
                )
            ]
        )

    async def write(self, events: Iterable[Incoming]) -> None:
        """Journal events in one transaction."""
        async with self.pool.acquire() as conn, conn.transaction():
            await write_group(conn, list(events))
