"""Whether an order may be carried out on one object: a pure decision over Discord's own facts (I5).

The rules, in order, and the first that stands against it is said:

    in a guild . the requester is there and may . the bot may . the object is there . itself, the bot, another bot .
    the owner . the requester's rank . the bot's rank . what the deed itself asks . it is so already
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import discord

from bot.facts import MemberFacts, PlaceFacts, RoleFacts, UserFacts
from bot.moderation.deeds import IN_THREADS, Deed, DeedName
from bot.moderation.orders import Order

SEND: Final = discord.Permissions(
    send_messages=True, send_messages_in_threads=True, create_public_threads=True, create_private_threads=True
).value
"""What @everyone cannot do in a channel that is locked."""

_LOCKABLE: Final = frozenset({0, 5, 10, 11, 12, 15, 16})
_PURGEABLE: Final = frozenset({0, 2, 5, 10, 11, 12, 13})


_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Refused:
    """It may not be. `code` is stable; `message` is one plain sentence for the requester."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that the decision rests on, as Discord has it now.

    `theirs` and `mine` are what requester and bot may do where it is to be done: in the place, else in the guild.
    `banned`: who of those that it meets is banned, and why by Discord's record.
    """

    own_id: int
    is_guild: bool
    requester: MemberFacts | None
    me: MemberFacts | None
    theirs: discord.Permissions
    mine: discord.Permissions
    place: PlaceFacts | None = None
    role: RoleFacts | None = None
    members: Mapping[int, MemberFacts] = field(default_factory=dict[int, MemberFacts])
    users: Mapping[int, UserFacts] = field(default_factory=dict[int, UserFacts])
    banned: Mapping[int, str] = field(default_factory=dict[int, str])
    guild_name: str = ""
    looked_at: datetime = _NEVER

    def name_of(self, user_id: int) -> str:
        """How they are called, for the record."""
        member, user = self.members.get(user_id), self.users.get(user_id)
        return member.display_name if member is not None else user.name if user is not None else ""


def judge(order: Order, object_id: int, at: Situation) -> Refused | None:
    """What stands against carrying out the order on this object; None where nothing does."""
    deed = order.declared
    refused = _general(deed, at)
    if refused is None and deed.target in ("member", "user"):
        refused = _member(deed, object_id, at)
    if refused is None and deed.target == "place":
        refused = _place(deed, at)
    own = _OWN.get(deed.name)
    return refused if refused is not None or own is None else own(order, object_id, at)


def label(permission: str) -> str:
    """A permission as Discord's settings call it."""
    return {"moderate_members": "Timeout Members"}.get(permission, permission.replace("_", " ").title())


def _general(deed: Deed, at: Situation) -> Refused | None:
    if not at.is_guild:
        return Refused("no_guild", "This works only in a server, so nothing was done.")
    if at.requester is None:
        return Refused("requester_gone", "You are not a member of this server, so nothing was done.")
    if at.me is None:
        return Refused("bot_gone", "I am not a member of this server any more, so nothing was done.")
    if deed.target == "place" and at.place is None:
        return Refused("no_such_place", "I see no such channel here, so nothing was done.")
    if at.requester.timed_out:
        return Refused("requester_timed_out", "You are timed out yourself, so nothing was done.")
    for needed in _needed(deed, deed.needs, at):
        if not getattr(at.theirs, needed):
            return Refused("requester_may_not", f"You need the permission “{label(needed)}” for this.")
    for needed in _needed(deed, deed.needs if deed.bot_needs is None else deed.bot_needs, at):
        if not getattr(at.mine, needed):
            return Refused("bot_may_not", f"I lack the permission “{label(needed)}” for this; nothing was done.")
    return None


def _needed(deed: Deed, permission: str, at: Situation) -> tuple[str, ...]:
    """The permissions that are looked at: in a thread those of threads; in a channel it must be seen, too."""
    if not permission:
        return ()
    if deed.target != "place" or at.place is None:
        return (permission,)
    if at.place.is_thread:
        permission = IN_THREADS.get(permission, permission)
    seen = ("view_channel", "read_message_history") if deed.name == "purge" else ("view_channel",)
    return (*seen, permission)


def _member(deed: Deed, user_id: int, at: Situation) -> Refused | None:
    member, user, who = at.members.get(user_id), at.users.get(user_id), f"<@{user_id}>"
    requester, _ = _both(at)
    if member is None and user is None:
        return Refused("no_such_user", f"Discord knows nobody by the id {user_id}, so nothing was done.")
    if member is None and deed.target == "member":
        return Refused("absent", f"{who} is not in this server (any more), so nothing was done.")
    if user_id == at.own_id and (deed.punishes or deed.ranks):
        return Refused("bot_itself", "I do not do this to myself.")
    if user_id == requester.user_id and deed.punishes:
        return Refused("yourself", "You cannot do this to yourself; nothing was done.")
    if deed.punishes and (member.is_bot if member is not None else user is not None and user.is_bot):
        return Refused("other_bot", f"{who} is a bot: manage it under Server Settings > Integrations.")
    if member is None or not deed.ranks:
        return None
    return _ranks(member, at, who)


