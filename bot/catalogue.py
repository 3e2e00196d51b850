"""All commands that Muninn has, as they are declared beside their handlers."""

from typing import Final

from bot.commands.declaration import Declaration
from bot.stopping import STOP
from bot.why import WHY

COMMANDS: Final[tuple[Declaration, ...]] = (STOP, WHY)
