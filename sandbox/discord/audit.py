"""The audit log of a guild: who did what to whom, and why.

Source: https://discord.com/developers/docs/resources/audit-log. Entries are kept for 45 days. An entry is told on the
gateway to a bot that may view the log. What a test makes happen by fiat, with nobody as the doer, leaves no entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from .permissions import Permission, in_guild

if TYPE_CHECKING:
    from .events import Payload
    from .people import User
    from .places import Guild
    from .world import World

KEPT_SECONDS: Final = 45 * 86_400
MAX_REASON: Final = 512


class Action(IntEnum):
    """https://discord.com/developers/docs/resources/audit-log#audit-log-entry-object-audit-log-events"""

    GUILD_UPDATE = 1
    CHANNEL_CREATE = 10
    CHANNEL_UPDATE = 11
    CHANNEL_DELETE = 12
    CHANNEL_OVERWRITE_CREATE = 13
    CHANNEL_OVERWRITE_UPDATE = 14
    CHANNEL_OVERWRITE_DELETE = 15
    MEMBER_KICK = 20
    MEMBER_BAN_ADD = 22
    MEMBER_BAN_REMOVE = 23
    MEMBER_UPDATE = 24
    MEMBER_ROLE_UPDATE = 25
    ROLE_CREATE = 30
    ROLE_UPDATE = 31
    ROLE_DELETE = 32
    WEBHOOK_CREATE = 50
    WEBHOOK_UPDATE = 51
    WEBHOOK_DELETE = 52
    EMOJI_CREATE = 60
    EMOJI_UPDATE = 61
    EMOJI_DELETE = 62
    MESSAGE_DELETE = 72
    MESSAGE_BULK_DELETE = 73
    MESSAGE_PIN = 74
    MESSAGE_UNPIN = 75
    STICKER_CREATE = 90
    STICKER_UPDATE = 91
    STICKER_DELETE = 92
    THREAD_CREATE = 110
    THREAD_UPDATE = 111
    THREAD_DELETE = 112


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log. ``changes`` are of the shape that Discord's JSON has; ``at`` in seconds since 1970."""

    id: int
    action: Action
    by: User
    target_id: int | None
    at: float
    changes: tuple[Payload, ...] = ()
    options: Payload = field(default_factory=dict[str, object])
    reason: str | None = None

    def payload(self) -> Payload:
        body: Payload = {
            "id": str(self.id),
            "action_type": int(self.action),
            "user_id": str(self.by.id),
            "target_id": None if self.target_id is None else str(self.target_id),
        }
        if self.changes:
            body["changes"] = list(self.changes)
        if self.options:
            body["options"] = self.options
        if self.reason is not None:
            body["reason"] = self.reason
        return body


class Audit:
    """The logs of all guilds."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._entries: dict[int, list[Entry]] = {}

    def record(
        self,
        guild: Guild,
        action: Action,
        by: User,
        target_id: int | None,
        *,
        changes: tuple[Payload, ...] = (),
        options: Payload | None = None,
        reason: str | None = None,
    ) -> None:
        """Write a line and tell the bot of it, if it may read the log (GUILD_AUDIT_LOG_ENTRY_CREATE)."""
        world = self._world
        entry = Entry(
            world.ids.next(), action, by, target_id, world.clock.now(), changes, dict(options or {}), reason or None
        )
        self._entries.setdefault(guild.id, []).append(entry)
        bot = guild.members.get(world.bot.id)
        if bot is not None and Permission.VIEW_AUDIT_LOG in in_guild(bot, world.clock.now()):
            body: Payload = {**entry.payload(), "guild_id": str(guild.id)}
            world.publish("GUILD_AUDIT_LOG_ENTRY_CREATE", body, guild=guild)

    def of(self, guild: Guild) -> list[Entry]:
        """Oldest first, without what Discord has forgotten."""
        oldest = self._world.clock.now() - KEPT_SECONDS
        return [entry for entry in self._entries.get(guild.id, ()) if entry.at >= oldest]


def changes_between(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Payload, ...]:
    """One change for each key that differs; a value of None or a missing one is left out of the change."""
    found: list[Payload] = []
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        change: Payload = {"key": key}
        if old is not None:
            change["old_value"] = old
        if new is not None:
            change["new_value"] = new
        found.append(change)
    return tuple(found)
