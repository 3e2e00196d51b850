"""Members of a guild: reading, searching, changing, kicking, and the bot's own membership."""

from __future__ import annotations

from datetime import datetime

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, invalid_form, missing_access
from sandbox.discord.people import Member, Role
from sandbox.discord.permissions import Permission

from .router import Call, Reply, Routes

routes = Routes()
_ONE = "/guilds/{guild_id}/members/{user_id}"


@routes.get("/guilds/{guild_id}/members")
def members(call: Call) -> Reply:
    """By id, after ``after``. Needs the members intent to be switched on for the application."""
    limit, after = call.limit(1, 1000), call.query_id("after") or 0
    if not call.world.application.flags & 1 << 15:
        raise missing_access()
    found = sorted(call.guild().members.values(), key=lambda member: member.id)
    return Reply(200, [payloads.member(m) for m in found if m.id > after][:limit])


@routes.get("/guilds/{guild_id}/members/search")
def search(call: Call) -> Reply:
    """Whose handle, shown name or nickname begins so."""
    prefix = call.query.get("query", "").lower()
    if not prefix:
        raise invalid_form("query", "BASE_TYPE_REQUIRED", "This field is required")
    found = [m for m in call.guild().members.values() if _begins(m, prefix)]
    return Reply(200, [payloads.member(m) for m in found[: call.limit(1, 1000)]])


def _begins(member: Member, prefix: str) -> bool:
    names = (member.nick or "", member.user.display_name, member.user.name)
    return any(name.lower().startswith(prefix) for name in names)


@routes.get(_ONE)
def member(call: Call) -> Reply:
    return Reply(200, payloads.member(call.member(call.guild())))


@routes.patch("/guilds/{guild_id}/members/@me")
def change_self(call: Call) -> Reply:
    guild = call.guild()
    me, nick = call.me(guild), call.form.text("nick", most=32)
    call.form.done()
    if call.form.has("nick"):
        call.world.moderation.rename(me, nick, by=me, reason=call.reason)
    return Reply(200, payloads.member(me))


@routes.patch(_ONE)
def change(call: Call) -> Reply:
    """Each field needs its own permission; all are looked at before anything is changed."""
    guild = call.guild()
    found, me, form, now = call.member(guild), call.me(guild), call.form, call.world.clock.now()
    nick, until = form.text("nick", most=32), _time(call, "communication_disabled_until")
    wanted = _roles(call) if form.data.get("roles") is not None else None
    form.done()
    if form.data.get("mute") is not None or form.data.get("deaf") is not None:
        me.must(Permission.MUTE_MEMBERS if form.data.get("mute") is not None else Permission.DEAFEN_MEMBERS)
        raise Refusal(400, 40032, "Target user is not connected to voice.")
    if form.has("channel_id"):
        me.must(Permission.MOVE_MEMBERS)
        raise Refusal(400, 40032, "Target user is not connected to voice.")
    moderation = call.world.moderation
    if form.has("nick"):
        moderation.check_rename(found, me)
    if form.has("communication_disabled_until"):
        moderation.check_time_out(found, until, me)
    if wanted is not None:
        add = tuple(role for role in wanted if role not in found.roles)
        remove = tuple(role for role in found.roles if role not in wanted)
        call.world.roles.assign(found, add=add, remove=remove, by=me, reason=call.reason)
    if form.has("nick"):
        moderation.rename(found, nick, by=me, reason=call.reason)
    if form.has("communication_disabled_until"):
        over = until is not None and until <= now
        moderation.time_out(found, None if over else until, by=me, reason=call.reason)
    return Reply(200, payloads.member(found))


def _roles(call: Call) -> list[Role]:
    ids, guild = call.form.snowflakes("roles", most=250), call.guild()
    for role_id in ids:
        if role_id not in guild.roles:
            call.form.error("roles", "INVALID_ROLE", f"Invalid role {role_id}")
    return [guild.roles[role_id] for role_id in ids if role_id in guild.roles]


def _time(call: Call, name: str) -> float | None:
    text = call.form.text(name, most=64)
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        call.form.error(name, "DATE_TIME_TYPE_PARSE", f"Could not parse {text}. Should be ISO8601.")
        return None


@routes.delete(_ONE)
def kick(call: Call) -> Reply:
    guild = call.guild()
    call.world.moderation.kick(call.member(guild), by=call.me(guild), reason=call.reason)
    return Reply(204)


@routes.delete("/users/@me/guilds/{guild_id}")
def leave(call: Call) -> Reply:
    call.guild().remove_bot()
    return Reply(204)
