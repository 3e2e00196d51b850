"""Pinned messages, under the paged routes and the deprecated ones."""

from __future__ import annotations

from datetime import datetime

from sandbox.discord import payloads
from sandbox.discord.clock import iso
from sandbox.discord.errors import invalid_form
from sandbox.discord.messages import Message
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel

from .router import Call, Reply, Routes

routes = Routes()


@routes.get("/channels/{channel_id}/messages/pins")
def pins(call: Call) -> Reply:
    """The newest pin first, 50 at most, those before a time of pinning."""
    channel, limit = call.channel(), call.limit(50, 50)
    before = call.query.get("before")
    found = _readable(call, channel)
    if before is not None:
        try:
            bound = iso(datetime.fromisoformat(before).timestamp())
        except ValueError:
            text = f"Could not parse {before}. Should be ISO8601."
            raise invalid_form("before", "DATE_TIME_TYPE_PARSE", text) from None
        found = [(at, message) for at, message in found if iso(at) < bound]
    items = [{"pinned_at": iso(at), "message": payloads.for_application(message)} for at, message in found[:limit]]
    return Reply(200, {"items": items, "has_more": len(found) > limit})


@routes.get("/channels/{channel_id}/pins")
def first_pins(call: Call) -> Reply:
    """Deprecated: the 50 newest pins as plain messages."""
    found = _readable(call, call.channel())[:50]
    return Reply(200, [payloads.for_application(message) for _, message in found])


def _readable(call: Call, channel: Channel) -> list[tuple[float, Message]]:
    """Whoever may not read the history is shown no pins."""
    return call.world.pins.of(channel) if call.may(channel, Permission.READ_MESSAGE_HISTORY) else []


@routes.put("/channels/{channel_id}/messages/pins/{message_id}")
@routes.put("/channels/{channel_id}/pins/{message_id}")
def pin(call: Call) -> Reply:
    call.world.pins.pin(call.message(call.channel()), by=call.world.bot, reason=call.reason)
    return Reply(204)


@routes.delete("/channels/{channel_id}/messages/pins/{message_id}")
@routes.delete("/channels/{channel_id}/pins/{message_id}")
def unpin(call: Call) -> Reply:
    call.world.pins.unpin(call.message(call.channel()), by=call.world.bot, reason=call.reason)
    return Reply(204)
