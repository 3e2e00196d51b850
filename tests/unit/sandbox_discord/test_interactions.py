"""Interactions: what the bot is told, what it may answer, until when, and who sees the answer."""

import io
from collections.abc import Mapping
from typing import Any

import discord as dpy
import pytest
from discord import app_commands, ui

from sandbox.discord import Discord, File, Intent, NotPermitted, Permission, Use, Workshop

from .apps import App, Press, app
from .bots import Answer, Wire, socket, wire
from .test_commands import PING, commands_path, errors, register

BUTTON = {"type": 2, "style": 1, "label": "Go", "custom_id": "go"}
ROW = {"type": 1, "components": [BUTTON]}
MESSAGE = {"type": 4, "data": {"content": "pong"}}
THINKING = {"type": 5}
MODAL = {
    "type": 9,
    "data": {
        "custom_id": "form",
        "title": "Form",
        "components": [{"type": 18, "label": "Name", "component": {"type": 4, "custom_id": "name", "style": 1}}],
    },
}


async def answer(client: Wire, use: Use, body: object, query: str = "") -> Answer:
    """The first answer to an interaction, without a library and without authorisation."""
    of = use.interaction
    return await client.send("POST", f"/interactions/{of.id}/{of.token}/callback{query}", body, auth="")


def token_path(use: Use, rest: str = "", application: int | None = None) -> str:
    of = use.interaction
    return f"/webhooks/{application or of.world.application.id}/{of.token}{rest}"


async def ping(discord: Discord, shop: Workshop) -> Use:
    await register(discord, PING)
    return await shop.ada.slash(shop.general, "ping")


async def test_a_command_is_told_with_all_that_discord_tells(discord: Discord, shop: Workshop) -> None:
    """Permissions as resolved in the channel, context, owners, limits, locale; options with what they name."""
    options = [
        {"type": kind, "name": name, "description": "d"}
        for kind, name in ((3, "text"), (4, "number"), (5, "flag"), (6, "who"), (7, "where"), (8, "role"), (10, "size"))
    ] + [{"type": 9, "name": "whom", "description": "d"}, {"type": 11, "name": "file", "description": "d"}]
    await register(discord, {**PING, "options": options}, guild=shop.guild.id)
    shop.general.set_permissions(shop.ada, deny=Permission.ATTACH_FILES)
    crew = shop.guild.create_role("Crew")
    async with socket(discord) as gateway:
        await gateway.identify(discord.token, intents=0)
        await gateway.until("READY")
        use = await shop.ada.slash(
            shop.general,
            "ping",
            text="a",
            number=1,
            flag=True,
            who=shop.ben,
            where=shop.help,
            role=crew,
            size=1.5,
            whom=crew,
            file=File("a.txt", b"abc", "text/plain"),
        )
        told = (await gateway.until("INTERACTION_CREATE"))[-1]["d"]
    assert (told["type"], told["version"], told["context"], told["locale"]) == (2, 1, 0, "en-US")
    assert told["id"] == str(use.interaction.id)
    assert told["application_id"] == str(discord.world.application.id)
    assert (told["guild_id"], told["guild"]["id"], told["guild_locale"]) == (str(shop.guild.id),) * 2 + ("en-US",)
    assert told["authorizing_integration_owners"] == {"0": str(shop.guild.id)}
    assert (told["entitlements"], told["attachment_size_limit"]) == ([], 10 * 1024 * 1024)
    assert told["channel_id"] == told["channel"]["id"] == str(shop.general.id)
    assert "user" not in told
    assert told["member"]["user"]["id"] == str(shop.ada.id)
    mine = Permission(int(told["member"]["permissions"]))
    assert mine == shop.general.permissions_of(shop.ada)
    assert Permission.ATTACH_FILES not in mine
    assert int(told["channel"]["permissions"]) == mine.value
    assert int(told["app_permissions"]) == shop.general.permissions_of(discord.bot).value
    data = told["data"]
    assert (data["name"], data["type"], data["guild_id"]) == ("ping", 1, str(shop.guild.id))
    values = {option["name"]: option["value"] for option in data["options"]}
    assert (values["text"], values["number"], values["flag"], values["size"]) == ("a", 1, True, 1.5)
    assert values["who"] == str(shop.ben.id)
    resolved = data["resolved"]
    assert resolved["users"][str(shop.ben.id)]["username"] == "ben"
    assert "user" not in resolved["members"][str(shop.ben.id)]
    assert "permissions" in resolved["members"][str(shop.ben.id)]
    assert resolved["channels"][str(shop.help.id)]["name"] == "help"
    assert resolved["roles"][str(crew.id)]["name"] == "Crew"
    assert resolved["attachments"][values["file"]]["filename"] == "a.txt"