def _ranks(member: MemberFacts, at: Situation, who: str) -> Refused | None:
    """The hierarchy, both ways. Oneself is no rank of one's own."""
    requester, me = _both(at)
    if member.is_owner:
        return Refused("owner", f"{who} owns this server, so nobody can do this to them.")
    if member.user_id != requester.user_id and not requester.stands_above(member):
        return Refused("requester_outranked", f"{who} does not stand below you in the roles here; nothing was done.")
    if not me.stands_above(member):
        return Refused("bot_outranked", f"{who} does not stand below my own role here; nothing was done.")
    return None


def _both(at: Situation) -> tuple[MemberFacts, MemberFacts]:
    """Requester and bot, who are there: else it was refused before."""
    assert at.requester is not None  # noqa: S101
    assert at.me is not None  # noqa: S101
    return at.requester, at.me


def _place(deed: Deed, at: Situation) -> Refused | None:
    assert at.place is not None  # noqa: S101 - refused before
    kinds = {"purge": _PURGEABLE, "lock": _LOCKABLE, "unlock": _LOCKABLE}.get(deed.name)
    if kinds is not None and at.place.kind not in kinds:
        return Refused("wrong_kind", "This cannot be done in a channel of that kind; nothing was done.")
    return None


def _ban(order: Order, user_id: int, at: Situation) -> Refused | None:
    if user_id in at.banned:
        return Refused("already", f"<@{user_id}> is banned already; nothing was done.")
    return None


def _unban(order: Order, user_id: int, at: Situation) -> Refused | None:
    if user_id not in at.banned:
        return Refused("already", f"<@{user_id}> is not banned here; nothing was done.")
    return None


def _timeout(order: Order, user_id: int, at: Situation) -> Refused | None:
    if at.members[user_id].is_administrator:
        return Refused(
            "administrator", f"<@{user_id}> is an administrator, whom Discord lets nobody time out; nothing was done."
        )
    return None


def _untimeout(order: Order, user_id: int, at: Situation) -> Refused | None:
    if not at.members[user_id].timed_out:
        return Refused("already", f"<@{user_id}> is not timed out; nothing was done.")
    return None


def _role(order: Order, user_id: int, at: Situation) -> Refused | None:
    role, member = at.role, at.members[user_id]
    requester, me = _both(at)
    if role is None:
        return Refused("no_such_role", "There is no such role here, so nothing was done.")
    if role.managed or role.position == 0:
        return Refused("fixed_role", f"{role.name} is a role that nobody gives or takes by hand; nothing was done.")
    if not requester.outranks(role):
        return Refused("requester_outranked", f"The role {role.name} does not stand below yours; nothing was done.")
    if not me.outranks(role):
        return Refused("bot_outranked", f"The role {role.name} does not stand below mine; nothing was done.")
    has = any(each.role_id == role.role_id for each in member.roles)
    if has == (order.deed == "role_add"):
        state = "has" if has else "does not have"
        return Refused("already", f"<@{user_id}> {state} the role {role.name} anyway; nothing was done.")
    return None


def _nickname(order: Order, user_id: int, at: Situation) -> Refused | None:
    if (at.members[user_id].nick or "") == (order.name or ""):
        return Refused("already", f"<@{user_id}> is called so already; nothing was done.")
    return None


def _slowmode(order: Order, place_id: int, at: Situation) -> Refused | None:
    if at.place is not None and at.place.slowmode_s == (order.seconds or 0):
        return Refused("already", f"The slow mode of <#{place_id}> is so already; nothing was done.")
    return None


def _lock(order: Order, place_id: int, at: Situation) -> Refused | None:
    assert at.place is not None  # noqa: S101 - refused before
    locked = is_locked(at.place)
    if order.overwrite is None and locked == (order.deed == "lock"):
        return Refused("already", f"<#{place_id}> is {'locked' if locked else 'not locked'} as it is.")
    return None


def _purge(order: Order, place_id: int, at: Situation) -> Refused | None:
    if not order.messages:
        return Refused("nothing", "There is no such message to delete; nothing was done.")
    return None


def is_locked(place: PlaceFacts) -> bool:
    """Whether @everyone may not write there (or the thread is locked)."""
    if place.is_thread:
        return place.locked
    everyone = next((each for each in place.overwrites if each.target_id == place.guild_id), None)
    return everyone is not None and bool(everyone.deny & discord.Permissions(send_messages=True).value)


_OWN: Final[Mapping[DeedName, Callable[[Order, int, Situation], Refused | None]]] = {
    "ban": _ban,
    "unban": _unban,
    "timeout": _timeout,
    "untimeout": _untimeout,
    "role_add": _role,
    "role_remove": _role,
    "nickname": _nickname,
    "slowmode": _slowmode,
    "lock": _lock,
    "unlock": _lock,
    "purge": _purge,
}
