"""The life of one embedded server: started when nobody runs it yet, joined when somebody does, stopped after the last.

Several processes may use the server of one data folder. See `bot.keeper` for the locks, which hold whatever way a
process ends.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bot import keeper
from bot.errors import ServiceFault

START_WITHIN_S = 60.0


class Server:
    """One server of a data folder: its locks, and its life through a keeper. Not thread-safe."""

    name = "server"

    def __init__(self, data_dir: Path, options: Mapping[str, str] | None, *, ephemeral: bool) -> None:
        self.folder = data_dir.absolute() / self.name
        self.options = dict(options or {})
        self.ephemeral = ephemeral
        self._using: int | None = None
        self._started = False

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / f"{self.name}.log"

    @property
    def running(self) -> bool:
        """Whether a keeper keeps the server, whoever started it."""
        # A shared look, so that two who look at the same moment do not take each other for the keeper.
        return self.folder.is_dir() and _held_by_another(self.folder / "keeper.lock", shared=True)

    def start(self) -> None:
        """Start the server, or join the one that runs. Blocks; raises ServiceFault after at most about a minute."""
        if self._started:
            return
        deadline = time.monotonic() + START_WITHIN_S
        _make_private(self.folder)
        starting = self._lock_start(deadline)
        try:
            self._use()
            if not self.running:
                self._launch()
            self._await_ready(deadline)
            self._started = True
        except OSError as exc:
            raise ServiceFault(
                f"The embedded {self.name} cannot use {exc.filename or self.folder}: {exc.strerror}. "
                "It must belong to the user who started Muninn first."
            ) from exc
        finally:
            if not self._started:
                self._leave()
            os.close(starting)

    def hold(self) -> None:
        """Keep a server alive that others will start, without starting it (a test run's controlling process)."""
        _make_private(self.folder)
        self._use()

    def stop(self) -> None:
        """Stop using the server; where this was its last user, wait until it has stopped. Blocks."""
        if self._using is None:
            return
        self._leave()
        deadline = time.monotonic() + keeper.STOP_WITHIN_S + 5
        while self.running:
            if _held_by_another(self.folder / "users.lock") and not _held_by_another(self.folder / "start.lock"):
                return
            if time.monotonic() > deadline:
                raise ServiceFault(f"The embedded {self.name} did not stop; its log is {self.log}.")
            time.sleep(0.01)

    def _use(self) -> None:
        if self._using is None:
            self._using = keeper.lock(self.folder / "users.lock", shared=True, wait=True)

    def _leave(self) -> None:
        if self._using is not None:
            os.close(self._using)
        self._using = None
        self._started = False

    def _lock_start(self, deadline: float) -> int:
        while (starting := keeper.lock(self.folder / "start.lock")) is None:
            if time.monotonic() > deadline:
                raise ServiceFault(
                    f"Another process has been starting or stopping the embedded {self.name} in {self.folder} "
                    "for a minute; end it and try again."
                )
            time.sleep(0.01)
        return starting

    def _launch(self) -> None:
        self._end_orphan()
        order = self._prepare()
        if self.log.exists() and self.log.stat().st_size > 10_000_000:
            self.log.replace(self.log.with_suffix(".log.1"))
        keeping = subprocess.run(  # noqa: S603 (our own file, by path)
            [sys.executable, "-I", "-S", keeper.__file__, order.dump()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=START_WITHIN_S,
        )
        if keeping.returncode:
            raise ServiceFault(f"The embedded {self.name} could not be started: {keeping.stderr.decode()[-400:]}")

    def _await_ready(self, deadline: float) -> None:
        while not self._ready():
            if not self.running:
                raise ServiceFault(
                    f"The embedded {self.name} ended while it was starting ({_last_line(self.log)}); "
                    f"its log is {self.log}."
                )
            if time.monotonic() > deadline:
                raise ServiceFault(f"The embedded {self.name} was not ready within a minute; its log is {self.log}.")
            time.sleep(0.01)

    def _ready(self) -> bool:
        raise NotImplementedError

    def _prepare(self) -> keeper.Order:
        raise NotImplementedError

    def _end_orphan(self) -> None:
        """End a server whose keeper was killed."""
        raise NotImplementedError


def _make_private(folder: Path) -> None:
    """Make a service's folder. All may enter it, so that `nobody` gets to its data; what is in it is private."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        for name in ("start.lock", "users.lock", "keeper.lock"):
            (folder / name).touch(mode=0o600)
    except OSError as exc:
        raise ServiceFault(
            f"The data folder {folder.parent} cannot be used ({exc.strerror}); "
            "set MUNINN_DATA_DIR to a folder that is yours."
        ) from exc


def _held_by_another(path: Path, *, shared: bool = False) -> bool:
    descriptor = keeper.lock(path, shared=shared)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def read_lines(path: Path) -> list[str]:
    """The lines of a file; none where it is not there."""
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _last_line(log: Path) -> str:
    lines = [line for line in read_lines(log) if line.strip()]
    return lines[-1].strip() if lines else "it logged nothing"


def connects(path: Path, ask: bytes | None = None, answer: bytes = b"") -> bool:
    """Whether somebody listens on a unix socket and, where `ask` is given, answers it so."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
            if ask is None:
                return True
            client.sendall(ask)
            return client.recv(64).startswith(answer)
        except OSError:
            return False


def is_running(process: int, mark: str) -> bool:
    """Whether the process of this number is the one meant: `mark` is on its command line."""
    try:
        if Path("/proc/self").exists():
            return mark in Path(f"/proc/{process}/cmdline").read_text(errors="replace")
        listed = subprocess.run(  # noqa: S603
            ["/bin/ps", "-ww", "-p", str(process), "-o", "command="],
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return mark in listed.stdout


def await_end(process: int, mark: str, log: Path) -> None:
    """Wait for a process that was told to end. Raises ServiceFault where it does not."""
    deadline = time.monotonic() + keeper.STOP_WITHIN_S
    while is_running(process, mark):
        if time.monotonic() > deadline:
            raise ServiceFault(
                f"The server of an earlier start (process {process}) does not stop; end it. Its log is {log}."
            )
        time.sleep(0.02)
