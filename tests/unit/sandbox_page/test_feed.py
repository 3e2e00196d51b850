"""What a page is sent, and what it may ask for: what its person sees and may do, no more."""

from contextlib import AsyncExitStack

import pytest
from yarl import URL

from sandbox.discord import Discord, File, Permission, Workshop
from sandbox.page import Page, serve_page
from tests.unit.sandbox_page.tab import Refused, tab

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def test_what_is_said_changed_and_deleted_arrives(page: Page, shop: Workshop) -> None:
    """By whoever and however: new messages, edits, reactions, deletions, each once."""
    async with tab(page) as seen:
        await seen.enters(shop.ada, shop.general)
        said = await shop.ben.says(shop.general, "one")
        await shop.mod.says(shop.general, "two", reply_to=said)
        await seen.until(lambda: seen.texts == ["one", "two"])
        assert [m["view"]["reply"] and m["view"]["reply"]["text"] for m in seen.messages.values()] == [None, "one"]
        await shop.ben.edits(said, "uno")
        await shop.mod.reacts(said, "👍")
        await seen.until(lambda: seen.texts[0] == "uno" and seen.messages[str(said.id)]["reactions"])
        shown = seen.messages[str(said.id)]
        assert shown["view"]["edited"] is not None
        assert [(r["key"], r["count"], r["me"], r["by"]) for r in shown["reactions"]] == [
            ("👍", 1, False, [str(shop.mod.id)])
        ]
        await shop.ben.deletes(said)
        await seen.until(lambda: seen.texts == ["two"])
        puts = [m["id"] for frame in seen.frames if frame["op"] == "messages" for m in frame["put"]]
        assert puts.count(str(said.id)) <= 4  # said, quoted, edited, reacted to; never again for nothing


async def test_a_person_speaks_and_takes_back(page: Page, shop: Workshop) -> None:
    """Speaking, replying, editing, reacting, deleting as the chosen person."""
    async with tab(page) as acting:
        await acting.enters(shop.ada, shop.general)
        place = {"place": str(shop.general.id)}
        first = (await acting.ask("say", **place, text="  hello  "))["message"]
        await acting.ask("say", **place, text="and more", reply=first, ping=False)
        await acting.ask("react", **place, message=first, emoji="🎉")
        await acting.ask("unreact", **place, message=first, emoji="🎉")
        await acting.ask("edit", **place, message=first, text="hello!")
        assert acting.texts == ["hello!", "and more"]
        await acting.ask("delete", **place, message=first)
        assert acting.texts == ["and more"]
    [left] = shop.general.shelf.live()
    assert (left.author, left.reply_to is not None, left.pings.replied_user) == (shop.ada.user, True, None)


async def test_people_see_their_own_places(page: Page, shop: Workshop) -> None:
    """A member sees no staff channel, a moderator does, and nobody another's direct message."""
    async with tab(page) as looking:
        await looking.ask("be", who=str(shop.ada.id))
        assert set(looking.places) == {"general", "help", "ideas", "Muninn"}
        await looking.ask("be", who=str(shop.mod.id))
        assert set(looking.places) == {"general", "help", "ideas", "staff", "Muninn"}
        assert looking.places["Muninn"]["id"] == str(shop.mod.dm().id)
        assert looking.places["staff"]["private"]
        assert not looking.places["general"]["private"]
        with pytest.raises(Refused, match="cannot see it"):
            await looking.ask("open", place=str(shop.ada.dm().id))


async def test_nothing_of_a_hidden_place_can_be_had(page: Page, shop: Workshop) -> None:
    """Not by reading, replying, reacting, inspecting, or by naming its messages from elsewhere."""
    secret = await shop.mod.says(shop.staff, "the code is 1234")
    async with tab(page) as prying:
        await prying.enters(shop.ada, shop.general)
        for do, more in (
            ("open", {}),
            ("say", {"text": "x"}),
            ("react", {"message": str(secret.id), "emoji": "👍"}),
            ("inspect", {"message": str(secret.id)}),
            ("read", {"message": str(secret.id)}),
        ):
            with pytest.raises(Refused):
                await prying.ask(do, place=str(shop.staff.id), **more)
        with pytest.raises(Refused, match="deleted"):
            await prying.ask("say", place=str(shop.general.id), text="x", reply=str(secret.id))
        await shop.mod.says(shop.staff, "the code is 5678")
        await prying.ask("open", place=str(shop.general.id))
    assert "the code" not in str(prying.frames)


