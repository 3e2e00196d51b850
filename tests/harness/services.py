"""PostgreSQL and Valkey for tests.

One of each for a whole pytest run, shared by its workers: every worker starts them in the same folder, and the locks of
`bot.services` make the first a start and the others a join. The controlling process holds them, so that they outlive a
worker, and their keeper removes them when it ends, however it ends. They do not wait for the disk: a test that wants
real durability starts a server of its own with `EmbeddedPostgres(folder)`.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import orjson

from bot import keeper
from bot.services import EmbeddedPostgres, EmbeddedValkey, ensure_database
from migrations.runner import FOLDER, migrate

FAST: dict[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "300",
    "autovacuum_naptime": "1h",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
}
REDIS_DATABASES = 4000
FIRST_FREE_OID = 16384
ROOM_NEEDED = 2 * 1024**3


@dataclass(slots=True)
class RunServices:
    """The two servers of one pytest run. Every process of the run makes one of the same folder."""

    folder: Path
    postgres: EmbeddedPostgres = field(init=False)
    valkey: EmbeddedValkey = field(init=False)

    def __post_init__(self) -> None:
        self.postgres = EmbeddedPostgres(self.folder, FAST, ephemeral=True)
        self.valkey = EmbeddedValkey(self.folder, {"databases": str(REDIS_DATABASES)}, ephemeral=True)

    def hold(self) -> None:
        """Keep the servers, once started, until this process ends or calls `end`."""
        self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.folder.chmod(0o711)
        self.postgres.hold()
        self.valkey.hold()

    def start(self) -> None:
        """Start or join both."""
        self.postgres.start()
        self.valkey.start()

    def stop(self) -> None:
        """Leave both."""
        self.postgres.stop()
        self.valkey.stop()

    def end(self) -> None:
        """Leave both, as the last, and remove what is left of them."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def template(self) -> str:
        """The name of a migrated database to copy, made by the first process that asks."""
        name = "template_" + _schema_digest()
        making = await asyncio.to_thread(keeper.lock, self.folder / "template.lock", wait=True)
        try:
            admin = await asyncpg.connect(self.postgres.url("postgres"))
            try:
                if await admin.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
                    return name
                unfinished = f"unfinished_{secrets.token_hex(6)}"
                await ensure_database(self.postgres, unfinished)
                await migrate(self.postgres.url(unfinished))
                await admin.execute(f'ALTER DATABASE "{unfinished}" RENAME TO "{name}"')
            finally:
                await admin.close()
        finally:
            if making is not None:
                os.close(making)
        return name

    @asynccontextmanager
    async def fresh_database(self, template: str | None = None) -> AsyncGenerator[str]:
        """The address of a new database while the block runs: a copy of `template`, or an empty one."""
        name = f"test_{os.getpid()}_{secrets.token_hex(6)}"
        admin = await asyncpg.connect(self.postgres.url("postgres"))
        try:
            if template is None:
                await ensure_database(self.postgres, name)
            else:
                await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
            try:
                yield self.postgres.url(name)
            finally:
                await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        finally:
            await admin.close()


def _schema_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.sql")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def share_types() -> None:
    """Let the connections of this process share what asyncpg learns of PostgreSQL's own types.

    It asks each new connection anew what an array of numbers is, which is the dearest statement of most tests. Below
    the first number that is free for others, types are numbered alike in every database of a server's version, and the
    tests' servers are of one version.
    """
    known: dict[frozenset[int], Any] = {}
    connection: Any = asyncpg.Connection
    ask = connection._introspect_types

    async def told(self: asyncpg.Connection, typeoids: Collection[int], timeout: float | None) -> Any:
        key = frozenset(typeoids)
        if max(key) >= FIRST_FREE_OID:
            return await ask(self, typeoids, timeout)
        if key not in known:
            known[key] = await ask(self, typeoids, timeout)
        return known[key]

    connection._introspect_types = told


async def prepare_connection(conn: asyncpg.Connection) -> None:
    """jsonb goes in and out as Python objects, by orjson."""
    await conn.set_type_codec("jsonb", encoder=_dump_json, decoder=orjson.loads, schema="pg_catalog", format="text")


def _dump_json(value: object) -> str:
    return orjson.dumps(value).decode()


@asynccontextmanager
async def open_pool(database_url: str, *, most: int = 10) -> AsyncGenerator["asyncpg.Pool[asyncpg.Record]"]:
    """An asyncpg pool on a test's database, as the bot opens its own."""
    async with asyncpg.create_pool(database_url, min_size=0, max_size=most, init=prepare_connection) as pool:
        yield pool


def quick_folder() -> Path:
    """Where tests put what need not last: in memory where there is room, since a busy disk makes each of them wait."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK):
        room = os.statvfs(memory)
        if room.f_bavail * room.f_frsize > ROOM_NEEDED:
            return memory
    return Path(tempfile.gettempdir())


def run_folder(run: str) -> Path:
    """Where the services of the run stand: short, since sockets are in it, and open to PostgreSQL's user."""
    return quick_folder() / f"muninn-tests-{run[:12]}"
