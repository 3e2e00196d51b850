"""Pinned messages.

Source: https://discord.com/developers/docs/resources/message#pin-message. Since 2026-02-23 Manage Messages alone is not
enough: https://discord.com/developers/docs/change-log, "Permission Changes Going into Effect February 2026".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .audit import Action
from .clock import iso
from .errors import Refusal, missing_permissions
from .messages import CHAT_COMMANDS, PINNED, Reference
from .permissions import Permission
from .places import Channel, Thread

if TYPE_CHECKING:
    from .events import Payload
    from .messages import Message
    from .people import User
    from .world import World

MAX_PINS: Final = 250


class Pins:
    def __init__(self, world: World) -> None:
        self._world = world

    def of(self, channel: Channel) -> list[tuple[float, Message]]:
        """When and what was pinned, the newest pin first."""
        found = [(m.pinned_at, m) for m in channel.shelf.live() if m.pinned_at is not None]
        return sorted(found, key=lambda pin: (pin[0], pin[1].id), reverse=True)

    def pin(self, message: Message, *, by: User, reason: str | None = None) -> None:
        """Pin it, and say so in the channel. Pinned twice is pinned once.

        Raises 50013 without the permission, 50021 for a message of Discord's own, 30003 for one too many, 50083 in an
        archived thread.
        """
        channel = message.channel
        self._check(channel, by)
        if message.kind not in CHAT_COMMANDS:
            raise Refusal(403, 50021, "Cannot execute action on a system message")
        if message.pinned:
            return
        pins = self.of(channel)
        if len(pins) >= MAX_PINS:
            raise Refusal(400, 30003, f"Maximum number of pins reached for the channel ({MAX_PINS})")
        # Pages of pins end at a time, so no two pins share one.
        newest = pins[0][0] + 1e-6 if pins else 0.0
        message.pinned_at = max(self._world.clock.now(), newest)
        self._told(message, Action.MESSAGE_PIN, by, reason)
        from .speech import Draft  # speech needs the places, so it cannot be at the top

        guild_id = None if channel.guild is None else channel.guild.id
        reference = Reference(channel.id, message.id, guild_id)
        self._world.speech.post(channel, Draft(by, kind=PINNED, reference=reference))

    def unpin(self, message: Message, *, by: User, reason: str | None = None) -> None:
        self._check(message.channel, by)
        if message.pinned:
            message.pinned_at = None
            self._told(message, Action.MESSAGE_UNPIN, by, reason)

    def _check(self, channel: Channel, by: User) -> None:
        if not channel.is_dm and Permission.PIN_MESSAGES not in channel.permissions_of(by):
            raise missing_permissions()
        if isinstance(channel, Thread) and channel.archived:
            raise Refusal(400, 50083, "Thread is archived")

    def _told(self, message: Message, action: Action, by: User, reason: str | None) -> None:
        channel, guild = message.channel, message.channel.guild
        pins = self.of(channel)
        channel.last_pin_at = pins[0][0] if pins else None
        self._world.speech.changed(message)
        body: Payload = {
            "channel_id": str(channel.id),
            "last_pin_timestamp": None if channel.last_pin_at is None else iso(channel.last_pin_at),
        }
        if guild is not None:
            body["guild_id"] = str(guild.id)
            options: Payload = {"channel_id": str(channel.id), "message_id": str(message.id)}
            self._world.audit.record(guild, action, by, message.author.id, options=options, reason=reason)
        self._world.publish("CHANNEL_PINS_UPDATE", body, guild=guild, channel=channel)