async def test_a_place_that_is_closed_to_the_person_is_left(page: Page, shop: Workshop) -> None:
    """A permission is taken away while the place is open: it is gone at once, with all that stood in it."""
    async with tab(page) as seen:
        await seen.enters(shop.ada, shop.help)
        shop.help.set_permissions(shop.ada, deny=Permission.VIEW_CHANNEL)
        await seen.until(lambda: seen.frames[-1]["op"] == "left")
        assert "help" not in seen.places
        await shop.mod.says(shop.help, "she is gone")
        await seen.ask("open", place=str(shop.general.id))
    assert "she is gone" not in str(seen.frames)


@pytest.mark.parametrize(
    ("do", "arguments", "told"),
    [
        ("say", {"text": "   "}, "nothing to send"),
        ("say", {"text": "x" * 4001}, "4000 is the most"),
        ("say", {"text": "x", "files": ["gone"]}, "lost on the way"),
        ("say", {}, "text is missing"),
        ("edit", {"message": "1", "text": "x"}, "deleted"),
        ("edit", {"message": "one", "text": "x"}, "no id"),
        ("react", {"message": "1", "emoji": "x"}, "deleted"),
        ("thread", {"name": " "}, "needs a name"),
        ("inspect_run", {"run": "1"}, "no such run"),
        ("slash", {"line": "nothing"}, "no command"),
        ("fly", {}, "knows no 'fly'"),
    ],
)
async def test_what_cannot_be_done_is_told_in_a_sentence(
    page: Page, shop: Workshop, do: str, arguments: dict[str, object], told: str
) -> None:
    """And the page goes on."""
    async with tab(page) as acting:
        await acting.enters(shop.ada, shop.general)
        with pytest.raises(Refused, match=told):
            await acting.ask(do, place=str(shop.general.id), **arguments)
        await acting.ask("say", place=str(shop.general.id), text="still here")
        assert acting.texts == ["still here"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"n": "x", "do": "say"}', '{"do": 1}', "\ud800".encode("utf-8", "replace").decode()],
)
async def test_nonsense_on_the_socket_ends_nothing(page: Page, shop: Workshop, text: str) -> None:
    """What no page sends is refused, and the socket stays."""
    async with tab(page) as acting:
        await acting.send(text)
        await acting.until(lambda: any("error" in frame for frame in acting.frames))
        await acting.enters(shop.ada, shop.general)


async def test_nobody_can_be_the_bot_or_a_stranger(page: Page, discord: Discord, shop: Workshop) -> None:
    """Only people of the guild."""
    stranger = discord.create_user("Eve")
    async with tab(page) as acting:
        with pytest.raises(Refused, match="Choose who you are"):
            await acting.ask("open", place=str(shop.general.id))
        for who in (discord.bot.id, stranger.id):
            with pytest.raises(Refused, match="no such member"):
                await acting.ask("be", who=str(who))


async def test_unread_messages_are_counted_until_they_are_read(page: Page, shop: Workshop) -> None:
    """Across tabs and reloads; whether one is for the person; what they said themselves is read."""
    bot = page  # the page keeps the marks
    async with tab(bot) as first:
        await first.enters(shop.ada, shop.general)
        await shop.ben.says(shop.help, "anybody?")
        last = await shop.ben.says(shop.help, f"{shop.ada.mention}, you?")
        await first.until(lambda: first.places["help"]["unread"] == 2)
        assert first.places["help"]["pinged"]
        await first.ask("read", place=str(shop.help.id), message=str(last.id))
        assert (first.places["help"]["unread"], first.places["help"]["pinged"]) == (0, False)
        assert first.places["help"]["read"] == str(last.id)
    async with tab(bot) as second:
        await second.ask("be", who=str(shop.ada.id))
        assert second.places["help"]["unread"] == 0
        await second.ask("be", who=str(shop.mod.id))
        assert second.places["help"]["unread"] == 2
        await second.ask("say", place=str(shop.help.id), text="I am here")
        assert second.places["help"]["unread"] == 0


