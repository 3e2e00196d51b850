"""Reactions: add, remove, list, clear."""

from sandbox.discord import payloads
from sandbox.discord.errors import Refusal, missing_permissions, unknown
from sandbox.discord.messages import Message
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Thread

from .router import Call, Reply, Routes

routes = Routes()
_ONE = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}"


def _message(call: Call) -> Message:
    channel = call.channel()
    if isinstance(channel, Thread) and channel.archived:
        raise Refusal(400, 50083, "Thread is archived")
    return call.message(channel)


def _must_moderate(call: Call, message: Message) -> None:
    if message.channel.is_dm:
        raise Refusal(403, 50003, "Cannot execute action on a DM channel")
    if not call.may(message.channel, Permission.MANAGE_MESSAGES):
        raise missing_permissions()


@routes.put(_ONE + "/@me")
def add(call: Call) -> Reply:
    message = _message(call)
    call.world.speech.must_react(call.world.bot, message, call.params["emoji"])
    call.world.speech.react(message, call.world.bot, call.params["emoji"])
    return Reply(204)


@routes.delete(_ONE + "/@me")
def remove_own(call: Call) -> Reply:
    call.world.speech.unreact(_message(call), call.world.bot, call.params["emoji"])
    return Reply(204)


@routes.delete(_ONE + "/{user_id}")
def remove(call: Call) -> Reply:
    message = _message(call)
    user = call.world.users.get(call.id("user_id"))
    if user is None:
        raise unknown("User")
    if user is not call.world.bot:
        _must_moderate(call, message)
    call.world.speech.unreact(message, user, call.params["emoji"])
    return Reply(204)


@routes.get(_ONE)
def who(call: Call) -> Reply:
    message, limit, after = _message(call), call.limit(25, 100), call.query_id("after") or 0
    emoji = call.world.speech.known_emoji(message.channel, call.params["emoji"])
    reaction = message.reactions.get(emoji.key)
    users = [] if reaction is None else sorted(reaction.users.values(), key=lambda user: user.id)
    return Reply(200, [payloads.user(user) for user in users if user.id > after][:limit])


@routes.delete("/channels/{channel_id}/messages/{message_id}/reactions")
def clear(call: Call) -> Reply:
    message = _message(call)
    _must_moderate(call, message)
    call.world.speech.clear_reactions(message)
    return Reply(204)


@routes.delete(_ONE)
def clear_one(call: Call) -> Reply:
    message = _message(call)
    _must_moderate(call, message)
    call.world.speech.clear_reactions(message, call.params["emoji"])
    return Reply(204)
