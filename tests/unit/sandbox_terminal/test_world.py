"""The composed sandbox: Discord, model, settings for the bot's process, and the chat."""

import io
import os
from typing import Any

import aiohttp
from firecrawl import AsyncFirecrawl  # pyright: ignore[reportMissingTypeStubs]
from openai import AsyncOpenAI

from sandbox.discord.permissions import MODERATOR
from sandbox.model.practice import STAND_IN
from sandbox.world import run_sandbox
from tests.unit.sandbox_terminal.person import answering


async def test_the_settings_reach_both() -> None:
    """With the settings it gives, a process finds Discord with its token, and the model and the web with their keys."""
    async with run_sandbox() as sandbox:
        given = sandbox.environment
        headers = {"Authorization": f"Bot {given['MUNINN_DISCORD_TOKEN']}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(f"{given['MUNINN_DISCORD_API_URL']}/users/@me") as me,
        ):
            assert (await me.json())["username"] == "Muninn"
        assert given["MUNINN_DISCORD_GATEWAY_URL"] == sandbox.discord.gateway_url
        async with AsyncOpenAI(
            base_url=given["MUNINN_OPENAI_BASE_URL"], api_key=given["MUNINN_OPENAI_API_KEY"]
        ) as client:
            got = await client.chat.completions.create(
                model=given["MUNINN_MODEL"], messages=[{"role": "user", "content": "hello"}]
            )
        assert STAND_IN in (got.choices[0].message.content or "")
        web = AsyncFirecrawl(given["MUNINN_FIRECRAWL_API_KEY"], given["MUNINN_FIRECRAWL_API_URL"], timeout=5)
        found: Any = await web.search("heron", limit=1)
        assert [page.title for page in found.web] == ["How herons fish"]


async def test_a_real_model_and_a_real_web_are_left_to_the_bots_own_settings() -> None:
    """With real endpoints none is started and nothing about them is set."""
    async with run_sandbox(real_model=True, real_web=True) as sandbox:
        assert sandbox.model is None
        assert set(sandbox.environment) == {
            "MUNINN_DISCORD_TOKEN",
            "MUNINN_DISCORD_API_URL",
            "MUNINN_DISCORD_GATEWAY_URL",
            "MUNINN_DISCORD_CDN_URLS",
        }


async def test_the_chat_has_something_to_remember() -> None:
    """Others have spoken in #general when the person comes, and the greeting says who answers."""
    source, typing = os.pipe()
    os.write(typing, b"/in general\n/quit\n")
    os.close(typing)
    sink = io.StringIO()
    async with run_sandbox() as sandbox, answering(sandbox.discord):
        await sandbox.small_talk()
        await sandbox.chat(source=source, sink=sink)
    os.close(source)
    assert "a stand-in with a few fixed rules answers" in sink.getvalue()
    assert "[1] Ben: The Atlas database moves to the new server on Thursday." in sink.getvalue()


async def test_the_bot_may_moderate_there() -> None:
    """So that every command of moderation can be tried: with the permissions, and above everybody but the owner."""
    async with run_sandbox() as sandbox:
        guild = sandbox.workshop.guild
        own = guild.me.roles[0]
        assert own.permissions & MODERATOR == MODERATOR
        assert own.position == max(role.position for role in guild.roles.values())
