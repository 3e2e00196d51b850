"""The channels of a guild: making, changing, sorting and deleting them and their overwrites, by who may.

Source: https://discord.com/developers/docs/resources/channel#modify-channel,
https://discord.com/developers/docs/resources/guild#create-guild-channel and
https://discord.com/developers/docs/topics/permissions#permission-syncing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from . import forums, payloads
from .audit import Action, changes_between
from .errors import Refusal, missing_access, missing_permissions, unknown
from .fields import ChannelFields, apply
from .people import Member
from .permissions import EVERYTHING, NOTHING, Overwrite, Permission, of_roles
from .places import Channel, Guild, Kind

if TYPE_CHECKING:
    from .events import Payload
    from .world import World

MAX_CHANNELS: Final = 500
MAX_IN_CATEGORY: Final = 50
MAX_OVERWRITES: Final = 1000


@dataclass(frozen=True, slots=True)
class Move:
    """Where a channel goes: a new position, and with ``moves`` another category (None: out of any)."""

    channel: Channel
    position: int | None = None
    moves: bool = False
    parent: Channel | None = None
    syncs: bool = False


class Layout:
    """``by`` is the member who does it, under Discord's rules, which raise a Refusal; None is by fiat, unlogged."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(
        self,
        guild: Guild,
        kind: Kind,
        values: ChannelFields,
        *,
        by: Member,
        parent: Channel | None = None,
        overwrites: Sequence[Overwrite] | None = None,
        reason: str | None = None,
    ) -> Channel:
        """A new channel, in step with its category unless it is given overwrites."""
        if parent is not None and Permission.VIEW_CHANNEL not in parent.permissions_of(by):
            raise missing_access()
        granted = by.permissions if parent is None else parent.permissions_of(by)
        if Permission.MANAGE_CHANNELS not in granted:
            raise missing_permissions()
        self._check_room(guild, parent)
        for overwrite in overwrites or ():
            if (overwrite.allow | overwrite.deny) & ~of_roles(by):
                raise missing_permissions()
            if Permission.MANAGE_ROLES in overwrite.allow | overwrite.deny and of_roles(by) != EVERYTHING:
                raise missing_permissions()
        forums.check_available(values.tags or (), values.flags or 0)
        made = self._world.rooms.create_channel(guild, kind, values, parent=parent, overwrites=overwrites)
        self._log(Action.CHANNEL_CREATE, made, {}, payloads.channel(made), by, reason)
        return made

    def edit(self, channel: Channel, values: ChannelFields, *, by: Member, reason: str | None = None) -> None:
        self._must(by, channel, Permission.MANAGE_CHANNELS)
        if values.tags is not None or values.flags is not None:
            flags = channel.flags if values.flags is None else values.flags
            forums.check_available(channel.tags if values.tags is None else values.tags, flags)
        before = payloads.channel(channel)
        apply(channel, values)
        self._world.rooms.channel_changed(channel)
        self._log(Action.CHANNEL_UPDATE, channel, before, payloads.channel(channel), by, reason)

    def delete(self, channel: Channel, *, by: Member, reason: str | None = None) -> None:
        self._must(by, channel, Permission.MANAGE_CHANNELS)
        before = payloads.channel(channel)
        self._world.rooms.delete_channel(channel)
        self._log(Action.CHANNEL_DELETE, channel, before, {}, by, reason)

    def arrange(self, guild: Guild, moves: Sequence[Move], *, by: Member | None = None) -> None:
        """New positions and categories, at most one category at a time (40009)."""
        if by is not None:
            self._check_moves(moves, by)
        was = {channel: payloads.channel(channel) for channel in guild.channels.values()}
        with self._world.sight(guild):
            for move in moves:
                channel = move.channel
                channel.position = channel.position if move.position is None else move.position
                if move.moves:
                    channel.parent = move.parent
                if move.syncs and channel.parent is not None:
                    channel.overwrites = dict(channel.parent.overwrites)
            for channel, before in was.items():
                if payloads.channel(channel) != before:
                    self._world.rooms.channel_changed(channel)
                    if by is not None:
                        self._log(Action.CHANNEL_UPDATE, channel, before, payloads.channel(channel), by, None)

    def _check_moves(self, moves: Sequence[Move], by: Member) -> None:
        changing = [move for move in moves if move.moves and move.parent is not move.channel.parent]
        if len(changing) > 1:
            raise Refusal(400, 40009, "Only one channel can have a parent_id modified at a time")
        for move in moves:
            home = move.channel.parent
            granted = by.permissions if home is None else by.permissions | home.permissions_of(by)
            if Permission.MANAGE_CHANNELS not in granted and move not in changing:
                raise missing_permissions()
        for move in changing:
            target = move.parent
            there = by.permissions if target is None else target.permissions_of(by)
            here = move.channel.permissions_of(by)
            if Permission.VIEW_CHANNEL not in here or Permission.MANAGE_CHANNELS not in here & there:
                raise missing_access()
            if move.syncs and Permission.MANAGE_ROLES not in here:
                raise missing_permissions()
            if target is not None:
                self._check_room(by.guild, target)

    # overwrites

    def put_overwrite(
        self, channel: Channel, overwrite: Overwrite, *, by: Member | None = None, reason: str | None = None
    ) -> None:
        """Set the exception for a role or member. Channels in step with a category follow it."""
        old = channel.overwrites.get(overwrite.target_id)
        if by is not None:
            self._must(by, channel, Permission.MANAGE_ROLES)
            changed = overwrite.allow | overwrite.deny
            if old is not None:
                changed = (overwrite.allow ^ old.allow) | (overwrite.deny ^ old.deny)
            self._check_granted(channel, changed, by)
            if old is None and len(channel.overwrites) >= MAX_OVERWRITES:
                raise Refusal(400, 30060, f"Maximum number of channel permission overwrites reached ({MAX_OVERWRITES})")
        self._replace(channel, {**channel.overwrites, overwrite.target_id: overwrite})
        action = Action.CHANNEL_OVERWRITE_CREATE if old is None else Action.CHANNEL_OVERWRITE_UPDATE
        if by is not None:
            self._log_overwrite(action, channel, old, overwrite, by, reason)

    def delete_overwrite(
        self, channel: Channel, target_id: int, *, by: Member | None = None, reason: str | None = None
    ) -> None:
        if by is not None:
            self._must(by, channel, Permission.MANAGE_ROLES)
        old = channel.overwrites.get(target_id)
        if old is None:
            raise unknown("Permission Overwrite")
        self._replace(channel, {key: o for key, o in channel.overwrites.items() if key != target_id})
        if by is not None:
            self._log_overwrite(Action.CHANNEL_OVERWRITE_DELETE, channel, old, None, by, reason)

    def set_overwrites(
        self, channel: Channel, overwrites: Sequence[Overwrite], *, by: Member, reason: str | None = None
    ) -> None:
        """All of them at once, as one change; what is not among them goes."""
        self._must(by, channel, Permission.MANAGE_ROLES)
        wanted = {overwrite.target_id: overwrite for overwrite in overwrites}
        changed = NOTHING
        for target_id in {*wanted, *channel.overwrites}:
            old = channel.overwrites.get(target_id, Overwrite(target_id, 0))
            new = wanted.get(target_id, Overwrite(target_id, 0))
            changed |= (old.allow ^ new.allow) | (old.deny ^ new.deny)
        self._check_granted(channel, changed, by)
        before = payloads.channel(channel)
        self._replace(channel, wanted)
        self._log(Action.CHANNEL_UPDATE, channel, before, payloads.channel(channel), by, reason)

    def _replace(self, channel: Channel, overwrites: dict[int, Overwrite]) -> None:
        guild = channel.guild
        if guild is None:
            raise Refusal(403, 50003, "Cannot execute action on a DM channel")
        followers = [
            child
            for child in guild.channels.values()
            if child.parent is channel and child.overwrites == channel.overwrites
        ]
        with self._world.sight(guild):
            for place in (channel, *followers):
                place.overwrites = dict(overwrites)
                self._world.rooms.channel_changed(place)

    def _check_granted(self, channel: Channel, changed: Permission, by: Member) -> None:
        """One grants and forbids what one has, unless an overwrite of the channel lets one manage its permissions."""
        if by.id == by.guild.owner_id or of_roles(by) == EVERYTHING:
            return
        mine = (by.id, *(role.id for role in by.roles))
        if any(Permission.MANAGE_ROLES in channel.overwrites[i].allow for i in mine if i in channel.overwrites):
            return
        has = of_roles(by) | (NOTHING if channel.parent is None else channel.parent.permissions_of(by))
        if changed & ~has:
            raise missing_permissions()

    # rules and log

    def _must(self, by: Member, channel: Channel, need: Permission) -> None:
        granted = channel.permissions_of(by)
        if Permission.VIEW_CHANNEL not in granted:
            raise missing_access()
        if need not in granted:
            raise missing_permissions(need)

    def _check_room(self, guild: Guild, parent: Channel | None) -> None:
        if len(guild.channels) >= MAX_CHANNELS:
            raise Refusal(400, 30013, f"Maximum number of guild channels reached ({MAX_CHANNELS})")
        if parent is not None and sum(c.parent is parent for c in guild.channels.values()) >= MAX_IN_CATEGORY:
            text = f"Maximum number of channels in category reached ({MAX_IN_CATEGORY})"
            error = {"_errors": [{"code": "CHANNEL_PARENT_MAX_CHANNELS", "message": text}]}
            raise Refusal(400, 50035, "Invalid Form Body", {"parent_id": error})

    def _log(
        self, action: Action, channel: Channel, before: Payload, after: Payload, by: Member, reason: str | None
    ) -> None:
        changes = changes_between(_settings(before), _settings(after))
        if changes:
            self._world.audit.record(by.guild, action, by.user, channel.id, changes=changes, reason=reason)

    def _log_overwrite(
        self,
        action: Action,
        channel: Channel,
        old: Overwrite | None,
        new: Overwrite | None,
        by: Member,
        reason: str | None,
    ) -> None:
        one = new or old
        if one is None:
            return
        options: Payload = {"id": str(one.target_id), "type": str(one.kind)}
        role = by.guild.roles.get(one.target_id)
        if role is not None:
            options["role_name"] = role.name
        changes = changes_between(_bits(old), _bits(new))
        self._world.audit.record(by.guild, action, by.user, channel.id, changes=changes, options=options, reason=reason)


def _settings(shown: Payload) -> Payload:
    """Without what is no setting."""
    return {key: value for key, value in shown.items() if key not in ("id", "guild_id", "last_message_id")}


def _bits(overwrite: Overwrite | None) -> Payload:
    if overwrite is None:
        return {}
    return {"allow": str(overwrite.allow.value), "deny": str(overwrite.deny.value)}
