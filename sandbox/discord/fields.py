"""What roles, channels, threads and guilds are made of, and changed to. A field that is None is left as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from .forums import Tag
from .permissions import Permission

if TYPE_CHECKING:
    from .places import Channel


@dataclass(frozen=True, slots=True)
class RoleFields:
    """Of a role."""

    name: str | None = None
    permissions: Permission | None = None
    color: int | None = None
    hoist: bool | None = None
    mentionable: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFields:
    """Of a channel. An empty topic takes it away; slowmodes are in seconds."""

    name: str | None = None
    topic: str | None = None
    nsfw: bool | None = None
    slowmode: int | None = None
    flags: int | None = None
    default_auto_archive_minutes: int | None = None
    default_thread_slowmode: int | None = None
    tags: list[Tag] | None = None
    default_reaction: str | None = None
    default_sort_order: int | None = None
    default_layout: int | None = None
    bitrate: int | None = None
    user_limit: int | None = None


@dataclass(frozen=True, slots=True)
class ThreadFields:
    """Of a thread. ``slowmode`` is in seconds."""

    name: str | None = None
    archived: bool | None = None
    locked: bool | None = None
    invitable: bool | None = None
    auto_archive_minutes: int | None = None
    slowmode: int | None = None
    applied_tags: Sequence[int] | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildFields:
    """Of a guild. For a channel 0 means none."""

    name: str | None = None
    description: str | None = None
    verification_level: int | None = None
    default_notifications: int | None = None
    explicit_content_filter: int | None = None
    afk_timeout: int | None = None
    afk_channel_id: int | None = None
    system_channel_id: int | None = None
    system_channel_flags: int | None = None
    preferred_locale: str | None = None


def apply(channel: Channel, values: ChannelFields) -> None:
    """Put what is given into the channel."""
    for one in fields(values):
        value: object = getattr(values, one.name)
        if value is not None:
            setattr(channel, one.name, value)
    channel.topic = channel.topic or None
