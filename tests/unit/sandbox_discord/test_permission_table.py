"""The permission engine against Discord's documented cases, each row with the section that says so.

Where the documentation says "there may be other cases" and the sandbox decides, the source is LOGIC and the row's words
give the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sandbox.discord import Channel, Discord, Guild, Kind, Member, Permission, Role, ranks
from sandbox.discord.permissions import EVERYTHING, NOTHING, Overwrite

_DOCS = "https://discord.com/developers/docs"
BITS = f"{_DOCS}/topics/permissions#permissions-bitwise-permission-flags"
ORDER = f"{_DOCS}/topics/permissions#permission-overwrites"
RANKS = f"{_DOCS}/topics/permissions#permission-hierarchy"
IMPLICIT = f"{_DOCS}/topics/permissions#implicit-permissions"
INHERITED = f"{_DOCS}/topics/permissions#inherited-permissions-threads"
SYNCING = f"{_DOCS}/topics/permissions#permission-syncing"
TIMED_OUT = f"{_DOCS}/topics/permissions#permissions-for-timed-out-members"
THREADS = f"{_DOCS}/topics/threads#permissions"
FORUMS = f"{_DOCS}/topics/threads#creating-threads-in-forum-and-media-channels"
ROLE_OBJECT = f"{_DOCS}/topics/permissions#role-object-role-structure"
LOGIC = f"{IMPLICIT} (other cases, by logical conclusion)"

P = Permission
VIEW, SEND, HISTORY = P.VIEW_CHANNEL, P.SEND_MESSAGES, P.READ_MESSAGE_HISTORY
IN_THREADS, MANAGE_THREADS, ADMIN = P.SEND_MESSAGES_IN_THREADS, P.MANAGE_THREADS, P.ADMINISTRATOR

EVERYONE, ONE, TWO, SELF = "everyone", "one", "two", "self"
Rules = tuple[tuple[str, Permission, Permission], ...]
"""Overwrites: for @everyone, for the member's role one or two, or for the member: what is allowed, what denied."""


@dataclass(frozen=True)
class Case:
    """May a member with roles one and two, in a channel with these overwrites, do this?"""

    source: str
    words: str
    asks: Permission
    may: bool
    everyone: Permission = VIEW | SEND
    one: Permission = NOTHING
    two: Permission = NOTHING
    rules: Rules = ()
    kind: Kind = Kind.TEXT
    thread: str | None = None
    """``public``, ``private`` (of somebody else) or ``joined`` (a private one that the member is in)."""
    owner: bool = False
    timed_out: bool = False
    stranger: bool = False


def denies(whom: str, what: Permission) -> tuple[str, Permission, Permission]:
    return whom, NOTHING, what


def allows(whom: str, what: Permission) -> tuple[str, Permission, Permission]:
    return whom, what, NOTHING