async def test_a_direct_message_tells_of_the_user(discord: Discord, shop: Workshop) -> None:
    """In a DM there is no guild and no member, and the owner of the installation is 0."""
    await register(discord, PING)
    async with socket(discord) as gateway:
        await gateway.identify(discord.token, intents=0)
        await gateway.until("READY")
        await shop.ada.slash(shop.ada.dm(), "ping")
        told = (await gateway.until("INTERACTION_CREATE"))[-1]["d"]
    assert (told["user"]["id"], told["context"]) == (str(shop.ada.id), 1)
    assert told["authorizing_integration_owners"] == {"0": "0"}
    assert not {"guild_id", "guild", "member", "guild_locale"} & set(told)


async def test_the_first_answer_has_three_seconds(discord: Discord, shop: Workshop) -> None:
    """404/10062 after them on the sandbox's clock; the member is told that the application did not respond."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        discord.clock.advance(2.5)
        assert not use.failed
        discord.clock.advance(0.6)
        late = await answer(client, use, MESSAGE)
        follow_up = await client.send("POST", token_path(use), {"content": "late"}, auth="")
    assert use.failed
    assert (late.status, late.code) == (404, 10062)
    assert (follow_up.status, follow_up.code) == (404, 10015)
    assert discord.messages_in(shop.general) == []
    with pytest.raises(AssertionError, match="did not respond in three seconds"):
        await use.message()


async def test_an_interaction_is_acknowledged_once(discord: Discord, shop: Workshop) -> None:
    """400/40060 for every further first answer, also after three seconds; nothing is posted twice."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        assert (await answer(client, use, MESSAGE)).status == 204
        second = await answer(client, use, THINKING)
        discord.clock.advance(10)
        third = await answer(client, use, MESSAGE)
    assert [(a.status, a.code) for a in (second, third)] == [(400, 40060)] * 2
    assert [message.content for message in discord.messages_in(shop.general)] == ["pong"]


async def test_a_refused_answer_is_no_answer(discord: Discord, shop: Workshop) -> None:
    """A bad body leaves the interaction open, so that a better one can follow in time."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        empty = await answer(client, use, {"type": 4, "data": {"content": " "}})
        too_long = await answer(client, use, {"type": 4, "data": {"content": "x" * 2001}})
        nothing = await answer(client, use, {})
        assert (empty.code, too_long.code, nothing.code) == (50006, 50035, 50035)
        assert errors(too_long, "data.content") == ["BASE_TYPE_MAX_LENGTH"]
        assert errors(nothing, "type") == ["BASE_TYPE_REQUIRED"]
        assert (await answer(client, use, MESSAGE)).status == 204


async def test_a_wrong_token_or_id_is_an_unknown_interaction(discord: Discord, shop: Workshop) -> None:
    """404/10062 for both; the token of one interaction does not answer another."""
    use = await ping(discord, shop)
    other = await shop.ben.slash(shop.general, "ping")
    async with wire(discord) as client:
        for of, token in ((use.interaction.id, other.interaction.token), (1234, use.interaction.token)):
            wrong = await client.send("POST", f"/interactions/{of}/{token}/callback", MESSAGE)
            assert (wrong.status, wrong.code) == (404, 10062)


async def test_the_token_is_good_for_fifteen_minutes(discord: Discord, shop: Workshop) -> None:
    """Then 401/50027 for edits and follow-ups; the message itself stays, and the bot may edit it as its own."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        await answer(client, use, MESSAGE)
        discord.clock.advance(14 * 60)
        assert (
            await client.send("PATCH", token_path(use, "/messages/@original"), {"content": "two"}, auth="")
        ).status == 200
        discord.clock.advance(61)
        for method, rest in (("POST", ""), ("PATCH", "/messages/@original"), ("DELETE", "/messages/@original")):
            late = await client.send(method, token_path(use, rest), {"content": "late"}, auth="")
            assert (late.status, late.code) == (401, 50027)
        (message,) = discord.messages_in(shop.general)
        path = f"/channels/{shop.general.id}/messages/{message.id}"
        assert (await client.send("PATCH", path, {"content": "three"})).status == 200
    assert message.content == "three"


