"""What a session is shown: intents, content of messages, and places that the bot may not see."""

import discord as dpy
import pytest

from sandbox.discord import Discord, Intent, Permission, Workshop

from .bots import connected, socket, wire


async def test_events_need_their_intents(discord: Discord, shop: Workshop) -> None:
    """Each kind of event only with its intent; DMs have their own."""
    async with socket(discord) as line:
        await line.identify(discord.token, intents=(Intent.GUILDS | Intent.DIRECT_MESSAGES).value)
        await line.until("GUILD_CREATE")
        message = await shop.ada.says(shop.general, "not for you")
        await shop.ada.reacts(message, "👍")
        await shop.ada.types(shop.general)
        await shop.ada.types(shop.ada)
        shop.guild.add_member("Newcomer")
        await shop.ada.says(shop.ada, "for you")
        (heard,) = await line.until("MESSAGE_CREATE")
        assert heard["d"]["content"] == "for you"


async def test_members_come_whole_only_with_presences(discord: Discord) -> None:
    """Without that intent GUILD_CREATE has the bot's own member alone."""
    async with socket(discord) as line:
        await line.identify(discord.token, intents=(Intent.GUILDS | Intent.GUILD_MEMBERS).value)
        created = (await line.until("GUILD_CREATE"))[-1]["d"]
        assert [m["user"]["id"] for m in created["members"]] == [str(discord.bot.id)]
        assert created["member_count"] == 6


async def test_content_is_hidden_without_the_intent(discord: Discord, shop: Workshop) -> None:
    """But for DMs, the bot's own words, and messages that mention it; a quoted message is judged by itself."""
    intents = dpy.Intents.all()
    intents.message_content = False
    async with connected(discord, intents=intents) as bot:
        first = await shop.ada.says(shop.general, "secret")
        await shop.ada.says(shop.general, f"{discord.bot.mention} open", reply_to=first)
        await shop.ada.says(shop.ada, "private")
        await bot.place(shop.general).send("own")
        await bot.until(4)
        assert bot.contents == ["", f"{discord.bot.mention} open", "private", "own"]
        quoted = bot.seen[1].reference
        assert quoted is not None
        assert isinstance(quoted.resolved, dpy.Message)
        assert quoted.resolved.content == ""


async def test_rest_hides_content_from_an_application_without_it() -> None:
    """History is censored as the gateway is."""
    async with Discord.start(world="workshop", privileged=Intent(0)) as discord, wire(discord) as rest:
        assert discord.workshop is not None
        shop = discord.workshop
        await shop.ada.says(shop.general, "secret")
        await shop.ada.says(shop.general, f"{discord.bot.mention} open")
        history = await rest.send("GET", f"/channels/{shop.general.id}/messages")
        assert [m["content"] for m in history.body] == [f"{discord.bot.mention} open", ""]
        assert "guild_id" not in history.body[0]
        assert (await rest.send("GET", f"/guilds/{shop.guild.id}/members")).code == 50001


async def test_what_the_bot_may_not_see_is_not_told(discord: Discord, shop: Workshop) -> None:
    async with connected(discord) as bot:
        shop.general.set_permissions(shop.guild.me, deny=Permission.VIEW_CHANNEL)
        await shop.ada.says(shop.general, "behind your back")
        await shop.ada.says(shop.help, "to your face")
        await bot.until(1)
        assert bot.contents == ["to your face"]


@pytest.mark.parametrize("kind", ["webhook", "robot", "system", "sticker", "forward", "embed"])
async def test_every_kind_of_speaker_and_message_is_parsed(discord: Discord, shop: Workshop, kind: str) -> None:
    """The library makes sense of what is not a person's plain text."""
    async with connected(discord) as bot:
        if kind == "webhook":
            await shop.general.create_webhook("News").says("extra, extra", name="Town crier")
        elif kind == "robot":
            await shop.guild.add_bot("Robot").says(shop.general, "beep")
        elif kind == "system":
            shop.guild.system_message(shop.general, about=shop.ben)
        elif kind == "sticker":
            await shop.ada.says(shop.general, stickers=["wave"])
        elif kind == "embed":
            link = await shop.ada.says(shop.general, "https://example.com")
            await discord.unfurls(link, {"type": "link", "title": "Example", "url": "https://example.com"})
            await bot.until(1, bot.payloads)
        else:
            origin = await shop.ada.says(shop.help, "the original")
            await shop.ben.says(shop.general, forward=origin)
            await bot.until(2)
        heard = (await bot.until(1))[-1]
        assert {
            "webhook": heard.webhook_id is not None and heard.author.name == "Town crier",
            "robot": heard.author.bot,
            "system": heard.type is dpy.MessageType.new_member,
            "sticker": [s.name for s in heard.stickers] == ["wave"],
            "forward": [s.content for s in heard.message_snapshots] == ["the original"],
            "embed": bool(bot.payloads) and bot.payloads[0][1].message.embeds[0].title == "Example",
        }[kind]