BASE = [
    Case(ORDER, "1: what @everyone has, everyone has", SEND, True),
    Case(ORDER, "1: what nobody gives, nobody has", P.MANAGE_MESSAGES, False),
    Case(ORDER, "2: what a role has, its holder has", P.MANAGE_MESSAGES, True, one=P.MANAGE_MESSAGES),
    Case(ORDER, "2: roles add up", P.KICK_MEMBERS, True, one=P.BAN_MEMBERS, two=P.KICK_MEMBERS),
    Case(ORDER, "2: a role without it takes nothing away", SEND, True, one=NOTHING),
    Case(ORDER, "the owner may everything", P.BAN_MEMBERS, True, everyone=NOTHING, owner=True),
    Case(ORDER, "the owner passes a denial for @everyone", VIEW, True, owner=True, rules=(denies(EVERYONE, VIEW),)),
    Case(ORDER, "the owner passes a denial for himself", SEND, True, owner=True, rules=(denies(SELF, SEND),)),
    Case(ORDER, "an administrator has all permissions", P.MANAGE_WEBHOOKS, True, everyone=NOTHING, one=ADMIN),
    Case(ORDER, "... the newest too", P.BYPASS_SLOWMODE, True, everyone=NOTHING, one=ADMIN),
    Case(BITS, "... past a denial for @everyone", VIEW, True, one=ADMIN, rules=(denies(EVERYONE, VIEW),)),
    Case(BITS, "... past a denial for a role of theirs", SEND, True, one=ADMIN, rules=(denies(ONE, SEND),)),
    Case(BITS, "... past a denial for themselves", SEND, True, one=ADMIN, rules=(denies(SELF, VIEW | SEND),)),
    Case(BITS, "@everyone with Administrator is everybody", P.BAN_MEMBERS, True, everyone=ADMIN),
    Case(ORDER, "Administrator by overwrite is none", P.BAN_MEMBERS, False, rules=(allows(SELF, ADMIN),)),
    Case(ORDER, "who is no member has nothing", VIEW, False, everyone=EVERYTHING, stranger=True),
]
OVERWRITES = [
    Case(ORDER, "3: @everyone's denial", SEND, False, rules=(denies(EVERYONE, SEND),)),
    Case(ORDER, "3: ... also beats what a role gives", SEND, False, one=SEND, rules=(denies(EVERYONE, SEND),)),
    Case(ORDER, "4: @everyone's allowance", P.ADD_REACTIONS, True, rules=(allows(EVERYONE, P.ADD_REACTIONS),)),
    Case(ORDER, "4: allowance after denial in one", SEND, True, rules=((EVERYONE, SEND, SEND),)),
    Case(ORDER, "5: a role's denial", SEND, False, rules=(denies(ONE, SEND),)),
    Case(
        ORDER, "5: ... beats @everyone's allowance", SEND, False, rules=(allows(EVERYONE, SEND), denies(ONE, SEND))
    ),
    Case(ORDER, "6: a role's allowance beats @everyone's denial", SEND, True,
         rules=(denies(EVERYONE, SEND), allows(ONE, SEND))),
    Case(ORDER, "6: ... and another role's denial", SEND, True, rules=(denies(ONE, SEND), allows(TWO, SEND))),
    Case(RANKS, "... whichever role is higher", VIEW, True, rules=(allows(ONE, VIEW), denies(TWO, VIEW))),
    Case(RANKS, "... in the documentation's own example", VIEW, True,
         rules=(denies(EVERYONE, VIEW), denies(ONE, VIEW), allows(TWO, VIEW))),
    Case(ORDER, "5: two denials are one", SEND, False, rules=(denies(ONE, SEND), denies(TWO, SEND))),
    Case(ORDER, "7: the member's denial", SEND, False, rules=(denies(SELF, SEND),)),
    Case(ORDER, "7: ... beats a role's allowance", SEND, False, rules=(allows(ONE, SEND), denies(SELF, SEND))),
    Case(ORDER, "7: ... and all roles together", SEND, False,
         rules=(allows(EVERYONE, SEND), allows(ONE, SEND), allows(TWO, SEND), denies(SELF, SEND))),
    Case(ORDER, "8: the member's allowance beats a role's denial", SEND, True,
         rules=(denies(ONE, SEND), allows(SELF, SEND))),
    Case(ORDER, "8: ... and @everyone's", SEND, True, rules=(denies(EVERYONE, SEND), allows(SELF, SEND))),
    Case(ORDER, "8: ... and gives what the guild does not", P.MANAGE_MESSAGES, True,
         rules=(allows(SELF, P.MANAGE_MESSAGES),)),
    Case(ORDER, "8: allowance after denial in one", SEND, True, rules=((SELF, SEND, SEND),)),
    Case(ORDER, "overwrites of roles that one has not do nothing", SEND, True, rules=(denies("three", SEND),)),
    Case(ORDER, "... nor do they give", P.MANAGE_MESSAGES, False, rules=(allows("three", P.MANAGE_MESSAGES),)),
    Case(ORDER, "overwrites of others do nothing", SEND, True, rules=(denies("other", SEND),)),
    Case(ORDER, "a denial of one thing is none of another", P.ADD_REACTIONS, True,
         everyone=VIEW | SEND | P.ADD_REACTIONS, rules=(denies(EVERYONE, SEND),)),
    Case(ORDER, "an overwrite without bits is none", SEND, True, rules=((SELF, NOTHING, NOTHING),)),
]  # fmt: skip

