"""What Discord's facts say of a case: whether what was asked for stands there now. Pure; nothing is asked here.

True   it is so, as far as facts can tell by this case
False  it is not so
None   facts do not tell: nobody can know from them alone
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from bot.moderation.cases import Case
from bot.moderation.deeds import DeedName
from bot.moderation.rules import Situation, is_locked
from bot.moderation.wording import is_of_case

SLACK: Final = timedelta(minutes=15)
"""How much later than its case a time-out may have begun: cut off, and gone on with."""


def stands(case: Case, at: Situation) -> bool | None:
    """Whether what the case asked for is so. `at` was looked at for its order."""
    look = _LOOKS.get(case.order.deed)
    return None if look is None or not at.is_guild else look(case, at)


def lapsed(case: Case, at: Situation) -> bool:
    """Whether what a case did for a time, or for good, is no longer so, by somebody's hand."""
    return case.state == "done" and case.order.deed in _LASTING and stands(case, at) is False


def _ban(case: Case, at: Situation) -> bool | None:
    if not at.mine.ban_members:
        return None
    why = at.banned.get(case.object_id)
    # Who was banned anew by somebody else has a ban with another reason.
    return why is not None and is_of_case(why, case.case_no or 0)


def _unban(case: Case, at: Situation) -> bool | None:
    return case.object_id not in at.banned if at.mine.ban_members else None


def _kick(case: Case, at: Situation) -> bool | None:
    """Who is absent may have left, and who joined later may have been kicked."""
    member = at.members.get(case.object_id)
    came_later = member is None or member.joined_at is None or member.joined_at > case.made_at
    return None if came_later else False


def _timeout(case: Case, at: Situation) -> bool | None:
    member = at.members.get(case.object_id)
    if member is None:
        return None
    begun = case.made_at + timedelta(seconds=case.order.seconds or 0)
    if member.timed_out_until is None:
        # Over by itself, where its time is up.
        return None if begun <= at.looked_at else False
    return begun - timedelta(minutes=1) <= member.timed_out_until <= begun + SLACK


def _untimeout(case: Case, at: Situation) -> bool | None:
    member = at.members.get(case.object_id)
    return None if member is None else not member.timed_out


def _role(case: Case, at: Situation) -> bool | None:
    member = at.members.get(case.object_id)
    if member is None:
        return None
    has = any(each.role_id == case.order.role_id for each in member.roles)
    return has == (case.order.deed == "role_add")


def _nickname(case: Case, at: Situation) -> bool | None:
    member = at.members.get(case.object_id)
    return None if member is None else (member.nick or "") == (case.order.name or "")


def _lock(case: Case, at: Situation) -> bool | None:
    return None if at.place is None else is_locked(at.place) == (case.order.deed == "lock")


def _channel(case: Case, at: Situation) -> bool | None:
    """Its slow mode, its name, its topic: those that were to be changed."""
    order, place = case.order, at.place
    if place is None:
        return None
    wanted = {
        "name": (order.name, place.name),
        "topic": (order.topic, place.topic or ""),
        "seconds": (order.seconds, place.slowmode_s),
    }
    return all(asked is None or asked == has for asked, has in wanted.values())


def _channel_delete(case: Case, at: Situation) -> bool | None:
    """What cannot be seen may be hidden alone; who manages channels sees them all."""
    if at.place is not None:
        return False
    return True if at.me is not None and at.me.is_administrator else None


_LASTING: Final = frozenset({"ban", "timeout", "role_add", "lock"})
_LOOKS: Final[Mapping[DeedName, Callable[[Case, Situation], bool | None]]] = {
    "ban": _ban,
    "unban": _unban,
    "kick": _kick,
    "timeout": _timeout,
    "untimeout": _untimeout,
    "role_add": _role,
    "role_remove": _role,
    "nickname": _nickname,
    "lock": _lock,
    "unlock": _lock,
    "slowmode": _channel,
    "channel_edit": _channel,
    "channel_delete": _channel_delete,
}
