"""The commands about privacy, as Discord is told of them."""

from typing import Final

import discord

from bot.commands.declaration import Family, Slash
from bot.commands.options import person, place, text

PRIVACY: Final = Family("privacy", "What I keep of you, and what you want of that.")

ZONE: Final = text("zone", "A place of the tz database, such as Europe/Berlin.", required=True, most=64, suggested=True)
RECEIPT: Final = text("receipt", "The receipt that you were given.", required=True, least=8, most=40)
CHANNEL: Final = place("channel", "Which channel.", required=True)
MEMBER: Final = person("member", "Whom; they need not be here any more.", required=True)

SHOW: Final = Slash("show", "See what I keep of you, who reads it, and choose.", family=PRIVACY)
EXPORT: Final = Slash("export", "Get all that I keep of you, as a file for you alone.", family=PRIVACY)
DELETE: Final = Slash("delete", "Delete everything that I keep of you, everywhere.", family=PRIVACY)
STATUS: Final = Slash("receipt", "See what became of a deletion.", (RECEIPT,), family=PRIVACY)
TIME_ZONE: Final = Slash("timezone", "Tell me where you live, for dates and hours.", (ZONE,), family=PRIVACY)

PURGE: Final = Family(
    "purge-kept",
    "Delete what I keep of a channel or of a former member.",
    where="guilds",
    offered_to=discord.Permissions(administrator=True),
)
PURGE_CHANNEL: Final = Slash("channel", "Delete what I keep of a channel.", (CHANNEL,), family=PURGE, where="guilds")
PURGE_MEMBER: Final = Slash("member", "Delete what I keep of a former member.", (MEMBER,), family=PURGE, where="guilds")

PRIVACY_COMMANDS: Final = (SHOW, EXPORT, DELETE, STATUS, TIME_ZONE, PURGE_CHANNEL, PURGE_MEMBER)