async def test_older_messages_come_when_they_are_asked_for(page: Page, shop: Workshop) -> None:
    """Fifty at a time, and it is said whether there are more."""
    for number in range(70):
        await shop.ben.says(shop.general, f"{number}")
    async with tab(page) as reading:
        await reading.enters(shop.ada, shop.general)
        assert (len(reading.messages), reading.texts[0]) == (50, "20")
        assert [f["more"] for f in reading.frames if f["op"] == "messages"] == [True]
        await reading.ask("older")
        assert (len(reading.messages), reading.texts[0]) == (70, "0")
        assert [f["more"] for f in reading.frames if f["op"] == "messages"] == [True, False]


async def test_files_are_uploaded_and_come_back(page: Page, shop: Workshop) -> None:
    """A picture is shown, with its size known beforehand; anything else can only be saved."""
    home = str(URL(page.url).origin())
    async with tab(page) as acting:
        await acting.enters(shop.ada, shop.general)
        ids: list[str] = []
        for name, kind, body in (("a b.png", "image/png", PNG), ("x.html", "text/html", b"<script>alert(1)</script>")):
            headers = {
                "Origin": home,
                "Content-Type": kind,
                "X-File-Name": name.replace(" ", "%20"),
                "X-Image-Width": "7",
            }
            async with acting.session.post(f"{home}/uploads", data=body, headers=headers) as answer:
                ids.append((await answer.json())["id"])
        await acting.ask("say", place=str(shop.general.id), text="", files=ids)
        [message] = acting.messages.values()
        picture, page_of_evil = message["attachments"]
        assert (picture["filename"], picture["size"], picture["width"]) == ("a_b.png", len(PNG), 7)
        async with acting.session.get(f"{home}{picture['url']}") as answer:
            assert (await answer.read(), answer.content_type) == (PNG, "image/png")
        async with acting.session.get(f"{home}{page_of_evil['url']}") as answer:
            assert answer.content_type == "application/octet-stream"
            assert answer.headers["Content-Disposition"].startswith("attachment")
    assert [a.file for a in shop.general.shelf.live()[0].attachments] == [
        File("a_b.png", PNG, "image/png", None, 7, None),
        File("x.html", b"<script>alert(1)</script>", "text/html", None, 7, None),
    ]


async def test_typing_is_shown_to_others_until_they_have_spoken(page: Page, shop: Workshop) -> None:
    """Not to oneself."""
    async with tab(page) as seen, tab(page) as typing:
        await seen.enters(shop.ada, shop.general)
        await typing.enters(shop.ben, shop.general)
        await typing.ask("type", place=str(shop.general.id))
        await seen.until(lambda: [who["id"] for who in seen.typing] == [str(shop.ben.id)])
        assert typing.typing == []
        await typing.ask("say", place=str(shop.general.id), text="done")
        await seen.until(lambda: seen.typing == [])


async def test_threads_and_posts(page: Page, shop: Workshop) -> None:
    """On a message, alone and in a forum; archived by who opened it, not by another member."""
    asked = await shop.ben.says(shop.general, "long story")
    async with tab(page) as acting:
        await acting.enters(shop.ada, shop.general)
        on = await acting.ask("thread", place=str(shop.general.id), message=str(asked.id), name="The story")
        post = await acting.ask("thread", place=str(shop.ideas.id), name="An idea", text="What if?")
        assert {acting.places[name]["id"] for name in ("The story", "An idea")} == {on["place"], post["place"]}
        assert acting.messages[str(asked.id)]["view"]["thread"]["name"] == "The story"
        await acting.ask("open", place=post["place"])
        assert acting.texts == ["What if?"]
        await acting.ask("archive", place=post["place"], archived=True)
        assert acting.places["An idea"]["archived"]
        with pytest.raises(Refused, match="some words"):
            await acting.ask("thread", place=str(shop.ideas.id), name="No words")
        await acting.ask("be", who=str(shop.ben.id))
        with pytest.raises(Refused):
            await acting.ask("archive", place=on["place"], archived=True)


async def test_moderators_delete_and_pin(page: Page, shop: Workshop) -> None:
    """The page offers what the person may do, and the server holds it."""
    said = await shop.ben.says(shop.general, "rude")
    where = {"place": str(shop.general.id), "message": str(said.id)}
    async with tab(page) as acting:
        await acting.enters(shop.ada, shop.general)
        assert not acting.messages[str(said.id)]["view"]["deletable"]
        for do in ("delete", "pin", "edit"):
            with pytest.raises(Refused):
                await acting.ask(do, **where, text="polite")
        await acting.enters(shop.mod, shop.general)
        assert acting.messages[str(said.id)]["view"]["deletable"]
        assert acting.places["general"]["can"]["pin"]
        await acting.ask("pin", **where)
        assert acting.messages[str(said.id)]["pinned"]
        assert [m["content"] for m in await acting.ask("pinned", place=str(shop.general.id))] == ["rude"]
        await acting.ask("unpin", **where)
        await acting.ask("delete", **where)
        assert "rude" not in acting.texts


