"""An order as what is asked of Discord, and what is kept so that it can be undone."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bot.bodies import Body
from bot.facts import MemberFacts, PlaceFacts
from bot.moderation.deeds import DeedName
from bot.moderation.orders import Order
from bot.moderation.rules import SEND, Situation
from bot.outgoing import Change
from bot.standing import UNKNOWN_CHANNEL, UNKNOWN_MEMBER

UNKNOWN_BAN: Final = 10026
UNKNOWN_OVERWRITE: Final = 10009
_ROLE, _MEMBER = 0, 1


def changes_of(order: Order, object_id: int, at: Situation, guild_id: int, *, reason: str) -> list[Change]:
    """What Discord is asked for, in order; nothing for a deed that changes nothing there (a warning, a note)."""
    make = _CHANGES.get(order.deed)
    if make is None:
        return []
    wanted = make(order, object_id, at, guild_id)
    beside = _own_voice(order, object_id, at)
    # Who may not write does not unlock, either: the bot's own voice comes first, and goes last.
    first = [beside, wanted] if order.deed == "lock" else [wanted, beside]
    return [replace(each, reason=reason) for each in first if each is not None]


def before(order: Order, object_id: int, at: Situation) -> dict[str, object]:
    """What undoing it brings back, as it stands now."""
    member, place = at.members.get(object_id), at.place
    match order.deed:
        case "nickname" if member is not None:
            return {"name": member.nick or ""}
        case "slowmode" if place is not None:
            return {"seconds": place.slowmode_s}
        case "lock" | "unlock" if place is not None and not place.is_thread:
            return {"overwrite": [str(each) for each in _everyone(place)]}
        case "channel_edit" if place is not None:
            fields: dict[str, object | None] = {
                "name": place.name if order.name is not None else None,
                "topic": place.topic or "" if order.topic is not None else None,
                "seconds": place.slowmode_s if order.seconds is not None else None,
            }
            return {name: value for name, value in fields.items() if value is not None}
        case _:
            return {}


def undoing(order: Order, object_id: int, kept: Mapping[str, Any], case_id: int) -> Order | None:
    """The order that undoes a case; None where there is no undoing. `kept`: what `before` gave."""
    deed = order.declared.undo
    if deed is None:
        return None
    undo = Order(deed, users=(object_id,) if order.users else (), role_id=order.role_id, case_id=case_id)
    if deed == "retract":
        return replace(undo, users=())
    if order.place_id is not None:
        undo = replace(undo, place_id=order.place_id)
    if deed == "channel_delete":
        made = kept.get("made")
        return None if made is None else replace(undo, place_id=int(made))
    overwrite = kept.get("overwrite")
    return replace(
        undo,
        name=kept.get("name"),
        topic=kept.get("topic"),
        seconds=kept.get("seconds"),
        overwrite=(int(overwrite[0]), int(overwrite[1])) if overwrite else None,
    )


_GUILD: Final = "/guilds/{guild_id}"
_BAN: Final = _GUILD + "/bans/{user_id}"
_MEMBER_PATH: Final = _GUILD + "/members/{user_id}"
_MEMBER_ROLE: Final = _MEMBER_PATH + "/roles/{role_id}"
_CHANNEL: Final = "/channels/{channel_id}"
_OVERWRITE: Final = _CHANNEL + "/permissions/{target_id}"


def _ban(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    body = {"delete_message_seconds": order.delete_s}
    return Change("PUT", _BAN, {"guild_id": guild_id, "user_id": user_id}, user_id, body)


def _unban(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    ids = {"guild_id": guild_id, "user_id": user_id}
    return Change("DELETE", _BAN, ids, user_id, done=frozenset({UNKNOWN_BAN}))


def _kick(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    ids = {"guild_id": guild_id, "user_id": user_id}
    return Change("DELETE", _MEMBER_PATH, ids, user_id, done=frozenset({UNKNOWN_MEMBER}))


def _member(guild_id: int, user_id: int, body: Body) -> Change:
    return Change("PATCH", _MEMBER_PATH, {"guild_id": guild_id, "user_id": user_id}, user_id, body)


def _timeout(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    until = None
    if order.deed == "timeout":
        until = (datetime.now(UTC) + timedelta(seconds=order.seconds or 0)).isoformat()
    return _member(guild_id, user_id, {"communication_disabled_until": until})


def _nickname(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    if user_id == at.own_id:
        # One's own has a route and a permission of its own.
        return Change("PATCH", _GUILD + "/members/@me", {"guild_id": guild_id}, user_id, {"nick": order.name or ""})
    return _member(guild_id, user_id, {"nick": order.name or ""})


def _role(order: Order, user_id: int, at: Situation, guild_id: int) -> Change:
    ids = {"guild_id": guild_id, "user_id": user_id, "role_id": order.role_id or 0}
    return Change("PUT" if order.deed == "role_add" else "DELETE", _MEMBER_ROLE, ids, user_id)


def _channel(place_id: int, body: Body) -> Change:
    return Change("PATCH", _CHANNEL, {"channel_id": place_id}, place_id, body)


def _slowmode(order: Order, place_id: int, at: Situation, guild_id: int) -> Change:
    return _channel(place_id, {"rate_limit_per_user": order.seconds or 0})


def _lock(order: Order, place_id: int, at: Situation, guild_id: int) -> Change:
    """@everyone's overwrite; roles that have their own go on writing. A thread is locked as such."""
    assert at.place is not None  # noqa: S101 - judged before
    if at.place.is_thread:
        return _channel(place_id, {"locked": order.deed == "lock"})
    allow, deny = _everyone(at.place)
    # Nobody can deny what they may not do themselves.
    touched = SEND & at.mine.value
    if order.overwrite is not None:
        # Only what a lock touches is brought back: the rest may have been changed since.
        allow, deny = allow & ~touched | order.overwrite[0] & touched, deny & ~touched | order.overwrite[1] & touched
    elif order.deed == "lock":
        allow, deny = allow & ~touched, deny | touched
    else:
        allow, deny = allow & ~touched, deny & ~touched
    return _overwrite(place_id, guild_id, _ROLE, allow, deny)


