"""How far each person has read, for as long as the page is served."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.discord import Channel, Member, Message
from sandbox.discord.messages import CHAT_COMMANDS

MOST_COUNTED = 99


@dataclass(frozen=True, slots=True)
class Unread:
    """What is new to somebody in a place: how many messages (at most 99), and whether one of them pings them."""

    count: int
    pinged: bool
    after: int
    """The newest message that was read, 0 for none."""


class Marks:
    """One mark a person and place; what somebody says themselves is read."""

    def __init__(self) -> None:
        self._marks: dict[tuple[int, int], int] = {}

    def read(self, who: Member, place: Channel, message_id: int) -> None:
        """Raise the mark; it never falls."""
        key = who.id, place.id
        self._marks[key] = max(self._marks.get(key, 0), message_id)

    def unread(self, who: Member, place: Channel) -> Unread:
        after, count, pinged = self._marks.get((who.id, place.id), 0), 0, False
        for message in place.shelf.live_after(after):
            if message.author is who.user:
                count, pinged = 0, False
                continue
            if message.kind in CHAT_COMMANDS and count < MOST_COUNTED:
                count += 1
                pinged = pinged or pings(message, who) or place.is_dm
        return Unread(count, pinged, after)


def pings(message: Message, who: Member) -> bool:
    """Whether the message notifies this member."""
    told = message.pings
    return (
        told.everyone
        or told.replied_user is who.user
        or who.user in told.users
        or any(role in who.roles for role in told.roles)
    )
