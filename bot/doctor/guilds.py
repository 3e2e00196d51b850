"""What the doctor sees of the guilds: what Muninn may do in each, channel by channel, by name where it lacks something.

The arithmetic is Discord's: https://discord.com/developers/docs/topics/permissions#permission-overwrites
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from bot.doctor.findings import Finding, fault, ok, skip, warn
from bot.doctor.visit import FAILURES, Visit, reason_of
from bot.invitation import (
    ATTACH,
    EMBED,
    HISTORY,
    SEND,
    SEND_IN_THREADS,
    VIEW,
    WANTED,
    Wanted,
    invite_link,
    permission_bits,
)

MOST_GUILDS: Final = 50
"""Guilds that are looked into: each costs three requests."""

PAGE: Final = 200
"""Discord's limit for one page of guilds."""

MOST_NAMED: Final = 8
ADMINISTRATOR: Final = 1 << 3

# Kinds of channels in which members talk in messages: text, announcements, and the chats of voice and stage channels;
# in forums and media channels they talk in threads.
_TALK: Final = frozenset({0, 2, 5, 13})
_FORUMS: Final = frozenset({15, 16})
_ESSENTIAL: Final = permission_bits(each for each in WANTED if each.essential)


@dataclass(frozen=True, slots=True)
class _Channel:
    name: str
    is_forum: bool
    allowed: int

    def lacks(self, wanted: Wanted) -> bool:
        return not self.allowed & wanted.bit

    @property
    def speaks(self) -> bool:
        """Whether Muninn can hear and answer here; in a forum, in its threads."""
        needed = (VIEW.bit | HISTORY.bit | SEND_IN_THREADS.bit) if self.is_forum else _ESSENTIAL
        return self.allowed & needed == needed


async def examine(visit: Visit, application_id: int) -> list[Finding]:
    """The guilds that the bot is in, and what it lacks there."""
    try:
        listed = await _listed(visit)
    except FAILURES as error:
        return [
            fault(
                "guilds.listed",
                f"Discord does not tell which guilds the bot is in: {reason_of(error)}.",
                "Try again later.",
            )
        ]
    if not listed:
        return [
            warn("guilds.listed", "The bot is in no guild yet.", f"Invite it: open {invite_link(application_id)} .")
        ]
    found = [ok("guilds.listed", f"The bot is in {len(listed)} {'guild' if len(listed) == 1 else 'guilds'}.")]
    for guild in listed[:MOST_GUILDS]:
        found += await _guild(visit, guild)
    if len(listed) > MOST_GUILDS:
        found.append(skip("guilds.more", f"Only the first {MOST_GUILDS} guilds were looked into."))
    return found


async def _listed(visit: Visit) -> list[dict[str, Any]]:
    guilds: list[dict[str, Any]] = []
    after = 0
    while True:
        page = cast("list[dict[str, Any]]", await visit.get("/users/@me/guilds", limit=PAGE, after=after))
        guilds += page
        if len(page) < PAGE or len(guilds) > MOST_GUILDS:
            return guilds
        after = int(page[-1]["id"])


async def _guild(visit: Visit, listed: Mapping[str, Any]) -> list[Finding]:
    guild_id, name = str(listed["id"]), str(listed.get("name"))
    try:
        guild = cast("dict[str, Any]", await visit.get(f"/guilds/{guild_id}"))
        member = cast("dict[str, Any]", await visit.get(f"/guilds/{guild_id}/members/{visit.user['id']}"))
        channels = cast("list[dict[str, Any]]", await visit.get(f"/guilds/{guild_id}/channels"))
        seen = _channels(guild, member, channels, int(visit.user["id"]))
    except FAILURES as error:
        says = f"The guild {name} could not be looked into: {reason_of(error)}."
        return [warn("guilds.readable", says, "Try again later; it may be unavailable for a while.", subject=guild_id)]
    return [*_silenced(member, name, guild_id), *_places(seen, name, guild_id)]


def _silenced(member: Mapping[str, Any], name: str, guild_id: str) -> list[Finding]:
    until = member.get("communication_disabled_until")
    if not until or datetime.fromisoformat(str(until)).timestamp() <= time.time():
        return []
    says = f"In {name} the bot is timed out until {until}, and can say nothing."
    return [fault("guilds.timed_out", says, "Ask a moderator there to remove the time-out.", subject=guild_id)]


