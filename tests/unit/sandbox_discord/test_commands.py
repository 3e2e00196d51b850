"""Application commands: what Discord takes and refuses when they are registered, and who may use them."""

from collections.abc import Mapping
from typing import Any

import discord as dpy
import pytest
from discord import app_commands

from sandbox.discord import Discord, Member, Misuse, NotPermitted, Permission, Workshop

from .apps import App, Press, app
from .bots import Answer, connected, wire

PING = {"name": "ping", "description": "Says pong"}
TEXT = {"type": 3, "name": "text", "description": "What to say"}


def commands_path(discord: Discord, guild: int | None = None) -> str:
    place = "" if guild is None else f"/guilds/{guild}"
    return f"/applications/{discord.world.application.id}{place}/commands"


def errors(answer: Answer, path: str) -> list[str]:
    """The codes of the errors at a dotted path; the whole object's where it is empty."""
    node: Any = answer.body["errors"]
    for part in filter(None, path.split(".")):
        node = node[part]
    return [error["code"] for error in node["_errors"]]


async def register(discord: Discord, *commands: Mapping[str, object], guild: int | None = None) -> None:
    async with wire(discord) as client:
        answer = await client.send("PUT", commands_path(discord, guild), list(commands))
        assert answer.status == 200, answer.body


def with_option(**fields: object) -> dict[str, object]:
    return {**PING, "options": [{**TEXT, **fields}]}


