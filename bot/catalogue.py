"""All commands that Muninn has, as they are declared beside their handlers."""

from typing import Final

from bot.commands.declaration import Declaration
from bot.fresh import NEW
from bot.guild_rules import RULES_COMMANDS
from bot.help import HELP
from bot.memories.declarations import MEMORY_COMMANDS
from bot.moderation.slash import MODERATION
from bot.operators import OPERATOR_COMMANDS
from bot.privacy.slash import PRIVACY_COMMANDS
from bot.reactions.defining import REACTION_COMMANDS
from bot.settings_card import SETTINGS_COMMANDS
from bot.stopping import STOP
from bot.usage import USAGE
from bot.why import WHY, WHY_HERE

COMMANDS: Final[tuple[Declaration, ...]] = (
    *MEMORY_COMMANDS,
    *MODERATION,
    *OPERATOR_COMMANDS,
    *PRIVACY_COMMANDS,
    *RULES_COMMANDS,
    *SETTINGS_COMMANDS,
    *REACTION_COMMANDS,
    HELP,
    NEW,
    STOP,
    USAGE,
    WHY,
    WHY_HERE,
)
