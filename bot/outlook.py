"""What a turn can look at and do: the ports of tools.ports, made once and bound to each turn."""

from dataclasses import dataclass
from functools import partial

from bot.actions import TurnActions
from bot.activity import PlaceActivity
from bot.addressing import Identity
from bot.agency import Agency
from bot.reading import TurnReads
from bot.research import Research, SpaceResearch
from bot.rest import Reads
from bot.turns import Turn
from memory.choices import unread
from memory.database import Pool


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where answers for tools come from."""

    pool: Pool
    reads: Reads
    me: Identity
    agency: Agency
    research: Research | None = None

    def actions(self, turn: Turn, author_name: str) -> TurnActions:
        """What may be done for the turn's author."""
        return self.agency.actions(turn, author_name)

    def discord(self, turn: Turn) -> TurnReads:
        """Discord as the turn's author and the bot both see it."""
        return TurnReads(self.reads, partial(unread, self.pool), turn.scope, turn.author_id, self.me)

    def web(self, turn: Turn) -> SpaceResearch | None:
        """The web, if research is configured."""
        return self.research.of(turn.space_id) if self.research is not None else None

    def activity(self, turn: Turn) -> PlaceActivity:
        """What the bot did in the turn's place before."""
        return PlaceActivity(self.pool, turn.scope)