_WITHOUT_VIEW = (
    SEND, HISTORY, P.ADD_REACTIONS, P.MANAGE_MESSAGES, P.MANAGE_CHANNELS, P.MANAGE_ROLES, P.MANAGE_WEBHOOKS,
    P.CREATE_INSTANT_INVITE, P.CREATE_PUBLIC_THREADS, P.PIN_MESSAGES, P.SEND_POLLS, P.USE_APPLICATION_COMMANDS,
)  # fmt: skip
_NAMED_WITH_SEND = (P.MENTION_EVERYONE, P.SEND_TTS_MESSAGES, P.ATTACH_FILES, P.EMBED_LINKS)
_KEPT_WITHOUT_SEND = (VIEW, HISTORY, P.ADD_REACTIONS, P.MANAGE_MESSAGES, P.PIN_MESSAGES, P.CREATE_PUBLIC_THREADS)
_SPOKEN = (P.SPEAK, P.STREAM, P.USE_VAD, P.MUTE_MEMBERS, P.MOVE_MEMBERS, P.USE_SOUNDBOARD, P.SET_VOICE_CHANNEL_STATUS)
IMPLIED = [
    *(Case(IMPLICIT, "without View Channel there is nothing", what, False, everyone=EVERYTHING & ~ADMIN,
           rules=(denies(EVERYONE, VIEW),)) for what in _WITHOUT_VIEW),
    Case(IMPLICIT, "... even if it is allowed there", SEND, False, rules=((EVERYONE, SEND, VIEW),)),
    Case(IMPLICIT, "... and if nobody gives View Channel", SEND, False, everyone=SEND),
    *(Case(IMPLICIT, "without Send Messages there is nothing to send", what, False, everyone=VIEW | SEND | what,
           rules=(denies(EVERYONE, SEND),)) for what in _NAMED_WITH_SEND),
    *(Case(IMPLICIT, "with Send Messages there is", what, True, everyone=VIEW | SEND | what)
      for what in _NAMED_WITH_SEND),
    Case(IMPLICIT, "... even if it is allowed there", P.ATTACH_FILES, False, rules=((SELF, P.ATTACH_FILES, SEND),)),
    Case(LOGIC, "a poll is sent", P.SEND_POLLS, False, everyone=VIEW | P.SEND_POLLS),
    Case(LOGIC, "a voice message is sent", P.SEND_VOICE_MESSAGES, False, everyone=VIEW | P.SEND_VOICE_MESSAGES),
    *(Case(IMPLICIT, "without Send Messages one may still do what is no sending", what, True,
           everyone=EVERYTHING & ~ADMIN, rules=(denies(EVERYONE, SEND),)) for what in _KEPT_WITHOUT_SEND),
    Case(IMPLICIT, "Connect denied denies Manage Channels in voice", P.MANAGE_CHANNELS, False,
         everyone=EVERYTHING & ~ADMIN, rules=(denies(EVERYONE, P.CONNECT),), kind=Kind.VOICE),
    Case(IMPLICIT, "... and on a stage", P.MANAGE_CHANNELS, False, everyone=EVERYTHING & ~ADMIN,
         rules=(denies(EVERYONE, P.CONNECT),), kind=Kind.STAGE),
    *(Case(LOGIC, "who cannot connect does nothing there", what, False, everyone=EVERYTHING & ~ADMIN,
           rules=(denies(EVERYONE, P.CONNECT),), kind=Kind.VOICE) for what in _SPOKEN),
    Case(IMPLICIT, "Connect means nothing in text", P.MANAGE_CHANNELS, True,
         everyone=EVERYTHING & ~ADMIN & ~P.CONNECT),
    Case(IMPLICIT, "who can connect keeps it", P.SPEAK, True, everyone=VIEW | P.CONNECT | P.SPEAK, kind=Kind.VOICE),
]  # fmt: skip