async def test_votes_replace_each_other_and_are_taken_back(page: Page, shop: Workshop) -> None:
    """What one voted for oneself is told apart from how many did."""
    poll = await shop.mod.asks(shop.general, "Tea or coffee?", ["Tea", "Coffee"])
    where = {"place": str(shop.general.id), "message": str(poll.id)}
    async with tab(page) as voting:
        await voting.enters(shop.ada, shop.general)
        for answers in (["1"], ["2"]):
            await voting.ask("vote", **where, answers=answers)
            assert [str(n) for n in voting.messages[str(poll.id)]["view"]["votes"]] == answers
        await shop.ben.votes(poll, 2)
        counts = voting.messages[str(poll.id)]["poll"]["results"]["answer_counts"]
        await voting.until(lambda: voting.messages[str(poll.id)]["poll"]["results"]["answer_counts"] != counts)
        await voting.ask("vote", **where, answers=[])
        assert voting.messages[str(poll.id)]["view"]["votes"] == []


async def test_moderators_keep_order_within_the_hierarchy(page: Page, shop: Workshop) -> None:
    """Time-outs, kicks and bans, in the person's name; a member is refused, and so is a moderator by rank."""
    ada, ben, admin = ({"person": str(who.id)} for who in (shop.ada, shop.ben, shop.admin))
    async with tab(page) as acting:
        await acting.ask("be", who=str(shop.ben.id))
        assert not any(acting.directory["may"].values())
        with pytest.raises(Refused):
            await acting.ask("time_out", **ada, minutes="10")
        await acting.ask("be", who=str(shop.mod.id))
        assert all(acting.directory["may"].values())
        await acting.ask("time_out", **ada, minutes="10")
        assert shop.ada.timed_out_until is not None
        await acting.ask("time_out", **ada, minutes="0")
        assert shop.ada.timed_out_until is None
        for do in ("kick", "ban"):
            with pytest.raises(Refused):
                await acting.ask(do, **admin)
        await acting.ask("kick", **ada)
        await acting.ask("ban", **ben)
        assert {shop.ada.id, shop.ben.id}.isdisjoint(shop.guild.members)


async def test_who_is_put_out_is_shown_the_door(page: Page, shop: Workshop) -> None:
    """Their page is told, and shows nothing more; it may go on as somebody else."""
    async with tab(page) as leaving:
        await leaving.enters(shop.ben, shop.general)
        await shop.mod.kicks(shop.ben)
        await leaving.until(lambda: leaving.frames[-1]["op"] == "gone")
        assert str(shop.ben.id) not in {person["id"] for person in leaving.frames[-1]["people"]}
        await shop.mod.says(shop.general, "he is gone")
        with pytest.raises(Refused, match="Choose who you are"):
            await leaving.ask("say", place=str(shop.general.id), text="let me in")
        assert "he is gone" not in str(leaving.frames)
        await leaving.enters(shop.ada, shop.general)
        assert "he is gone" in leaving.texts


async def test_closing_the_page_closes_every_tab(discord: Discord, shop: Workshop) -> None:
    """And what was under way ends with it."""
    async with AsyncExitStack() as stack:
        serving = serve_page(discord, shop.guild)
        open_tab = await stack.enter_async_context(tab(await serving.__aenter__()))
        await open_tab.enters(shop.ada, shop.general)
        await serving.__aexit__(None, None, None)
        await open_tab.until(lambda: open_tab.closed)


async def test_a_page_that_goes_away_takes_nothing_with_it(page: Page, shop: Workshop) -> None:
    """Another tab goes on; closing the page closes those that are open."""
    async with tab(page) as staying:
        await staying.enters(shop.ada, shop.general)
        async with tab(page) as leaving:
            await leaving.enters(shop.ben, shop.general)
            await leaving.ask("say", place=str(shop.general.id), text="bye")
        await shop.ben.says(shop.general, "still here")
        await staying.until(lambda: staying.texts == ["bye", "still here"])
