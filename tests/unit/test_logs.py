"""Logging: libraries and ours come out the same way, with the ids of the task at hand, and without secrets (I13)."""

import json
import logging
from collections.abc import Generator

import pytest
import structlog

from bot import logs

SECRET = "hunter2-hunter2"
TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GabcDe.abcdefghijklmnopqrstuvwxyz0123456789AB"


@pytest.fixture(autouse=True)
def _own_logging() -> Generator[None]:
    """Logging is the process's: put it back."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    yield
    root.handlers, root.level = before[0], before[1]
    structlog.reset_defaults()


def _lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_json_lines_carry_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours and the standard library's alike."""
    logs.configure(level="info", style="json")
    with logs.bind(run_id=7, guild_id=None):
        structlog.get_logger("bot.x").info("turn.started", part=1)
        logging.getLogger("discord.gateway").warning("slow by %s", 3)
    structlog.get_logger("bot.x").info("after")
    ours, theirs, after = _lines(capsys)
    assert (ours["event"], ours["part"], ours["run_id"], ours["level"]) == ("turn.started", 1, 7, "info")
    assert (theirs["event"], theirs["run_id"], theirs["logger"]) == ("slow by 3", 7, "discord.gateway")
    assert "guild_id" not in ours
    assert "run_id" not in after


def test_levels(capsys: pytest.CaptureFixture[str]) -> None:
    """Our own events from the level set; libraries from warning up."""
    logs.configure(level="info", style="json")
    structlog.get_logger("bot.x").debug("no")
    logging.getLogger("discord.client").info("no")
    logging.getLogger("discord.client").warning("PyNaCl is not installed, voice will NOT be supported")
    structlog.get_logger("memory.x").info("yes")
    assert [line["event"] for line in _lines(capsys)] == ["yes"]


@pytest.mark.parametrize("style", ["json", "console"])
def test_secrets_are_hidden(capsys: pytest.CaptureFixture[str], style: str) -> None:
    """By the field's name, by the look of the value, and where they were named; in events, errors and tracebacks."""
    logs.configure(level="info", style="json" if style == "json" else "console")
    logs.protect([SECRET, "short"])
    log = structlog.get_logger("bot.x")
    log.info("a", discord_token="whatever-it-is", nested={"api_key": "whatever-it-is"}, prompt_tokens=5)
    log.info("b", url="postgresql://muninn:whatever-it-is@db/x", header=f"Bot {TOKEN}", said=f"it is {SECRET}, short")
    logging.getLogger("aiohttp").error("at %s", f"https://discord.com/api/webhooks/123/{'whatever-it-is' * 5}")
    try:
        raise ValueError(f"{TOKEN} and {SECRET}")
    except ValueError:
        log.exception("c")
    shown = capsys.readouterr().err
    for secret in ("whatever-it-is", SECRET, TOKEN):
        assert secret not in shown
    assert "short" in shown
    assert "5" in shown
    assert "ValueError" in shown
