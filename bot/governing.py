"""Who governs a guild: its owner, its Discord administrators, the roles that it named, and owners of the bot (I5).

Decided from Discord's own facts about the member as they are now, and from the guild's settings. Who holds a named role
may do with the bot what administrators may, but for naming roles.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, cast

import orjson

from bot.addressing import Identity
from bot.errors import CommandRefused
from bot.facts import Facts, MemberFacts
from bot.rest import Reads
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId, SpaceId, UserId
from memory.scope import Scope

# The roles that a guild named.
ADMIN_ROLES_SQL: Final = "SELECT setting_of($1, 0, 'admin_role_ids')::text"


def governs(user_id: UserId, member: MemberFacts | None, owners: Collection[int], named_roles: Iterable[int]) -> bool:
    """Whether somebody governs the guild; `member` is None where they are not in it, or there is none."""
    if user_id in owners:
        return True
    if member is None:
        return False
    return member.is_administrator or bool({role.role_id for role in member.roles} & set(named_roles))


def roles_named(setting: str | None) -> frozenset[int]:
    """The roles in a setting as it is kept; none where it is not what it should be."""
    found: object = orjson.loads(setting) if setting is not None else None
    listed = cast("list[object]", found) if isinstance(found, list) else []
    return frozenset(each for each in listed if isinstance(each, int))


@dataclass(frozen=True, slots=True)
class Governing:
    """Looks who governs, fresh each time. `owners`: of the bot, by the operator's settings."""

    pool: Pool
    reads: Reads
    me: Identity
    owners: frozenset[int]

    def facts(self, space_id: SpaceId) -> Facts:
        """The facts of one decision in a space."""
        return Facts(self.reads, space_id, self.me.user_id)

    async def governs(self, scope: Scope, user_id: UserId, facts: Facts | None = None) -> bool:
        """Whether somebody governs the space. In a direct conversation nobody does, but for owners of the bot.

        Raises ReadFailed where Discord cannot say, and what PostgreSQL raises.
        """
        if user_id in self.owners:
            return True
        # In a direct conversation there is no member; an old guild's first channel has its guild's id.
        member = await (facts or self.facts(scope.space_id)).member(user_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            named = roles_named(await conn.fetchval(ADMIN_ROLES_SQL, scope.space_id))
        return governs(user_id, member, self.owners, named)

    async def require(
        self, scope: Scope, user_id: UserId, otherwise: str, *, is_direct: bool, place_id: PlaceId | None = None
    ) -> Facts:
        """The facts by which somebody governs the space, and `place_id` is one of its places.

        Raises CommandRefused with `otherwise` where they do not, or where there is no such place; ReadFailed where
        Discord cannot say, and what PostgreSQL raises.
        """
        facts = self.facts(scope.space_id)
        if is_direct or not await self.governs(scope, user_id, facts):
            raise CommandRefused(otherwise)
        if place_id is not None and await facts.place(place_id) is None:
            raise CommandRefused("I see no such channel in this server, so nothing was changed.")
        return facts

    async def administers(self, scope: Scope, user_id: UserId, facts: Facts | None = None) -> bool:
        """As `governs`, without the roles that the guild named. Raises as it does."""
        if user_id in self.owners:
            return True
        # In a direct conversation there is no member; an old guild's first channel has its guild's id.
        member = await (facts or self.facts(scope.space_id)).member(user_id)
        return governs(user_id, member, self.owners, ())
