"""The commands and menus of moderation, each with what order it makes of its options."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import discord

from bot.commands.declaration import Declaration, Family, Menu, Slash
from bot.commands.options import Option, person, place, role, text, whole
from bot.errors import CommandRefused
from bot.interactions.payloads import Command
from bot.links import message_link
from bot.moderation import spans
from bot.moderation.deeds import DELETE_MOST_S, PURGE_MOST, SLOWMODE_MOST_S, DeedName
from bot.moderation.office import PurgeWish
from bot.moderation.orders import REASON_MOST, Order

MOD: Final = Family(
    "mod",
    "Moderation: every action shows a card first, and leaves a case.",
    "guilds",
    discord.Permissions(moderate_members=True),
)

MEMBER: Final = person("member", "Whom it is about.", required=True)
WHO: Final = person("member", "Whom it is about; also by id, when they are not here.", required=True)
MORE: Final = text("more", "Further members, as mentions or ids.", most=600)
REASON: Final = text("reason", "Why; it stands in the case and in the audit log.", most=REASON_MOST)
WHY: Final = text("reason", "Why; they read it.", required=True, most=REASON_MOST)
EVIDENCE: Final = text("evidence", "Links to messages.", most=600)
LASTS: Final = text("duration", "For how long: 10m, 2h, 7d. Without it: for good.", most=40)
TIMEOUT: Final = text("duration", "For how long: 10m, 2h, 7d (28d at most). Without it: an hour.", most=40)
DELETE: Final = text("delete", "Delete their messages of the last: 1h, 1d, 7d (at most).", most=40)
COUNT: Final = whole("count", "How many of the last messages.", required=True, least=1, most=PURGE_MOST)
AUTHOR: Final = person("member", "Only those of this member.")
CHANNEL: Final = place("channel", "Which channel or thread; without it, this one.")
ANY_CHANNEL: Final = place("channel", "Which channel.", required=True, kinds=(0, 2, 4, 5, 13, 15, 16))
SLOWMODE: Final = text("interval", "Between two messages of one member: 5s, 1m; 0 is off.", required=True, most=40)
ROLE: Final = role("role", "Which role.", required=True)
NICK: Final = text("name", "The new nickname; without it, it is taken away.", most=32)
NAME: Final = text("name", "Its name.", required=True, most=100)
NEW_NAME: Final = text("name", "Another name.", most=100)
TOPIC: Final = text("topic", "What it is about.", least=0, most=1024)
NEW_SLOWMODE: Final = text("interval", "Between two messages of one member: 5s, 1m; 0 is off.", most=40)
KIND: Final = text("kind", "What kind of channel.", choices=("text", "voice", "category", "announcement", "forum"))
NUMBER: Final = whole("number", "The number of the case.", required=True, least=1, most=2**31 - 1, suggested=True)

_KINDS: Final[Mapping[str, int]] = {"text": 0, "voice": 2, "category": 4, "announcement": 5, "forum": 15}
_IDS: Final = re.compile(r"\b\d{15,20}\b")
_LINK: Final = re.compile(r"https://(?:\w+\.)?discord(?:app)?\.com/channels/(\d+|@me)/\d+/\d+")


@dataclass(frozen=True, slots=True)
class Ask:
    """A command that asks for a deed, as it is declared."""

    declared: Slash
    deed: DeedName

    def order(self, command: Command) -> Order:
        """The order that its options make. Raises CommandRefused where they make none."""
        fields: dict[str, Any] = {}
        for option in self.declared.options:
            reading = None if option is AUTHOR else _READERS.get(option.name)
            if reading is not None and (value := command.get(option)) is not None:
                fields |= reading(value)
        users = [*fields.pop("users", ()), *fields.pop("others", ())]
        return shaped(Order(self.deed, users=tuple(dict.fromkeys(users)), **fields))

    def listing(self, command: Command) -> PurgeWish | None:
        """What a purge is to list."""
        return PurgeWish(command.need(COUNT), command.get(AUTHOR)) if self.deed == "purge" else None


@dataclass(frozen=True, slots=True)
class MenuAsk:
    """A menu that asks for a deed, without further options. On a message: the message is the evidence."""

    declared: Menu
    deed: DeedName

    def order(self, command: Command) -> Order | None:
        """The order; None where Discord shows no message."""
        if self.declared.on == "member":
            return shaped(Order(self.deed, users=(command.target_id or 0,)))
        if command.message is None:
            return None
        message_id = command.message.message_id
        if self.deed == "purge":
            return Order("purge", messages=(message_id,))
        link = message_link(command.scope.space_id, command.scope.place_id, message_id)
        return shaped(Order(self.deed, users=(command.message.author_id,), evidence=(link,)))


def shaped(order: Order) -> Order:
    """The order with its times within Discord's bounds. Raises CommandRefused where there is nothing to do."""
    span, seconds = order.declared.span, order.seconds
    if span is not None:
        wanted = span.default_s if seconds is None else seconds
        if wanted is not None and wanted > span.most_s:
            return replace(order, seconds=span.most_s, clamped=True)
        return replace(order, seconds=wanted)
    if order.deed == "channel_edit" and order.name is None and order.topic is None and seconds is None:
        raise CommandRefused("Say what to change: its name, its topic or its slow mode; nothing was done.")
    if seconds is not None and seconds > SLOWMODE_MOST_S:
        return replace(order, seconds=SLOWMODE_MOST_S, clamped=True)
    return order


