"""Channels and threads: reading, changing, deleting, typing, and making threads."""

from __future__ import annotations

from dataclasses import replace

from sandbox.discord import payloads
from sandbox.discord.errors import Misuse, NotPermitted, Refusal, missing_permissions, unknown
from sandbox.discord.people import User
from sandbox.discord.permissions import Permission
from sandbox.discord.places import Channel, Kind, Thread

from .drafts import draft_from
from .router import Call, Reply, Routes

routes = Routes()
_ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


@routes.get("/channels/{channel_id}")
def channel(call: Call) -> Reply:
    return Reply(200, payloads.channel(call.channel()))


@routes.patch("/channels/{channel_id}")
def change(call: Call) -> Reply:
    found = call.channel()
    if isinstance(found, Thread):
        _change_thread(call, found)
        return Reply(200, payloads.thread(found))
    if found.guild is None or not call.may(found, Permission.MANAGE_CHANNELS):
        raise missing_permissions()
    name, topic = call.form.text("name", least=1, most=100), call.form.text("topic", most=1024)
    call.form.done()
    found.edit(name=name, topic=topic)
    return Reply(200, payloads.channel(found))


def _change_thread(call: Call, thread: Thread) -> None:
    """Archive, lock, rename. Anybody who may post can unarchive one that is not locked; its owner may archive it."""
    form, manager = call.form, call.may(thread, Permission.MANAGE_THREADS)
    name = form.text("name", least=1, most=100)
    minutes = form.choice("auto_archive_duration", _ARCHIVE_MINUTES)
    archived, locked = form.flag("archived", thread.archived), form.flag("locked", thread.locked)
    form.done()
    own = thread.owner is call.world.bot
    only_unarchives = set(form.data) == {"archived"} and not archived
    if not manager:
        if thread.locked or locked:
            raise missing_permissions()
        if not own and not only_unarchives:
            raise missing_permissions()
    if thread.archived and archived:
        raise Refusal(400, 50083, "Thread is archived")
    thread.name = thread.name if name is None else name
    thread.auto_archive_minutes = thread.auto_archive_minutes if minutes is None else minutes
    call.world.rooms.set_archived(thread, archived=archived, locked=locked)


@routes.delete("/channels/{channel_id}")
def delete(call: Call) -> Reply:
    found = call.channel()
    if found.is_dm:
        return Reply(200, payloads.channel(found))
    need = Permission.MANAGE_THREADS if found.is_thread else Permission.MANAGE_CHANNELS
    if not call.may(found, need):
        raise missing_permissions()
    body = payloads.channel(found)
    found.delete()
    return Reply(200, body)


@routes.post("/channels/{channel_id}/typing")
def typing(call: Call) -> Reply:
    found = call.channel()
    call.world.speech.must_speak(call.world.bot, found)
    call.world.speech.typing(call.world.bot, found)
    return Reply(204)


@routes.post("/channels/{channel_id}/messages/{message_id}/threads")
def thread_on_message(call: Call) -> Reply:
    parent = call.channel()
    message = call.message(parent)
    return _start(call, parent, name=_name(call), on=message.id)


@routes.post("/channels/{channel_id}/threads")
def thread_alone(call: Call) -> Reply:
    parent = call.channel()
    if parent.kind is Kind.FORUM:
        return _forum_post(call, parent)
    return _start(call, parent, name=_name(call), private=call.form.choice("type", (10, 11, 12)) in (None, 12))


def _name(call: Call) -> str:
    name = call.form.text("name", least=1, most=100, required=True)
    call.form.done()
    return name or ""


def _start(call: Call, parent: Channel, *, name: str, on: int | None = None, private: bool = False) -> Reply:
    minutes = call.form.choice("auto_archive_duration", _ARCHIVE_MINUTES) or 1440
    call.form.done()
    origin = parent if on is None else parent.shelf.get(on)
    if origin is None:
        raise unknown("Message")
    try:
        thread = call.world.rooms.start_thread(
            origin, name, owner=call.world.bot, private=private, auto_archive_minutes=minutes
        )
    except NotPermitted:
        raise missing_permissions() from None
    except Misuse:
        raise Refusal(400, 50024, "Cannot execute action on this channel type") from None
    return Reply(201, payloads.thread(thread))


def _forum_post(call: Call, forum: Channel) -> Reply:
    """A post is a thread and its first message, which takes the thread's id."""
    name, inner = call.form.text("name", least=1, most=100, required=True), call.form.child("message")
    if inner is None:
        call.form.error("message", "BASE_TYPE_REQUIRED", "This field is required")
    call.form.done()
    if not call.may(forum, Permission.SEND_MESSAGES):
        raise missing_permissions()
    draft = draft_from(call, inner or call.form, forum)
    thread = call.world.rooms.start_thread(forum, name or "", owner=call.world.bot, announce=False)
    message = call.world.speech.post(thread, replace(draft, id=thread.id))
    return Reply(201, {**payloads.thread(thread), "message": payloads.message(message, gateway=False)})


@routes.get("/channels/{channel_id}/threads/archived/public")
def archived_threads(call: Call) -> Reply:
    parent = call.channel()
    guild = parent.guild
    found = [] if guild is None else [t for t in guild.threads.values() if t.parent is parent and t.archived]
    found = sorted((t for t in found if not t.is_private), key=lambda t: t.archive_changed_at, reverse=True)
    limit = call.limit(50, 100)
    shown = [payloads.thread(t) for t in found[:limit]]
    return Reply(200, {"threads": shown, "members": [], "has_more": len(found) > limit})


def _thread(call: Call) -> Thread:
    found = call.channel()
    if not isinstance(found, Thread):
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    return found


def _somebody(call: Call) -> User:
    if call.params["user_id"] == "@me":
        return call.world.bot
    user = call.world.users.get(call.id("user_id"))
    if user is None:
        raise unknown("User")
    return user


@routes.put("/channels/{channel_id}/thread-members/{user_id}")
def join_thread(call: Call) -> Reply:
    thread = _thread(call)
    if thread.archived:
        raise Refusal(400, 50083, "Thread is archived")
    call.world.rooms.join_thread(thread, _somebody(call))
    return Reply(204)


@routes.delete("/channels/{channel_id}/thread-members/{user_id}")
def leave_thread(call: Call) -> Reply:
    thread = _thread(call)
    who = _somebody(call)
    if who is not call.world.bot and not call.may(thread, Permission.MANAGE_THREADS):
        raise missing_permissions()
    call.world.rooms.leave_thread(thread, who)
    return Reply(204)


@routes.get("/channels/{channel_id}/thread-members")
def thread_members(call: Call) -> Reply:
    thread = _thread(call)
    return Reply(200, [payloads.thread_member(thread, user_id) for user_id in thread.joined])


@routes.get("/channels/{channel_id}/thread-members/{user_id}")
def thread_member(call: Call) -> Reply:
    thread = _thread(call)
    who = _somebody(call)
    if who.id not in thread.joined:
        raise unknown("Member")
    return Reply(200, payloads.thread_member(thread, who.id))
