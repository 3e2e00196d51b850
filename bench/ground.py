"""Where a benchmark is measured: a PostgreSQL and a Valkey of its own in a temporary folder, with fsync on."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from bot.services import EmbeddedPostgres, EmbeddedValkey, ensure_database
from migrations.runner import migrate

# What an operator's server has, said aloud; the rest is as `muninn run` starts it.
DURABLE: Final = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
DATABASE: Final = "bench"


@dataclass(frozen=True, slots=True)
class Ground:
    """A migrated, empty database, and an empty Redis."""

    database_url: str
    redis_url: str


@asynccontextmanager
async def open_ground() -> AsyncGenerator[Ground]:
    """Services of its own while the block runs; their data goes with them."""
    folder = _folder()
    postgres = EmbeddedPostgres(folder, DURABLE, ephemeral=True)
    valkey = EmbeddedValkey(folder, ephemeral=True)
    try:
        await asyncio.gather(asyncio.to_thread(postgres.start), asyncio.to_thread(valkey.start))
        await ensure_database(postgres, DATABASE)
        await migrate(postgres.url(DATABASE))
        await _check_durable(postgres.url(DATABASE))
        yield Ground(postgres.url(DATABASE), valkey.url())
    finally:
        await asyncio.gather(asyncio.to_thread(postgres.stop), asyncio.to_thread(valkey.stop))
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="muninn-bench-"))
    # PostgreSQL's own user must get through, where root runs it.
    folder.chmod(0o711)
    return folder


async def _check_durable(database_url: str) -> None:
    conn = await asyncpg.connect(database_url)
    try:
        for name, wanted in DURABLE.items():
            found = await conn.fetchval("SELECT current_setting($1)", name)
            if found != wanted:
                raise RuntimeError(f"the benchmark's PostgreSQL has {name} = {found}, and its figures would be wrong")
    finally:
        await conn.close()
