"""What the REST API accepts, what it refuses and how it says so, and that people hear the result."""

import io

import discord as dpy
import pytest

from sandbox.discord import Discord, File, Kind, Member, Permission, Workshop

from .bots import connected, rest_only, wire

REPLY_ERROR = {"_errors": [{"code": "REPLIES_UNKNOWN_MESSAGE", "message": "Unknown message"}]}


async def test_a_nonce_posts_once_in_its_window(discord: Discord, shop: Workshop) -> None:
    """I3 rests on this: same author, place and nonce give the same message until the window has passed."""
    async with wire(discord) as rest:
        first = await rest.post(shop.general, content="one", nonce="n1", enforce_nonce=True)
        again = await rest.post(shop.general, content="one, again", nonce="n1", enforce_nonce=True)
        assert again.body == first.body
        assert first.body["nonce"] == "n1"
        elsewhere = await rest.post(shop.help, content="one", nonce="n1", enforce_nonce=True)
        assert elsewhere.body["id"] != first.body["id"]
        careless = await rest.post(shop.general, content="two", nonce="n1")
        assert careless.body["id"] != first.body["id"]
        discord.clock.advance(181)
        later = await rest.post(shop.general, content="three", nonce="n1", enforce_nonce=True)
        assert later.body["id"] not in (first.body["id"], careless.body["id"])
    assert [m.content for m in discord.bot_messages(shop.general)] == ["one", "two", "three"]


async def test_a_nonce_of_a_deleted_message_says_so(discord: Discord, shop: Workshop) -> None:
    """I4: 404/10008 on a nonce means applied and since deleted."""
    async with wire(discord) as rest:
        await rest.post(shop.general, content="gone soon", nonce="n1", enforce_nonce=True)
        await shop.mod.deletes(discord.bot_messages(shop.general)[0])
        answer = await rest.post(shop.general, content="gone soon", nonce="n1", enforce_nonce=True)
        assert (answer.status, answer.code) == (404, 10008)


