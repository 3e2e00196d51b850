"""Gathering what a decision on an order rests on, fresh, at the moment of the decision (I5)."""

import asyncio
from datetime import UTC, datetime
from typing import Final

import discord

from bot.errors import ReadFailed, ReadFault
from bot.facts import Facts, MemberFacts
from bot.moderation.orders import Order
from bot.moderation.rules import Situation
from bot.rest import Reads
from memory.ids import PlaceId, UserId
from memory.scope import Scope

_NOBODY: Final = discord.Permissions.none()


class Situations:
    """Looks, once for each decision. `own_id`: the bot's user."""

    def __init__(self, reads: Reads, own_id: int) -> None:
        self._reads = reads
        self._own_id = own_id

    async def look(self, order: Order, requester_id: UserId, scope: Scope) -> Situation:
        """All that the decision rests on. Raises ReadFailed where Discord cannot say."""
        facts = Facts(self._reads, scope.space_id, self._own_id)
        try:
            async with asyncio.TaskGroup() as group:
                looking = group.create_task(self._look(facts, order, requester_id, scope))
        except* ReadFault as faults:
            raise ReadFailed("facts") from faults.exceptions[0]
        return looking.result()

    async def _look(self, facts: Facts, order: Order, requester_id: UserId, scope: Scope) -> Situation:
        me_id = UserId(self._own_id)
        if not await _in_guild(facts, scope):
            return Situation(self._own_id, False, None, None, _NOBODY, _NOBODY)
        requester, me = await facts.member(requester_id), await facts.member(me_id)
        deed = order.declared
        place = None
        theirs, mine = _of(requester), _of(me)
        if deed.target == "place":
            place_id = PlaceId(order.place_id or scope.place_id)
            place = await facts.place(place_id)
            theirs, mine = await facts.permissions(requester_id, place_id), await facts.permissions(me_id, place_id)
        found = {each: await facts.member(UserId(each)) for each in order.users}
        members = {each: member for each, member in found.items() if member is not None}
        users = {each: user for each in order.users if each not in members and (user := await facts.user(UserId(each)))}
        looks_at_bans = deed.name in ("ban", "unban") and mine.ban_members
        banned = dict[int, str]()
        for each in order.users if looks_at_bans else ():
            if (why := await facts.ban_of(UserId(each))) is not None:
                banned[each] = why
        return Situation(
            self._own_id,
            True,
            requester,
            me,
            theirs,
            mine,
            place,
            await facts.role(order.role_id) if order.role_id is not None else None,
            members,
            users,
            banned,
            await facts.guild_name(),
            datetime.now(UTC),
        )


async def _in_guild(facts: Facts, scope: Scope) -> bool:
    """Whether it was asked for in a guild; the first channel of an old guild has the guild's own id."""
    if scope.space_id != scope.place_id:
        return True
    here = await facts.place(scope.place_id)
    return here is not None and not here.is_direct


def _of(member: MemberFacts | None) -> discord.Permissions:
    return _NOBODY if member is None else member.permissions
