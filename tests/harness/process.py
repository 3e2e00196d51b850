"""Muninn as a process of its own, forked from a warm one, so that a test can kill it as `kill -9` does.

What runs is the command `muninn run`, told everything by its environment. The warm process has the libraries loaded
already, so that a start costs a fraction of a second; it and all its children end with the process that asked.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess, parent_process
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import SecretStr

import bot.app
import bot.cli
from bot import crash
from bot.settings import PREFIX, Settings, variables
from sandbox.patience import WITHIN_S
from tests.harness.stage import Stage

PRELOADED: Final = (bot.app, bot.cli)
"""What the warm process has loaded, by the imports of this module."""

DIE_S: Final = 20.0
STOP_S: Final = 20.0

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload([__name__])


class Process:
    """One Muninn from start to end. `log_path` is what it says on standard error, as JSON lines."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.log_path = folder / f"{name}.log"
        self.log_path.touch()
        self._process = _forks.Process(
            target=_muninn, args=(environment, str(folder), str(self.log_path)), name=name, daemon=True
        )
        self._process.start()
        self._gone = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._process.sentinel, self._note_end)
        self.exit_code: int | None = None

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._gone.is_set()

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, nothing is cleaned up."""
        self._process.kill()

    async def died(self, *, within: float = DIE_S) -> bool:
        """Whether it ends within so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._gone.wait()
        return self.is_gone

    async def killed(self, *, within: float = DIE_S) -> None:
        """Wait until it was ended by SIGKILL, its own or ours."""
        assert await self.died(within=within), f"{self.name} still lives after {within} s\n{self.tail()}"
        assert self.exit_code == -signal.SIGKILL, f"{self.name} ended by itself: {self.exit_code}\n{self.tail()}"

    async def stop(self, *, within: float = STOP_S) -> None:
        """SIGTERM, and wait until it has drained and ended well."""
        self._process.terminate()
        assert await self.died(within=within), f"{self.name} did not stop within {within} s\n{self.tail()}"
        assert self.exit_code == 0, f"{self.name} stopped with {self.exit_code}\n{self.tail()}"

    def events(self) -> list[dict[str, Any]]:
        """What it has logged so far; a line that is no JSON is under `text`."""
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        return [orjson.loads(line) if line.startswith("{") and line.endswith("}") else {"text": line} for line in lines]

    async def says(self, event: str, *, within: float = WITHIN_S) -> dict[str, Any]:
        """The first line with this event, as soon as it is logged."""
        deadline = self._loop.time() + within
        while True:
            found = next((line for line in self.events() if line.get("event") == event), None)
            if found is not None:
                return found
            assert not self.is_gone, f"{self.name} ended before it said {event}\n{self.tail()}"
            assert self._loop.time() < deadline, f"{self.name} did not say {event} in {within} s\n{self.tail()}"
            await asyncio.sleep(0.02)  # a file cannot be waited for

    def tail(self, lines: int = 30) -> str:
        """The end of its log, to be read."""
        text = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([f"--- log of {self.name}, exit code {self.exit_code}", *text[-lines:]])

    def close(self) -> None:
        """End it, however it stands, and let go of it."""
        if not self.is_gone:
            self._loop.remove_reader(self._process.sentinel)
            self._process.kill()
            self._process.join(timeout=DIE_S)
        self._process.close()

    def _note_end(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        self._process.join(timeout=DIE_S)
        self.exit_code = self._process.exitcode
        self._gone.set()


class Processes:
    """The Muninns of one test, in the order in which they were started."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self._stage = stage
        self._folder = folder
        self.all: list[Process] = []

    def start(self, *, crash_at: str | None = None, **overrides: Any) -> Process:
        """A Muninn on the stage. `crash_at`: a point of bot.crash; `overrides`: settings that differ."""
        given = environment(self._stage.settings(**{"log_format": "json", **overrides}))
        if crash_at is not None:
            given["MUNINN_CRASH_AT"] = crash_at
        process = Process(f"muninn-{len(self.all) + 1}", self._folder, given)
        self.all.append(process)
        return process

    def report(self) -> str:
        """The logs' ends, to be read."""
        return "\n".join(process.tail() for process in self.all)


@contextlib.asynccontextmanager
async def open_processes(stage: Stage, folder: Path) -> AsyncGenerator[Processes]:
    """Muninns to start on the stage, with `folder` for their logs; whatever still lives at the end is killed."""
    await asyncio.to_thread(_warm_up)
    processes = Processes(stage, folder)
    try:
        yield processes
    finally:
        for process in processes.all:
            process.close()


async def fork(target: Callable[..., None], *args: object) -> BaseProcess:
    """A process of the warm one's that runs `target`, a function of a module, and ends when that does."""
    await asyncio.to_thread(_warm_up)
    process = _forks.Process(target=target, args=args, daemon=True)
    process.start()
    return process


def environment(settings: Settings) -> dict[str, str]:
    """The variables by which a process gets these settings; those with their default value are left out."""
    given: dict[str, str] = {}
    for variable, name in variables().items():
        value: object = getattr(settings, name)
        if variable.startswith(PREFIX) and value != Settings.model_fields[name].default:
            given[variable] = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    return given


def begin() -> None:
    """Start the warm process, and do not wait for it: it loads the libraries beside the first tests."""
    forkserver.ensure_running()


def _warm_up() -> None:
    """Return when the warm process is there. The first time this may take as long as importing the libraries."""
    process = _forks.Process(target=_nothing, daemon=True)
    process.start()
    process.join()
    process.close()


def _nothing() -> None:
    """What a process does that is made only to see that one can be made."""


def _muninn(given: dict[str, str], folder: str, log_path: str) -> None:
    """In the child: become `muninn run`, with this environment alone."""
    for name in [name for name in os.environ if name.startswith((PREFIX, "OPENAI_"))]:
        del os.environ[name]
    os.environ.update(given)
    os.chdir(folder)  # where there is no .env
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    # Standard input ends with the process that asked for us, and we with it.
    parent = parent_process()
    assert parent is not None
    os.dup2(int(parent.sentinel), 0)
    # Made before the log was opened.
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    crash.arm(os.environ.get("MUNINN_CRASH_AT"))
    bot.cli.app(["run", "--while-stdin-open"])
