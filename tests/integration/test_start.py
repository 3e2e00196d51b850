"""Starting against something that is wrong: one sentence that names it, an exit code, and no traceback."""

import asyncio
from pathlib import Path

import pytest

from sandbox.discord import Intent
from sandbox.model import say
from tests.harness.command import Ended, run_command
from tests.harness.stage import Stage


async def _run(stage: Stage, folder: Path, *, until: str | None = None, **environment: str) -> Ended:
    """`muninn run` with these settings; ended by SIGTERM once it logs `until`."""
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
    return await run_command("run", environment=settings, folder=folder, until=until)


def _sentence(ended: Ended) -> str:
    """The one line that is meant for the operator."""
    lines = [line for line in ended.said.splitlines() if line.startswith("muninn: ")]
    assert len(lines) == 1, ended.said
    assert "Traceback" not in ended.said
    return lines[0]


async def test_a_wrong_token_is_told_in_a_sentence(stage: Stage, tmp_path: Path) -> None:
    """Nothing is tried again with a token that Discord refuses, and the token is not repeated."""
    ended = await _run(stage, tmp_path, MUNINN_DISCORD_TOKEN="wrong.token.entirely")
    assert ended.code == 1
    assert "MUNINN_DISCORD_TOKEN" in _sentence(ended)
    assert "wrong.token" not in ended.said


async def test_a_missing_intent_is_named(stage: Stage, tmp_path: Path) -> None:
    """Without the Message Content intent in the portal, the sentence says where to turn it on."""
    stage.discord.world.application.privileged = Intent(0)
    ended = await _run(stage, tmp_path)
    assert ended.code == 1
    assert "Message Content" in _sentence(ended)


async def test_no_database_is_told_in_a_sentence(stage: Stage, tmp_path: Path) -> None:
    """Without PostgreSQL nothing starts (I1)."""
    ended = await _run(stage, tmp_path, MUNINN_DATABASE_URL="postgresql://nobody:secret@127.0.0.1:9/none")
    assert ended.code == 1
    assert "127.0.0.1:9" in _sentence(ended)
    assert "secret" not in ended.said


async def test_an_old_vector_extension_is_named(stage: Stage, tmp_path: Path) -> None:
    """The extension is there and too old; the sentence says which version is needed."""
    await stage.pool.execute("UPDATE pg_extension SET extversion = '0.5.0' WHERE extname = 'vector'")
    ended = await _run(stage, tmp_path)
    assert ended.code == 1
    assert "vector" in _sentence(ended)
    assert "0.8" in _sentence(ended)


async def test_a_wrong_setting_is_named(stage: Stage, tmp_path: Path) -> None:
    """Exit code 2 is for settings."""
    ended = await _run(stage, tmp_path, MUNINN_WORKERS="many")
    assert ended.code == 2
    assert "MUNINN_WORKERS" in _sentence(ended)


async def test_an_unreachable_model_is_said_and_everything_else_goes_on(stage: Stage, tmp_path: Path) -> None:
    """I9: a warning at the start; journalling goes on."""
    ended = await _run(
        stage, tmp_path, until="startup.model_unreachable", MUNINN_OPENAI_BASE_URL="http://127.0.0.1:9/v1"
    )
    assert ended.code == 0
    assert "MUNINN_OPENAI_BASE_URL" in ended.said


async def test_a_term_signal_ends_it_cleanly(stage: Stage, tmp_path: Path) -> None:
    """SIGTERM drains and ends with code 0."""
    ended = await _run(stage, tmp_path, until="muninn.ready")
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
