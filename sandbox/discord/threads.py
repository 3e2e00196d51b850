"""Threads: starting, joining, archiving, locking, changing them, by fiat or by somebody who needs the right to.

Source: https://discord.com/developers/docs/topics/threads and
https://discord.com/developers/docs/resources/channel#modify-channel-json-params-thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from . import forums, payloads
from .audit import Action, changes_between
from .errors import Misuse, NotPermitted, Refusal, missing_permissions, unknown
from .events import Intent
from .fields import ThreadFields
from .messages import (
    HAS_THREAD,
    NAME_CHANGED,
    RECIPIENT_ADDED,
    RECIPIENT_REMOVED,
    THREAD_CREATED,
    THREAD_STARTER,
    Message,
    Reference,
)
from .permissions import Permission
from .places import ONLY_THREADS, Channel, Guild, Kind, Thread

if TYPE_CHECKING:
    from .events import Payload
    from .people import User
    from .world import World

PARENTS: Final = frozenset({Kind.TEXT, Kind.NEWS, *ONLY_THREADS})
MAX_MEMBERS: Final = 1000


class Threads:
    def __init__(self, world: World) -> None:
        self._world = world

    # starting

    def start(
        self,
        origin: Channel | Message,
        name: str,
        *,
        owner: User,
        private: bool = False,
        auto_archive_minutes: int = 1440,
        invitable: bool = True,
        slowmode: int | None = None,
        applied_tags: Sequence[int] = (),
        announce: bool = True,
        reason: str | None = None,
    ) -> Thread:
        """A thread on a message (it takes the message's id) or in a channel.

        Raises NotPermitted without the permission, Misuse where a thread cannot be, Refusal 160004 for a message
        that has one, 20016 in slowmode, 160006 in a guild that is full of active threads.
        """
        starter = origin if isinstance(origin, Message) else None
        parent = origin.channel if isinstance(origin, Message) else origin
        guild = self._check_start(parent, starter, owner, private=private)
        if parent.kind in ONLY_THREADS:
            forums.check_tags(parent, applied_tags, (), owner)
        thread = self._made(parent, starter, name, owner, private=private)
        thread.invitable, thread.auto_archive_minutes = invitable, auto_archive_minutes
        thread.slowmode = parent.default_thread_slowmode if slowmode is None else slowmode
        thread.applied_tags = list(applied_tags)
        self._world.channels[thread.id] = guild.threads[thread.id] = thread
        body = payloads.thread(thread, newly_created=True)
        self._world.publish("THREAD_CREATE", body, guild=guild, channel=thread)
        after = {**_logged(thread), "type": int(thread.kind)}
        self._log(Action.THREAD_CREATE, thread, {}, after, owner, reason)
        if announce:
            self._announce(thread, parent, starter)
        return thread

    def _made(self, parent: Channel, starter: Message | None, name: str, owner: User, *, private: bool) -> Thread:
        now = self._world.clock.now()
        public = Kind.NEWS_THREAD if parent.kind is Kind.NEWS else Kind.THREAD
        thread = Thread(
            self._world,
            self._world.ids.next() if starter is None else starter.id,
            Kind.PRIVATE_THREAD if private else public,
            name,
            parent.guild,
            parent,
            owner=owner,
            starter=starter,
            archive_changed_at=now,
            created_at=now,
        )
        thread.joined[owner.id] = now
        return thread

    def _check_start(self, parent: Channel, starter: Message | None, owner: User, *, private: bool) -> Guild:
        if parent.guild is None or parent.kind not in PARENTS or (private and parent.kind is not Kind.TEXT):
            raise Misuse(f"there can be no such thread in {parent}")
        if starter is not None and parent.kind in ONLY_THREADS:
            raise Misuse(f"there can be no thread on a message in {parent}")
        need = Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS
        if parent.kind in ONLY_THREADS:
            need = Permission.SEND_MESSAGES
        if need not in parent.permissions_of(owner):
            raise NotPermitted(f"{owner} lacks {need.name} in {parent}")
        if starter is not None and starter.thread is not None:
            raise Refusal(400, 160004, "A thread has already been created for this message")
        active = sum(not thread.archived for thread in parent.guild.threads.values())
        if active >= parent.guild.max_active_threads:
            raise Refusal(400, 160006, "Maximum number of active threads reached")
        self._world.speech.must_not_hurry(owner, parent, threads=True)
        return parent.guild

    def _announce(self, thread: Thread, parent: Channel, starter: Message | None) -> None:
        """On a message: the thread opens with a copy of it, and the message shows the thread. Else a notice."""
        from .speech import Draft  # speech needs the places, so it cannot be at the top

        guild_id = thread.home.id
        if starter is not None:
            starter.thread = thread
            starter.flags |= HAS_THREAD
            reference = Reference(parent.id, starter.id, guild_id)
            opener = Draft(thread.owner, kind=THREAD_STARTER, reference=reference, referenced=starter)
            self._world.speech.post(thread, opener)
            self._world.speech.changed(starter)
        elif not thread.is_private and parent.kind not in ONLY_THREADS:
            notice = Draft(thread.owner, thread.name, THREAD_CREATED, reference=Reference(thread.id, None, guild_id))
            self._world.speech.post(parent, notice)

    # changing

    def before_post(self, thread: Thread, author: User) -> None:
        """A post unarchives, and its author joins."""
        if thread.archived:
            self.set_archived(thread, archived=False, locked=thread.locked)
        if author.webhook_id is None:
            self.join(thread, author)

    def set_archived(self, thread: Thread, *, archived: bool, locked: bool) -> None:
        self._apply(thread, ThreadFields(archived=archived, locked=locked))

    def edit(self, thread: Thread, fields: ThreadFields, *, by: User, reason: str | None = None) -> None:
        """Somebody changes a thread. Raises 50013 for who may not, 50083 for an archived one that stays so."""
        self._check_edit(thread, fields, by)
        before = _logged(thread)
        renamed = fields.name is not None and fields.name != thread.name
        self._apply(thread, fields)
        self._log(Action.THREAD_UPDATE, thread, before, _logged(thread), by, reason)
        if renamed and not thread.archived:
            self._notice(thread, by, NAME_CHANGED, thread.name)

    def _check_edit(self, thread: Thread, fields: ThreadFields, by: User) -> None:
        """The creator may do what needs no manager; whoever can write may reopen what is not locked."""
        allowed = thread.permissions_of(by)
        if Permission.MANAGE_THREADS not in allowed:
            if thread.locked or fields.locked is not None or fields.slowmode is not None or fields.pinned is not None:
                raise missing_permissions()
            if thread.owner is not by:
                reopens = fields == ThreadFields(archived=False)
                if not reopens or Permission.SEND_MESSAGES_IN_THREADS not in allowed:
                    raise missing_permissions()
        if thread.archived and fields.archived is not False:
            raise Refusal(400, 50083, "Thread is archived")
        if fields.applied_tags is not None:
            forums.check_tags(thread.trunk, fields.applied_tags, thread.applied_tags, by)
        if fields.pinned and not thread.pinned_post:
            forums.check_pin(thread)

    def _apply(self, thread: Thread, fields: ThreadFields) -> None:
        was_archived = thread.archived
        thread.name = thread.name if fields.name is None else fields.name
        thread.archived = thread.archived if fields.archived is None else fields.archived
        thread.locked = thread.locked if fields.locked is None else fields.locked
        thread.invitable = thread.invitable if fields.invitable is None else fields.invitable
        thread.slowmode = thread.slowmode if fields.slowmode is None else fields.slowmode
        if fields.auto_archive_minutes is not None:
            thread.auto_archive_minutes = fields.auto_archive_minutes
        if was_archived != thread.archived or fields.auto_archive_minutes is not None:
            thread.archive_changed_at = self._world.clock.now()
        if fields.applied_tags is not None:
            thread.applied_tags = list(fields.applied_tags)
        if fields.pinned is not None:
            thread.pinned_post = fields.pinned
        thread.pinned_post = thread.pinned_post and not thread.archived
        self.changed(thread)
        if was_archived and not thread.archived and self._world.bot.id in thread.joined:
            # The bot may have forgotten a thread that was archived, so it is told that it is in it.
            body: Payload = {
                **payloads.thread_member(thread, self._world.bot.id),
                "guild_id": str(thread.home.id),
            }
            self._world.publish("THREAD_MEMBER_UPDATE", body, guild=thread.guild, channel=thread)

    def must_be_open(self, place: Channel, by: User) -> None:
        """For editing messages. Raises 50083 in an archived thread, 160005 in a locked one for who does not manage."""
        if not isinstance(place, Thread):
            return
        if place.archived:
            raise Refusal(400, 50083, "Thread is archived")
        if place.locked and Permission.MANAGE_THREADS not in place.permissions_of(by):
            raise Refusal(400, 160005, "Thread is locked")

    def must_not_be_shut(self, place: Channel, by: User) -> None:
        """For deleting messages, which goes in an archived thread and in a locked one, but not in one that is both.

        https://discord.com/developers/docs/topics/threads#locked-threads
        """
        shut = isinstance(place, Thread) and place.archived and place.locked
        if shut and Permission.MANAGE_THREADS not in place.permissions_of(by):
            raise Refusal(400, 50083, "Thread is archived")

    def changed(self, thread: Thread) -> None:
        self._world.publish("THREAD_UPDATE", payloads.thread(thread), guild=thread.guild, channel=thread)

    def delete(self, thread: Thread, *, by: User | None = None, reason: str | None = None) -> None:
        if by is not None and Permission.MANAGE_THREADS not in thread.permissions_of(by):
            raise missing_permissions()
        body: Payload = {
            "id": str(thread.id),
            "guild_id": str(thread.home.id),
            "parent_id": str(thread.trunk.id),
            "type": int(thread.kind),
        }
        self._world.publish("THREAD_DELETE", body, guild=thread.guild, channel=thread)
        self._world.rooms.forget(thread)
        if by is not None:
            self._log(Action.THREAD_DELETE, thread, _logged(thread), {}, by, reason)

    # members

    def add_member(self, thread: Thread, who: User, *, by: User) -> None:
        """Somebody adds another, or joins. Raises 50083, 50001, 50013, 10007, 30033 as Discord does."""
        if thread.archived:
            raise Refusal(400, 50083, "Thread is archived")
        allowed = thread.permissions_of(by)
        if who is not by:
            if Permission.SEND_MESSAGES_IN_THREADS not in allowed:
                raise missing_permissions()
            closed = thread.is_private and not thread.invitable and thread.owner is not by
            if closed and Permission.MANAGE_THREADS not in allowed:
                raise missing_permissions()
        if who.id not in thread.home.members:
            raise unknown("Member")
        if who.id in thread.joined:
            return
        if len(thread.joined) >= MAX_MEMBERS:
            raise Refusal(400, 30033, f"Maximum number of thread participants has been reached ({MAX_MEMBERS})")
        self.join(thread, who)
        if who is not by:
            self._notice(thread, by, RECIPIENT_ADDED, about=who)

    def remove_member(self, thread: Thread, who: User, *, by: User) -> None:
        """Somebody removes another, or leaves."""
        if thread.archived:
            raise Refusal(400, 50083, "Thread is archived")
        is_host = thread.is_private and thread.owner is by
        if who is not by and not is_host and Permission.MANAGE_THREADS not in thread.permissions_of(by):
            raise missing_permissions()
        was_in = who.id in thread.joined
        self.leave(thread, who)
        if was_in and who is not by:
            self._notice(thread, by, RECIPIENT_REMOVED, about=who)

    def join(self, thread: Thread, who: User) -> None:
        if who.id in thread.joined:
            return
        thread.joined[who.id] = self._world.clock.now()
        if who is self._world.bot:
            # Whoever is added is told of the thread first; a private one is seen for the first time.
            self._world.publish("THREAD_CREATE", payloads.thread(thread), guild=thread.guild, channel=thread)
        self._members_changed(thread, added=[who.id])

    def leave(self, thread: Thread, who: User) -> None:
        if who.id in thread.joined:
            seen = thread.visible_to(self._world.bot)
            del thread.joined[who.id]
            self._members_changed(thread, removed=[who.id], seen=seen)

    def _members_changed(
        self, thread: Thread, *, added: Sequence[int] = (), removed: Sequence[int] = (), seen: bool = False
    ) -> None:
        """``seen``: the bot saw the thread until now, and is told of its own removal from a private one."""
        body: Payload = {
            "id": str(thread.id),
            "guild_id": str(thread.home.id),
            "member_count": min(len(thread.joined), 50),
        }
        if added:
            body["added_members"] = [payloads.thread_member(thread, user_id) for user_id in added]
        if removed:
            body["removed_member_ids"] = [str(user_id) for user_id in removed]
        # Without the members intent a session hears of itself alone.
        concerns_bot = self._world.bot.id in (*added, *removed)
        self._world.publish(
            "THREAD_MEMBERS_UPDATE",
            body,
            guild=thread.guild,
            channel=None if seen and concerns_bot else thread,
            intents=Intent.GUILDS if concerns_bot else None,
        )

    def _notice(self, thread: Thread, by: User, kind: int, text: str = "", *, about: User | None = None) -> None:
        from .speech import Draft  # as in _announce

        named = () if about is None else (about,)
        self._world.speech.post(thread, Draft(by, text, kind=kind, named=named))

    def _log(
        self, action: Action, thread: Thread, before: Payload, after: Payload, by: User, reason: str | None
    ) -> None:
        changes = changes_between(before, after)
        if changes:
            self._world.audit.record(thread.home, action, by, thread.id, changes=changes, reason=reason)


def _logged(thread: Thread) -> Payload:
    return {
        "name": thread.name,
        "archived": thread.archived,
        "locked": thread.locked,
        "auto_archive_duration": thread.auto_archive_minutes,
        "rate_limit_per_user": thread.slowmode,
        "applied_tags": [str(tag) for tag in thread.applied_tags],
    }
