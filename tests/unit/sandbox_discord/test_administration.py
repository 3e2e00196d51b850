"""Channels, overwrites, threads, forums and pins: what discord.py asks for, what members do, what Discord refuses."""

import discord as dpy
import pytest

from sandbox.discord import Discord, Kind, NotPermitted, Permission, Workshop

from .bots import Bot, connected, rest_only, wire

P = Permission


def allow(shop: Workshop, permissions: Permission) -> None:
    shop.guild.me.roles[0].edit(permissions=permissions)


async def refused(what: object) -> int:
    with pytest.raises(dpy.HTTPException) as failed:
        await what  # type: ignore[misc]
    return failed.value.code


def text_channel(bot: Bot, channel_id: int) -> dpy.TextChannel:
    found = bot.get_channel(channel_id)
    assert isinstance(found, dpy.TextChannel)
    return found


async def test_channels_are_made_in_their_kinds_and_categories(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_CHANNELS)
    attic = shop.guild.create_category("attic")
    attic.set_permissions(shop.guild.everyone, deny=P.ADD_REACTIONS)
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        category = guild.get_channel(attic.id)
        assert isinstance(category, dpy.CategoryChannel)
        room = await guild.create_text_channel("room", category=category, topic="t", slowmode_delay=5, nsfw=True)
        assert (room.topic, room.slowmode_delay, room.nsfw, room.category_id) == ("t", 5, True, attic.id)
        assert shop.guild.channels[room.id].overwrites == attic.overwrites
        await guild.create_voice_channel("voice", user_limit=7)
        await guild.create_forum("forum", available_tags=[dpy.ForumTag(name="bug", emoji="🐛")])
        await guild.create_category("cellar")
        await bot.until_event("CHANNEL_CREATE", 4)
        assert [shop.guild.channel(name).kind for name in ("voice", "forum", "cellar")] == [2, 15, 4]
        assert await refused(guild.create_text_channel("x" * 101)) == 50035
        too_much = dpy.PermissionOverwrite(ban_members=True)
        assert await refused(guild.create_text_channel("bad", overwrites={guild.default_role: too_much})) == 50013
        allow(shop, P.VIEW_CHANNEL)
        assert await refused(guild.create_text_channel("bad")) == 50013


async def test_channels_are_moved_one_category_at_a_time(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_CHANNELS)
    attic = shop.guild.create_category("attic")
    async with connected(discord) as bot:
        channel = text_channel(bot, shop.general.id)
        await channel.move(end=True)
        await bot.until_event("CHANNEL_UPDATE")
        assert shop.general.position > shop.help.position
        await channel.edit(category=dpy.Object(attic.id))  # type: ignore[call-overload]
        assert shop.general.parent is attic
        async with wire(discord) as rest:
            path = f"/guilds/{shop.guild.id}/channels"
            both = [{"id": str(c.id), "parent_id": str(attic.id)} for c in (shop.help, shop.ideas)]
            assert (await rest.send("PATCH", path, both)).code == 40009
            assert (await rest.send("PATCH", path, {"id": "1"})).code == 50035
            assert (await rest.send("PATCH", path, [{"id": "5", "position": 1}])).code == 10003
        await channel.edit(category=None)
        assert shop.general.parent is None
    child = shop.guild.create_channel("child", category=attic)
    await shop.admin.deletes_channel(attic)
    assert child.parent is None
    assert not child.deleted


async def test_overwrites_grant_only_what_one_has(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_ROLES | P.VIEW_AUDIT_LOG)
    async with connected(discord) as bot:
        channel = text_channel(bot, shop.general.id)
        ada = await bot.guilds[0].fetch_member(shop.ada.id)
        await channel.set_permissions(ada, send_messages=False, reason="quiet")
        with pytest.raises(NotPermitted):
            await shop.ada.says(shop.general, "x")
        assert await refused(channel.set_permissions(ada, manage_messages=True)) == 50013
        await channel.set_permissions(ada, overwrite=None)
        await shop.ada.says(shop.general, "x")
        assert await refused(channel.set_permissions(ada, overwrite=None)) == 10009
        shop.general.set_permissions(shop.guild.me, allow=P.MANAGE_ROLES)
        await channel.set_permissions(ada, manage_messages=True)  # an overwrite to manage permissions lifts the bound
        actions = [entry.action.name async for entry in bot.guilds[0].audit_logs()]
        assert actions == ["overwrite_create", "overwrite_delete", "overwrite_create"]
        shop.general.clear_permissions(shop.guild.me)
        allow(shop, P.VIEW_CHANNEL)
        assert await refused(channel.set_permissions(ada, send_messages=False)) == 50013
    with pytest.raises(NotPermitted, match="set permissions in #general"):
        await shop.mod.sets_permissions(shop.general, shop.ada, deny=P.SEND_MESSAGES)
    await shop.admin.sets_permissions(shop.general, shop.ada, deny=P.SEND_MESSAGES)
    await shop.admin.clears_permissions(shop.general, shop.ada)


