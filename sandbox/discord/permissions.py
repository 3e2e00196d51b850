"""Discord's permission arithmetic.

Source: https://discord.com/developers/docs/topics/permissions (bits, hierarchy of overwrites, implicit denials) and
https://discord.com/developers/docs/topics/threads#permissions. Who stands above whom is in ``ranks``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .people import Member
    from .places import Channel


class Permission(IntFlag):
    CREATE_INSTANT_INVITE = 1 << 0
    KICK_MEMBERS = 1 << 1
    BAN_MEMBERS = 1 << 2
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_AUDIT_LOG = 1 << 7
    PRIORITY_SPEAKER = 1 << 8
    STREAM = 1 << 9
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    VIEW_GUILD_INSIGHTS = 1 << 19
    CONNECT = 1 << 20
    SPEAK = 1 << 21
    MUTE_MEMBERS = 1 << 22
    DEAFEN_MEMBERS = 1 << 23
    MOVE_MEMBERS = 1 << 24
    USE_VAD = 1 << 25
    CHANGE_NICKNAME = 1 << 26
    MANAGE_NICKNAMES = 1 << 27
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    MANAGE_GUILD_EXPRESSIONS = 1 << 30
    USE_APPLICATION_COMMANDS = 1 << 31
    REQUEST_TO_SPEAK = 1 << 32
    MANAGE_EVENTS = 1 << 33
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    USE_EXTERNAL_STICKERS = 1 << 37
    SEND_MESSAGES_IN_THREADS = 1 << 38
    USE_EMBEDDED_ACTIVITIES = 1 << 39
    MODERATE_MEMBERS = 1 << 40
    VIEW_CREATOR_MONETIZATION_ANALYTICS = 1 << 41
    USE_SOUNDBOARD = 1 << 42
    CREATE_GUILD_EXPRESSIONS = 1 << 43
    CREATE_EVENTS = 1 << 44
    USE_EXTERNAL_SOUNDS = 1 << 45
    SEND_VOICE_MESSAGES = 1 << 46
    SET_VOICE_CHANNEL_STATUS = 1 << 48
    SEND_POLLS = 1 << 49
    USE_EXTERNAL_APPS = 1 << 50
    PIN_MESSAGES = 1 << 51
    BYPASS_SLOWMODE = 1 << 52


NOTHING: Final = Permission(0)
EVERYTHING: Final = Permission(sum(p.value for p in Permission))

# What @everyone of a new guild may do, without the bits that a stranger should not have by default.
EVERYONE_DEFAULT: Final = (
    Permission.CREATE_INSTANT_INVITE
    | Permission.ADD_REACTIONS
    | Permission.STREAM
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.CONNECT
    | Permission.SPEAK
    | Permission.USE_VAD
    | Permission.CHANGE_NICKNAME
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.REQUEST_TO_SPEAK
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.SEND_POLLS
)
MODERATOR: Final = (
    Permission.KICK_MEMBERS
    | Permission.BAN_MEMBERS
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_THREADS
    | Permission.MODERATE_MEMBERS
    | Permission.PIN_MESSAGES
)
WHILE_TIMED_OUT: Final = Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY
_NEED_SENDING: Final = (
    Permission.SEND_TTS_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.MENTION_EVERYONE
    | Permission.SEND_VOICE_MESSAGES
    | Permission.SEND_POLLS
)
"""Discord's documentation names the first four, and says that there may be others by the same logic."""
_NEED_CONNECT: Final = (
    Permission.MANAGE_CHANNELS
    | Permission.MANAGE_ROLES
    | Permission.PRIORITY_SPEAKER
    | Permission.STREAM
    | Permission.SPEAK
    | Permission.MUTE_MEMBERS
    | Permission.DEAFEN_MEMBERS
    | Permission.MOVE_MEMBERS
    | Permission.USE_VAD
    | Permission.USE_EMBEDDED_ACTIVITIES
    | Permission.USE_SOUNDBOARD
    | Permission.USE_EXTERNAL_SOUNDS
    | Permission.SET_VOICE_CHANNEL_STATUS
)
"""In a voice channel. The documentation names Manage Channels as an example; the rest is what discord.py's clears."""


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A channel's exception for one role (kind 0) or one member (kind 1)."""

    target_id: int
    kind: int
    allow: Permission = NOTHING
    deny: Permission = NOTHING

    def applied(self, permissions: Permission) -> Permission:
        return (permissions & ~self.deny) | self.allow


def of_roles(member: Member) -> Permission:
    """What a member's roles add up to, everything for the owner and administrators. Time-outs do not count here."""
    if member.guild.owner_id == member.id:
        return EVERYTHING
    granted = member.guild.everyone.permissions
    for role in member.roles:
        granted |= role.permissions
    return EVERYTHING if Permission.ADMINISTRATOR in granted else granted


def in_guild(member: Member, now: float) -> Permission:
    """What a member may do in the guild as a whole. ``now`` (seconds since 1970) decides about time-outs."""
    granted = of_roles(member)
    return granted & WHILE_TIMED_OUT if _is_timed_out(member, granted, now) else granted


def in_channel(member: Member, channel: Channel, now: float) -> Permission:
    """What a member may do in a channel, or in a thread by way of its parent. ``now`` decides about time-outs.

    A private thread is nothing to whoever is not in it and may not manage threads.
    """
    granted = of_roles(member)
    if granted == EVERYTHING:
        return granted
    timed_out = _is_timed_out(member, granted, now)
    parent = channel.parent if channel.is_thread and channel.parent is not None else channel
    granted = _overwritten(member, parent, granted)
    if Permission.VIEW_CHANNEL not in granted:
        return NOTHING
    if not channel.admits(member.id) and (timed_out or Permission.MANAGE_THREADS not in granted):
        return NOTHING
    if timed_out:
        return granted & WHILE_TIMED_OUT
    if channel.is_vocal and Permission.CONNECT not in granted:
        granted &= ~_NEED_CONNECT
    speaking = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
    return granted if speaking in granted else granted & ~_NEED_SENDING


def _is_timed_out(member: Member, granted: Permission, now: float) -> bool:
    """Owners and administrators are exempt."""
    return granted != EVERYTHING and member.timed_out_until is not None and member.timed_out_until > now


def _overwritten(member: Member, channel: Channel, granted: Permission) -> Permission:
    """Overwrites in Discord's order: @everyone, then all roles at once (allow wins), then the member."""
    overwrites = channel.overwrites
    if not overwrites:
        return granted
    everyone = overwrites.get(member.guild.id)
    if everyone is not None:
        granted = everyone.applied(granted)
    allow = deny = NOTHING
    for role in member.roles:
        overwrite = overwrites.get(role.id)
        if overwrite is not None:
            allow |= overwrite.allow
            deny |= overwrite.deny
    granted = (granted & ~deny) | allow
    own = overwrites.get(member.id)
    return granted if own is None else own.applied(granted)
