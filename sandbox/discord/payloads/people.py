"""Users, members and roles as JSON shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.discord.clock import iso
from sandbox.discord.events import Payload

if TYPE_CHECKING:
    from sandbox.discord.people import Member, Role, User


def optional(snowflake: int | None) -> str | None:
    return None if snowflake is None else str(snowflake)


def moment(seconds: float | None) -> str | None:
    return None if seconds is None else iso(seconds)


def _discriminator(who: User) -> str:
    """Bots kept their four digits, webhooks have none, people are past them."""
    if who.webhook_id is not None:
        return "0000"
    return f"{who.id % 9999 + 1:04d}" if who.bot else "0"


def user(who: User) -> Payload:
    body: Payload = {
        "id": str(who.id),
        "username": who.name,
        "global_name": None if who.bot else who.display_name,
        "discriminator": _discriminator(who),
        "avatar": None,
        "avatar_decoration_data": None,
        "clan": None,
        "primary_guild": None,
        "public_flags": 0,
    }
    if who.bot:
        body["bot"] = True
    if who.system:
        body["system"] = True
    return body


def own_user(who: User) -> Payload:
    return {**user(who), "verified": True, "mfa_enabled": True, "flags": 0, "email": None, "bio": "", "locale": "en-US"}


def member(of: Member, *, with_user: bool = True) -> Payload:
    body: Payload = {
        "roles": [str(role.id) for role in of.roles],
        "joined_at": iso(of.joined_at),
        "premium_since": moment(of.premium_since),
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": of.pending,
        "nick": of.nick,
        "avatar": None,
        "banner": None,
        "communication_disabled_until": moment(of.timed_out_until),
    }
    if with_user:
        body["user"] = user(of.user)
    return body


def presence(of: Member) -> Payload:
    shown: Payload = {} if of.status == "offline" else {"desktop": of.status}
    return {"user": {"id": str(of.id)}, "status": of.status, "activities": [], "client_status": shown}


def role(of: Role) -> Payload:
    body: Payload = {
        "id": str(of.id),
        "name": of.name,
        "description": None,
        "color": of.color,
        "colors": {"primary_color": of.color, "secondary_color": None, "tertiary_color": None},
        "hoist": of.hoist,
        "icon": None,
        "unicode_emoji": None,
        "position": of.position,
        "permissions": str(of.permissions.value),
        "managed": of.managed,
        "mentionable": of.mentionable,
        "flags": 0,
    }
    if of.bot_id is not None:
        body["tags"] = {"bot_id": str(of.bot_id)}
    if of.is_for_boosters:
        body["tags"] = {"premium_subscriber": None}
    return body
