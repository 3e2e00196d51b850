"""The doctor on the database: each fault is made for real, is named, and comes with what to do next."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from bot.doctor import database, records
from bot.doctor.findings import Finding
from bot.services import EmbeddedPostgres
from tests.harness.diagnosis import assert_plain, named
from tests.harness.pooler import open_pooler
from tests.harness.services import FAST, RunServices

SECRET = "this-must-never-be-shown"


async def examined(url: str) -> list[Finding]:
    """What the doctor finds in the database, each finding a plain one."""
    opened = await database.open_database(url)
    if isinstance(opened, Finding):
        found = [opened]
    else:
        try:
            found = [*await database.examine(opened, url), *await records.examine(opened)]
        finally:
            opened.terminate()
    assert_plain(found, SECRET)
    return found


@asynccontextmanager
async def changed(url: str, *statements: str) -> AsyncGenerator[asyncpg.Connection]:
    """The database after these statements."""
    conn = await asyncpg.connect(url)
    try:
        for statement in statements:
            await conn.execute(statement)
        yield conn
    finally:
        await conn.close()


async def test_a_sound_database_has_no_fault(database_url: str) -> None:
    """Versions, extensions, letters, schema and sessions are all said to be right."""
    found = await examined(database_url)
    assert [finding for finding in found if finding.level == "fault"] == []
    for name in ("version", "vector", "pg_trgm", "letters", "schema", "pooler", "writable", "encoding"):
        assert named(found, f"database.{name}").level == "ok", name
    # The tests' own server does not wait for the disk, and that is said too.
    assert named(found, "database.durability").level == "warn"


async def test_nothing_is_changed(empty_database_url: str) -> None:
    """An empty database is as empty afterwards, and is no fault: the first start fills it."""
    found = await examined(empty_database_url)
    assert named(found, "database.schema").level == "warn"
    assert named(found, "records.tables").level == "skip"
    async with changed(empty_database_url) as conn:
        assert await conn.fetchval("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") == 0


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (f"postgresql://muninn:{SECRET}@127.0.0.1:1/muninn", "cannot be reached"),
        ("postgresql:///not_there", "has no database of the name"),
    ],
)
async def test_a_database_that_is_not_there(services: RunServices, url: str, says: str) -> None:
    """Nobody listens, or the server has no such database."""
    url = services.postgres.url("not_there") if "not_there" in url else url
    (finding,) = await examined(url)
    assert (finding.name, finding.level) == ("database.reachable", "fault")
    assert says in finding.says


async def test_missing_and_old_extensions_and_a_refused_password(service_folder: Path) -> None:
    """On a server of the test's own: it lacks the extensions, has an old pgvector, then good ones; last it refuses the
    password, which is shown nowhere."""
    extensions = service_folder / "offered"
    (extensions / "extension").mkdir(parents=True)
    server = EmbeddedPostgres(service_folder, {**FAST, "extension_control_path": str(extensions)}, ephemeral=True)
    server.start()
    try:
        url = server.url("postgres")
        found = await examined(url)
        assert named(found, "database.vector").says == "The server lacks the extension vector."
        assert named(found, "database.pg_trgm").level == "fault"

        for version, level in (("0.7.4", "fault"), ("0.8.1", "warn"), ("0.8.5", "ok")):
            control = extensions / "extension" / "vector.control"
            control.write_text(f"default_version = '{version}'\ncomment = 'vectors'\n")
            finding = named(await examined(url), "database.vector")
            assert finding.level == level
            assert version in finding.says

        (rules,) = service_folder.glob("postgres/data/pg_hba.conf")
        rules.write_text("local all all password\n")
        async with changed(url, f"ALTER USER postgres PASSWORD '{SECRET}x'", "SELECT pg_reload_conf()"):
            (finding,) = await examined(url.replace("postgres@", f"postgres:{SECRET}@"))
        assert "does not accept the user or password" in finding.says
    finally:
        server.stop()


async def test_a_poor_locale_and_a_small_encoding_are_told(services: RunServices) -> None:
    """A database that knows ASCII letters only, and one that cannot hold what members write."""
    admin = await asyncpg.connect(services.postgres.url("postgres"))
    names = {
        "doctor_ascii": "ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'",
        "doctor_latin": "ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'",
        "doctor_trigrams": "ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LC_CTYPE 'C'",
    }
    try:
        for name, kind in names.items():
            await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 {kind}")
        found = await examined(services.postgres.url("doctor_ascii"))
        assert named(found, "database.letters").level == "fault"
        assert "libc C" in named(found, "database.letters").says
        found = await examined(services.postgres.url("doctor_latin"))
        assert "LATIN1" in named(found, "database.encoding").says
        async with changed(services.postgres.url("doctor_trigrams"), "CREATE EXTENSION pg_trgm"):
            found = await examined(services.postgres.url("doctor_trigrams"))
        assert named(found, "database.letters").level == "warn"
    finally:
        for name in names:
            await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.close()


@pytest.mark.parametrize(
    ("statement", "level", "says"),
    [
        ("UPDATE schema_migrations SET checksum = 'other' WHERE version = 1", "fault", "changed after it was applied"),
        ("UPDATE schema_migrations SET applied_at = NULL WHERE version = 2", "fault", "applied by half"),
        ("DELETE FROM schema_migrations WHERE version = 2", "fault", "lacks migration 0002"),
        (
            "INSERT INTO schema_migrations SELECT max(version) + 1, 'later', 'x', now() FROM schema_migrations",
            "fault",
            "does not know",
        ),
        ("DELETE FROM schema_migrations WHERE version > 4", "warn", "0005_web.sql"),
    ],
)
async def test_a_schema_that_is_not_ours(database_url: str, statement: str, level: str, says: str) -> None:
    """Drift, a half-applied file, a missing one, one of a newer version; files that are only yet to come warn."""
    async with changed(database_url, statement):
        finding = named(await examined(database_url), "database.schema")
    assert finding.level == level
    assert says in finding.says


async def test_a_database_that_cannot_be_written(database_url: str) -> None:
    """Transactions that are read-only by default are a fault, and what can be read is still told."""
    name = urlsplit(database_url).path[1:]
    async with changed(database_url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'):
        found = await examined(database_url)
    assert named(found, "database.writable").level == "fault"
    assert named(found, "database.schema").level == "ok"


async def test_a_user_who_may_not_read_is_told(database_url: str) -> None:
    """What the database's user is not allowed to see is a finding of its own, not the end of the examination."""
    async with changed(database_url, "CREATE ROLE doctor_guest LOGIN") as conn:
        try:
            found = await examined(database_url.replace("postgres@", "doctor_guest@"))
        finally:
            await conn.execute("DROP ROLE doctor_guest")
    assert named(found, "database.schema").level == "fault"
    assert "permission denied" in named(found, "database.schema").says
    assert named(found, "database.letters").level == "ok"


async def test_an_old_server_is_told(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PostgreSQL older than what Muninn needs."""
    monkeypatch.setattr(database, "OLDEST_POSTGRES", 99)
    finding = named(await examined(database_url), "database.version")
    assert (finding.level, "needs 99 or newer" in finding.says) == ("fault", True)


async def test_a_pooler_in_transaction_mode_is_found(database_url: str, service_folder: Path) -> None:
    """I17: the shard's lock would be held by a session that is another one the next time."""
    parts = urlsplit(database_url)
    socket = Path(parse_qs(parts.query)["host"][0]) / ".s.PGSQL.5432"
    async with open_pooler(socket, service_folder) as pooler:
        found = await examined(pooler.url(parts.path[1:]))
    assert named(found, "database.pooler").level == "fault"
    assert "session mode" in (named(found, "database.pooler").next_step or "")
