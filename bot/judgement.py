"""From a wish to its end: look, decide, and do what is allowed. The one way to an action, for turns and for cards."""

from dataclasses import replace
from typing import Final

import structlog

from bot.authority import Ask, Refused, decide
from bot.effects import Effects, Errand
from bot.errors import ReadFault
from bot.metrics import DECISIONS
from bot.sight import Asker, Sights
from bot.wishes import Wish
from tools.ports import ActionReport

log = structlog.get_logger(__name__)

ANNOUNCEMENTS: Final = 5
"""Discord's type of a channel whose messages others follow, and whose threads have a type of their own."""


class Judgement:
    """Decides on wishes, and has those done that may be."""

    def __init__(self, sights: Sights, effects: Effects) -> None:
        self._sights = sights
        self._effects = effects

    async def on_record(self, wish: Wish, errand: Errand) -> ActionReport | None:
        """What the record says of the same wish, where it was settled already."""
        return await self._effects.on_record(wish, errand)

    async def attempt(self, wish: Wish, errand: Errand, *, confirmed: bool) -> ActionReport | Ask:
        """Do it if it may be done now; Ask where only the requester's word is missing.

        Raises TurnLost where a newer lease has the effect in hand.
        """
        asker = Asker(errand.scope, errand.trigger_id, errand.requester_id)
        try:
            sight = await self._sights.look(wish, asker, confirmed=confirmed)
        except ReadFault as fault:
            log.warning("action.facts_unavailable", action=wish.name, cause=str(fault))
            said = "Discord cannot say right now whether this may be done, so nothing was done. It can be tried later."
            return ActionReport("refused", "discord_unavailable", said)
        decision = decide(wish, sight)
        DECISIONS.labels(wish.name, type(decision).__name__.lower()).inc()
        match decision:
            case Refused(code, message):
                log.info("action.refused", action=wish.name, code=code, trigger_id=errand.trigger_id)
                return ActionReport("refused", code, message)
            case Ask():
                return decision
            case _:
                announcing = sight.place is not None and sight.place.kind == ANNOUNCEMENTS
                errand = replace(
                    errand,
                    requester_name=errand.requester_name or sight.words.author_name,
                    governs=sight.requester.governs,
                    announcements=announcing,
                )
                return await self._effects.apply(wish, errand)
