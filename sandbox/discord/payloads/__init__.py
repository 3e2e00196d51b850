"""Objects as Discord's JSON shows them."""

from .messages import attachment, for_application, message, snapshot, snapshots
from .people import member, own_user, presence, role, user
from .places import (
    application,
    channel,
    emoji,
    guild,
    guild_create,
    thread,
    thread_list,
    thread_member,
)

__all__ = [
    "application",
    "attachment",
    "channel",
    "emoji",
    "for_application",
    "guild",
    "guild_create",
    "member",
    "message",
    "own_user",
    "presence",
    "role",
    "snapshot",
    "snapshots",
    "thread",
    "thread_list",
    "thread_member",
    "user",
]