async def test_channels_settings_have_bounds(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_CHANNELS)
    bad: list[dict[str, object]] = [
        {"name": ""}, {"topic": "x" * 1025}, {"rate_limit_per_user": 21_601}, {"parent_id": str(shop.help.id)},
        {"default_auto_archive_duration": 5}, {"type": 2},
    ]  # fmt: skip
    async with wire(discord) as rest:
        for body in bad:
            assert (await rest.send("PATCH", f"/channels/{shop.general.id}", body)).code == 50035, body
        assert (await rest.send("PATCH", f"/channels/{shop.ada.dm().id}", {"name": "x"})).code == 50003
        assert (await rest.send("PATCH", f"/channels/{shop.general.id}", {"topic": None})).body["topic"] is None
        assert (await rest.send("PATCH", f"/channels/{shop.ideas.id}", {"topic": "x" * 4096})).status == 200
        hidden = shop.guild.create_channel("hidden")
        hidden.set_permissions(shop.guild.everyone, deny=P.VIEW_CHANNEL)
        assert (await rest.send("DELETE", f"/channels/{hidden.id}")).code == 50001


async def test_gaining_sight_of_a_channel_brings_its_threads(discord: Discord, shop: Workshop) -> None:
    """THREAD_LIST_SYNC; of what it loses the bot is told nothing."""
    shop.general.set_permissions(shop.guild.everyone, deny=P.VIEW_CHANNEL)
    talk = await shop.admin.starts_thread(shop.general, "talk")
    async with connected(discord) as bot:
        assert bot.guilds[0].get_thread(talk.id) is None
        shop.general.set_permissions(shop.guild.me, allow=P.VIEW_CHANNEL)
        await bot.until_event("THREAD_LIST_SYNC")
        assert bot.guilds[0].get_thread(talk.id) is not None
        shop.general.clear_permissions(shop.guild.me)
        shop.guild.me.give(shop.admin.roles[0])
        await bot.until_event("THREAD_LIST_SYNC", 2)


async def test_slowmode_holds_people_and_no_bots(discord: Discord, shop: Workshop) -> None:
    """20016 for members until their time is over; bots, and who may bypass it, are unaffected."""
    await shop.admin.edits_channel(shop.general, slowmode=30)
    await shop.ada.says(shop.general, "one")
    with pytest.raises(NotPermitted, match="slowmode"):
        await shop.ada.says(shop.general, "two")
    await shop.ada.starts_thread(shop.general, "one message and one thread in each interval")
    with pytest.raises(NotPermitted, match="slowmode"):
        await shop.ada.starts_thread(shop.general, "not two")
    shop.ben.give(shop.guild.create_role("quick", permissions=P.BYPASS_SLOWMODE))
    shop.mod.give(shop.guild.create_role("old way", permissions=P.MANAGE_MESSAGES | P.MANAGE_CHANNELS))
    for _ in range(2):
        await shop.ben.says(shop.general, "quick")
        await shop.admin.says(shop.general, "mine")
    await shop.mod.says(shop.general, "one")
    with pytest.raises(NotPermitted, match="slowmode"):
        await shop.mod.says(shop.general, "since 2026 Manage Messages is not enough")
    async with wire(discord) as rest:
        for _ in range(2):
            assert (await rest.post(shop.general, content="x")).status == 200
    discord.clock.advance(31)
    await shop.ada.says(shop.general, "two")


# threads