INSIDE = [
    Case(INHERITED, "a thread has its channel's permissions", P.ADD_REACTIONS, True,
         everyone=VIEW | P.ADD_REACTIONS, thread="public"),
    Case(INHERITED, "... and denials", P.ADD_REACTIONS, False, everyone=VIEW | P.ADD_REACTIONS,
         rules=(denies(EVERYONE, P.ADD_REACTIONS),), thread="public"),
    Case(INHERITED, "Send Messages does not reach into it", IN_THREADS, False, thread="public"),
    Case(INHERITED, "Send Messages in Threads is asked for", IN_THREADS, True, everyone=VIEW | IN_THREADS,
         thread="public"),
    Case(THREADS, "... alone", IN_THREADS, True, everyone=VIEW | IN_THREADS, rules=(denies(EVERYONE, SEND),),
         thread="public"),
    Case(INHERITED, "... as in an announcement channel", IN_THREADS, True, everyone=VIEW | IN_THREADS,
         kind=Kind.NEWS, thread="public"),
    Case(INHERITED, "the channel's denial of it counts", IN_THREADS, False, everyone=VIEW | IN_THREADS,
         rules=(denies(ONE, IN_THREADS),), thread="public"),
    Case(INHERITED, "without View Channel there is no thread", VIEW, False,
         everyone=VIEW | IN_THREADS, rules=(denies(EVERYONE, VIEW),), thread="public"),
    Case(INHERITED, "... even for those who were added", VIEW, False, everyone=VIEW | IN_THREADS,
         rules=(denies(EVERYONE, VIEW),), thread="joined"),
    Case(THREADS, "a private thread is hidden from who is not in it", VIEW, False, everyone=VIEW, thread="private"),
    Case(THREADS, "... and with it everything", HISTORY, False, everyone=VIEW | HISTORY, thread="private"),
    Case(THREADS, "who is in it sees it", VIEW, True, everyone=VIEW, thread="joined"),
    Case(THREADS, "a moderator sees it", VIEW, True, everyone=VIEW, one=MANAGE_THREADS, thread="private"),
    Case(BITS, "Manage Threads views all private threads", HISTORY, True, everyone=VIEW | HISTORY | MANAGE_THREADS,
         thread="private"),
    Case(THREADS, "... unless the channel takes it away", VIEW, False, everyone=VIEW | MANAGE_THREADS,
         rules=(denies(EVERYONE, MANAGE_THREADS),), thread="private"),
    Case(BITS, "an administrator sees it", VIEW, True, one=ADMIN, thread="private"),
    Case(ORDER, "the owner sees it", VIEW, True, owner=True, thread="private"),
    Case(LOGIC, "files need the thread's kind of sending", P.ATTACH_FILES, False,
         everyone=VIEW | SEND | P.ATTACH_FILES, thread="public"),
    Case(LOGIC, "... with which they go", P.ATTACH_FILES, True,
         everyone=VIEW | IN_THREADS | P.ATTACH_FILES, thread="public"),
    Case(FORUMS, "a post inherits from its forum", P.ADD_REACTIONS, True,
         everyone=VIEW | SEND | P.ADD_REACTIONS, kind=Kind.FORUM, thread="public"),
    Case(FORUMS, "writing in a post needs Send Messages in Threads", IN_THREADS, False, kind=Kind.FORUM,
         thread="public"),
    Case(FORUMS, "a media channel's post likewise", IN_THREADS, True, everyone=VIEW | SEND | IN_THREADS,
         kind=Kind.MEDIA, thread="public"),
]  # fmt: skip

