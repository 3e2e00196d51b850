"""The `muninn` command as a person runs it: as a process, by its exit code and by what it prints."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from tests.harness.services import RunServices

Muninn = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def muninn(tmp_path: Path) -> Muninn:
    """Runs the command in an empty folder, with only the settings given."""

    def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if "MUNINN" not in name and "OPENAI" not in name}
        return subprocess.run(
            [sys.executable, "-m", "bot", *arguments],
            env={**kept, **settings, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )

    return run


def test_help_lists_the_commands(muninn: Muninn) -> None:
    """And each command explains itself."""
    shown = muninn("--help")
    assert shown.returncode == 0
    for command in ("run", "gateway", "worker", "sandbox", "migrate", "doctor", "health", "invite", "stop", "start"):
        assert command in shown.stdout
        own = muninn(command, "--help")
        assert own.returncode == 0
        assert len(own.stdout.splitlines()) > 4


def test_help_imports_nothing_heavy() -> None:
    """So it answers at once."""
    heavy = ("discord", "asyncpg", "openai", "aiohttp", "pydantic", "redis", "structlog")
    program = f"import sys, bot.cli; print([name for name in {heavy!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "told"),
    [
        (("run",), {}, 2, "muninn: MUNINN_DISCORD_TOKEN is not set"),
        (("run",), {"MUNINN_DISCORD_TOKEN": "t"}, 2, "muninn: MUNINN_OPENAI_API_KEY is not set"),
        (("migrate",), {"MUNINN_WORKERS": "none"}, 2, "muninn: MUNINN_WORKERS is wrong"),
        (("migrate",), {"MUNINN_DATABASE_URL": "postgresql://a:s3cret-word@127.0.0.1:1/b"}, 1, "muninn: PostgreSQL at"),
    ],
)
def test_a_fault_is_one_sentence(
    muninn: Muninn, arguments: tuple[str, ...], settings: dict[str, str], code: int, told: str
) -> None:
    """On standard error, with an exit code, without a traceback and without the secret."""
    ended = muninn(*arguments, **settings)
    assert ended.returncode == code
    assert ended.stdout == ""
    assert ended.stderr.startswith(told)
    assert len(ended.stderr.splitlines()) == 1
    assert "s3cret-word" not in ended.stderr


def test_a_misspelt_variable_is_told(muninn: Muninn) -> None:
    """A warning, for it changes nothing."""
    ended = muninn("migrate", MUNINN_WORKER="3", MUNINN_DATABASE_URL="postgresql://127.0.0.1:1/b")
    assert "MUNINN_WORKER" in ended.stderr


def test_migrate(muninn: Muninn, services: RunServices, empty_database_url: str) -> None:
    """It says what it did, and `--check` only looks."""
    settings = {"MUNINN_DATABASE_URL": empty_database_url}
    unmigrated = muninn("migrate", "--check", **settings)
    assert (unmigrated.returncode, unmigrated.stdout) == (1, "")
    assert "run `muninn migrate`" in unmigrated.stderr
    assert muninn("migrate", **settings).stdout.startswith("Applied 0001_spine.sql")
    assert muninn("migrate", "--check", **settings).stdout.endswith("nothing to do.\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    """What runs is cancelled, may take its time to end, and the exit code is 0."""
    program = """
import asyncio
from bot.cli import _run_until_signalled

async def work():
    print("up", flush=True)
    try:
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(0.01)
        print("drained", flush=True)

_run_until_signalled(work())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        assert process.stdout.read() == "drained\n"
    assert process.returncode == 0


def test_it_ends_with_the_process_that_started_it() -> None:
    """The sandbox's bot ends when its standard input does, so a killed sandbox leaves none behind."""
    program = """
import asyncio
from bot.cli import _run_until_signalled
_run_until_signalled(asyncio.sleep(600), while_stdin_open=True)
"""
    ended = subprocess.run([sys.executable, "-c", program], input="some text", text=True, timeout=30, check=False)
    assert ended.returncode == 0


def test_stop_and_start(muninn: Muninn, empty_database_url: str) -> None:
    """The switch is a row; a database without a schema is told of, and not a traceback."""
    settings = {"MUNINN_DATABASE_URL": empty_database_url}
    unmigrated = muninn("stop", **settings)
    assert (unmigrated.returncode, unmigrated.stdout) == (1, "")
    assert "muninn migrate" in unmigrated.stderr
    assert muninn("migrate", **settings).returncode == 0
    for command, reason, on in (("stop", ("--reason", "it repeats itself"), True), ("start", (), False)):
        assert muninn(command, *reason, **settings).returncode == 0
        assert asyncio.run(_switch(empty_database_url)) == (on, reason[1] if reason else None)


async def _switch(database_url: str) -> tuple[bool, str | None]:
    conn = await asyncpg.connect(database_url)
    try:
        row = await conn.fetchrow("SELECT is_on, reason FROM operator_switches")
        assert row is not None
        return row["is_on"], row["reason"]
    finally:
        await conn.close()
