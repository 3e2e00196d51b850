"""Guilds: what they are, and their settings."""

from __future__ import annotations

from sandbox.discord import payloads
from sandbox.discord.fields import GuildFields

from .forms import Form
from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/guilds/{guild_id}")
def guild(call: Call) -> Reply:
    found = call.guild()
    body = payloads.guild(found)
    if call.query_flag("with_counts"):
        body |= {"approximate_member_count": len(found.members), "approximate_presence_count": len(found.members)}
    return Reply(200, body)


@routes.patch("/guilds/{guild_id}")
def change(call: Call) -> Reply:
    """Pictures, features and what belongs to Community guilds are not the sandbox's."""
    found, form = call.guild(), call.form
    values = GuildFields(
        name=form.text("name", least=2, most=100),
        description=form.text("description", most=300),
        verification_level=form.choice("verification_level", range(5)),
        default_notifications=form.choice("default_message_notifications", (0, 1)),
        explicit_content_filter=form.choice("explicit_content_filter", (0, 1, 2)),
        afk_timeout=form.choice("afk_timeout", (60, 300, 900, 1800, 3600)),
        afk_channel_id=_channel_id(call, form, "afk_channel_id"),
        system_channel_id=_channel_id(call, form, "system_channel_id"),
        system_channel_flags=form.integer("system_channel_flags", most=0x7F),
        preferred_locale=form.text("preferred_locale", most=10),
    )
    form.done()
    call.world.governance.edit(found, values, by=call.me(found), reason=call.reason)
    return Reply(200, payloads.guild(found))


def _channel_id(call: Call, form: Form, name: str) -> int | None:
    """A channel of the guild; null takes it away, which is 0 here."""
    channel_id = form.snowflake(name)
    if channel_id is None:
        return 0 if form.has(name) else None
    if channel_id not in call.guild().channels:
        form.error(name, "CHANNEL_INVALID", "Unknown channel")
    return channel_id
