"""A guild that is ready to be talked in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .permissions import MODERATOR, Permission
from .places import Kind

if TYPE_CHECKING:
    from .api import Discord
    from .people import Member
    from .places import Channel, Guild


@dataclass(frozen=True, slots=True)
class Workshop:
    """The guild *Workshop*: two open channels, one for its staff, a forum, and who is in it."""

    guild: Guild
    general: Channel
    help: Channel
    staff: Channel
    ideas: Channel
    ada: Member
    ben: Member
    mod: Member
    admin: Member


def workshop(discord: Discord) -> Workshop:
    """Build it: Ada and Ben are members, Mo moderates, Agnes administrates, Olive owns it."""
    guild = discord.create_guild("Workshop")
    moderators = guild.create_role("Moderators", permissions=MODERATOR, mentionable=True, color=0x2ECC71)
    administrators = guild.create_role("Administrators", permissions=Permission.ADMINISTRATOR, color=0xE74C3C)
    ada, ben = guild.add_member("Ada"), guild.add_member("Ben")
    mod = guild.add_member("Mo", roles=[moderators])
    admin = guild.add_member("Agnes", roles=[administrators])
    return Workshop(
        guild,
        guild.create_channel("general", topic="Anything and everything"),
        guild.create_channel("help", topic="Questions about the tools"),
        guild.create_channel("staff", private_to=[moderators, administrators]),
        guild.create_channel("ideas", kind=Kind.FORUM),
        ada,
        ben,
        mod,
        admin,
    )