_ALL_BUT_ADMIN = EVERYTHING & ~ADMIN
_LOST_IN_TIMEOUT = (
    SEND, P.ADD_REACTIONS, P.MANAGE_MESSAGES, P.KICK_MEMBERS, P.BAN_MEMBERS, P.MODERATE_MEMBERS, P.MANAGE_ROLES,
    P.CREATE_PUBLIC_THREADS, P.USE_APPLICATION_COMMANDS, P.CONNECT, P.SPEAK, P.CHANGE_NICKNAME, P.PIN_MESSAGES,
    P.CREATE_INSTANT_INVITE, P.SEND_POLLS,
)  # fmt: skip
TIMEOUTS = [
    Case(TIMED_OUT, "View Channel stays", VIEW, True, timed_out=True),
    Case(TIMED_OUT, "Read Message History stays", HISTORY, True, everyone=VIEW | HISTORY, timed_out=True),
    *(Case(TIMED_OUT, "everything else goes", what, False, everyone=_ALL_BUT_ADMIN, timed_out=True)
      for what in _LOST_IN_TIMEOUT),
    Case(TIMED_OUT, "... whatever a channel allows", SEND, False, rules=(allows(SELF, SEND),), timed_out=True),
    Case(TIMED_OUT, "... in threads too", IN_THREADS, False, everyone=VIEW | IN_THREADS, thread="public",
         timed_out=True),
    Case(TIMED_OUT, "what was hidden stays hidden", VIEW, False, rules=(denies(EVERYONE, VIEW),), timed_out=True),
    Case(TIMED_OUT, "a moderator loses sight of private threads", VIEW, False, everyone=_ALL_BUT_ADMIN,
         thread="private", timed_out=True),
    Case(TIMED_OUT, "the owner is exempt", SEND, True, owner=True, timed_out=True),
    Case(TIMED_OUT, "an administrator is exempt", P.KICK_MEMBERS, True, one=ADMIN, timed_out=True),
]  # fmt: skip
CASES = [*BASE, *OVERWRITES, *IMPLIED, *INSIDE, *TIMEOUTS]


def _place(guild: Guild, ada: Member, roles: dict[str, Role], case: Case) -> Channel:
    channel = guild.create_channel("here", kind=case.kind)
    ids = {EVERYONE: (guild.id, 0), SELF: (ada.id, 1), "other": (guild.me.id, 1)}
    ids |= {name: (role.id, 0) for name, role in roles.items()}
    for whom, allow, deny in case.rules:
        target_id, kind = ids[whom]
        channel.overwrites[target_id] = Overwrite(target_id, kind, allow, deny)
    if case.thread is None:
        return channel
    host = guild.members[guild.owner_id]
    if host is ada:
        host = guild.add_member("Host", roles=[guild.create_role("hosts", permissions=ADMIN)])
    thread = guild.world.threads.start(
        channel, "inside", owner=host.user, private=case.thread != "public", announce=False
    )
    if case.thread == "joined":
        thread.add(ada)
    return thread


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.asks.name}: {case.words}")
def test_a_member_may_what_discord_says(case: Case) -> None:
    guild = Discord.start().create_guild("Rules")
    guild.everyone.permissions = case.everyone
    roles = {
        ONE: guild.create_role("one", permissions=case.one),
        TWO: guild.create_role("two", permissions=case.two),
        "three": guild.create_role("three"),
    }
    ada = guild.add_member("Ada", roles=[roles[ONE], roles[TWO]])
    if case.owner:
        guild.owner_id = ada.id
    if case.timed_out:
        ada.time_out(60)
    place = _place(guild, ada, roles, case)
    who = guild.world.create_user("Stranger") if case.stranger else ada.user
    may = case.asks in place.permissions_of(who)
    assert may is case.may, f"{case.words} ({case.source})"


