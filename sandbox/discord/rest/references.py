"""What a message points at: the one that it replies to, or the one that it forwards.

Source: https://discord.com/developers/docs/resources/message#message-reference-structure and
https://discord.com/developers/docs/resources/message#message-reference-types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, missing_access, unknown
from sandbox.discord.events import Intent, Payload
from sandbox.discord.messages import CHAT_COMMANDS, Message, Reference
from sandbox.discord.permissions import Permission

if TYPE_CHECKING:
    from sandbox.discord.places import Channel

    from .forms import Form
    from .router import Call


@dataclass(frozen=True, slots=True)
class Target:
    """``replied_to`` for a reply, ``snapshots`` for a forward, neither for a reply to what is not there any more."""

    reference: Reference | None = None
    replied_to: Message | None = None
    snapshots: tuple[Payload, ...] = ()


def read_reference(call: Call, form: Form, channel: Channel) -> Target:
    """The ``message_reference`` of a body; what is wrong with it is noted in the form, or raised with its own code."""
    inner = form.child("message_reference")
    if inner is None:
        return Target()
    kind = inner.choice("type", (0, 1)) or 0
    message_id = inner.snowflake("message_id", required=True)
    channel_id = inner.snowflake("channel_id", required=kind == 1)
    must_exist = inner.flag("fail_if_not_exists", True)
    if message_id is None or (kind == 1 and channel_id is None):
        return Target()
    if kind == 1:
        return _forward(call, form, channel_id or 0, message_id)
    if channel_id not in (None, channel.id):
        form.error("message_reference", "MESSAGE_REFERENCE_CHANNEL_MISMATCH", "Cannot reply to another channel")
        return Target()
    found = channel.shelf.get(message_id)
    if found is None:
        if must_exist:
            form.error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return Target()
    if found.kind not in CHAT_COMMANDS:
        form.error("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
        return Target()
    return Target(_to(found, 0), found)


def _forward(call: Call, form: Form, channel_id: int, message_id: int) -> Target:
    """A copy of a message as it is now. The bot must see the place, and be allowed to read what the message says."""
    source = call.world.channels.get(channel_id)
    if source is None:
        raise unknown("Channel")
    if not source.visible_to(call.world.bot):
        raise missing_access()
    found = source.shelf.get(message_id)
    if found is None:
        form.error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return Target()
    if found.kind not in CHAT_COMMANDS or found.poll is not None:
        raise Refusal(400, 50068, "Invalid message type")
    if not call.may(source, Permission.READ_MESSAGE_HISTORY) or not _may_read(call, found):
        raise Refusal(400, 160014, "You cannot forward a message whose content you cannot read")
    return Target(_to(found, 1), snapshots=tuple(payloads.snapshots(found)))


def _may_read(call: Call, message: Message) -> bool:
    """With the intent for message content, or as the one who wrote it, is named in it or speaks with its author."""
    world = call.world
    if Intent.MESSAGE_CONTENT in world.application.privileged or message.channel.guild is None:
        return True
    return message.author is world.bot or world.bot in message.pings.users


def _to(message: Message, kind: int) -> Reference:
    guild = message.channel.guild
    return Reference(message.channel.id, message.id, None if guild is None else guild.id, kind)