def _overwrite(place_id: int, target_id: int, kind: int, allow: int, deny: int) -> Change:
    body = {"type": kind, "allow": str(allow), "deny": str(deny)}
    return Change("PUT", _OVERWRITE, {"channel_id": place_id, "target_id": target_id}, place_id, body)


def _own_voice(order: Order, place_id: int, at: Situation) -> Change | None:
    """The bot's own overwrite in a channel that it locks, so that it can put cards there, and without it again."""
    place, me = at.place, at.me
    if order.deed not in ("lock", "unlock") or place is None or me is None or place.is_thread or me.is_administrator:
        return None
    voice = SEND & at.mine.value
    own = next((each for each in place.overwrites if each.target_id == at.own_id), None)
    if order.deed == "lock":
        allow, deny = (0, 0) if own is None else (own.allow, own.deny)
        return _overwrite(place_id, at.own_id, _MEMBER, allow | voice, deny & ~voice)
    if own is None or own.deny or own.allow & ~SEND:
        return None
    ids = {"channel_id": place_id, "target_id": at.own_id}
    return Change("DELETE", _OVERWRITE, ids, place_id, done=frozenset({UNKNOWN_OVERWRITE}))


def _everyone(place: PlaceFacts) -> tuple[int, int]:
    """What @everyone is allowed and denied there."""
    own = next((each for each in place.overwrites if each.target_id == place.guild_id), None)
    return (0, 0) if own is None else (own.allow, own.deny)


def _channel_fields(order: Order) -> Body:
    fields: dict[str, object | None] = {
        "name": order.name,
        "topic": order.topic,
        "rate_limit_per_user": order.seconds,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _channel_create(order: Order, object_id: int, at: Situation, guild_id: int) -> Change:
    body = {**_channel_fields(order), "type": order.kind or 0}
    return Change("POST", _GUILD + "/channels", {"guild_id": guild_id}, guild_id, body, again=False)


def _channel_edit(order: Order, place_id: int, at: Situation, guild_id: int) -> Change:
    return _channel(place_id, _channel_fields(order))


def _channel_delete(order: Order, place_id: int, at: Situation, guild_id: int) -> Change:
    return Change("DELETE", _CHANNEL, {"channel_id": place_id}, place_id, done=frozenset({UNKNOWN_CHANNEL}))


_CHANGES: Final[Mapping[DeedName, Callable[[Order, int, Situation, int], Change]]] = {
    "ban": _ban,
    "unban": _unban,
    "kick": _kick,
    "timeout": _timeout,
    "untimeout": _timeout,
    "nickname": _nickname,
    "role_add": _role,
    "role_remove": _role,
    "slowmode": _slowmode,
    "lock": _lock,
    "unlock": _lock,
    "channel_create": _channel_create,
    "channel_edit": _channel_edit,
    "channel_delete": _channel_delete,
}


def highest(member: MemberFacts) -> str:
    """The name of their highest role."""
    return member.roles[0].name if member.roles else "@everyone"
