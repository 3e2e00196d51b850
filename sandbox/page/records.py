"""What the page needs of whoever can look into the bot's database: records, ready to be shown."""

from __future__ import annotations

from typing import Protocol

from sandbox.discord.events import Payload


class Records(Protocol):
    """What the bot has on record. What comes back is JSON: ids as strings, times as ISO 8601.

    The page asks only for what the person on it can see. Both raise RecordsUnavailable.
    """

    async def message(self, space_id: int, message_id: int) -> Payload:
        """What is on record for a message: events, words, turn, runs, receipts."""
        ...

    async def run(self, space_id: int, run_id: int) -> Payload | None:
        """The steps and calls of a run; None where there is none. It names its place as `place_id`."""
        ...
