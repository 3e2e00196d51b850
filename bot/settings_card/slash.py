"""The commands about settings, as Discord is told of them."""

from typing import Final

import discord

from bot.commands.declaration import Family, Slash
from bot.commands.options import place, role, text, whole

SETTINGS: Final = Family(
    "settings", "How I behave in this server.", where="guilds", offered_to=discord.Permissions(manage_guild=True)
)
CHANNEL: Final = place("channel", "For one channel; left out: for the whole server.")
DAYS: Final = whole("days", "Days; 0: as long as who runs me keeps them.", required=True, least=0, most=3_650)
LOG: Final = place("log", "Where cases of moderation are told; left out: nowhere.")
ROLE: Final = role("role", "Who may do with me what administrators may.", required=True)
LANGUAGE: Final = text("language", "Such as de or pt-BR; left out: that of who asks.", most=20)
TOKENS: Final = whole("tokens", "Tokens a day for the server; 0: the operator's.", required=True, least=0, most=10**12)
EACH: Final = whole("each", "Tokens a day for each member; 0: the operator's.", least=0, most=10**12)

SHOW: Final = Slash("show", "See and change how I behave here.", (CHANNEL,), SETTINGS, where="guilds")
RETENTION: Final = Slash("retention", "How long messages are kept.", (DAYS,), SETTINGS, where="guilds")
MOD_LOG: Final = Slash("mod-log", "Where cases of moderation are told.", (LOG,), SETTINGS, where="guilds")
ADMIN_ROLE: Final = Slash("admin-role", "Name a role, or take it back.", (ROLE,), SETTINGS, where="guilds")
LANGUAGE_OF: Final = Slash("language", "The language that I answer in.", (LANGUAGE, CHANNEL), SETTINGS, where="guilds")
BUDGET: Final = Slash("budget", "What may be spent here in a day.", (TOKENS, EACH), SETTINGS, where="guilds")
HISTORY: Final = Slash("history", "Who changed what, and when.", (), SETTINGS, where="guilds")
SETTINGS_COMMANDS: Final = (SHOW, RETENTION, MOD_LOG, ADMIN_ROLE, LANGUAGE_OF, BUDGET, HISTORY)
