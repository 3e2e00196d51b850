"""Starting against something that is wrong: one sentence that names it, an exit code, and no traceback."""

import asyncio
import os
import sys
from typing import NamedTuple

import pytest

from sandbox.discord import Intent
from sandbox.model import say
from tests.harness.stage import Stage


class Ended(NamedTuple):
    """How a process ended."""

    code: int | None
    said: str


async def _run(stage: Stage, *, until: str | None = None, **environment: str) -> Ended:
    """`python -m bot run` with these settings; ended by SIGTERM once it logs `until`."""
    settings = {
        "MUNINN_DISCORD_TOKEN": stage.discord.token,
        "MUNINN_DISCORD_API_URL": stage.discord.api_url,
        "MUNINN_DISCORD_GATEWAY_URL": stage.discord.gateway_url,
        "MUNINN_DATABASE_URL": stage.database_url,
        "MUNINN_REDIS_URL": stage.redis_url,
        "MUNINN_OPENAI_BASE_URL": stage.model.base_url,
        "MUNINN_OPENAI_API_KEY": stage.model.api_key,
        "MUNINN_MODEL": stage.model.name,
        "MUNINN_MODEL_CONTEXT": "128000",
        "MUNINN_LOG_FORMAT": "json",
        "MUNINN_HTTP_PORT": "0",
        **environment,
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MUNINN_", "OPENAI_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "run",
        env={**inherited, **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said: list[str] = []
    try:
        async with asyncio.timeout(40):
            async for line in process.stdout:
                said.append(line.decode())
                if until is not None and until in said[-1]:
                    process.terminate()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ended(process.returncode, "".join(said))


def _sentence(ended: Ended) -> str:
    """The one line that is meant for the operator."""
    lines = [line for line in ended.said.splitlines() if line.startswith("muninn: ")]
    assert len(lines) == 1, ended.said
    assert "Traceback" not in ended.said
    return lines[0]


async def test_a_wrong_token_is_told_in_a_sentence(stage: Stage) -> None:
    """Nothing is tried again with a token that Discord refuses, and the token is not repeated."""
    ended = await _run(stage, MUNINN_DISCORD_TOKEN="wrong.token.entirely")
    assert ended.code == 1
    assert "MUNINN_DISCORD_TOKEN" in _sentence(ended)
    assert "wrong.token" not in ended.said


async def test_a_missing_intent_is_named(stage: Stage) -> None:
    """Without the Message Content intent in the portal, the sentence says where to turn it on."""
    stage.discord.world.application.privileged = Intent(0)
    ended = await _run(stage)
    assert ended.code == 1
    assert "Message Content" in _sentence(ended)


async def test_no_database_is_told_in_a_sentence(stage: Stage) -> None:
    """Without PostgreSQL nothing starts (I1)."""
    ended = await _run(stage, MUNINN_DATABASE_URL="postgresql://nobody:secret@127.0.0.1:9/none")
    assert ended.code == 1
    assert "127.0.0.1:9" in _sentence(ended)
    assert "secret" not in ended.said


async def test_an_old_vector_extension_is_named(stage: Stage) -> None:
    """The extension is there and too old; the sentence says which version is needed."""
    await stage.pool.execute("UPDATE pg_extension SET extversion = '0.5.0' WHERE extname = 'vector'")
    ended = await _run(stage)
    assert ended.code == 1
    assert "vector" in _sentence(ended)
    assert "0.8" in _sentence(ended)


async def test_a_wrong_setting_is_named(stage: Stage) -> None:
    """Exit code 2 is for settings."""
    ended = await _run(stage, MUNINN_WORKERS="many")
    assert ended.code == 2
    assert "MUNINN_WORKERS" in _sentence(ended)


async def test_an_unreachable_model_is_said_and_everything_else_goes_on(stage: Stage) -> None:
    """I9: a warning at the start; journalling goes on."""
    ended = await _run(stage, until="startup.model_unreachable", MUNINN_OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert ended.code == 0
    assert "MUNINN_OPENAI_BASE_URL" in ended.said


async def test_a_term_signal_ends_it_cleanly(stage: Stage) -> None:
    """SIGTERM drains and ends with code 0."""
    ended = await _run(stage, until="muninn.ready")
    assert ended.code == 0
    assert "muninn.stopping" in ended.said


async def test_a_discord_that_is_away_at_the_start_is_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that refuses connections is tried again until it answers."""
    stage.model.default(say("good morning"))
    async with stage.discord.gateway_offline():
        starting = asyncio.create_task(_serve(stage))
        await stage.discord.wait_until(lambda: bool(stage.discord.requests_to("GET", "/users/@me")), within=15)
    await starting


async def _serve(stage: Stage) -> None:
    async with stage.muninn():
        asked = await stage.ada.says(stage.general, f"{stage.discord.bot.mention} hello")
        await stage.discord.wait_for_message(reply_to=asked)
