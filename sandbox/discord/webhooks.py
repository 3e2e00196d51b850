"""Incoming webhooks: making, changing, moving and deleting them. What their token opens is in ``rest.webhooks``.

Source: https://discord.com/developers/docs/resources/webhook
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from . import payloads
from .audit import Action, changes_between
from .errors import Refusal, missing_permissions
from .people import Member, Webhook
from .permissions import Permission

if TYPE_CHECKING:
    from .events import Payload
    from .places import Channel
    from .world import World

MAX_IN_CHANNEL: Final = 15
MAX_IN_GUILD: Final = 1000
RESERVED: Final = re.compile(r"clyde|discord", re.IGNORECASE)


class Webhooks:
    """``by`` is the member who does it, under Discord's rules, which raise a Refusal; None is by fiat, unlogged."""

    def __init__(self, world: World) -> None:
        self._world = world

    def of(self, channel: Channel) -> list[Webhook]:
        return [hook for hook in self._world.webhooks.values() if hook.channel is channel]

    def create(self, channel: Channel, name: str, *, by: Member | None = None, reason: str | None = None) -> Webhook:
        if by is not None:
            self.must_manage(channel, by)
            self._check_room(channel)
        hook = Webhook(channel, self._world.ids.next(), name, maker=None if by is None else by.user)
        self._world.webhooks[hook.id] = hook
        self.changed(channel)
        self._log(Action.WEBHOOK_CREATE, hook, {}, _logged(hook), by, reason)
        return hook

    def edit(
        self,
        hook: Webhook,
        *,
        name: str | None = None,
        channel: Channel | None = None,
        by: Member,
        reason: str | None = None,
    ) -> None:
        """Rename it, or move it to another channel of the guild, where one needs the right too."""
        self.must_manage(hook.channel, by)
        if channel is not None and channel is not hook.channel:
            self.must_manage(channel, by)
            self._check_room(channel)
        before, left = _logged(hook), hook.channel
        hook.name = hook.name if name is None else name
        hook.channel = hook.channel if channel is None else channel
        for place in {left, hook.channel}:
            self.changed(place)
        self._log(Action.WEBHOOK_UPDATE, hook, before, _logged(hook), by, reason)

    def delete(self, hook: Webhook, *, by: Member | None = None, reason: str | None = None) -> None:
        if by is not None:
            self.must_manage(hook.channel, by)
        del self._world.webhooks[hook.id]
        self.changed(hook.channel)
        self._log(Action.WEBHOOK_DELETE, hook, _logged(hook), {}, by, reason)

    def must_manage(self, channel: Channel, by: Member) -> None:
        if Permission.MANAGE_WEBHOOKS not in channel.permissions_of(by):
            raise missing_permissions(Permission.MANAGE_WEBHOOKS)

    def changed(self, channel: Channel) -> None:
        """WEBHOOKS_UPDATE, which says no more than where."""
        if channel.guild is not None:
            body: Payload = {"guild_id": str(channel.guild.id), "channel_id": str(channel.id)}
            self._world.publish("WEBHOOKS_UPDATE", body, guild=channel.guild)

    def _check_room(self, channel: Channel) -> None:
        if len(self.of(channel)) >= MAX_IN_CHANNEL:
            raise Refusal(400, 30007, f"Maximum number of webhooks reached ({MAX_IN_CHANNEL})")
        if sum(hook.channel.guild is channel.guild for hook in self._world.webhooks.values()) >= MAX_IN_GUILD:
            raise Refusal(400, 30058, f"Maximum number of webhooks per guild reached ({MAX_IN_GUILD})")

    def _log(
        self, action: Action, hook: Webhook, before: Payload, after: Payload, by: Member | None, reason: str | None
    ) -> None:
        changes = changes_between(before, after)
        if by is not None and changes:
            self._world.audit.record(by.guild, action, by.user, hook.id, changes=changes, reason=reason)


def payload(of: Webhook, *, with_maker: bool = True) -> Payload:
    """With its maker only for whoever asks as a bot, not by the webhook's token."""
    guild, world = of.channel.guild, of.channel.world
    body: Payload = {
        "id": str(of.id),
        "type": 1,
        "name": of.name,
        "avatar": None,
        "channel_id": str(of.channel.id),
        "guild_id": None if guild is None else str(guild.id),
        "application_id": str(world.application.id) if of.maker is world.bot else None,
        "token": of.token,
    }
    if with_maker and of.maker is not None:
        body["user"] = payloads.user(of.maker)
    return body


def _logged(hook: Webhook) -> Payload:
    return {"name": hook.name, "type": 1, "channel_id": str(hook.channel.id)}
