"""Keeps one embedded server alive for as long as anybody uses it, and never longer.

Run by `bot.services` as a program of its own, by path and with nothing but the standard library, so that it starts fast
and stays small. Who uses the server holds a shared lock on `users.lock`; the kernel drops that lock however the user
ends, kill -9 included, so no list of process ids can go stale. The keeper looks twice a second whether anybody is left.

    start.lock   held while the server is being started or stopped
    users.lock   held, shared, by every process that uses the server
    keeper.lock  held by the keeper for as long as it lives
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

LOOK_EVERY_S = 0.25
# A server that dies sooner than this after its start is not restarted: something is wrong with it.
SETTLED_S = 5.0
STOP_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Order:
    """What to run and how to stop it. `user` and `group` are ids to drop to, None to stay who we are."""

    folder: str
    command: list[str]
    log: str
    cwd: str
    stop_signal: int
    user: int | None = None
    group: int | None = None
    # A folder to remove when the server has stopped (tests).
    remove: str | None = None

    def dump(self) -> str:
        return json.dumps(asdict(self))


def lock(path: Path, *, shared: bool = False, wait: bool = False) -> int | None:
    """Lock a file; returns the descriptor that holds the lock, or None where somebody else holds it and `wait` is off.

    Closing the descriptor, or the end of the process, releases it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _launch(order: Order) -> subprocess.Popen[bytes]:
    with open(order.log, "ab") as log:
        return subprocess.Popen(  # noqa: S603 (the command is ours, from bot.services)
            order.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=order.cwd,
            user=order.user,
            group=order.group,
            extra_groups=None if order.user is None else [],
            umask=0o077,
        )


def _stop(server: subprocess.Popen[bytes], order: Order) -> None:
    if server.poll() is None:
        server.send_signal(order.stop_signal)
        try:
            server.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    if order.remove is not None:
        shutil.rmtree(order.remove, ignore_errors=True)


def _nobody_left(folder: Path) -> bool:
    """True, with start.lock and users.lock held until this process ends, when no user is left."""
    alone = lock(folder / "users.lock")
    if alone is None:
        return False
    # Let go before waiting: a newcomer holds start.lock and then asks for users.lock.
    os.close(alone)
    starting = lock(folder / "start.lock", wait=True)
    assert starting is not None  # noqa: S101 (waiting either locks or raises)
    if lock(folder / "users.lock") is None:
        os.close(starting)
        return False
    return True


def _keep(order: Order) -> None:
    asked_to_stop = False

    def ask(_signal: int, _frame: object) -> None:
        nonlocal asked_to_stop
        asked_to_stop = True

    signal.signal(signal.SIGTERM, ask)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    folder = Path(order.folder)
    settled = False
    launched = time.monotonic()
    server = _launch(order)
    while not asked_to_stop and not _nobody_left(folder):
        time.sleep(LOOK_EVERY_S)
        settled = settled or time.monotonic() - launched > SETTLED_S
        if server.poll() is not None:
            if not settled:
                break
            time.sleep(1)
            launched = time.monotonic()
            settled = False
            server = _launch(order)
    _stop(server, order)


def main() -> None:
    """Detach from the caller, then keep the server of the order in `argv[1]`. Exit code 1: another keeper lives."""
    order = Order(**json.loads(sys.argv[1]))
    # Somebody who only looks whether a keeper lives holds the lock for a moment.
    deadline = time.monotonic() + LOOK_EVERY_S
    while lock(Path(order.folder) / "keeper.lock") is None:
        if time.monotonic() > deadline:
            sys.exit("another keeper lives")
        time.sleep(0.01)
    if os.fork():
        os._exit(0)
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    _keep(order)


if __name__ == "__main__":
    main()
