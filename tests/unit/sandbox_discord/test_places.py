"""Guilds, channels, threads, pins and members over REST, and the events that people's doings make."""

import discord as dpy
import pytest

from sandbox.discord import Discord, Kind, Permission, Workshop

from .bots import connected, rest_only, wire


async def test_a_guild_is_read_piece_by_piece(discord: Discord, shop: Workshop) -> None:
    async with rest_only(discord) as bot:
        guild = await bot.fetch_guild(shop.guild.id)
        assert guild.name == "Workshop"
        assert guild.approximate_member_count == 6
        assert {c.name for c in await guild.fetch_channels()} == {"general", "help", "staff", "ideas"}
        roles = {role.name: role for role in await guild.fetch_roles()}
        assert roles["Moderators"].permissions.manage_messages
        assert (await guild.fetch_role(roles["Moderators"].id)).mentionable
        assert {m.name async for m in guild.fetch_members(limit=None)} >= {"ada", "ben", "Muninn"}
        ada = await guild.fetch_member(shop.ada.id)
        assert (ada.display_name, ada.bot) == ("Ada", False)
        assert (await bot.fetch_user(shop.ben.id)).global_name == "Ben"
        assert [g.id async for g in bot.fetch_guilds()] == [shop.guild.id]
        gone = discord.create_user("Elsewhere")
        with pytest.raises(dpy.NotFound) as missing:
            await guild.fetch_member(gone.id)
        assert missing.value.code == 10007
        await guild.leave()
        with pytest.raises(dpy.NotFound):
            await bot.fetch_guild(shop.guild.id)


async def test_members_are_searched_by_prefix(discord: Discord, shop: Workshop) -> None:
    path = f"/guilds/{shop.guild.id}/members/search"
    async with wire(discord) as rest:
        found = await rest.send("GET", f"{path}?query=a&limit=10")
        assert {m["user"]["username"] for m in found.body} == {"ada", "agnes"}
        assert (await rest.send("GET", path)).code == 50035


async def test_gateway_addresses_are_told(discord: Discord) -> None:
    async with wire(discord) as rest:
        assert (await rest.send("GET", "/gateway", auth="")).body == {"url": discord.gateway_url}
        told = (await rest.send("GET", "/gateway/bot")).body
        assert (told["url"], told["shards"]) == (discord.gateway_url, 1)
        assert told["session_start_limit"]["remaining"] == 1000


