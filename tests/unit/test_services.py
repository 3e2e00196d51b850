"""The embedded services: shared, stopped with their last user however it ends, and found again after a kill -9."""

import asyncio
import os
import pwd
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis

from bot.errors import ServiceFault
from bot.privileges import SOCKET_PATH_MOST, may_enter
from bot.services import EmbeddedPostgres, EmbeddedValkey, embedded_postgres, ensure_database, open_services
from bot.settings import load
from tests.harness.services import FAST, quick_folder

AS_ROOT = os.geteuid() == 0
HERE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster() -> Generator[Path]:
    """The data of a PostgreSQL that was made, and is not running: making it is the slow part of a first start."""
    with TemporaryDirectory(prefix="mnn-", dir=quick_folder()) as made:
        Path(made).chmod(0o711)
        server = EmbeddedPostgres(Path(made), FAST)
        server.start()
        asyncio.run(ensure_database(server, "muninn"))
        server.stop()
        yield Path(made) / "postgres" / "data"


@pytest.fixture
def folder(service_folder: Path, cluster: Path) -> Path:
    """A data folder that was used before."""
    (service_folder / "postgres").mkdir(mode=0o711)
    subprocess.run(["cp", "-a", str(cluster), str(service_folder / "postgres")], check=True)
    return service_folder


def until(true: Callable[[], object], what: str, *, within_s: float = 30) -> None:
    """Wait for a condition outside of this process."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


async def _ask(url: str) -> int:
    conn = await asyncpg.connect(url)
    try:
        return await conn.fetchval("SELECT 1")
    finally:
        await conn.close()


def _servers(folder: Path) -> list[psutil.Process]:
    """The processes that name the folder on their command line: keepers, PostgreSQL and Valkey."""
    return [process for process, _ in _commands(folder)]


def _keepers(folder: Path) -> list[psutil.Process]:
    return [process for process, line in _commands(folder) if "keeper" in line]


def _commands(folder: Path) -> list[tuple[psutil.Process, str]]:
    """Each process with its command line as it was read once: one that ends meanwhile cannot be asked again."""
    found: list[tuple[psutil.Process, str]] = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(folder) in line and process.pid != os.getpid() and "pytest" not in line:
            found.append((process, line))
    return found


def _user(folder: Path, rest: str) -> subprocess.Popen[str]:
    """Another process that starts PostgreSQL in the folder, says "up", and goes on with `rest`."""
    program = f"""
        import signal, sys, time
        from pathlib import Path
        from bot.services import EmbeddedPostgres
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests were started by nohup
        server = EmbeddedPostgres(Path({str(folder)!r}), {FAST!r})
        server.start()
        print("up", flush=True)
        {rest}
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE,
    )


@pytest.fixture
def user(folder: Path) -> Generator[Callable[[str], subprocess.Popen[str]]]:
    """Starts other users of the folder's server, and ends those that are left."""
    started: list[subprocess.Popen[str]] = []

    def start(rest: str) -> subprocess.Popen[str]:
        process = _user(folder, rest)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    until(lambda: not _servers(folder), "the end of the servers")


async def test_the_database_knows_letters(service_folder: Path) -> None:
    """Lower case, words and trigrams work on text that is not English, and the data stays from start to start."""
    for turn in range(2):
        async with embedded_postgres(service_folder, options=FAST) as url:
            conn = await asyncpg.connect(url)
            try:
                if turn == 0:
                    await conn.execute(
                        "CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE TABLE kept AS SELECT 7 AS n"
                    )
                assert await conn.fetchval("SELECT n FROM kept") == 7
                assert await conn.fetchval("SELECT lower('ÄПÉ')") == "äпé"
                assert await conn.fetchval("SELECT to_tsvector('simple', 'ПРИВЕТ') @@ to_tsquery('simple', 'привет')")
                assert await conn.fetchval("SELECT cardinality(show_trgm('привет'))") == 7
                assert await conn.fetchval("SELECT datlocprovider FROM pg_database WHERE datname = 'muninn'") == b"b"
                assert (await conn.fetchval("SHOW server_version")).startswith("18")
            finally:
                await conn.close()
        assert not _servers(service_folder)


async def test_it_listens_on_a_private_socket_only(folder: Path) -> None:
    """No port is open, and nobody else may enter the folder of the socket."""
    async with embedded_postgres(folder, options=FAST) as url:
        conn = await asyncpg.connect(url)
        try:
            assert await conn.fetchval("SHOW listen_addresses") == ""
            sockets = Path(await conn.fetchval("SHOW unix_socket_directories"))
        finally:
            await conn.close()
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700


def test_valkey_keeps_nothing_and_listens_on_a_socket(service_folder: Path) -> None:
    """Valkey answers on its socket, has no port, and stops with its user."""
    server = EmbeddedValkey(service_folder)
    server.start()
    try:

        async def look() -> tuple[object, object]:
            async with Redis.from_url(server.url()) as client:
                await client.set("a", "b")
                return await client.get("a"), (await client.config_get("port"))["port"]

        assert asyncio.run(look()) == (b"b", "0")
    finally:
        server.stop()
    assert not _servers(service_folder)