async def test_a_nonce_is_seen_when_posted_and_never_in_history(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        sent = await bot.place(shop.general).send("hi", nonce="seen")
        assert sent.nonce == "seen"
        assert (await bot.until(1))[0].nonce == "seen"
        assert (await bot.place(shop.general).fetch_message(sent.id)).nonce is None


BAD_BODIES: list[tuple[dict[str, object], str, str]] = [
    ({"content": "x" * 2001}, "content", "BASE_TYPE_MAX_LENGTH"),
    ({"content": ["no"]}, "content", "STRING_TYPE_CONVERT"),
    ({"content": "x", "tts": "yes"}, "tts", "BOOLEAN_TYPE_CONVERT"),
    ({"content": "x", "nonce": "n" * 26}, "nonce", "NONCE_TYPE_MAX_LENGTH"),
    ({"content": "x", "flags": "many"}, "flags", "NUMBER_TYPE_COERCE"),
    ({"content": "x", "embeds": [{}] * 11}, "embeds", "BASE_TYPE_BAD_LENGTH"),
    ({"content": "x", "embeds": {}}, "embeds", "LIST_TYPE_CONVERT"),
    ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse", "BASE_TYPE_CHOICES"),
    (
        {"content": "x", "message_reference": {"message_id": "soon"}},
        "message_reference.message_id",
        "NUMBER_TYPE_COERCE",
    ),
    ({"content": "x", "embeds": [{"title": "t" * 257}]}, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"),
    ({"content": "x", "components": [{"type": 2}]}, "components.0.type", "UNION_TYPE_CHOICES"),
]


@pytest.mark.parametrize(("body", "field", "code"), BAD_BODIES)
async def test_an_invalid_body_is_refused_with_the_place_of_the_error(
    discord: Discord, shop: Workshop, body: dict[str, object], field: str, code: str
) -> None:
    """50035, nested as Discord nests it."""
    async with wire(discord) as rest:
        answer = await rest.post(shop.general, **body)
    assert (answer.status, answer.code) == (400, 50035)
    node = answer.body["errors"]
    for part in field.split("."):
        node = node[part]
    assert node["_errors"][0]["code"] == code
    assert not discord.bot_messages()


async def test_two_thousand_code_points_are_enough_and_not_more(discord: Discord, shop: Workshop) -> None:
    """Code points, not UTF-16 units: two thousand emoji fit."""
    async with wire(discord) as rest:
        assert (await rest.post(shop.general, content="🦅" * 2000)).status == 200
        assert (await rest.post(shop.general, content="🦅" * 2001)).code == 50035
        assert (await rest.post(shop.general, content="  \n ")).code == 50006
        assert (await rest.post(shop.general)).code == 50006
        embeds = [{"description": "d" * 3001}, {"description": "d" * 3000}]
        too_much = await rest.post(shop.general, content="x", embeds=embeds)
        assert too_much.body["errors"]["embeds"]["_errors"][0]["code"] == "MAX_EMBED_SIZE_EXCEEDED"


async def test_a_reply_to_nothing_is_refused_unless_it_may_be(discord: Discord, shop: Workshop) -> None:
    """Discord's nested error, which discord.py shows as 50035; with fail_if_not_exists off it is a plain message."""
    async with rest_only(discord) as bot, wire(discord) as rest:
        question = await shop.ada.says(shop.general, "?")
        await shop.ada.deletes(question)
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.message(question).reply("!")
        assert refused.value.code == 50035
        answer = await rest.post(shop.general, content="!", message_reference={"message_id": str(question.id)})
        assert answer.body["errors"] == {"message_reference": REPLY_ERROR}
        reference = dpy.MessageReference(message_id=question.id, channel_id=shop.general.id, fail_if_not_exists=False)
        sent = await bot.place(shop.general).send("!", reference=reference)
        assert sent.reference is None


async def test_a_reply_carries_what_it_answers(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        question = await shop.ada.says(shop.general, "?")
        await bot.message(question).reply("!", mention_author=False)
        heard = (await bot.until(2))[-1]
        assert heard.type is dpy.MessageType.reply
        assert heard.reference is not None
        assert isinstance(heard.reference.resolved, dpy.Message)
        assert heard.reference.resolved.content == "?"
        await shop.ada.deletes(question)
        again = await bot.place(shop.general).fetch_message(heard.id)
        assert again.reference is not None
        assert isinstance(again.reference.resolved, dpy.DeletedReferencedMessage)


ALL = {"users", "roles", "everyone", "reply"}


@pytest.mark.parametrize(
    ("allowed", "pinged"),
    [
        ({}, ALL),
        ({"allowed_mentions": {"parse": []}}, set[str]()),
        ({"allowed_mentions": {"parse": [], "replied_user": True}}, {"reply"}),
        ({"allowed_mentions": {"parse": ["users"]}}, {"users"}),
        ({"allowed_mentions": {"parse": ["roles", "everyone"]}}, {"roles", "everyone"}),
        ({"allowed_mentions": {"users": ["BEN"]}}, {"users"}),
        ({"allowed_mentions": {"users": ["1"]}}, set[str]()),
    ],
)
async def test_who_is_pinged_is_worked_out_as_discord_does(
    discord: Discord, shop: Workshop, allowed: dict[str, dict[str, list[str]]], pinged: set[str]
) -> None:
    """I11: without the key everything is parsed; with it only what it names, and the mention lists say the same."""
    users = allowed.get("allowed_mentions", {}).get("users")
    if users == ["BEN"]:
        allowed = {"allowed_mentions": {"users": [str(shop.ben.id)]}}
    shop.guild.me.roles[0].edit(permissions=Permission.MENTION_EVERYONE)
    question = await shop.ada.says(shop.general, "?")
    text = f"@everyone {shop.ben.mention} <@&{role_id(shop)}>"
    async with wire(discord) as rest:
        reference = {"message_id": str(question.id)}
        answer = await rest.post(shop.general, content=text, message_reference=reference, **allowed)
    found = {
        *(["users"] if any(p.pings.users for p in discord.pings) else []),
        *(["roles"] if any(p.pings.roles for p in discord.pings) else []),
        *(["everyone"] if any(p.pings.everyone for p in discord.pings) else []),
        *(["reply"] if any(p.pings.replied_user for p in discord.pings) else []),
    }
    assert found == pinged
    mentioned = {user["username"] for user in answer.body["mentions"]}
    assert mentioned == {*(["ben"] if "users" in pinged else []), *(["ada"] if "reply" in pinged else [])}
    assert bool(answer.body["mention_roles"]) is ("roles" in pinged)
    assert answer.body["mention_everyone"] is ("everyone" in pinged)


def role_id(shop: Workshop) -> int:
    return next(role.id for role in shop.guild.roles.values() if role.name == "Moderators")


async def test_pings_need_permission_and_plain_text(discord: Discord, shop: Workshop) -> None:
    """@everyone without Mention Everyone pings nobody, and neither does a mention inside code; an edit counts."""
    async with wire(discord) as rest:
        await rest.post(shop.general, content=f"@everyone `{shop.ben.mention}` ```\n{shop.ada.mention}```")
        assert not discord.pings
        sent = await rest.post(shop.general, content="quiet")
        path = f"/channels/{shop.general.id}/messages/{sent.body['id']}"
        await rest.send("PATCH", path, {"content": shop.ben.mention})
        assert [(p.by_edit, str(p.pings)) for p in discord.pings] == [(True, "@Ben")]
        both = {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["5"]}}
        assert (await rest.post(shop.general, **both)).code == 50035


async def test_edits_deletions_and_bulk_deletions(discord: Discord, shop: Workshop) -> None:
    """An edit sends the whole message; only the author may edit, and deleting others' needs Manage Messages."""
    async with connected(discord) as bot:
        sent = await bot.place(shop.general).send("first")
        await sent.edit(content="second")
        kind, payload = (await bot.until(1, bot.payloads))[0]
        assert kind == "edit"
        assert payload.data["content"] == "second"
        assert payload.data["author"]["id"] == str(discord.bot.id)
        theirs = await shop.ada.says(shop.general, "mine")
        with pytest.raises(dpy.Forbidden) as refused:
            await bot.message(theirs).edit(content="yours")
        assert refused.value.code == 50005
        with pytest.raises(dpy.Forbidden) as refused:
            await bot.message(theirs).delete()
        assert refused.value.code == 50013
        await sent.delete()
        with pytest.raises(dpy.NotFound) as gone:
            await sent.edit(content="third")
        assert gone.value.code == 10008
        more = [await shop.ada.says(shop.general, str(n)) for n in range(3)]
        await shop.mod.bulk_deletes(more)
        kind, bulk = (await bot.until(3, bot.payloads))[-1]
        assert kind == "bulk"
        assert bulk.message_ids == {m.id for m in more}


async def test_bulk_deletion_has_its_rules(discord: Discord, shop: Workshop) -> None:
    shop.guild.me.roles[0].edit(permissions=Permission.MANAGE_MESSAGES)
    old = await shop.ada.says(shop.general, "old")
    discord.clock.advance(15 * 24 * 3600)
    new = await shop.ada.says(shop.general, "new")
    path = f"/channels/{shop.general.id}/messages/bulk-delete"
    async with wire(discord) as rest:
        assert (await rest.send("POST", path, {"messages": [str(new.id)]})).code == 50035
        assert (await rest.send("POST", path, {"messages": [str(new.id), str(new.id)]})).code == 50035
        assert (await rest.send("POST", path, {"messages": [str(new.id), str(old.id)]})).code == 50034
        other = await shop.ada.says(shop.general, "other")
        assert (await rest.send("POST", path, {"messages": [str(new.id), str(other.id)]})).status == 204
    assert discord.messages_in(shop.general) == [old]


async def test_what_does_not_exist_and_what_may_not_be_seen(discord: Discord, shop: Workshop) -> None:
    """Each kind of thing has its own code; a channel that is hidden is 50001."""
    hidden = shop.guild.create_channel("hidden")
    hidden.set_permissions(shop.guild.everyone, deny=Permission.VIEW_CHANNEL)
    message = await shop.ada.says(shop.general, "x")
    base = f"/channels/{shop.general.id}/messages/{message.id}"
    cases = [
        ("GET", "/channels/1", 404, 10003),
        ("GET", f"/channels/{hidden.id}", 403, 50001),
        ("GET", f"/channels/{shop.general.id}/messages/1", 404, 10008),
        ("GET", "/channels/x", 400, 50035),
        ("GET", "/users/1", 404, 10013),
        ("GET", "/guilds/1", 404, 10004),
        ("GET", f"/guilds/{shop.guild.id}/members/1", 404, 10013),
        ("GET", f"/guilds/{shop.guild.id}/roles/1", 404, 10011),
        ("PUT", base + "/reactions/nonsense/@me", 400, 10014),
        ("GET", f"/channels/{shop.general.id}/messages?limit=101", 400, 50035),
        ("GET", f"/channels/{shop.general.id}/messages?limit=0", 400, 50035),
        ("GET", f"/channels/{shop.general.id}/messages?after=x", 400, 50035),
        ("GET", "/nowhere", 404, 0),
        ("PATCH", "/users/@me/channels", 405, 0),
    ]
    async with wire(discord) as rest:
        for method, path, status, code in cases:
            answer = await rest.send(method, path)
            assert (answer.status, answer.code) == (status, code), path
        assert (await rest.send("GET", "/users/@me", auth=discord.token)).status == 401
        assert (await rest.send("GET", "/users/@me", auth=f"Bearer {discord.token}")).status == 401
        json = {"Content-Type": "application/json"}
        assert json.items() <= dict((await rest.send("GET", "/users/@me")).headers).items()


async def test_who_may_speak_where(discord: Discord, shop: Workshop) -> None:
    quiet = shop.guild.create_channel("quiet")
    quiet.set_permissions(shop.guild.everyone, deny=Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY)
    said = await shop.admin.says(quiet, "read only")
    async with wire(discord) as rest:
        assert (await rest.post(quiet, content="x")).code == 50013
        assert (await rest.send("GET", f"/channels/{quiet.id}/messages")).body == []
        assert (await rest.send("GET", f"/channels/{quiet.id}/messages/{said.id}")).code == 50013
        quiet.set_permissions(shop.guild.everyone, deny=Permission.READ_MESSAGE_HISTORY)
        reply = await rest.post(quiet, content="x", message_reference={"message_id": str(said.id)})
        assert reply.code == 160002
        assert (await rest.post(shop.ideas, content="x")).code == 40058
        shop.ada.user.accepts_dms = False
        assert (await rest.post(shop.ada, content="x")).code == 50007
        shop.guild.me.time_out(60)
        assert (await rest.post(shop.general, content="x")).code == 50013


async def test_threads_archive_lock_and_come_back(discord: Discord, shop: Workshop) -> None:
    """A post unarchives; a locked one is refused, 160005 while open and 50083 when archived too."""
    async with connected(discord) as bot:
        origin = await shop.ada.says(shop.general, "let us talk")
        thread = await shop.ada.starts_thread(origin, "talk", text="here")
        assert thread.id == origin.id
        await bot.until(3)  # the message, the thread's opener, the first message in it
        assert bot.get_channel(thread.id) is not None
        assert [m.position for m in bot.seen[1:]] == [0, 0]
        thread.archive()
        message = await bot.place(thread).send("back again")
        fetched = await bot.fetch_channel(thread.id)
        assert isinstance(fetched, dpy.Thread)
        assert (fetched.message_count, fetched.total_message_sent, fetched.archived) == (2, 2, False)
        assert not thread.archived
        thread.archive(locked=True)
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.place(thread).send("again?")
        assert refused.value.code == 50083
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.place(thread).get_partial_message(message.id).edit(content="psst")
        assert refused.value.code == 50083
        discord.world.threads.set_archived(thread, archived=False, locked=True)
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.place(thread).send("again?")
        assert refused.value.code == 160005


async def test_the_bot_opens_threads(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        question = await shop.ada.says(shop.general, "?")
        (heard,) = await bot.until(1)
        thread = await heard.create_thread(name="answer")
        assert thread.id == question.id
        with pytest.raises(dpy.HTTPException) as refused:
            await heard.create_thread(name="another")
        assert refused.value.code == 160004
        forum = bot.get_channel(shop.ideas.id)
        assert isinstance(forum, dpy.ForumChannel)
        made = await forum.create_thread(name="idea", content="what if")
        assert made.message.id == made.thread.id
        listed = await bot.guilds[0].active_threads()
        assert {t.name for t in listed} == {"answer", "idea"}


async def test_a_private_thread_is_seen_by_its_members(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        thread = await shop.ada.starts_thread(shop.general, "secret", text="psst", private=True)
        assert bot.get_channel(thread.id) is None
        thread.add(shop.guild.me)
        await shop.ada.says(thread, "you may listen")
        await bot.until(1)
        assert bot.contents == ["you may listen"]


async def test_files_are_kept_and_their_addresses_expire(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        sent = await bot.place(shop.general).send("look", files=[dpy.File(io.BytesIO(b"data"), "a b.txt")])
        assert sent.attachments[0].filename == "a_b.txt"
        assert await sent.attachments[0].read() == b"data"
        await shop.ada.says(shop.general, files=[File("pic.png", b"png", "image/png", width=2, height=1)])
        theirs = (await bot.until(2))[-1].attachments[0]
        assert (theirs.content_type, theirs.width) == ("image/png", 2)
        discord.clock.advance(25 * 3600)
        with pytest.raises(dpy.NotFound):
            await theirs.read()
        fresh = await bot.place(shop.general).fetch_message(discord.messages_in(shop.general)[-1].id)
        assert await fresh.attachments[0].read() == b"png"


async def test_history_around_before_and_after(discord: Discord, shop: Workshop) -> None:
    said = [await shop.ada.says(shop.general, str(n)) for n in range(10)]
    await shop.ada.deletes(said[4])
    path = f"/channels/{shop.general.id}/messages"
    async with wire(discord) as rest:

        async def ask(query: str) -> list[str]:
            return [m["content"] for m in (await rest.send("GET", f"{path}?{query}")).body]

        assert await ask(f"after={said[2].id}&limit=3") == ["6", "5", "3"]
        assert await ask(f"before={said[6].id}&limit=3") == ["5", "3", "2"]
        assert await ask(f"around={said[5].id}&limit=3") == ["6", "5", "3"]
        assert await ask("limit=1") == ["9"]
        assert await ask(f"after={said[9].id}") == []
        both = await rest.send("GET", f"{path}?after=1&before=2")
        assert both.code == 50035


async def test_reactions_have_their_rules(discord: Discord, shop: Workshop) -> None:
    """Unknown emoji 10014, a 21st kind 30010, custom emoji by name and id."""
    party = shop.guild.create_emoji("party")
    async with connected(discord) as bot:
        message = await shop.ada.says(shop.general, "react")
        await bot.until(1)
        for emoji in ("👍", "👍🏽", "❤️", "🏳️‍🌈", "🇩🇪", "1️⃣", f"<:{party}>"):
            await bot.message(message).add_reaction(emoji)
        assert len(discord.reactions_on(message)) == 7
        assert await discord.wait_for_reaction(message, party) == party
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.message(message).add_reaction("abc")
        assert refused.value.code == 10014
        for emoji in "😀😁😂😃😄😅😆😇😈😉😊😋😌":
            await bot.message(message).add_reaction(emoji)
        with pytest.raises(dpy.HTTPException) as refused:
            await bot.message(message).add_reaction("😎")
        assert refused.value.code == 30010
        await shop.ben.reacts(message, "👍")
        with pytest.raises(dpy.Forbidden):
            await bot.message(message).remove_reaction("👍", shop_user(shop.ben))
        await bot.message(message).remove_reaction("👍", shop_user(shop.guild.me))
        assert discord.reactions_on(message)["👍"] == [shop.ben.user]
        fetched = await bot.place(shop.general).fetch_message(message.id)
        assert len(fetched.reactions) == 20
        await shop.mod.clears_reactions(message)
        await bot.until_event("MESSAGE_REACTION_REMOVE_ALL")


def shop_user(member: Member) -> dpy.Object:
    return dpy.Object(member.id)


async def test_typing_is_logged_and_told(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        await bot.place(shop.general).typing()
        assert discord.is_typing(shop.general)
        assert (await discord.wait_for_typing(shop.general)).by is discord.bot
        await bot.place(shop.general).send("done")
        assert not discord.is_typing(shop.general)
        await shop.ada.types(shop.general)
        payloads = await bot.until(2, bot.payloads)
        assert [p.user_id for _, p in payloads] == [discord.bot.id, shop.ada.id]


async def test_old_messages_can_be_edited_only_so_often(discord: Discord, shop: Workshop) -> None:
    async with wire(discord) as rest:
        sent = await rest.post(shop.general, content="old")
        discord.clock.advance(3601)
        path = f"/channels/{shop.general.id}/messages/{sent.body['id']}"
        codes = [(await rest.send("PATCH", path, {"content": str(n)})).status for n in range(11)]
        assert codes == [200] * 10 + [429]


async def test_opening_a_direct_message(discord: Discord, shop: Workshop) -> None:
    robot = shop.guild.add_bot("Robot")
    async with wire(discord) as rest:
        opened = await rest.send("POST", "/users/@me/channels", {"recipient_id": str(shop.ada.id)})
        assert opened.body["id"] == str(shop.ada.dm().id)
        for recipient, code in ((robot.id, 50007), (discord.bot.id, 50033), (1, 50033), ("x", 50035)):
            refused = await rest.send("POST", "/users/@me/channels", {"recipient_id": recipient})
            assert refused.code == code


async def test_a_place_that_is_deleted_is_gone(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        shop.help.delete()
        await bot.until_event("CHANNEL_DELETE")
        with pytest.raises(dpy.NotFound) as gone:
            await bot.place(shop.help).send("hello?")
        assert gone.value.code == 10003
        voice = shop.guild.create_channel("Voice", kind=Kind.VOICE)
        await bot.until_event("CHANNEL_CREATE")
        assert bot.get_channel(voice.id) is not None
