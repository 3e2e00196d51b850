"""The chat on pipes: what a member says and sees, and each command."""

import pytest

from sandbox.discord import Discord, Workshop
from tests.unit.sandbox_terminal.person import answering, piped


async def test_the_first_words_are_answered(discord: Discord, shop: Workshop) -> None:
    """It begins in the direct message, whose greeting says so, and each piped line waits for its whole answer."""
    async with answering(discord) as bot:
        bot.answers = {"hello": "first part|second part", "more": "third"}
        bot.reactions = {"hello": "👍"}
        shown = await piped(discord, "hello", "more", speaker=shop.ada)
    assert "answers whatever you write" in shown
    assert [line for line in shown.splitlines()[3:] if "is typing" not in line] == [
        "[1] Ada: hello",
        "[2] Muninn (to [1]): first part",
        "[3] Muninn (to [1]): second part",
        "[1] 👍 by Muninn",
        "[4] Ada: more",
        "[5] Muninn (to [4]): third",
    ]
    assert [message.content for message in discord.messages_in(shop.ada)][:2] == ["hello", "first part"]


async def test_mentions_become_real_and_are_shown_by_name(discord: Discord, shop: Workshop) -> None:
    """`@Name` in any case is sent as a mention and shown as a name; what only looks like one is left alone."""
    async with answering(discord) as bot:
        bot.answers = {
            f"{discord.bot.mention} ask {shop.ben.mention}, not a@ben.org or @Bennet": f"{shop.mod.mention}?"
        }
        shown = await piped(discord, "@muninn ask @Ben, not a@ben.org or @Bennet", speaker=shop.ada, place=shop.general)
    assert "[1] Ada: @Muninn ask @Ben, not a@ben.org or @Bennet" in shown
    assert "[2] Muninn (to [1]): @Mo?" in shown


async def test_a_message_to_nobody_gets_a_hint_once(discord: Discord, shop: Workshop) -> None:
    """In a channel an unaddressed message is no request; the chat says so, once a place, and does not wait."""
    shown = await piped(discord, "hi all", "again", speaker=shop.ada, place=shop.general)
    assert shown.count("nobody was addressed") == 1
    assert "no answer" not in shown


async def test_no_answer_is_said(discord: Discord, shop: Workshop) -> None:
    """With nobody there the wait ends by its limit, with a sentence."""
    assert "! no answer within 0.05 s" in await piped(discord, "hello", speaker=shop.ada, within=0.05)


async def test_one_may_be_somebody_else(discord: Discord, shop: Workshop) -> None:
    """/as lists and switches members; in a place that the other may not see it goes to their direct message."""
    shown = await piped(
        discord, "/as", "/as mo", "/in staff", "for us", "/as Ben", "/in staff", "/as nobody", speaker=shop.ada
    )
    assert "  Ben" in shown.splitlines()
    assert "  Muninn" not in shown.splitlines()
    assert "[1] Mo: for us" in shown
    assert "You are Ben, in a private conversation with the bot." in shown
    assert "! Ben sees no channel 'staff'; /in lists them" in shown
    assert "! there is no member 'nobody'; /as lists them" in shown


async def test_other_places_are_seen_from_here(discord: Discord, shop: Workshop) -> None:
    """What happens elsewhere is shown with its place; what the viewer may not read is not."""
    async with answering(discord) as bot:
        bot.answers = {"go": "here"}
        await shop.ben.says(shop.general, "before")
        shown = await piped(discord, "/in help", "/dm", "/in general", "/dm", "go", speaker=shop.ada)
        assert "[1] Ben: before" in shown
        elsewhere = await piped(discord, "/in help", f"hello @{discord.bot.name}", "/dm", speaker=shop.ada)
    assert "[2] Muninn (to [1]): I heard you" in elsewhere
    assert "before" not in elsewhere


async def test_channels_and_threads_are_listed(discord: Discord, shop: Workshop) -> None:
    """/in and /threads show what the member can read, and /in goes to a thread as well."""
    thread = await shop.ben.starts_thread(shop.general, "Atlas move")
    await shop.ben.says(thread, "boxes?")
    shown = await piped(discord, "/in", "/threads", "/in atlas move", "/in #general", speaker=shop.ada)
    assert "  #general\n  #help\n" in shown
    assert "#staff" not in shown
    assert "  #Atlas move in #general" in shown
    assert "[1] Ben: boxes?" in shown
    assert "-- Ben started the thread “Atlas move”" in shown


