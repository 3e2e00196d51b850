"""The loopback Discord beside simcord 3.2.1, another simulation of Discord's REST rules: where the two differ, and why.

Each row is done by discord.py against both. A row with `theirs` is one where simcord answers otherwise; its `why` says
whom we believe. What simcord does not have at all is skipped with that reason, after ours has been held to the row.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

with warnings.catch_warnings():
    # discord.py 2.7.1 imports audioop, which Python 3.11 deprecates.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord as dpy
    import simcord
    from discord.http import Route

from simcord.backend import Backend
from simcord.backend.access import channel_accessible
from simcord.backend.models import Overwrite

from sandbox.discord import Discord, Permission
from sandbox.discord.permissions import NOTHING
from sandbox.discord.speech import Draft
from tests.unit.sandbox_discord.bots import rest_only
from tests.unit.sandbox_discord.test_permission_table import CASES, EVERYONE, ONE, SELF, TWO, Case

P = Permission
BASIC = P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY | P.SEND_MESSAGES | P.ADD_REACTIONS | P.CREATE_PUBLIC_THREADS
OK = 0
Ids = Mapping[str, int]


# the arithmetic of permissions

IMPLIED = (
    "simcord takes nothing away by implication: without Send Messages (in a thread: in Threads) it leaves what is sent "
    "with a message, and asks for Send Messages as well where one sends"
)
CONNECTED = "simcord takes nothing away in a voice channel that one cannot connect to"
ARITHMETIC = {
    "without Send Messages there is nothing to send": IMPLIED,
    "... even if it is allowed there": IMPLIED,
    "a poll is sent": IMPLIED,
    "a voice message is sent": IMPLIED,
    "files need the thread's kind of sending": IMPLIED,
    "Connect denied denies Manage Channels in voice": CONNECTED,
    "... and on a stage": CONNECTED,
    "who cannot connect does nothing there": CONNECTED,
}


def _simcord_allows(case: Case) -> bool:
    backend = Backend()
    guild = backend.create_guild("Rules")
    guild.roles[guild.id].permissions = case.everyone.value
    granted = {ONE: case.one, TWO: case.two, "three": NOTHING}
    roles = {name: backend.create_role(guild.id, name, permissions=p.value) for name, p in granted.items()}
    ada, host = backend.make_user("Ada"), backend.make_user("Host")
    backend.add_member(guild.id, host.id)
    if not case.stranger:
        backend.add_member(guild.id, ada.id, roles=[roles[ONE].id, roles[TWO].id])
    if case.owner:
        guild.owner_id = ada.id
    ids = {EVERYONE: (guild.id, 0), SELF: (ada.id, 1), "other": (backend.bot_user.id, 1)}
    ids |= {name: (role.id, 0) for name, role in roles.items()}
    rules = [
        Overwrite(target_id=ids[whom][0], type=ids[whom][1], allow=allow.value, deny=deny.value)  # type: ignore[arg-type]
        for whom, allow, deny in case.rules
    ]
    place = backend.create_channel(guild.id, "here", type=int(case.kind), overwrites=rules, announce=False)
    if case.thread is not None:
        kind = 11 if case.thread == "public" else 12
        place = backend.create_thread(place.id, "inside", host.id, type=kind, broadcast=False)
        if case.thread == "joined":
            place.thread_members[ada.id] = ""
    if case.timed_out:
        guild.members[ada.id].timed_out_until = (backend.clock.now() + timedelta(minutes=1)).isoformat()
    granted_here = backend.compute_permissions(guild.id, ada.id, place.id)
    return bool(granted_here & case.asks.value) and channel_accessible(backend, place.id, ada.id)


def test_permissions_are_computed_alike_but_for_what_is_implied() -> None:
    """Every row of the permission table: overwrites, threads and time-outs agree; implied denials are ours alone."""
    differing = {case.words for case in CASES if _simcord_allows(case) is not case.may}
    assert differing <= ARITHMETIC.keys(), differing - ARITHMETIC.keys()
    for words in ARITHMETIC:
        rows = [case for case in CASES if case.words == words]
        assert any(_simcord_allows(case) is not case.may for case in rows), f"simcord has learnt: {words}"


# what REST answers


@dataclass(frozen=True, slots=True)
class Step:
    """One request; names in braces stand for ids."""

    method: str
    path: str
    body: Any = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two Discords, with the same guild in it: the ids of what is there, and discord.py's HTTP client."""

    ids: Ids
    http: Any

    async def ask(self, step: Step) -> int | str:
        """The code of the answer, 0 when it is none of failure; *lacking* where simcord has no such route."""
        path = step.path.format(**self.ids)
        body = _filled(step.body, self.ids)
        options: dict[str, Any] = {} if body is None else {"json": body}
        try:
            await self.http.request(Route(step.method, path), reason=step.reason, **options)
        except dpy.HTTPException as refused:
            return refused.code
        except (simcord.RouteNotImplemented, simcord.UnsupportedField):
            return "lacking"
        return OK


