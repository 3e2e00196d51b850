"""Where who governs a guild has what is kept of a channel, or of a former member, deleted.

Whether they may is decided from Discord's facts when it is asked for, and again when it is confirmed (I5).
"""

from dataclasses import dataclass
from typing import Final, Literal

import structlog

from bot.bodies import Component, button, row
from bot.erasure import requests
from bot.erasure.requests import Seal
from bot.errors import CommandRefused
from bot.governing import Governing
from bot.interactions import EXPIRED_BUTTON, Command, Interaction, Interactions, Press, Reply
from bot.privacy.deadline import OTHERS, deadline, is_over
from bot.privacy.slash import CHANNEL, MEMBER, PURGE_CHANNEL, PURGE_MEMBER
from memory.database import BORROW_S, Pool
from memory.ids import PlaceId, UserId

log = structlog.get_logger(__name__)

PREFIX: Final = "purge-kept"

_MAY_NOT: Final = "Only who administers this server may do this, so nothing was done."
_HERE_STILL: Final = (
    "They are a member of this server, so their data is theirs to delete, by `/privacy delete`; nothing was done."
)


@dataclass(frozen=True, slots=True)
class Purging:
    """Answers the commands of admins."""

    pool: Pool
    seal: Seal
    governing: Governing

    def open(self, interactions: Interactions) -> None:
        """Offer the commands."""
        interactions.on_command(PURGE_CHANNEL, self.channel)
        interactions.on_command(PURGE_MEMBER, self.member)
        interactions.on_press(PREFIX, self.pressed)

    async def channel(self, command: Command, reply: Reply) -> None:
        """Ask once more."""
        place_id = command.need(CHANNEL)
        await self._require(command, "place", place_id)
        await reply.say(
            f"**Delete what I keep of <#{place_id}>?** Messages, memories that rest on them, summaries, questions and "
            "answers. It cannot be undone. Messages stay on Discord itself, and what is written from now on is kept.",
            components=_sure("place", place_id, command.user_id),
        )

    async def member(self, command: Command, reply: Reply) -> None:
        """Ask once more."""
        user_id = command.need(MEMBER)
        await self._require(command, "member", user_id)
        await reply.say(
            f"**Delete what I keep of <@{user_id}> in this server?** Messages, memories that rest on them, questions "
            "and answers. It cannot be undone. Cases of moderation stay, and what others wrote.",
            components=_sure("member", user_id, command.user_id),
        )

    async def pressed(self, press: Press, reply: Reply) -> None:
        """It was confirmed, or not. `purge-kept:<kind>:<what>:<by whom>:<until>`; `no` for the kind keeps it."""
        parts = press.custom_id.split(":")
        if len(parts) != 5 or not all(part.isdecimal() for part in parts[2:]):
            raise CommandRefused(EXPIRED_BUTTON)
        if int(parts[3]) != press.user_id:
            raise CommandRefused(OTHERS)
        if parts[1] == "no":
            await reply.update("Nothing was deleted.")
            return
        if parts[1] not in ("place", "member") or is_over(parts[4]):
            raise CommandRefused(EXPIRED_BUTTON)
        kind: Literal["place", "member"] = "place" if parts[1] == "place" else "member"
        subject_id = int(parts[2])
        await self._require(press, kind, subject_id)
        async with self.pool.acquire(timeout=BORROW_S) as conn, conn.transaction():
            erasure = await requests.ask(
                conn, self.seal, kind, subject_id, space_id=press.scope.space_id, by=press.user_id
            )
        log.info("erasure.asked", erasure_id=erasure.erasure_id, kind=kind, guild_id=press.scope.space_id)
        await reply.update(f"Deleting. The receipt is `{erasure.receipt}`; `/privacy receipt` tells what became of it.")

    async def _require(self, interaction: Interaction, kind: str, subject_id: int) -> None:
        """Raises CommandRefused where they may not, and ReadFailed where Discord cannot say."""
        facts = await self.governing.require(
            interaction.scope,
            interaction.user_id,
            _MAY_NOT,
            is_direct=interaction.is_direct,
            place_id=PlaceId(subject_id) if kind == "place" else None,
        )
        if kind == "member" and await facts.member(UserId(subject_id)) is not None:
            raise CommandRefused(_HERE_STILL)


def _sure(kind: str, subject_id: int, by: UserId) -> list[Component]:
    until = deadline()
    return [
        row(
            button("Delete it", f"{PREFIX}:{kind}:{subject_id}:{by}:{until}", "danger"),
            button("Keep it", f"{PREFIX}:no:{subject_id}:{by}:{until}"),
        )
    ]