async def test_the_token_opens_nothing_before_the_first_answer_nor_for_another_application(
    discord: Discord, shop: Workshop
) -> None:
    """404/10015 for both, 401/50027 for a token that nobody has."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        early = await client.send("POST", token_path(use), {"content": "early"}, auth="")
        await answer(client, use, MESSAGE)
        other = await client.send("POST", token_path(use, application=1234), {"content": "x"}, auth="")
        wrong = await client.send("POST", token_path(use) + "x", {"content": "x"}, auth="")
    assert [(a.status, a.code) for a in (early, other, wrong)] == [(404, 10015), (404, 10015), (401, 50027)]


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        ("command", {4, 5, 9}),
        ("component", {4, 5, 6, 7, 9}),
        ("autocomplete", {8}),
        ("modal", {4, 5, 6, 7}),
        ("modal of a command", {4, 5}),
    ],
)
async def test_each_kind_of_interaction_has_its_kinds_of_answer(
    discord: Discord, shop: Workshop, kind: str, allowed: set[int]
) -> None:
    """50035 at ``type`` for every other: no form answers a form, no update a command."""
    await register(
        discord,
        PING,
        {**PING, "name": "find", "options": [{"type": 3, "name": "what", "description": "d", "autocomplete": True}]},
    )
    bodies: dict[int, Mapping[str, object]] = {
        1: {"type": 1},
        4: MESSAGE,
        5: THINKING,
        6: {"type": 6},
        7: {"type": 7, "data": {"content": "changed"}},
        8: {"type": 8, "data": {"choices": []}},
        9: MODAL,
        12: {"type": 12},
    }
    async with wire(discord) as client:

        async def begun() -> Use:
            if kind == "autocomplete":
                return await shop.ada.autocomplete(shop.general, "find", "what", what="a")
            use = await shop.ada.slash(shop.general, "ping")
            if kind == "command":
                return use
            if kind != "modal of a command":
                await answer(client, use, {"type": 4, "data": {"content": "x", "components": [ROW]}})
                use = await shop.ada.press(await use.message(), "Go")
            if kind == "component":
                return use
            await answer(client, use, MODAL)
            return await shop.ada.submit(await use.modal(), {"Name": "x"})

        taken = set[int]()
        for number, body in bodies.items():
            got = await answer(client, await begun(), body)
            if got.status == 204:
                taken.add(number)
            else:
                assert (got.code, errors(got, "type")) == (50035, ["BASE_TYPE_CHOICES"])
    assert taken == allowed


async def test_a_deferred_answer_is_filled_in_by_an_edit(discord: Discord, shop: Workshop) -> None:
    """Flag LOADING first; the edit is no edit to people, and it is then that they are notified."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        await answer(client, use, THINKING)
        thinking = await use.deferred()
        shown = await client.send("GET", token_path(use, "/messages/@original"), auth="")
        assert (shown.body["flags"], shown.body["content"]) == (128, "")
        assert discord.pings == []
        text = {"content": f"{shop.ben.mention} done", "allowed_mentions": {"parse": ["users"]}}
        edited = await client.send("PATCH", token_path(use, "/messages/@original"), text, auth="")
    assert (edited.body["flags"], edited.body["edited_timestamp"]) == (0, None)
    assert await use.message() is thinking
    assert thinking.past == []
    assert [ping.pings.users for ping in discord.pings] == [(shop.ben.user,)]


async def test_the_first_follow_up_fills_in_a_deferred_answer(discord: Discord, shop: Workshop) -> None:
    """It takes the place of the loading message, whose ephemeral flag stays; the second is a message of its own."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        await answer(client, use, {"type": 5, "data": {"flags": 64}})
        first = await client.send("POST", token_path(use), {"content": "one"}, auth="")
        second = await client.send("POST", token_path(use), {"content": "two"}, auth="")
        assert (first.status, second.status) == (200, 200)
        assert first.body["flags"] == 64
        answered, further = await use.message(), await use.followup()
        assert (answered.content, answered.ephemeral) == ("one", True)
        assert (further.content, further.ephemeral, further.reply_to) == ("two", False, answered)
        one = token_path(use, f"/messages/{further.id}")
        assert (await client.send("PATCH", one, {"content": "2"}, auth="")).body["content"] == "2"
        assert (await client.send("GET", one, auth="")).body["id"] == str(further.id)
        assert (await client.send("DELETE", one, auth="")).status == 204
        gone = await client.send("GET", one, auth="")
        foreign = await shop.ada.says(shop.general, "mine")
        not_its = await client.send("GET", token_path(use, f"/messages/{foreign.id}"), auth="")
    assert [(a.status, a.code) for a in (gone, not_its)] == [(404, 10008)] * 2
    assert use.followups == []


async def test_original_can_be_deleted_once(discord: Discord, shop: Workshop) -> None:
    """404/10008 afterwards; a follow-up is still possible, and replies to nothing."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        await answer(client, use, MESSAGE)
        original = token_path(use, "/messages/@original")
        statuses = [(await client.send("DELETE", original, auth="")).status for _ in range(2)]
        await client.send("POST", token_path(use), {"content": "after"}, auth="")
    assert statuses == [204, 404]
    assert (await use.followup()).reply_to is None