# What each bit is, as the table of flags has it.
FLAGS = {
    "CREATE_INSTANT_INVITE": 0, "KICK_MEMBERS": 1, "BAN_MEMBERS": 2, "ADMINISTRATOR": 3, "MANAGE_CHANNELS": 4,
    "MANAGE_GUILD": 5, "ADD_REACTIONS": 6, "VIEW_AUDIT_LOG": 7, "PRIORITY_SPEAKER": 8, "STREAM": 9,
    "VIEW_CHANNEL": 10, "SEND_MESSAGES": 11, "SEND_TTS_MESSAGES": 12, "MANAGE_MESSAGES": 13, "EMBED_LINKS": 14,
    "ATTACH_FILES": 15, "READ_MESSAGE_HISTORY": 16, "MENTION_EVERYONE": 17, "USE_EXTERNAL_EMOJIS": 18,
    "VIEW_GUILD_INSIGHTS": 19, "CONNECT": 20, "SPEAK": 21, "MUTE_MEMBERS": 22, "DEAFEN_MEMBERS": 23,
    "MOVE_MEMBERS": 24, "USE_VAD": 25, "CHANGE_NICKNAME": 26, "MANAGE_NICKNAMES": 27, "MANAGE_ROLES": 28,
    "MANAGE_WEBHOOKS": 29, "MANAGE_GUILD_EXPRESSIONS": 30, "USE_APPLICATION_COMMANDS": 31, "REQUEST_TO_SPEAK": 32,
    "MANAGE_EVENTS": 33, "MANAGE_THREADS": 34, "CREATE_PUBLIC_THREADS": 35, "CREATE_PRIVATE_THREADS": 36,
    "USE_EXTERNAL_STICKERS": 37, "SEND_MESSAGES_IN_THREADS": 38, "USE_EMBEDDED_ACTIVITIES": 39,
    "MODERATE_MEMBERS": 40, "VIEW_CREATOR_MONETIZATION_ANALYTICS": 41, "USE_SOUNDBOARD": 42,
    "CREATE_GUILD_EXPRESSIONS": 43, "CREATE_EVENTS": 44, "USE_EXTERNAL_SOUNDS": 45, "SEND_VOICE_MESSAGES": 46,
    "SET_VOICE_CHANNEL_STATUS": 48, "SEND_POLLS": 49, "USE_EXTERNAL_APPS": 50, "PIN_MESSAGES": 51,
    "BYPASS_SLOWMODE": 52,
}  # fmt: skip


def test_the_bits_are_those_of_the_table_of_flags() -> None:
    """BITS: every name with its number, and none besides."""
    assert {p.name: p.value for p in Permission} == {name: 1 << bit for name, bit in FLAGS.items()}


# Who stands above whom: the member's role is at 5.


@dataclass(frozen=True)
class Standing:
    source: str
    words: str
    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    above: bool
    i_own: bool = False
    they_own: bool = False
    same: bool = False
    permissions: Permission = NOTHING


_AMONG_MEMBERS = "kick, ban, rename and time out those whose highest role is lower"
STANDINGS = [
    Standing(RANKS, _AMONG_MEMBERS, (5,), (4,), True),
    Standing(RANKS, "not those whose highest role is higher", (5,), (6,), False),
    Standing(RANKS, "nor those of the same highest role", (5,), (5,), False),
    Standing(RANKS, "the highest of several counts: mine", (1, 5), (4,), True),
    Standing(RANKS, "the highest of several counts: theirs", (5,), (1, 6), False),
    Standing(RANKS, "@everyone is 0, below every other", (5,), (), True),
    Standing(RANKS, "who has only @everyone stands above nobody", (), (), False),
    Standing(RANKS, "... and below everybody else", (), (1,), False),
    Standing(RANKS, "an administrator is not exempt", (5,), (6,), False, permissions=ADMIN),
    Standing(RANKS, "the owner stands above the highest role", (), (9,), True, i_own=True),
    Standing(RANKS, "nobody stands above the owner", (9,), (), False, they_own=True),
    Standing(RANKS, "nobody stands above himself", (5,), (5,), False, same=True),
    Standing(RANKS, "... not even the owner", (), (), False, same=True, i_own=True),
]


