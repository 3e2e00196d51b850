"""What moderators do to members: kick, ban, lift a ban, time out, rename.

Source: https://discord.com/developers/docs/resources/guild#modify-guild-member and the routes after it, and
https://discord.com/developers/docs/topics/permissions#permission-hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from . import payloads, ranks
from .audit import Action, changes_between
from .clock import created_at, iso
from .errors import Refusal, invalid_form, missing_permissions, unknown
from .messages import THREAD_STARTER
from .permissions import EVERYTHING, Permission, in_guild, of_roles

if TYPE_CHECKING:
    from .events import Payload
    from .messages import Message
    from .people import Member, User
    from .places import Channel, Guild
    from .world import World

MAX_TIMEOUT_SECONDS: Final = 28 * 86_400
MAX_DELETE_SECONDS: Final = 7 * 86_400
MAX_BULK_BAN: Final = 200
MAX_NICK: Final = 32
BULK_SECONDS: Final = 14 * 86_400
UNDELETABLE: Final = frozenset({1, 2, 3, 4, 5, THREAD_STARTER})
"""https://discord.com/developers/docs/resources/message#message-object-message-types"""


@dataclass(frozen=True, slots=True)
class Ban:
    user: User
    reason: str | None


class Moderation:
    """``by`` is the member who does it. What Discord forbids raises the Refusal that it would answer."""

    def __init__(self, world: World) -> None:
        self._world = world

    def kick(self, member: Member, *, by: Member, reason: str | None = None) -> None:
        by.must(Permission.KICK_MEMBERS)
        self._must_stand_above(by, member)
        self._world.memberships.remove(member)
        self._world.audit.record(member.guild, Action.MEMBER_KICK, by.user, member.id, reason=reason)

    def ban(self, guild: Guild, user: User, *, by: Member, delete_seconds: int = 0, reason: str | None = None) -> None:
        """Ban a member or somebody who is not there, and delete what they said in the last ``delete_seconds``.

        Who is banned already stays so, and nothing happens.
        """
        by.must(Permission.BAN_MEMBERS)
        member = guild.members.get(user.id)
        if member is not None:
            self._must_stand_above(by, member)
        if user.id in guild.bans:
            return
        guild.bans[user.id] = Ban(user, reason)
        if member is not None:
            self._world.memberships.remove(member)
        self._tell(guild, "GUILD_BAN_ADD", user)
        if delete_seconds:
            self._forget_words(guild, user, self._world.clock.now() - delete_seconds)
        self._world.audit.record(guild, Action.MEMBER_BAN_ADD, by.user, user.id, reason=reason)

    def ban_all(
        self, guild: Guild, users: Sequence[User], *, by: Member, delete_seconds: int = 0, reason: str | None = None
    ) -> list[User]:
        """Ban up to 200 at once; those that were banned. Raises 500000 when it was none."""
        by.must(Permission.BAN_MEMBERS)
        by.must(Permission.MANAGE_GUILD)
        done: list[User] = []
        for user in users:
            member = guild.members.get(user.id)
            if user.id in guild.bans or (member is not None and not ranks.above_member(by, member)):
                continue
            self.ban(guild, user, by=by, delete_seconds=delete_seconds, reason=reason)
            done.append(user)
        if not done:
            raise Refusal(400, 500000, "Failed to ban users")
        return done

    def unban(self, guild: Guild, user: User, *, by: Member, reason: str | None = None) -> None:
        by.must(Permission.BAN_MEMBERS)
        if guild.bans.pop(user.id, None) is None:
            raise unknown("Ban")
        self._tell(guild, "GUILD_BAN_REMOVE", user)
        self._world.audit.record(guild, Action.MEMBER_BAN_REMOVE, by.user, user.id, reason=reason)

    def time_out(
        self, member: Member, until: float | None, *, by: Member | None = None, reason: str | None = None
    ) -> None:
        """Until a time (seconds since 1970, at most 28 days ahead), or None to end it. None for ``by`` is by fiat."""
        if by is not None:
            self.check_time_out(member, until, by)
        before: Payload = {"communication_disabled_until": _time(member.timed_out_until)}
        member.timed_out_until = until
        self._world.memberships.changed(member)
        self._log_update(member, before, {"communication_disabled_until": _time(until)}, by, reason)

    def rename(self, member: Member, nick: str | None, *, by: Member | None = None, reason: str | None = None) -> None:
        """Give a nickname or take it away. One's own needs another permission than somebody else's."""
        if by is not None:
            self.check_rename(member, by)
        if nick is not None and len(nick) > MAX_NICK:
            raise invalid_form("nick", "BASE_TYPE_BAD_LENGTH", f"Must be {MAX_NICK} or fewer in length.")
        before: Payload = {"nick": member.nick}
        member.nick = nick or None
        self._world.memberships.changed(member)
        self._log_update(member, before, {"nick": member.nick}, by, reason)

    def delete(self, message: Message, *, by: User, reason: str | None = None) -> None:
        """One's own, or with Manage Messages anybody's. Raises 50021 for what cannot be deleted."""
        channel = message.channel
        if message.kind in UNDELETABLE:
            raise Refusal(403, 50021, "Cannot execute action on a system message")
        self._world.threads.must_not_be_shut(channel, by)
        if message.author is not by:
            self._must_manage(channel, by)
        self._world.speech.delete(message)
        if channel.guild is not None and message.author is not by:
            options: Payload = {"channel_id": str(channel.id), "count": "1"}
            self._world.audit.record(
                channel.guild, Action.MESSAGE_DELETE, by, message.author.id, options=options, reason=reason
            )

    def delete_many(self, channel: Channel, ids: Sequence[int], *, by: User, reason: str | None = None) -> None:
        """Several of one channel by one event. Raises 50034 if one is older than two weeks; unknown ids do nothing."""
        self._must_manage(channel, by)
        self._world.threads.must_not_be_shut(channel, by)
        if len(set(ids)) != len(ids):
            raise invalid_form("messages", "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains this value")
        if any(created_at(i) < self._world.clock.now() - BULK_SECONDS for i in ids):
            raise Refusal(400, 50034, "You can only bulk delete messages that are under 14 days old.")
        found = [message for message in (channel.shelf.get(i) for i in ids) if message is not None]
        self._world.speech.delete_bulk(channel, found)
        if channel.guild is not None:
            options: Payload = {"count": str(len(found))}
            self._world.audit.record(
                channel.guild, Action.MESSAGE_BULK_DELETE, by, channel.id, options=options, reason=reason
            )

    def _must_manage(self, channel: Channel, by: User) -> None:
        if channel.is_dm:
            raise Refusal(403, 50003, "Cannot execute action on a DM channel")
        if Permission.MANAGE_MESSAGES not in channel.permissions_of(by):
            raise missing_permissions(Permission.MANAGE_MESSAGES)

    def check_time_out(self, member: Member, until: float | None, by: Member) -> None:
        """Raises 50013 for who may not, 50035 for more than 28 days. Administrators are out of reach for everybody."""
        by.must(Permission.MODERATE_MEMBERS)
        self._must_stand_above(by, member)
        if of_roles(member) == EVERYTHING:
            raise missing_permissions()
        if until is not None and until > self._world.clock.now() + MAX_TIMEOUT_SECONDS:
            text = "Communication disabled until must be at most 28 days in the future."
            raise invalid_form("communication_disabled_until", "COMMUNICATION_DISABLED_UNTIL_MAX", text)

    def check_rename(self, member: Member, by: Member) -> None:
        """Raises 50013 for who may not."""
        if by is member:
            by.must(Permission.CHANGE_NICKNAME)
        else:
            by.must(Permission.MANAGE_NICKNAMES)
            self._must_stand_above(by, member)

    def _must_stand_above(self, by: Member, member: Member) -> None:
        if not ranks.above_member(by, member):
            raise missing_permissions()

    def _tell(self, guild: Guild, event: str, user: User) -> None:
        """Bans are told to a bot that may ban or read the audit log."""
        bot = guild.members.get(self._world.bot.id)
        allowed = Permission.BAN_MEMBERS | Permission.VIEW_AUDIT_LOG
        if bot is not None and in_guild(bot, self._world.clock.now()) & allowed:
            body: Payload = {"guild_id": str(guild.id), "user": payloads.user(user)}
            self._world.publish(event, body, guild=guild)

    def _forget_words(self, guild: Guild, user: User, since: float) -> None:
        for place in list(guild.places()):
            found = [m for m in place.shelf.live() if m.author is user and m.created_at >= since]
            for start in range(0, len(found), 100):
                self._world.speech.delete_bulk(place, found[start : start + 100])

    def _log_update(
        self, member: Member, before: Payload, after: Payload, by: Member | None, reason: str | None
    ) -> None:
        changes = changes_between(before, after)
        if by is not None and changes:
            self._world.audit.record(
                member.guild, Action.MEMBER_UPDATE, by.user, member.id, changes=changes, reason=reason
            )


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else iso(seconds)
