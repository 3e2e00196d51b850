"""The desk: answers moderation's commands and menus. What is private is said to the moderator alone."""

from collections.abc import Sequence
from typing import Final

import structlog

from bot.bodies import button, row
from bot.errors import ReadFault
from bot.interactions.dispatch import CommandHandler, Interactions
from bot.interactions.payloads import Command, Press, Typing
from bot.interactions.replies import Reply
from bot.moderation import cases, wording
from bot.moderation.cases import Case
from bot.moderation.deeds import DEEDS
from bot.moderation.office import Office, Petition
from bot.moderation.orders import Order
from bot.moderation.outcomes import lapsed
from bot.moderation.rules import label
from bot.moderation.situation import Situations
from bot.moderation.slash import (
    ASKS,
    CASE,
    HISTORY,
    HISTORY_MENU,
    MENU_ASKS,
    NEW_REASON,
    NUMBER,
    UNDO,
    WHO,
    WHY,
    Ask,
    MenuAsk,
)
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, UserId
from memory.scope import Scope

log = structlog.get_logger(__name__)

OLDER: Final = "modhist"
_MAY_LOOK: Final = "moderate_members"


class Desk:
    """Answers."""

    def __init__(self, pool: Pool, office: Office, situations: Situations) -> None:
        self._pool = pool
        self._office = office
        self._situations = situations

    def open(self, interactions: Interactions) -> None:
        """Offer all of the commands, and take their buttons."""
        for ask in ASKS:
            interactions.on_command(ask.declared, self._asker(ask))
        for menu in MENU_ASKS:
            interactions.on_command(menu.declared, self._menu_asker(menu))
        interactions.on_command(HISTORY, self._history)
        interactions.on_command(HISTORY_MENU, self._history)
        interactions.on_command(CASE, self._case, suggester=self._suggest)
        interactions.on_command(NEW_REASON, self._reason, suggester=self._suggest)
        interactions.on_command(UNDO, self._undo, suggester=self._suggest)
        interactions.on_press(OLDER, self._older)

    def _asker(self, ask: Ask) -> CommandHandler:
        async def asked(command: Command, reply: Reply) -> None:
            order = ask.order(command)
            await reply.defer()
            answer = await self._office.ask(order, _petition(command), listing=ask.listing(command))
            await reply.say(answer.text)

        return asked

    def _menu_asker(self, ask: MenuAsk) -> CommandHandler:
        async def asked(command: Command, reply: Reply) -> None:
            await reply.defer()
            order = ask.order(command)
            if order is None:
                await reply.say("Discord does not show me that message, so nothing was done.")
                return
            answer = await self._office.ask(order, _petition(command))
            await reply.say(answer.text)

        return asked

    async def _undo(self, command: Command, reply: Reply) -> None:
        number = command.need(NUMBER)
        await reply.defer()
        if not await self._looks(command.scope, command.user_id, reply):
            return
        answer = await self._office.undo(number, _petition(command))
        await reply.say(answer.text)

    async def _case(self, command: Command, reply: Reply) -> None:
        number = command.need(NUMBER)
        await reply.defer()
        if not await self._looks(command.scope, command.user_id, reply):
            return
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            case = await cases.by_number(conn, command.scope.space_id, number)
        if case is not None:
            case = await self._as_it_is(case, command.user_id)
        await reply.say(f"There is no case {number} here." if case is None else wording.case_entry(case))

    async def _as_it_is(self, case: Case, user_id: UserId) -> Case:
        """The case, with what somebody undid by hand since; as it is on record where Discord cannot say."""
        try:
            at = await self._situations.look(case.order, user_id, case.scope)
        except ReadFault as fault:
            log.info("moderation.facts_unavailable", case_id=case.case_id, cause=str(fault))
            return case
        if not lapsed(case, at):
            return case
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            await cases.lapse(conn, case)
            return await cases.by_id(conn, case.space_id, case.case_id) or case

    async def _suggest(self, typing: Typing) -> Sequence[tuple[str, int]]:
        """Cases whose number begins so, or that are about somebody of that name; for who may look at cases."""
        at = await self._situations.look(Order("retract"), typing.user_id, typing.scope)
        if not at.is_guild or not at.theirs.moderate_members:
            return ()
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await cases.like(conn, typing.scope.space_id, typing.text, most=25)
        return [(wording.case_name(case), case.case_no or 0) for case in found]

    async def _reason(self, command: Command, reply: Reply) -> None:
        number, reason = command.need(NUMBER), command.need(WHY)
        await reply.defer()
        if not await self._looks(command.scope, command.user_id, reply):
            return
        space_id = command.scope.space_id
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await cases.give_reason(conn, space_id, number, reason, by=command.user_id)
        log.info("moderation.reason", space_id=space_id, case_no=number, found=found)
        said = f"Case {number} has this reason now: {wording.quoted(reason)}"
        await reply.say(said if found else f"There is no case {number} here; nothing was changed.")

    async def _history(self, command: Command, reply: Reply) -> None:
        user_id = UserId(command.target_id) if command.target_id is not None else command.need(WHO)
        await reply.defer()
        if await self._looks(command.scope, command.user_id, reply):
            await self._show_history(command.scope, user_id, reply, below=2**31 - 1)

    async def _older(self, press: Press, reply: Reply) -> None:
        """The button under a history: `modhist:<member>:<number>`."""
        _, _, rest = press.custom_id.partition(":")
        user_id, _, below = rest.partition(":")
        if not (user_id.isdecimal() and below.isdecimal()) or len(rest) > 40:
            await reply.say("This button is no longer mine.")
            return
        await reply.defer()
        if await self._looks(press.scope, press.user_id, reply):
            await self._show_history(press.scope, UserId(int(user_id)), reply, below=min(int(below), 2**31 - 1))

    async def _show_history(self, scope: Scope, user_id: UserId, reply: Reply, *, below: int) -> None:
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            found = await cases.history(conn, scope.space_id, user_id, below=below)
            totals = await cases.counts(conn, scope.space_id, user_id)
        if not found:
            await reply.say(f"There is no case about <@{user_id}> here.")
            return
        shown, more = found[: cases.PAGE], len(found) > cases.PAGE
        summed = ", ".join(f"{DEEDS[name].title.lower()} {count}" for name, count in totals.items())
        lines = [f"**<@{user_id}>** · {summed or 'nothing that stands'}", *[wording.case_line(case) for case in shown]]
        last = shown[-1].case_no
        older = row(button("Older", f"{OLDER}:{user_id}:{last}"))
        await reply.say("\n".join(lines)[: wording.CARD_MOST], components=(older,) if more else ())

    async def _looks(self, scope: Scope, user_id: UserId, reply: Reply) -> bool:
        """Whether they may look at cases; they are told where not."""
        try:
            at = await self._situations.look(Order("retract"), user_id, scope)
        except ReadFault:
            await reply.say("Discord cannot tell me right now what you may see; please try again in a minute.")
            return False
        if not at.is_guild:
            await reply.say("This works only in a server.")
            return False
        if not at.theirs.moderate_members:
            await reply.say(f"You need the permission “{label(_MAY_LOOK)}” to see cases.")
            return False
        return True


def _petition(command: Command) -> Petition:
    return Petition(command.scope, MessageId(command.interaction_id), command.user_id)
