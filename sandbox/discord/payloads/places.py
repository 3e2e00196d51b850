"""Channels, threads, guilds and the application as JSON shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sandbox.discord import permissions
from sandbox.discord.clock import iso
from sandbox.discord.events import Payload
from sandbox.discord.forums import PINNED
from sandbox.discord.places import Channel, Guild, Thread

from .people import member, moment, optional, presence, role, user

if TYPE_CHECKING:
    from sandbox.discord.world import World


def channel(of: Channel) -> Payload:
    """Any channel, thread or DM as GET /channels/{id} shows it."""
    if isinstance(of, Thread):
        return thread(of)
    body: Payload = {
        "id": str(of.id),
        "type": int(of.kind),
        "flags": of.flags,
        "last_message_id": optional(of.last_message_id),
        "last_pin_timestamp": moment(of.last_pin_at),
    }
    if of.guild is None:
        body["recipients"] = [user(who) for who in of.recipients if who is not of.world.bot]
        return body
    body |= {
        "guild_id": str(of.guild.id),
        "name": of.name,
        "position": of.position,
        "parent_id": None if of.parent is None else str(of.parent.id),
        "topic": of.topic,
        "nsfw": of.nsfw,
        "rate_limit_per_user": of.slowmode,
        "permission_overwrites": [
            {"id": str(o.target_id), "type": o.kind, "allow": str(o.allow.value), "deny": str(o.deny.value)}
            for o in of.overwrites.values()
        ],
    }
    if of.default_auto_archive_minutes is not None:
        body["default_auto_archive_duration"] = of.default_auto_archive_minutes
    if of.default_thread_slowmode:
        body["default_thread_rate_limit_per_user"] = of.default_thread_slowmode
    if of.is_vocal:
        body |= {"bitrate": of.bitrate, "user_limit": of.user_limit, "rtc_region": None, "video_quality_mode": 1}
    if of.is_forum:
        reaction = None if of.default_reaction is None else {"emoji_id": None, "emoji_name": of.default_reaction}
        body |= {
            "last_message_id": optional(_newest_post(of)),
            "available_tags": [tag.payload() for tag in of.tags],
            "default_reaction_emoji": reaction,
            "default_sort_order": of.default_sort_order,
            "default_forum_layout": of.default_layout,
        }
    return body


def _newest_post(forum: Channel) -> int | None:
    """In a forum the field for the last message names the newest thread."""
    guild = forum.guild
    return None if guild is None else max((t.id for t in guild.threads.values() if t.parent is forum), default=None)


def thread(of: Thread, *, newly_created: bool = False) -> Payload:
    metadata: Payload = {
        "archived": of.archived,
        "archive_timestamp": iso(of.archive_changed_at),
        "auto_archive_duration": of.auto_archive_minutes,
        "locked": of.locked,
        "create_timestamp": iso(of.created_at),
    }
    if of.is_private:
        metadata["invitable"] = of.invitable
    body: Payload = {
        "id": str(of.id),
        "type": int(of.kind),
        "guild_id": str(of.home.id),
        "parent_id": str(of.trunk.id),
        "owner_id": str(of.owner.id),
        "name": of.name,
        "last_message_id": optional(of.last_message_id),
        "message_count": of.message_count,
        "total_message_sent": of.sent,
        "member_count": min(len(of.joined), 50),
        "rate_limit_per_user": of.slowmode,
        "last_pin_timestamp": moment(of.last_pin_at),
        "thread_metadata": metadata,
        "flags": PINNED if of.pinned_post else 0,
        "applied_tags": [str(tag) for tag in of.applied_tags],
    }
    if of.world.bot.id in of.joined:
        body["member"] = thread_member(of, of.world.bot.id)
    if newly_created:
        body["newly_created"] = True
    return body


def thread_member(of: Thread, user_id: int) -> Payload:
    return {"id": str(of.id), "user_id": str(user_id), "join_timestamp": iso(of.joined[user_id]), "flags": 0}


def thread_list(of: Guild, parents: Sequence[Channel]) -> Payload:
    """THREAD_LIST_SYNC: the active threads of some channels, as far as the bot sees them."""
    bot = of.world.bot
    found = [t for t in of.threads.values() if t.parent in parents and not t.archived and t.visible_to(bot)]
    return {
        "guild_id": str(of.id),
        "channel_ids": [str(parent.id) for parent in parents],
        "threads": [thread(t) for t in found],
        "members": [thread_member(t, bot.id) for t in found if bot.id in t.joined],
    }


def guild(of: Guild) -> Payload:
    """What GET /guilds/{id} shows; the gateway adds its own fields."""
    return {
        "id": str(of.id),
        "name": of.name,
        "icon": None,
        "icon_hash": None,
        "splash": None,
        "discovery_splash": None,
        "owner_id": str(of.owner_id),
        "region": "deprecated",
        "afk_channel_id": optional(of.afk_channel_id),
        "afk_timeout": of.afk_timeout,
        "widget_enabled": False,
        "widget_channel_id": None,
        "verification_level": of.verification_level,
        "default_message_notifications": of.default_notifications,
        "explicit_content_filter": of.explicit_content_filter,
        "roles": [role(r) for r in of.roles.values()],
        "emojis": [emoji(name, emoji_id) for emoji_id, name in of.emojis.items()],
        "features": [],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": optional(of.system_channel_id),
        "system_channel_flags": of.system_channel_flags,
        "rules_channel_id": None,
        "max_presences": None,
        "max_members": 500000,
        "vanity_url_code": None,
        "description": of.description,
        "banner": None,
        "premium_tier": of.premium_tier,
        "premium_subscription_count": of.boosts,
        "preferred_locale": of.preferred_locale,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "nsfw": False,
        "nsfw_level": of.nsfw_level,
        "stickers": [sticker.payload() for sticker in of.stickers.values()],
        "premium_progress_bar_enabled": False,
        "incidents_data": None,
        "home_header": None,
        "hub_type": None,
        "latest_onboarding_question_id": None,
        "inventory_settings": None,
    }


def emoji(name: str, emoji_id: int) -> Payload:
    return {
        "id": str(emoji_id),
        "name": name,
        "roles": [],
        "require_colons": True,
        "managed": False,
        "animated": False,
        "available": True,
    }


def guild_create(of: Guild) -> Payload:
    """The GUILD_CREATE event, with all members; Dispatch cuts them to what a session's intents allow."""
    return {
        **guild(of),
        "joined_at": iso(of.me.joined_at),
        "large": len(of.members) > 250,
        "unavailable": False,
        "member_count": len(of.members),
        "voice_states": [],
        "members": [member(m) for m in of.members.values()],
        "channels": [channel(c) for c in of.channels.values()],
        "threads": [
            thread(t) for t in of.threads.values() if not t.archived and not t.deleted and t.visible_to(of.world.bot)
        ],
        "presences": [presence(m) for m in of.members.values() if m.status != "offline"],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "embedded_activities": [],
    }


def application(world: World) -> Payload:
    bot = world.bot
    return {
        "id": str(world.application.id),
        "name": bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "type": None,
        "bot": user(bot),
        "bot_public": False,
        "bot_require_code_grant": False,
        "owner": user(world.application.owner),
        "team": None,
        "verify_key": f"{world.application.id:064x}",
        "flags": world.application.flags,
        "hook": True,
        "redirect_uris": [],
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "approximate_guild_count": len(world.guilds),
        "approximate_user_install_count": 0,
        "integration_types_config": {"0": {}},
        "install_params": {"scopes": ["bot"], "permissions": str(permissions.EVERYONE_DEFAULT.value)},
    }