async def test_a_locked_thread_is_shut_for_members(discord: Discord, shop: Workshop) -> None:
    """160005 while it is active, 50083 when it is archived too; who manages threads goes on."""
    thread = await shop.ada.starts_thread(shop.general, "heated", text="grr")
    async with wire(discord) as rest:
        own = await rest.post(thread, content="calm")
        path = f"/channels/{thread.id}/messages/{own.body['id']}"
        thread.lock()
        assert (await rest.post(thread, content="x")).code == 160005
        assert (await rest.send("PATCH", path, {"content": "x"})).code == 160005
        assert (await rest.send("PUT", f"{path}/reactions/👍/@me")).status == 204
        assert (await rest.send("PATCH", f"/channels/{thread.id}", {"name": "x"})).code == 50013
        thread.archive(locked=True)
        assert (await rest.post(thread, content="x")).code == 50083
        assert (await rest.send("PATCH", path, {"content": "x"})).code == 50083
        assert (await rest.send("PUT", f"{path}/reactions/👎/@me")).code == 50083
        assert (await rest.send("DELETE", path)).code == 50083
        assert (await rest.send("PATCH", f"/channels/{thread.id}", {"archived": False})).code == 50013
        with pytest.raises(NotPermitted, match="archived"):
            await shop.ada.edits(discord.messages_in(thread)[0], "x")
        with pytest.raises(NotPermitted):
            await shop.ada.says(thread, "x")
        allow(shop, P.MANAGE_THREADS)
        assert (await rest.post(thread, content="x")).status == 200
        assert (thread.archived, thread.locked) == (False, True)
        thread.archive()
        assert (await rest.send("DELETE", path)).status == 204, "deleting goes in an archived thread"


async def test_writing_reopens_an_archived_thread(discord: Discord, shop: Workshop) -> None:
    thread = await shop.ada.starts_thread(shop.general, "quiet")
    async with connected(discord) as bot:
        seen = await bot.fetch_channel(thread.id)
        assert isinstance(seen, dpy.Thread)
        await seen.join()
        thread.archive()
        await bot.until_event("THREAD_UPDATE")
        await shop.ben.says(thread, "one more thing")
        await bot.until_event("THREAD_MEMBER_UPDATE")
        assert not thread.archived
        assert shop.ben.id in thread.joined


async def test_people_are_brought_into_threads(discord: Discord, shop: Workshop) -> None:
    """A notice says who was added and removed; into a closed private thread only its host or a manager brings."""
    thread = await shop.ada.starts_thread(shop.general, "secret", private=True)
    async with connected(discord) as bot:
        await shop.ada.adds(shop.guild.me, thread)
        await bot.until_event("THREAD_MEMBERS_UPDATE")
        notice = discord.messages_in(thread)[-1]
        assert (notice.kind, notice.pings.users) == (1, (discord.bot,))
        seen = await bot.fetch_channel(thread.id)
        assert isinstance(seen, dpy.Thread)
        await seen.add_user(dpy.Object(shop.ben.id))
        assert await refused(seen.add_user(dpy.Object(discord.create_user("Nobody").id))) == 10007
        thread.invitable = False
        assert await refused(seen.add_user(dpy.Object(shop.mod.id))) == 50013
        assert await refused(seen.remove_user(dpy.Object(shop.ben.id))) == 50013
        await shop.ada.removes(shop.ben, thread)
        assert not thread.visible_to(shop.ben)
        await shop.ada.removes(shop.guild.me, thread)
        await bot.until_event("THREAD_MEMBERS_UPDATE", 2)
        assert await refused(bot.fetch_channel(thread.id)) == 50001


async def test_a_renamed_thread_says_so(discord: Discord, shop: Workshop) -> None:
    thread = await shop.ada.starts_thread(shop.general, "before")
    await shop.ada.edits_thread(thread, name="after")
    assert [(m.kind, m.content) for m in discord.messages_in(thread)] == [(4, "after")]
    with pytest.raises(NotPermitted):
        await shop.ben.edits_thread(thread, name="mine")
    with pytest.raises(NotPermitted):
        await shop.ada.edits_thread(thread, locked=True)
    await shop.mod.edits_thread(thread, locked=True, archived=True)
    async with wire(discord) as rest:
        answer = await rest.send("DELETE", f"/channels/{thread.id}/messages/{discord.messages_in(thread)[0].id}")
        assert answer.code == 50021