async def test_an_ephemeral_answer_is_seen_by_one(discord: Discord, shop: Workshop) -> None:
    """Not in the history, not by its id, not for others; nobody is pinged; only its owner may press in it."""
    await register(discord, PING)
    use = await shop.ada.slash(shop.general, "ping")
    async with wire(discord) as client:
        data = {"content": f"{shop.ben.mention}", "flags": 64, "components": [ROW]}
        await answer(client, use, {"type": 4, "data": data})
        hidden = await use.message()
        history = await client.send("GET", f"/channels/{shop.general.id}/messages")
        by_id = await client.send("GET", f"/channels/{shop.general.id}/messages/{hidden.id}")
        react = await client.send("PUT", f"/channels/{shop.general.id}/messages/{hidden.id}/reactions/👍/@me")
        assert use.ephemeral
        assert (history.body, by_id.code, react.code) == ([], 10008, 10008)
        assert shop.ada.sees(shop.general) == [hidden]
        assert shop.ben.sees(shop.general) == shop.admin.sees(shop.general) == []
        assert discord.messages_in(shop.general) == []
        assert discord.pings == []
        with pytest.raises(NotPermitted, match="does not see"):
            await shop.ben.press(hidden, "Go")
        pressed = await shop.ada.press(hidden, "Go")
        assert (
            await answer(client, pressed, {"type": 7, "data": {"content": "pressed", "components": []}})
        ).status == 204
        assert await pressed.updated() is hidden
        assert hidden.content == "pressed"
        await client.send("DELETE", token_path(use, "/messages/@original"), auth="")
    assert shop.ada.sees(shop.general) == []


async def test_the_gateway_tells_of_ephemeral_messages_without_a_guild(discord: Discord, shop: Workshop) -> None:
    """MESSAGE_CREATE comes with neither guild nor member, to sessions that hear of direct messages."""
    async with socket(discord) as ours, socket(discord) as deaf:
        for gateway, intents in ((ours, Intent.DIRECT_MESSAGES), (deaf, Intent.GUILD_MESSAGES)):
            await gateway.identify(discord.token, intents=intents.value)
            await gateway.until("READY")
        use = await ping(discord, shop)
        async with wire(discord) as client:
            await answer(client, use, {"type": 4, "data": {"content": "psst", "flags": 64}})
            await client.send("POST", token_path(use), {"content": "aloud"}, auth="")
        told = (await ours.until("MESSAGE_CREATE"))[-1]["d"]
        public = (await deaf.until("MESSAGE_CREATE"))[-1]["d"]
    assert (told["content"], told["flags"], told["channel_id"]) == ("psst", 64, str(shop.general.id))
    assert not {"guild_id", "member"} & set(told)
    assert (public["content"], public["guild_id"]) == ("aloud", str(shop.guild.id))
    assert "member" not in public


