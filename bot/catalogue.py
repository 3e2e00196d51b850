"""All commands that Muninn has, as they are declared beside their handlers."""

from typing import Final

from bot.commands.declaration import Declaration
from bot.memories.declarations import MEMORY_COMMANDS
from bot.moderation.slash import MODERATION
from bot.stopping import STOP
from bot.why import WHY

COMMANDS: Final[tuple[Declaration, ...]] = (*MEMORY_COMMANDS, *MODERATION, STOP, WHY)
