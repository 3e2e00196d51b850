"""What the tools of one turn may have done: from the record, by decision, or asked back (I4, I5, I16)."""

from bot.asking import Asking
from bot.authority import Ask
from bot.effects import Errand
from bot.judgement import Judgement
from bot.turns import Turn
from bot.wishes import wish_of
from tools.actions import Action
from tools.ports import ActionReport


class TurnActions:
    """tools.ports.Actions for one turn: requester, place and trigger are its own, whatever a tool is told (I6)."""

    def __init__(self, judgement: Judgement, asking: Asking, turn: Turn, author_name: str) -> None:
        self._judgement = judgement
        self._asking = asking
        self._turn = turn
        self._errand = Errand(
            scope=turn.scope,
            trigger_id=turn.trigger_id,
            requester_id=turn.author_id,
            requester_name=author_name,
            lease_no=turn.lease_no,
            turn_id=turn.turn_id,
        )

    async def perform(self, action: Action) -> ActionReport:
        """Decide whether the action may run now, and run it under its receipt."""
        wish = wish_of(action, here=self._turn.place_id, trigger_id=self._turn.trigger_id)
        recorded = await self._judgement.on_record(wish, self._errand)
        if recorded is not None:
            return recorded
        asked = await self._asking.standing(wish, self._errand)
        if asked is not None:
            return asked
        report = await self._judgement.attempt(wish, self._errand, confirmed=False)
        return await self._asking.ask(wish, self._errand) if isinstance(report, Ask) else report
