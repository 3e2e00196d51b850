"""Guilds, their members, roles, channels and active threads."""

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, unknown

from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/guilds/{guild_id}")
def guild(call: Call) -> Reply:
    found = call.guild()
    body = payloads.guild(found)
    if call.query.get("with_counts") in ("true", "1"):
        body |= {"approximate_member_count": len(found.members), "approximate_presence_count": len(found.members)}
    return Reply(200, body)


@routes.get("/guilds/{guild_id}/channels")
def channels(call: Call) -> Reply:
    return Reply(200, [payloads.channel(channel) for channel in call.guild().channels.values()])


@routes.get("/guilds/{guild_id}/roles")
def roles(call: Call) -> Reply:
    return Reply(200, [payloads.role(role) for role in call.guild().roles.values()])


@routes.get("/guilds/{guild_id}/roles/{role_id}")
def role(call: Call) -> Reply:
    found = call.guild().roles.get(call.id("role_id"))
    if found is None:
        raise unknown("Role")
    return Reply(200, payloads.role(found))


@routes.get("/guilds/{guild_id}/members")
def members(call: Call) -> Reply:
    """By id, after ``after``. Needs the members intent to be switched on for the application."""
    limit, after = call.limit(1, 1000), call.query_id("after") or 0
    if not call.world.application.flags & 1 << 15:
        raise Refusal(403, 50001, "Missing Access")
    found = sorted(call.guild().members.values(), key=lambda member: member.id)
    return Reply(200, [payloads.member(m) for m in found if m.id > after][:limit])


@routes.get("/guilds/{guild_id}/members/search")
def search_members(call: Call) -> Reply:
    prefix = call.query.get("query", "").lower()
    if not prefix:
        raise Refusal(400, 50035, "Invalid Form Body")
    found = [
        m for m in call.guild().members.values() if m.name.lower().startswith(prefix) or m.user.name.startswith(prefix)
    ]
    return Reply(200, [payloads.member(m) for m in found[: call.limit(1, 1000)]])


@routes.get("/guilds/{guild_id}/members/{user_id}")
def member(call: Call) -> Reply:
    found, user_id = call.guild(), call.id("user_id")
    if user_id not in found.members:
        raise unknown("Member" if user_id in call.world.users else "User")
    return Reply(200, payloads.member(found.members[user_id]))


@routes.get("/guilds/{guild_id}/threads/active")
def active_threads(call: Call) -> Reply:
    """Threads that are not archived and that the bot can see, with its own memberships."""
    bot = call.world.bot
    found = [t for t in call.guild().threads.values() if not t.archived and t.visible_to(bot)]
    found.sort(key=lambda thread: thread.id, reverse=True)
    memberships = [payloads.thread_member(t, bot.id) for t in found if bot.id in t.joined]
    return Reply(200, {"threads": [payloads.thread(t) for t in found], "members": memberships})


@routes.delete("/users/@me/guilds/{guild_id}")
def leave(call: Call) -> Reply:
    call.guild().remove_bot()
    return Reply(204)