async def test_an_answer_says_what_it_answers(discord: Discord, shop: Workshop) -> None:
    """Types 20, 23 and 19 with their references, application and webhook id, and interaction_metadata."""
    within = {"type": 2, "name": "deep", "description": "x", "options": [{"type": 1, "name": "in", "description": "x"}]}
    nested = {"name": "nested", "description": "x", "options": [within]}
    await register(discord, PING, nested, {"name": "Why?", "type": 3}, {"name": "Who?", "type": 2})
    asked = await shop.ada.says(shop.general, "hello")
    async with wire(discord) as client:

        async def answered(use: Use, **data: object) -> dict[str, Any]:
            await answer(client, use, {"type": 4, "data": {"content": "x", **data}})
            return (await client.send("GET", token_path(use, "/messages/@original"), auth="")).body

        slash = await answered(await shop.ada.slash(shop.general, "ping"), components=[ROW])
        deep = await answered(await shop.ada.slash(shop.general, "nested deep in"))
        about = await answered(await shop.ada.context_menu("Why?", asked))
        who = await answered(await shop.ada.context_menu("Who?", shop.ben, in_=shop.general))
        message = discord.bot_messages(shop.general)[0]
        pressed = await answered(await shop.ben.press(message, "go"))
    assert [m["type"] for m in (slash, about, who, pressed)] == [20, 23, 23, 19]
    application = str(discord.world.application.id)
    assert slash["application_id"] == slash["webhook_id"] == slash["author"]["id"] == application
    assert slash["interaction"]["name"] == "ping"
    assert deep["interaction"]["name"] == deep["interaction_metadata"]["name"] == "nested deep in"
    said = slash["interaction_metadata"]
    assert (said["type"], said["name"], said["user"]["id"]) == (2, "ping", str(shop.ada.id))
    assert (
        about["message_reference"]["message_id"] == about["interaction_metadata"]["target_message_id"] == str(asked.id)
    )
    assert who["interaction_metadata"]["target_user"]["id"] == str(shop.ben.id)
    assert pressed["message_reference"]["message_id"] == str(message.id)
    assert pressed["interaction_metadata"]["interacted_message_id"] == str(message.id)
    assert "interaction" not in pressed


async def test_with_response_shows_what_was_made(discord: Discord, shop: Workshop) -> None:
    """200 and the callback object instead of 204."""
    use = await ping(discord, shop)
    async with wire(discord) as client:
        got = await answer(client, use, MESSAGE, "?with_response=true")
    message = await use.message()
    assert got.status == 200
    assert got.body["interaction"]["response_message_id"] == str(message.id)
    assert got.body["interaction"]["response_message_loading"] is False
    assert (got.body["resource"]["type"], got.body["resource"]["message"]["content"]) == (4, "pong")


async def test_suggestions_are_checked(discord: Discord, shop: Workshop) -> None:
    """At most 25, names of 1 to 100 characters, values of the option's type; too late they come in vain."""
    option = {"type": 4, "name": "n", "description": "d", "autocomplete": True}
    await register(discord, {**PING, "options": [option]})

    def suggest(*choices: object) -> dict[str, object]:
        return {"type": 8, "data": {"choices": list(choices)}}

    async with wire(discord) as client:
        use = await shop.ada.autocomplete(shop.general, "ping", "n", n="1")
        (typed,) = use.interaction.data["options"]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        assert typed == {"name": "n", "type": 4, "value": "1", "focused": True}
        one = {"name": "one", "value": 1}
        many = await answer(client, use, suggest(*[one] * 26))
        word = await answer(client, use, suggest({"name": "one", "value": "x"}))
        nameless = await answer(client, use, suggest({"name": "", "value": 1}))
        assert errors(many, "data.choices") == ["BASE_TYPE_BAD_LENGTH"]
        assert errors(word, "data.choices.0.value") == ["NUMBER_TYPE_COERCE"]
        assert errors(nameless, "data.choices.0.name") == ["BASE_TYPE_BAD_LENGTH"]
        assert (await answer(client, use, suggest(*[one] * 25))).status == 204
        assert [choice.value for choice in await use.choices()] == [1] * 25
        late = await shop.ada.autocomplete(shop.general, "ping", "n")
        discord.clock.advance(3.1)
        assert (await answer(client, late, suggest())).code == 10062


async def test_discord_py_answers_commands_in_every_way(discord: Discord, shop: Workshop) -> None:
    """The library's send, defer, follow-up, edit and delete; autocompletion; errors of a second answer."""

    def build(bot: App) -> None:
        @bot.tree.command(description="d")
        @app_commands.describe(what="What")
        async def find(press: Press, what: str) -> None:
            await press.response.defer(ephemeral=True, thinking=True)
            await press.followup.send(f"found {what}")
            further = await press.followup.send("more", wait=True)
            await further.edit(content="much more")
            await press.edit_original_response(content="found it")

        @find.autocomplete("what")
        async def suggest(press: Press, current: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=f"{current}{n}", value=f"{n}") for n in range(3)]

        @bot.tree.command(description="d")
        async def twice(press: Press) -> None:
            await press.response.send_message("once")
            other = type(press.response)(press)
            await other.send_message("twice")

        @bot.tree.command(description="d")
        async def brief(press: Press) -> None:
            answered = await press.response.send_message("gone soon", file=dpy.File(io.BytesIO(b"x"), "x.txt"))
            assert isinstance(answered.resource, dpy.InteractionMessage)
            assert (await press.original_response()).id == answered.message_id
            await press.delete_original_response()

        @bot.tree.command(description="d")
        async def late(press: Press) -> None:
            discord.clock.advance(4)
            await press.response.send_message("too late")

    async with app(discord, build) as bot:
        suggested = await (await shop.ada.autocomplete(shop.general, "find", "what", what="m")).choices()
        assert [choice.name for choice in suggested] == ["m0", "m1", "m2"]
        use = await shop.ada.slash(shop.general, "find", what=suggested[0].value)
        answered, further = await use.message(), await use.followup()
        await discord.wait_until(lambda: answered.content == "found it")
        assert (answered.ephemeral, further.content) == (True, "much more")
        gone = await (await shop.ada.slash(shop.general, "brief")).message()
        await discord.wait_for_deletion(gone)
        await (await shop.ada.slash(shop.general, "twice")).message()
        second = await bot.error()
        assert isinstance(second, app_commands.CommandInvokeError)
        assert isinstance(second.original, dpy.HTTPException)
        assert second.original.code == 40060
        await shop.ada.slash(shop.general, "late")
        unknown = await bot.error(2)
        assert isinstance(unknown, app_commands.CommandInvokeError)
        assert isinstance(unknown.original, dpy.NotFound)
        assert unknown.original.code == 10062