def _span(value: str) -> int:
    seconds = spans.read(value)
    if seconds is None:
        raise CommandRefused("I do not read that as a time; write it like 10m, 2h or 7d; nothing was done.")
    return seconds


def _interval(value: str) -> int:
    return 0 if value.strip().casefold() in ("0", "0s", "off", "none") else _span(value)


def links(value: str) -> tuple[str, ...]:
    """The links to messages in a text, at most five."""
    return tuple(found[0] for found in _LINK.finditer(value))[:5]


# What an option becomes, by its name.
_READERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "member": lambda value: {"users": (value,)},
    "more": lambda value: {"others": tuple(int(each) for each in _IDS.findall(value))},
    "reason": lambda value: {"reason": value},
    "evidence": lambda value: {"evidence": links(value)},
    "duration": lambda value: {"seconds": _span(value)},
    "delete": lambda value: {"delete_s": min(_span(value), DELETE_MOST_S)},
    "channel": lambda value: {"place_id": value},
    "interval": lambda value: {"seconds": _interval(value)},
    "role": lambda value: {"role_id": value},
    "name": lambda value: {"name": value},
    "topic": lambda value: {"topic": value},
    "kind": lambda value: {"kind": _KINDS[value]},
}


def _mod(name: str, description: str, *options: Option[Any], group: str | None = None) -> Slash:
    return Slash(name, description, options, MOD, group, "guilds")


ASKS: Final = (
    Ask(_mod("ban", "Ban somebody, here or not, for a time or for good.", WHO, REASON, LASTS, DELETE, EVIDENCE, MORE),
        "ban"),
    Ask(_mod("unban", "Lift a ban.", WHO, REASON), "unban"),
    Ask(_mod("kick", "Remove a member.", MEMBER, REASON, EVIDENCE, MORE), "kick"),
    Ask(_mod("timeout", "Let a member be silent for a while.", MEMBER, TIMEOUT, REASON, EVIDENCE, MORE), "timeout"),
    Ask(_mod("untimeout", "End a timeout.", MEMBER, REASON), "untimeout"),
    Ask(_mod("warn", "Warn a member by direct message.", MEMBER, WHY, EVIDENCE), "warn"),
    Ask(_mod("note", "Keep a note about somebody; they are not told.", WHO, WHY, EVIDENCE), "note"),
    Ask(_mod("purge", "Delete the last messages, of everybody or of one.", COUNT, AUTHOR, CHANNEL, REASON), "purge"),
    Ask(_mod("slowmode", "Set the slow mode of a channel.", SLOWMODE, CHANNEL, REASON), "slowmode"),
    Ask(_mod("lock", "Let nobody write in a channel, for a time or for good.", CHANNEL, LASTS, REASON), "lock"),
    Ask(_mod("unlock", "Let people write in a channel again.", CHANNEL, REASON), "unlock"),
    Ask(_mod("nickname", "Give a member another nickname, or none.", MEMBER, NICK, REASON), "nickname"),
    Ask(_mod("add", "Give a member a role, for a time or for good.", MEMBER, ROLE, LASTS, REASON, MORE, group="role"),
        "role_add"),
    Ask(_mod("remove", "Take a role from a member.", MEMBER, ROLE, REASON, MORE, group="role"), "role_remove"),
    Ask(_mod("create", "Make a channel.", NAME, KIND, TOPIC, REASON, group="channel"), "channel_create"),
    Ask(_mod("edit", "Change a channel.", ANY_CHANNEL, NEW_NAME, TOPIC, NEW_SLOWMODE, REASON, group="channel"),
        "channel_edit"),
    Ask(_mod("delete", "Delete a channel.", ANY_CHANNEL, REASON, group="channel"), "channel_delete"),
)  # fmt: skip

MENU_ASKS: Final = (
    MenuAsk(Menu("Time out", "A timeout of an hour.", "member", "guilds", MOD.offered_to), "timeout"),
    MenuAsk(Menu("Kick", "Remove a member.", "member", "guilds", MOD.offered_to), "kick"),
    MenuAsk(Menu("Ban", "Ban a member for good.", "member", "guilds", MOD.offered_to), "ban"),
    MenuAsk(Menu("Delete message", "Delete this message, with a case.", "message", "guilds", MOD.offered_to), "purge"),
    MenuAsk(Menu("Time out author", "A timeout of an hour, with this message as evidence.", "message", "guilds",
                 MOD.offered_to), "timeout"),
)  # fmt: skip

HISTORY: Final = _mod("history", "What happened to somebody here.", WHO)
HISTORY_MENU: Final = Menu("Moderation history", "What happened to a member here.", "member", "guilds", MOD.offered_to)
CASE: Final = _mod("case", "Show a case.", NUMBER)
NEW_REASON: Final = _mod("reason", "Give a case another reason.", NUMBER, WHY)
UNDO: Final = _mod("undo", "Undo what a case did, where that can be.", NUMBER)

MODERATION: Final[tuple[Declaration, ...]] = (
    *(ask.declared for ask in ASKS),
    *(menu.declared for menu in MENU_ASKS),
    HISTORY,
    HISTORY_MENU,
    CASE,
    NEW_REASON,
    UNDO,
)
"""All of them, as Discord is told."""