async def test_archived_threads_are_listed_in_pages(discord: Discord, shop: Workshop) -> None:
    threads = [await shop.mod.starts_thread(shop.general, f"t{n}") for n in range(5)]
    hidden = [await shop.mod.starts_thread(shop.general, f"p{n}", private=True) for n in range(3)]
    for thread in (*threads, *hidden):
        discord.clock.advance(60)
        thread.archive()
    hidden[1].joined[discord.bot.id] = 0.0
    async with connected(discord) as bot:
        channel = text_channel(bot, shop.general.id)
        found = [thread.id async for thread in channel.archived_threads(limit=None)]
        assert found == [thread.id for thread in reversed(threads)]
        private = channel.archived_threads(private=True, limit=None)
        assert await refused(anext(private)) == 50013
        joined = [thread.id async for thread in channel.archived_threads(private=True, joined=True)]
        assert joined == [hidden[1].id]
        allow(shop, P.MANAGE_THREADS)
        found = [thread.id async for thread in channel.archived_threads(private=True, limit=None)]
        assert found == [thread.id for thread in reversed(hidden)]
    async with wire(discord) as rest:
        path = f"/channels/{shop.general.id}/threads/archived/public"
        first = (await rest.send("GET", f"{path}?limit=2")).body
        assert ([t["name"] for t in first["threads"]], first["has_more"]) == (["t4", "t3"], True)
        before = first["threads"][-1]["thread_metadata"]["archive_timestamp"].replace("+", "%2B")
        second = (await rest.send("GET", f"{path}?limit=3&before={before}")).body
        assert ([t["name"] for t in second["threads"]], second["has_more"]) == (["t2", "t1", "t0"], False)
        assert (await rest.send("GET", f"{path}?before=yesterday")).code == 50035
        shop.general.set_permissions(shop.guild.everyone, deny=P.READ_MESSAGE_HISTORY)
        allow(shop, P.VIEW_CHANNEL)
        assert (await rest.send("GET", path)).code == 50013


async def test_active_threads_are_bounded(discord: Discord, shop: Workshop) -> None:
    shop.guild.max_active_threads = 1
    await shop.ada.starts_thread(shop.general, "only")
    async with wire(discord) as rest:
        path = f"/channels/{shop.general.id}/threads"
        assert (await rest.send("POST", path, {"name": "x", "type": 11})).code == 160006


async def test_members_of_a_thread_come_with_who_they_are(discord: Discord, shop: Workshop) -> None:
    thread = await shop.ada.starts_thread(shop.general, "talk")
    thread.add(shop.ben)
    async with wire(discord) as rest:
        path = f"/channels/{thread.id}/thread-members"
        whole = (await rest.send("GET", f"{path}?with_member=true&limit=1")).body
        assert [m["member"]["user"]["username"] for m in whole] == ["ada"]
        more = (await rest.send("GET", f"{path}?with_member=true&after={whole[0]['user_id']}")).body
        assert [m["user_id"] for m in more] == [str(shop.ben.id)]
        assert (await rest.send("GET", f"{path}/{shop.ben.id}")).body["user_id"] == str(shop.ben.id)
        assert (await rest.send("GET", f"{path}/{shop.mod.id}")).code == 10007
        shop.ben.leaves()
        assert (await rest.send("GET", f"{path}/{shop.ben.id}")).code == 10007


# forums


async def test_a_post_carries_the_forums_tags(discord: Discord, shop: Workshop) -> None:
    forum = shop.guild.create_forum("bugs", tags=["open"], moderated_tags=["done"], require_tag=True)
    async with connected(discord) as bot:
        seen = bot.get_channel(forum.id)
        assert isinstance(seen, dpy.ForumChannel)
        open_tag, done = seen.available_tags
        assert [(tag.name, tag.moderated) for tag in (open_tag, done)] == [("open", False), ("done", True)]
        nowhere = dpy.ForumTag(name="nowhere")
        nowhere.id = 5
        assert await refused(seen.create_thread(name="untagged", content="x")) == 40067
        assert await refused(seen.create_thread(name="x", content="x", applied_tags=[nowhere])) == 10087
        assert await refused(seen.create_thread(name="x", content="x", applied_tags=[done])) == 50013
        made = await seen.create_thread(name="crash", content="it does", applied_tags=[open_tag])
        assert made.message.id == made.thread.id
        assert [tag.name for tag in made.thread.applied_tags] == ["open"]
        assert await refused(made.thread.add_tags(done)) == 50013
        assert await refused(made.thread.edit(pinned=True)) == 50013
        allow(shop, P.MANAGE_THREADS)
        await made.thread.edit(applied_tags=[done], pinned=True)
        post = shop.guild.threads[made.thread.id]
        assert (post.applied_tags, post.pinned_post) == ([done.id], True)
        second = await seen.create_thread(name="other", content="x", applied_tags=[open_tag])
        assert await refused(second.thread.edit(pinned=True)) == 30047
        await made.thread.edit(archived=True)
        assert not post.pinned_post
        await bot.until_event("THREAD_CREATE", 2)
        assert seen.last_message_id == second.thread.id


