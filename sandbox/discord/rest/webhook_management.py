"""Webhooks of a channel or a guild, as a bot that may manage them sees them."""

from __future__ import annotations

from sandbox.discord.errors import Refusal, unknown
from sandbox.discord.people import Member, Webhook
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel, Kind
from sandbox.discord.webhooks import RESERVED, payload

from .forms import Form
from .router import Call, Reply, Routes

routes = Routes()


def read_name(form: Form) -> str | None:
    """1 to 80 characters without the words that Discord keeps for itself."""
    name = form.text("name", least=1, most=80)
    if name is not None and RESERVED.search(name):
        form.error("name", "USERNAME_INVALID_CONTAINS", "Username cannot contain that word")
    return name


def _channel(call: Call) -> tuple[Channel, Member]:
    channel = call.channel()
    if channel.guild is None or channel.is_thread or channel.kind is Kind.CATEGORY:
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    return channel, call.me(channel.guild)


@routes.get("/channels/{channel_id}/webhooks")
def of_channel(call: Call) -> Reply:
    channel, me = _channel(call)
    call.world.hooks.must_manage(channel, me)
    return Reply(200, [payload(hook) for hook in call.world.hooks.of(channel)])


@routes.post("/channels/{channel_id}/webhooks")
def create(call: Call) -> Reply:
    channel, me = _channel(call)
    name = read_name(call.form)
    if name is None and not call.form.has("name"):
        call.form.error("name", "BASE_TYPE_REQUIRED", "This field is required")
    call.form.done()
    hook = call.world.hooks.create(channel, name or "", by=me, reason=call.reason)
    return Reply(200, payload(hook))


@routes.get("/guilds/{guild_id}/webhooks")
def of_guild(call: Call) -> Reply:
    guild = call.guild()
    call.me(guild).must(Permission.MANAGE_WEBHOOKS)
    return Reply(200, [payload(hook) for hook in call.world.webhooks.values() if hook.channel.guild is guild])


def _hook(call: Call) -> tuple[Webhook, Member]:
    """The webhook and the bot's member of its guild. Raises 10015 for none, or one of a guild that it is not in."""
    hook = call.world.webhooks.get(call.id("webhook_id"))
    guild = None if hook is None else hook.channel.guild
    if hook is None or guild is None or call.world.bot.id not in guild.members:
        raise unknown("Webhook")
    return hook, call.me(guild)


@routes.get("/webhooks/{webhook_id}")
def get(call: Call) -> Reply:
    """One's own needs no permission."""
    hook, me = _hook(call)
    if hook.maker is not call.world.bot:
        call.world.hooks.must_manage(hook.channel, me)
    return Reply(200, payload(hook))


@routes.patch("/webhooks/{webhook_id}")
def change(call: Call) -> Reply:
    hook, me = _hook(call)
    name, channel_id = read_name(call.form), call.form.snowflake("channel_id")
    call.form.done()
    channel = None if channel_id is None else me.guild.channels.get(channel_id)
    if channel_id is not None and channel is None:
        raise unknown("Channel")
    call.world.hooks.edit(hook, name=name, channel=channel, by=me, reason=call.reason)
    return Reply(200, payload(hook))


@routes.delete("/webhooks/{webhook_id}")
def delete(call: Call) -> Reply:
    hook, me = _hook(call)
    call.world.hooks.delete(hook, by=me, reason=call.reason)
    return Reply(204)
