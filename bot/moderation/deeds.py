"""What can be done, as data: one declaration a deed says whom it meets, what it needs, how long, and what undoes it.

Names of permissions are those of discord.Permissions; they hold for requester and bot alike, as Discord has them:
https://discord.com/developers/docs/resources/guild and https://discord.com/developers/docs/resources/channel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from bot.moderation.spans import DAY, HOUR, MINUTE

DeedName = Literal[
    "ban",
    "unban",
    "kick",
    "timeout",
    "untimeout",
    "warn",
    "note",
    "purge",
    "slowmode",
    "lock",
    "unlock",
    "role_add",
    "role_remove",
    "nickname",
    "channel_create",
    "channel_edit",
    "channel_delete",
    "retract",
]
DEED_NAMES: Final[tuple[DeedName, ...]] = get_args(DeedName)

Target = Literal["member", "user", "place", "guild", "case"]
"""A member who is there; anybody by id; a channel or thread; the guild itself; a case of our own."""

TIMEOUT_MOST_S: Final = 28 * DAY - MINUTE
"""Discord takes 28 days at most, counted by its own clock: a minute less, so that two clocks need not agree."""

DELETE_MOST_S: Final = 7 * DAY
"""How far back Discord deletes messages with a ban."""

BULK_S: Final = 14 * DAY - MINUTE
"""Discord deletes messages together only while they are younger than 14 days."""

SLOWMODE_MOST_S: Final = 6 * HOUR
PURGE_MOST: Final = 200
OLD_MOST: Final = 25
"""How many messages that are too old to be deleted together are deleted one by one."""

TARGETS_MOST: Final = 10


@dataclass(frozen=True, slots=True)
class Span:
    """How long something holds, in seconds. `default`: where nothing was said; None: for good (or it must be said)."""

    most_s: int
    default_s: int | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """One declaration.

    `ask` and `done` go around the target ("ban X", "X was banned"); `press` is on the button, where the title would not
    do. `needs` is what the requester must be able to do, `bot_needs` what the bot must (the same unless it says
    otherwise). `ranks`: the hierarchy of roles counts.
    `punishes`: nobody does it to themselves, to the bot, or to another bot. `span`: it can be for a time, and then ends
    by itself, by its undoing. `final`: what of it cannot be undone. `notice`: what its member is told beforehand, by
    direct message.
    """

    name: DeedName
    title: str
    ask: str
    done: str
    target: Target
    needs: str
    bot_needs: str | None = None
    ranks: bool = False
    punishes: bool = False
    span: Span | None = None
    undo: DeedName | None = None
    final: str = ""
    notice: str | None = None
    press: str = ""


_TEN_YEARS: Final = 3650 * DAY

_ALL: Final = (
    Deed(
        "ban", "Ban", "ban {}", "{} was banned", "user", "ban_members", ranks=True, punishes=True,
        span=Span(_TEN_YEARS), undo="unban", final="Deleted messages do not come back, and roles are lost.",
        notice="You were banned from {guild}",
    ),
    Deed("unban", "Unban", "lift the ban of {}", "The ban of {} was lifted", "user", "ban_members",
         press="Lift ban"),
    Deed(
        "kick", "Kick", "kick {}", "{} was kicked", "member", "kick_members", ranks=True, punishes=True,
        final="It cannot be undone: they can come back by an invite, without their roles.",
        notice="You were removed from {guild}",
    ),
    Deed(
        "timeout", "Timeout", "time out {}", "{} was timed out", "member", "moderate_members", ranks=True,
        punishes=True, span=Span(TIMEOUT_MOST_S, HOUR), undo="untimeout", notice="You were timed out in {guild}",
    ),
    Deed(
        "untimeout", "Timeout lifted", "end the timeout of {}", "The timeout of {} was lifted", "member",
        "moderate_members", ranks=True, press="End timeout",
    ),
    Deed(
        "warn", "Warning", "warn {}", "{} was warned", "member", "moderate_members", bot_needs="", ranks=True,
        punishes=True, undo="retract", final="What they read cannot be taken back.",
        notice="You were warned in {guild}", press="Warn",
    ),
    Deed(
        "note", "Note", "keep a note about {}", "A note about {} was kept", "user", "moderate_members", bot_needs="",
        undo="retract", press="Keep note",
    ),
    Deed(
        "purge", "Purge", "delete messages in {}", "Messages in {} were deleted", "place", "manage_messages",
        final="It cannot be undone.", press="Delete messages",
    ),
    Deed(
        "slowmode", "Slow mode", "set the slow mode of {}", "The slow mode of {} was set", "place", "manage_channels",
        undo="slowmode", press="Set slow mode",
    ),
    Deed(
        "lock", "Lock", "lock {}", "{} was locked", "place", "manage_roles", span=Span(_TEN_YEARS), undo="unlock",
    ),
    Deed("unlock", "Unlock", "unlock {}", "{} was unlocked", "place", "manage_roles", undo="lock"),
    Deed(
        "role_add", "Role given", "give a role to {}", "{} was given a role", "member", "manage_roles",
        span=Span(_TEN_YEARS), undo="role_remove", press="Give role",
    ),
    Deed(
        "role_remove", "Role taken", "take a role from {}", "A role was taken from {}", "member", "manage_roles",
        undo="role_add", press="Take role",
    ),
    Deed(
        "nickname", "Nickname", "rename {}", "{} was renamed", "member", "manage_nicknames", ranks=True,
        undo="nickname", press="Rename",
    ),
    Deed(
        "channel_create", "Channel made", "make a channel in {}", "A channel was made in {}", "guild",
        "manage_channels", undo="channel_delete", press="Make channel",
    ),
    Deed(
        "channel_edit", "Channel changed", "change {}", "{} was changed", "place", "manage_channels",
        undo="channel_edit", press="Change channel",
    ),
    Deed(
        "channel_delete", "Channel deleted", "delete {}", "{} was deleted", "place", "manage_channels",
        final="It cannot be undone: its messages are lost.", press="Delete channel",
    ),
    Deed(
        "retract", "Retracted", "retract {}", "{} was retracted", "case", "moderate_members", bot_needs="",
        press="Retract",
    ),
)  # fmt: skip

DEEDS: Final[Mapping[DeedName, Deed]] = {deed.name: deed for deed in _ALL}

IN_THREADS: Final[Mapping[str, str]] = {"manage_channels": "manage_threads", "manage_roles": "manage_threads"}
"""What a thread asks for instead."""