async def test_a_forums_tags_are_few_and_different(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_CHANNELS)
    async with wire(discord) as rest:
        path = f"/channels/{shop.ideas.id}"
        many = [{"name": f"t{n}"} for n in range(21)]
        assert (await rest.send("PATCH", path, {"available_tags": many})).code == 30048
        assert (await rest.send("PATCH", path, {"available_tags": [{"name": "a"}, {"name": "a"}]})).code == 40061
        assert (await rest.send("PATCH", path, {"available_tags": [{"name": "x" * 21}]})).code == 50035
        only = {"available_tags": [{"name": "a", "moderated": True}], "flags": 1 << 4}
        assert (await rest.send("PATCH", path, only)).code == 40066
        made = (await rest.send("PATCH", path, {"available_tags": [{"name": "a"}]})).body["available_tags"]
        kept = (await rest.send("PATCH", path, {"available_tags": [{**made[0], "name": "b"}]})).body["available_tags"]
        assert (kept[0]["id"], kept[0]["name"]) == (made[0]["id"], "b")
        assert (await rest.post(shop.ideas, content="x")).code == 40058


async def test_a_media_channel_is_a_forum_too(discord: Discord, shop: Workshop) -> None:
    media = shop.guild.create_forum("photos", kind=Kind.MEDIA)
    async with connected(discord) as bot:
        seen = bot.get_channel(media.id)
        assert isinstance(seen, dpy.ForumChannel)
        assert seen.is_media()
        made = await seen.create_thread(name="sunset", content="look")
        assert shop.guild.threads[made.thread.id].parent is media


# pins


async def test_pins_are_paged_by_the_time_of_pinning(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.PIN_MESSAGES | P.VIEW_AUDIT_LOG)
    messages = [await shop.ada.says(shop.general, f"m{n}") for n in range(60)]
    async with connected(discord) as bot:
        for message in reversed(messages[1:]):
            discord.world.pins.pin(message, by=shop.mod.user)
        await bot.message(messages[0]).pin(reason="first")
        await bot.until_event("CHANNEL_PINS_UPDATE", 60)
        found = [pin async for pin in bot.place(shop.general).pins(limit=None)]
        assert [pin.content for pin in found] == [f"m{n}" for n in range(60)]
        notice = discord.messages_in(shop.general)[-1]
        assert notice.reference is not None
        assert (notice.kind, notice.reference.message_id) == (6, messages[0].id)
        assert shop.general.last_pin_at == messages[0].pinned_at
        assert await refused(bot.message(notice).pin()) == 50021
        await bot.message(notice).delete()
        await bot.message(messages[0]).unpin()
        entries = [entry async for entry in bot.guilds[0].audit_logs(limit=2)]
        assert [(e.action.name, e.reason) for e in entries] == [("message_unpin", None), ("message_pin", "first")]
    async with wire(discord) as rest:
        old = (await rest.send("GET", f"/channels/{shop.general.id}/pins")).body
        assert (len(old), old[0]["content"]) == (50, "m1")
        shop.general.set_permissions(shop.guild.everyone, deny=P.READ_MESSAGE_HISTORY)
        assert (await rest.send("GET", f"/channels/{shop.general.id}/messages/pins")).body["items"] == []


async def test_a_channel_has_250_pins(discord: Discord, shop: Workshop) -> None:
    """And Manage Messages alone pins nothing any more."""
    allow(shop, P.MANAGE_MESSAGES)
    async with rest_only(discord) as bot:
        message = await shop.ada.says(shop.general, "one too many")
        assert await refused(bot.message(message).pin()) == 50013
        for n in range(250):
            pinned = await shop.ada.says(shop.general, f"m{n}")
            pinned.pinned_at = float(n)
        allow(shop, P.PIN_MESSAGES)
        assert await refused(bot.message(message).pin()) == 30003
    with pytest.raises(NotPermitted, match="pin"):
        await shop.ada.pins(message)


async def test_deletions_of_others_words_are_logged(discord: Discord, shop: Workshop) -> None:
    allow(shop, P.MANAGE_MESSAGES | P.VIEW_AUDIT_LOG)
    messages = [await shop.ada.says(shop.general, "x") for _ in range(3)]
    async with rest_only(discord) as bot:
        await bot.http.delete_message(shop.general.id, messages[0].id, reason="rude")
        await bot.http.delete_messages(shop.general.id, [m.id for m in messages[1:]], reason="both")
        guild = await bot.fetch_guild(shop.guild.id)
        entries = [entry async for entry in guild.audit_logs()]
        assert [(e.action.name, e.reason) for e in entries] == [
            ("message_bulk_delete", "both"),
            ("message_delete", "rude"),
        ]
