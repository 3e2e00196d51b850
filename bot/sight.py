"""Gathering what a decision rests on, fresh, at the moment of the decision (I5).

Discord is asked for place, people and message; PostgreSQL for what the requester said, as it stands now, and for what
was done on account of it before. Raises ReadFailed where Discord cannot say: unknown is never yes.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import discord
from discord.http import Route

from bot.addressing import PERSONAL_TYPES, Identity
from bot.authority import MessageFacts, Person, Sight, bare
from bot.errors import ReadFailed, ReadFault, ReadRefused
from bot.facts import Facts, MemberFacts
from bot.governing import Governing, governs, roles_named
from bot.meaning import Words
from bot.payloads import snowflake
from bot.rest import Reads
from bot.wishes import Wish
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, SpaceId, UserId
from memory.items import Author, Sought, Target, sought
from memory.scope import Scope
from tools.actions import Forget, RemoveOwnReaction, UnpinMessage


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator set: whether actions are on where nobody switched them, where they are off, and who owns us."""

    actions: bool
    off_in: frozenset[int]
    owners: frozenset[int]

    def enabled(self, space_id: SpaceId, row: bool | None) -> bool:
        """Whether actions are on in this space; `row` is what was set for it."""
        return row if row is not None else self.actions and space_id not in self.off_in


@dataclass(frozen=True, slots=True)
class Asker:
    """Who wants something, and where: the turn's, or the card's."""

    scope: Scope
    trigger_id: MessageId
    requester_id: UserId


# What was asked in the requester's own words, as it stands now; what was done and asked back on account of it; and
# whether actions are on here. The newest message of ours before it is looked for among the last 200 of the place.
GROUNDS_SQL: Final = """
SELECT m.content, m.author_id, m.author_name, m.reply_to_id,
       m.message_id IS NULL OR m.deleted_at IS NOT NULL AS gone,
       (SELECT n.message_id FROM (
            SELECT o.message_id, o.author_kind, o.deleted_at FROM chat_messages o
            WHERE o.space_id = $1 AND o.place_id = $2 AND o.message_id < $3 ORDER BY o.message_id DESC LIMIT 200) AS n
        WHERE n.author_kind = 'self' AND n.deleted_at IS NULL ORDER BY n.message_id DESC LIMIT 1) AS last_own,
       (SELECT count(*) FROM action_receipts r
        WHERE r.space_id = $1 AND r.trigger_id = $3 AND r.action = $4 AND r.args_digest <> $5
          AND r.state <> 'refused' AND r.card_id IS NULL) AS done,
       EXISTS (SELECT FROM action_receipts r
               WHERE r.space_id = $1 AND r.trigger_id = $3 AND r.action = $4 AND r.args_digest = $5
                 AND r.state IN ('intended', 'unknown')) AS begun,
       (SELECT count(*) FROM action_cards c WHERE c.space_id = $1 AND c.trigger_id = $3) AS cards,
       setting_of($1, $2, 'actions') = 'true' AS enabled,
       setting_of($1, 0, 'admin_role_ids')::text AS admin_roles
FROM (SELECT 1) AS one
LEFT JOIN chat_messages m ON m.space_id = $1 AND m.message_id = $3
"""


