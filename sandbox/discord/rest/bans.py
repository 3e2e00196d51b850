"""Bans of a guild."""

from __future__ import annotations

from sandbox.discord import payloads
from sandbox.discord.errors import unknown
from sandbox.discord.events import Payload
from sandbox.discord.moderation import MAX_BULK_BAN, MAX_DELETE_SECONDS, Ban
from sandbox.discord.permissions import Permission

from .router import Call, Reply, Routes

routes = Routes()
_ONE = "/guilds/{guild_id}/bans/{user_id}"


def _shown(ban: Ban) -> Payload:
    return {"user": payloads.user(ban.user), "reason": ban.reason}


@routes.get("/guilds/{guild_id}/bans")
def bans(call: Call) -> Reply:
    """In the order of the users' ids. With both bounds given only ``before`` counts."""
    guild, limit = call.guild(), call.limit(1000, 1000)
    before, after = call.query_id("before"), call.query_id("after")
    call.me(guild).must(Permission.BAN_MEMBERS)
    found = [guild.bans[user_id] for user_id in sorted(guild.bans)]
    if before is not None:
        found = [ban for ban in found if ban.user.id < before][-limit:]
    elif after is not None:
        found = [ban for ban in found if ban.user.id > after]
    return Reply(200, [_shown(ban) for ban in found[:limit]])


@routes.get(_ONE)
def ban(call: Call) -> Reply:
    guild = call.guild()
    call.me(guild).must(Permission.BAN_MEMBERS)
    found = guild.bans.get(call.id("user_id"))
    if found is None:
        raise unknown("Ban")
    return Reply(200, _shown(found))


@routes.put(_ONE)
def create(call: Call) -> Reply:
    guild, seconds = call.guild(), _delete_seconds(call)
    call.form.done()
    call.world.moderation.ban(guild, call.user(), by=call.me(guild), delete_seconds=seconds, reason=call.reason)
    return Reply(204)


@routes.delete(_ONE)
def remove(call: Call) -> Reply:
    guild = call.guild()
    call.world.moderation.unban(guild, call.user(), by=call.me(guild), reason=call.reason)
    return Reply(204)


@routes.post("/guilds/{guild_id}/bulk-ban")
def bulk(call: Call) -> Reply:
    guild, seconds = call.guild(), _delete_seconds(call)
    ids = call.form.snowflakes("user_ids", least=1, most=MAX_BULK_BAN)
    if not call.form.has("user_ids"):
        call.form.error("user_ids", "BASE_TYPE_REQUIRED", "This field is required")
    call.form.done()
    users = [call.world.users[user_id] for user_id in ids if user_id in call.world.users]
    done = call.world.moderation.ban_all(guild, users, by=call.me(guild), delete_seconds=seconds, reason=call.reason)
    banned = [str(user.id) for user in done]
    failed = [str(user_id) for user_id in ids if str(user_id) not in banned]
    return Reply(200, {"banned_users": banned, "failed_users": failed})


def _delete_seconds(call: Call) -> int:
    """How far back messages go with the ban; days are the older way to say it.

    The documentation has them in the body, discord.py in the query.
    """
    for name in ("delete_message_days", "delete_message_seconds"):
        if name in call.query:
            call.form.data[name] = call.query[name]
    days = call.form.integer("delete_message_days", most=7)
    seconds = call.form.integer("delete_message_seconds", most=MAX_DELETE_SECONDS)
    return (days or 0) * 86_400 if seconds is None else seconds
