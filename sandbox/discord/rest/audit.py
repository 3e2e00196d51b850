"""Reading the audit log."""

from __future__ import annotations

from sandbox.discord import payloads
from sandbox.discord.errors import invalid_form
from sandbox.discord.permissions import Permission

from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/guilds/{guild_id}/audit-logs")
def audit_log(call: Call) -> Reply:
    """Newest first; with ``after`` alone oldest first."""
    guild, limit = call.guild(), call.limit(50, 100)
    before, after, by = (call.query_id(name) for name in ("before", "after", "user_id"))
    kind = call.query.get("action_type")
    if kind is not None and not kind.isdigit():
        raise invalid_form("action_type", "NUMBER_TYPE_COERCE", f'Value "{kind}" is not int.')
    call.me(guild).must(Permission.VIEW_AUDIT_LOG)
    found = [
        entry
        for entry in call.world.audit.of(guild)
        if (before is None or entry.id < before)
        and (after is None or entry.id > after)
        and (by is None or entry.by.id == by)
        and (kind is None or entry.action == int(kind))
    ]
    if after is None or before is not None:
        found.reverse()
    found = found[:limit]
    users = {entry.by.id: entry.by for entry in found}
    users |= {e.target_id: call.world.users[e.target_id] for e in found if e.target_id in call.world.users}
    threads = [guild.threads[e.target_id] for e in found if e.target_id in guild.threads]
    return Reply(
        200,
        {
            "audit_log_entries": [entry.payload() for entry in found],
            "users": [payloads.user(user) for user in users.values()],
            "threads": [payloads.thread(thread) for thread in threads],
            "application_commands": [],
            "auto_moderation_rules": [],
            "guild_scheduled_events": [],
            "integrations": [],
            "webhooks": [],
        },
    )
