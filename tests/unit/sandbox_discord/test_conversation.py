"""A real discord.py client hears people and answers them."""

from discord import Client

from sandbox.discord import Discord, Workshop

from .bots import connected


async def test_a_member_speaks_and_the_bot_answers(discord: Discord, shop: Workshop) -> None:
    """The library parses what it is told: author as a member, mention, place; its reply arrives as one."""
    async with connected(discord) as bot:
        question = await shop.ada.says(shop.general, f"{discord.bot.mention} hello")
        (heard,) = await bot.until(1)
        assert heard.content == question.content
        assert heard.author.name == "ada"
        assert heard.guild is not None
        assert heard.guild.name == "Workshop"
        assert bot.user in heard.mentions
        await heard.reply("hi Ada", mention_author=False)
        answer = await discord.wait_for_message(by=discord.bot, in_=shop.general, reply_to=question)
        assert answer.content == "hi Ada"
        assert not discord.pings
        assert isinstance(bot, Client)


async def test_a_direct_message_and_its_answer(discord: Discord, shop: Workshop) -> None:
    """A DM channel that the library has never heard of comes to life with the message."""
    async with connected(discord) as bot:
        await shop.ada.says(shop.ada.dm(), "psst")
        (heard,) = await bot.until(1)
        assert heard.guild is None
        await heard.channel.send("yes?")
        assert (await discord.wait_for_message(in_=shop.ada.dm())).content == "yes?"


async def test_history_pages_newest_first_and_without_nonces(discord: Discord, shop: Workshop) -> None:
    said = [await shop.ada.says(shop.general, f"line {n}") for n in range(250)]
    async with connected(discord) as bot:
        channel = bot.place(shop.general)
        backwards = [m async for m in channel.history(limit=None)]
        assert [m.id for m in backwards] == [m.id for m in reversed(said)]
        assert all(m.nonce is None for m in backwards)
        forwards = [m.id async for m in channel.history(limit=None, after=backwards[-101], oldest_first=True)]
        assert forwards == [m.id for m in said[101:]]


async def test_two_bots_on_one_token_both_hear(discord: Discord, shop: Workshop) -> None:
    """As on Discord, a second session of one token does not end the first."""
    async with connected(discord) as one, connected(discord, sessions=2) as two:
        await shop.ada.says(shop.general, "anybody there?")
        await one.until(1)
        await two.until(1)