def _filled(body: object, ids: Ids) -> object:
    if isinstance(body, str):
        return body.format(**ids)
    if isinstance(body, dict):
        return {key: _filled(value, ids) for key, value in cast("dict[str, object]", body).items()}
    return [_filled(value, ids) for value in cast("list[object]", body)] if isinstance(body, list) else body


@contextlib.asynccontextmanager
async def loopback(granted: Permission) -> AsyncGenerator[Side]:
    async with Discord.start() as discord, rest_only(discord) as bot:
        guild = discord.create_guild("Same", bot_permissions=granted)
        low, high = guild.create_role("low"), guild.create_role("high")
        chief = guild.create_role("chief", permissions=P.ADMINISTRATOR)
        positions = {low: 1, chief: 2, guild.me.roles[0]: 3, high: 4}
        for role, position in positions.items():
            role.position = position
        guild.everyone.permissions = BASIC
        general = guild.create_channel("general")
        category, forum = guild.create_category("attic"), guild.create_forum("forum")
        ada, boss = guild.add_member("Ada", roles=[low]), guild.add_member("Boss", roles=[high])
        admin, stranger = guild.add_member("Admin", roles=[chief]), discord.create_user("Stranger")
        said = await ada.says(general, "hello")
        own = discord.world.speech.post(general, Draft(discord.bot, "mine"))
        thread = await ada.starts_thread(general, "thread")
        ids = {
            "guild": guild.id, "general": general.id, "attic": category.id, "forum": forum.id, "thread": thread.id,
            "ada": ada.id, "boss": boss.id, "admin": admin.id, "stranger": stranger.id, "owner": guild.owner_id,
            "me": discord.bot.id, "low": low.id, "high": high.id, "mine": guild.me.roles[0].id, "said": said.id,
            "own": own.id, "everyone": guild.id,
        }  # fmt: skip
        yield Side(ids, bot.http)


@contextlib.asynccontextmanager
async def simulated(granted: Permission) -> AsyncGenerator[Side]:
    bot = dpy.Client(intents=dpy.Intents.all())
    async with simcord.run(bot, check_errors=False) as env:
        guild = env.create_guild("Same")
        backend, me = env.backend, env.backend.bot_user.id
        model = backend.guilds[guild.id]
        mine = next(role for role in model.roles.values() if role.managed)
        mine.permissions = granted.value
        model.roles[guild.id].permissions = BASIC.value
        low, high = guild.create_role("low"), guild.create_role("high")
        chief = guild.create_role("chief", permissions=dpy.Permissions(administrator=True))
        for role_id, position in ((low.id, 1), (chief.id, 2), (mine.id, 3), (high.id, 4)):
            model.roles[role_id].position = position
        general, attic = guild.create_text_channel("general"), guild.create_category("attic")
        forum = guild.create_forum_channel("forum")
        ada = guild.add_member(env.create_user("Ada"), roles=[low])
        boss = guild.add_member(env.create_user("Boss"), roles=[high])
        admin = guild.add_member(env.create_user("Admin"), roles=[chief])
        said = await ada.send(general, "hello")
        channel = bot.get_channel(general.id)
        assert isinstance(channel, dpy.TextChannel)
        before, mine.permissions = mine.permissions, P.SEND_MESSAGES.value
        own = await channel.send("mine")
        mine.permissions = before
        thread = backend.create_thread(general.id, "thread", ada.id)
        ids = {
            "guild": guild.id, "general": general.id, "attic": attic.id, "forum": forum.id, "thread": thread.id,
            "ada": ada.id, "boss": boss.id, "admin": admin.id, "stranger": env.create_user("Stranger").id,
            "owner": model.owner_id, "me": me, "low": low.id, "high": high.id, "mine": mine.id, "said": said.id,
            "own": own.id, "everyone": guild.id,
        }  # fmt: skip
        yield Side(ids, bot.http)