@pytest.mark.parametrize("case", STANDINGS, ids=lambda case: case.words)
def test_members_stand_above_members(case: Standing) -> None:
    guild = Discord.start().create_guild("Ranks")
    roles = {position: guild.create_role(f"r{position}", permissions=case.permissions) for position in range(1, 10)}
    for position, role in roles.items():
        role.position = position
    me = guild.add_member("Me", roles=[roles[position] for position in case.mine])
    other = me if case.same else guild.add_member("Other", roles=[roles[position] for position in case.theirs])
    guild.owner_id = me.id if case.i_own else other.id if case.they_own else guild.owner_id
    assert ranks.above_member(me, other) is case.above, f"{case.words} ({case.source})"


@dataclass(frozen=True)
class OverRole:
    source: str
    words: str
    mine: tuple[int, ...]
    role: int
    above: bool
    i_own: bool = False


OVER_ROLES = [
    OverRole(RANKS, "grant, edit and sort a role of a lower position", (5,), 4, True),
    OverRole(RANKS, "not one of a higher position", (5,), 6, False),
    OverRole(RANKS, "not one's own highest", (5,), 5, False),
    OverRole(RANKS, "the highest of several counts", (2, 5), 4, True),
    OverRole(RANKS, "who has none can grant none", (), 1, False),
    OverRole(RANKS, "the owner can grant each", (), 9, True, i_own=True),
    OverRole(RANKS, "@everyone is below whoever has a role", (1,), 0, True),
]


@pytest.mark.parametrize("case", OVER_ROLES, ids=lambda case: case.words)
def test_members_stand_above_roles(case: OverRole) -> None:
    guild = Discord.start().create_guild("Ranks")
    roles = {0: guild.everyone} | {n: guild.create_role(f"r{n}") for n in range(1, 10)}
    for position, role in roles.items():
        role.position = position
    me = guild.add_member("Me", roles=[roles[position] for position in case.mine])
    guild.owner_id = me.id if case.i_own else guild.owner_id
    assert ranks.above_role(me, roles[case.role]) is case.above, f"{case.words} ({case.source})"


def test_roles_of_the_same_position_are_sorted_by_id() -> None:
    """ROLE_OBJECT: of two at one position the older stands above."""
    guild = Discord.start().create_guild("Ranks")
    older, newer = guild.create_role("older"), guild.create_role("newer")
    newer.position = older.position
    assert ranks.of_role(older) > ranks.of_role(newer)
    assert ranks.above_role(guild.add_member("Me", roles=[older]), newer)


def test_a_channel_follows_the_category_that_it_is_in_step_with() -> None:
    """SYNCING: a change of the category reaches its synced channels, and those that went their own way not."""
    guild = Discord.start().create_guild("Sync")
    attic = guild.create_category("attic")
    attic.set_permissions(guild.everyone, deny=SEND)
    follows, strays = guild.create_channel("follows", category=attic), guild.create_channel("strays", category=attic)
    assert follows.overwrites == attic.overwrites
    ada = guild.add_member("Ada")
    strays.set_permissions(ada, allow=SEND)
    attic.set_permissions(guild.everyone, deny=VIEW)
    assert not follows.visible_to(ada)
    assert strays.visible_to(ada)
    assert follows.overwrites == attic.overwrites


def test_the_table_is_as_long_as_it_should_be_and_every_row_has_its_source() -> None:
    rows = [*CASES, *STANDINGS, *OVER_ROLES]
    assert len(rows) >= 120
    assert all(row.source.startswith(_DOCS) and row.words for row in rows)
