"""Who has the floor: whether somebody may say something in a place, now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .clock import created_at
from .errors import Refusal, missing_access, missing_permissions
from .messages import CHAT_COMMANDS
from .permissions import Permission
from .places import Channel, Kind, Thread

if TYPE_CHECKING:
    from .people import User
    from .world import World


class Floor:
    """Every method raises the Refusal that Discord would answer."""

    def __init__(self, world: World) -> None:
        self._world = world

    def must_speak(self, author: User, channel: Channel) -> None:
        """Raises the Refusal that the author would get for a post here."""
        if channel.guild is None:
            if author not in channel.recipients:
                raise missing_access()
            if author is self._world.bot and not all(r.accepts_dms for r in channel.recipients):
                raise Refusal(403, 50007, "Cannot send messages to this user")
            return
        if not channel.visible_to(author):
            raise missing_access()
        if channel.is_forum:
            raise Refusal(400, 40058, "Cannot send a message in a forum channel")
        if channel.kind is Kind.CATEGORY:
            raise Refusal(400, 50008, "Cannot send messages in a non-text channel")
        allowed = channel.permissions_of(author)
        need = Permission.SEND_MESSAGES_IN_THREADS if isinstance(channel, Thread) else Permission.SEND_MESSAGES
        if need not in allowed:
            raise missing_permissions(need)
        if isinstance(channel, Thread) and channel.locked and Permission.MANAGE_THREADS not in allowed:
            if channel.archived:
                raise Refusal(400, 50083, "Thread is archived")
            raise Refusal(400, 160005, "Thread is locked")
        self._must_be_verified(author, channel)
        self.must_not_hurry(author, channel)

    def _must_be_verified(self, author: User, channel: Channel) -> None:
        """Of people without a role: 5 minutes on Discord at the medium level, 10 in the guild at the high one.

        https://discord.com/developers/docs/resources/guild#guild-object-verification-level. That an account has a
        verified e-mail address or telephone is taken for granted.
        """
        guild = channel.guild
        member = None if guild is None else guild.members.get(author.id)
        if guild is None or member is None or author.bot or member.roles or member.id == guild.owner_id:
            return
        now, level = self._world.clock.now(), guild.verification_level
        too_new = (level >= 2 and now < created_at(author.id) + 300) or (level >= 3 and now < member.joined_at + 600)
        if member.pending or too_new:
            raise Refusal(403, 50009, "Channel verification level is too high for you to gain access")

    def must_not_hurry(self, author: User, channel: Channel, *, threads: bool = False) -> None:
        """Raises 20016 for who has said something (or, with ``threads``, begun one) here within the slowmode.

        Bots and holders of Bypass Slowmode are unaffected:
        https://discord.com/developers/docs/resources/channel#channel-object-channel-structure.
        """
        if not channel.slowmode or author.bot or Permission.BYPASS_SLOWMODE in channel.permissions_of(author):
            return
        guild, now = channel.guild, self._world.clock.now()
        if threads and guild is not None:
            made = [t.created_at for t in guild.threads.values() if t.parent is channel and t.owner is author]
        else:
            made = [m.created_at for m in channel.shelf.everything() if m.author is author and m.kind in CHAT_COMMANDS]
        if made and now < max(made) + channel.slowmode:
            wait = max(made) + channel.slowmode - now
            text = f"This action cannot be performed due to slowmode rate limit ({wait:.1f} s left)"
            raise Refusal(429, 20016, text)
