"""With whose eyes memories are looked at, and with whose hand they are changed, decided fresh each time (I5, I6)."""

import re
from collections.abc import Mapping
from typing import Final

from bot.errors import CommandRefused
from bot.governing import Governing
from bot.interactions import Interaction
from memory.database import BORROW_S, Pool
from memory.ids import MessageId, UserId
from memory.inventory import Item, Viewer, find_memory
from memory.items import Author, Speaker
from memory.kinds import MemoryScope

NAMES: Final[Mapping[MemoryScope, str]] = {"user": "yours", "channel": "this channel's", "guild": "this server's"}

_NUMBER: Final = re.compile(r"#?([0-9]{1,18})")
_NO_SUCH: Final = "I find no such memory that is yours, this channel's or this server's, so nothing was changed."

# Whether something may be kept of these people, here.
MAY_KEEP_SQL: Final = """
SELECT setting_of($1, $2, 'memory') IS NOT DISTINCT FROM 'false'::jsonb AS is_off,
       EXISTS (SELECT FROM member_choices WHERE user_id = ANY($3::bigint[]) AND NOT (remembered AND read_by_model))
         AS declined
"""


class Eyes:
    """Looks at Discord's facts for whoever uses a command about memory. Raises ReadFault where Discord cannot say."""

    def __init__(self, pool: Pool, governing: Governing) -> None:
        self._pool = pool
        self._governing = governing

    async def viewer(self, who: Interaction, whose: MemoryScope | None = None) -> Viewer:
        """With whose eyes to look at one's own memories, or (None: too) the channel's and guild's.

        Raises CommandRefused where these cannot be shown to them.
        """
        if whose == "user" or who.is_direct:
            if whose == "guild":
                raise CommandRefused("This is a direct conversation, which belongs to no server.")
            return Viewer(who.scope, who.user_id)
        facts = self._governing.facts(who.scope.space_id)
        if not await facts.can_read(who.user_id, who.scope.place_id):
            raise CommandRefused("You cannot read this channel's history, so I show you nothing of it.")
        member = await facts.member(who.user_id)
        return Viewer(who.scope, who.user_id, reads_all=member is not None and member.is_administrator)

    async def author(
        self,
        who: Interaction,
        scope: MemoryScope,
        *,
        message_id: MessageId | None = None,
        speaker: Speaker | None = None,
        keeps: bool = True,
    ) -> Author:
        """With whose hand to change a memory of that scope. `keeps`: something new is kept by it.

        Raises CommandRefused where memory is off here, or somebody concerned does not want to be remembered. Whether
        they may is for memory to refuse by `governs`.
        """
        if keeps:
            await self._may_keep(who, speaker)
        governs = scope != "user" and await self._governing.governs(who.scope, who.user_id)
        return Author(who.scope, who.user_id, who.user_name, message_id, governs=governs, speaker=speaker)

    async def named(self, who: Interaction, which: str, viewer: Viewer | None = None) -> tuple[Item, Viewer]:
        """The memory that somebody named by its number or key. Raises CommandRefused where they see none."""
        viewer = viewer or await self._all_eyes(who)
        number = _NUMBER.fullmatch(which.strip())
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            if number is not None:
                item = await find_memory(conn, viewer, memory_id=int(number[1]))
            else:
                item = await find_memory(conn, viewer, key=which.strip())
        if item is None:
            raise CommandRefused(_NO_SUCH)
        return item, viewer

    async def _all_eyes(self, who: Interaction) -> Viewer:
        """As `viewer`, but who cannot read the channel still sees their own."""
        try:
            return await self.viewer(who)
        except CommandRefused:
            return Viewer(who.scope, UserId(who.user_id))

    async def _may_keep(self, who: Interaction, speaker: Speaker | None) -> None:
        people = [who.user_id, *([speaker.user_id] if speaker is not None else [])]
        async with self._pool.acquire(timeout=BORROW_S) as conn:
            row = await conn.fetchrow(MAY_KEEP_SQL, who.scope.space_id, who.scope.place_id, people)
        assert row is not None  # noqa: S101 - a SELECT without FROM has one row
        if row["is_off"]:
            raise CommandRefused("Memory is switched off here by who runs this server, so nothing was stored.")
        if row["declined"]:
            raise CommandRefused("Somebody concerned chose not to be remembered, so nothing was stored.")


def scope_named(name: str | None) -> MemoryScope | None:
    """The scope of that name, if it is one."""
    match name:
        case "user" | "channel" | "guild":
            return name
        case _:
            return None
