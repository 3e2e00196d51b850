"""Permission overwrites of a channel."""

from __future__ import annotations

from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.permissions import NOTHING, Overwrite
from sandbox.discord.places import Channel, Guild, Thread

from .forms import Form
from .router import Call, Reply, Routes

routes = Routes()
_ONE = "/channels/{channel_id}/permissions/{target_id}"


def read_overwrites(form: Form) -> list[Overwrite] | None:
    """The ``permission_overwrites`` of a body, or None when absent or null."""
    if form.data.get("permission_overwrites") is None:
        return None
    found: list[Overwrite] = []
    for inner in form.children("permission_overwrites", most=1000):
        target_id, kind = inner.snowflake("id", required=True), inner.choice("type", (0, 1))
        allow, deny = inner.bits("allow") or NOTHING, inner.bits("deny") or NOTHING
        if target_id is not None:
            found.append(Overwrite(target_id, kind or 0, allow, deny))
    return found


def _place(call: Call) -> tuple[Guild, Channel]:
    channel = call.channel()
    if channel.guild is None:
        raise Refusal(403, 50003, "Cannot execute action on a DM channel")
    if isinstance(channel, Thread):
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    return channel.guild, channel


@routes.put(_ONE)
def put(call: Call) -> Reply:
    guild, channel = _place(call)
    form, target_id = call.form, call.id("target_id")
    kind, allow, deny = form.choice("type", (0, 1)), form.bits("allow"), form.bits("deny")
    if kind is None:
        form.error("type", "BASE_TYPE_REQUIRED", "This field is required")
    form.done()
    if kind == 0 and target_id not in guild.roles:
        raise unknown("Role")
    if kind == 1 and target_id not in call.world.users:
        raise unknown("User")
    overwrite = Overwrite(target_id, kind or 0, allow or NOTHING, deny or NOTHING)
    call.world.layout.put_overwrite(channel, overwrite, by=call.me(guild), reason=call.reason)
    return Reply(204)


@routes.delete(_ONE)
def delete(call: Call) -> Reply:
    guild, channel = _place(call)
    call.world.layout.delete_overwrite(channel, call.id("target_id"), by=call.me(guild), reason=call.reason)
    return Reply(204)
