"""What a webhook's token opens: an interaction's answers for fifteen minutes, or a channel's incoming webhook.

Sources: https://discord.com/developers/docs/interactions/receiving-and-responding#followup-messages and
https://discord.com/developers/docs/resources/webhook#execute-webhook.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Final

from sandbox.discord import payloads
from sandbox.discord.clock import looks_like_snowflake
from sandbox.discord.errors import Refusal, invalid_form, unknown
from sandbox.discord.events import Payload
from sandbox.discord.interactions import Interaction
from sandbox.discord.messages import SETTABLE_FLAGS, Message
from sandbox.discord.people import User, Webhook
from sandbox.discord.places import Channel, Thread
from sandbox.discord.webhooks import RESERVED, payload

from .edits import apply, read_edit
from .replies import read_reply
from .router import Call, Reply, Routes
from .webhook_management import read_name

routes = Routes()
_HOOK: Final = "/webhooks/{webhook_id}/{token}"
_MESSAGE: Final = _HOOK + "/messages/{message_id}"
_ORIGINAL: Final = "@original"


def _opened(call: Call) -> Interaction | Webhook:
    """Raises 404/10015 for an unknown webhook, 401/50027 for a wrong or expired token."""
    webhook_id, token = call.id("webhook_id"), call.params["token"]
    hook = call.world.webhooks.get(webhook_id)
    if hook is None:
        return call.world.interactions.by_token(webhook_id, token)
    if not secrets.compare_digest(hook.token, token):
        raise Refusal(401, 50027, "Invalid Webhook Token")
    return hook


def _hook(call: Call) -> Webhook:
    found = _opened(call)
    if not isinstance(found, Webhook):
        raise unknown("Webhook")
    return found


@routes.post(_HOOK, public=True)
def execute(call: Call) -> Reply:
    """An interaction's answer is always shown; an incoming webhook's message only with ``wait``."""
    found = _opened(call)
    if isinstance(found, Webhook):
        message = _post(call, found)
        return Reply(200, _shown(message)) if call.query.get("wait") in ("true", "True", "1") else Reply(204)
    interactions, loading = call.world.interactions, found.original
    if loading is not None and loading.loading and not loading.deleted:
        # Directly after a deferred answer it fills that one in, and is no message of its own.
        apply(call, call.form, loading, read_edit(call, call.form, loading))
        return Reply(200, _shown(loading))
    return Reply(200, _shown(interactions.follow_up(found, read_reply(call, call.form, call.world.bot))))


def _post(call: Call, hook: Webhook) -> Message:
    form = call.form
    name, avatar = form.text("username", least=1, most=80), form.text("avatar_url", most=2048)
    if name is not None and RESERVED.search(name):
        form.error("username", "USERNAME_INVALID_CONTAINS", "Username cannot contain that word")
    author = User(call.world, hook.id, name or hook.name, name or hook.name, bot=True, webhook_id=hook.id)
    draft = read_reply(call, form, author, flags_allowed=SETTABLE_FLAGS)
    del avatar  # the sandbox shows no avatars
    return call.world.speech.post(_where(call, hook), replace(draft, author=author))


def _where(call: Call, hook: Webhook) -> Channel:
    """The webhook's channel, or the thread of it that the query names."""
    thread_id = call.query_id("thread_id")
    if thread_id is not None:
        thread = call.world.channels.get(thread_id)
        if not isinstance(thread, Thread) or thread.parent is not hook.channel:
            raise unknown("Channel")
        if thread.locked:
            raise Refusal(400, 160005, "Thread is locked")
        return thread
    name = call.form.text("thread_name", least=1, most=100)
    if hook.channel.is_forum:
        if name is None:
            text = "Webhooks posted to forum channels must have a thread_name or thread_id"
            raise Refusal(400, 220001, text)
        return call.world.threads.start(hook.channel, name, owner=call.world.bot, announce=False)
    if name is not None:
        raise Refusal(400, 220003, "Webhooks can only create threads in forum channels")
    return hook.channel


@routes.get(_HOOK, public=True)
def get(call: Call) -> Reply:
    return Reply(200, payload(_hook(call), with_maker=False))


@routes.patch(_HOOK, public=True)
def modify(call: Call) -> Reply:
    hook = _hook(call)
    name = read_name(call.form)
    call.form.done()
    hook.name = name or hook.name
    call.world.hooks.changed(hook.channel)
    return Reply(200, payload(hook, with_maker=False))


@routes.delete(_HOOK, public=True)
def delete_hook(call: Call) -> Reply:
    call.world.hooks.delete(_hook(call))
    return Reply(204)


@routes.get(_MESSAGE, public=True)
def get_message(call: Call) -> Reply:
    return Reply(200, _shown(_message(call, _opened(call))))


@routes.patch(_MESSAGE, public=True)
def edit(call: Call) -> Reply:
    message = _message(call, _opened(call))
    apply(call, call.form, message, read_edit(call, call.form, message))
    return Reply(200, _shown(message))


@routes.delete(_MESSAGE, public=True)
def delete(call: Call) -> Reply:
    call.world.speech.delete(_message(call, _opened(call)))
    return Reply(204)


def _message(call: Call, of: Interaction | Webhook) -> Message:
    """A message that was posted through this token. Raises 404/10008."""
    name = call.params["message_id"]
    if isinstance(of, Interaction):
        if name == _ORIGINAL:
            return call.world.interactions.original(of)
        return call.world.interactions.find(of, _id(name))
    thread_id = call.query_id("thread_id")
    place = of.channel if thread_id is None else call.world.channels.get(thread_id)
    message = None if place is None else place.shelf.get(_id(name))
    if message is None or message.author.webhook_id != of.id:
        raise unknown("Message")
    return message


def _id(name: str) -> int:
    if not looks_like_snowflake(name):
        raise invalid_form("message_id", "NUMBER_TYPE_COERCE", f'Value "{name}" is not snowflake.')
    return int(name)


def _shown(message: Message) -> Payload:
    return payloads.message(message, gateway=False)