@dataclass(frozen=True, slots=True)
class Row:
    """The bot has `granted` beyond @everyone, takes the steps, and the last one is answered with `expected`."""

    words: str
    granted: Permission
    steps: tuple[Step, ...]
    expected: int
    theirs: int | None = None
    why: str = ""

    lacking: str = ""

    def lacks(self, what: str) -> Row:
        """simcord has no such thing."""
        return replace(self, lacking=what)

    def but(self, theirs: int, why: str) -> Row:
        """simcord answers otherwise."""
        return replace(self, theirs=theirs, why=why)


def after(days: float) -> str:
    """A time so many days from now."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


MEMBER, BAN = "/guilds/{guild}/members/", "/guilds/{guild}/bans/"
GENERAL = "/channels/{general}"
ROLES = "/guilds/{guild}/roles"
TEXT = {"content": "x"}


def _kick(whom: str) -> tuple[Step, ...]:
    return (Step("DELETE", MEMBER + "{" + whom + "}"),)


def _ban(whom: str) -> tuple[Step, ...]:
    return (Step("PUT", BAN + "{" + whom + "}", {}),)


def _member(whom: str, **body: Any) -> tuple[Step, ...]:
    return (Step("PATCH", MEMBER + "{" + whom + "}", body),)


def _role(method: str, whom: str, role: str) -> Step:
    return Step(method, MEMBER + "{" + whom + "}/roles/{" + role + "}")


ROWS = [
    Row("kick one below", P.KICK_MEMBERS, _kick("ada"), OK),
    Row("kick without the permission", NOTHING, _kick("ada"), 50013),
    Row("kick one above", P.KICK_MEMBERS, _kick("boss"), 50013),
    Row("kick the owner", P.KICK_MEMBERS, _kick("owner"), 50013),
    Row("kick oneself", P.KICK_MEMBERS, _kick("me"), 50013),
    Row("kick who is not there", P.KICK_MEMBERS, _kick("stranger"), 10007),
    Row("ban one below", P.BAN_MEMBERS, _ban("ada"), OK),
    Row("ban without the permission", NOTHING, _ban("ada"), 50013),
    Row("ban one above", P.BAN_MEMBERS, _ban("boss"), 50013),
    Row("ban who is not there", P.BAN_MEMBERS, _ban("stranger"), OK),
    Row("ban twice", P.BAN_MEMBERS, _ban("ada") * 2, OK),
    Row("unban who is banned", P.BAN_MEMBERS, (*_ban("ada"), Step("DELETE", BAN + "{ada}")), OK),
    Row("unban who is not banned", P.BAN_MEMBERS, (Step("DELETE", BAN + "{ada}"),), 10026),
    Row("read a ban that is none", P.BAN_MEMBERS, (Step("GET", BAN + "{ada}"),), 10026),
    Row("list bans without the permission", NOTHING, (Step("GET", "/guilds/{guild}/bans"),), 50013).but(
        0, "its list of bans asks for nothing; the documentation asks for Ban Members"),
    Row("ban many without Manage Server", P.BAN_MEMBERS,
        (Step("POST", "/guilds/{guild}/bulk-ban", {"user_ids": ["{ada}"]}),), 50013),
    Row("ban many, all above", P.BAN_MEMBERS | P.MANAGE_GUILD,
        (Step("POST", "/guilds/{guild}/bulk-ban", {"user_ids": ["{boss}"]}),), 500000).but(
        0, "it answers with an empty list; documented is that none banned is error 500000"),
    Row("time out one below", P.MODERATE_MEMBERS, _member("ada", communication_disabled_until=after(1)), OK),
    Row("time out an administrator below", P.MODERATE_MEMBERS,
        _member("admin", communication_disabled_until=after(1)), 50013).but(
        0, "it knows the owner and ranks only; administrators are exempt whoever stands above"),
    Row("time out one above", P.MODERATE_MEMBERS, _member("boss", communication_disabled_until=after(1)), 50013),
    Row("time out for too long", P.MODERATE_MEMBERS, _member("ada", communication_disabled_until=after(29)), 50035).but(
        0, "it does not look at the time; documented are 28 days"),
    Row("rename one below", P.MANAGE_NICKNAMES, _member("ada", nick="A"), OK),
    Row("rename one above", P.MANAGE_NICKNAMES, _member("boss", nick="B"), 50013),
    Row("rename at too great a length", P.MANAGE_NICKNAMES, _member("ada", nick="x" * 33), 50035).but(
        0, "it does not look at the length; a nickname has 32 characters"),
    Row("mute who is not in voice", P.MUTE_MEMBERS, _member("ada", mute=True), 40032),
    Row("give a role below", P.MANAGE_ROLES, (_role("PUT", "boss", "low"),), OK),
    Row("give a role above", P.MANAGE_ROLES, (_role("PUT", "ada", "high"),), 50013),
    Row("give a managed role", P.MANAGE_ROLES, (_role("PUT", "ada", "mine"),), 50028).but(
        50013, "it takes the role for one as high as the bot; the code for a managed role is Invalid Role"),
    Row("give without the permission", NOTHING, (_role("PUT", "ada", "low"),), 50013),
    Row("take a role below", P.MANAGE_ROLES, (_role("DELETE", "ada", "low"),), OK),
    Row("make a role", P.MANAGE_ROLES, (Step("POST", ROLES, {"name": "new"}),), OK),
    Row("make a role with more than one has", P.MANAGE_ROLES,
        (Step("POST", ROLES, {"permissions": str(P.BAN_MEMBERS.value)}),), 50013),
    Row("edit a role below", P.MANAGE_ROLES, (Step("PATCH", ROLES + "/{low}", {"name": "x"}),), OK),
    Row("edit a role above", P.MANAGE_ROLES, (Step("PATCH", ROLES + "/{high}", {"name": "x"}),), 50013),
    Row("delete a role above", P.MANAGE_ROLES, (Step("DELETE", ROLES + "/{high}"),), 50013),
    Row("delete the bot's own role", P.MANAGE_ROLES, (Step("DELETE", ROLES + "/{mine}"),), 50013),
    Row("delete @everyone", P.MANAGE_ROLES, (Step("DELETE", ROLES + "/{everyone}"),), 50028).but(
        50013, "it takes @everyone for one as high as the bot; the code for it is Invalid Role"),
    Row("read a role that is none", NOTHING, (Step("GET", ROLES + "/5"),), 10011),
    Row("sort a role above oneself", P.MANAGE_ROLES, (Step("PATCH", ROLES, [{"id": "{low}", "position": 4}]),), 50013),
    Row("read the audit log", P.VIEW_AUDIT_LOG, (Step("GET", "/guilds/{guild}/audit-logs"),), OK),
    Row("read the audit log without the permission", NOTHING, (Step("GET", "/guilds/{guild}/audit-logs"),), 50013),
    Row("a reason of 513 characters", P.KICK_MEMBERS, (Step("DELETE", MEMBER + "{ada}", reason="x" * 513),), 50035).but(
        0, "it does not look at the length; documented are 512 characters"),
    Row("make a channel", P.MANAGE_CHANNELS, (Step("POST", "/guilds/{guild}/channels", {"name": "x"}),), OK),
    Row("make a channel without the permission", NOTHING,
        (Step("POST", "/guilds/{guild}/channels", {"name": "x"}),), 50013),
    Row("rename a channel to nothing", P.MANAGE_CHANNELS, (Step("PATCH", GENERAL, {"name": ""}),), 50035),
    Row("too slow a slowmode", P.MANAGE_CHANNELS, (Step("PATCH", GENERAL, {"rate_limit_per_user": 21601}),), 50035).but(
        0, "it does not look at the number; documented are 21600 seconds"),
    Row("delete a channel", P.MANAGE_CHANNELS, (Step("DELETE", GENERAL),), OK),
    Row("an overwrite", P.MANAGE_ROLES,
        (Step("PUT", GENERAL + "/permissions/{ada}", {"type": 1, "allow": "0", "deny": "2048"}),), OK),
    Row("an overwrite of more than one has", P.MANAGE_ROLES,
        (Step("PUT", GENERAL + "/permissions/{ada}", {"type": 1, "allow": "8192", "deny": "0"}),), 50013).but(
        0, "it lets a bot allow what it does not have itself"),
    Row("delete an overwrite that is none", P.MANAGE_ROLES,
        (Step("DELETE", GENERAL + "/permissions/{ada}"),), 10009).but(
        0, "it answers as if there had been one; the code for none is 10009"),
    Row("pin", P.PIN_MESSAGES, (Step("PUT", GENERAL + "/messages/pins/{said}"),), OK).but(
        50013, "it still asks for Manage Messages, of which pinning has been apart since February 2026"),
    Row("pin with Manage Messages alone", P.MANAGE_MESSAGES,
        (Step("PUT", GENERAL + "/messages/pins/{said}"),), 50013).but(
        0, "it still takes Manage Messages for enough"),
    Row("read the deprecated list of pins", NOTHING, (Step("GET", GENERAL + "/pins"),), OK).lacks(
        "the newer route alone"),
    Row("renew the address of a file", NOTHING,
        (Step("POST", "/attachments/refresh-urls", {"attachment_urls": ["x"]}),), OK).lacks(
        "its addresses do not expire"),
    Row("delete another's message", P.MANAGE_MESSAGES, (Step("DELETE", GENERAL + "/messages/{said}"),), OK),
    Row("delete another's message without it", NOTHING, (Step("DELETE", GENERAL + "/messages/{said}"),), 50013),
    Row("edit another's message", P.MANAGE_MESSAGES, (Step("PATCH", GENERAL + "/messages/{said}", TEXT),), 50005),
    Row("an empty message", NOTHING, (Step("POST", GENERAL + "/messages", {"content": ""}),), 50006).but(
        50035, "it has one code for every bad form; an empty message has its own, 50006"),
    Row("a long message", NOTHING, (Step("POST", GENERAL + "/messages", {"content": "x" * 2001}),), 50035),
    Row("a message in a forum", NOTHING, (Step("POST", "/channels/{forum}/messages", TEXT),), 40058).but(
        0, "it lets a message stand in a forum, where there are posts only"),
    Row("delete one in bulk", P.MANAGE_MESSAGES,
        (Step("POST", GENERAL + "/messages/bulk-delete", {"messages": ["{said}"]}),), 50035),
    Row("delete one twice in bulk", P.MANAGE_MESSAGES,
        (Step("POST", GENERAL + "/messages/bulk-delete", {"messages": ["{said}", "{said}"]}),), 50035).but(
        0, "it does not look for duplicates, which the documentation forbids"),
    Row("delete ancient ones in bulk", P.MANAGE_MESSAGES,
        (Step("POST", GENERAL + "/messages/bulk-delete", {"messages": ["4194304", "8388608"]}),), 50034).but(
        0, "it has no bound of fourteen days"),
    Row("reply to nothing", NOTHING,
        (Step("POST", GENERAL + "/messages", {**TEXT, "message_reference": {"message_id": "5"}}),), 50035).but(
        0, "it posts the message without the reply, as Discord does only with fail_if_not_exists off"),
    Row("forward", NOTHING,
        (Step("POST", GENERAL + "/messages",
              {"message_reference": {"type": 1, "message_id": "{said}", "channel_id": "{general}"}}),), OK),
    Row("post a poll", P.SEND_POLLS,
        (Step("POST", GENERAL + "/messages", {"poll": {"question": {"text": "?"}, "answers": [
            {"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}}),), OK),
    Row("post a poll without the permission", NOTHING,
        (Step("POST", GENERAL + "/messages", {"poll": {"question": {"text": "?"}, "answers": [
            {"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}}),), 50013).but(
        0, "it asks for no Send Polls"),
    Row("end what is no poll", NOTHING, (Step("POST", GENERAL + "/polls/{own}/expire"),), 520006).but(
        0, "it answers with the message; the code for no poll is 520006"),
    Row("a thread on a message", NOTHING, (Step("POST", GENERAL + "/messages/{said}/threads", {"name": "t"}),), OK),
    Row("two threads on a message", NOTHING,
        (Step("POST", GENERAL + "/messages/{said}/threads", {"name": "t"}),) * 2, 160004).but(
        0, "it makes a second thread of the same id; the code for one there is 160004"),
    Row("a private thread without the permission", NOTHING,
        (Step("POST", GENERAL + "/threads", {"name": "t", "type": 12}),), 50013),
    Row("write in a thread without its permission", NOTHING,
        (Step("POST", "/channels/{thread}/messages", TEXT),), 50013),
    Row("lock another's thread", NOTHING, (Step("PATCH", "/channels/{thread}", {"locked": True}),), 50013),
    Row("rename an archived thread", P.MANAGE_THREADS,
        (Step("PATCH", "/channels/{thread}", {"archived": True}), Step("PATCH", "/channels/{thread}", {"name": "x"})),
        50083).but(
        50013, "it asks for Manage Channels of threads too, and archives none"),
    Row("join an archived thread", P.MANAGE_THREADS,
        (Step("PATCH", "/channels/{thread}", {"archived": True}),
         Step("PUT", "/channels/{thread}/thread-members/@me")), 50083).but(
        0, "it lets one into an archived thread"),
    Row("write in a locked thread", P.SEND_MESSAGES_IN_THREADS,
        (Step("POST", "/channels/{thread}/messages", TEXT),), OK),
    Row("a thread member who is none", NOTHING, (Step("GET", "/channels/{thread}/thread-members/{boss}"),), 10007),
    Row("list private archived threads", NOTHING, (Step("GET", GENERAL + "/threads/archived/private"),), 50013),
    Row("a webhook", P.MANAGE_WEBHOOKS, (Step("POST", GENERAL + "/webhooks", {"name": "News"}),), OK),
    Row("a webhook without the permission", NOTHING, (Step("POST", GENERAL + "/webhooks", {"name": "News"}),), 50013),
    Row("a webhook with a name that is kept", P.MANAGE_WEBHOOKS,
        (Step("POST", GENERAL + "/webhooks", {"name": "Discord"}),), 50035).but(
        0, "it does not look at the name, which may contain neither clyde nor discord"),
    Row("rename the guild", P.MANAGE_GUILD, (Step("PATCH", "/guilds/{guild}", {"name": "Other"}),), OK),
    Row("rename the guild without the permission", NOTHING,
        (Step("PATCH", "/guilds/{guild}", {"name": "Other"}),), 50013),
    Row("react for the first time without the permission", NOTHING,
        (Step("PUT", GENERAL + "/messages/{said}/reactions/👍/@me"),), OK),
    Row("react with no emoji", NOTHING, (Step("PUT", GENERAL + "/messages/{said}/reactions/nonsense/@me"),), 10014).but(
        0, "it takes any text for an emoji"),
    Row("clear reactions without the permission", NOTHING,
        (Step("DELETE", GENERAL + "/messages/{said}/reactions"),), 50013),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
async def test_both_answer_alike_or_it_is_said_why_not(row: Row) -> None:
    async with loopback(row.granted) as ours:
        codes = [await ours.ask(step) for step in row.steps]
    assert codes[-1] == row.expected
    assert set(codes[:-1]) <= {OK}
    async with simulated(row.granted) as theirs:
        codes = [await theirs.ask(step) for step in row.steps]
    if row.lacking:
        assert codes[-1] == "lacking", f"simcord has learnt it: {codes}"
        pytest.skip(f"simcord lacks it: {row.lacking}")
    assert codes[-1] == (row.expected if row.theirs is None else row.theirs), row.why
    assert (row.theirs is None) is not bool(row.why)
