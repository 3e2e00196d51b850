"""A discord.py bot with commands and views, whose answers to interactions go to the sandbox too."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import discord as dpy
from discord import app_commands
from discord.http import Route
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from sandbox.discord import Discord

from .bots import Bot, connected

Press = dpy.Interaction[dpy.Client]


class LoopbackAnswers(AsyncWebhookAdapter):
    """discord.py's own adapter for interactions and webhooks; only the address is turned to the sandbox."""

    def __init__(self, api_url: str) -> None:
        super().__init__()
        self._api_url = api_url

    async def request(self, route: Route, *args: Any, **kwargs: Any) -> Any:
        route.url = self._api_url + route.url.removeprefix(Route.BASE)
        return await super().request(route, *args, **kwargs)


class App:
    """A connected bot and its tree of commands. ``errors`` are those of commands and views."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.tree = app_commands.CommandTree(bot)
        self.errors: list[BaseException] = []
        self.seen: list[Press] = []
        self._changed = asyncio.Event()
        self.tree.error(self._note)

    async def _note(self, interaction: Press, error: BaseException) -> None:
        self.errors.append(error)
        self._changed.set()

    async def error(self, n: int = 1) -> BaseException:
        """The ``n``-th error of a command, waited for."""
        async with asyncio.timeout(5):
            while len(self.errors) < n:
                self._changed.clear()
                await self._changed.wait()
        return self.errors[n - 1]


@asynccontextmanager
async def app(discord: Discord, build: Callable[[App], object] = lambda _: None) -> AsyncGenerator[App]:
    """A bot that is connected and has synced what ``build`` put into its tree."""
    before = async_context.set(LoopbackAnswers(discord.api_url))
    try:
        async with connected(discord) as bot:
            made = App(bot)
            build(made)
            if made.tree.get_commands() or made.tree.get_commands(type=dpy.AppCommandType.message):
                await made.tree.sync()
            yield made
    finally:
        async_context.reset(before)
