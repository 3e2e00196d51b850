"""What the doctor asks PostgreSQL: versions, extensions, letters, schema, and whether a pooler stands before it."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import asyncpg

from bot.doctor.findings import Finding, fault, looked_at, ok, skip, warn
from bot.errors import DatabaseUnreachable
from bot.pool import POOL_MOST
from bot.startup import (
    EXTENSION_SQL,
    LETTERS_SQL,
    OLDEST_POSTGRES,
    OLDEST_VECTOR,
    SERVER_SQL,
    connect,
    place_of,
    version_of,
)
from memory.database import Connection
from memory.errors import SchemaFault
from migrations.runner import standing

GOOD_VECTOR: Final = (0, 8, 5)
"""The oldest pgvector that is recommended: those before it lack repairs of index scans."""

BESIDE_POOL: Final = 4
"""Connections beside the pool's: the shard's lock, listening, a migration, an operator's look."""

STARTING_S: Final = 5.0

# How the server keeps what it commits, who may still connect, and how the database sorts and folds letters.
SETUP_SQL: Final = """
SELECT current_setting('transaction_read_only') = 'on' AS read_only,
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS durable,
    current_setting('synchronous_commit') <> 'off' AS synchronous,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS free,
    (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'muninn'
        AND datname = current_database())::int AS ours,
    d.datlocprovider::text AS provider, coalesce(d.datlocale, d.datcollate) AS locale, d.datctype AS ctype
FROM pg_database d WHERE d.datname = current_database()
"""

# As LETTERS_SQL, for a database that has no pg_trgm yet.
PLAIN_LETTERS_SQL: Final = """SELECT lower('ÄПÉ') = 'äпé' AS cases,
    to_tsvector('simple', 'Привет, Мир') @@ to_tsquery('simple', 'мир') AS words, true AS trigrams"""

# What the server's clock says.
CLOCK_SQL: Final = "SELECT clock_timestamp()"

_NEW_DATABASE: Final = (
    "Move to a database made with LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LC_CTYPE 'C.UTF-8' "
    "(docs/how-to/backup-and-restore.md)."
)
_PROVIDERS: Final = {"b": "builtin", "c": "libc", "i": "ICU"}


async def open_database(database_url: str) -> Connection | Finding:
    """A connection, or why there is none."""
    try:
        return await connect(database_url, starting_s=STARTING_S)
    except DatabaseUnreachable as told:
        return _unreachable(database_url, told.__cause__)


def _unreachable(database_url: str, cause: BaseException | None) -> Finding:
    where = f"PostgreSQL at {place_of(database_url)}"
    match cause:
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            return fault(
                "database.reachable",
                f"{where} does not accept the user or password.",
                "Correct the user and password in MUNINN_DATABASE_URL.",
            )
        case asyncpg.InvalidCatalogNameError():
            return fault(
                "database.reachable",
                f"{where} has no database of the name in MUNINN_DATABASE_URL.",
                "Create it with TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8', or correct "
                "MUNINN_DATABASE_URL.",
            )
        case _:
            reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause or "")
            return fault(
                "database.reachable",
                f"{where} cannot be reached: {reason.rstrip('.') or 'no answer in time'}.",
                "Start it, or correct MUNINN_DATABASE_URL.",
            )


async def examine(conn: Connection, database_url: str) -> list[Finding]:
    """What is right and wrong with the server, the database and its schema."""
    version = conn.get_server_version()
    found = [ok("database.reachable", f"PostgreSQL at {place_of(database_url)} answers.")]
    if version.major < OLDEST_POSTGRES:
        found.append(
            fault(
                "database.version",
                f"PostgreSQL is version {version.major}, and Muninn needs {OLDEST_POSTGRES} or newer.",
                f"Upgrade the server to PostgreSQL {OLDEST_POSTGRES} or newer.",
            )
        )
        return found
    found.append(ok("database.version", f"PostgreSQL is version {version.major}.{version.minor}."))
    for name, look in (
        ("database.server", _server),
        ("database.extensions", _extensions),
        ("database.letters", _letters),
        ("database.schema", _schema),
    ):
        found += await looked_at(name, lambda look=look: look(conn))
    found += await looked_at("database.pooler", lambda: _pooler(database_url))
    return found


