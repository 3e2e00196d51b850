"""Everything that a bot needs to be tried out: a loopback Discord with a ready-made guild, a model, and a web."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TextIO

from sandbox.discord import Discord, Permission, Workshop
from sandbox.discord.permissions import MODERATOR
from sandbox.model import Model
from sandbox.model.practice import practice
from sandbox.page import Page, Records, serve_page
from sandbox.terminal import chat
from sandbox.web import Web
from sandbox.web.shelf import READY

_KEEP_REQUESTS = 16
_REAL = "A language model answers, the one that your settings name."
_STAND_IN = "No language model is set up, so a stand-in with a few fixed rules answers: write `help` to it."


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A running sandbox; see run_sandbox."""

    discord: Discord
    workshop: Workshop
    model: Model | None
    """The practice model, None where the bot uses a real endpoint."""
    environment: Mapping[str, str]
    """The settings by which the bot's process finds this Discord and, unless a real one is used, this model."""

    async def chat(self, *, source: int | None = None, sink: TextIO | None = None) -> None:
        """Let a person talk as Ada, in the terminal or on pipes, until they leave. The bot should be connected."""
        await chat(self.discord, speaker=self.workshop.ada, about=self._about, source=source, sink=sink)

    def page(self, *, port: int = 0, records: Records | None = None) -> AbstractAsyncContextManager[Page]:
        """A page in the browser where a person talks as anybody of the guild, for as long as it is entered.

        See sandbox.page.serve_page, also for what entering raises.
        """
        return serve_page(self.discord, self.workshop.guild, port=port, records=records, about=self._about)

    @property
    def _about(self) -> str:
        return _REAL if self.model is None else _STAND_IN

    async def small_talk(self) -> None:
        """Some of the others say something in #general, so that there is something to be remembered."""
        place, ben, mo = self.workshop.general, self.workshop.ben, self.workshop.mod
        await ben.says(place, "The Atlas database moves to the new server on Thursday.")
        asked = await mo.says(place, "Who has the key of the tool cupboard?")
        await ben.says(place, "I do, it hangs behind the door of the workshop.", reply_to=asked)


@asynccontextmanager
async def run_sandbox(
    *, real_model: bool = False, real_web: bool = False, discord_port: int = 0, model_port: int = 0
) -> AsyncGenerator[Sandbox]:
    """A loopback Discord with the Workshop guild and, unless there are real ones, the practice model and a web with a
    few ready pages, all on 127.0.0.1.

    With `real_model` nothing about a model is in `environment`, with `real_web` nothing about Firecrawl: the bot reads
    those settings itself. Ports 0 are free ones. Raises OSError when a port is taken.
    """
    async with AsyncExitStack() as stack:
        discord = await stack.enter_async_context(Discord.start(port=discord_port, world="workshop"))
        environment = {
            "MUNINN_DISCORD_TOKEN": discord.token,
            "MUNINN_DISCORD_API_URL": discord.api_url,
            "MUNINN_DISCORD_CDN_URLS": discord.cdn_url,
            "MUNINN_DISCORD_GATEWAY_URL": discord.gateway_url,
        }
        model: Model | None = None
        if not real_model:
            model = await stack.enter_async_context(
                Model.start(port=model_port, name="practice", keep_requests=_KEEP_REQUESTS, check_at_exit=False)
            )
            model.default(practice)
            environment |= model.environment
        if not real_web:
            web = await stack.enter_async_context(Web.start(pages=READY, check_at_exit=False))
            environment |= web.environment
        if discord.workshop is None:
            raise AssertionError("the ready-made guild was asked for")
        _trust(discord.workshop)
        yield Sandbox(discord, discord.workshop, model, environment)


def _trust(workshop: Workshop) -> None:
    """Let the bot moderate, as an administrator would: its role gets the permissions, and a place above the others'."""
    own = workshop.guild.me.roles[0]
    keeps = Permission.MANAGE_CHANNELS | Permission.MANAGE_ROLES | Permission.MANAGE_NICKNAMES
    own.edit(permissions=own.permissions | MODERATOR | keeps)
    own.move(max(role.position for role in workshop.guild.roles.values()))
