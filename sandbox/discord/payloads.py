"""Objects as Discord's JSON shows them.

REST and gateway differ: a gateway message names its guild, carries the author's member and members in its mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import permissions
from .clock import iso
from .components import shown
from .events import Intent, Payload, censored
from .forums import PINNED
from .messages import REPLY, THREAD_STARTER, Attachment, Message, Reaction
from .places import Channel, Guild, Thread

if TYPE_CHECKING:
    from .people import Member, Role, User
    from .world import World


def _optional(snowflake: int | None) -> str | None:
    return None if snowflake is None else str(snowflake)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else iso(seconds)


def _discriminator(who: User) -> str:
    """Bots kept their four digits, webhooks have none, people are past them."""
    if who.webhook_id is not None:
        return "0000"
    return f"{who.id % 9999 + 1:04d}" if who.bot else "0"


def user(who: User) -> Payload:
    body: Payload = {
        "id": str(who.id),
        "username": who.name,
        "global_name": None if who.bot else who.display_name,
        "discriminator": _discriminator(who),
        "avatar": None,
        "avatar_decoration_data": None,
        "clan": None,
        "primary_guild": None,
        "public_flags": 0,
    }
    if who.bot:
        body["bot"] = True
    if who.system:
        body["system"] = True
    return body


def own_user(who: User) -> Payload:
    return {**user(who), "verified": True, "mfa_enabled": True, "flags": 0, "email": None, "bio": "", "locale": "en-US"}


def member(of: Member, *, with_user: bool = True) -> Payload:
    body: Payload = {
        "roles": [str(role.id) for role in of.roles],
        "joined_at": iso(of.joined_at),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": of.pending,
        "nick": of.nick,
        "avatar": None,
        "banner": None,
        "communication_disabled_until": _time(of.timed_out_until),
    }
    if with_user:
        body["user"] = user(of.user)
    return body


def presence(of: Member) -> Payload:
    shown: Payload = {} if of.status == "offline" else {"desktop": of.status}
    return {"user": {"id": str(of.id)}, "status": of.status, "activities": [], "client_status": shown}


def role(of: Role) -> Payload:
    body: Payload = {
        "id": str(of.id),
        "name": of.name,
        "description": None,
        "color": of.color,
        "colors": {"primary_color": of.color, "secondary_color": None, "tertiary_color": None},
        "hoist": of.hoist,
        "icon": None,
        "unicode_emoji": None,
        "position": of.position,
        "permissions": str(of.permissions.value),
        "managed": of.managed,
        "mentionable": of.mentionable,
        "flags": 0,
    }
    if of.bot_id is not None:
        body["tags"] = {"bot_id": str(of.bot_id)}
    return body


def channel(of: Channel) -> Payload:
    """Any channel, thread or DM as GET /channels/{id} shows it."""
    if isinstance(of, Thread):
        return thread(of)
    body: Payload = {
        "id": str(of.id),
        "type": int(of.kind),
        "flags": of.flags,
        "last_message_id": _optional(of.last_message_id),
        "last_pin_timestamp": _time(of.last_pin_at),
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
            "last_message_id": _optional(_newest_post(of)),
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
        "last_message_id": _optional(of.last_message_id),
        "message_count": of.message_count,
        "total_message_sent": of.sent,
        "member_count": min(len(of.joined), 50),
        "rate_limit_per_user": of.slowmode,
        "last_pin_timestamp": _time(of.last_pin_at),
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
        "afk_channel_id": None,
        "afk_timeout": 300,
        "widget_enabled": False,
        "widget_channel_id": None,
        "verification_level": 0,
        "default_message_notifications": 1,
        "explicit_content_filter": 0,
        "roles": [role(r) for r in of.roles.values()],
        "emojis": [_emoji(name, emoji_id) for emoji_id, name in of.emojis.items()],
        "features": [],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": _optional(of.system_channel_id),
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "max_presences": None,
        "max_members": 500000,
        "vanity_url_code": None,
        "description": None,
        "banner": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "nsfw": False,
        "nsfw_level": of.nsfw_level,
        "stickers": [],
        "premium_progress_bar_enabled": False,
        "incidents_data": None,
        "home_header": None,
        "hub_type": None,
        "latest_onboarding_question_id": None,
        "inventory_settings": None,
    }


def _emoji(name: str, emoji_id: int) -> Payload:
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


def message(of: Message, *, gateway: bool, nonce: bool = False, quote: bool = True) -> Payload:
    """A message. ``gateway`` adds guild_id and member; ``nonce`` is shown only when it has just been posted."""
    place = of.channel
    mentioned = {who.id: who for who in of.pings.users}
    if of.pings.replied_user is not None:
        mentioned[of.pings.replied_user.id] = of.pings.replied_user
    body: Payload = {
        "id": str(of.id),
        "type": of.kind,
        "content": of.content,
        "channel_id": str(place.id),
        "author": user(of.author),
        "attachments": [attachment(a, place.world) for a in of.attachments],
        "embeds": of.embeds,
        "mentions": [_mentioned(who, place.guild if gateway else None) for who in mentioned.values()],
        "mention_roles": [str(r.id) for r in of.pings.roles],
        "mention_everyone": of.pings.everyone,
        "pinned": of.pinned,
        "tts": of.tts,
        "timestamp": iso(of.created_at),
        "edited_timestamp": _time(of.edited_at),
        "flags": of.flags,
        "components": shown(of.components, of.attachments, place.world),
    }
    if of.position is not None:
        body["position"] = of.position
    if of.reactions:
        body["reactions"] = [_reaction(r, place.world.bot.id) for r in of.reactions.values()]
    if of.stickers:
        body["sticker_items"] = of.stickers
    if of.snapshots:
        body["message_snapshots"] = [{"message": snapshot} for snapshot in of.snapshots]
    if of.author.webhook_id is not None:
        body["webhook_id"] = str(of.author.webhook_id)
    if of.interaction is not None:
        body |= of.interaction
    if of.thread is not None and not of.thread.deleted and quote:
        body["thread"] = thread(of.thread)
    if nonce and of.nonce is not None:
        body["nonce"] = of.nonce
    _add_reference(body, of, quote)
    if gateway and place.guild is not None and not of.ephemeral:
        body["guild_id"] = str(place.guild.id)
        speaker = place.guild.members.get(of.author.id)
        if speaker is not None and "webhook_id" not in body:
            body["member"] = member(speaker, with_user=False)
    return body


def for_application(of: Message, *, nonce: bool = False) -> Payload:
    """A message over REST, whose content depends on the application's switch as the gateway's on the intents."""
    body = message(of, gateway=False, nonce=nonce)
    world = of.channel.world
    if of.channel.guild is None or Intent.MESSAGE_CONTENT in world.application.privileged:
        return body
    shown = censored({**body, "guild_id": str(of.channel.guild.id)}, str(world.bot.id))
    del shown["guild_id"]
    return shown


def _add_reference(body: Payload, of: Message, quote: bool) -> None:
    if of.reference is None:
        return
    reference: Payload = {"type": of.reference.kind, "channel_id": str(of.reference.channel_id)}
    if of.reference.message_id is not None:
        reference["message_id"] = str(of.reference.message_id)
    if of.reference.guild_id is not None:
        reference["guild_id"] = str(of.reference.guild_id)
    body["message_reference"] = reference
    if quote and of.kind in (REPLY, THREAD_STARTER):
        gone = of.referenced is None or of.referenced.deleted
        body["referenced_message"] = (
            None if gone or of.referenced is None else message(of.referenced, gateway=False, quote=False)
        )


def snapshot(of: Message) -> Payload:
    """What a forward carries: no author, no ids."""
    whole = message(of, gateway=False, quote=False)
    kept = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions")
    return {key: whole[key] for key in (*kept, "mention_roles", "components")}


def _mentioned(who: User, where: Guild | None) -> Payload:
    body = user(who)
    present = None if where is None else where.members.get(who.id)
    if present is not None:
        body["member"] = member(present, with_user=False)
    return body


def _reaction(of: Reaction, viewer_id: int) -> Payload:
    return {
        "emoji": of.emoji.payload(),
        "count": len(of.users),
        "count_details": {"burst": 0, "normal": len(of.users)},
        "burst_colors": [],
        "me_burst": False,
        "burst_me": False,
        "me": viewer_id in of.users,
        "burst_count": 0,
    }


def attachment(of: Attachment, world: World) -> Payload:
    url = world.cdn.url(of)
    body: Payload = {
        "id": str(of.id),
        "filename": of.file.filename,
        "size": len(of.file.content),
        "url": url,
        "proxy_url": url,
        "content_scan_version": 0,
    }
    if of.file.content_type is not None:
        body["content_type"] = of.file.content_type
    if of.file.description is not None:
        body["description"] = of.file.description
    if of.file.width is not None and of.file.height is not None:
        body |= {"width": of.file.width, "height": of.file.height}
    return body
