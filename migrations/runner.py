"""Brings a database to the schema of this version: numbered SQL files, forward only, each once, in one transaction.

Files are `NNNN_name.sql`, numbered from 0001 without a gap. Each runs in one transaction with its row in
`schema_migrations`, whose `applied_at` is set last: a row without it was left by a file that ended its own transaction.
A session advisory lock lets only one process migrate at a time; the next finds nothing left to do.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from memory.errors import SchemaFault

FOLDER = Path(__file__).parent
# "Muninn" in ASCII; every Muninn that migrates takes this advisory lock.
LOCK_KEY = 0x4D756E696E6E
LOCK_WITHIN_S = 120.0
FILE_WITHIN_S = 3600.0

# Make the table that says what was applied.
CREATE_TABLE_SQL = """CREATE TABLE IF NOT EXISTS schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz)"""
# Whether that table is there.
TABLE_EXISTS_SQL = "SELECT to_regclass('schema_migrations') IS NOT NULL"
# What was applied, in order.
APPLIED_SQL = "SELECT version, name, checksum, applied_at IS NOT NULL AS whole FROM schema_migrations ORDER BY version"
# A file waits only a little for locks, so that a bot that still runs is not held up behind it.
LIMITS_SQL = "SELECT set_config('lock_timeout', '10s', true), set_config('statement_timeout', '1h', true)"
# Note a file as begun.
BEGIN_FILE_SQL = "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)"
# Note a file as applied; no row means that the file's own statements ended the transaction and undid the note.
END_FILE_SQL = "UPDATE schema_migrations SET applied_at = clock_timestamp() WHERE version = $1 RETURNING version"
# Whether a file left its note behind.
BEGUN_SQL = "SELECT true FROM schema_migrations WHERE version = $1"
# Which transaction this is.
TRANSACTION_SQL = "SELECT pg_current_xact_id()::text"
LOCK_SQL = "SELECT pg_advisory_lock($1)"
UNLOCK_SQL = "SELECT pg_advisory_unlock($1)"


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name without the number, its text and the SHA-256 of that text."""

    version: int
    name: str
    sql: str
    checksum: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What a call did: the schema's version before and after (0 is an empty database), and the files applied."""

    before: int
    after: int
    names: tuple[str, ...]


def read_migrations(folder: Path = FOLDER) -> list[Migration]:
    """The folder's files in order. Raises SchemaFault where the numbering has a gap or a number twice."""
    found: list[Migration] = []
    for expected, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        match = re.fullmatch(r"(\d{4})_([a-z0-9_]+)\.sql", path.name)
        if match is None or int(match[1]) != expected:
            raise SchemaFault(f"The migration files must be numbered 0001, 0002 and so on; {path.name} is out of line.")
        # Line ends are evened out, so that a checkout on another system has the same checksum.
        sql = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        found.append(Migration(expected, match[2], sql, hashlib.sha256(sql.encode()).hexdigest()))
    return found


async def migrate(target: asyncpg.Connection | str, *, folder: Path = FOLDER) -> Applied:
    """Apply what is missing. `target` is an open connection (not a pool's proxy in a transaction) or an address.

    Raises SchemaFault, with nothing half done, where the database was changed by something else, is newer than this
    version, or a file fails.
    """
    if isinstance(target, str):
        conn = await asyncpg.connect(target, timeout=30)
        try:
            return await migrate(conn, folder=folder)
        finally:
            await conn.close()
    wanted = read_migrations(folder)
    try:
        await target.execute(LOCK_SQL, LOCK_KEY, timeout=LOCK_WITHIN_S)
    except TimeoutError:
        raise SchemaFault("Another process has been migrating the database for two minutes; try again later.") from None
    try:
        await target.execute(CREATE_TABLE_SQL)
        before = await _check_applied(target, wanted)
        missing = wanted[before:]
        for migration in missing:
            await _apply(target, migration)
        return Applied(before, len(wanted), tuple(_file_name(migration) for migration in missing))
    finally:
        if not target.is_closed():
            await target.execute(UNLOCK_SQL, LOCK_KEY)


async def standing(conn: asyncpg.Connection, *, folder: Path = FOLDER) -> tuple[int, tuple[str, ...]]:
    """The schema's version (0: there is none), and the files that are yet to be applied. Changes nothing.

    Raises SchemaFault where what was applied is not what this version would have applied.
    """
    wanted = read_migrations(folder)
    version = await _check_applied(conn, wanted) if await conn.fetchval(TABLE_EXISTS_SQL) else 0
    return version, tuple(_file_name(migration) for migration in wanted[version:])


async def verify(conn: asyncpg.Connection, *, folder: Path = FOLDER) -> int:
    """The schema's version, when it is exactly what this version of Muninn needs; else raises SchemaFault.

    Changes nothing, for a start without the right to migrate.
    """
    version, missing = await standing(conn, folder=folder)
    if version == 0 and missing:
        raise SchemaFault("The database has no Muninn schema yet; run `muninn migrate`.")
    if missing:
        needed = version + len(missing)
        raise SchemaFault(
            f"The database's schema is at version {version} and this Muninn needs {needed}; run `muninn migrate`."
        )
    return version


async def _check_applied(conn: asyncpg.Connection, wanted: Sequence[Migration]) -> int:
    """How many of the files the database has; raises SchemaFault where what it has is not a prefix of them."""
    rows = await conn.fetch(APPLIED_SQL)
    for expected, row in enumerate(rows, start=1):
        file = f"{row['version']:04}_{row['name']}.sql"
        if row["version"] != expected:
            raise SchemaFault(
                f"The database lacks migration {expected:04} but has {file}; restore it from a backup, "
                "since what ran on it is unknown."
            )
        if not row["whole"]:
            raise SchemaFault(f"Migration {file} was applied by half; restore the database from a backup.")
        if expected > len(wanted):
            raise SchemaFault(
                f"The database has migration {file}, which this Muninn does not know: it was used by a newer one; "
                "install that, or restore an older backup."
            )
        if row["checksum"] != wanted[expected - 1].checksum:
            raise SchemaFault(
                f"Migration {file} was changed after it was applied; put the file back as it was and make the change "
                "in a new one."
            )
    return len(rows)


async def _apply(conn: asyncpg.Connection, migration: Migration) -> None:
    file = _file_name(migration)
    try:
        async with conn.transaction():
            await conn.execute(LIMITS_SQL)
            transaction = await conn.fetchval(TRANSACTION_SQL)
            await conn.execute(BEGIN_FILE_SQL, migration.version, migration.name, migration.checksum)
            await conn.execute(migration.sql, timeout=FILE_WITHIN_S)
            if await conn.fetchval(TRANSACTION_SQL) != transaction:
                raise SchemaFault(f"Migration {file} ends its own transaction, and so was applied by half.")
            await conn.execute(END_FILE_SQL, migration.version)
    except (asyncpg.PostgresError, TimeoutError) as exc:
        reason = str(exc) or "it took more than an hour"
        if await conn.fetchval(BEGUN_SQL, migration.version):
            raise SchemaFault(
                f"Migration {file} ended its own transaction and then failed, so it was applied by half ({reason}); "
                "restore the database from a backup."
            ) from exc
        raise SchemaFault(f"Migration {file} failed and nothing of it was kept: {reason}.") from exc


def _file_name(migration: Migration) -> str:
    return f"{migration.version:04}_{migration.name}.sql"