def _places(channels: Sequence[_Channel], name: str, guild_id: str) -> list[Finding]:
    seen = [channel for channel in channels if not channel.lacks(VIEW)]
    unseen = [channel for channel in channels if channel.lacks(VIEW)]
    found: list[Finding] = []
    if not any(channel.speaks for channel in seen):
        lacking = [wanted.label for wanted in WANTED if wanted.essential and all(c.lacks(wanted) for c in seen)]
        lacking = lacking if seen else [VIEW.label]
        found.append(
            fault(
                "guilds.speaks",
                f"In {name} there is no channel in which the bot can hear and answer"
                f"{f': it lacks {_and(lacking)} everywhere' if lacking else ''}.",
                f"Give its role {_and(lacking or [VIEW.label, SEND.label, HISTORY.label])} in {name}, or in a channel "
                "there.",
                subject=guild_id,
            )
        )
    else:
        count = sum(channel.speaks for channel in seen)
        says = f"In {name} the bot can hear and answer in {count} of {len(channels)} channels"
        hidden = f"; it does not see {_named(unseen)}" if unseen else ""
        found.append(ok("guilds.speaks", f"{says}{hidden}.", subject=guild_id))
    for wanted in WANTED:
        lacking = [channel for channel in seen if channel.lacks(wanted) and _matters(wanted, channel)]
        if lacking and wanted is not VIEW:
            where = "any channel" if len(lacking) == len(seen) else _named(lacking)
            found.append(
                warn(
                    f"guilds.{wanted.label.lower().replace(' ', '_')}",
                    f"In {name} the bot lacks {wanted.label} in {where}, so it cannot {wanted.without}.",
                    f"Give its role {wanted.label} there, unless it is meant to be so.",
                    subject=guild_id,
                )
            )
    return found


def _matters(wanted: Wanted, channel: _Channel) -> bool:
    """In a forum nobody sends messages but in its threads; and who may send nothing sends no cards and files."""
    if wanted is SEND:
        return not channel.is_forum
    return wanted not in (EMBED, ATTACH) or channel.is_forum or not channel.lacks(SEND)


def _channels(
    guild: Mapping[str, Any], member: Mapping[str, Any], channels: Sequence[Mapping[str, Any]], own_id: int
) -> list[_Channel]:
    """The guild's places to talk, with what the bot may do in each."""
    guild_id = int(guild["id"])
    held = {int(role) for role in member["roles"]} | {guild_id}
    granted = 0
    for role in cast("list[dict[str, Any]]", guild["roles"]):
        if int(role["id"]) in held:
            granted |= int(role["permissions"])
    everything = bool(granted & ADMINISTRATOR) or int(guild["owner_id"]) == own_id
    return [
        _Channel(
            f"#{str(channel.get('name'))[:60]}",
            channel["type"] in _FORUMS,
            ~0 if everything else _overwritten(granted, channel, guild_id, held, own_id),
        )
        for channel in sorted(channels, key=lambda each: int(each.get("position") or 0))
        if channel["type"] in _TALK or channel["type"] in _FORUMS
    ]


def _overwritten(granted: int, channel: Mapping[str, Any], guild_id: int, held: set[int], own_id: int) -> int:
    """First @everyone's overwrite, then those of all roles at once, of which allowing wins, then the bot's own."""
    overwrites = {
        int(each["id"]): (int(each["allow"]), int(each["deny"]))
        for each in cast("list[dict[str, Any]]", channel.get("permission_overwrites") or [])
    }
    roles = [overwrites[role] for role in held - {guild_id} if role in overwrites]
    role_allow, role_deny = 0, 0
    for allow, deny in roles:
        role_allow |= allow
        role_deny |= deny
    for allow, deny in (overwrites.get(guild_id, (0, 0)), (role_allow, role_deny), overwrites.get(own_id, (0, 0))):
        granted = granted & ~deny | allow
    return granted if granted & VIEW.bit else 0


def _named(channels: Sequence[_Channel]) -> str:
    names = [channel.name for channel in channels[:MOST_NAMED]]
    more = len(channels) - len(names)
    return f"{', '.join(names)} and {more} more" if more > 0 else _and(names)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
