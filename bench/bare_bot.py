"""`python -m bench.bare_bot`: what one writes first with discord.py and the openai client, and nothing more.

It keeps nothing: no journal, no lanes, no receipts; a crash loses what it was doing. It asks Discord for the same
intents as Muninn, and the model in the same mode.
"""

import asyncio
import os

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route
from openai import AsyncOpenAI

from bench.children import until_stdin_closes


class BareBot(discord.Client):
    """Answers whoever mentions it or writes to it directly."""

    def __init__(self, model: AsyncOpenAI, model_name: str) -> None:
        intents = discord.Intents(
            guilds=True,
            guild_messages=True,
            guild_reactions=True,
            dm_messages=True,
            dm_reactions=True,
            message_content=True,
        )
        super().__init__(intents=intents, max_messages=100, chunk_guilds_at_startup=False)
        self._model = model
        self._model_name = model_name

    async def on_message(self, message: discord.Message) -> None:
        """Ask the model, and reply with what it says."""
        me = self.user
        if message.author.bot or me is None or not (message.guild is None or me in message.mentions):
            return
        answer = await self._model.chat.completions.create(
            model=self._model_name,
            messages=[
                {"role": "system", "content": "You are a helpful Discord bot."},
                {"role": "user", "content": message.content},
            ],
        )
        await message.reply(answer.choices[0].message.content or "(no answer)", mention_author=False)


async def main() -> None:
    """Serve until standard input closes; the settings are Muninn's own."""
    Route.BASE = os.environ["MUNINN_DISCORD_API_URL"]
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ["MUNINN_DISCORD_GATEWAY_URL"])
    model = AsyncOpenAI(base_url=os.environ["MUNINN_OPENAI_BASE_URL"], api_key=os.environ["MUNINN_OPENAI_API_KEY"])
    async with BareBot(model, os.environ["MUNINN_MODEL"]) as bot:
        serving = asyncio.create_task(bot.start(os.environ["MUNINN_DISCORD_TOKEN"]))
        stdin = asyncio.create_task(until_stdin_closes())
        await asyncio.wait([serving, stdin], return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()


if __name__ == "__main__":
    asyncio.run(main())
