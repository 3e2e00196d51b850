"""Where members learn what is kept of them, choose, take it along and have it deleted.

All answers are for the person alone. Buttons carry whose they are and until when they hold; what they do is decided
anew when they are pressed.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from zoneinfo import available_timezones

import structlog

from bot.bodies import Attached, Component, button, row
from bot.erasure import requests
from bot.erasure.requests import Erasure, Seal
from bot.errors import CommandRefused
from bot.guild_settings import GuildSettingsDoor
from bot.interactions import EXPIRED_BUTTON, Command, Interaction, Interactions, Press, Reply, Typing
from bot.privacy.deadline import OTHERS, deadline, is_over
from bot.privacy.holdings import export, holdings
from bot.privacy.recipients import Recipients
from bot.privacy.slash import DELETE, EXPORT, RECEIPT, SHOW, STATUS, TIME_ZONE, ZONE
from memory.choices import Choices, choices_of, choose
from memory.database import BORROW_S, Pool
from memory.ids import UserId

log = structlog.get_logger(__name__)

PREFIX: Final = "privacy"
TOLD_WITHIN_S: Final = 60.0
"""Seconds for which whoever pressed waits for the summary; after that the receipt tells."""

LOOK_S: Final = 0.3

STAYS: Final = (
    "What stays: the receipt, without your id; cases of moderation about you; what others wrote, with your mention "
    "made `@someone`; your messages on Discord itself; and, if you opted out, the choice itself with your id, so that "
    "it goes on. Copies in the operator's backups go when those expire."
)


@dataclass(frozen=True, slots=True)
class Desk:
    """Answers the commands of members."""

    pool: Pool
    seal: Seal
    recipients: Recipients
    settings: GuildSettingsDoor

    def open(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(SHOW, self.show)
        interactions.on_command(EXPORT, self.export)
        interactions.on_command(DELETE, self.delete)
        interactions.on_command(STATUS, self.status)
        interactions.on_command(TIME_ZONE, self.time_zone, suggester=self.zones)
        interactions.on_press(PREFIX, self.pressed)

    async def show(self, command: Command, reply: Reply) -> None:
        """What is kept, who reads it, and what was chosen."""
        await reply.defer()
        text, components = await self._overview(command)
        await reply.say(text, components=components)

    async def export(self, command: Command, reply: Reply) -> None:
        """A file with all of it."""
        await reply.defer()
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            content = await export(conn, command.user_id)
        attached = Attached("what-i-keep-of-you.json", content, "application/json")
        if not await reply.say("This is what I keep of you. Nobody else sees it.", attached=attached):
            await reply.say("Discord did not take the file, so you have none; please try again in a minute.")

    async def delete(self, command: Command, reply: Reply) -> None:
        """Ask once more."""
        await reply.defer()
        await reply.say(await self._question(command.user_id), components=_sure(command.user_id))

    async def _question(self, user_id: UserId) -> str:
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            kept = await holdings(conn, user_id)
        return (
            f"**Delete everything that I keep of you, in every server?** {_counted(kept)}. With them go vectors, "
            "summaries, my answers to you, and what I am working on for you now. It cannot be undone, and what you "
            f"write afterwards is kept again unless you opt out.\n{STAYS}"
        )

    async def status(self, command: Command, reply: Reply) -> None:
        """What became of a deletion; the receipt is all that is needed to ask."""
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            found = await requests.by_receipt(conn, command.need(RECEIPT))
        if found is None:
            raise CommandRefused("I know no such receipt.")
        mine = found.kind == "member" and await self._is_about(found, command.user_id)
        await reply.say(_told(found) + ("\nIt is about you." if mine else ""))

    async def _is_about(self, erasure: Erasure, user_id: UserId) -> bool:
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            return await requests.is_about(conn, erasure, self.seal.mark("member", user_id))

    async def time_zone(self, command: Command, reply: Reply) -> None:
        """Keep where they live."""
        zone = command.need(ZONE)
        async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            chosen = await choices_of(conn, command.user_id)
            try:
                await choose(conn, command.user_id, replace(chosen, time_zone=zone))
            except ValueError as error:
                raise CommandRefused(f"I know no time zone {zone!r}; pick one of those offered.") from error
        await reply.say(f"Noted: `{zone}`. Nobody else is shown it.")

    async def zones(self, typing: Typing) -> Sequence[tuple[str, str]]:
        """Time zones with what was typed."""
        asked = typing.text.casefold().replace(" ", "_")
        found = sorted(zone for zone in available_timezones() if asked in zone.casefold())
        found.sort(key=lambda zone: not zone.rpartition("/")[2].casefold().startswith(asked))
        return [(zone, zone) for zone in found[:25]]

    async def pressed(self, press: Press, reply: Reply) -> None:
        """A choice was changed, or the deletion confirmed. `privacy:<what>:<whose>[:<until>]`."""
        parts = press.custom_id.split(":")
        if len(parts) < 3 or not parts[2].isdecimal():
            raise CommandRefused(EXPIRED_BUTTON)
        if int(parts[2]) != press.user_id:
            raise CommandRefused(OTHERS)
        match parts[1]:
            case "remembered" | "read":
                await self._switch(press, reply, parts[1])
            case "ask":
                await reply.update(await self._question(press.user_id), components=_sure(press.user_id))
            case "keep":
                await reply.update("Nothing was deleted.")
            case "delete" if len(parts) == 4 and not is_over(parts[3]):
                await self._erase(press, reply)
            case _:
                raise CommandRefused(EXPIRED_BUTTON)

    async def _switch(self, press: Press, reply: Reply, what: Literal["remembered", "read"]) -> None:
        async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            chosen = await choices_of(conn, press.user_id)
            changed = (
                replace(chosen, remembered=not chosen.remembered)
                if what == "remembered"
                else replace(chosen, read_by_model=not chosen.read_by_model)
            )
            await choose(conn, press.user_id, changed)
        log.info("privacy.chosen", what=what)
        text, components = await self._overview(press)
        await reply.update(text, components=components)

    async def _erase(self, press: Press, reply: Reply) -> None:
        async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            erasure = await requests.ask(conn, self.seal, "member", press.user_id, space_id=None, by=press.user_id)
        log.info("erasure.asked", erasure_id=erasure.erasure_id, kind="member")
        await reply.update(f"Deleting. Your receipt is `{erasure.receipt}`; keep it.")
        found = await self._swept(erasure)
        if found is not None:
            await reply.update(_told(found) + f"\n{STAYS}")

    async def _swept(self, erasure: Erasure) -> Erasure | None:
        """The request as soon as all is gone; None where that takes long."""
        until = time.monotonic() + TOLD_WITHIN_S
        while time.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            async with self.pool.acquire(timeout=BORROW_S) as conn:
                found = await requests.by_receipt(conn, erasure.receipt)
            if found is not None and found.state in ("swept", "done"):
                return found
        return None

    async def _overview(self, interaction: Interaction) -> tuple[str, list[Component]]:
        async with self.pool.acquire(timeout=BORROW_S) as conn:
            kept = await holdings(conn, interaction.user_id)
            chosen = await choices_of(conn, interaction.user_id)
        here = await self.settings.of(interaction.scope.space_id, interaction.scope.place_id)
        days = f"{here.retention_days} days" if here.retention_days else "as long as nobody deletes them"
        lines = [
            f"**What I keep of you**, in all places: {_counted(kept)}.",
            f"Messages here are kept for {days}; memories until they are forgotten or you delete them. Edit or delete "
            "a message, and what I know from it alone goes with it.",
            "**Who receives text**",
            *(f"- {line}" for line in self.recipients.lines),
            "**What you chose**, everywhere",
            f"- {_remembered(chosen)}",
            f"- {_read(chosen)}",
            f"- Time zone: {chosen.time_zone or 'none; `/privacy timezone` sets it'}.",
        ]
        who = interaction.user_id
        remember = button("Do not remember me" if chosen.remembered else "Remember me", f"{PREFIX}:remembered:{who}")
        read = button(
            "Do not let the model read me" if chosen.read_by_model else "Let the model read me", f"{PREFIX}:read:{who}"
        )
        return "\n".join(lines)[:2000], [row(remember, read, button("Delete me", f"{PREFIX}:ask:{who}", "danger"))]


def _sure(user_id: UserId) -> list[Component]:
    until = deadline()
    return [
        row(
            button("Delete everything", f"{PREFIX}:delete:{user_id}:{until}", "danger"),
            button("Keep it", f"{PREFIX}:keep:{user_id}"),
        )
    ]


_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "messages": ("message", "messages"),
    "reactions": ("reaction", "reactions"),
    "memories": ("memory of you", "memories of you"),
    "told": ("memory that rests on your words", "memories that rest on your words"),
    "episodes": ("question with its answer", "questions with their answers"),
    "cases": ("case of moderation", "cases of moderation"),
}


def _counted(kept: Mapping[str, int]) -> str:
    said = [f"{kept[kind]:,} {one if kept[kind] == 1 else many}" for kind, (one, many) in _KINDS.items() if kept[kind]]
    return ", ".join(said) or "nothing"


def _remembered(chosen: Choices) -> str:
    if chosen.remembered:
        return "You may be remembered: facts that you plainly state are kept."
    return "You are not remembered: nothing is learnt from what you write, and what was known is shown to nobody."


def _read(chosen: Choices) -> str:
    if chosen.read_by_model:
        return "The model may read what you write."
    return "No model reads what you write, and so I cannot answer you."


def _told(erasure: Erasure) -> str:
    asked = f"<t:{int(erasure.asked_at.timestamp())}:f>"
    gone = ", ".join(f"{count:,} {what}" for what, count in erasure.removed.items() if count) or "nothing was there"
    match erasure.state:
        case "queued":
            return f"Receipt `{erasure.receipt}`: asked for {asked}, not done yet."
        case "swept":
            return f"Receipt `{erasure.receipt}`: deleted ({gone}); in a minute I look once more for what came since."
        case "done":
            when = f"<t:{int(erasure.done_at.timestamp())}:f>" if erasure.done_at is not None else ""
            return f"Receipt `{erasure.receipt}`: done {when}. Deleted: {gone}."
        case "called_off":
            return f"Receipt `{erasure.receipt}`: called off; nothing was deleted."