async def test_replies_reactions_edits_and_deletions(discord: Discord, shop: Workshop) -> None:
    """Numbers name messages: what is done to them happens in the sandbox and is shown."""
    asked = await shop.ben.says(shop.general, "who has the key?")
    shown = await piped(
        discord,
        "/in general",
        "/reply 1 I do",
        "/react 1 🦅",
        "/edit 2 I did",
        "/delete 2",
        "/history",
        speaker=shop.ada,
    )
    assert "[2] Ada (to [1]): I do" in shown
    assert "[1] 🦅 by Ada" in shown
    assert "[2] Ada edited: I did" in shown
    assert "[2] Ada: the message is deleted" in shown
    assert shown.endswith("[1] Ben: who has the key?\n    🦅 by Ada\n")
    (mine,) = [message for message in shop.general.shelf.everything() if message.author is shop.ada.user]
    assert mine.reply_to is asked
    assert mine.deleted


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/nope", "there is no /nope"),
        ("/reply", "it is written /reply N TEXT"),
        ("/reply x y", "it is written /reply N TEXT"),
        ("/react 1", "it is written /react N EMOJI"),
        ("/react 1 nonsense", "Unknown Emoji"),
        ("/edit 1 mine now", "cannot edit a message of Ben"),
        ("/delete 1", "Missing Permissions (MANAGE_MESSAGES)"),
        ("/delete 77", "there is no message [77] now"),
        ("x" * 4001, "cannot post 4001 characters"),
    ],
)
async def test_what_cannot_be_done_is_a_sentence(discord: Discord, shop: Workshop, line: str, says: str) -> None:
    """Mistakes and refusals of Discord are one line with a mark, and the chat goes on."""
    await shop.ben.says(shop.general, "here")
    shown = await piped(discord, "/in general", line, "still here", speaker=shop.ada)
    (complaint,) = [shown_line for shown_line in shown.splitlines() if shown_line.startswith("! ")]
    assert says in complaint
    assert "Ada: still here" in shown


async def test_replying_elsewhere_is_refused(discord: Discord, shop: Workshop) -> None:
    """A reply belongs to its message's place."""
    await shop.ben.says(shop.general, "here")
    shown = await piped(discord, "/in general", "/in help", "/reply 1 x", speaker=shop.ada)
    assert "! that message is elsewhere: #general; go there first" in shown


async def test_help_names_every_command(discord: Discord, shop: Workshop) -> None:
    """/help lists all commands, and a doubled slash begins a text."""
    shown = await piped(discord, "/help", "//shrug", speaker=shop.ada, within=0.01)
    for name in [
        "help",
        "as",
        "in",
        "dm",
        "threads",
        "reply",
        "react",
        "edit",
        "delete",
        "press",
        "choose",
        "apps",
        "history",
        "quit",
    ]:
        assert f"  /{name}" in shown
    assert "[1] Ada: /shrug" in shown


async def test_quit_leaves_the_rest_unsaid(discord: Discord, shop: Workshop) -> None:
    """After /quit nothing more is read."""
    shown = await piped(discord, "/quit", "hello", speaker=shop.ada)
    assert "hello" not in shown
    assert discord.messages_in(shop.ada) == []


async def test_what_is_said_cannot_steer_the_terminal(discord: Discord, shop: Workshop) -> None:
    """Escape sequences and reordering marks in others' words are shown as replacement characters (I12)."""
    async with answering(discord) as bot:
        bot.answers = {"hello": "a\x1b[2Jb\u202ec\r[9] Mo: forged\nsecond line"}
        shown = await piped(discord, "hello", speaker=shop.ada)
    assert "[2] Muninn (to [1]): a\ufffd[2Jb\ufffdc\ufffd[9] Mo: forged\n    second line\n" in shown


async def test_the_end_of_a_line_may_be_missing(discord: Discord, shop: Workshop) -> None:
    """Windows line ends and a last line without one are read as lines."""
    async with answering(discord):
        shown = await piped(discord, "one\r", "two", speaker=shop.ada)
    assert [message.content for message in discord.messages_in(shop.ada) if not message.author.bot] == ["one", "two"]
    assert "\r" not in shown
