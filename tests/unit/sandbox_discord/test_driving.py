"""The Python API as a test uses it: what it refuses, how it waits, and what it says when it waits in vain."""

import asyncio

import pytest

from sandbox.discord import Clock, Discord, Misuse, NotPermitted, Workshop
from sandbox.discord.clock import Snowflakes, created_at
from sandbox.discord.emoji import Emoji, is_unicode_emoji, parse
from sandbox.discord.faults import path_matches

from .bots import wire


def test_ids_rise_even_when_time_stands_still() -> None:
    """They order messages, and guilds in milliseconds of their own fall on different shards."""
    clock = Clock(lambda: 1_700_000_000.0)
    ids = Snowflakes(clock)
    made = [ids.next() for _ in range(5000)]
    assert made == sorted(set(made))
    assert abs(created_at(made[0]) - clock.now()) < 0.001
    one, two = ids.next_millisecond(), ids.next_millisecond()
    assert (one >> 22) + 1 == two >> 22
    clock.advance(60)
    assert ids.next() > two
    with pytest.raises(ValueError, match="forward"):
        clock.advance(-1)


@pytest.mark.parametrize("text", ["👍", "👍🏽", "❤️", "❤", "🏳️‍🌈", "👩‍👩‍👧", "🇩🇪", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "✅", "⏳", "🪿", "©️"])
def test_an_emoji_is_one(text: str) -> None:
    assert is_unicode_emoji(text)


@pytest.mark.parametrize("text", ["", "a", "1", "👍👍", ":+1:", "thumbsup", "→", "<:x>", "🇩", " 👍"])
def test_what_is_no_emoji_is_none(text: str) -> None:
    assert parse(text) is None


def test_a_custom_emoji_has_three_spellings() -> None:
    expected = Emoji("party", 12345)
    assert parse("party:12345") == parse("<:party:12345>") == parse("<a:party:12345>") == expected
    assert (expected.key, str(expected)) == ("party:12345", "<:party:12345>")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/channels/*/messages", "/channels/1/messages", True),
        ("/channels/*/messages", "/channels/1/messages/2", False),
        ("/channels/**", "/channels/1/messages/2", True),
        ("/**/@me", "/channels/1/messages/2/reactions/👍/@me", True),
        ("/users/@me", "/users/@me", True),
    ],
)
def test_paths_are_matched_by_segment(pattern: str, path: str, matches: bool) -> None:
    assert path_matches(pattern, path) is matches


async def test_what_cannot_happen_on_discord_cannot_be_tested(discord: Discord, shop: Workshop) -> None:
    """NotPermitted for a lack of rights, Misuse for nonsense; both say what is wrong."""
    message = await shop.ada.says(shop.general, "mine")
    with pytest.raises(NotPermitted, match="Ben cannot edit a message of Ada"):
        await shop.ben.edits(message, "yours")
    with pytest.raises(NotPermitted, match="MANAGE_MESSAGES"):
        await shop.ben.deletes(message)
    with pytest.raises(NotPermitted, match="cannot speak in #staff"):
        await shop.ada.says(shop.staff, "hello")
    with pytest.raises(NotPermitted, match="Missing Access"):
        await shop.ada.says(shop.ben.dm(), "not my DM")
    with pytest.raises(Misuse, match="4000 is Nitro's limit"):
        await shop.ada.says(shop.general, "x" * 4001)
    with pytest.raises(Misuse, match="already in"):
        shop.guild.add_member(shop.ada.user)
    with pytest.raises(Misuse, match="no channel 'nowhere'; it has general"):
        shop.guild.channel("nowhere")
    with pytest.raises(Misuse, match="no direct message"):
        shop.guild.me.dm()
    await shop.ada.deletes(message)
    with pytest.raises(Misuse, match="deleted"):
        await shop.ada.edits(message, "too late")


async def test_a_wait_that_fails_shows_what_happened(discord: Discord, shop: Workshop) -> None:
    """The place with edits, deletions and pings, and the last requests."""
    first = await shop.ada.says(shop.general, "one")
    await shop.ada.edits(first, "two")
    await shop.ben.says(shop.general, f"{shop.ada.mention} what?", reply_to=first)
    await shop.ada.deletes(first)
    async with wire(discord) as rest:
        await rest.send("GET", "/users/1")
    with pytest.raises(AssertionError) as failed:
        await discord.wait_for_message(in_=shop.general, within=0.01)
    told = str(failed.value)
    assert "in vain for a message by Muninn in #general" in told
    assert "Ada: two  (edited from 'one'; deleted)" in told
    assert "replies to 'Ada: two'; pings @Ada reply:Ada" in told
    assert "GET /users/1 -> 404" in told


async def test_waiting_sees_what_is_there_and_what_comes(discord: Discord, shop: Workshop) -> None:
    first = await shop.ada.says(shop.general, "one")
    assert await discord.wait_for_message(by=shop.ada) is first
    second = asyncio.create_task(discord.wait_for_message(by=shop.ada, after=first))
    edited = asyncio.create_task(discord.wait_for_edit(first, containing="1"))
    reacted = asyncio.create_task(discord.wait_for_reaction(first, by=shop.ben))
    gone = asyncio.create_task(discord.wait_for_deletion(first))
    await asyncio.sleep(0)
    message = await shop.ada.says(shop.help, "two")
    await shop.ada.edits(first, "1")
    await shop.ben.reacts(first, "👀")
    await shop.ada.deletes(first)
    assert await second is message
    assert await edited is first
    assert await reacted == "👀"
    await gone
    assert await discord.wait_for_messages(1, in_=shop.help, by=shop.ada) == [message]


async def test_silence_is_broken_by_the_first_word(discord: Discord, shop: Workshop) -> None:
    await shop.ada.says(shop.general, "before")
    await discord.expect_silence(shop.general, by=shop.ada, for_=0.01)
    listening = asyncio.create_task(discord.expect_silence(shop.general, by=shop.ada, for_=30))
    await asyncio.sleep(0)
    await shop.ada.says(shop.general, "oops")
    with pytest.raises(AssertionError, match="was to be silent, but said 'oops'"):
        await listening


async def test_two_sandboxes_know_nothing_of_each_other() -> None:
    """Ports, tokens, worlds and clocks are apart."""
    async with Discord.start(world="workshop") as one, Discord.start(world="workshop") as two:
        assert one.api_url != two.api_url
        one.clock.advance(60)
        assert one.clock.now() > two.clock.now() + 59
        async with wire(one) as rest:
            assert (await rest.send("GET", "/users/@me", auth=f"Bot {two.token}")).status == 401


async def test_closing_lets_go_of_what_is_held(shop: Workshop) -> None:
    """A request in a stall does not keep the sandbox open."""
    async with Discord.start(world="workshop") as discord, wire(discord) as rest:
        fault = discord.faults.rest("GET", "/users/@me").stall(60)
        waiting = asyncio.create_task(rest.send("GET", "/users/@me"))
        await fault.hit()
        async with asyncio.timeout(5):
            await discord.close()
        await asyncio.gather(waiting, return_exceptions=True)
