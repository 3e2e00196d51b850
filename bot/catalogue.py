"""All commands that Muninn has, as they are declared beside their handlers."""

from typing import Final

from bot.commands.declaration import Declaration
from bot.moderation.slash import MODERATION
from bot.stopping import STOP
from bot.why import WHY

COMMANDS: Final[tuple[Declaration, ...]] = (*MODERATION, STOP, WHY)
