"""What the doctor sees of the guilds: what Muninn may do in each, by the names of channels where it lacks something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from bot.doctor.findings import Finding, fault, ok, skip, warn
from bot.doctor.visit import FAILURES, Visit, reason_of
from bot.errors import ReadFailed
from bot.facts import FORUM_KINDS, Facts, granted_in
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
from bot.rest import Reads, Rest
from memory.ids import SpaceId, UserId

MOST_GUILDS: Final = 50
"""Guilds that are looked into: each costs three requests."""

PAGE: Final = 200
"""Discord's limit for one page of guilds."""

MOST_NAMED: Final = 8

# Kinds of channels in which members talk in messages: text, announcements, and the chats of voice and stage channels;
# in forums and media channels they talk in threads.
_TALK: Final = frozenset({0, 2, 5, 13})
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
    reads, own_id = Reads(Rest(visit.http)), int(visit.user["id"])
    found = [ok("guilds.listed", f"The bot is in {len(listed)} {'guild' if len(listed) == 1 else 'guilds'}.")]
    for guild in listed[:MOST_GUILDS]:
        found += await _guild(reads, own_id, guild)
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


async def _guild(reads: Reads, own_id: int, listed: Mapping[str, Any]) -> list[Finding]:
    guild_id, name = str(listed["id"]), str(listed.get("name"))
    facts = Facts(reads, SpaceId(int(guild_id)), own_id)
    try:
        me, channels = await facts.member(UserId(own_id)), await facts.channels()
    except ReadFailed as error:
        me, channels, reason = None, (), error.cause
    else:
        reason = "Discord shows nothing of it"
    if me is None:
        says = f"The guild {name} could not be looked into: {reason}."
        return [warn("guilds.readable", says, "Try again later; it may be unavailable for a while.", subject=guild_id)]
    if me.timed_out:
        says = f"In {name} the bot is timed out, and can say nothing."
        return [fault("guilds.timed_out", says, "Ask a moderator there to remove the time-out.", subject=guild_id)]
    seen = [
        _Channel(f"#{each.name[:60]}", each.kind in FORUM_KINDS, granted_in(each, me, SpaceId(int(guild_id))).value)
        for each in sorted(channels, key=lambda each: each.position)
        if each.kind in _TALK or each.kind in FORUM_KINDS
    ]
    return _places(seen, name, guild_id)


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


def _named(channels: Sequence[_Channel]) -> str:
    names = [channel.name for channel in channels[:MOST_NAMED]]
    more = len(channels) - len(names)
    return f"{', '.join(names)} and {more} more" if more > 0 else _and(names)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