async def _server(conn: Connection) -> list[Finding]:
    server, setup = await conn.fetchrow(SERVER_SQL), await conn.fetchrow(SETUP_SQL)
    assert server is not None and setup is not None  # noqa: S101, PT018 - a database has a row of its own
    found: list[Finding] = []
    if server["standby"]:
        found.append(
            fault(
                "database.writable",
                "PostgreSQL is a read-only standby.",
                "Name the primary server in MUNINN_DATABASE_URL.",
            )
        )
    elif setup["read_only"]:
        found.append(
            fault(
                "database.writable",
                "Transactions in this database are read-only.",
                "Reset default_transaction_read_only for the database or its user.",
            )
        )
    else:
        found.append(ok("database.writable", "The database can be written to."))
    if server["encoding"] != "UTF8":
        found.append(
            fault(
                "database.encoding",
                f"The database's encoding is {server['encoding']}, in which most of what members write cannot be kept.",
                "Make a new database with ENCODING 'UTF8', and restore into it.",
            )
        )
    else:
        found.append(ok("database.encoding", "The database's encoding is UTF8."))
    if not (setup["durable"] and setup["synchronous"]):
        found.append(
            warn(
                "database.durability",
                "PostgreSQL does not wait for the disk (fsync, full_page_writes or synchronous_commit is off), so a "
                "crash of the machine may lose what was committed.",
                "Turn fsync, full_page_writes and synchronous_commit on.",
            )
        )
    else:
        found.append(ok("database.durability", "PostgreSQL waits for the disk before it says that it kept something."))
    needed = POOL_MOST + BESIDE_POOL - setup["ours"]
    if setup["free"] < needed:
        found.append(
            warn(
                "database.connections",
                f"PostgreSQL has {max(setup['free'], 0)} connections left, and Muninn may need {needed} more.",
                "Raise max_connections, or close what else is connected.",
            )
        )
    return found


async def _extensions(conn: Connection) -> list[Finding]:
    rows = {row["name"]: row for row in await conn.fetch(EXTENSION_SQL, ["vector", "pg_trgm"])}
    found: list[Finding] = []
    for name, package in (("vector", "pgvector"), ("pg_trgm", "PostgreSQL's contrib package")):
        row = rows.get(name)
        if row is None:
            found.append(
                fault(
                    f"database.{name}",
                    f"The server lacks the extension {name}.",
                    f"Install {package} on the server.",
                )
            )
            continue
        installed: str | None = row["installed_version"]
        offered = str(row["default_version"])
        if name == "vector":
            found.append(_vector(installed, offered))
        elif installed is None:
            found.append(ok(f"database.{name}", f"{name} {offered} is there to be installed by the first migration."))
        else:
            found.append(ok(f"database.{name}", f"{name} is version {installed}."))
    return found


def _vector(installed: str | None, offered: str) -> Finding:
    version, name = installed or offered, "database.vector"
    update = (
        "Run `ALTER EXTENSION vector UPDATE` in the database."
        if installed is not None and version_of(offered) > version_of(installed)
        else "Install a newer pgvector on the server, then run `ALTER EXTENSION vector UPDATE`."
    )
    wanted = ".".join(map(str, GOOD_VECTOR))
    if version_of(version) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        return fault(name, f"pgvector is version {version}, and Muninn needs {oldest} or newer.", update)
    if version_of(version) < GOOD_VECTOR:
        return warn(name, f"pgvector is version {version}; {wanted} or newer is better.", update)
    if installed is None:
        return ok(name, f"pgvector {version} is there to be installed by the first migration.")
    return ok(name, f"pgvector is version {version}.")