CHOICE = {"name": "one", "value": "1"}
SUB = {"type": 1, "name": "add", "description": "Adds"}
REFUSED: list[tuple[dict[str, object], str, str]] = [
    ({"description": "no name"}, "name", "BASE_TYPE_REQUIRED"),
    ({"name": "ping"}, "description", "BASE_TYPE_REQUIRED"),
    ({**PING, "name": "x" * 33}, "name", "BASE_TYPE_BAD_LENGTH"),
    ({**PING, "name": "Ping"}, "name", "APPLICATION_COMMAND_INVALID_NAME"),
    ({**PING, "name": "ping pong"}, "name", "STRING_TYPE_REGEX"),
    ({**PING, "name": "ping!"}, "name", "APPLICATION_COMMAND_INVALID_NAME"),
    ({**PING, "description": ""}, "description", "BASE_TYPE_BAD_LENGTH"),
    ({**PING, "description": "x" * 101}, "description", "BASE_TYPE_BAD_LENGTH"),
    ({**PING, "type": 9}, "type", "BASE_TYPE_CHOICES"),
    ({**PING, "type": 3}, "description", "APPLICATION_COMMAND_INVALID_DESCRIPTION"),
    ({"name": "Why?", "type": 3, "options": [TEXT]}, "options", "APPLICATION_COMMAND_INVALID_OPTIONS"),
    ({**PING, "name_localizations": {"xx": "ping"}}, "name_localizations.xx", "ENUM_TYPE_COERCE"),
    ({**PING, "name_localizations": {"de": "Ping"}}, "name_localizations.de", "APPLICATION_COMMAND_INVALID_NAME"),
    ({**PING, "description_localizations": {"de": "x" * 101}}, "description_localizations.de", "BASE_TYPE_BAD_LENGTH"),
    ({**PING, "default_member_permissions": "all"}, "default_member_permissions", "NUMBER_TYPE_COERCE"),
    ({**PING, "contexts": [7]}, "contexts", "BASE_TYPE_CHOICES"),
    ({**PING, "contexts": [0, 0]}, "contexts", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
    ({**PING, "integration_types": []}, "integration_types", "BASE_TYPE_BAD_LENGTH"),
    ({**PING, "nsfw": "yes"}, "nsfw", "BOOLEAN_TYPE_CONVERT"),
    ({**PING, "options": [{**TEXT, "name": f"o{i}"} for i in range(26)]}, "options", "BASE_TYPE_BAD_LENGTH"),
    (with_option(type=12), "options.0.type", "BASE_TYPE_CHOICES"),
    (with_option(name="Text"), "options.0.name", "APPLICATION_COMMAND_INVALID_NAME"),
    (with_option(description=""), "options.0.description", "BASE_TYPE_BAD_LENGTH"),
    (with_option(max_length=6001), "options.0.max_length", "NUMBER_TYPE_MAX"),
    (with_option(type=4, min_value="low"), "options.0.min_value", "NUMBER_TYPE_COERCE"),
    (with_option(choices=[CHOICE] * 26), "options.0.choices", "BASE_TYPE_BAD_LENGTH"),
    (with_option(choices=[{**CHOICE, "name": "x" * 101}]), "options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH"),
    (with_option(type=4, choices=[CHOICE]), "options.0.choices.0.value", "NUMBER_TYPE_COERCE"),
    (
        with_option(choices=[CHOICE], autocomplete=True),
        "options.0.autocomplete",
        "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID",
    ),
    (
        {**PING, "options": [TEXT, {**TEXT, "name": "must", "required": True}]},
        "options.1",
        "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
    ),
    ({**PING, "options": [TEXT, TEXT]}, "options.1", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID"),
    ({**PING, "options": [SUB, TEXT]}, "options", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID"),
    (
        {**PING, "options": [{**SUB, "options": [{**SUB, "type": 2}]}]},
        "options.0.options.0.type",
        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
    ),
    (
        {**PING, "options": [{**SUB, "type": 2, "options": [TEXT]}]},
        "options.0.options.0.type",
        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
    ),
    (
        {
            **PING,
            "options": [
                {**TEXT, "name": f"o{i}", "choices": [{"name": f"{n:095}", "value": "v" * 100} for n in range(25)]}
                for i in range(2)
            ],
        },
        "",
        "APPLICATION_COMMAND_TOO_LARGE",
    ),
]


@pytest.mark.parametrize(
    ("command", "path", "code"), REFUSED, ids=[f"{row[1]}-{row[2]}-{i}" for i, row in enumerate(REFUSED)]
)
async def test_a_wrong_command_is_refused_where_it_is_wrong(
    discord: Discord, command: dict[str, object], path: str, code: str
) -> None:
    """POST answers 400/50035 at the field; a bulk overwrite the same under the index, and keeps nothing of the list."""
    async with wire(discord) as client:
        alone = await client.send("POST", commands_path(discord), command)
        bulk = await client.send("PUT", commands_path(discord), [{**PING, "name": "fine"}, command])
    assert (alone.status, alone.code) == (400, 50035)
    assert code in errors(alone, path)
    assert code in errors(bulk, f"1.{path}")
    assert discord.world.commands.of(None) == []


@pytest.mark.parametrize("name", ["ping", "ping-pong", "ping_2", "größe", "ปิง", "नमस्ते", "핑", "l'été"])
async def test_names_may_be_of_any_script(discord: Discord, name: str) -> None:
    """Letters and digits of every script, hyphen, underscore and apostrophe, in lower case where there is one."""
    await register(discord, {**PING, "name": name})
    assert [command.name for command in discord.world.commands.of(None)] == [name]


async def test_a_command_is_created_replaced_edited_and_deleted(discord: Discord, shop: Workshop) -> None:
    """201 for a new one, 200 for one of the same type and name; the id stays, the version changes only with it."""
    path = commands_path(discord, shop.guild.id)
    async with wire(discord) as client:
        first = await client.send("POST", path, {**PING, "name_localizations": {"de": "pingen"}})
        again = await client.send("POST", path, {**PING, "name_localizations": {"de": "pingen"}})
        other = await client.send("POST", path, {**PING, "description": "Says pong twice"})
        assert (first.status, again.status, other.status) == (201, 200, 200)
        assert first.body["id"] == again.body["id"] == other.body["id"]
        assert first.body["version"] == again.body["version"] != other.body["version"]
        one = f"{path}/{first.body['id']}"
        edited = await client.send("PATCH", one, {"name": "pong", "default_member_permissions": "8192"})
        assert (edited.body["name"], edited.body["description"]) == ("pong", "Says pong twice")
        assert edited.body["default_member_permissions"] == "8192"
        assert (await client.send("GET", one)).body == edited.body
        plain = await client.send("GET", path)
        whole = await client.send("GET", path + "?with_localizations=true")
        assert "name_localizations" not in plain.body[0]
        assert "name_localizations" in whole.body[0]
        assert (await client.send("DELETE", one)).status == 204
        gone = await client.send("GET", one)
    assert (gone.status, gone.code) == (404, 10063)


async def test_a_bulk_overwrite_keeps_ids_and_removes_the_rest(discord: Discord) -> None:
    """What is of the same type and name stays the same command; two of one name are refused."""
    path = commands_path(discord)
    async with wire(discord) as client:
        first = await client.send("PUT", path, [PING, {**PING, "name": "old"}, {"name": "ping", "type": 2}])
        second = await client.send("PUT", path, [{**PING, "description": "Changed"}, {"name": "ping", "type": 2}])
        assert [c["id"] for c in second.body] == [first.body[0]["id"], first.body[2]["id"]]
        assert second.body[0]["version"] != first.body[0]["version"]
        assert second.body[1]["version"] == first.body[2]["version"]
        twice = await client.send("PUT", path, [PING, PING])
        assert errors(twice, "1") == ["APPLICATION_COMMANDS_DUPLICATE_NAME"]
        assert len((await client.send("GET", path)).body) == 2
        single = await client.send("PUT", path, PING)
    assert (single.status, single.code) == (400, 50035)


@pytest.mark.parametrize(("kind", "most"), [(1, 100), (2, 15), (3, 15)])
async def test_there_is_room_for_so_many_commands(discord: Discord, kind: int, most: int) -> None:
    """100 slash commands and 15 of each context menu, for the application and again for a guild: then 30032."""
    made = [{"name": f"c{i}", "type": kind, **({"description": "d"} if kind == 1 else {})} for i in range(most + 1)]
    async with wire(discord) as client:
        too_many = await client.send("PUT", commands_path(discord), made)
        fits = await client.send("PUT", commands_path(discord), made[:-1])
        one_more = await client.send("POST", commands_path(discord), made[-1])
        replaced = await client.send("POST", commands_path(discord), made[0])
    assert (too_many.status, too_many.code) == (one_more.status, one_more.code) == (400, 30032)
    assert (fits.status, replaced.status) == (200, 200)


async def test_so_many_commands_may_be_created_in_a_day(discord: Discord) -> None:
    """The 201st new one within a day is refused with 30034; replacing is no creating; the next day it is taken."""
    path = commands_path(discord)
    async with wire(discord) as client:
        for start in (0, 100):
            await client.send("PUT", path, [{**PING, "name": f"c{start + i}"} for i in range(100)])
        refused = await client.send("PUT", path, [PING])
        kept = await client.send("PUT", path, [{**PING, "name": "c100", "description": "Changed"}])
        assert (refused.status, refused.code, kept.status) == (429, 30034, 200)
        discord.clock.advance(24 * 3600 + 1)
        assert (await client.send("PUT", path, [PING])).status == 200


async def test_commands_of_others_and_of_strange_guilds(discord: Discord, shop: Workshop) -> None:
    """20012 for another application, 50001 for a guild without the bot, 10063 for an unknown command."""
    async with wire(discord) as client:
        other = await client.send("GET", "/applications/1234/commands")
        shop.guild.remove_bot()
        strange = await client.send("PUT", commands_path(discord, shop.guild.id), [])
        unknown = await client.send("PATCH", commands_path(discord) + "/1234", PING)
        nobody = await client.send("GET", commands_path(discord), auth="Bot nonsense")
    assert [(a.status, a.code) for a in (other, strange, unknown)] == [(403, 20012), (403, 50001), (404, 10063)]
    assert nobody.status == 401


async def test_a_tree_of_discord_py_is_synced_and_read_back(discord: Discord, shop: Workshop) -> None:
    """The library's own sync and fetch, with groups, choices, ranges, contexts and permissions."""

    def build(bot: App) -> None:
        group = app_commands.Group(
            name="memory", description="What is kept", default_permissions=dpy.Permissions(manage_messages=True)
        )

        @group.command(name="add", description="Keep something")
        @app_commands.choices(kind=[app_commands.Choice(name="Fact", value="fact")])
        async def add(press: Press, kind: str, weight: app_commands.Range[int, 1, 5] = 1) -> None:
            await press.response.send_message(f"{kind} {weight}")

        bot.tree.add_command(group)

        @bot.tree.context_menu(name="Why this answer?")
        @app_commands.guild_only()
        async def why(press: Press, message: dpy.Message) -> None:
            await press.response.send_message(message.content)

    async with app(discord, build) as bot:
        found = {command.name: command for command in await bot.tree.fetch_commands()}
        assert found["memory"].default_member_permissions == dpy.Permissions(manage_messages=True)
        assert found["Why this answer?"].type is dpy.AppCommandType.message
        kept = await (await shop.mod.slash(shop.general, "memory add", kind="Fact", weight=3)).message()
    assert kept.content == "fact 3"


async def test_who_is_offered_a_command(discord: Discord, shop: Workshop) -> None:
    """default_member_permissions, "0", contexts and age restriction decide what a member is shown."""
    await register(
        discord,
        {**PING, "name": "all"},
        {**PING, "name": "mods", "default_member_permissions": str(Permission.MANAGE_MESSAGES.value)},
        {**PING, "name": "admins", "default_member_permissions": "0"},
        {**PING, "name": "guild", "contexts": [0]},
        {**PING, "name": "private", "contexts": [1]},
        {**PING, "name": "adult", "nsfw": True},
        {**PING, "name": "mine", "integration_types": [1]},
    )
    assert shop.ada.commands_in(shop.general) == ["all", "guild"]
    assert shop.mod.commands_in(shop.general) == ["all", "guild", "mods"]
    assert shop.admin.commands_in(shop.general) == ["admins", "all", "guild", "mods"]
    assert shop.ada.commands_in(shop.ada.dm()) == ["admins", "adult", "all", "mine", "mods", "private"]
    assert shop.ada.commands_in(shop.staff) == []
    cellar = shop.guild.create_channel("cellar", nsfw=True)
    assert "adult" in shop.ada.commands_in(cellar)


async def use(member: Member, shop: Workshop, name: str = "ping") -> None:
    await member.slash(shop.general, name)


async def test_a_command_is_refused_to_who_may_not_use_it(discord: Discord, shop: Workshop) -> None:
    """The permission itself, a time-out, a locked thread, a channel unseen: Discord lets none of them write it."""
    await register(discord, PING, {**PING, "name": "mods", "default_member_permissions": "8192"})
    with pytest.raises(NotPermitted, match="MANAGE_MESSAGES is missing"):
        await use(shop.ada, shop, "mods")
    shop.general.set_permissions(shop.ada, deny=Permission.USE_APPLICATION_COMMANDS)
    with pytest.raises(NotPermitted, match="USE_APPLICATION_COMMANDS"):
        await use(shop.ada, shop)
    shop.ben.time_out(60)
    with pytest.raises(NotPermitted):
        await use(shop.ben, shop)
    with pytest.raises(NotPermitted, match="do not see"):
        await shop.ada.slash(shop.staff, "ping")
    thread = await shop.mod.starts_thread(shop.general, "closed")
    thread.archive(locked=True)
    shop.ben.timed_out_until = None
    with pytest.raises(NotPermitted, match="locked"):
        await shop.ben.slash(thread, "ping")
    with pytest.raises(Misuse, match="no command 'pong'"):
        await use(shop.mod, shop, "pong")
    with pytest.raises(Misuse, match="bots use no commands"):
        await use(shop.guild.add_bot("Robot"), shop)


async def test_an_administrators_choice_outweighs_the_default(discord: Discord, shop: Workshop) -> None:
    """Role, member and channel under Integrations; the client reads it back, and hears of the change."""
    await register(discord, {**PING, "default_member_permissions": "8192"})
    with pytest.raises(NotPermitted):
        await shop.ada.sets_command(shop.guild, "ping", shop.ada, allow=True)
    async with connected(discord) as bot:
        await shop.admin.sets_command(shop.guild, "ping", shop.ada, allow=True)
        await use(shop.ada, shop)
        await shop.admin.sets_command(shop.guild, "ping", shop.guild.everyone, allow=True)
        await use(shop.ben, shop)
        await shop.admin.sets_command(shop.guild, "ping", shop.general, allow=False)
        with pytest.raises(NotPermitted, match="switched off in this channel"):
            await use(shop.mod, shop)
        await use(shop.admin, shop)
        await bot.until_event("APPLICATION_COMMAND_PERMISSIONS_UPDATE", 3)
    (command,) = discord.world.commands.of(None)
    async with wire(discord) as client:
        path = f"{commands_path(discord, shop.guild.id)}/{command.id}/permissions"
        shown = await client.send("GET", path)
        refused = await client.send("PUT", path, {"permissions": []})
        unknown = await client.send("GET", path.replace(str(command.id), "1234"))
    assert [(p["type"], p["permission"]) for p in shown.body["permissions"]] == [(2, True), (1, True), (3, False)]
    assert (refused.status, unknown.status, unknown.code) == (403, 404, 10066)


OPTIONS: list[dict[str, object]] = [
    {"type": 3, "name": "text", "description": "d", "required": True, "max_length": 5},
    {"type": 4, "name": "number", "description": "d", "min_value": 1, "max_value": 3},
    {"type": 3, "name": "colour", "description": "d", "choices": [{"name": "Red", "value": "r"}]},
    {"type": 7, "name": "where", "description": "d", "channel_types": [0]},
]


@pytest.mark.parametrize(
    ("line", "given", "words"),
    [
        ("ping", {}, "needs the option 'text'"),
        ("ping", {"text": "x", "other": 1}, "no option 'other'"),
        ("ping", {"text": "xxxxxx"}, "takes 1 to 5, not 6"),
        ("ping", {"text": ""}, "takes 1 to 5, not 0"),
        ("ping", {"text": 5}, "does not take 5"),
        ("ping", {"text": "x", "number": 4}, "takes 1 to 3, not 4"),
        ("ping", {"text": "x", "number": True}, "does not take True"),
        ("ping", {"text": "x", "colour": "Blue"}, "takes one of Red"),
        ("ping", {"text": "x", "where": "general"}, "takes Channel"),
        ("ping add", {"text": "x"}, "no 'add'"),
    ],
)
async def test_options_are_checked_as_the_client_checks_them(
    discord: Discord, shop: Workshop, line: str, given: dict[str, Any], words: str
) -> None:
    """What Discord's own client would not let a member send, a test cannot make them send either."""
    await register(discord, {**PING, "options": OPTIONS})
    with pytest.raises(Misuse, match=words):
        await shop.ada.slash(shop.general, line, **given)


async def test_a_subcommand_has_to_be_named(discord: Discord, shop: Workshop) -> None:
    """A command with subcommands is no command by itself."""
    await register(discord, {**PING, "options": [{**SUB, "options": [TEXT]}, {**SUB, "name": "drop"}]})
    assert shop.ada.commands_in(shop.general) == ["ping add", "ping drop"]
    with pytest.raises(Misuse, match="one of its subcommands: ping add, ping drop"):
        await use(shop.ada, shop)