async def test_a_button_is_pressed_after_the_bot_was_started_anew(discord: Discord, shop: Workshop) -> None:
    """A persistent view answers for a message that another process posted; without it nobody answers."""

    class Again(ui.View):
        def __init__(self) -> None:
            super().__init__(timeout=None)

        @ui.button(label="Go", custom_id="again:go")
        async def go(self, press: Press, button: ui.Button["Again"]) -> None:
            await press.response.edit_message(content="pressed")

    async with app(discord) as first:
        await first.bot.place(shop.general).send("press me", view=Again())
    (message,) = discord.bot_messages(shop.general)
    lost = await shop.ada.press(message, "Go")
    async with app(discord) as second:
        second.bot.add_view(Again())
        changed = await (await shop.ben.press(message, "Go")).updated()
    assert (changed, message.content) == (message, "pressed")
    assert not lost.answered
    discord.clock.advance(3.1)
    assert lost.failed


async def test_an_archived_thread_takes_no_answer(discord: Discord, shop: Workshop) -> None:
    """50083 on the callback of a command used in an archived thread, which an answer does not open again."""
    await register(discord, PING)
    thread = await shop.ada.starts_thread(shop.general, "old")
    thread.archive()
    use = await shop.ada.slash(thread, "ping")
    async with wire(discord) as client:
        refused = await answer(client, use, MESSAGE)
    assert (refused.status, refused.code, thread.archived) == (400, 50083, True)
    assert use.callback is None


async def test_answers_need_no_permission_to_speak(discord: Discord, shop: Workshop) -> None:
    """An answer is no post: it comes where the bot may neither write nor link nor attach."""
    nothing = Permission.SEND_MESSAGES | Permission.EMBED_LINKS | Permission.ATTACH_FILES
    shop.general.set_permissions(shop.guild.me, deny=nothing)
    use = await ping(discord, shop)
    async with wire(discord) as client:
        data = {"content": "x", "embeds": [{"title": "t"}]}
        assert (await answer(client, use, {"type": 4, "data": data})).status == 204
    assert (await use.message()).embeds


async def test_answers_do_not_count_towards_the_global_limit(discord: Discord, shop: Workshop) -> None:
    """https://discord.com/developers/docs/interactions/receiving-and-responding#endpoints"""
    use = await ping(discord, shop)
    discord.rates.limit_all(1, per=60)
    async with wire(discord) as client:
        assert (await client.send("GET", commands_path(discord))).status == 200
        assert (await client.send("GET", commands_path(discord))).status == 429
        assert (await answer(client, use, MESSAGE)).status == 204


async def test_files_over_the_limit_are_refused(discord: Discord, shop: Workshop) -> None:
    """413/40005 for an attachment over what INTERACTION_CREATE named."""

    def build(bot: App) -> None:
        @bot.tree.command(description="d")
        async def big(press: Press) -> None:
            await press.response.send_message(file=dpy.File(io.BytesIO(bytes(press.filesize_limit + 1)), "big"))

    async with app(discord, build) as bot:
        await shop.ada.slash(shop.general, "big")
        error = await bot.error()
    assert isinstance(error, app_commands.CommandInvokeError)
    assert isinstance(error.original, dpy.HTTPException)
    assert (error.original.status, error.original.code) == (413, 40005)
