"""A channel's incoming webhook by its token: executing, editing, deleting."""

import discord as dpy
import pytest

from sandbox.discord import Discord, Kind, Workshop

from .apps import LoopbackAnswers
from .bots import connected, wire
from .test_commands import errors


async def test_a_webhook_posts_edits_and_deletes(discord: Discord, shop: Workshop) -> None:
    """With ``wait`` it is shown; the name may be its own each time; it changes only what it posted."""
    hook = shop.general.create_webhook("News")
    path = f"/webhooks/{hook.id}/{hook.token}"
    async with wire(discord) as client, connected(discord) as bot:
        silent = await client.send("POST", path, {"content": "one"}, auth="")
        shown = await client.send("POST", path + "?wait=true", {"content": "two", "username": "Crier"}, auth="")
        assert (silent.status, shown.status) == (204, 200)
        assert shown.body["webhook_id"] == str(hook.id)
        assert (shown.body["author"]["username"], shown.body["author"]["discriminator"]) == ("Crier", "0000")
        await bot.until(2)
        assert [message.webhook_id for message in bot.seen] == [hook.id] * 2
        one = f"{path}/messages/{shown.body['id']}"
        assert (await client.send("GET", one, auth="")).body["content"] == "two"
        assert (await client.send("PATCH", one, {"content": "2"}, auth="")).body["content"] == "2"
        foreign = await shop.ada.says(shop.general, "mine")
        not_its = await client.send("PATCH", f"{path}/messages/{foreign.id}", {"content": "x"}, auth="")
        assert (not_its.status, not_its.code) == (404, 10008)
        assert (await client.send("DELETE", one, auth="")).status == 204
        assert (await client.send("GET", one, auth="")).code == 10008
    assert [message.content for message in discord.messages_in(shop.general)] == ["one", "mine"]


async def test_a_webhook_is_refused(discord: Discord, shop: Workshop) -> None:
    """Unknown 404/10015, wrong token 401/50027, empty 50006, reserved names, ephemeral dropped, gone when deleted."""
    hook = shop.general.create_webhook("News")
    path = f"/webhooks/{hook.id}/{hook.token}"
    async with wire(discord) as client:
        unknown = await client.send("POST", f"/webhooks/1234/{hook.token}", {"content": "x"}, auth="")
        wrong = await client.send("POST", path + "x", {"content": "x"}, auth="")
        empty = await client.send("POST", path, {"content": " "}, auth="")
        named = await client.send("POST", path, {"content": "x", "username": "Discord"}, auth="")
        long = await client.send("POST", path, {"content": "x" * 2001}, auth="")
        assert [(a.status, a.code) for a in (unknown, wrong, empty)] == [(404, 10015), (401, 50027), (400, 50006)]
        assert errors(named, "username") == ["USERNAME_INVALID_CONTAINS"]
        assert errors(long, "content") == ["BASE_TYPE_MAX_LENGTH"]
        hidden = await client.send("POST", path + "?wait=true", {"content": "x", "flags": 64}, auth="")
        assert hidden.body["flags"] == 0
        assert (await client.send("GET", path, auth="")).body["name"] == "News"
        assert (await client.send("PATCH", path, {"name": "Olds"}, auth="")).body["name"] == "Olds"
        assert (await client.send("DELETE", path, auth="")).status == 204
        gone = await client.send("POST", path, {"content": "x"}, auth="")
    assert (gone.status, gone.code) == (404, 10015)


async def test_a_webhook_posts_in_threads(discord: Discord, shop: Workshop) -> None:
    """By ``thread_id`` in a thread of its channel; in a forum only by thread or with the name of a new one."""
    hook, board = shop.general.create_webhook("News"), shop.ideas.create_webhook("Board")
    thread = await shop.ada.starts_thread(shop.general, "talk")
    async with wire(discord) as client:
        path = f"/webhooks/{hook.id}/{hook.token}?wait=true"
        there = await client.send("POST", f"{path}&thread_id={thread.id}", {"content": "x"}, auth="")
        assert there.body["channel_id"] == str(thread.id)
        strange = await client.send("POST", f"{path}&thread_id={shop.help.id}", {"content": "x"}, auth="")
        no_forum = await client.send("POST", path, {"content": "x", "thread_name": "new"}, auth="")
        forum = f"/webhooks/{board.id}/{board.token}?wait=true"
        nowhere = await client.send("POST", forum, {"content": "x"}, auth="")
        post = await client.send("POST", forum, {"content": "x", "thread_name": "idea"}, auth="")
    assert [a.code for a in (strange, no_forum, nowhere)] == [10003, 220003, 220001]
    made = shop.guild.channel("idea")
    assert (post.body["channel_id"], made.parent, made.kind) == (str(made.id), shop.ideas, Kind.THREAD)


async def test_discord_py_uses_a_webhook(discord: Discord, shop: Workshop) -> None:
    """The library's Webhook by its address: send with wait, edit, delete, fetch."""
    hook = shop.general.create_webhook("News")
    before = dpy.webhook.async_.async_context.set(LoopbackAnswers(discord.api_url))
    try:
        async with connected(discord) as bot:
            webhook = dpy.Webhook.partial(hook.id, hook.token, client=bot)
            sent = await webhook.send("one", wait=True, username="Crier")
            await sent.edit(content="two")
            (message,) = discord.messages_in(shop.general)
            assert (message.content, message.author.name) == ("two", "Crier")
            await sent.delete()
            with pytest.raises(dpy.NotFound):
                await webhook.fetch_message(sent.id)
    finally:
        dpy.webhook.async_.async_context.reset(before)
    assert message.deleted
