"""Messages: post, read, edit, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, invalid_form, missing_access, missing_permissions
from sandbox.discord.messages import IS_VOICE_MESSAGE, SUPPRESS_EMBEDS, Message
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel

from .drafts import draft_from
from .edits import apply, read_edit
from .router import Call, Reply, Routes

routes = Routes()
_HOUR: Final = 3600
OLD_EDITS_PER_HOUR: Final = 10
"""Edits of a message older than an hour before 30046. Discord does not publish its number."""


@routes.post("/channels/{channel_id}/messages")
def post(call: Call) -> Reply:
    channel, speech = call.channel(), call.world.speech
    speech.must_speak(call.world.bot, channel)
    draft = draft_from(call, call.form, channel)
    return Reply(200, _shown(speech.post(channel, draft), nonce=True))


@routes.get("/channels/{channel_id}/messages")
def history(call: Call) -> Reply:
    """Newest first. ``before``, ``after`` and ``around`` exclude each other."""
    channel, limit = call.channel(), call.limit(50, 100)
    before, after, around = (call.query_id(name) for name in ("before", "after", "around"))
    if sum(bound is not None for bound in (before, after, around)) > 1:
        raise invalid_form("before", "MUTUALLY_EXCLUSIVE", "Only one of before, after and around may be given")
    _must_be_let_in(call, channel)
    if not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        return Reply(200, [])
    if after is not None:
        found = channel.shelf.after(after, limit)
    elif around is not None:
        found = channel.shelf.around(around, limit)
    else:
        found = channel.shelf.before(before, limit)
    return Reply(200, [_shown(message) for message in found])


@routes.get("/channels/{channel_id}/messages/{message_id}")
def get(call: Call) -> Reply:
    channel = call.channel()
    _must_be_let_in(call, channel)
    if not call.may(channel, Permission.READ_MESSAGE_HISTORY):
        raise missing_permissions()
    return Reply(200, _shown(call.message(channel)))


def _must_be_let_in(call: Call, channel: Channel) -> None:
    """What is written in a voice channel is read by those who can connect."""
    if channel.is_vocal and not call.may(channel, Permission.CONNECT):
        raise missing_access()


@routes.patch("/channels/{channel_id}/messages/{message_id}")
def edit(call: Call) -> Reply:
    channel = call.channel()
    message = call.message(channel)
    form, own = call.form, message.author is call.world.bot
    call.world.threads.must_be_open(channel, call.world.bot)
    asked = read_edit(call, form, message)
    if not own:
        _only_suppresses(call, channel, message, asked.flags)
        return Reply(200, _shown(message))
    if message.flags & IS_VOICE_MESSAGE:
        raise Refusal(400, 50162, "Voice messages cannot be edited.")
    if message.poll is not None:
        raise Refusal(400, 520003, "Cannot edit a poll message")
    if asked.embeds and not call.may(channel, Permission.EMBED_LINKS):
        asked = replace(asked, embeds=[])
    _spare_old(call, message)
    apply(call, form, message, asked)
    return Reply(200, _shown(message))


def _only_suppresses(call: Call, channel: Channel, message: Message, flags: int | None) -> None:
    """Of somebody else's message a moderator may hide the embeds, and nobody anything else."""
    if flags is None or set(call.form.data) - {"flags"} or not call.may(channel, Permission.MANAGE_MESSAGES):
        raise Refusal(403, 50005, "Cannot edit a message authored by another user")
    message.flags = (message.flags & ~SUPPRESS_EMBEDS) | (flags & SUPPRESS_EMBEDS)
    call.world.speech.changed(message)


def _spare_old(call: Call, message: Message) -> None:
    now = call.world.clock.now()
    if now - message.created_at <= _HOUR:
        return
    message.old_edits = [at for at in message.old_edits if at > now - _HOUR]
    if len(message.old_edits) >= OLD_EDITS_PER_HOUR:
        text = "Maximum number of edits to messages older than 1 hour reached. Try again later."
        raise Refusal(429, 30046, text)
    message.old_edits.append(now)


@routes.delete("/channels/{channel_id}/messages/{message_id}")
def delete(call: Call) -> Reply:
    channel = call.channel()
    message = call.message(channel)
    call.world.moderation.delete(message, by=call.world.bot, reason=call.reason)
    return Reply(204)


@routes.post("/channels/{channel_id}/messages/bulk-delete")
def bulk_delete(call: Call) -> Reply:
    """2 to 100 ids; those that are not here any more count, and are passed over."""
    channel = call.channel()
    ids = call.form.snowflakes("messages", most=100, least=2)
    call.form.done()
    call.world.moderation.delete_many(channel, ids, by=call.world.bot, reason=call.reason)
    return Reply(204)


def _shown(message: Message, *, nonce: bool = False) -> dict[str, object]:
    """REST censors by the application's switch for message content, as the gateway does by the session's intents."""
    return payloads.for_application(message, nonce=nonce)