async def _letters(conn: Connection) -> list[Finding]:
    setup = await conn.fetchrow(SETUP_SQL)
    try:
        row = await conn.fetchrow(LETTERS_SQL)
    except asyncpg.UndefinedFunctionError:
        row = await conn.fetchrow(PLAIN_LETTERS_SQL)
    assert setup is not None and row is not None  # noqa: S101, PT018 - a SELECT without conditions has one row
    kind = f"{_PROVIDERS.get(setup['provider'], setup['provider'])} {setup['locale']}, LC_CTYPE {setup['ctype']}"
    if not (row["cases"] and row["words"]):
        return [
            fault(
                "database.letters",
                f"The database's locale ({kind}) knows no letters beyond ASCII, so searches in other scripts find "
                "little.",
                _NEW_DATABASE,
            )
        ]
    if not row["trigrams"]:
        return [
            warn(
                "database.letters",
                f"The database's locale ({kind}) gives pg_trgm no letters beyond ASCII, so names in other scripts are "
                "found only as they are written.",
                _NEW_DATABASE,
            )
        ]
    return [ok("database.letters", f"Lower case, words and trigrams work in every script ({kind}).")]


async def _schema(conn: Connection) -> list[Finding]:
    try:
        version, missing = await standing(conn)
    except SchemaFault as told:
        says, _, next_step = str(told).partition("; ")
        return [fault("database.schema", f"{says.rstrip('.')}.", _as_sentence(next_step))]
    if missing and version == 0:
        return [warn("database.schema", "The database has no schema of Muninn yet.", "`muninn run` makes it.")]
    if missing:
        return [
            warn(
                "database.schema",
                f"The schema is at version {version}, and {len(missing)} migrations are yet to be applied "
                f"({', '.join(missing)}).",
                "Make a backup, then let `muninn migrate` or the next start apply them.",
            )
        ]
    return [ok("database.schema", f"The schema is at version {version}, as this Muninn needs it.")]


def _as_sentence(text: str) -> str:
    text = text or "restore the database from a backup"
    return text[0].upper() + text[1:].rstrip(".") + "."


async def _pooler(database_url: str) -> Sequence[Finding]:
    """Whether one connection stays one session: a pooler in transaction mode hands it to a server process anew each
    time, and what Muninn locks and listens to is lost."""
    conns: list[Connection] = []
    try:
        async with asyncio.timeout(STARTING_S * 2):
            conns = [await asyncpg.connect(database_url, timeout=STARTING_S) for _ in range(3)]
            first, *others = conns
            before = await _backend(first)
            for other in others:
                # Held open, so that its server process is nobody else's meanwhile.
                await other.execute("BEGIN")
            after = await _backend(first)
            taken = [await other.fetchval("SELECT pg_backend_pid()") for other in others]
    except (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError):
        return [_pooled()]
    except TimeoutError:
        return [_pooled()]
    except (asyncpg.TooManyConnectionsError, asyncpg.CannotConnectNowError):
        return [skip("database.pooler", "Too few connections are left to see whether a pooler is in between.")]
    finally:
        for conn in conns:
            conn.terminate()
    if before != after or before in taken:
        return [_pooled()]
    return [ok("database.pooler", "A connection stays one session, so locks and notifications hold.")]


async def _backend(conn: Connection) -> int:
    """The server process that serves the connection now. In a transaction, since a pooler keeps to one within it."""
    async with conn.transaction():
        return int(await conn.fetchval("SELECT pg_backend_pid()"))


def _pooled() -> Finding:
    return fault(
        "database.pooler",
        "A pooler in transaction mode stands before PostgreSQL, so the lock that keeps a second Muninn away does not "
        "hold.",
        "Name PostgreSQL itself in MUNINN_DATABASE_URL, or set the pooler to session mode for this database.",
    )


async def offset_s(conn: Connection) -> float:
    """How many seconds the server's clock is ahead of this machine's."""
    sent = time.time()
    theirs: datetime = await conn.fetchval(CLOCK_SQL)
    return theirs.astimezone(UTC).timestamp() - (sent + time.time()) / 2
