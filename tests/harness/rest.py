"""The bot's way to Discord's REST API, without a gateway and without the bot: for tests of what only asks."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from bot.rest import Reads, Rest
from sandbox.discord import Discord
from tests.unit.sandbox_discord.bots import LoopbackHttp


@contextlib.asynccontextmanager
async def open_client(discord: Discord) -> AsyncGenerator[LoopbackHttp]:
    """The library's client, signed in to `discord`."""
    http = LoopbackHttp(asyncio.get_running_loop())
    http.api_url, http.gateway_url = discord.api_url, discord.gateway_url
    await http.static_login(discord.token)
    try:
        yield http
    finally:
        await http.close()


@contextlib.asynccontextmanager
async def open_reads(discord: Discord) -> AsyncGenerator[Reads]:
    """The door for reads, signed in to `discord`."""
    async with open_client(discord) as http:
        yield Reads(Rest(http))
