"""INTERACTION_CREATE as the gateway sends it, and what an answer remembers of its interaction.

Source: https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-object
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from . import payloads
from .messages import Attachment, Message
from .options import OptionKind, listed
from .people import Member, Role, User
from .permissions import EVERYTHING, Permission
from .places import Channel

if TYPE_CHECKING:
    from .events import Payload
    from .interactions import Interaction

ATTACHMENT_LIMIT: Final = 10 * 1024 * 1024
"""Bytes a file may have in an answer, in a guild without boosts."""
LOCALE: Final = "en-US"
Resolvable = User | Member | Role | Channel | Message | Attachment


def payload(of: Interaction) -> Payload:
    world, channel, guild = of.world, of.channel, of.channel.guild
    body: Payload = {
        "id": str(of.id),
        "application_id": str(world.application.id),
        "type": int(of.kind),
        "token": of.token,
        "version": 1,
        "data": of.data,
        "channel_id": str(channel.id),
        "channel": _place(channel, of.user),
        "locale": LOCALE,
        "app_permissions": str(_bot_permissions(channel).value),
        "entitlements": [],
        "entitlement_sku_ids": [],
        "authorizing_integration_owners": _owners(of),
        "context": 1 if guild is None else 0,
        "attachment_size_limit": ATTACHMENT_LIMIT,
    }
    if guild is None:
        body["user"] = payloads.user(of.user)
    else:
        body |= {
            "guild_id": str(guild.id),
            "guild": {"id": str(guild.id), "locale": LOCALE, "features": []},
            "guild_locale": LOCALE,
            "member": {
                **payloads.member(guild.members[of.user.id]),
                "permissions": str(channel.permissions_of(of.user).value),
            },
        }
    if of.source is not None:
        body["message"] = payloads.message(of.source, gateway=False)
    return body


def metadata(of: Interaction) -> Payload:
    """https://discord.com/developers/docs/resources/message#message-interaction-metadata-object"""
    body: Payload = {
        "id": str(of.id),
        "type": int(of.kind),
        "user": payloads.user(of.user),
        "authorizing_integration_owners": _owners(of),
    }
    if of.command is not None:
        body |= {"name": _spelled(of), "command_type": int(of.command.kind)}
    if isinstance(of.target, Message):
        body["target_message_id"] = str(of.target.id)
    elif of.target is not None:
        body["target_user"] = payloads.user(of.target)
    if of.opened_by is not None:
        body["triggering_interaction_metadata"] = metadata(of.opened_by)
    elif of.source is not None:
        body["interacted_message_id"] = str(of.source.id)
    return body


def _spelled(of: Interaction) -> str:
    """The command's name, "including subcommands and subcommand groups" as Discord says."""
    words, inside = [str(of.data["name"])], listed(of.data)
    while len(inside) == 1 and inside[0]["type"] in (OptionKind.SUBCOMMAND, OptionKind.GROUP):
        words.append(str(inside[0]["name"]))
        inside = listed(inside[0])
    return " ".join(words)


def on_answer(of: Interaction) -> Payload:
    """The fields that a message has because it answers an interaction."""
    application_id = str(of.world.application.id)
    body: Payload = {
        "application_id": application_id,
        "webhook_id": application_id,
        "interaction_metadata": metadata(of),
    }
    if of.command is not None:  # the older field, which Discord still sends for commands
        body["interaction"] = {
            "id": str(of.id),
            "type": int(of.kind),
            "name": _spelled(of),
            "user": payloads.user(of.user),
        }
    return body


def resolved(things: Iterable[Resolvable], channel: Channel) -> Payload:
    """The ``resolved`` maps for what a command's options, a context menu or a select name."""
    maps: dict[str, dict[str, Payload]] = {}
    for thing in things:
        if isinstance(thing, User | Member):
            user = thing.user if isinstance(thing, Member) else thing
            maps.setdefault("users", {})[str(user.id)] = payloads.user(user)
            member = None if channel.guild is None else channel.guild.members.get(user.id)
            if member is not None:
                body = payloads.member(member, with_user=False)
                for name in ("deaf", "mute"):
                    del body[name]
                body["permissions"] = str(channel.permissions_of(member).value)
                maps.setdefault("members", {})[str(user.id)] = body
        elif isinstance(thing, Role):
            maps.setdefault("roles", {})[str(thing.id)] = payloads.role(thing)
        elif isinstance(thing, Channel):
            maps.setdefault("channels", {})[str(thing.id)] = _place(thing, None)
        elif isinstance(thing, Message):
            maps.setdefault("messages", {})[str(thing.id)] = payloads.message(thing, gateway=False)
        else:
            maps.setdefault("attachments", {})[str(thing.id)] = payloads.attachment(thing, channel.world)
    return {**maps}


def _owners(of: Interaction) -> Payload:
    """Who installed the application here: the guild, or ``0`` for the direct message with the bot."""
    guild = of.channel.guild
    return {"0": "0" if guild is None else str(guild.id)}


def _place(channel: Channel, user: User | None) -> Payload:
    who = channel.world.bot if user is None else user
    granted = _bot_permissions(channel) if who is channel.world.bot else channel.permissions_of(who)
    return {**payloads.channel(channel), "permissions": str(granted.value)}


def _bot_permissions(channel: Channel) -> Permission:
    """In a direct message an application may do whatever a bot can do there."""
    if channel.guild is None:
        return channel.permissions_of(channel.world.bot) | Permission.MENTION_EVERYONE
    if channel.world.bot.id not in channel.guild.members:
        return EVERYTHING & ~EVERYTHING
    return channel.permissions_of(channel.world.bot)
