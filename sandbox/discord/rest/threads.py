"""Threads: starting them, changing them, who is in them, and lists of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sandbox.discord import forums, payloads
from sandbox.discord.clock import iso
from sandbox.discord.errors import (
    Misuse,
    NotPermitted,
    Refusal,
    invalid_form,
    missing_access,
    missing_permissions,
    unknown,
)
from sandbox.discord.events import Payload
from sandbox.discord.fields import ThreadFields
from sandbox.discord.messages import Message
from sandbox.discord.people import User
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel, Kind, Thread

from .drafts import draft_from
from .forms import Form
from .router import Call, Reply, Routes

routes = Routes()
_ARCHIVE_MINUTES: Final = (60, 1440, 4320, 10080)
_MAX_SLOWMODE: Final = 21_600
_WRONG_TYPE: Final = "Cannot execute action on this channel type"


@routes.post("/channels/{channel_id}/messages/{message_id}/threads")
def on_message(call: Call) -> Reply:
    parent = call.channel()
    if parent.is_forum:
        raise Refusal(400, 50024, _WRONG_TYPE)
    return _start(call, call.message(parent), private=False)


@routes.post("/channels/{channel_id}/threads")
def alone(call: Call) -> Reply:
    """In a forum a post; elsewhere a private thread unless the body says otherwise."""
    parent = call.channel()
    if parent.is_forum:
        return _post_in_forum(call, parent)
    kind = call.form.choice("type", (10, 11, 12))
    if kind is not None and kind != 12 and (kind == 10) is not (parent.kind is Kind.NEWS):
        raise Refusal(400, 50024, _WRONG_TYPE)
    return _start(call, parent, private=kind in (None, 12))


def _start(call: Call, origin: Channel | Message, *, private: bool) -> Reply:
    form = call.form
    name = form.text("name", least=1, most=100, required=True)
    minutes = form.choice("auto_archive_duration", _ARCHIVE_MINUTES) or 1440
    slowmode = form.integer("rate_limit_per_user", most=_MAX_SLOWMODE)
    invitable = form.flag("invitable", True)
    form.done()
    thread = _made(
        lambda: call.world.threads.start(
            origin,
            name or "",
            owner=call.world.bot,
            private=private,
            auto_archive_minutes=minutes,
            invitable=invitable,
            slowmode=slowmode,
            reason=call.reason,
        )
    )
    return Reply(201, payloads.thread(thread))


def _made(start: Callable[[], Thread]) -> Thread:
    try:
        return start()
    except NotPermitted:
        raise missing_permissions() from None
    except Misuse:
        raise Refusal(400, 50024, _WRONG_TYPE) from None


def _post_in_forum(call: Call, forum: Channel) -> Reply:
    """A post is a thread and its first message, which takes the thread's id."""
    form = call.form
    name, inner = form.text("name", least=1, most=100, required=True), form.child("message")
    minutes = form.choice("auto_archive_duration", _ARCHIVE_MINUTES) or 1440
    slowmode = form.integer("rate_limit_per_user", most=_MAX_SLOWMODE)
    tags = form.snowflakes("applied_tags", most=forums.MAX_APPLIED)
    if inner is None:
        form.error("message", "BASE_TYPE_REQUIRED", "This field is required")
    form.done()
    draft = draft_from(call, inner or form, forum)
    thread = _made(
        lambda: call.world.threads.start(
            forum,
            name or "",
            owner=call.world.bot,
            auto_archive_minutes=minutes,
            slowmode=slowmode,
            applied_tags=tags,
            announce=False,
            reason=call.reason,
        )
    )
    message = call.world.speech.post(thread, replace(draft, id=thread.id))
    return Reply(201, {**payloads.thread(thread), "message": payloads.message(message, gateway=False)})


def change_thread(call: Call, thread: Thread) -> None:
    """PATCH of a channel that is a thread."""
    form = call.form
    tags = form.snowflakes("applied_tags", most=forums.MAX_APPLIED) if form.has("applied_tags") else None
    flags = form.integer("flags")
    fields = ThreadFields(
        form.text("name", least=1, most=100),
        _flag(form, "archived"),
        _flag(form, "locked"),
        _flag(form, "invitable"),
        form.choice("auto_archive_duration", _ARCHIVE_MINUTES),
        form.integer("rate_limit_per_user", most=_MAX_SLOWMODE),
        tags,
        None if flags is None else bool(flags & forums.PINNED),
    )
    form.done()
    call.world.threads.edit(thread, fields, by=call.world.bot, reason=call.reason)


def _flag(form: Form, name: str) -> bool | None:
    return None if form.data.get(name) is None else form.flag(name)