class Sights:
    """Looks, once for each decision."""

    def __init__(self, pool: Pool, reads: Reads, me: Identity, policy: Policy) -> None:
        self._pool = pool
        self._reads = reads
        self._me = me
        self._policy = policy

    async def look(self, wish: Wish, asker: Asker, *, confirmed: bool) -> Sight:
        """All that the decision on this wish rests on."""
        facts = Facts(self._reads, asker.scope.space_id, self._me.user_id)
        try:
            async with asyncio.TaskGroup() as group:
                grounds = group.create_task(self._grounds(wish, asker))
                place = group.create_task(facts.place(wish.place_id))
                theirs = group.create_task(self._permissions(facts, asker.requester_id, wish))
                mine = group.create_task(self._permissions(facts, UserId(self._me.user_id), wish))
                member = group.create_task(self._member(facts, asker))
                message = group.create_task(self._message(wish, asker))
        except* ReadFault as faults:
            raise ReadFailed("facts") from faults.exceptions[0]
        row, memory = grounds.result()
        governing = self._governs(asker, member.result(), row["admin_roles"])
        return Sight(
            enabled=self._policy.enabled(asker.scope.space_id, row["enabled"]),
            requester=Person(asker.requester_id, theirs.result(), governing),
            me=Person(UserId(self._me.user_id), mine.result()),
            here=asker.scope.place_id,
            trigger_id=asker.trigger_id,
            place=place.result(),
            message=message.result(),
            words=_words(row, asker, self._me),
            done=row["done"],
            cards=row["cards"],
            begun=row["begun"],
            memory=memory,
            confirmed=confirmed,
        )

    async def governs(self, asker: Asker) -> bool:
        """Whether the requester may write for the whole channel or guild."""
        governing = Governing(self._pool, self._reads, self._me, self._policy.owners)
        return await governing.governs(asker.scope, asker.requester_id)

    def _governs(self, asker: Asker, member: MemberFacts | None, named: str | None) -> bool:
        return governs(asker.requester_id, member, self._policy.owners, roles_named(named))

    async def _member(self, facts: Facts, asker: Asker) -> MemberFacts | None:
        if asker.scope.space_id == asker.scope.place_id:
            # A direct conversation has no members; but an old guild's first channel has the guild's own id.
            here = await facts.place(asker.scope.place_id)
            if here is None or here.is_direct:
                return None
        return await facts.member(asker.requester_id)

    async def _permissions(self, facts: Facts, user_id: UserId, wish: Wish) -> discord.Permissions:
        if wish.is_memory:
            return discord.Permissions.none()
        return await facts.permissions(user_id, wish.place_id)

    async def _grounds(self, wish: Wish, asker: Asker) -> tuple[Mapping[str, Any], Sought | None]:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(
                GROUNDS_SQL, asker.scope.space_id, asker.scope.place_id, asker.trigger_id, wish.name, wish.digest
            )
            memory = None
            if isinstance(wish.action, Forget):
                target = Target(wish.action.memory_id, wish.action.key, wish.action.scope)
                memory = await sought(conn, Author(asker.scope, asker.requester_id, ""), target)
        assert row is not None  # noqa: S101 - the statement begins with one row
        return cast("Mapping[str, Any]", row), memory

    async def _message(self, wish: Wish, asker: Asker) -> MessageFacts | None:
        if wish.message_id is None:
            return None
        undoes = isinstance(wish.action, RemoveOwnReaction | UnpinMessage)
        if not undoes and wish.message_id == asker.trigger_id and wish.place_id == asker.scope.place_id:
            # The journal has it, and says whether it still stands; what was done to it, Discord says.
            return MessageFacts(asker.trigger_id, asker.requester_id)
        path = "/channels/{channel_id}/messages/{message_id}"
        try:
            data = await self._reads.get(Route("GET", path, channel_id=wish.place_id, message_id=wish.message_id))
            return MessageFacts(
                MessageId(snowflake(data["id"])),
                UserId(snowflake(data["author"]["id"])),
                int(data.get("type") or 0) not in PERSONAL_TYPES | {20, 23},
                bool(data.get("pinned")),
                frozenset(_named(each["emoji"]) for each in data.get("reactions") or () if each.get("me")),
            )
        except ReadRefused:
            return None
        except (KeyError, TypeError, ValueError) as error:
            raise ReadFailed("bad_answer") from error


def _words(row: Mapping[str, Any], asker: Asker, me: Identity) -> Words:
    return Words(
        text=row["content"] or "",
        trigger_id=asker.trigger_id,
        own_id=me.user_id,
        reply_to=row["reply_to_id"],
        last_own=row["last_own"],
        author_name=row["author_name"] or "",
        # Whose words they are was decided by the turn's event; somebody else's would authorise nothing.
        gone=row["gone"] or row["author_id"] != asker.requester_id,
    )


def _named(emoji: Mapping[str, Any]) -> str:
    """An emoji of Discord's as reactions are named: a custom one as `name:id`."""
    return f"{emoji['name']}:{emoji['id']}" if emoji.get("id") else bare(str(emoji["name"]))
