"""Guilds, their channels and their active threads."""

from sandbox.discord import payloads

from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/guilds/{guild_id}")
def guild(call: Call) -> Reply:
    found = call.guild()
    body = payloads.guild(found)
    if call.query.get("with_counts") in ("true", "1"):
        body |= {"approximate_member_count": len(found.members), "approximate_presence_count": len(found.members)}
    return Reply(200, body)