async def test_channels_are_changed_and_deleted_by_who_may(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        channel = bot.get_channel(shop.help.id)
        assert isinstance(channel, dpy.TextChannel)
        with pytest.raises(dpy.Forbidden):
            await channel.edit(topic="new")
        with pytest.raises(dpy.Forbidden):
            await channel.delete()
        shop.guild.me.roles[0].edit(permissions=Permission.MANAGE_CHANNELS)
        await channel.edit(name="aid", topic="new")
        assert (shop.help.name, shop.help.topic) == ("aid", "new")
        thread = await shop.ada.starts_thread(shop.help, "inside")
        await channel.delete()
        assert shop.help.deleted
        assert thread.deleted
        assert shop.guild.places()


async def test_threads_are_changed_by_their_owner_or_a_manager(discord: Discord, shop: Workshop) -> None:
    """The owner archives and anybody unarchives; locking, and threads of others, need Manage Threads."""
    async with connected(discord) as bot:
        channel = bot.get_channel(shop.general.id)
        assert isinstance(channel, dpy.TextChannel)
        own = await channel.create_thread(name="own", type=dpy.ChannelType.public_thread)
        notice = discord.messages_in(shop.general)[-1]
        assert (notice.kind, notice.content) == (18, "own")
        await own.edit(archived=True)
        await own.edit(archived=False)
        theirs = await shop.ada.starts_thread(shop.general, "theirs")
        await bot.until_event("THREAD_CREATE", 2)
        seen = bot.get_channel(theirs.id)
        assert isinstance(seen, dpy.Thread)
        with pytest.raises(dpy.Forbidden):
            await seen.edit(archived=True)
        with pytest.raises(dpy.Forbidden):
            await own.edit(locked=True)
        shop.guild.me.roles[0].edit(permissions=Permission.MANAGE_THREADS)
        await seen.edit(archived=True, locked=True, name="closed")
        assert (theirs.archived, theirs.locked, theirs.name) == (True, True, "closed")
        with pytest.raises(dpy.HTTPException) as refused:
            await seen.edit(archived=True)
        assert refused.value.code == 50083
        assert [t.id async for t in channel.archived_threads()] == [theirs.id]
        await own.delete()
        await bot.until_event("THREAD_DELETE")


async def test_threads_are_joined_and_left(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        thread = await shop.ada.starts_thread(shop.general, "talk")
        await bot.until_event("THREAD_CREATE")
        seen = bot.get_channel(thread.id)
        assert isinstance(seen, dpy.Thread)
        await seen.join()
        await seen.add_user(dpy.Object(shop.ben.id))
        assert {m.id for m in await seen.fetch_members()} == {shop.ada.id, shop.ben.id, discord.bot.id}
        with pytest.raises(dpy.Forbidden):
            await seen.remove_user(dpy.Object(shop.ben.id))
        await seen.leave()
        assert set(thread.joined) == {shop.ada.id, shop.ben.id}
        thread.archive()
        with pytest.raises(dpy.HTTPException) as refused:
            await seen.join()
        assert refused.value.code == 50083
    async with wire(discord) as rest:
        assert (await rest.send("PUT", f"/channels/{shop.general.id}/thread-members/@me")).code == 50024


async def test_a_thread_has_a_name_and_a_place(discord: Discord, shop: Workshop) -> None:
    voice = shop.guild.create_channel("Voice", kind=Kind.VOICE)
    async with wire(discord) as rest:
        path = f"/channels/{shop.general.id}/threads"
        assert (await rest.send("POST", path, {"type": 11})).code == 50035
        assert (await rest.send("POST", path, {"name": "x" * 101, "type": 11})).code == 50035
        assert (await rest.send("POST", path, {"name": "x", "type": 11, "auto_archive_duration": 7})).code == 50035
        assert (await rest.send("POST", f"/channels/{voice.id}/threads", {"name": "x", "type": 11})).code == 50024
        assert (await rest.send("POST", f"/channels/{shop.ideas.id}/threads", {"name": "x"})).code == 50035
        private = await rest.send("POST", path, {"name": "x"})
        assert private.body["type"] == 12
        shop.general.set_permissions(shop.guild.everyone, deny=Permission.CREATE_PUBLIC_THREADS)
        assert (await rest.send("POST", path, {"name": "x", "type": 11})).code == 50013


async def test_pins_need_their_own_permission(discord: Discord, shop: Workshop) -> None:
    """Pin Messages, apart from Manage Messages; a pin leaves a notice."""
    async with connected(discord) as bot:
        message = await shop.ada.says(shop.general, "important")
        with pytest.raises(dpy.Forbidden):
            await bot.message(message).pin()
        shop.guild.me.roles[0].edit(permissions=Permission.PIN_MESSAGES)
        await bot.message(message).pin()
        assert discord.messages_in(shop.general)[-1].kind == 6
        assert [m.id async for m in bot.place(shop.general).pins()] == [message.id]
        await bot.message(message).unpin()
        assert not message.pinned


async def test_moderation_of_reactions_and_embeds(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        message = await shop.ada.says(shop.general, "https://example.com")
        await discord.unfurls(message, {"type": "link", "url": "https://example.com"})
        await shop.ada.reacts(message, "👍")
        await shop.ben.reacts(message, "👎")
        shop.guild.me.roles[0].edit(permissions=Permission.MANAGE_MESSAGES)
        async with wire(discord) as rest:
            await rest.send("PATCH", f"/channels/{shop.general.id}/messages/{message.id}", {"flags": 4})
        assert message.flags == 4
        assert message.edited_at is None
        assert [u.id async for u in (await bot.message(message).fetch()).reactions[0].users()] == [shop.ada.id]
        await bot.message(message).remove_reaction("👍", dpy.Object(shop.ada.id))
        await bot.message(message).clear_reaction("👎")
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.message(message).clear_reaction("👎")
        assert refused.value.code == 10014
        await shop.ada.reacts(message, "👍")
        await shop.ada.unreacts(message, "👍")
        await bot.message(message).clear_reactions()
        private = await shop.ada.says(shop.ada, "mine")
        with pytest.raises(dpy.Forbidden) as dm:
            await bot.message(private).delete()
        assert dm.value.code == 50003
        notice = shop.guild.system_message(shop.general, about=shop.ben)
        await bot.message(notice).delete()
        opener = await shop.ada.starts_thread(message, "talk")
        with pytest.raises(dpy.Forbidden) as system:
            await bot.message(discord.messages_in(opener)[0]).delete()
        assert system.value.code == 50021


async def test_what_people_and_guilds_do_is_told(discord: Discord, shop: Workshop) -> None:
    """Members, roles, presences and emoji change under the library's eyes."""
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        eve = shop.guild.add_member("Eve")
        crew = shop.guild.create_role("Crew")
        eve.give(crew)
        eve.rename("Evie")
        eve.goes_offline()
        shop.guild.create_emoji("party")
        await bot.until_event("GUILD_EMOJIS_UPDATE")
        member = guild.get_member(eve.id)
        assert member is not None
        assert (member.display_name, member.status) == ("Evie", dpy.Status.offline)
        assert [role.name for role in member.roles] == ["@everyone", "Crew"]
        eve.comes_online("idle")
        eve.take(crew)
        crew.delete()
        eve.leaves()
        await bot.until_event("GUILD_MEMBER_REMOVE")
        assert guild.get_member(eve.id) is None
        shop.general.edit(topic="New topic")
        shop.guild.create_category("Attic")
        await bot.until_event("CHANNEL_CREATE")
        seen = bot.get_channel(shop.general.id)
        assert isinstance(seen, dpy.TextChannel)
        assert seen.topic == "New topic"


async def test_a_message_can_be_delivered_again(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        message = await shop.ada.says(shop.general, "once")
        await discord.redelivers(message)
        await bot.until(2)
        assert [m.id for m in bot.seen] == [message.id] * 2


async def test_the_first_channel_of_an_old_guild_has_its_id(discord: Discord) -> None:
    """Until August 2017 every guild was made with a #general that had the guild's id, and those channels keep it."""
    old = discord.create_guild("Old", aged=True)
    async with rest_only(discord) as bot:
        [general] = await (await bot.fetch_guild(old.id)).fetch_channels()
    assert (general.id, general.name, general.guild.id) == (old.id, "general", old.id)