async def test_two_processes_share_the_server(folder: Path, user: Callable[[str], subprocess.Popen[str]]) -> None:
    """The second joins the first's server, and it runs until both have gone."""
    other = user("sys.stdin.readline(); server.stop()")
    mine = EmbeddedPostgres(folder, FAST)
    await asyncio.to_thread(mine.start)
    assert len(_keepers(folder)) == 1
    other.communicate("leave\n", timeout=30)
    assert await _ask(mine.url("postgres")) == 1
    await asyncio.to_thread(mine.stop)
    assert not _servers(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_the_server_ends_with_its_last_user(
    folder: Path, user: Callable[[str], subprocess.Popen[str]], number: signal.Signals
) -> None:
    """Also where that user is killed outright and can clean nothing up."""
    process = user("time.sleep(600)")
    assert _servers(folder)
    process.send_signal(number)
    process.wait(30)
    until(lambda: not _servers(folder), "the end of the server")


async def test_a_start_right_after_a_kill_gets_a_server(
    folder: Path, user: Callable[[str], subprocess.Popen[str]]
) -> None:
    """Whether it takes over the running server or waits for its end and starts it again."""
    process = user("time.sleep(600)")
    process.kill()
    process.wait(30)
    async with embedded_postgres(folder, options=FAST) as url:
        assert await _ask(url) == 1


async def test_a_server_without_its_keeper_is_found(folder: Path, user: Callable[[str], subprocess.Popen[str]]) -> None:
    """Keeper and user killed at once leave an orphan; the next start ends it and starts anew."""
    process = user("time.sleep(600)")
    for keeper in _keepers(folder):
        keeper.kill()
    process.kill()
    process.wait(30)
    assert _servers(folder)
    async with embedded_postgres(folder, options=FAST) as url:
        assert await _ask(url) == 1


async def test_a_stale_pid_file_stops_nothing(folder: Path) -> None:
    """A postmaster.pid whose number is another process's now (a container's next life) is seen through."""
    async with embedded_postgres(folder, options=FAST):
        pass
    data = (folder / "postgres" / "data").resolve()
    stale = data / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{data}\n1\n5432\n{data}\n\n0 0\nready\n")
    if AS_ROOT:
        nobody = pwd.getpwnam("nobody")
        os.chown(stale, nobody.pw_uid, nobody.pw_gid)
    async with embedded_postgres(folder, options=FAST) as url:
        assert await _ask(url) == 1


async def test_a_long_path_gets_a_short_socket(folder: Path) -> None:
    """A data folder whose path no socket fits into works."""
    deep = folder / ("d" * 60) / ("e" * 60)
    async with embedded_postgres(deep, options=FAST) as url:
        assert len(url) < len(str(deep)) + SOCKET_PATH_MOST
        assert await _ask(url) == 1
    valkey = EmbeddedValkey(deep)
    await asyncio.to_thread(valkey.start)
    await asyncio.to_thread(valkey.stop)


@pytest.mark.skipif(not AS_ROOT, reason="only root's files are closed to PostgreSQL's account")
async def test_root_works_from_a_closed_folder(service_folder: Path) -> None:
    """Below a folder like /root the data stands elsewhere, with a link to it, and no mode is changed."""
    closed = service_folder / "closed"
    closed.mkdir(mode=0o700)
    data_dir = closed / "checkout" / ".muninn"
    async with embedded_postgres(data_dir, options=FAST) as url:
        assert await _ask(url) == 1
    link = data_dir / "postgres" / "data"
    try:
        assert link.is_symlink()
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        async with embedded_postgres(data_dir, options=FAST) as url:
            assert await _ask(url) == 1
    finally:
        subprocess.run(["rm", "-rf", str(link.resolve())], check=True)


@pytest.mark.skipif(not AS_ROOT, reason="needs another account")
def test_who_may_enter(service_folder: Path) -> None:
    """The modes of every folder on the way count."""
    nobody = pwd.getpwnam("nobody")
    inner = service_folder / "a" / "b"
    inner.mkdir(parents=True)
    assert may_enter(inner, nobody)
    (service_folder / "a").chmod(0o700)
    assert not may_enter(inner, nobody)


async def test_a_folder_that_cannot_be_used_is_told(service_folder: Path) -> None:
    """One sentence that names the setting, and no traceback of ours."""
    (service_folder / "file").write_text("")
    with pytest.raises(ServiceFault, match=r"cannot be used \(.*\); set MUNINN_DATA_DIR"):
        async with embedded_postgres(service_folder / "file"):
            pass


async def test_a_server_that_ends_at_once_is_told(folder: Path) -> None:
    """A start that fails says what the server said last, and where its log is."""
    with pytest.raises(ServiceFault, match=r"ended while it was starting \(.*\); its log is "):
        async with embedded_postgres(folder, options={"shared_buffers": "nonsense"}):
            pass
    assert not _servers(folder)


async def test_data_of_another_version_is_told(folder: Path) -> None:
    """Data of another major version is left alone."""
    async with embedded_postgres(folder, options=FAST):
        pass
    (folder / "postgres" / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(ServiceFault, match=r"is of PostgreSQL 16 and the embedded server is 18"):
        async with embedded_postgres(folder, options=FAST):
            pass


async def test_named_services_are_used(service_folder: Path) -> None:
    """With both addresses set nothing is started and the data folder is not touched."""
    settings = load(
        database_url="postgresql://u:p@127.0.0.1/x", redis_url="redis://127.0.0.1/0", data_dir=service_folder / "none"
    )
    async with open_services(settings) as endpoints:
        assert endpoints.database_url == "postgresql://u:p@127.0.0.1/x"
        assert endpoints.redis_url == "redis://127.0.0.1/0"
    assert not (service_folder / "none").exists()


async def test_a_valkey_that_does_not_start_stops_nothing(folder: Path) -> None:
    """Redis is never needed (I2): without it there is still a database."""
    (folder / "valkey").write_text("not a folder")
    settings = load(database_url=None, redis_url=None, data_dir=folder)
    async with open_services(settings) as endpoints:
        assert await _ask(endpoints.database_url) == 1
        with socket.socket(socket.AF_UNIX) as client, pytest.raises(OSError, match=r"."):
            client.connect(endpoints.redis_url.removeprefix("unix://").split("?")[0])
