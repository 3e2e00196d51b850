"""Polls, forwards, stickers and emoji, voice messages, uploads, webhooks, boosts and settings of the guild."""

import io
from datetime import timedelta

import aiohttp
import discord as dpy
import orjson
import pytest

from sandbox.discord import Discord, File, Intent, Misuse, NotPermitted, Permission, Workshop

from .bots import connected, rest_only, wire

P = Permission
MIB = 1024 * 1024


def allow(shop: Workshop, permissions: Permission) -> None:
    shop.guild.me.roles[0].edit(permissions=permissions)


async def refused(what: object) -> int:
    with pytest.raises(dpy.HTTPException) as failed:
        await what  # type: ignore[misc]
    return failed.value.code


def lunch(*answers: str, multiple: bool = False) -> dpy.Poll:
    poll = dpy.Poll("Lunch?", timedelta(hours=2), multiple=multiple)
    for answer in answers or ("Soup", "Pie"):
        poll.add_answer(text=answer, emoji="🥧" if answer == "Pie" else None)
    return poll


# polls


async def test_a_poll_is_posted_voted_on_and_ended(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        sent = await bot.place(shop.general).send(poll=lunch())
        message = discord.messages_in(shop.general)[-1]
        await shop.ada.votes(message, 1)
        await shop.ada.votes(message, 2)  # in place of the first
        await shop.ben.votes(message, 2)
        await bot.until_event("MESSAGE_POLL_VOTE_ADD", 3)
        assert bot.events.count("MESSAGE_POLL_VOTE_REMOVE") == 1
        fetched = (await sent.fetch()).poll
        assert fetched is not None
        assert [(answer.text, answer.vote_count) for answer in fetched.answers] == [("Soup", 0), ("Pie", 2)]
        assert {user.id async for user in fetched.answers[1].voters()} == {shop.ada.id, shop.ben.id}
        assert (fetched.is_finalised(), fetched.duration) == (False, timedelta(hours=2))
        with pytest.raises(Misuse, match="votes for one"):
            await shop.ada.votes(message, 1, 2)
        await fetched.end()
        await bot.until(2)
        result = bot.seen[-1]
        assert result.type is dpy.MessageType.poll_result
        assert result.system_content
        assert {f.name: f.value for f in result.embeds[0].fields}["victor_answer_text"] == "Pie"
        ended = (await sent.fetch()).poll
        assert ended is not None
        assert ended.is_finalised()
        assert await refused(ended.end()) == 520001
        with pytest.raises(NotPermitted, match="Poll expired"):
            await shop.ada.votes(message, 1)
        assert await refused(sent.edit(content="x")) == 520003


async def test_a_poll_ends_when_its_time_is_over(discord: Discord, shop: Workshop) -> None:
    """Also that of a member; without a winner the result names none. A deleted poll has no result."""
    async with connected(discord) as bot:
        message = await shop.ada.asks(shop.general, "Tea?", ["yes", "no"], hours=1, multiselect=True)
        gone = await shop.ben.asks(shop.general, "Gone?", ["yes"], hours=1)
        await shop.ben.deletes(gone)
        await shop.ben.votes(message, 1, 2)
        await shop.ben.takes_vote_back(message)
        await bot.until_event("MESSAGE_POLL_VOTE_REMOVE", 2)
        discord.clock.advance(3599)
        assert message.poll is not None
        assert not message.poll.finalized
        discord.clock.advance(2)
        await bot.until(3)
        assert bot.seen[-1].type is dpy.MessageType.poll_result
        assert "victor_answer_id" not in {f.name for f in bot.seen[-1].embeds[0].fields}
        assert [m.kind for m in discord.messages_in(shop.general)] == [0, 46]


async def test_a_poll_has_bounds(discord: Discord, shop: Workshop) -> None:
    text = {"text": "x"}
    good: dict[str, object] = {"question": text, "answers": [{"poll_media": text}]}
    bad: list[dict[str, object]] = [
        {**good, "question": {"text": "x" * 301}},
        {**good, "answers": []},
        {**good, "answers": [{"poll_media": text}] * 11},
        {**good, "answers": [{"poll_media": {"text": "x" * 56}}]},
        {**good, "answers": [{}]},
        {**good, "duration": 769},
        {**good, "duration": 0},
        {**good, "layout_type": 2},
        {"answers": [{"poll_media": text}]},
    ]
    async with wire(discord) as rest:
        for poll in bad:
            assert (await rest.post(shop.general, poll=poll)).code == 50035, poll
        smile = {"text": "x", "emoji": {"name": "no emoji"}}
        assert (await rest.post(shop.general, poll={**good, "answers": [{"poll_media": smile}]})).code == 520004
        made = await rest.post(shop.general, poll=good)
        assert made.body["poll"]["results"] == {"is_finalized": False, "answer_counts": []}
        path = f"/channels/{shop.general.id}/polls"
        assert (await rest.send("GET", f"{path}/{made.body['id']}/answers/9")).code == 50035
        plain = await rest.post(shop.general, content="no poll")
        assert (await rest.send("POST", f"{path}/{plain.body['id']}/expire")).code == 520006
        theirs = await shop.ada.asks(shop.general, "Mine?", ["yes"])
        assert (await rest.send("POST", f"{path}/{theirs.id}/expire")).code == 50005
        shop.general.set_permissions(shop.guild.everyone, deny=P.SEND_POLLS)
        assert (await rest.post(shop.general, poll=good)).code == 50013
        with pytest.raises(NotPermitted, match="SEND_POLLS"):
            await shop.ada.asks(shop.general, "Now?", ["yes"])


# forwards


async def test_the_bot_forwards_what_it_can_read(discord: Discord, shop: Workshop) -> None:
    """The copy has no author, does not follow later edits, and a forward of a forward carries the first."""
    async with connected(discord) as bot:
        original = await shop.ada.says(
            shop.help, "the key is under the mat", files=[File("map.png", b"x", "image/png")]
        )
        await bot.until(1)
        forwarded = await bot.seen[0].forward(bot.place(shop.general))
        await shop.ada.edits(original, "there is no key")
        again = await forwarded.forward(bot.place(shop.general))
        for message in (forwarded, again):
            (snapshot,) = (await message.fetch()).message_snapshots
            assert (snapshot.content, len(snapshot.attachments)) == ("the key is under the mat", 1)
        assert forwarded.reference is not None
        assert forwarded.reference.type is dpy.MessageReferenceType.forward
        poll = await shop.ada.asks(shop.help, "x?", ["y"])
        await bot.until(4)
        assert await refused(bot.message(poll).forward(bot.place(shop.general))) == 50068
        hidden = await shop.mod.says(shop.staff, "secret")
        shop.staff.clear_permissions(shop.guild.me)
        assert await refused(bot.message(hidden).forward(bot.place(shop.general))) == 50001
        shop.help.set_permissions(shop.guild.everyone, deny=P.READ_MESSAGE_HISTORY)
        assert await refused(bot.message(original).forward(bot.place(shop.general))) == 160014
        shop.help.clear_permissions(shop.guild.everyone)
        await shop.ada.deletes(original)
        assert await refused(bot.message(original).forward(bot.place(shop.general))) == 50035
    with pytest.raises(NotPermitted, match="forward"):
        await shop.ada.says(shop.general, forward=hidden)


async def test_what_the_bot_is_not_shown_it_does_not_forward() -> None:
    """160014 for an application without message content, but for its own words and those that name it."""
    async with Discord.start(world="workshop", privileged=Intent(0)) as discord, rest_only(discord) as bot:
        shop = discord.workshop
        assert shop is not None
        secret = await shop.ada.says(shop.general, "secret")
        named = await shop.ada.says(shop.general, f"{discord.bot.mention} open")
        assert await refused(bot.message(secret).forward(bot.place(shop.help))) == 160014
        await bot.message(named).forward(bot.place(shop.help))


# stickers and emoji


async def test_stickers_are_sent_and_managed(discord: Discord, shop: Workshop) -> None:
    wave = shop.guild.create_sticker("wave")
    elsewhere = discord.create_guild("Elsewhere").create_sticker("far")
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        place = bot.place(shop.general)
        sent = await place.send(stickers=[dpy.Object(wave.id)])  # type: ignore[list-item]
        assert sent.stickers[0].name == "wave"
        assert await refused(place.send(stickers=[dpy.Object(5)])) == 50081  # type: ignore[list-item]
        assert await refused(place.send(stickers=[dpy.Object(elsewhere.id)])) == 50600  # type: ignore[list-item]
        picture = dpy.File(io.BytesIO(b"png"), "hug.png")
        assert await refused(guild.create_sticker(name="hug", description="", emoji="🤗", file=picture)) == 50013
        allow(shop, P.CREATE_GUILD_EXPRESSIONS | P.USE_EXTERNAL_STICKERS)
        picture = dpy.File(io.BytesIO(b"png"), "hug.png")
        made = await guild.create_sticker(name="hug", description="", emoji="🤗", file=picture, reason="cosy")
        await bot.until_event("GUILD_STICKERS_UPDATE")
        await made.edit(name="squeeze")
        assert {sticker.name for sticker in await guild.fetch_stickers()} == {"wave", "squeeze"}
        assert (await guild.fetch_sticker(made.id)).name == "squeeze"
        assert (await bot.fetch_sticker(wave.id)).name == "wave"
        theirs = await guild.fetch_sticker(wave.id)
        assert await refused(theirs.delete()) == 50013
        await made.delete()
        await place.send(stickers=[dpy.Object(elsewhere.id)])  # type: ignore[list-item]
        for n in range(4):
            shop.guild.create_sticker(f"s{n}")
        picture = dpy.File(io.BytesIO(b"png"), "hug.png")
        assert await refused(guild.create_sticker(name="six", description="", emoji="🤗", file=picture)) == 30039
        assert await refused(guild.fetch_sticker(made.id)) == 10060


async def test_emoji_need_the_new_permission_to_be_made(discord: Discord, shop: Workshop) -> None:
    """Create Expressions for one's own, Manage Expressions for what others made and for nothing new."""
    party = int(shop.guild.create_emoji("party").partition(":")[2])
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        allow(shop, P.MANAGE_GUILD_EXPRESSIONS)
        assert await refused(guild.create_custom_emoji(name="raven", image=png)) == 50013
        await (await guild.fetch_emoji(party)).edit(name="feast")
        allow(shop, P.CREATE_GUILD_EXPRESSIONS)
        made = await guild.create_custom_emoji(name="raven", image=png)
        await bot.until_event("GUILD_EMOJIS_UPDATE", 2)
        assert {emoji.name for emoji in await guild.fetch_emojis()} == {"feast", "raven"}
        assert await refused((await guild.fetch_emoji(party)).delete()) == 50013
        await made.delete()
        for n in range(49):
            shop.guild.create_emoji(f"e{n}")
        assert await refused(guild.create_custom_emoji(name="more", image=png)) == 30008
    async with wire(discord) as rest:
        path = f"/guilds/{shop.guild.id}/emojis"
        assert (await rest.send("POST", path, {"name": "a b", "image": "x"})).code == 50035
        assert (await rest.send("GET", f"{path}/5")).code == 10014


# files


async def test_a_guilds_boosts_raise_the_size_of_files(discord: Discord, shop: Workshop) -> None:
    async with rest_only(discord) as bot:

        def upload(size: int) -> object:
            return bot.place(shop.general).send(file=dpy.File(io.BytesIO(bytes(size)), "big.bin"))

        assert await refused(upload(10 * MIB + 1)) == 40005
        await shop.ada.boosts(7)
        await upload(10 * MIB + 1)  # type: ignore[misc]
        assert await refused(upload(50 * MIB + 1)) == 40005
        assert shop.guild.premium_tier == 2
    async with wire(discord) as rest:
        body = aiohttp.FormData()
        for n in range(11):
            body.add_field(f"files[{n}]", b"x", filename=f"{n}.txt")
        answer = await rest.send("POST", f"/channels/{shop.general.id}/messages", data=body)
        assert answer.code == 30015


async def test_addresses_of_attachments_expire_and_are_renewed(discord: Discord, shop: Workshop) -> None:
    """Signed for a day; a message that is fetched again, and the route for it, give a fresh one."""
    await shop.ada.says(shop.general, files=[File("a b.txt", b"hello", "text/plain")])
    async with connected(discord) as bot, wire(discord) as rest, aiohttp.ClientSession() as session:
        (message,) = [m async for m in bot.place(shop.general).history()]
        old = message.attachments[0].url
        assert {"ex=", "is=", "hm="} <= {part[:3] for part in old.partition("?")[2].split("&")}
        assert await message.attachments[0].read() == b"hello"
        discord.clock.advance(25 * 3600)
        with pytest.raises(dpy.NotFound):
            await message.attachments[0].read()
        forged = old.replace("hm=", "hm=0")
        unknown = f"{discord.api_url.removesuffix('/api/v10')}/attachments/1/2/x.txt"
        answer = await rest.send("POST", "/attachments/refresh-urls", {"attachment_urls": [old, forged, unknown]})
        fresh = [entry["refreshed"] for entry in answer.body["refreshed_urls"]]
        assert fresh[0] == fresh[1] != old
        assert fresh[2] == unknown
        async with session.get(fresh[0]) as file:
            assert (file.status, await file.read()) == (200, b"hello")
        async with session.get(fresh[0].partition("?")[0]) as bare:
            assert bare.status == 404
        assert (await rest.send("POST", "/attachments/refresh-urls", {})).code == 50035


def voice(**note: object) -> aiohttp.FormData:
    body = aiohttp.FormData()
    about = {"flags": 1 << 13, "attachments": [{"id": 0, "filename": "voice.ogg", **note}]}
    body.add_field("payload_json", orjson.dumps(about).decode(), content_type="application/json")
    body.add_field("files[0]", b"OggS", filename="voice.ogg", content_type="audio/ogg")
    return body


async def test_voice_messages_are_sound_and_nothing_else(discord: Discord, shop: Workshop) -> None:
    async with wire(discord) as rest:
        path = f"/channels/{shop.general.id}/messages"
        whole = {"duration_secs": 1.5, "waveform": "AAA="}
        assert (await rest.send("POST", path, data=voice(**whole))).code == 50173
        allow(shop, P.SEND_VOICE_MESSAGES)
        assert (await rest.send("POST", path, data=voice())).code == 50161
        assert (await rest.post(shop.general, flags=1 << 13)).code == 50160
        assert (await rest.post(shop.general, flags=1 << 13, content="x")).code == 50159
        made = await rest.send("POST", path, data=voice(**whole))
        (attachment,) = made.body["attachments"]
        assert (attachment["duration_secs"], attachment["waveform"]) == (1.5, "AAA=")
        assert (await rest.send("PATCH", f"{path}/{made.body['id']}", {"content": "x"})).code == 50162
    spoken = File("voice.ogg", b"OggS", "audio/ogg", seconds=1.5, waveform="AAA=")
    assert (await shop.ada.says(shop.general, files=[spoken])).flags == 1 << 13
    assert (await shop.ada.says(shop.general, "with words", files=[spoken])).flags == 0


async def test_flags_are_set_and_hidden_embeds_come_back(discord: Discord, shop: Workshop) -> None:
    """Silent only at birth, embeds hidden and shown at any time, unknown flags passed over."""
    async with connected(discord) as bot:
        sent = await bot.place(shop.general).send("quiet", silent=True, suppress_embeds=True)
        assert (sent.flags.suppress_notifications, sent.flags.suppress_embeds) == (True, True)
        message = discord.messages_in(shop.general)[-1]
        async with wire(discord) as rest:
            path = f"/channels/{shop.general.id}/messages/{sent.id}"
            await rest.send("PATCH", path, {"flags": 1 << 3})
        assert message.flags == 1 << 12


async def test_speaking_aloud_and_attaching_have_their_permissions(discord: Discord, shop: Workshop) -> None:
    shop.general.set_permissions(shop.guild.everyone, deny=P.ATTACH_FILES)
    async with rest_only(discord) as bot:
        place = bot.place(shop.general)
        assert await refused(place.send("x", tts=True)) == 50013
        assert await refused(place.send(file=dpy.File(io.BytesIO(b"x"), "x.txt"))) == 50013


# webhooks


async def test_webhooks_are_managed_by_who_may(discord: Discord, shop: Workshop) -> None:
    theirs = shop.general.create_webhook("News")
    async with connected(discord) as bot:
        channel = bot.get_channel(shop.general.id)
        assert isinstance(channel, dpy.TextChannel)
        assert await refused(channel.create_webhook(name="Mine")) == 50013
        assert await refused(channel.webhooks()) == 50013
        assert await refused(bot.fetch_webhook(theirs.id)) == 50013
        allow(shop, P.MANAGE_WEBHOOKS | P.VIEW_AUDIT_LOG)
        mine = await channel.create_webhook(name="Mine", reason="news")
        assert await refused(channel.create_webhook(name="Discord News")) == 50035
        assert {hook.name for hook in await channel.webhooks()} == {"News", "Mine"}
        assert {hook.name for hook in await channel.guild.webhooks()} == {"News", "Mine"}
        async with wire(discord) as rest:  # discord.py's webhooks know no address but discord.com
            moved = await rest.send("PATCH", f"/webhooks/{mine.id}", {"name": "Ours", "channel_id": str(shop.help.id)})
            assert (moved.body["name"], moved.body["channel_id"]) == ("Ours", str(shop.help.id))
            assert (await rest.send("PATCH", f"/webhooks/{mine.id}", {"channel_id": "5"})).code == 10003
            assert (await rest.send("DELETE", f"/webhooks/{theirs.id}")).status == 204
        await bot.until_event("WEBHOOKS_UPDATE", 4)
        assert theirs.id not in discord.world.webhooks
        actions = [entry.action.name async for entry in channel.guild.audit_logs()]
        assert actions == ["webhook_delete", "webhook_update", "webhook_create"]
        for n in range(15):
            shop.general.create_webhook(f"w{n}")
        assert await refused(channel.create_webhook(name="x")) == 30007
        allow(shop, P.VIEW_CHANNEL)
        assert (await bot.fetch_webhook(mine.id)).name == "Ours", "one's own needs no permission"
        shop.help.delete()
        assert await refused(bot.fetch_webhook(mine.id)) == 10015
    with pytest.raises(NotPermitted, match="MANAGE_WEBHOOKS"):
        await shop.mod.creates_webhook(shop.general, "x")


# the guild


async def test_a_guilds_settings_are_changed_by_who_may(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        assert await refused(guild.edit(name="Mine")) == 50013
        allow(shop, P.MANAGE_GUILD | P.VIEW_AUDIT_LOG)
        help_channel = guild.get_channel(shop.help.id)
        assert isinstance(help_channel, dpy.TextChannel)
        await guild.edit(
            name="Yard", system_channel=help_channel, verification_level=dpy.VerificationLevel.high, reason="spring"
        )
        await bot.until_event("GUILD_UPDATE")
        assert (guild.name, guild.system_channel, guild.verification_level.value) == ("Yard", help_channel, 3)
        (entry,) = [entry async for entry in guild.audit_logs()]
        assert (entry.reason, entry.before.name, entry.after.name) == ("spring", "Workshop", "Yard")
        await guild.edit(system_channel=None)
        assert shop.guild.system_channel_id is None
    async with wire(discord) as rest:
        for body in ({"name": "x"}, {"verification_level": 9}, {"system_channel_id": "5"}, {"afk_timeout": 5}):
            assert (await rest.send("PATCH", f"/guilds/{shop.guild.id}", body)).code == 50035
    await shop.admin.edits_guild(name="Workshop")
    with pytest.raises(NotPermitted, match="MANAGE_GUILD"):
        await shop.mod.edits_guild(name="Mine")


async def test_newcomers_wait_where_the_level_is_high(discord: Discord, shop: Workshop) -> None:
    shop.guild.edit(verification_level=3)
    newcomer = shop.guild.add_member("Newcomer")
    with pytest.raises(NotPermitted, match="verification level"):
        await newcomer.says(shop.general, "hi")
    known = shop.guild.add_member("Known", roles=[shop.guild.create_role("Guests")])
    await known.says(shop.general, "a role is enough")
    discord.clock.advance(601)
    await newcomer.says(shop.general, "hi")


async def test_boosts_make_levels_and_a_role(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        await shop.ada.boosts()
        await shop.ben.boosts(2)
        await bot.until_event("GUILD_UPDATE", 2)
        assert (guild.premium_tier, guild.premium_subscription_count) == (1, 3)
        assert [m.kind for m in discord.messages_in(shop.general)] == [8, 9, 8]
        role = guild.premium_subscriber_role
        assert role is not None
        ada = guild.get_member(shop.ada.id)
        assert ada is not None
        assert ada.premium_since is not None
        assert role in ada.roles
        allow(shop, P.MANAGE_ROLES)
        assert await refused(ada.remove_roles(role)) == 50028
        await shop.ben.stops_boosting(2)
        await bot.until_event("GUILD_UPDATE", 3)
        assert guild.premium_tier == 0
        shop.guild.system_channel_flags = 2
        await shop.ada.boosts()
        assert len(discord.messages_in(shop.general)) == 3


async def test_age_restriction_reaches_into_threads(discord: Discord, shop: Workshop) -> None:
    await shop.admin.edits_channel(shop.general, nsfw=True)
    thread = await shop.ada.starts_thread(shop.general, "grown-up")
    async with connected(discord) as bot:
        seen = bot.guilds[0].get_thread(thread.id)
        assert seen is not None
        assert seen.is_nsfw()


async def test_a_bot_that_is_banned_is_out(discord: Discord, shop: Workshop) -> None:
    """GUILD_DELETE without ``unavailable``, and 10004 from then on; an outage is no removal."""
    async with connected(discord) as bot:
        guild = bot.guilds[0]
        shop.guild.goes_down()
        await bot.until_event("GUILD_DELETE")
        shop.guild.comes_back()
        await bot.until_event("GUILD_CREATE", 2)
        assert bot.guilds
        await shop.admin.bans(shop.guild.me)
        await bot.until_event("GUILD_DELETE", 2)
        assert not bot.guilds
        assert await refused(bot.fetch_guild(guild.id)) == 10004
        with pytest.raises(NotPermitted, match="banned"):
            shop.guild.add_member(discord.bot)