# members


def _thread(call: Call) -> Thread:
    found = call.channel()
    if not isinstance(found, Thread):
        raise Refusal(400, 50024, _WRONG_TYPE)
    return found


def _somebody(call: Call) -> User:
    return call.world.bot if call.params["user_id"] == "@me" else call.user()


@routes.put("/channels/{channel_id}/thread-members/{user_id}")
def join(call: Call) -> Reply:
    call.world.threads.add_member(_thread(call), _somebody(call), by=call.world.bot)
    return Reply(204)


@routes.delete("/channels/{channel_id}/thread-members/{user_id}")
def leave(call: Call) -> Reply:
    call.world.threads.remove_member(_thread(call), _somebody(call), by=call.world.bot)
    return Reply(204)


@routes.get("/channels/{channel_id}/thread-members/{user_id}")
def one_member(call: Call) -> Reply:
    thread, who = _thread(call), _somebody(call)
    if who.id not in thread.joined:
        raise unknown("Member")
    return Reply(200, _membership(call, thread, who.id))


@routes.get("/channels/{channel_id}/thread-members")
def all_members(call: Call) -> Reply:
    """Needs the members intent to be switched on; paged only when the members themselves are asked for."""
    thread = _thread(call)
    if not call.world.application.flags & 1 << 15:
        raise missing_access()
    ids = sorted(thread.joined)
    if call.query_flag("with_member"):
        after, limit = call.query_id("after") or 0, call.limit(100, 100)
        ids = [user_id for user_id in ids if user_id > after][:limit]
    return Reply(200, [_membership(call, thread, user_id) for user_id in ids])


def _membership(call: Call, thread: Thread, user_id: int) -> Payload:
    body = payloads.thread_member(thread, user_id)
    if call.query_flag("with_member") and user_id in thread.home.members:
        body["member"] = payloads.member(thread.home.members[user_id])
    return body


# lists


@routes.get("/guilds/{guild_id}/threads/active")
def active(call: Call) -> Reply:
    """Threads that are not archived and that the bot can see, the newest first."""
    bot = call.world.bot
    found = [t for t in call.guild().threads.values() if not t.archived and t.visible_to(bot)]
    found.sort(key=lambda thread: thread.id, reverse=True)
    return Reply(200, _listed(call, found))


@routes.get("/channels/{channel_id}/threads/archived/public")
def archived_public(call: Call) -> Reply:
    return _archived(call, [t for t in _all_archived(call) if not t.is_private])


@routes.get("/channels/{channel_id}/threads/archived/private")
def archived_private(call: Call) -> Reply:
    if not call.may(call.channel(), Permission.MANAGE_THREADS):
        raise missing_permissions()
    return _archived(call, [t for t in _all_archived(call) if t.is_private])


@routes.get("/channels/{channel_id}/users/@me/threads/archived/private")
def archived_joined(call: Call) -> Reply:
    """By id, and so is ``before``."""
    mine = [t for t in _all_archived(call) if t.is_private and call.world.bot.id in t.joined]
    before, limit = call.query_id("before"), call.limit(50, 100)
    found = sorted((t for t in mine if before is None or t.id < before), key=lambda t: t.id, reverse=True)
    return Reply(200, {**_listed(call, found[:limit]), "has_more": len(found) > limit})


def _all_archived(call: Call) -> list[Thread]:
    parent = call.channel()
    if parent.guild is None or parent.is_thread:
        raise Refusal(400, 50024, _WRONG_TYPE)
    if not call.may(parent, Permission.READ_MESSAGE_HISTORY):
        raise missing_permissions()
    return [t for t in parent.guild.threads.values() if t.parent is parent and t.archived]


def _archived(call: Call, threads: Sequence[Thread]) -> Reply:
    """Those archived last come first; ``before`` is a time of archiving."""
    limit, before = call.limit(50, 100), call.query.get("before")
    if before is not None:
        try:
            bound = iso(datetime.fromisoformat(before).timestamp())
        except ValueError:
            text = f"Could not parse {before}. Should be ISO8601."
            raise invalid_form("before", "DATE_TIME_TYPE_PARSE", text) from None
        threads = [t for t in threads if iso(t.archive_changed_at) < bound]
    found = sorted(threads, key=lambda t: t.archive_changed_at, reverse=True)
    return Reply(200, {**_listed(call, found[:limit]), "has_more": len(found) > limit})


def _listed(call: Call, threads: Sequence[Thread]) -> Payload:
    bot = call.world.bot
    memberships = [payloads.thread_member(t, bot.id) for t in threads if bot.id in t.joined]
    return {"threads": [payloads.thread(t) for t in threads], "members": memberships}
