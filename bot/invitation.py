"""What Muninn asks a guild for: permissions, each with what fails without it, and the link that asks for them.

Names are those that Discord's own settings show. Source of bits: https://discord.com/developers/docs/topics/permissions
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import discord

AUTHORIZE: Final = "https://discord.com/oauth2/authorize"
SCOPES: Final = "bot%20applications.commands"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A permission. `essential`: without it Muninn cannot answer at all; `without` completes "It cannot ..."."""

    bit: int
    label: str
    without: str
    essential: bool = False


def _bit(**flag: bool) -> int:
    return discord.Permissions(**flag).value


VIEW: Final = Wanted(_bit(read_messages=True), "View Channel", "hear what is said there", essential=True)
SEND: Final = Wanted(_bit(send_messages=True), "Send Messages", "answer there", essential=True)
SEND_IN_THREADS: Final = Wanted(_bit(send_messages_in_threads=True), "Send Messages in Threads", "answer in threads")
HISTORY: Final = Wanted(
    _bit(read_message_history=True),
    "Read Message History",
    "fetch what was said while it was away, or reply to a message",
    essential=True,
)

EMBED: Final = Wanted(_bit(embed_links=True), "Embed Links", "show cards")
ATTACH: Final = Wanted(_bit(attach_files=True), "Attach Files", "send a long answer as a file")

WANTED: Final = (
    VIEW,
    SEND,
    HISTORY,
    SEND_IN_THREADS,
    Wanted(_bit(add_reactions=True), "Add Reactions", "react, or mark messages that came too long ago"),
    Wanted(_bit(create_public_threads=True), "Create Public Threads", "open a thread"),
    Wanted(_bit(create_private_threads=True), "Create Private Threads", "open a private thread"),
    EMBED,
    ATTACH,
    Wanted(_bit(pin_messages=True), "Pin Messages", "pin a message"),
)


def permission_bits(wanted: Iterable[Wanted] = WANTED) -> int:
    """The permissions as the integer that Discord's links and roles take."""
    bits = 0
    for each in wanted:
        bits |= each.bit
    return bits


def invite_link(application_id: int) -> str:
    """The address at which somebody with Manage Server lets the bot into a guild."""
    return f"{AUTHORIZE}?client_id={application_id}&scope={SCOPES}&permissions={permission_bits()}"
