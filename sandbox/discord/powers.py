"""What members do to each other and to the guild, as far as their permissions and roles go. Member has these methods.

Each is done in the member's name, leaves its line in the audit log, and raises NotPermitted, with Discord's words, for
what Discord would not let the member do.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .errors import NotPermitted, Refusal, missing_permissions
from .fields import ChannelFields, GuildFields, RoleFields, ThreadFields
from .permissions import NOTHING, Overwrite, Permission
from .polls import Answer, Poll

if TYPE_CHECKING:
    from .messages import File, Message
    from .people import Member, Role, User, Webhook
    from .places import Channel, Kind, Place, Thread
    from .world import World


class Powers:
    """Mixed into Member."""

    __slots__ = ()

    def as_member(self) -> Member:
        raise NotImplementedError

    @property
    def _world(self) -> World:
        return self.as_member().guild.world

    @contextmanager
    def _may(self, deed: str) -> Generator[Member]:
        """The member, who must still be in the guild, around something that Discord may refuse."""
        member = self.as_member()
        if member.guild.members.get(member.id) is not member:
            raise NotPermitted(f"{member} cannot {deed}: they are not in {member.guild.name} any more")
        try:
            yield member
        except Refusal as refused:
            raise NotPermitted(f"{member} cannot {deed}: {refused.words}") from refused

    # members

    async def kicks(self, member: Member, *, reason: str | None = None) -> None:
        with self._may(f"kick {member}") as me:
            self._world.moderation.kick(member, by=me, reason=reason)
        await self._world.breathe()

    async def bans(self, who: Member | User, *, delete_seconds: int = 0, reason: str | None = None) -> None:
        """Ban a member or somebody who is not here, and delete what they said in the last ``delete_seconds``."""
        with self._may(f"ban {who}") as me:
            self._world.moderation.ban(me.guild, who.as_user(), by=me, delete_seconds=delete_seconds, reason=reason)
        await self._world.breathe()

    async def unbans(self, who: Member | User, *, reason: str | None = None) -> None:
        with self._may(f"unban {who}") as me:
            self._world.moderation.unban(me.guild, who.as_user(), by=me, reason=reason)
        await self._world.breathe()

    async def times_out(self, member: Member, seconds: float, *, reason: str | None = None) -> None:
        """For so many seconds, at most 28 days."""
        with self._may(f"time {member} out") as me:
            until = self._world.clock.now() + seconds
            self._world.moderation.time_out(member, until, by=me, reason=reason)
        await self._world.breathe()

    async def lifts_timeout(self, member: Member, *, reason: str | None = None) -> None:
        with self._may(f"lift the time-out of {member}") as me:
            self._world.moderation.time_out(member, None, by=me, reason=reason)
        await self._world.breathe()

    async def renames(self, member: Member, nick: str | None, *, reason: str | None = None) -> None:
        """Give a nickname (None takes it away), to another or to oneself."""
        with self._may(f"rename {member}") as me:
            self._world.moderation.rename(member, nick, by=me, reason=reason)
        await self._world.breathe()

    async def gives(self, member: Member, *roles: Role, reason: str | None = None) -> None:
        with self._may(f"give roles to {member}") as me:
            self._world.roles.assign(member, add=roles, by=me, reason=reason)
        await self._world.breathe()

    async def takes(self, member: Member, *roles: Role, reason: str | None = None) -> None:
        with self._may(f"take roles from {member}") as me:
            self._world.roles.assign(member, remove=roles, by=me, reason=reason)
        await self._world.breathe()

    # roles

    async def creates_role(
        self, name: str, *, permissions: Permission = NOTHING, mentionable: bool = False, reason: str | None = None
    ) -> Role:
        """A role at the bottom of the hierarchy."""
        with self._may(f"create the role {name}") as me:
            fields = RoleFields(name, permissions, mentionable=mentionable)
            role = self._world.roles.create(me.guild, fields, by=me, reason=reason)
        await self._world.breathe()
        return role

    async def edits_role(
        self,
        role: Role,
        *,
        name: str | None = None,
        permissions: Permission | None = None,
        mentionable: bool | None = None,
        reason: str | None = None,
    ) -> None:
        with self._may(f"edit the role {role.name}") as me:
            fields = RoleFields(name, permissions, mentionable=mentionable)
            self._world.roles.edit(role, fields, by=me, reason=reason)
        await self._world.breathe()

    async def moves_role(self, role: Role, position: int, *, reason: str | None = None) -> None:
        """To a place in the hierarchy, counted from @everyone's 0."""
        with self._may(f"move the role {role.name}") as me:
            self._world.roles.sort(me.guild, {role: position}, by=me, reason=reason)
        await self._world.breathe()

    async def deletes_role(self, role: Role, *, reason: str | None = None) -> None:
        with self._may(f"delete the role {role.name}") as me:
            self._world.roles.delete(role, by=me, reason=reason)
        await self._world.breathe()

    # channels

    async def creates_channel(
        self,
        name: str,
        kind: Kind,
        *,
        category: Channel | None = None,
        topic: str | None = None,
        slowmode: int | None = None,
        reason: str | None = None,
    ) -> Channel:
        with self._may(f"create the channel {name}") as me:
            fields = ChannelFields(name=name, topic=topic, slowmode=slowmode)
            made = self._world.layout.create(me.guild, kind, fields, by=me, parent=category, reason=reason)
        await self._world.breathe()
        return made

    async def edits_channel(
        self,
        channel: Channel,
        *,
        name: str | None = None,
        topic: str | None = None,
        nsfw: bool | None = None,
        slowmode: int | None = None,
        reason: str | None = None,
    ) -> None:
        with self._may(f"edit {channel}") as me:
            fields = ChannelFields(name=name, topic=topic, nsfw=nsfw, slowmode=slowmode)
            self._world.layout.edit(channel, fields, by=me, reason=reason)
        await self._world.breathe()

    async def deletes_channel(self, channel: Channel, *, reason: str | None = None) -> None:
        with self._may(f"delete {channel}") as me:
            self._world.layout.delete(channel, by=me, reason=reason)
        await self._world.breathe()

    async def sets_permissions(
        self,
        channel: Channel,
        target: Role | Member,
        *,
        allow: Permission = NOTHING,
        deny: Permission = NOTHING,
        reason: str | None = None,
    ) -> None:
        """An overwrite for a role or a member; one grants and forbids only what one has."""
        with self._may(f"set permissions in {channel}") as me:
            overwrite = Overwrite(target.id, target.overwrite_kind, allow, deny)
            self._world.layout.put_overwrite(channel, overwrite, by=me, reason=reason)
        await self._world.breathe()

    async def clears_permissions(self, channel: Channel, target: Role | Member, *, reason: str | None = None) -> None:
        with self._may(f"clear permissions in {channel}") as me:
            self._world.layout.delete_overwrite(channel, target.id, by=me, reason=reason)
        await self._world.breathe()

    async def creates_webhook(self, channel: Channel, name: str, *, reason: str | None = None) -> Webhook:
        with self._may(f"create a webhook in {channel}") as me:
            made = self._world.hooks.create(channel, name, by=me, reason=reason)
        await self._world.breathe()
        return made

    # the guild

    async def edits_guild(
        self,
        *,
        name: str | None = None,
        system_channel: Channel | None = None,
        verification_level: int | None = None,
        reason: str | None = None,
    ) -> None:
        with self._may("edit the guild") as me:
            system_id = None if system_channel is None else system_channel.id
            values = GuildFields(name=name, system_channel_id=system_id, verification_level=verification_level)
            self._world.governance.edit(me.guild, values, by=me, reason=reason)
        await self._world.breathe()

    async def boosts(self, times: int = 1) -> None:
        """Boost the guild; its level rises with the second, seventh and fourteenth boost."""
        with self._may("boost") as me:
            self._world.governance.boost(me, times)
        await self._world.breathe()

    async def stops_boosting(self, times: int = 1) -> None:
        """So many of their boosts run out."""
        with self._may("stop boosting") as me:
            self._world.governance.end_boosts(me, times)
        await self._world.breathe()

    # messages and threads

    async def asks(
        self, place: Place, question: str, answers: Sequence[str], *, hours: int = 24, multiselect: bool = False
    ) -> Message:
        """Post a poll. Its answers are numbered from 1."""
        channel = place.as_channel()
        with self._may(f"post a poll in {channel}") as me:
            self._world.speech.must_speak(me.user, channel)
            if Permission.SEND_POLLS not in channel.permissions_of(me):
                raise missing_permissions(Permission.SEND_POLLS)
            chosen = tuple(Answer(number, text) for number, text in enumerate(answers, start=1))
            poll = Poll(question, chosen, self._world.clock.now() + hours * 3600, multiselect)
            from .speech import Draft  # speech needs the people, so it cannot be at the top

            posted = self._world.speech.post(channel, Draft(me.user, poll=poll))
        await self._world.breathe()
        return posted

    async def posts(
        self, forum: Channel, title: str, text: str, *, tags: Sequence[str] = (), files: Sequence[File] = ()
    ) -> Thread:
        """Open a post in a forum. Its first message has the thread's own id."""
        with self._may(f"post in {forum}") as me:
            applied = [tag.id for tag in forum.tags if tag.name in tags]
            thread = self._world.threads.start(forum, title, owner=me.user, applied_tags=applied)
            from .speech import Draft  # as in asks

            self._world.speech.post(thread, Draft(me.user, text, files=files, id=thread.id))
        await self._world.breathe()
        return thread

    async def votes(self, message: Message, *answers: int) -> None:
        """For answers of a poll by their numbers, in place of an earlier vote where only one is allowed."""
        with self._may("vote") as me:
            self._world.polls.vote(message, me.user, answers)
        await self._world.breathe()

    async def takes_vote_back(self, message: Message) -> None:
        with self._may("take a vote back") as me:
            self._world.polls.take_back(message, me.user)
        await self._world.breathe()

    async def ends_poll(self, message: Message) -> None:
        """End one's own poll before its time."""
        with self._may("end a poll") as me:
            self._world.polls.end(message, by=me.user)
        await self._world.breathe()

    async def pins(self, message: Message, *, reason: str | None = None) -> None:
        with self._may("pin a message") as me:
            self._world.pins.pin(message, by=me.user, reason=reason)
        await self._world.breathe()

    async def unpins(self, message: Message, *, reason: str | None = None) -> None:
        with self._may("unpin a message") as me:
            self._world.pins.unpin(message, by=me.user, reason=reason)
        await self._world.breathe()

    async def edits_thread(
        self,
        thread: Thread,
        *,
        name: str | None = None,
        archived: bool | None = None,
        locked: bool | None = None,
        reason: str | None = None,
    ) -> None:
        """Rename, archive, lock; the creator may do all but lock."""
        with self._may(f"edit {thread}") as me:
            fields = ThreadFields(name, archived, locked)
            self._world.threads.edit(thread, fields, by=me.user, reason=reason)
        await self._world.breathe()

    async def adds(self, member: Member, thread: Thread) -> None:
        """Bring somebody into a thread."""
        with self._may(f"add {member} to {thread}") as me:
            self._world.threads.add_member(thread, member.user, by=me.user)
        await self._world.breathe()

    async def removes(self, member: Member, thread: Thread) -> None:
        """Put somebody out of a thread."""
        with self._may(f"remove {member} from {thread}") as me:
            self._world.threads.remove_member(thread, member.user, by=me.user)
        await self._world.breathe()
