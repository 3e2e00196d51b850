"""The chat on a terminal: typing, and others speaking in the middle of it."""

import asyncio

import pytest

from sandbox.discord import Discord, Workshop
from sandbox.terminal.editor import Editor, cells
from tests.unit.sandbox_terminal.person import answering, at_a_terminal


async def test_talk_in_the_middle_of_a_line_leaves_it_whole(discord: Discord, shop: Workshop) -> None:
    """What others say goes above the row that is being typed, which is drawn again and sent as it was meant."""
    async with at_a_terminal(discord, speaker=shop.ada) as (screen, _):
        screen.type("half a sen")
        await screen.shows("Ada to Muninn> half a sen")
        await shop.ben.says(shop.general, "interruption")
        await screen.shows("(#general) [1] Ben: interruption")
        await screen.ends_with("Ada to Muninn> half a sen")
        screen.type("tence\r")
        await screen.shows("[2] Ada: half a sentence")
        await screen.ends_with("Ada to Muninn> ")
    assert [message.content for message in discord.messages_in(shop.ada)] == ["half a sentence"]


async def test_answers_and_the_prompt_of_a_place(discord: Discord, shop: Workshop) -> None:
    """The prompt names speaker and place; the answer comes above it while one may type on."""
    async with answering(discord), at_a_terminal(discord, speaker=shop.ada) as (screen, chatting):
        screen.type("/in general\r@muninn hi\r")
        await screen.shows("Ada in #general> ")
        await screen.shows("[2] Muninn (to [1]): I heard you")
        screen.type("/quit\r")
        async with asyncio.timeout(5):
            await chatting


async def test_typing_is_shown_while_it_lasts(discord: Discord, shop: Workshop) -> None:
    """One line when the bot begins to type, none for renewals, and again after it has spoken."""
    async with at_a_terminal(discord, speaker=shop.ada) as (screen, _):
        await screen.shows("Ada to Muninn> ")
        await discord.bot.types(shop.ada)
        await screen.shows("… Muninn is typing")
        await discord.bot.types(shop.ada)
        await discord.bot.says(shop.ada, "there")
        await screen.shows("[1] Muninn: there")
        assert sum("is typing" in row for row in screen.rows) == 1
        discord.clock.advance(1)
        await discord.bot.types(shop.general)
        await screen.shows("(#general) … Muninn is typing")


@pytest.mark.parametrize("ending", ["\x04", "/quit\r"])
async def test_the_terminal_is_given_back(discord: Discord, shop: Workshop, ending: str) -> None:
    """After ^D and /quit the terminal has its own settings again (checked by the harness), its row is empty."""
    async with at_a_terminal(discord, speaker=shop.ada) as (screen, chatting):
        await screen.shows("Ada to Muninn> ")
        screen.type(ending)
        async with asyncio.timeout(5):
            await chatting
        await screen.ends_with("")


async def test_cancelling_gives_the_terminal_back(discord: Discord, shop: Workshop) -> None:
    """A chat cancelled from outside, as by ^C, ends at once and restores the terminal."""
    async with at_a_terminal(discord, speaker=shop.ada) as (screen, chatting):
        await screen.shows("Ada to Muninn> ")
        chatting.cancel()
        async with asyncio.timeout(5):
            with pytest.raises(asyncio.CancelledError):
                await chatting


async def test_a_closed_terminal_ends_the_chat(discord: Discord, shop: Workshop) -> None:
    """When the window goes away, the chat ends instead of waiting for ever."""
    async with at_a_terminal(discord, speaker=shop.ada) as (screen, chatting):
        await screen.shows("Ada to Muninn> ")
        screen.close()
        await shop.ben.says(shop.general, "is anybody there?")
        async with asyncio.timeout(5):
            await chatting


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("helo\x1b[Dl\r", "hello"),
        ("abc\x7f\x7fx\r", "ax"),
        ("one two\x17three\r", "one three"),
        ("gone\x15kept\r", "kept"),
        ("ab\x01x\x05y\r", "xaby"),
        ("abc\x01\x1b[3~\r", "bc"),
        ("abcd\x1b[D\x1b[D\x0b\r", "ab"),
        ("first\rsecond\r\x1b[A\x1b[A!\r", "first!"),
        ("first\r\x1b[A\x1b[Bnew\r", "new"),
        ("ü🦅\x7fé\r", "üé"),
        ("a\tb\x07c\r", "a bc"),
        ("a\x1b[15~b\x1bOPc\r", "abc"),
        ("\x1bz\r", "z"),
        ("abc\x01\x04\r", "bc"),
    ],
)
def test_keys(typed: str, line: str) -> None:
    """Each key does what shells have taught, also when the bytes come one by one."""
    at_once, apart = Editor(), Editor()
    assert at_once.feed(typed.encode())[-1] == line
    assert [done for byte in typed.encode() for done in apart.feed(bytes([byte]))][-1] == line


def test_the_end_is_only_meant_on_an_empty_line() -> None:
    """^D ends the input on an empty line and deletes a character otherwise."""
    editor = Editor()
    editor.feed(b"ab\x01\x04")
    assert not editor.ended
    assert editor.text == "b"
    editor.feed(b"\x15\x05\x7f\x04")
    assert editor.ended


def test_a_long_line_stays_on_one_row() -> None:
    """Only what fits around the cursor is drawn, wide characters counted double."""
    editor = Editor()
    editor.feed(("東京" * 40).encode())
    row = editor.row("> ", 40)
    assert cells(row.split("\x1b[2K")[1].split("\r")[0]) <= 40
    editor.feed(b"\x01start ")
    assert "> start 東京" in editor.row("> ", 40)
