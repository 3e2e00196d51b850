"""The other part of the door: answers to interactions, with all pings off (I11).

An interaction takes one first answer within three seconds, and more for fifteen minutes, under its token, which is
never stored or logged (I13). Whether it was answered is known to Discord alone, which turns a second first answer
away: so these leave no receipt, as typing leaves none.
"""

from typing import Final, Literal, TypeAlias

import structlog
from discord.http import Route

from bot.bodies import Attached, Body, ResponseKind, response, with_file
from bot.errors import WriteInDoubt, WriteRefused
from bot.rest import Rest

log = structlog.get_logger(__name__)

Sent: TypeAlias = Literal["taken", "over", "failed"]
"""Whether Discord took it; `over`: the interaction's token is good for nothing any more."""

OVER: Final = frozenset({50027, 10015, 10062})
"""Invalid Webhook Token, Unknown Webhook, Unknown interaction."""

FIRST_WITHIN_S: Final = 2.5
LATER_WITHIN_S: Final = 10.0


class Responses:
    """Answers interactions of the application. All methods say whether Discord took it, and raise
    nothing of its."""

    def __init__(self, rest: Rest, application_id: int) -> None:
        self._rest = rest
        self._application_id = application_id

    async def first(
        self,
        interaction_id: int,
        token: str,
        kind: ResponseKind,
        data: Body | None = None,
        attached: Attached | None = None,
    ) -> bool:
        """The first answer. False where it comes too late, or where it was answered before."""
        route = Route(
            "POST",
            "/interactions/{interaction_id}/{webhook_token}/callback",
            interaction_id=interaction_id,
            webhook_token=token,
        )
        return await self._sent(route, response(kind, data), FIRST_WITHIN_S, interaction_id, attached) == "taken"

    async def follow_up(self, interaction_id: int, token: str, message: Body, attached: Attached | None = None) -> Sent:
        """One more message, after the first answer."""
        route = Route(
            "POST",
            "/webhooks/{webhook_id}/{webhook_token}",
            webhook_id=self._application_id,
            webhook_token=token,
        )
        return await self._sent(route, message, LATER_WITHIN_S, interaction_id, attached)

    async def edit_first(
        self, interaction_id: int, token: str, message: Body, attached: Attached | None = None
    ) -> Sent:
        """Other words for the first answer, or for the message whose button was pressed."""
        route = Route(
            "PATCH",
            "/webhooks/{webhook_id}/{webhook_token}/messages/@original",
            webhook_id=self._application_id,
            webhook_token=token,
        )
        return await self._sent(route, message, LATER_WITHIN_S, interaction_id, attached)

    async def _sent(
        self, route: Route, body: Body, within_s: float, interaction_id: int, attached: Attached | None
    ) -> Sent:
        within_s = within_s if attached is None else LATER_WITHIN_S
        try:
            if attached is None:
                await self._rest.request(route, within_s=within_s, once=True, json=body)
            else:
                await self._rest.request(route, within_s=within_s, once=True, form=with_file(body, attached))
        except WriteRefused as refusal:
            log.warning("interaction.refused", interaction_id=interaction_id, code=refusal.code)
            return "over" if refusal.code in OVER else "failed"
        except WriteInDoubt as doubt:
            log.warning("interaction.in_doubt", interaction_id=interaction_id, cause=doubt.cause)
            return "failed"
        return "taken"
