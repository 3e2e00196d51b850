"""The bot itself, its application, other users, and opening a DM."""

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.events import Payload

from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/users/@me")
def me(call: Call) -> Reply:
    return Reply(200, payloads.own_user(call.world.bot))


@routes.get("/users/{user_id}")
def user(call: Call) -> Reply:
    found = call.world.users.get(call.id("user_id"))
    if found is None:
        raise unknown("User")
    return Reply(200, payloads.user(found))


@routes.get("/users/@me/guilds")
def guilds(call: Call) -> Reply:
    mine = [guild for guild in call.world.guilds.values() if call.world.bot.id in guild.members]
    shown: list[Payload] = [{"id": str(g.id), "name": g.name, "icon": None, "owner": False} for g in mine]
    return Reply(200, shown)


@routes.post("/users/@me/channels")
def open_dm(call: Call) -> Reply:
    recipient_id = call.form.snowflake("recipient_id", required=True)
    call.form.done()
    recipient = call.world.users.get(recipient_id or 0)
    if recipient is None or recipient is call.world.bot:
        raise Refusal(400, 50033, "Invalid Recipient(s)")
    if recipient.bot:
        raise Refusal(400, 50007, "Cannot send messages to this user")
    return Reply(200, payloads.channel(call.world.rooms.dm(recipient)))


@routes.get("/oauth2/applications/@me")
@routes.get("/applications/@me")
def application(call: Call) -> Reply:
    return Reply(200, payloads.application(call.world))


@routes.get("/gateway", public=True)
def gateway(call: Call) -> Reply:
    return Reply(200, {"url": call.gateway.url})


@routes.get("/gateway/bot")
def gateway_bot(call: Call) -> Reply:
    limit = {
        "total": 1000,
        "remaining": max(0, 1000 - call.gateway.identifies),
        "reset_after": 86_400_000,
        "max_concurrency": 1,
    }
    return Reply(200, {"url": call.gateway.url, "shards": 1, "session_start_limit": limit})
